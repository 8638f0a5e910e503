"""Windows over windows in a stream whose watermark moves with every row, one row a micro-batch.

What the first windows give comes when the watermark has passed their end, so a time within them
comes late: the second windows must have waited for it. With few large micro-batches nothing would
show it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg
from fanlight.engine.spark.sql import WATERMARK
from tests import oracle
from tests.helpers.dataframes import BLANK, SENTINEL, calls, collected, frame
from tests.helpers.events import MINUTE
from tests.helpers.refusals import refused
from tests.helpers.streams import source, stream
from tests.law.data import MIDNIGHT
from tests.oracle.frames import frames

HOUR = 60 * MINUTE
BY = ("k",)
PAIR = ("began", "ts")
COUNTED = {"n": ("count",), "s": ("sum", "n")}
SESSION = fl.Session("15 minutes", max_duration="2 hours")
ENDLESS = fl.Session("15 minutes")
HIGH = fl.ThresholdFrame("v > 1", max_duration="90 minutes")
HOURS = fl.Sliding("1 hour")
OVERLAPPING = fl.Sliding("40 minutes", "20 minutes")
LEVELS = fl.MultiGranular(["30 minutes", "2 hours"], ["30 minutes", "1 hour"])


def row(key, minute, v):
    return {**BLANK, "case": 0, "k": key, "ts": MIDNIGHT + minute * MINUTE, "seq": 0,
            "v": float(v), "n": minute % 7}  # fmt: skip


# One key's clicks come in bursts; those of another move the watermark, far beyond all of them.
CLICKS = [row("a", at, v) for at, v in ((40, 2), (50, 3), (60, 2), (70, 0), (150, 2), (152, 0))]
OTHERS = [row("b", at, at % 3) for at in range(5, 425, 35)]
ROWS = sorted([*CLICKS, *OTHERS], key=lambda one: one["ts"])

# The columns of what the first windows give, from which the second are made.
AS_EVENTS = ("k", "window.start as began", "window_time(window) as ts", "n")
AS_POINTS = ("k", "cast(null as timestamp) as began", "window_time(window) as ts", "n")


@dataclass(frozen=True)
class Composition:
    """Windows over windows.

    ``first`` gives the keys, ``began``, ``ts`` and ``n`` of a DataFrame; ``known`` says the same of
    rows, and is None where the first windows are asked of a batch instead, which is what other laws
    judge. ``second`` is over these.
    """

    first: Callable[[Any], Any]
    second: Any
    known: Callable[[Sequence[dict[str, Any]]], list[dict[str, Any]]] | None = None
    time: str | tuple[str, str] = PAIR
    postponed: str | None = None


def given(columns, windows):
    """What the first windows give, of a query over a DataFrame."""
    return lambda df: windows(df).selectExpr(*columns)


def aggregated(spec, **more):
    return lambda df: fl.over(df, spec, time="ts", by="k", **more).agg(n=agg.count())


def closed(spec):
    return lambda df: aggregated(spec)(df).where("closed")


def filled(df):
    frames = fl.over(df, HIGH, time="ts", by="k")
    return frames.fill(df.select("ts", "k"), time="ts", max_duration="1 hour")


def parts(df):
    found = fl.over(df, HIGH, time="ts", by="k").accumulate("20 minutes", n=agg.count())
    return found.where("closed")


def rows_of(df):
    found = fl.over(df, HIGH, time="ts", by="k").rows()
    return found.selectExpr("k", "cast(null as timestamp) as began", "ts", "frame_id as n")


def features(df):
    found = fl.over(df, fl.Trailing("30 minutes"), time="ts", by="k").attach(before=agg.count())
    return found.selectExpr("k", "cast(null as timestamp) as began", "ts", "before as n")


def side_by_side(df):
    found = fl.over(df, LEVELS, time="ts", by="k").wide(n=agg.count())
    return found.selectExpr("k", "cast(null as timestamp) as began", "at as ts", "n_0 as n")


def as_rows(found, began=True):
    """Windows of an oracle as rows; ``window_time`` is the last microsecond of a window."""
    return [
        {"k": one["k"], "n": one["n"], "began": one["window"]["start"] if began else None,
         "ts": one["window"]["end"] - 1}
        for one in found
    ]  # fmt: skip


def of_frames(spec):
    def known(rows):
        holds = {"v > 1": lambda one: one["v"] > 1}
        how = {"time": "ts", "by": BY, "aggregates": {"n": ("count",)}, "holds": holds}
        return as_rows([one for one in frames(rows, spec, **how) if one["closed"]])

    return known


def of_windows(spec, began):
    def known(rows):
        found = oracle.sliding(rows, spec, time="ts", by=BY, aggregates={"n": ("count",)})
        return as_rows(found, began)

    return known


SESSIONS = given(AS_EVENTS, closed(SESSION))
COMPOSITIONS = {
    "sessions as events in windows": Composition(SESSIONS, HOURS, of_frames(SESSION)),
    "postponed by hand": Composition(
        given(AS_EVENTS, closed(ENDLESS)), OVERLAPPING, of_frames(ENDLESS), postponed="3 hours"
    ),
    "frames as events in levels": Composition(
        given(AS_EVENTS, closed(HIGH)), LEVELS, of_frames(HIGH)
    ),
    "windows as events in levels": Composition(
        given(AS_EVENTS, aggregated(OVERLAPPING)), LEVELS, of_windows(OVERLAPPING, began=True)
    ),
    "Spark's windows as events": Composition(
        given(AS_EVENTS, aggregated(fl.Sliding("20 minutes"))), HOURS,
        of_windows(fl.Sliding("20 minutes"), began=True),
    ),
    "windows of windows": Composition(
        given(AS_POINTS, aggregated(OVERLAPPING)), HOURS, of_windows(OVERLAPPING, began=False),
        "ts",
    ),
    "snapshots of sessions": Composition(SESSIONS, fl.Snapshot(), of_frames(SESSION)),
    "windows of starts": Composition(
        given(("k", "cast(null as timestamp) as began", "window.start as ts", "n"), closed(HIGH)),
        HOURS, time="ts",
    ),
    "windows of parts": Composition(given(AS_POINTS, parts), OVERLAPPING, time="ts"),
    "windows of rows of frames": Composition(rows_of, OVERLAPPING, time="ts"),
    "windows of features": Composition(features, OVERLAPPING, time="ts"),
    "windows of levels": Composition(side_by_side, HOURS, time="ts"),
    "frames of windows": Composition(
        given(AS_POINTS, aggregated(fl.Sliding("20 minutes"))), fl.Session("25 minutes"),
        of_windows(fl.Sliding("20 minutes"), began=False), "ts",
    ),
}  # fmt: skip
SAMPLE = (
    "sessions as events in windows",
    "windows as events in levels",
    "windows of rows of frames",
)


def second_windows(one, df):
    """The second windows over what the first give."""
    windows = fl.over(one.first(df), one.second, time=one.time, by="k")
    windows = windows if one.postponed is None else windows.postpone(one.postponed)
    return windows.agg(**calls(COUNTED))


def wanted(one, spark):
    """What the oracle says of it."""
    found = collected(one.first(frame(spark, ROWS))) if one.known is None else one.known(ROWS)
    given = [{**BLANK, **each} for each in found]
    how = {"by": BY, "aggregates": COUNTED}
    if isinstance(one.second, fl.Session):
        return frames(given, one.second, time="ts", **how)
    if isinstance(one.second, fl.Snapshot):
        return oracle.snapshots(given, one.second, time=one.time, **how)
    if isinstance(one.second, fl.MultiGranular):
        return oracle.spanning_several(given, one.second, time=one.time, **how)
    of = oracle.spanning if one.time == PAIR else oracle.sliding
    return of(given, one.second, time=one.time, **how)


def comparable_rows(rows):
    """The rows in order, without what numbers frames, nor those of the row that ends a stream.

    A filter in the query would be pushed below the watermark, which that row moves.
    """
    left = ("frame_id", "rows", "closed")
    plain = [{n: v for n, v in one.items() if n not in left} for one in rows]
    plain = [one for one in plain if one["k"] != SENTINEL["k"]]
    return sorted(plain, key=lambda one: (one["k"], str(one.get("level")), *one["window"].values()))


@pytest.mark.streaming
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in SAMPLE else pytest.mark.thorough) for n in COMPOSITIONS],
)
def test_a_stream_row_by_row_gives_what_the_oracle_says(classic, tmp_path, name):
    one = COMPOSITIONS[name]
    expected = comparable_rows(wanted(one, classic))
    assert len(expected) > 3
    assert comparable_rows(collected(second_windows(one, frame(classic, ROWS)))) == expected, (
        "a batch"
    )
    found = stream(
        classic,
        tmp_path,
        [[each] for each in ROWS],
        lambda df: second_windows(one, df),
        delay="1 minute",
    )
    assert comparable_rows(found) == expected


def lasted(df):
    """Since when each row's state has lasted, by the windows of its frame."""
    runs = fl.over(df, fl.StateFrame("v > 1", nulls="carry"), time="ts", by="k").rows()
    whole = fl.over(runs, fl.Trailing(), time="ts", by=["k", "frame_id"], forget_after="9 days")
    found = whole.attach(since=agg.min("ts"))
    return found.selectExpr("k", "unix_micros(ts) as at", "unix_micros(since) as since")


