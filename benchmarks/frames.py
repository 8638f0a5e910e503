"""Frames as a user would have them: through fanlight, and by hand."""

from __future__ import annotations

import fanlight as fl
from benchmarks.queries import Batch, Stream
from fanlight import agg

OUT = ("k", "window.start as start", "rows", "s")
DELTA = 900.0  # values lie between 0 and 1000: a frame has a few rows
ABOVE = "v > 500"

SPECS = {
    "threshold": lambda: fl.ThresholdFrame(ABOVE),
    "boundary": lambda: fl.BoundaryFrame({"v": 200}),
    "delta": lambda: fl.DeltaFrame({"v": DELTA}),
    "aggregate": lambda: fl.AggregateFrame(agg.sum("v"), 5_000),
}


def ours(df, spec, strategy="auto"):
    """Frames with their sum."""
    windowed = fl.over(df, spec, time="ts", by="k", tiebreak="n").using(strategy)
    return windowed.agg(s=agg.sum("v")).selectExpr(*OUT)


def batch(spark, spec, strategy="auto"):
    return lambda table: Batch(ours(table.read(spark), spec, strategy))


def stream(spark, spec):
    return lambda table: Stream(ours(table.stream(spark), spec))


def nothing(spark):
    """Rows shuffled by key, sorted, through Python and back, and nothing done."""

    def made(table):
        df = table.read(spark).selectExpr("unix_micros(ts) as t", "k", "v")
        placed = df.repartition("k").sortWithinPartitions("k", "t")
        return Batch(placed.mapInArrow(_nothing, placed.schema))

    return made


def _nothing(batches):
    yield from batches


def by_lag(spark, above=ABOVE):
    """Threshold frames by ``lag`` and a running sum, as they are written by hand."""

    def made(table):
        order = "over (partition by k order by ts, n, v)"
        df = table.read(spark).selectExpr("*", f"{above} as inside")
        df = df.selectExpr(
            "*", f"lag(inside, 1, false) {order} as before", f"lead(ts) {order} as ahead"
        )
        df = df.selectExpr("*", f"sum(if(inside <> before, 1, 0)) {order} as run")
        found = df.filter("inside").groupBy("k", "run")
        return Batch(
            found.agg({"ts": "min", "v": "sum", "ahead": "max", "*": "count"}).selectExpr(
                "k", "`min(ts)` as start", "`count(1)` as rows", "`sum(v)` as s"
            )
        )

    return made


def by_pandas(spark, loop):
    """Delta frames by ``applyInPandas`` and a Python loop a key: ``itertuples`` or ``iterrows``."""

    def made(table):
        found = (
            table.read(spark)
            .groupBy("k")
            .applyInPandas(LOOPS[loop], "k int, start timestamp, rows bigint, s double")
        )
        return Batch(found)

    return made


def _itertuples(rows):
    return _cut(rows.sort_values(["ts", "n", "v"]).itertuples())


def _iterrows(rows):
    return _cut(row for _, row in rows.sort_values(["ts", "n", "v"]).iterrows())


LOOPS = {"itertuples": _itertuples, "iterrows": _iterrows}


def _cut(rows):
    import pandas as pd

    found, low, high = [], None, None
    for row in rows:
        if low is None or max(high, row.v) - min(low, row.v) >= DELTA:
            low = high = row.v
            found.append([row.k, row.ts, 1, row.v])
        else:
            low, high = min(low, row.v), max(high, row.v)
            found[-1][2] += 1
            found[-1][3] += row.v
    return pd.DataFrame(found, columns=["k", "start", "rows", "s"])


def one_state_a_key(spark):
    """Delta frames by a stateful processor with one state a key, as Spark's guide has it."""

    def made(table):
        from pyspark.sql.types import DoubleType, LongType, StructField, StructType

        out = StructType([
            StructField("k", LongType()), StructField("start", LongType()),
            StructField("rows", LongType()), StructField("s", DoubleType()),
        ])  # fmt: skip
        df = table.stream(spark).selectExpr("cast(k as bigint) as k", "ts", "unix_micros(ts) as t",
                                            "v", "n")  # fmt: skip
        found = df.groupBy("k").transformWithState(
            statefulProcessor=processor(), outputStructType=out,
            outputMode="append", timeMode="eventTime",
        )  # fmt: skip
        return Stream(found.selectExpr("cast(k as int) as k", "timestamp_micros(start) as start",
                                       "rows", "s"))  # fmt: skip

    return made


def processor():
    """The processor: rows wait in a state variable until the watermark has passed them."""
    import pickle

    from pyspark.sql import Row
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor
    from pyspark.sql.types import BinaryType, StructField, StructType

    class PerKey(StatefulProcessor):
        def init(self, handle):
            self.handle = handle
            self.state = handle.getValueState("s", StructType([StructField("b", BinaryType())]))

        def handleInputRows(self, key, rows, timerValues):  # noqa: N802, N803
            yield from self._go(key, [(r[2], r[4], r[3]) for r in rows], timerValues)

        def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):  # noqa: N802, N803, ARG002
            yield from self._go(key, [], timerValues)

        def _go(self, key, rows, times):
            held = pickle.loads(self.state.get()[0]) if self.state.exists() else ([], None)  # noqa: S301
            waiting, frame = held
            waiting = sorted([*waiting, *rows])
            mark = times.getCurrentWatermarkInMs() * 1000
            due = [row for row in waiting if row[0] <= mark]
            waiting = waiting[len(due) :]
            for t, _, v in due:
                if frame is None or max(frame[3], v) - min(frame[2], v) >= DELTA:
                    if frame is not None:
                        yield Row(k=key[0], start=frame[0], rows=frame[1], s=frame[4])
                    frame = [t, 1, v, v, v]
                else:
                    frame[1] += 1
                    frame[2], frame[3] = min(frame[2], v), max(frame[3], v)
                    frame[4] += v
            self.state.update((pickle.dumps((waiting, frame)),))
            for timer in list(self.handle.listTimers()):
                self.handle.deleteTimer(timer)
            if waiting:
                self.handle.registerTimer(-(-waiting[0][0] // 1000))

        def close(self):
            pass

    return PerKey()
