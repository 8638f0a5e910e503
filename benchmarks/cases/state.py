"""What a micro-batch of a thousand rows costs, by how many keys have state, and part by part."""

from __future__ import annotations

from statistics import median

import pyarrow as pa
from pyspark.sql import functions as F

import fanlight as fl
from benchmarks.data import SCHEMA
from benchmarks.passing import passed
from benchmarks.small_batches import ROWS, arriving, marked, progress
from benchmarks.timing import Result, Row
from fanlight import agg

KEYS = (1_000, 1_000_000)
OPEN_KEYS = 100_000
BATCHES, SETTLE = 16, 4  # micro-batches, the first of which are not measured
WRITTEN = "rocksdbTotalBytesWritten"
NATIVE = "Spark's own aggregation"
CASE = f"{ROWS:,} rows a micro-batch"
PAGED = (
    "a thousand keys of a million are in nearly as many pages of the state, each read and written; "
    "smaller pages would cost those who touch all of their keys"
)
IN_PYTHON = (
    "a stateful operator in Python that does nothing takes as long as the table of micro-batches "
    "says; only Spark can make it cheaper, or an operator in the JVM"
)
CHAINED = "panes and windows are two stateful aggregations, each with a commit of its own"


def state(bench):
    """Micro-batches of a thousand rows over a thousand keys, and over a million."""
    counts = (100, 2_000) if bench.smoke else KEYS
    batches = SETTLE + 1 if bench.smoke else BATCHES
    found = {keys: _measured(bench.spark, keys, batches) for keys in counts}
    listed = []
    for keys, (took, written, copied) in found.items():
        listed.append([f"{keys:,}", f"{took:.2f}", f"{written / 1e6:.2f}", f"{copied / 1e6:.2f}"])
        bench.say(f"  {keys:,} keys: {took:.2f} s, {written / 1e6:.2f} MB a micro-batch")
    few, many = (found[keys][0] for keys in counts)
    names = [f"{keys:,} keys" for keys in counts]
    head = ["keys", "s a micro-batch", "MB into RocksDB", "MB into the checkpoint"]
    return Result(
        [Row(CASE, names[1], many, names[0], few, at_most=1.3, why=PAGED)],
        [(f"{CASE}, delta frames, medians", head, listed)],
    )


def _measured(spark, keys, batches):
    """Medians of a micro-batch: seconds, bytes written to RocksDB, bytes of new files."""
    with arriving(spark, keys, batches) as rows:
        found = progress(_delta(rows), SETTLE)
    metrics = [one.stateOperators[0].customMetrics for one in found]
    return (
        median(_took(one, "triggerExecution") for one in found),
        median(one[WRITTEN] for one in metrics),
        median(one["rocksdbBytesCopied"] for one in metrics),
    )


def early(bench):
    """Micro-batches whose changes are given at once: sliding windows beside Spark's tumbling."""
    keys, batches = (100, SETTLE + 1) if bench.smoke else (OPEN_KEYS, BATCHES)
    ways = {
        "Spark's own, tumbling": lambda rows: _counted(marked(rows)),
        "fanlight early, tumbling": lambda rows: _early(rows, fl.Sliding("1 minute")),
        "fanlight early, 60/1": lambda rows: _early(rows, fl.Sliding("1 hour", "1 minute")),
    }
    took, listed = {}, []
    for name, make in ways.items():
        with arriving(bench.spark, keys, batches) as rows:
            found = progress(make(rows), SETTLE, "update")
        took[name] = median(_took(one, "triggerExecution") for one in found)
        states = [one.stateOperators[0] for one in found]
        kept = median(one.customMetrics["rocksdbSstFileSize"] for one in states)
        copied = median(one.customMetrics["rocksdbBytesCopied"] for one in states)
        listed.append([name, f"{took[name]:.2f}", f"{kept / 1e6:.1f}", f"{copied / 1e6:.2f}"])
        bench.say(f"  {', '.join(listed[-1])}")
    theirs, *others = took
    head = ["query", "s a micro-batch", "MB of state", "MB into the checkpoint"]
    return Result(
        [
            Row(CASE, name, took[name], theirs, took[theirs], at_most=1.3, why=IN_PYTHON)
            for name in others
        ],
        [(f"{CASE}, {keys:,} keys, given in update mode, medians", head, listed)],
    )


def fixed(bench):
    """What a micro-batch of a thousand rows costs whatever is done with them, part by part."""
    keys, batches = (100, SETTLE + 1) if bench.smoke else (KEYS[0], BATCHES)
    ways = {
        NATIVE: lambda rows: _counted(marked(rows)),
        "the same, rows through Python before": lambda rows: _counted(marked(_through(rows))),
        "a stateful operator in Python that does nothing": lambda rows: passed(marked(rows)),
        "delta frames": _delta,
        "sliding windows": _sliding,
    }
    took, listed = {}, []
    for name, make in ways.items():
        with arriving(bench.spark, keys, batches) as rows:
            found = progress(make(rows), SETTLE)
        parts = [median(part(one) for one in found) for part in _PARTS.values()]
        took[name] = parts[0]
        listed.append([name, *(f"{part:.3f}" for part in parts)])
        bench.say(f"  {name}: {parts[0]:.2f} s")
    return Result(
        [
            Row(CASE, name, took[name], NATIVE, took[NATIVE], at_most=1.3, why=why)
            for name, why in (("delta frames", IN_PYTHON), ("sliding windows", CHAINED))
        ],
        [(f"{CASE}, {keys:,} keys, seconds, medians", ["query", *_PARTS], listed)],
    )


def _took(one, *parts):
    return sum(one.durationMs.get(part, 0) for part in parts) / 1000


_PARTS = {
    "whole": lambda one: _took(one, "triggerExecution"),
    "find files": lambda one: _took(one, "latestOffset", "getBatch"),
    "plan": lambda one: _took(one, "queryPlanning"),
    "run": lambda one: _took(one, "addBatch"),
    "logs": lambda one: _took(one, "walCommit", "commitOffsets"),
}


def _counted(rows):
    return rows.groupBy("k", F.window("ts", "1 minute")).agg(F.count("*"), F.sum("v"), F.max("n"))


def _through(rows):
    """The same rows, through Python."""

    def same(batches):
        for batch in batches:
            yield pa.RecordBatch.from_arrays(batch.columns, schema=batch.schema)

    return rows.mapInArrow(same, SCHEMA)


def _delta(rows):
    frames = fl.over(marked(rows), fl.DeltaFrame({"v": 2}), time="ts", by="k")
    return frames.agg(agg.count(), agg.sum("v"), agg.max("n"))


def _early(rows, spec):
    windows = fl.over(marked(rows), spec, time="ts", by="k").early()
    return windows.agg(agg.count(), agg.sum("v"), agg.max("n"))


def _sliding(rows):
    windows = fl.over(marked(rows), fl.Sliding("1 hour", "1 minute"), time="ts", by="k")
    return windows.agg(agg.count(), agg.sum("v"), agg.max("n"))
