"""Frames repaired with late rows: what is given, what is gone, what is read, and what is refused.

That a table so repaired is that of a batch over all rows is one of the laws: the action ``frames
repaired`` of tests/law/run.py.
"""

from __future__ import annotations

import random
import sqlite3

import pytest

import fanlight as fl
from fanlight import agg
from tests.helpers.dataframes import all_of, collected

KEYS = ("x", "y", None)
GAP = 5


def frame(spark, rows):
    df = spark.createDataFrame(rows, "k string, m long, v int")
    return df.selectExpr("k", "timestamp_seconds(60 * m) as ts", "v")


def rows_of(seed, count, end=300):
    chosen = random.Random(seed)
    return [(chosen.choice(KEYS), chosen.randrange(end), n) for n in range(count)]


def visits(df, spec=None, **more):
    spec = spec or fl.Session(f"{GAP} minutes")
    return fl.over(df, spec, **{"time": "ts", "by": "k", "tiebreak": "v", **more})


def by_hand(rows):
    """Sessions: of each key and number the first minute, the last one, and the values."""
    found = {}
    for key in KEYS:
        times = sorted((m, v) for k, m, v in rows if k == key)
        number = -1
        for at, (m, v) in enumerate(times):
            if at == 0 or m - times[at - 1][0] > GAP:
                number += 1
                found[key, number] = [m, m, []]
            found[key, number][1] = m
            found[key, number][2].append(v)
    return {place: (first, last, sorted(v)) for place, (first, last, v) in found.items()}


def span_of(row):
    start, end = (row["window"][edge] // 60_000_000 for edge in ("start", "end"))
    return start, end - GAP, sorted(row["vs"])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(3))
def test_frames_that_are_new_changed_or_gone_and_no_other(spark, seed):
    rows, late = rows_of(seed, 60), rows_of(seed + 10, 4)
    windows = visits(frame(spark, rows))
    stored = windows.agg(vs=agg.collect_list("v")).persist()
    given = collected(windows.repair(frame(spark, late), stored, vs=agg.collect_list("v")))
    before, after = by_hand(rows), by_hand(rows + late)
    changed = {place: one for place, one in after.items() if before.get(place) != one}
    assert {
        (row["k"], row["frame_id"]): span_of(row) for row in given if not row["gone"]
    } == changed
    gone = {(row["k"], row["frame_id"]): span_of(row) for row in given if row["gone"]}
    assert gone == {place: one for place, one in before.items() if place not in after}


def test_rows_from_long_before_are_not_read_again(classic):
    """Those of other keys neither: what is not read may be wrong, and nobody sees it."""
    rows = [("x", 20 * n, n) for n in range(50)] + [("y", 20 * n, n) for n in range(50)]
    stored = visits(frame(classic, rows)).agg(total=agg.sum("v")).persist()
    wrong = [row if row[0] == "x" and row[1] > 600 else (*row[:2], -99) for row in rows]
    given = visits(frame(classic, wrong)).repair(
        frame(classic, [("x", 703, 1000)]), stored, total=agg.sum("v")
    )
    assert [(row["k"], row["frame_id"], row["total"]) for row in collected(given)] == [
        ("x", 35, 1035)
    ]


@pytest.mark.sampled(1)
def test_a_late_row_makes_a_frame_that_was_too_small_large_enough(classic):
    """The row comes when the next frame begins; the small frame before is not in the table."""
    rows, late = [("x", 0, 0), ("x", 1, 0), *(("x", 3, v) for v in (10, 11, 12))], [("x", 3, 1)]
    windows = visits(frame(classic, rows), fl.DeltaFrame({"v": 5}, min_rows=3))
    stored = windows.agg(vs=agg.collect_list("v")).persist()
    given = collected(windows.repair(frame(classic, late), stored, vs=agg.collect_list("v")))
    assert sorted((row["frame_id"], sorted(row["vs"])) for row in given if not row["gone"]) == [
        (0, [0, 0, 1]),
        (1, [10, 11, 12]),
    ]