@pytest.mark.streaming
def test_since_when_a_state_has_lasted_at_each_row(classic, tmp_path):
    expected, known, began = set(), {}, {}
    for row in sorted(ROWS, key=lambda one: one["ts"]):
        key, holds = row["k"], None if row["v"] is None else row["v"] > 1
        holds = known.get(key) if holds is None else holds
        if holds != known.get(key):
            began[key] = row["ts"]
        known[key] = holds
        expected.add((key, row["ts"], began.get(key)))
    assert {tuple(row) for row in lasted(frame(classic, ROWS)).collect()} == expected
    found = stream(classic, tmp_path, [[each] for each in ROWS], lasted, delay="1 minute")
    assert {tuple(row.values()) for row in found if row["k"] != SENTINEL["k"]} == expected
    assert len({began for _, _, began in expected}) > 3


UNBOUNDED = {
    "sessions": given(AS_EVENTS, aggregated(ENDLESS)),
    "frames": given(AS_EVENTS, aggregated(fl.ThresholdFrame("v > 1"))),
    "a start of one's own": given(
        ("k", "window.start - interval 1 hour as began", "window_time(window) as ts", "n"),
        aggregated(SESSION),
    ),
    "windows that Spark makes": given(
        ("k", "window", "window.start as began", "window_time(window) as ts", "n"),
        lambda df: df.groupBy("k", F.window("ts", "1 hour")).agg(F.count("*").alias("n")),
    ),
    "a stop of one's own": given(
        ("k", "window", "window.start as began", "window.end - interval 1 second as ts", "n"),
        aggregated(SESSION),
    ),
    "a key that is forgotten": given(AS_EVENTS, aggregated(ENDLESS, forget_after="1 hour")),
}


