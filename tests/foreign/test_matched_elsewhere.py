"""What other systems' own tests say of row patterns, held against the library."""

from __future__ import annotations

import pytest

import fanlight as fl
from tests.foreign.tables import duckdb
from tests.foreign.tables.every import MATCHED
from tests.helpers.patterned import Asked, batch

LISTED = [case for case in MATCHED if case.after == "past last row"]


def named(cases):
    return {"argvalues": cases, "ids": [case.name for case in cases]}


def asked(case):
    """The question; names in quotes are without them in the API."""
    define = {name.strip('"'): said for name, said in case.definitions.items()}
    spec = fl.PatternFrame(case.text, define, after_match=case.after, within=case.within)
    tree = ("seq", *(("row", name) for name in spec.variables))  # its names are all that is asked
    return Asked(tree, spec, {}, {"within": case.within})


def found(case, **more):
    return [row for one in batch(asked(case), case.rows, **more) for row in one.to_pylist()]


@pytest.mark.parametrize("case", **named(MATCHED))
def test_the_matches_are_theirs(case):
    told = sorted((row["start"], row["rows"]) for row in found(case))
    assert told == [(case.rows[begin - 1]["t"], len(names)) for begin, names in case.expected]


@pytest.mark.parametrize("case", **named(LISTED))
def test_the_variables_of_rows_are_theirs(case):
    told = {row["t"]: (row["frame"], row["classifier"])
            for row in found(case, numbered=True, payload=("t",))}  # fmt: skip
    assert case.disagrees(told) == {}


@pytest.mark.parametrize("case", **named([case for case in MATCHED if case.closed is not None]))
def test_a_match_is_closed_if_they_emit_it(case):
    told = sorted(found(case), key=lambda row: row["start"])
    assert tuple(row["closed"] for row in told) == case.closed


@pytest.mark.parametrize("pattern", duckdb.EMPTY)
def test_what_may_match_no_rows_is_refused(pattern):
    with pytest.raises(fl.FanlightError, match=r"no row|names no variable|no repetition"):
        fl.PatternFrame(pattern, {})


def test_what_differs_on_purpose_says_why():
    assert all(case.why for case in MATCHED if case.ours is not None)


def test_every_case_has_its_name():
    assert len({case.name for case in MATCHED}) == len(MATCHED)
