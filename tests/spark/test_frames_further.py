"""What frames do beside aggregates: split, fill, number rows, and go on into windows."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg
from fanlight.engine.spark.sql import expr
from tests.helpers.dataframes import FAR, SENTINEL, all_of, collected, frame
from tests.helpers.events import MINUTE
from tests.helpers.frames import BOUNDARIES, RECOVERY, THRESHOLDS
from tests.helpers.streams import ended, stream, stream_of
from tests.law.data import minute
from tests.law.kinds.frames import ROWS


@pytest.fixture(scope="module")
def df(classic):
    return frame(classic, ROWS.rows).cache()


def test_keys_of_doubles(classic):
    """-0.0 is 0.0, and NaN is NaN."""
    df = classic.sql(
        "select timestamp_seconds(id) as ts, 1D as v, "
        "element_at(array(0D, -0D, cast('NaN' as double), null), cast(id % 4 as int) + 1) as k "
        "from range(40)"
    )
    got = fl.over(df, fl.BoundaryFrame({"v": 2}), time="ts", by="k").frames().collect()
    assert sorted(row["rows"] for row in got) == [10, 10, 20]


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
    found = fl.over(df, spec, time="ts", by="k").fill(more, time="at", by="who")
    return found.agg(*calls) if calls else found.rows()


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


def sparsely(session, spec, calls, *, alike=True, **how):
    """Frames by key and minute, and a table that has rows of the first one of a key alone."""
    df = frame(session, [
        {"k": k, "ts": t * MINUTE, "v": float(t // 5 % 2)} for k in ("a", None) for t in range(20)
    ])  # fmt: skip
    more = frame(session, [{"k": "a", "ts": t * MINUTE, "n": t} for t in (6, 8, 12)])
    more = more.selectExpr("k" if alike else "k as who", "ts as at", "n", "n as `a.b`")
    windows = fl.over(df, spec, time="ts", by="k")
    found = windows.fill(more, time="at", by="k" if alike else "who", **how)
    return found.agg(*calls) if calls else found.rows()


SPARSE = {"threshold": fl.ThresholdFrame("v > 0"),
          "overlapping": fl.BoundaryFrame({"v": [0]}, overlapping=True)}  # fmt: skip


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("kind", SPARSE)
def test_frames_without_a_row_of_the_other_table(classic, kind, alike):
    spec, calls = SPARSE[kind], (agg.count(), agg.sum("n"), agg.collect_list("n"), agg.mode("n"))
    frames = fl.over(
        frame(classic, [
            {"k": k, "ts": t * MINUTE, "v": float(t // 5 % 2)}
            for k in ("a", None) for t in range(20)
        ]), spec, time="ts", by="k",
    ).frames()  # fmt: skip
    every = {(r.k, r.frame_id) for r in frames.collect()}
    inner = sparsely(classic, spec, calls, alike=alike).collect()
    left = sparsely(classic, spec, calls, alike=alike, how="left")
    assert left.columns == ["k", "window", "frame_id", *(call.label for call in calls)]
    left = left.collect()
    assert {(r.k, r.frame_id) for r in left} == every
    assert len(left) == len(every) > len(inner) > 0
    assert sorted(map(repr, inner)) == sorted(repr(r) for r in left if r["count(1)"])
    empty = {(r["count(1)"], r["sum(n)"], tuple(r["collect_list(n)"]), r["mode(n)"])
             for r in left if not r["count(1)"]}  # fmt: skip
    assert empty == {(0, None, (), None)}
    rows = sparsely(classic, spec, (), alike=alike, how="left")
    assert rows.columns == sparsely(classic, spec, (), alike=alike).columns
    rows = rows.collect()
    assert {(r.k, r.frame_id) for r in rows} == every
    assert sum(r.n is not None for r in rows) == sum(r["count(1)"] for r in left)
    assert len(rows) == sum(max(r["count(1)"], 1) for r in left)


OWN = {
    "highest": agg.max("v"), "n": agg.count(), "middle": agg.median("v"),
    "all": agg.collect_list("v"),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("how", ["inner", "left"])
@pytest.mark.parametrize("kind", [*SPARSE, "state"])
def test_own_aggregates_beside_those_of_the_other_table(spark, kind, how):
    """As if frames with their aggregates were joined with the table by hand."""
    spec = {**SPARSE, "state": fl.StateFrame("v")}[kind]
    df = frame(spark, [
        {"k": k, "ts": t * MINUTE, "v": float(t // 5 % 2)} for k in ("a", None) for t in range(20)
    ])  # fmt: skip
    more = frame(spark, [{"k": "a", "ts": t * MINUTE, "n": t} for t in (6, 8, 12)])
    more = more.selectExpr("k as who", "ts as at", "n as m", "n % 3 as kept")
    windowed = fl.over(df, spec, time="ts", by="k")
    frames = windowed.agg(**OWN)
    joined = frames.join(
        more, expr(frames, "k <=> who and at >= window.start and at < window.end"), how
    )  # fmt: skip
    given = {"time": "at", "by": "who", "how": how, "own": OWN}
    rows = windowed.fill(more, **given).rows()
    assert rows.columns == ["k", "who", "at", "m", "kept", "window", "frame_id", *OWN]
    assert all_of(rows) == all_of(joined.select(*rows.columns))
    calls = (agg.sum("m"), agg.count_distinct("m"), agg.max("kept"))
    found = windowed.fill(more, **given).agg(*calls)
    assert found.columns == ["k", "window", "frame_id", *OWN, *(call.label for call in calls)]
    wanted = joined.groupBy("k", "window", "frame_id", *OWN).agg(
        *(
            expr(joined, text).alias(call.label)
            for text, call in zip(("sum(m)", "count(distinct m)", "max(kept)"), calls, strict=True)
        )
    )
    assert all_of(found) == all_of(wanted)
    one = windowed.fill(more, **given | {"own": agg.max("v")}).rows()
    assert one.columns[-1] == "max(v)"
    listed = windowed.fill(more, **given | {"own": list(OWN.values())}).rows()
    assert all_of(listed.toDF(*rows.columns)) == all_of(rows)


def test_explain_names_and_checks_what_fills_frames(df):
    windows = fl.over(df, fl.ThresholdFrame("v > 0"), time="ts", by="k")
    filled = windows.fill(df.selectExpr("k", "ts", "n as m"), time="ts", own=agg.max("v"))
    assert "max(v), total, count(1)\n" in filled.explain(agg.count(), total=agg.sum("m")).replace(
        "count(1), total", "total, count(1)"
    )
    assert "max(v), the rows of the other DataFrame\n" in filled.explain()
    for calls in ([agg.sum("v")], [agg.sum("k")], ["m"], [agg.max("m").alias("frame_id")],
                  [agg.max("m").alias("max(v)")], [agg.sum("m").where("v > 1")]):  # fmt: skip
        said = []
        for ask in (filled.agg, filled.explain):
            with pytest.raises(fl.FanlightError) as caught:
                ask(*calls)
            said.append(str(caught.value))
        assert said[0] == said[1]


TIMES = {
    "timestamp": "{}", "long": "unix_micros({})", "int": "cast(unix_seconds({}) as int)",
    "ntz": "convert_timezone('UTC', cast({} as timestamp_ntz))",
}  # fmt: skip


@pytest.mark.sampled(7)
@pytest.mark.parametrize("time", TIMES)
@pytest.mark.parametrize("by", [(), "k"])
@pytest.mark.parametrize("how", ["inner", "left"])
@pytest.mark.parametrize("kind", SPARSE)
def test_rows_of_all_keys_within_each_frame(spark, kind, how, by, time):
    """The rows are those of a join by hand, with frames of a minute and frames of 16 hours."""
    rows = [minute(at * at, case=case, k=k, v=float(at * (case + 2) // 5 % 2))
            for at in (*range(20), 37) for case in (0, 1) for k in ("a", None)]  # fmt: skip
    text = TIMES[time]
    df = frame(spark, rows).selectExpr("case", "k", "v", f"{text.format('ts')} as ts")
    more = frame(spark, [minute(at, k=k, n=at) for k in ("a", None, "b")
                         for at in (-9, 0, 6, 25, 150, 324, 361, 1000, 1270)])  # fmt: skip
    more = more.selectExpr("k" if by else "k as who", f"{text.format('ts')} as at", "n")
    windowed = fl.over(df, SPARSE[kind], time="ts", by=["case", "k"])
    frames = windowed.frames()
    alike = "frames.k <=> more.k and " if by else ""
    within = expr(frames, f"{alike}at >= window.start and at < window.end")
    joined = frames.alias("frames").join(more.alias("more"), within, how)
    found = windowed.fill(more, time="at", by=by, how=how).rows()
    shown = [f"frames.{n}" if n == "k" else n for n in found.columns]
    assert all_of(found) == all_of(joined.select(*shown)) != []
    filled = windowed.fill(more, time="at", by=by, how=how).agg(agg.sum("n"), agg.count())
    wanted = joined.groupBy("case", "frames.k", "window", "frame_id").agg(
        expr(joined, "sum(n)").alias("sum(n)"), expr(joined, "count(n)").alias("count(1)")
    )
    assert all_of(filled) == all_of(wanted)


@pytest.mark.parametrize("how", ["inner", "left"])
@pytest.mark.parametrize("by", [(), "who"])
@pytest.mark.parametrize("kind", SPARSE)
def test_rows_count_for_so_long_before_a_frame_ends(classic, kind, by, how):
    """A batch counts the rows that a stream keeps."""
    df = frame(classic, [
        {"k": k, "ts": t * MINUTE, "v": float(t // 5 % 2)} for k in ("a", None) for t in range(20)
    ])  # fmt: skip
    more = frame(classic, [{"k": "a", "ts": t * MINUTE // 2, "n": t} for t in range(40)])
    more = more.selectExpr("k as who", "ts as at", "n")
    windowed = fl.over(df, SPARSE[kind], time="ts", by="k")
    frames = windowed.frames()
    alike = "k <=> who and " if by else ""
    recent = "at >= window.end - interval 90 seconds"
    within = expr(frames, f"{alike}at >= window.start and at < window.end and {recent}")
    found = windowed.fill(more, time="at", by=by, how=how, max_duration="90 seconds").rows()
    assert all_of(found) == all_of(frames.join(more, within, how).select(*found.columns)) != []


def test_values_that_are_in_no_cell(classic):
    """Beyond 4.5e15 cells, infinite, or NaN: as in the compiled loops."""
    values = [1.0, -1e300, 1.0, float("inf"), 2.0, float("nan"), 2.0, 1e300]
    df = frame(classic, [{"ts": at * 1_000_000, "v": value} for at, value in enumerate(values)])
    windowed = fl.over(df, fl.BoundaryFrame({"v": 4.2}), time="ts")
    found = [windowed.using(way).rows() for way in ("auto", "native")]
    ids = [[row.frame_id for row in one.orderBy("ts").collect()] for one in found]
    assert ids == [[0, None, 1, None, 2, None, 3, None]] * 2


def test_no_row_goes_through_python(df, capsys):
    windowed = fl.over(df, THRESHOLDS[1], time="ts", by="k").using("native")
    windowed.agg(agg.sum("v")).explain()
    assert "Python" not in capsys.readouterr().out
    assert "in Spark SQL" in windowed.explain()


@pytest.mark.parametrize("strategy", ["auto", "native"])
def test_rows_keep_their_columns(df, strategy):
    windowed = fl.over(df, BOUNDARIES[4], time="ts", by=["case", "k"], tiebreak=["seq"])
    assert windowed.using(strategy).rows().columns == [*df.columns, "frame_id"]


@pytest.mark.streaming
@pytest.mark.parametrize("how", ["inner", "left"])
@pytest.mark.parametrize("aggregated", [False, True])
@pytest.mark.parametrize("by", ["who", ()])
def test_filling_a_stream(classic, tmp_path, by, aggregated, how):
    """Rows of a second stream in the frames of the first: as in the batch."""
    rows = [minute(t, v=float(t // 5 % 2)) for t in range(21)]  # the last one closes a frame
    more = [minute(0, n=t) | {"ts": minute(0)["ts"] + t * MINUTE // 2} for t in range(44)]
    if how == "left":  # there is nothing in the first frame
        more = [row | ({} if row["n"] > 22 else {"k": "b"} if by else {"ts": 0}) for row in more]
    ends = [[SENTINEL | {"k": "a", "case": 0, "ts": at}] for at in (FAR, FAR + 10**12)]

    def arriving(name, every):
        size = len(every) // 4
        batches = [every[at * size : (at + 1) * size] for at in range(6)]
        return stream_of(classic, tmp_path / name, [*batches, *ends], "1 minute")

    df = arriving("rows", rows)
    filler = arriving("more", more).selectExpr("k as who", "ts as at", "n")
    windowed = fl.over(df, fl.ThresholdFrame("v > 0"), time="ts", by="k")
    calls = (agg.sum("n"), agg.count()) if aggregated else ()
    own = {"values": agg.collect_list("v"), "most": agg.median("v")}
    filled = windowed.fill(filler, time="at", by=by, max_duration="4 minutes", how=how, own=own)
    result = filled.agg(*calls) if aggregated else filled.rows()
    if not aggregated:
        result = result.selectExpr("unix_micros(at) as at", "n", "frame_id", *own)
    found = ended(result, tmp_path)
    assert {(tuple(r["values"]), r.most) for r in found.collect()} == {((1.0,) * 5, 1.0)}
    if not aggregated:  # rows as they came, each with its time
        assert found.select("at").distinct().count() == (16 if how == "inner" else 9)
        counted = F.count("n").alias("count(1)")
        found = found.groupBy("frame_id").agg(F.sum("n").alias("sum(n)"), counted)
    got = sorted((r.frame_id, r["sum(n)"], r["count(1)"]) for r in found.collect())
    # A frame lasts five minutes; what came in its first one is further back than was asked for.
    first = (0, sum(range(12, 20)), 8) if how == "inner" else (0, None, 0)
    assert got == [first, (1, sum(range(32, 40)), 8)]


# Minute by minute, and the first minute and the end of each frame in the order in which they end;
# two end at one row, and the last three are still open.
VALUES = (0.5, 0.0, 2.0, 2.5, 0.75, -9.0, 0.0, 0.25, 0.25, 2.5, -9.0, -8.0)
RECOVERIES = [(1, 2), (0, 3), (5, 6), (6, 9), (7, 9), (4, 12), (10, 12), (11, 12)]


@pytest.mark.streaming
def test_several_frames_at_once(classic, tmp_path):
    """By hand: what is asked of each in a batch, and the same in a stream of those that end."""
    rows = [minute(at, v=value, n=at) for at, value in enumerate(VALUES)]

    def query(df):
        windows = fl.over(df, RECOVERY, time="ts", by=["case", "k"])
        return windows.agg(total=agg.sum("n"), all=agg.collect_list("n"))

    batch = sorted(collected(query(frame(classic, rows))), key=lambda row: row["frame_id"])
    assert [row["all"] for row in batch] == [list(range(*ends)) for ends in RECOVERIES]
    assert [row["total"] for row in batch] == [sum(range(*ends)) for ends in RECOVERIES]
    assert [row["closed"] for row in batch] == [True] * 5 + [False] * 3
    pieces = [rows[at : at + 3] for at in range(0, len(rows), 3)]
    got = stream(classic, tmp_path, pieces, query, delay="1 minute", close=False)
    assert sorted(got, key=lambda row: row["frame_id"]) == batch[:5]


def test_what_else_several_frames_at_once_give(classic):
    df = frame(classic, [minute(at, v=value, n=at) for at, value in enumerate(VALUES)])
    windows = fl.over(df, RECOVERY, time="ts", by="k")
    lengths = {number: end - start for number, (start, end) in enumerate(RECOVERIES)}
    filled = windows.fill(df, time="ts").agg(agg.count()).collect()
    assert {row.frame_id: row["count(1)"] for row in filled} == lengths
    parts = windows.split("1 minute").groupBy("frame_id").count().collect()
    assert {row.frame_id: row["count"] for row in parts} == lengths
    with pytest.raises(fl.FanlightError, match="two numbers: these frames overlap"):
        windows.rows()
    assert "several frames may be open at once" in windows.explain()


PARTED = [minute(t, k=k, v=float(t % 17 > 2), n=t % 5, s=f"{t % 7}")
          for t in range(60) if not 20 < t < 34 for k in ("a", None)]  # fmt: skip
SO_FAR = {"total": agg.sum("n"), "texts": agg.collect_list("s"), "counted": agg.count()}


def in_parts(df, **more):
    spec = fl.ThresholdFrame("v > 0", max_gap="8 minutes")
    windowed = fl.over(df, spec, time="ts", by=["case", "k"], **more)
    return windowed.accumulate("3 minutes", **SO_FAR)


@pytest.mark.streaming
@pytest.mark.parametrize("more", [{}, {"forget_after": "7 minutes"}], ids=repr)
def test_parts_come_in_a_stream(classic, tmp_path, more):
    """Those of the batch that are complete, as soon as further windows can take them."""
    pieces = [PARTED[low : low + 23][::-1] for low in range(0, len(PARTED), 23)]
    whole = collected(in_parts(frame(classic, PARTED), **more))
    got = stream(classic, tmp_path, pieces, lambda df: in_parts(df, **more), delay="30 minutes")
    if not more:  # given when the key is forgotten
        whole = [row for row in whole if row["closed"]]
    assert all_of(got) == all_of(whole)
    assert len(whole) > 20

    def counted(df):
        parts = in_parts(df, **more).where("closed")
        parts = parts.selectExpr("case", "total", "window_time(window) as at")
        spec = fl.Sliding("6 minutes", "3 minutes")
        return fl.over(parts, spec, time="at", by="case").agg(agg.count(), agg.sum("total"))

    got = stream(classic, tmp_path, pieces, counted, delay="30 minutes")
    assert all_of(got) == all_of(collected(counted(frame(classic, PARTED))))


def test_parts_have_the_rows_before_their_ends(classic):
    df = frame(classic, PARTED)
    windowed = fl.over(
        df, fl.ThresholdFrame("v > 0", max_gap="8 minutes"), time="ts", by=["case", "k"]
    )
    rows = [row for row in windowed.rows().collect() if row.frame_id is not None]
    for part in in_parts(df).collect():
        mine = [row for row in rows if (row.k, row.frame_id) == (part.k, part.frame_id)]
        mine = [row for row in mine if row.ts < part.window.end]
        assert part.total == sum(row.n for row in mine)
        assert part.texts == [row.s for row in sorted(mine, key=lambda row: row.ts)]
        assert part.counted == len(mine)


@pytest.mark.streaming
def test_frames_go_on_into_windows(classic, tmp_path):
    """Stays in a cell, cut at report times and summed in sliding windows: as in the batch."""
    rows = [minute(t, v=float(t // 5 % 2), n=t // 6) for t in range(40)]
    grid = fl.BoundaryFrame({"v": [0], "n": 1})  # n is the number of the report

    def query(df):
        stays = fl.over(df, grid, time="ts", by=["case", "k"]).agg(v=agg.max("v"))
        stays = stays.where("closed").selectExpr(
            "case", "v", "window_time(window) as at",
            "unix_micros(window.end) - unix_micros(window.start) as stay",
        )  # fmt: skip
        spec = fl.Sliding("12 minutes", "6 minutes")
        return fl.over(stays, spec, time="at", by=["case", "v"]).agg(s=agg.sum("stay"))

    pieces = [rows[low : low + 10] for low in range(0, 40, 10)]
    got = stream(classic, tmp_path, pieces, query, delay="1 minute")
    expected = collected(query(frame(classic, rows)))
    assert sorted(got, key=repr) == sorted(expected, key=repr)
    assert len(expected) > 12
    assert sum(one["s"] for one in expected) == 2 * 36 * MINUTE  # up to the last cut


@pytest.mark.parametrize("call", [agg.sum("v"), agg.collect_list("v")], ids=lambda call: call.label)
@pytest.mark.parametrize("rows", [1_000, 3_000_000, 50_000_000])
def test_what_explain_says_is_what_runs(classic, capsys, rows, call):
    """Of rows that nobody reads; lists are grouped by Spark, so Python costs more for them."""
    df = classic.range(rows).selectExpr("timestamp_seconds(id) as ts", "id % 9 as v")
    windows = fl.over(df, fl.ThresholdFrame("v > 2"), time="ts")
    (chosen,) = re.findall(r"strategy +(\w+), the cheapest of 3", windows.explain(call))
    windows.agg(call).explain()
    assert ("InArrow" in capsys.readouterr().out) == (chosen == "arrow")


@pytest.mark.parametrize("limit", [2.0, -2.0])
def test_a_running_mean_is_the_exact_sum_by_the_count(classic, limit):
    values = (-2.5, -2, -2.5, -1, 3.5, 4.5, 5.5, 4, 4.5, 3, 4, 3, -9, -9)
    rows = [minute(at, v=value * limit / 2) for at, value in enumerate(values)]
    spec = fl.AggregateFrame(agg.avg("v"), limit, may_fall=True, below=limit < 0)
    found = fl.over(frame(classic, rows), spec, time="ts").agg(mean=agg.avg("v"))
    assert found.where("closed").select("rows", "mean").collect() == [(12, limit)]
