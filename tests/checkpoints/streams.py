"""One stream of each kind that keeps state: the query, and the rows that arrive.

A query stands here as it was when its checkpoint was made: it is changed together with that alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg
from tests.helpers.dataframes import SENTINEL
from tests.helpers.events import MINUTE
from tests.law.data import SOME_MINUTE as TODAY
from tests.law.data import minute
from tests.law.run import DEFAULT as HDFS

DELAY = "3 minutes"
BEFORE, AFTER = 3, 2  # files before the stop, and after it; one more closes all windows
EACH = 24  # minutes of a file
BY = ["case", "k"]
KEYS = ("a", "b", None)
TIMES = fl.Sliding("4 minutes", "2 minutes")
LEVELS = fl.MultiGranular(["2 minutes", "4 minutes"], ["1 minute", "2 minutes"])
DELTA = fl.DeltaFrame({"v": 1.5})
PATTERN = fl.PatternFrame(
    "low+ (high | up){1,2} !same",
    {"low": "v < 0.5", "high": "v > 1", "up": "v > last(low.v)", "same": "n = prev(n, 2)"},
    within="6 minutes",
)
WIDENED = fl.ProgressiveWidening("1 minute", max_duration="8 minutes", max_rows=5)
PAIR = ("began", "ts")
# Late in all windows: whether they are counted depends on what state says of the watermark.
LATE = [
    {**minute(BEFORE * EACH - 32, k=key, seq=1000, n=5, v=1.25, s="x", w=1.0), "began": TODAY}
    for key in "ab"
]
SEVERAL = {"near": fl.Trailing("4 minutes"), "ever": fl.Trailing(include_self=False)}
MATCH = "n long"


def rows(number):
    """The rows of a file: a part of them out of order, none of them late."""
    found = []
    for at in range(number * EACH, (number + 1) * EACH):
        for place, key in enumerate(KEYS):
            seq = len(KEYS) * at + place
            value = (at * (3 + place) + at // 5) % 7
            more = {"n": value, "v": value / 4, "s": "xyz"[value % 3], "d": None, "w": 1.0}
            stop = minute(at, k=key, seq=seq, **more)
            found.append({**stop, "began": stop["ts"] - (1 + value % 2) * MINUTE})
    return sorted(found, key=lambda row: (row["seq"] % 5 == 0, row["seq"]))


def batches(late=LATE, change=list):
    """The rows of each file, the first after the stop with late ones; the last closes all."""
    found = change([rows(number) for number in range(BEFORE + AFTER)])
    found[BEFORE] += late
    return [*found, [SENTINEL]]


def begun(files):
    """Each fourth event is long, with a row in the file before that says that it has begun.

    Each eighth never ends.
    """
    found = [[] for _ in files]
    for number, every in enumerate(files):
        for row in every:
            if row["seq"] % 4:
                found[number].append(row)
                continue
            begins = {**row, "began": row["ts"] - 20 * MINUTE}
            found[max(0, number - 1)].append({**begins, "ts": None})
            found[number] += [begins] if row["seq"] % 8 else []
    return found


def calls():
    return {
        "seen": agg.count(),
        "sum": agg.sum("v"),
        "most": agg.max("n"),
        "first": agg.first("s"),
        "list": agg.collect_list("n"),
    }


def numbers():
    return {"seen": agg.count(), "sum": agg.sum("v"), "most": agg.max("n")}


def of_variables():
    return {**calls(), "low": agg.count().of("low"), "up": agg.max("v").of("high", "up")}


def parts():
    """Of the part of an event in a window: a stream keeps the events themselves."""
    return {
        "seconds": agg.overlap(),
        "busy": agg.mean_running(),
        "most": agg.peak(),
        "sum": agg.integral("v"),
        "avg": agg.time_weighted_avg("v"),
        "list": agg.collect_list("n"),
    }


def opens(row, state):
    del state
    return row[0] is not None and row[0] > 1


def closes(row, state):
    del state
    return row[0] is not None and row[0] < 0.5


def longest(found):
    """A match of a window with four rows and more: its rows."""
    count = [found.num_rows] if found.num_rows > 3 else []
    return pa.table({"n": pa.array(count, pa.int64())})


def over(df, spec, time="ts", **more):
    return fl.over(df, spec, time=time, by=BY, tiebreak=["seq"], **more)


def aggregating(spec, aggregates=calls, time="ts", strategy="auto", most=0, **more):
    """A query for aggregates; the strategy is the stream's."""

    def query(df):
        windows = over(df, spec, time, **more).using(strategy if df.isStreaming else "auto")
        windows = windows.with_empty("zero", most=most) if most else windows
        return windows.agg(**aggregates())

    return query


def early(spec):
    """A batch has all rows, and gives nothing early."""

    def query(df):
        windows = over(df, spec)
        return (windows.early() if df.isStreaming else windows).agg(**calls())

    return query


def running(df):
    """A batch has no ``longest``: here an event that has not ended stops then."""
    if df.isStreaming:
        windows = over(df, TIMES, PAIR).running(id="seq", max_duration="30 minutes")
    else:
        stop = "coalesce(ts, if(seq % 8 = 0, began + make_dt_interval(0, 0, 30), null))"
        windows = over(df.withColumn("ts", F.expr(stop)), TIMES, PAIR)
    return windows.agg(**numbers())