@pytest.mark.parametrize("name", UNBOUNDED)
def test_times_that_nothing_bounds_are_refused(classic, tmp_path, name):
    """And what the error says to write works."""
    arriving = source(classic, tmp_path, "1 minute")
    windows = fl.over(UNBOUNDED[name](arriving), HOURS, time=PAIR, by="k")
    # Of a time that is computed, a limit on the windows that it comes from says nothing.
    limit = [] if name == "a stop of one's own" else ["max_duration"]
    refused(lambda: windows.agg(agg.count()), "nothing says how long they may be",
            ".postpone('2 hours')", *limit)  # fmt: skip
    assert windows.postpone("2 hours").agg(agg.count()).isStreaming
    assert not fl.over(
        UNBOUNDED[name](frame(classic, ROWS)), HOURS, time=PAIR, by="k"
    ).agg(agg.count()).isStreaming, "a batch has all rows"  # fmt: skip


RESULTS = {
    "windows": aggregated(HOURS),
    "overlapping windows": aggregated(OVERLAPPING),
    "days of a zone": aggregated(fl.Calendar("1 day", zone="Europe/Berlin")),
    "levels": aggregated(LEVELS),
    "levels side by side": lambda df: fl.over(df, LEVELS, time="ts", by="k").wide(agg.count()),
    "pieces": lambda df: fl.over(df, OVERLAPPING, time="ts", by="k").pieces(agg.count()),
    "trend lines": lambda df: fl.over(df, LEVELS, time="ts", by="k").fit("v", filled=True),
    "recurring items": lambda df: fl.over(df, LEVELS, time="ts", by="k").recurring("n"),
    "empty windows": lambda df: fl.over(df, HOURS, time="ts", by="k")
    .with_empty("zero", most=3).agg(agg.count()),
    "late rows besides": lambda df: fl.over(df, HOURS, time="ts", by="k", late="collect").agg(
        agg.count()
    ),
    "windows that are open": lambda df: fl.over(df, HOURS, time="ts", by="k").early().agg(
        agg.count()
    ),
    "events": lambda df: fl.over(df, HOURS, time=PAIR, by="k").agg(agg.count()),
    "snapshots": lambda df: fl.over(df, fl.Snapshot(), time=PAIR, by="k").agg(agg.count()),
    "frames": lambda df: fl.over(df, HIGH, time="ts", by="k").frames(),
    "aggregates of frames": aggregated(HIGH),
    "rows of frames": lambda df: fl.over(df, HIGH, time="ts", by="k").rows(),
    "parts of frames": parts,
    "rows within frames": lambda df: filled(df).rows(),
    "aggregates within frames": lambda df: filled(df).agg(agg.count()),
    "features": lambda df: fl.over(df, fl.Trailing("1 hour"), time="ts", by="k").attach(
        before=agg.count()
    ),
    "features of others": lambda df: fl.over(
        df, fl.Trailing("1 hour"), time="ts", by="k"
    ).at(df.select("ts", "k"), time="ts").attach(before=agg.count()),
    "matches": lambda df: fl.over(
        df,
        fl.ProgressiveWidening("10 minutes", max_duration="1 hour", max_rows=9),
        time="ts",
        by="k",
    ).detect(fl.Episode("x; y", event="s")),
}  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_with_a_time_carries_the_watermark_on(classic, tmp_path, name):
    """One column carries it; windows over it can follow, and a second watermark is refused."""
    found = RESULTS[name](source(classic, tmp_path, "1 minute"))
    marked = [field.name for field in found.schema.fields if WATERMARK in field.metadata]
    assert len(marked) == 1
    time = "window_time(window)" if marked == ["window"] else marked[0]
    times = found.selectExpr(f"{time} as ts", *(["window.end"] if marked == ["window"] else []))
    assert fl.over(times, HOURS, time="ts").agg(agg.count()).isStreaming
    again = times.withWatermark("ts", "1 minute")
    refused(lambda: fl.over(again, HOURS, time="ts"), "has a watermark of its own",
            "leave the second withWatermark out")  # fmt: skip
    if marked == ["window"]:
        assert fl.over(times, HOURS, time="end").agg(agg.count()).isStreaming
        again = times.withWatermark("end", "1 minute")
        refused(lambda: fl.over(again, HOURS, time="end"), "has a watermark of its own")


