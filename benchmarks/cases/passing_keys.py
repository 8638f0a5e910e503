"""Keys that come and go: what a stream keeps of them, by Spark's own metrics."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import fanlight as fl
from benchmarks.data import BEGIN, SCHEMA
from benchmarks.small_batches import marked
from benchmarks.timing import Page, Result
from fanlight import agg

# Micro-batches of a minute each, the keys of each of which no other has; each key has two rows.
BATCHES, KEYS = 40, 250_000
REMEMBERED = 10  # micro-batches of the query that forgets no key, whose state grows
PARTS = 4  # of the stream, of which medians are told
SPEC, SILENCE = fl.Session("30 seconds"), "3 minutes"

TEXT = f"""\
Sessions by visitor are many keys, few of which come back. Here each micro-batch is a minute of
{KEYS:,} keys that no other has, each with two rows: sessions with a gap of 30 seconds, forgotten
after {SILENCE} (`forget_after`), beside the same query that forgets no key. Rows of state and what
is written to RocksDB are Spark's own metrics; a row of state is the keys of a bucket. State is
level, however many keys there have been; without `forget_after` it grows with them."""


def passing_keys(bench):
    """Sessions of ten million keys, each with two rows: state is level if keys are forgotten."""
    batches, keys = (8, 500) if bench.smoke else (BATCHES, KEYS)
    with _arriving(bench.spark, batches, keys) as rows:
        forgetting = _progress(rows, batches, forget_after=SILENCE)
        remembering = _progress(rows, batches if bench.smoke else REMEMBERED)
    part = len(forgetting) // PARTS
    listed = [
        _line(f"forgotten after {SILENCE}", keys, n * part, forgetting[n * part : (n + 1) * part])
        for n in range(PARTS)
    ]
    half = len(remembering) // 2
    listed += [_line("never forgotten", keys, at, remembering[at : at + half]) for at in (0, half)]
    for line in listed:
        bench.say("  " + " | ".join(line))
    head = ["sessions", "keys so far", "rows of state", "MB into RocksDB", "s a micro-batch"]
    page = Page("passing-keys", "Keys that come and go", TEXT, {})
    return Result(
        [], [(f"{batches * keys:,} keys, medians of micro-batches", head, listed)], page=page
    )


def _line(name, keys, before, found):
    """A part of a stream, in which so many micro-batches came before."""
    written = median(_state(one).customMetrics["rocksdbTotalBytesWritten"] for one in found)
    return [
        name,
        f"{(before + len(found)) * keys:,}",
        f"{median(map(_rows, found)):,.0f}",
        f"{written / 1e6:.1f}",
        f"{median(one.durationMs['triggerExecution'] for one in found) / 1000:.2f}",
    ]


def _state(one):
    return one.stateOperators[0]


def _rows(one):
    return _state(one).numRowsTotal


def _progress(rows, batches, **more):
    """The progress of each micro-batch."""
    sessions = fl.over(marked(rows), SPEC, time="ts", by="k", **more)
    with tempfile.TemporaryDirectory(prefix="fanlight-benchmarks-") as folder:
        writer = sessions.agg(agg.count(), agg.sum("v")).writeStream.format("noop")
        query = writer.option("checkpointLocation", folder).trigger(availableNow=True).start()
        while query.isActive:
            query.awaitTermination(1)
            if sum(one.numInputRows > 0 for one in query.recentProgress) >= batches:
                query.stop()
        if query.exception() is not None:
            raise query.exception()
        return [one for one in query.recentProgress if one.numInputRows][:batches]


@contextmanager
def _arriving(spark, batches, keys):
    """The rows as a stream, a file a micro-batch."""
    with tempfile.TemporaryDirectory(prefix="fanlight-benchmarks-") as folder:
        home = Path(folder)
        (home / "in").mkdir()
        for number in range(batches):
            rows = spark.range(2 * keys).selectExpr(
                f"timestamp_millis({BEGIN + 60 * number}000 + (id * 30000) div {keys}) as ts",
                f"cast({number * keys} + id % {keys} as int) as k",
                "double(id % 7) as v", "cast(id % 5 as int) as n",
            )  # fmt: skip
            rows.coalesce(1).write.parquet(str(home / "one"))
            (path,) = (home / "one").glob("*.parquet")
            path.rename(home / "in" / f"{number:03}.parquet")
            # A stream takes files by modification.
            os.utime(home / "in" / f"{number:03}.parquet", (BEGIN + number, BEGIN + number))
            shutil.rmtree(home / "one")
        stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        yield stream.parquet(str(home / "in"))
