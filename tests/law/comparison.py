"""The one comparison: whether an answer is the oracle's, row by row."""

from __future__ import annotations

from collections import Counter

from tests.helpers.compare import same
from tests.oracle.values import rank

SHOWN = 12


def differences(got, wanted):
    """What is wrong with an answer, in words; nothing if it is right.

    A row is known by all its columns that have no slack of their own. Times and counts must be
    equal, columns be called and ordered alike, and no row may come twice.
    """
    judged = sorted({name for one in wanted for name in one.slack})
    names = {tuple(one.row) for one in wanted}
    wrong = [f"columns {list(row)}" for row in got if tuple(row) not in names] if names else []
    if wrong:
        return [*wrong[:1], f"expected {[list(one) for one in names]}"]
    found = Counter(place(row, judged) for row in got)
    may = Counter(place(one.row, judged) for one in wanted)
    must = Counter(place(one.row, judged) for one in wanted if not one.optional)
    wrong = [f"missing, {count} times: {at}" for at, count in sorted((must - found).items())]
    wrong += [f"not expected, {count} times: {at}" for at, count in sorted((found - may).items())]
    if wrong or not judged:
        return wrong
    answers = {place(row, judged): row for row in got}
    for one in wanted:
        answer = answers[place(one.row, judged)]
        wrong += [
            f"{name} of {shown(one.row, judged)}: got {answer[name]!r}, expected {one.row[name]!r}"
            for name, slack in one.slack.items()
            if not same(answer[name], one.row[name], slack)
        ]
    return wrong


def agree(got, wanted):
    wrong = differences(got, wanted)
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong[:SHOWN])


def place(row, judged):
    """What a row is known by, as Spark tells values apart."""
    return tuple((name, rank(value)) for name, value in row.items() if name not in judged)


def shown(row, judged):
    return {name: value for name, value in row.items() if name not in judged}
