"""Windows repaired: those that a late piece is in, whole; killed anywhere; and what is refused.

That results upserted with them are those of a batch over all rows is one of the laws: the action
``repair`` of tests/law/run.py.
"""

from __future__ import annotations

import random
import sqlite3
import threading
from importlib import import_module

import pytest
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg, algebra
from tests.helpers.dataframes import all_of, collected
from tests.helpers.streams import finish, stream_of

MINUTES = fl.Sliding("1 minute")
KEYS = ("x", "y", "Z", None)
ASKED = {"n": agg.count(), "total": agg.sum("v"), "high": agg.max("v"), "mid": agg.median("v")}
# Lengths, steps and offsets in minutes; with gaps, and without.
GRIDS = ((1, 1, 0), (6, 2, 0), (7, 3, 2), (2, 9, 1), (60, 60, 0))


def rows_of(seed, count, begin=-90, end=400):
    chosen = random.Random(seed)
    return [
        (chosen.choice(KEYS), chosen.randrange(begin, end) + chosen.choice((0.0, 0.5)), n)
        for n in range(count)
    ]


def frame(spark, rows):
    df = spark.createDataFrame(rows, "k string, m double, v int")
    return df.selectExpr("k", "timestamp_millis(cast(m * 60000 as bigint)) as ts", "v")


def pieces(df, spec=MINUTES, asked=ASKED, **more):
    return fl.over(df, spec, **{"time": "ts", "by": "k", **more}).pieces(**asked)


def by_hand(rows, grid, touched):
    """Windows as lists of values, those that hold one of the touched rows: one by one."""
    length, step, offset = grid
    found = {}
    for start in range(-300, 700):
        if (start - offset) % step == 0:
            for k in KEYS:
                inside = [v for key, m, v in rows if key == k and start <= m < start + length]
                marks = [m for key, m, _ in touched if key == k and start <= m < start + length]
                if marks:
                    found[k, start] = sorted(inside)
    return found


def spec_of(grid):
    length, step, offset = (f"{minutes} minutes" for minutes in grid)
    return fl.Sliding(length, step, offset=offset)


def minutes_of(window):
    return window["start"] // 60_000_000


def summary_of(values):
    middle = len(values) // 2
    median = values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2
    return len(values), sum(values), max(values), float(median)


def test_each_window_that_a_late_row_is_in_and_no_other(spark):
    rows, late = rows_of(1, 600), [*rows_of(2, 9), *rows_of(3, 2, 500, 600)]
    specs = [spec_of(grid) for grid in GRIDS]
    found = fl.roll_up_late(pieces(frame(spark, rows)), pieces(frame(spark, late)), specs)
    got = {
        (row["query"], row["k"], minutes_of(row["window"])): tuple(row[name] for name in ASKED)
        for row in collected(found)
    }
    wanted = {
        (query, *place): summary_of(values)
        for query, grid in enumerate(GRIDS)
        for place, values in by_hand(rows + late, grid, late).items()
    }
    assert got == wanted
    assert found.columns == fl.roll_up(pieces(frame(spark, rows)), specs).columns


def test_only_pieces_near_late_ones_are_aggregated(classic, monkeypatch):
    repairing, taken = import_module("fanlight.engine.spark.repair"), []
    real, here = repairing.bind_pieces, threading.get_ident()  # the law asks in other threads

    def noted(*given):
        if threading.get_ident() == here:
            taken.append(given[1])
        return real(*given)

    monkeypatch.setattr(repairing, "bind_pieces", noted)
    stored = pieces(frame(classic, [(k, float(m), 1) for k in KEYS for m in range(1000)]))
    late = pieces(frame(classic, [("x", 500.0, 1), (None, 20.0, 1)]))
    assert fl.roll_up_late(stored, late, fl.Sliding("10 minutes", "1 minute")).count() == 20
    assert taken[0].count() == 4000
    assert taken[-1].count() == 2 * 19 + 2  # minutes 491 to 509, and 11 to 29, and the late ones


def test_repairs_one_after_another_in_any_order(classic):
    """Each makes the table that of a batch over what has come up to then."""
    parts = [rows_of(seed, 40) for seed in range(4)]
    spec = fl.MultiGranular(["5 minutes", "15 minutes"], ["5 minutes", "5 minutes"])
    stored = pieces(frame(classic, parts[0]))
    results = {}
    for row in collected(fl.roll_up(stored, spec)):
        results[row["k"], row["level"], row["window"]["start"]] = row
    for part in (3, 1, 2):
        late = pieces(frame(classic, parts[part]))
        for row in collected(fl.roll_up_late(stored, late, spec)):
            results[row["k"], row["level"], row["window"]["start"]] = row
        stored = stored.unionByName(late)
    every = frame(classic, [row for part in parts for row in part])
    wanted = collected(fl.over(every, spec, time="ts", by="k").agg(**ASKED))
    assert all_of(results.values()) == all_of(wanted)