def attached_to(df):
    spine = df.select("case", "k", "ts", "seq")
    windows = over(df, fl.Trailing("4 minutes"))
    return windows.at(spine, time="ts", by=BY).attach(**calls())


def filled(df):
    """Frames, by the rows that cut them."""
    other = df.selectExpr("case as a", "k as b", "ts as at", "n")
    frames = over(df, DELTA)
    return frames.fill(other, time="at", by=["a", "b"], max_duration="40 minutes").agg(
        sum=agg.sum("n")
    )


def collected_late(df):
    found = over(df.drop("ok", "c"), TIMES, late="collect").agg(**numbers())
    return found.withColumn("late", F.col("late").isNotNull())


@dataclass(frozen=True)
class Stream:
    """A query; ``kept`` is what of a batch's answer a stream gives, as SQL, and ``mode`` how.

    ``conf`` is what the session had when it began, ``change`` makes other rows of those of all
    files.
    """

    query: Callable[[Any], Any]
    kept: str = "true"
    mode: str = "append"
    conf: tuple[tuple[str, str], ...] = ()
    change: Callable[[Any], Any] = list


CLOSED = "closed"
CUT = "unix_micros(window.end) % 1000000 = 0"  # an open frame ends just after its last row
# The store that a session has where nothing is said, and files of RocksDB instead of its changes.
STORE = (("spark.sql.streaming.stateStore.providerClass", HDFS),)
WHOLE = (("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "false"),)
STREAMS = {
    "sliding": Stream(aggregating(TIMES, numbers)),
    "sliding-store": Stream(aggregating(TIMES, numbers), conf=STORE),
    "tumbling": Stream(aggregating(fl.Sliding("2 minutes"), numbers)),
    "copies": Stream(aggregating(TIMES, numbers, strategy="expand", late="open")),
    "levels": Stream(aggregating(LEVELS, numbers)),
    "calendar": Stream(aggregating(fl.Cumulative("1 day", "1 hour", zone="UTC"), numbers)),
    "recurring": Stream(lambda df: over(df, LEVELS).recurring("n")),
    "events": Stream(aggregating(TIMES, numbers, PAIR)),
    "events-buckets": Stream(aggregating(TIMES, numbers, PAIR, late="open")),
    "events-operator": Stream(aggregating(TIMES, numbers, PAIR, "se-slicing")),
    "events-parts": Stream(aggregating(TIMES, parts, PAIR)),
    "events-running": Stream(running, change=begun),
    "snapshots": Stream(aggregating(fl.Snapshot(), numbers, PAIR)),
    "chain": Stream(aggregating(LEVELS, calls, strategy="chain")),
    "fit": Stream(lambda df: over(df, LEVELS).fit("v", filled=True).drop("slope_error")),
    "rows": Stream(aggregating(fl.Sliding(fl.Rows(4)))),
    "rows-that-end": Stream(aggregating(fl.Sliding("4 minutes", fl.Rows(1)))),
    "delta": Stream(aggregating(DELTA), CLOSED),
    "delta-whole": Stream(aggregating(DELTA), CLOSED, conf=WHOLE),
    "threshold": Stream(aggregating(fl.ThresholdFrame("v > 1", min_rows=2)), CLOSED),
    "dwelling": Stream(
        aggregating(fl.ThresholdFrame("v > 1", enter_for="1 minute", leave="v < 0.5"), numbers),
        CLOSED,
    ),
    "boundary": Stream(aggregating(fl.BoundaryFrame({"v": 1})), CLOSED),
    "overlapping": Stream(
        aggregating(fl.BoundaryFrame({"n": 2}, overlapping=True), numbers), CLOSED
    ),
    "state": Stream(aggregating(fl.StateFrame("s")), CLOSED),
    "aggregate": Stream(aggregating(fl.AggregateFrame(agg.sum("n"), 12)), CLOSED),
    "distinct": Stream(aggregating(fl.AggregateFrame(agg.count_distinct("s", "n"), 4)), CLOSED),
    "predicate": Stream(aggregating(fl.PredicateFrame(opens, closes, columns=["v"])), CLOSED),
    "pattern": Stream(aggregating(PATTERN, of_variables), CLOSED),
    "pattern-rows": Stream(lambda df: over(df.drop("ok", "c"), PATTERN).rows()),
    # What is kept has all columns that there were.
    "frames-rows": Stream(lambda df: over(df.drop("ok", "c"), DELTA).rows()),
    "frames-filled": Stream(filled, CUT),
    "frames-early": Stream(early(DELTA), CLOSED, "update"),
    "sessions": Stream(aggregating(fl.Session("2 minutes", max_duration="9 minutes")), CLOSED),
    "forgetting": Stream(aggregating(DELTA, forget_after="1 hour")),
    "widening": Stream(lambda df: over(df, WIDENED).detect(longest, MATCH, columns=["n"])),
    "episodes": Stream(lambda df: over(df, WIDENED).detect(fl.Episode("x; y", event="s"))),
    "trailing": Stream(lambda df: over(df, SEVERAL).attach(**calls())),
    "trailing-asked": Stream(attached_to),
    "early": Stream(early(TIMES), mode="update"),
    "empty": Stream(aggregating(TIMES, numbers, most=5)),
    "late": Stream(collected_late),
}
