"""What other systems' own tests say of row patterns, held against the library and the oracle."""

from __future__ import annotations

import pytest

import fanlight as fl
from tests.foreign.tables import flink_patterns, trino
from tests.helpers.patterned import Asked, batch, text_of

CASES = (*trino.MATCHED, *flink_patterns.MATCHED)


def rows_of(case):
    """Rows of one key, a unit of time apart."""
    return [
        {"k": "p", "t": at, "seq": at, "n": value, "v": 1.0, "s": text}
        for at, (value, text) in enumerate(
            zip(case.values, case.texts or ("x",) * len(case.values), strict=True), 1
        )
    ]


def asked(case):
    signs = ("<", "<=", "=", ">=", ">")
    define = {
        name: f"n {said} prev(n)" if said in signs else said for name, said in case.define.items()
    }
    spec = fl.PatternFrame(text_of(case.pattern), define, after_match=case.after)
    return Asked(case.pattern, spec, {}, {"within": None})


def found(case, **more):
    return [row for one in batch(asked(case), rows_of(case), **more) for row in one.to_pylist()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.suite.repository}: {case.test}")
def test_the_matches_are_theirs(case):
    wanted = case.wanted if case.ours is None else case.ours
    told = sorted((row["start"], row["rows"]) for row in found(case))
    assert told == [(begin, len(names)) for begin, names in wanted]


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.after == "past last row"],
    ids=lambda case: f"{case.suite.repository}: {case.test}",
)  # fmt: skip
def test_the_variables_of_rows_are_theirs(case):
    told = {row["t"]: (row["frame"], row["classifier"])
            for row in found(case, numbered=True, payload=("t",))}  # fmt: skip
    wanted = dict.fromkeys(told, (None, None))
    for number, (begin, names) in enumerate(case.wanted if case.ours is None else case.ours):
        for at, name in enumerate(names, begin):
            wanted[at] = (number, name) if name.isupper() else (None, None)
    assert told == wanted


def test_what_differs_on_purpose_says_why():
    assert all(case.why for case in CASES if case.ours is not None)