@pytest.mark.parametrize(
    ("kind", "ours", "theirs"),
    [
        ("double", "-0D", "0D"),
        ("double", "double('NaN')", "double('NaN') + 1"),
        ("string collate UTF8_LCASE", "'Oslo'", "'OSLO'"),
        ("struct<a: double>", "named_struct('a', -0D)", "named_struct('a', 0D)"),
    ],
)
def test_equal_keys_of_other_bytes(classic, kind, ours, theirs):
    """As Spark calls values equal."""

    def one(key):
        text = f"select cast({key} as {kind}) as k, timestamp_seconds(0) as ts, 1 as v"
        return pieces(classic.sql(text), asked={"n": agg.count()})

    assert [row["n"] for row in collected(fl.roll_up_late(one(ours), one(theirs), MINUTES))] == [2]


def test_keys_and_results_called_as_what_is_computed(classic):
    names = ["block", "late", "begin", "end", "late_late", "ts"]
    keys = ", ".join(f"{place} as `{name}`" for place, name in enumerate(names))
    df = classic.sql(f"select {keys}, timestamp_seconds(0) as at")
    made = pieces(df, asked={"late_": agg.count(), "late_block": agg.count()}, time="at", by=names)
    (row,) = collected(fl.roll_up_late(made, made, MINUTES))
    assert [row[name] for name in names] == list(range(6))
    assert (row["late_"], row["late_block"]) == (2, 2)


def test_a_table_with_a_window_in_two_columns(classic):
    """As an upsert writes it."""
    stored, late = pieces(frame(classic, rows_of(1, 90))), pieces(frame(classic, rows_of(2, 9)))
    note = stored.schema["window"].metadata
    flat = stored.select(
        "k",
        F.expr("window.start").alias("window_start", metadata=note),
        F.expr("window.end as window_end"),
        *ASKED,
    )
    spec = fl.Sliding("6 minutes", "2 minutes")
    results = fl.roll_up(stored, spec).selectExpr(
        "k", "window.start as window_start", "window.end as window_end", *ASKED
    )
    found, wanted = fl.roll_up_late(flat, late, spec, results), fl.roll_up_late(stored, late, spec)
    assert all_of(found) == all_of(wanted)


@pytest.mark.streaming
@pytest.mark.parametrize("killed", ["before", "between", "after"])
def test_a_kill_anywhere_counts_nothing_twice(classic, tmp_path, killed):
    """The order of the page: pieces by batch, then windows by key."""
    kept, base = str(tmp_path / "kept"), tmp_path / "out.db"
    spec, asked = fl.Sliding("6 minutes", "2 minutes"), {"n": agg.count(), "total": agg.sum("v")}
    write = fl.upsert(f"sqlite:///{base}", table="found", key=["k", "window"])
    parts = [[(k or "none", m, v) for k, m, v in rows_of(seed, 60)] for seed in range(3)]
    left = [killed]

    def kill(where):
        if where in left:
            left.remove(where)
            raise RuntimeError(where)

    def keep(rows, batch):
        own = pieces(rows, asked=asked).withColumn("batch", F.lit(batch))
        mode = own.write.mode("overwrite").option("partitionOverwriteMode", "dynamic")
        mode.partitionBy("batch").parquet(kept)
        return classic.read.parquet(kept)

    def put_in(rows, number):
        if number == 1:
            kill("before")
        stored, own = keep(rows, f"late-{number}"), F.col("batch") == f"late-{number}"
        if number == 1:
            kill("between")
        write(fl.roll_up_late(stored.where(~own), stored.where(own), spec))
        if number == 1:
            kill("after")

    write(fl.roll_up(keep(frame(classic, parts[0]), "first"), spec))
    arriving = [frame(classic, part) for part in parts[1:]]
    rows = stream_of(classic, tmp_path, arriving, delay=None)
    with pytest.raises(Exception, match=killed):
        finish(rows, tmp_path, put_in)
    finish(rows, tmp_path, put_in)
    assert left == []
    every = frame(classic, [row for part in parts for row in part])
    wanted = collected(fl.over(every, spec, time="ts", by="k").agg(**asked))
    with sqlite3.connect(base) as connection:
        asked_for = "select k, unixepoch(substr(window_start, 1, 19)), n, total from found"
        got = connection.execute(asked_for).fetchall()
    assert sorted(got) == sorted(
        (row["k"], minutes_of(row["window"]) * 60, row["n"], row["total"]) for row in wanted
    )


