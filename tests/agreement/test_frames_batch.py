"""reference == batch for frames: every scheme, every aggregate, classic and Connect."""

from __future__ import annotations

from itertools import pairwise

import pytest

import fanlight as fl
from fanlight import agg
from fanlight.reference.frames import framed
from tests import events
from tests.dataframes import collected, frame
from tests.events import MINUTE
from tests.frames import BOUNDARIES, DELTAS, HOLDS, OVERLAPPING, SPECS, THRESHOLDS
from tests.frames_compare import EVERY, PLACE, agree, over

TIMES = fl.Sliding("4 minutes", "1 minute")
ROWS = events.packed(TIMES, 12)
NUMBERS = {n: EVERY[n] for n in ("every", "n_v", "sum_v", "sum_n", "max_v", "avg_n")}
OTHERS = {n: EVERY[n] for n in ("every", "sum_d", "min_s", "var_pop", "first", "list_v", "fit")}
SOME = (THRESHOLDS[2], BOUNDARIES[4], DELTAS[0], DELTAS[6])


@pytest.fixture(scope="module")
def df(classic):
    return frame(classic, ROWS).cache()


@pytest.mark.parametrize("spec", [*SPECS, *OVERLAPPING], ids=repr)
def test_every_scheme(df, spec):
    agree(df, ROWS, spec, NUMBERS)


@pytest.mark.parametrize("spec", [*SOME, *OVERLAPPING], ids=repr)
def test_partials_that_are_no_numbers(df, spec):
    agree(df, ROWS, spec, OTHERS, exact=spec in OVERLAPPING)


@pytest.mark.slow
@pytest.mark.parametrize("spec", [SOME[0], SOME[2], OVERLAPPING[0]], ids=repr)
def test_every_aggregate(df, spec):
    agree(df, ROWS, spec, EVERY, exact=spec in OVERLAPPING)


@pytest.mark.connect
@pytest.mark.parametrize("spec", SOME, ids=repr)
def test_frames_over_connect(sessions, spec):
    agree(frame(sessions["connect"], ROWS), ROWS, spec, NUMBERS)


def test_aggregates_over_connect(sessions):
    agree(frame(sessions["connect"], ROWS), ROWS, SOME[2], OTHERS)


def test_bounds_alone(df):
    for spec in SOME:
        agree(df, ROWS, spec, {})


@pytest.mark.parametrize("spec", SOME, ids=repr)
def test_rows_carry_the_number_of_their_frame(df, spec):
    windowed = fl.over(df, spec, time="ts", by=["case", "k"], tiebreak=["seq"])
    result = windowed.rows()
    assert result.columns == [*df.columns, "frame_id"]
    found = {}
    for row in result.selectExpr("*", "unix_micros(ts) as at").toArrow().to_pylist():
        found.setdefault((row["case"], row["k"], row["frame_id"]), []).append(row["at"])
    timed = [row for row in ROWS if row["ts"] is not None]
    values = ["v", "n", "d", "s", "w"]
    expected, inside = {}, 0
    for one in framed(ROWS, spec, values=values, holds=HOLDS, **PLACE):
        expected[*one.key, one.number] = sorted(row["ts"] for row in one.rows)
        inside += len(one.rows)
    none = [at for (*_, number), times in found.items() for at in times if number is None]
    assert len(none) == len(timed) - inside
    assert {at: sorted(times) for at, times in found.items() if at[-1] is not None} == expected


@pytest.mark.parametrize("rows", [[], [{"k": "a", "ts": None}], [{"k": None, "ts": -1, "v": 2.0}]])
def test_edges(classic, rows):
    for spec in (SOME[2], BOUNDARIES[0], OVERLAPPING[0]):
        got = collected(over(frame(classic, rows), spec, {"n": ("count",), "s": ("max", "s")}))
        timed = [row for row in rows if row["ts"] is not None]
        assert [(row["rows"], row["closed"], row["n"]) for row in got] == [(1, False, 1)] * len(
            timed
        )


def test_without_keys_and_with_one_key(classic):
    rows = [{**row, "case": 0, "k": None} for row in ROWS[:60]]
    for spec in SOME:
        agree(frame(classic, rows), rows, spec, NUMBERS, by=())
        agree(frame(classic, rows), rows, spec, NUMBERS, by=("case",))


def test_keys_of_doubles(classic):
    """-0.0 is 0.0, and NaN is NaN."""
    df = classic.sql(
        "select timestamp_seconds(id) as ts, 1D as v, "
        "element_at(array(0D, -0D, cast('NaN' as double), null), cast(id % 4 as int) + 1) as k "
        "from range(40)"
    )
    got = fl.over(df, fl.BoundaryFrame({"v": 2}), time="ts", by="k").frames().collect()
    assert sorted(row["rows"] for row in got) == [10, 10, 20]