SPECS = {
    "too small": fl.Session("5 minutes", min_rows=2),
    "states": fl.StateFrame("v % 3"),
    "moves": fl.DeltaFrame({"v": 30}),
    "full": fl.AggregateFrame(agg.sum("v"), 100),
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
@pytest.mark.parametrize("forget_after", [None, "8 minutes"])
def test_a_table_repaired_twice_is_that_of_a_batch(classic, tmp_path, spec, forget_after):
    parts = [rows_of(1, 80), rows_of(2, 5), rows_of(3, 5)]
    parts = [[row for row in part if row[0]] for part in parts]  # no key of a table is null
    to = f"sqlite:///{tmp_path}/frames.db"
    asked = {"total": agg.sum("v"), "vs": agg.collect_list("v")}
    how = {"spec": spec, "forget_after": forget_after}
    key = ["k", "frame_id"] if forget_after is None else ["k", "frame_id", "begin"]

    def keyed(found):
        return found.withColumn("begin", found["window"]["start"])

    so_far = parts[0]
    stored = visits(frame(classic, so_far), **how).agg(**asked)
    fl.upsert(to, table="frames", key=key)(keyed(stored))
    for part in parts[1:]:
        windows = visits(frame(classic, so_far), **how)
        repaired = windows.repair(frame(classic, part), windows.agg(**asked), **asked)
        fl.upsert(to, table="frames", key=key, gone="gone")(keyed(repaired))
        so_far = so_far + part
    fl.upsert(to, table="wanted", key=key)(
        keyed(visits(frame(classic, so_far), **how).agg(**asked))
    )
    base = sqlite3.connect(f"{tmp_path}/frames.db")
    found, wanted = (base.execute(f"SELECT * FROM {name}") for name in ("frames", "wanted"))
    assert sorted(found) == sorted(wanted)
    (count,) = base.execute("SELECT count(*) FROM frames").fetchone()
    assert count > 9


def test_windows_of_two_columns_and_frames_alone(classic):
    windows = visits(frame(classic, rows_of(4, 40)))
    late = frame(classic, rows_of(5, 3))
    stored = windows.frames()
    flat = stored.selectExpr(
        "k", "window.start as window_start", "window.end as window_end", "frame_id", "rows",
        "closed",
    )  # fmt: skip
    given = collected(windows.repair(late, stored))
    assert given
    assert all_of(given) == all_of(collected(windows.repair(late, flat)))


def test_no_late_row_and_one_without_a_time_change_nothing(classic):
    windows = visits(frame(classic, rows_of(4, 40)))
    for late in ([], [("x", None, 1)]):
        assert windows.repair(frame(classic, late), windows.frames()).count() == 0


REFUSED = {
    "no table": (lambda df, w: w.repair(df, "visits"), "results='visits' is not a DataFrame"),
    "no rows": (lambda _, w: w.repair([1], w.frames()), r"late_rows=\[1\] is not a DataFrame"),
    "other rows": (lambda df, w: w.repair(df.drop("v"), w.frames()), "lacks the column 'v'"),
    "more": (
        lambda df, w: w.repair(df.withColumn("z", df["v"]), w.frames()), "the column 'z'; pass rows"
    ),
    "type": (
        lambda df, w: w.repair(df.withColumn("v", df["v"].cast("long")), w.frames()),
        "late_rows has 'v' of type bigint, the rows of the frames of int; cast one",
    ),
    "other aggregates": (
        lambda df, w: w.repair(df, w.frames(), n=agg.count()),
        r"results lacks the column 'n' .* fl.over\(rows, …\).agg\(…\), then repair it",
    ),
    "more aggregates": (
        lambda df, w: w.repair(df, w.agg(n=agg.count())), "has the column 'n', which the repair"
    ),
    "name": (
        lambda df, w: w.repair(df, w.frames(), gone=agg.count()), "clashes with .*'gone'"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("ask", "said"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(spark, ask, said):
    df = frame(spark, [("x", 0, 1)])
    with pytest.raises(fl.FanlightError, match=said):
        ask(df, visits(df))


def test_a_stream_is_refused(classic):
    stream = classic.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
    windows = fl.over(stream, fl.Session("5 minutes"), time="timestamp")
    with pytest.raises(fl.FanlightError, match="these are of a stream; pass the rows as they"):
        windows.repair(stream, stream)
    batch = classic.sql("SELECT now() AS timestamp, 1L AS value")
    ours = fl.over(batch, fl.Session("5 minutes"), time="timestamp")
    with pytest.raises(fl.FanlightError, match=r"late_rows is a stream; write .* in foreachBatch"):
        ours.repair(stream, batch)