def _short(value):
    return round(value, 12) + 0.0 if isinstance(value, float) else value


# In another mode, or with columns of their own; those of before 1970 are asked by
# test_early.py and test_collected.py.
APART = ("windows that are open", "late rows besides")


@pytest.mark.streaming
@pytest.mark.sampled(20)
@pytest.mark.parametrize("minute", [50, 70, 430], ids=["a row", "an end", "all"])
@pytest.mark.parametrize("name", [name for name in reversed(RESULTS) if name not in APART])
def test_a_stream_from_before_1970_gives_what_the_batch_gives(classic, tmp_path, name, minute):
    """Until a row of later moves the watermark from there, no row is late, and none is lost."""
    earlier = MIDNIGHT + minute * MINUTE
    rows = [
        one | {"ts": one["ts"] - earlier, "began": one["ts"] - earlier - 7 * MINUTE, "s": s}
        for one, s in zip(ROWS, "xy" * len(ROWS), strict=False)
    ]

    def known(found):
        kept = [one for one in found if one["k"] != SENTINEL["k"] and one.get("closed", True)]
        return Counter(tuple(f"{n}: {_short(one[n])}" for n in sorted(one)) for one in kept)

    expected = known(collected(RESULTS[name](frame(classic, rows))))
    assert expected
    found = stream(classic, tmp_path, [rows[:9], rows[9:]], RESULTS[name], delay="1 minute")
    assert known(found) == expected


TWICE = {
    "sessions": lambda df, gap: closed(fl.Session(f"{gap} minutes"))(df),
    "the same sessions": lambda df, _: closed(SESSION)(df),
    "rows of frames": lambda df, _: rows_of(df).withColumnRenamed("n", "frame_id"),
    "windows": lambda df, _: aggregated(HOURS)(df),
    "overlapping windows": lambda df, _: aggregated(OVERLAPPING)(df),
}


@pytest.mark.streaming
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=() if n in ("sessions", "windows") else pytest.mark.thorough)
        for n in TWICE
    ],
)
def test_a_stream_is_read_once_for_two_results(classic, tmp_path, name):
    """Where their plans are equal up to a shuffle, Spark would give the second no watermark."""

    def both(df):
        one, other = (TWICE[name](df, gap).withColumn("gap", F.lit(gap)) for gap in (15, 30))
        return one.union(other)

    def known(rows):
        left = ("window", "began")
        return Counter(
            (one["gap"], one["k"], str({n: v for n, v in one.items() if n not in left}))
            for one in rows
            if one["k"] != SENTINEL["k"]
        )

    expected = known(collected(both(frame(classic, ROWS))))
    found = known(stream(classic, tmp_path, [ROWS[:9], ROWS[9:]], both, delay="1 minute"))
    assert found == expected
    assert {gap for gap, *_ in found} == {15, 30}
