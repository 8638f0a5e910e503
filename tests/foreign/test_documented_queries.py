"""Queries of the pages on row patterns of other systems, asked of the library as text."""

from __future__ import annotations

import json

import pytest

import fanlight as fl
from tests.foreign.tables.documented import DOCUMENTED, TABLES

GROUPS = 4  # each is one query
CASES = list(enumerate(DOCUMENTED))


def given_rows(session):
    rows = [(name, *row) for name, table in TABLES.items() for row in table]
    return session.createDataFrame(rows, "tab string, key string, at bigint, price bigint")


def in_json(number, case):
    """The query of a case, with each of its rows in one text."""
    where = f" WHERE {case.where}" if case.where else ""
    return (
        f"SELECT {number} AS number, to_json(struct(*), map('ignoreNullFields', 'false')) AS told "
        f"FROM (SELECT {case.columns} FROM (SELECT * FROM given WHERE tab = '{case.table}') "
        f"MATCH_RECOGNIZE (PARTITION BY key ORDER BY at {case.text}) AS found{where})"
    )


def in_order(row):
    """What sorts rows as pages list them: the key if there is one, then times."""
    return [value if isinstance(value, str) else f"{value or 0:20.3f}" for value in row]


@pytest.mark.sampled(GROUPS)
@pytest.mark.parametrize("group", range(GROUPS))
def test_queries_give_what_they_give_there(classic, group):
    cases = CASES[group::GROUPS]
    text = " UNION ALL ".join(in_json(number, case) for number, case in cases)
    got = {number: [] for number, _ in cases}
    for row in fl.sql(text, given=given_rows(classic)).collect():
        got[row["number"]].append(tuple(json.loads(row["told"]).values()))
    for number, case in cases:
        assert len(got[number]) == len(case.rows), (case.name, got[number])
        for row, wanted in zip(sorted(got[number], key=in_order), case.rows, strict=True):
            assert row == pytest.approx(wanted), case.name


def test_what_differs_from_a_page_says_why():
    assert all(bool(case.why) == (case.theirs is not None) for case in DOCUMENTED)
    assert all(case.theirs != case.rows for case in DOCUMENTED)
