"""Breakages of row patterns: how they are read, and how matches are found; seen without Spark."""

from __future__ import annotations

from tests.breakages.breakage import seen_by
from tests.breakages.change import Code

MATCHES = "tests/operators/test_row_patterns.py"

matches = seen_by(MATCHES)

WITHOUT_SPARK = (
    matches(
        "what is absent is looked for in the most rows of a match alone",
        "patterns:find_matches",
        Code("range(row, ahead_of)", "range(row, stop)"),
    ),
    matches(
        "a row at the very end of a match's time is in it",
        "patterns:find_matches",
        Code("t[far] < until", "t[far] <= until"),
    ),
    matches(
        "what was tried after other rows is not tried again",
        "patterns:find_matches",
        Code("number if alone[step] else stamps[row - origin, 0]", "number"),
    ),
    matches(
        "the first row of a match is not the first of a variable",
        "kernels.patterns:_next_begin",
        Code("range(begin, end)", "range(begin + 1, end)"),
    ),
    matches(
        "a column of a variable without rows makes all around it null",
        "_Parser._joined",
        Code("name in _OF_NULL", "False"),
    ),
    matches(
        "reluctant repetitions are greedy",
        "_Writer._repeat",
        Code("part.reluctant", "False"),
    ),
    matches(
        "a round without rows goes on to further ones",
        "_Writer._write_round",
        Code("not may_be_empty(part)", "True"),
    ),
    matches(
        "a match may end before the rows that are preferred have come",
        "patterns:find_matches",
        Code("result == UNDECIDED", "False"),
    ),
    matches(
        "rows before those that are kept are not looked back at",
        "PatternAssembly._decide",
        Code("np.minimum(left - begins, self.automaton.back)", "np.minimum(left - begins, 0)"),
    ),
    matches(
        "rows of a part that is left out within another are listed",
        "_Writer.write",
        Code("int(self.hidden > 0)", "int(self.hidden == 1)"),
    ),
    matches(
        "rows that are computed together look back no further than the first of them",
        "patterns:_compute",
        Code("at < earliest", "at < max(earliest, row)"),
    ),
)
