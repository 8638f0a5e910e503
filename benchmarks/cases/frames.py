"""Frames, in a batch and in a stream."""

from __future__ import annotations

from benchmarks.cases.times import row
from benchmarks.data import SMALL, table
from benchmarks.frames import (
    LOOPS,
    SPECS,
    batch,
    by_lag,
    by_pandas,
    nothing,
    one_state_a_key,
    stream,
)
from benchmarks.timing import Entry, Result, race

MANY = 20_000


def frames(bench):
    """All schemes beside the same rows through Python with nothing done, and loops; 100 keys."""
    case = "frames, 100 keys"
    found, mine = _batch(bench, case), "fanlight delta"
    loops = {f"applyInPandas, {name}": name for name in LOOPS}
    entries = [Entry(mine, batch(bench.spark, SPECS["delta"]()))]
    entries += [Entry(s, by_pandas(bench.spark, name), slow=True) for s, name in loops.items()]
    best = race(entries, bench, rounds=2)
    return Result(found + [row(case, best, mine, loop, at_least=20) for loop in loops])


def frames_many(bench):
    """The same with 20,000 keys, without the loops."""
    if bench.smoke:
        return Result()
    return Result(_batch(_with(bench, MANY), "frames, 20,000 keys"))


def _with(bench, keys):
    """The bench with another number of keys."""
    from dataclasses import replace

    small = table(bench.spark, SMALL, keys=100, files=2)
    large = small if bench.smoke else table(bench.spark, bench.table.rows, keys=keys)
    return replace(bench, small=small, table=large)


def _batch(bench, case):
    spark = bench.spark
    base = "rows through Python"
    entries = [Entry(base, nothing(spark), alone=True)]
    entries += [
        Entry(f"fanlight {name}", batch(spark, make()), alone=True) for name, make in SPECS.items()
    ]
    best = race(entries, bench, rounds=2)
    rows = [row(case, best, f"fanlight {name}", base, at_most=1.2) for name in SPECS]
    mine, lag = "fanlight threshold", "lag and running sum"
    native = "fanlight threshold, native"
    entries = [
        Entry(mine, batch(spark, SPECS["threshold"]())),
        Entry(native, batch(spark, SPECS["threshold"](), "native")),
        Entry(lag, by_lag(spark)),
    ]
    best = race(entries, bench, rounds=2)
    rows += [row(case, best, mine, lag, at_most=1), row(case, best, native, lag)]
    return rows


def frames_stream(bench):
    """Delta frames in a stream, 20,000 keys."""
    many = _with(bench, MANY)
    mine, theirs = "fanlight delta", "one state a key"
    entries = [
        Entry(mine, stream(bench.spark, SPECS["delta"]())),
        Entry(theirs, one_state_a_key(bench.spark), slow=True),
    ]
    best = race(entries, many, rounds=1)
    return Result([row("frames, stream, 20,000 keys", best, mine, theirs, at_least=5)])