def test_the_number_of_partitions_shows_nowhere(classic, df):
    spec = DELTAS[6]
    before = classic.conf.get("spark.sql.shuffle.partitions")
    try:
        for count in ("1", "5"):
            classic.conf.set("spark.sql.shuffle.partitions", count)
            agree(df.repartition(3), ROWS, spec, OTHERS)
    finally:
        classic.conf.set("spark.sql.shuffle.partitions", before)


NAIVE = "timestamp_ntz'1970-01-01' + unix_micros(ts) * interval '0.000001' second"


@pytest.mark.parametrize("text", [NAIVE, "unix_micros(ts)"])
def test_times_without_time_zone_and_whole_numbers(df, text):
    spec, order = fl.DeltaFrame({"v": 1.5}), ("case", "k", "frame_id")
    frames = fl.over(df, spec, time="ts", by=["case", "k"]).frames()
    other = df.selectExpr("case", "k", "v", "seq", f"{text} as at")
    got = fl.over(other, spec, time="at", by=["case", "k"]).frames()
    rows = [[row["rows"] for row in one.orderBy(*order).collect()] for one in (frames, got)]
    assert rows[0] == rows[1]
    assert dict(got.dtypes)["window"].count(dict(other.dtypes)["at"]) == 2


def test_frames_split_at_report_times(classic):
    df = classic.sql(
        "select timestamp_micros(1700000000000000 + id * 700000) as ts, id div 7 as x "
        "from range(30)"
    )
    windowed = fl.over(df, fl.BoundaryFrame({"x": 1}), time="ts")
    frames = {row.frame_id: row.window for row in windowed.frames().collect()}
    parts = windowed.split("1 second", agg.sum("x"), xs=agg.collect_list("x")).collect()
    for part in parts:  # aggregates are those of the whole frame
        assert set(part.xs) == {part.frame_id}
        assert part["sum(x)"] == part.frame_id * len(part.xs)
    assert len(parts) > len(frames) + 10
    for number, window in frames.items():
        mine = sorted((p.window.start, p.window.end) for p in parts if p.frame_id == number)
        assert mine[0][0] == window.start
        assert mine[-1][1] == window.end
        assert all(a[1] == b[0] and b[0].microsecond == 0 for a, b in pairwise(mine))
    seconds = fl.over(
        windowed.split("1 second").selectExpr("window.start as at", "window"),
        fl.Sliding("3 seconds", "1 second"), time="at",
    ).agg(agg.count())  # fmt: skip
    assert seconds.count() > 20


def filled(session, spec, calls):
    rows = [
        {"k": k, "ts": t * MINUTE, "v": float(t // 5 % 2)} for k in ("a", None) for t in range(20)
    ]
    other = [{"k": k, "ts": t * MINUTE // 2, "n": t} for k in ("a", None, "b") for t in range(60)]
    df, more = frame(session, rows), frame(session, other).selectExpr("k as who", "ts as at", "n")
    return fl.over(df, spec, time="ts", by="k").fill(more, *calls, time="at", by="who")


def test_filling_with_rows(spark):
    result = filled(spark, fl.ThresholdFrame("v > 0"), ())
    assert result.columns == ["k", "who", "at", "n", "window", "frame_id"]
    got = sorted((str(r.who), r.frame_id, r.n) for r in result.collect())
    inside = [
        (number, n) for number, low in enumerate((5, 15)) for n in range(2 * low, 2 * low + 10)
    ]
    inside = [(f, n) for f, n in inside if n < 39]  # the last frame ends just after minute 19
    assert got == sorted((k, f, n) for k in ("a", "None") for f, n in inside)


def test_filling_with_aggregates(spark):
    result = filled(spark, fl.ThresholdFrame("v > 0"), (agg.sum("n"), agg.collect_list("n")))
    assert result.columns == ["k", "window", "frame_id", "sum(n)", "collect_list(n)"]
    got = {(r.k, r.frame_id): r["collect_list(n)"] for r in result.collect()}
    assert got["a", 0] == list(range(10, 20))
    assert got[None, 1] == list(range(30, 39))
    assert len(got) == 4


def test_filling_overlapping_frames(classic):
    spec = fl.BoundaryFrame({"v": [0, 1]}, overlapping=True)
    result = filled(classic, spec, (agg.count(),)).collect()
    assert {(str(r.k), r.frame_id, r["count(1)"]) for r in result} == {
        ("a", 0, 39),
        ("None", 0, 39),
    }
