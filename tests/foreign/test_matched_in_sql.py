"""What other systems' own tests say of row patterns, asked of the library as text, in Spark."""

from __future__ import annotations

import json

import pytest

import fanlight as fl
from tests.foreign.tables import duckdb
from tests.foreign.tables.every import MATCHED

QUERIES = 28  # each has texts of all suites
FROM = "FROM given MATCH_RECOGNIZE (PARTITION BY test ORDER BY t MEASURES"


def closing(case):
    """The parts of a text from AFTER MATCH on."""
    after = case.after if case.after.startswith("past") else f"TO {case.after}"
    parts = [f"AFTER MATCH SKIP {after}", f"PATTERN ({case.text})"]
    parts += [f"WITHIN {case.within}"] if case.within else []
    parts += [f"SUBSET {case.subset}"] if case.subset else []
    said = ", ".join(f"{name} AS {condition}" for name, condition in case.definitions.items())
    parts += [f"DEFINE {said}"] if said else []
    return " ".join(parts) + ")"


def texts(case):
    """The query for matches, and if each row is in one at most that for rows."""
    measures = "".join(f", '{at}', {one}" for at, (one, _) in enumerate(case.measured))
    yield (
        f"SELECT test, 'match' AS kind, at, size AS number, told {FROM} FIRST(t) AS at, "
        f"COUNT(*) AS size, to_json(named_struct('closed', closed{measures})) AS told "
        f"ONE ROW PER MATCH {closing(case)}"
    )
    if case.after == "past last row":
        unmatched = "" if "{-" in case.text else " WITH UNMATCHED ROWS"
        yield (
            f"SELECT test, 'row' AS kind, t AS at, number, told {FROM} MATCH_NUMBER() AS number, "
            f"CLASSIFIER() AS told ALL ROWS PER MATCH{unmatched} {closing(case)}"
        )


def grouped():
    """The cases that one text asks, by their numbers, with the text's queries."""
    found = {}
    for number, case in enumerate(MATCHED):
        found.setdefault(tuple(texts(case)), []).append(number)
    return list(found.items())


EVERY = grouped()
GROUPS = [EVERY[at::QUERIES] for at in range(QUERIES)]


def wrong(case, got):
    """What is wrong with the answer for a case."""
    found = sorted((row for row in got if row["kind"] == "match"), key=lambda row: row["at"])
    at = [row["t"] for row in case.rows]
    wanted = [(at[begin - 1], len(names)) for begin, names in case.expected]
    matches = [(row["at"], row["number"]) for row in found]
    if matches != wanted:
        return f"{case.name}: {matches}, expected {wanted}"
    told = [json.loads(row["told"]) for row in found]
    for number, (measure, values) in enumerate(case.measured):
        measured = tuple(row.get(str(number)) for row in told)
        if measured != pytest.approx(values):
            return f"{case.name}: {measure} is {measured}, expected {values}"
    if case.closed is not None and tuple(row["closed"] for row in told) != case.closed:
        return f"{case.name}: {told}, of which closed are to be {case.closed}"
    if case.after != "past last row":
        return ""
    listed = {
        row["at"]: (row["number"] and row["number"] - 1, row["told"])
        for row in got
        if row["kind"] == "row"
    }
    if "{-" in case.text:  # rows of no match are not asked for there
        listed = dict.fromkeys(at, (None, None)) | listed
    differ = case.disagrees(listed)
    return f"{case.name}: rows are, and are to be, {differ}" if differ else ""


def given_rows(session, cases):
    rows = [
        (number, row["t"], row["n"], row["s"])
        for number, case in cases.items()
        for row in case.rows
    ]
    return session.createDataFrame(rows, "test int, t bigint, n bigint, s string")


@pytest.mark.sampled(28)
@pytest.mark.parametrize("group", range(len(GROUPS)))
def test_texts_give_their_matches(classic, group):
    df = given_rows(classic, {at: MATCHED[at] for _, numbers in GROUPS[group] for at in numbers})
    asked = [query for queries, _ in GROUPS[group] for query in queries]
    given = [
        f"(SELECT * FROM given WHERE test IN ({', '.join(map(str, numbers))}))"
        for queries, numbers in GROUPS[group]
        for _ in queries
    ]
    text = " UNION ALL ".join(
        query.replace("FROM given", f"FROM {chosen}")
        for query, chosen in zip(asked, given, strict=True)
    )
    got = {}
    for row in fl.sql(text, given=df).collect():
        got.setdefault(row["test"], []).append(row)
    found = [
        wrong(MATCHED[number], got.get(number, []))
        for _, numbers in GROUPS[group]
        for number in numbers
    ]
    assert not any(found), "\n".join(filter(None, found))


@pytest.mark.sampled(1)
def test_measures_of_each_row_and_of_rows_further_on(classic):
    cases = [*duckdb.OF_EACH_ROW, *duckdb.OF_EACH_MATCH]
    given = given_rows(classic, dict(enumerate(case for case, *_ in cases)))
    parts = []
    for number, (case, measure, _) in enumerate(cases):
        each = number < len(duckdb.OF_EACH_ROW)
        chosen = FROM.replace("given", f"(SELECT * FROM given WHERE test = {number})")
        parts.append(
            f"SELECT test, {'t' if each else 'since'} AS at, CAST(x AS INT) AS value {chosen} "
            f"{measure} AS x{'' if each else ', FIRST(t) AS since'} "
            f"{'ALL ROWS' if each else 'ONE ROW'} PER MATCH {closing(case)}"
        )
    got = {}
    for row in fl.sql(" UNION ALL ".join(parts), given=given).orderBy("at").collect():
        got.setdefault(row["test"], []).append(row["value"])
    for number, (case, measure, values) in enumerate(cases):
        assert tuple(got[number][-len(values) :]) == values, (case.name, measure)
