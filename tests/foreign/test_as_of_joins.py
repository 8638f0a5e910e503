"""As-of joins beside DuckDB's ASOF JOIN and Polars' join_asof, over the same rows.

Rows of one time come in no order that either of them promises, so DuckDB is asked for the time that
it finds; Polars takes the last of rows as they are sorted, here by the tiebreak.
"""

from __future__ import annotations

from datetime import timedelta

import duckdb
import polars as pl
import pytest

import fanlight as fl
from fanlight import agg

LOOKED_AT = [
    *[("a", 1, 1, 10), ("a", 5, 1, 20), ("a", 5, 3, None), ("a", 5, 2, 30), ("a", 9, 1, None)],
    *[("b", 1, 1, 50), ("b", 8, 1, 60), ("b", None, 1, 70), (None, 1, 1, 80), ("d", 2, 1, 90)],
]
ASKING = [
    *[("a", 0, 0), ("a", 1, 1), ("a", 5, 2), ("a", 5, 3), ("a", 6, 4), ("a", 9, 5), ("a", 13, 6)],
    *[("a", 20, 7), ("b", 5, 8), ("b", 12, 9), ("b", 13, 10), ("b", None, 11), ("c", 5, 12)],
    *[(None, 5, 13), ("d", -3, 14)],
]
TOLERANCE = 4  # seconds: some rows are just as old
# What is asked, in our words and in theirs: whether equal times count, and how old a row may be.
ASKS = {
    "backward": (fl.Trailing(fl.Rows(1)), True, None),
    "backward, all rows": (fl.Trailing(), True, None),
    "strict": (fl.Trailing(fl.Rows(1), closed="neither"), False, None),
    "strict, all rows": (fl.Trailing(closed="left"), False, None),
    "tolerance": (fl.Trailing(f"{TOLERANCE} seconds", closed="both"), True, TOLERANCE),
    "strict tolerance": (fl.Trailing(f"{TOLERANCE} seconds", closed="left"), False, TOLERANCE),
}


@pytest.fixture(scope="module")
def tables(classic):
    looked_at = classic.createDataFrame(LOOKED_AT, "k string, s int, seq int, v int")
    asking = classic.createDataFrame(ASKING, "k string, s int, id int")
    return [df.selectExpr("*", "timestamp_seconds(s) as ts") for df in (looked_at, asking)]


def ours(tables, spec):
    """The time, the tiebreak and the value that each row finds that asks, by its number."""
    looked_at, asking = tables
    windows = fl.over(looked_at, spec, time="ts", by="k", tiebreak="seq").at(asking, time="ts")
    found = windows.attach(at=agg.last("s"), of=agg.last("seq"), what=agg.last("v"))
    return {row.id: (row.at, row.of, row.what) for row in found.collect()}


def of_polars(equal, oldest):
    looked_at = pl.DataFrame(LOOKED_AT, ["k", "at", "of", "what"], orient="row")
    looked_at = looked_at.drop_nulls("at").with_columns(ts=pl.from_epoch("at"))
    asking = pl.DataFrame(ASKING, ["k", "s", "id"], orient="row").with_columns(
        ts=pl.from_epoch("s")
    )
    found = asking.sort("ts").join_asof(
        looked_at.sort("ts", "of"), on="ts", by="k", allow_exact_matches=equal,
        tolerance=None if oldest is None else timedelta(seconds=oldest), check_sortedness=False,
    )  # fmt: skip
    return {row[0]: row[1:] for row in found.select("id", "at", "of", "what").iter_rows()}


def of_duckdb(equal, oldest):
    con = duckdb.connect()
    con.execute("create table looked_at (k text, s int, seq int, v int)")
    con.executemany("insert into looked_at values (?, ?, ?, ?)", LOOKED_AT)
    con.execute("create table asking (k text, s int, id int)")
    con.executemany("insert into asking values (?, ?, ?)", ASKING)
    young = "true" if oldest is None else f"a.s - l.s <= {oldest}"
    found = con.execute(
        f"""select a.id, if({young}, l.s, null), if({young}, l.seq, null), if({young}, l.v, null)
            from asking a asof left join looked_at l
            on a.k = l.k and a.s {">=" if equal else ">"} l.s"""
    )
    return {row[0]: row[1:] for row in found.fetchall()}


@pytest.mark.parametrize("asked", ASKS)
def test_the_latest_row_is_that_of_duckdb_and_polars(tables, asked):
    spec, equal, oldest = ASKS[asked]
    mine = ours(tables, spec)
    keyless = {at for k, _, at in ASKING if k is None}
    polars, duck = of_polars(equal, oldest), of_duckdb(equal, oldest)
    assert mine.keys() == polars.keys() == duck.keys() == {row[-1] for row in ASKING}
    # a null key is a key here, and there it is equal to none
    assert {polars[at] for at in keyless} == {duck[at] for at in keyless} == {(None,) * 3}
    assert {mine[at] for at in keyless} == {(1, 1, 80)}
    others = mine.keys() - keyless
    assert {at: mine[at] for at in others} == {at: polars[at] for at in others}
    assert {at: mine[at][0] for at in others} == {at: duck[at][0] for at in others}
    alone = {at for at in others if mine[at][0] != 5}  # several rows of a key are at second 5
    assert {at: mine[at] for at in alone} == {at: duck[at] for at in alone}


def test_rows_find_something_nothing_and_a_null(tables):
    """So the comparisons above are of all three."""
    found = ours(tables, fl.Trailing(fl.Rows(1)))
    assert (found[2], found[0], found[5], found[12]) == (
        (5, 3, None), (None,) * 3, (9, 1, None), (None,) * 3,
    )  # fmt: skip
