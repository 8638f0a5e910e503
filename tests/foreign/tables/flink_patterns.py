"""Flink's own tests of MATCH_RECOGNIZE: see ``trino.py`` for how they are told."""

from __future__ import annotations

from tests.foreign.facts import Suite
from tests.foreign.tables.trino import A, B, C, Matched, many, seq

SUITE = Suite(
    "apache/flink",
    "flink-table/flink-table-planner/src/test/scala/org/apache/flink/table/planner/runtime/stream/"
    "sql/MatchRecognizeITCase.scala",
)
DOWN, UP = ("row", "D"), ("row", "U")
FALLING = seq(many(DOWN, 2), UP)
GIVES_BACK = "a repetition gives rows back where this leads to a match, as SQL has it"


def named(test, pattern, define, texts, *wanted, values=None):
    """Rows told apart by a text."""
    there = tuple(None if one == "-" else one for one in texts)
    return Matched(
        test, pattern, define, values or (None,) * len(texts), wanted, suite=SUITE, texts=there
    )


MATCHED = (
    named("testSimplePattern", seq(A, B, C), {"A": "s = 'a'", "B": "s = 'b'", "C": "s = 'c'"},
          "azbcdabch", (6, "ABC")),
    named("testSimplePatternWithNulls", seq(A, B, C),
          {"A": "s = 'a' AND n IS NULL", "B": "s = 'b' AND LAST(A.n) IS NULL", "C": "s = 'c'"},
          "abcd-abc-", (1, "ABC"), (6, "ABC")),
    named("testCodeSplitsAreProperlyGenerated", seq(A, B, C),
          {"A": "s = 'a'", "B": "s = 'b' AND LAST(A.s, 2) IS NULL",
           "C": "s = 'c' AND LAST(A.s) = 'a'"},
          "abcdeabcf", (1, "ABC"), (6, "ABC")),
    named("testAggregatesWithNullInputs", seq(many(A, 1), C),
          {"A": "SUM(A.n) < 30", "C": "C.s = 'c'"}, "azbcdcccc", (1, "AAAAAAAC"),
          values=(10, 10, None, None, 3, 3, 3, 3, 2)),
    Matched("testLogicalOffsets", FALLING,
            {"D": "n < LAST(D.n, 1) OR LAST(D.n, 1) IS NULL", "U": "n < FIRST(D.n)"},
            (19, 17, 13, 20, 20, 26, 20, 25), ((6, "DDU"),), suite=SUITE,
            ours=((1, "DDU"), (6, "DDU")), why=GIVES_BACK),
    Matched("testLogicalOffsetsWithStarVariable", FALLING,
            {"D": "n < LAST(n, 1) OR LAST(n, 1) IS NULL",
             "U": "n = FIRST(n) AND n > FIRST(n, 3) AND n = LAST(n, 7)"},
            (20, 19, 18, 17, 16, 15, 14, 20), ((1, "DDDDDDDU"),), suite=SUITE),
    Matched("testLogicalOffsetOutsideOfRangeInMeasures", FALLING,
            {"D": "n < LAST(D.n, 1) OR LAST(D.n, 1) IS NULL", "U": "n > LAST(D.n)"},
            (19, 17, 13, 20), ((1, "DDDU"),), suite=SUITE),
)  # fmt: skip