SPEC = fl.Sliding("4 minutes", "2 minutes")
OTHER = {
    "rows in columns": (lambda df: df, "late_pieces is not a table of pieces that this version"),
    "not a DataFrame": (lambda _: 5, r"roll_up_late\(late_pieces=5\) is not a table of pieces"),
    "another length": (
        lambda df: pieces(df, fl.Sliding("2 minutes")),
        "late_pieces has pieces of '2 minutes', the table of '1 minute'; make late_pieces by",
    ),
    "cut elsewhere": (
        lambda df: pieces(df, fl.Sliding("1 minute", offset="5 seconds")),
        "late_pieces has pieces of '1 minute', cut elsewhere than those stored",
    ),
    "other keys": (
        lambda df: pieces(df, by="v"), r"late_pieces has the keys \['v'\], the stored"
    ),
    "no keys": (lambda df: pieces(df, by=()), r"late_pieces has the keys \[\]"),
    "keys of another type": (
        lambda df: pieces(df.withColumn("k", F.expr("cast(k as int)"))), "is of type int in 'k'"
    ),
    "times of another type": (
        lambda df: pieces(df.withColumn("ts", F.expr("cast(ts as timestamp_ntz)"))),
        "is of type timestamp_ntz in their time, the stored pieces of timestamp",
    ),
    "one aggregate less": (
        lambda df: pieces(df).drop("high"), "late_pieces lacks the aggregate 'high'"
    ),
    "another aggregate": (
        lambda df: pieces(df, asked={**ASKED, "high": agg.min("v")}),
        "late_pieces has another aggregate 'high'",
    ),
    "of values of another type": (
        lambda df: pieces(df.withColumn("v", F.expr("cast(v as bigint)"))),
        "late_pieces has another aggregate 'total'",
    ),
    "a key lost": (lambda df: pieces(df).drop("k"), "late_pieces has lost the key 'k'"),
}  # fmt: skip


@pytest.mark.parametrize("about", OTHER)
def test_late_pieces_that_are_no_such_pieces(classic, about):
    late, why = OTHER[about]
    df = frame(classic, rows_of(1, 9))
    with pytest.raises(fl.FanlightError, match=why):
        fl.roll_up_late(pieces(df), late(df), SPEC)


def test_what_cannot_be_repaired(classic):
    df = frame(classic, rows_of(1, 9))
    stored, late = pieces(df), pieces(df)
    stream = classic.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
    several = {"ranges": ["4 minutes", "8 minutes"], "slides": ["2 minutes", "4 minutes"]}
    flowing = fl.over(stream, MINUTES, time="timestamp").pieces(n=agg.count())
    for given, why in (
        ((df, late, SPEC), "pieces is not a table of pieces that this version"),
        ((flowing, late, SPEC), r"roll_up_late\(pieces=a stream\) is not a table of pieces"),
        ((stored, flowing, SPEC), r"roll_up_late\(late_pieces=a stream\).* in foreachBatch"),
        ((stored, late, fl.Sliding("90 seconds")), "windows that begin or end within pieces"),
        ((stored, late, fl.Session("1 minute")), "needs rows, and pieces have none"),
        ((stored, late, fl.Trailing("1 minute")), "has windows of the rows that ask"),
        ((stored, late, {"a": fl.Trailing()}), "has windows of the rows that ask"),
        ((stored, late, fl.MultiGranular(**several, changes_only=True)), "would have to take back"),
    ):
        with pytest.raises(fl.FanlightError, match=why):
            fl.roll_up_late(*given)
    spread = algebra.Aggregate(
        "spread", {"hi": algebra.Max("{x}"), "lo": algebra.Min("{x}")}, "{hi} - {lo}"
    )
    stored = pieces(df, asked={"spread": spread("v")})
    with pytest.raises(fl.FanlightError, match="which fanlight does not have"):
        fl.roll_up_late(stored, stored, SPEC)
    assert fl.roll_up_late(stored, stored, SPEC, aggregates=[spread]).columns[-1] == "spread"


RESULTS = {
    "no key": (lambda df: df.drop("k"), "results lacks the column 'k' of the repaired windows"),
    "no window": (lambda df: df.drop("window"), "lacks the column 'window_start'"),
    "no aggregate": (lambda df: df.drop("high"), "results lacks the column 'high'"),
    "one more": (lambda df: df.withColumn("low", F.lit(1)), "has the column 'low', which the"),
    "another type": (
        lambda df: df.withColumn("n", F.expr("cast(n as int)")),
        "results has 'n' of type int, the repaired windows of bigint; write fl.roll_up",
    ),
    "not a DataFrame": (lambda _: "found.parquet", "results='found.parquet' is not a DataFrame"),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("about", RESULTS)
def test_results_that_were_never_stored(classic, about):
    change, why = RESULTS[about]
    stored = pieces(frame(classic, rows_of(1, 9)))
    results = fl.roll_up(stored, SPEC)
    with pytest.raises(fl.FanlightError, match=why):
        fl.roll_up_late(stored, stored, SPEC, change(results))
    levels = fl.roll_up_late(stored, stored, [SPEC, MINUTES])
    with pytest.raises(fl.FanlightError, match="lacks the column 'query'"):
        fl.roll_up_late(stored, stored, [SPEC, MINUTES], results)
    assert fl.roll_up_late(stored, stored, [SPEC, MINUTES], levels).columns == levels.columns
