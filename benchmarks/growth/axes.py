"""The series of `benchmarks.cases.growth`: what grows, by what steps, and what stays.

All rows lie in one day; events that last end in it. ``rows`` are those of the other cases: each
series has a part of them, or so many times as many.
"""

from __future__ import annotations

import math
from dataclasses import replace

import fanlight as fl
from benchmarks import frames
from benchmarks.cases import spans
from benchmarks.data import DAY, table
from benchmarks.growth.series import Series
from benchmarks.queries import Batch
from benchmarks.timing import Entry
from benchmarks.windows import batch, levels, minutes, ours, stream, theirs, theirs_apart

MINE, THEIRS = "fanlight", "F.window"
SLIDES = 500_000  # in the day of the series of RANGE/SLIDE
WIDEST = 64  # minutes, of levels
FRAMED = 80_000  # rows of each key that is cut into frames
SPREAD = 1000.003  # values are spread evenly from 0 to here


def powers(most):
    return tuple(10**n for n in range(most + 1))


def pair(query, mine, other, name=THEIRS):
    """fanlight and what is beside it, each of which ``query`` makes a query of a size."""
    return [Entry(MINE, query(mine)), Entry(name, query(other), slow=True)]


def of_rows(spark, rows):
    """The table grows; windows stay as many."""

    def query(make):
        return lambda size: batch(spark, make, minutes(60), minutes(1))(table(spark, size))

    sizes = tuple(rows * n // 100 for n in (1, 3, 10, 30, 100, 300, 1000))
    fixed = "batch, 100 keys, RANGE/SLIDE 60 of minutes"
    return Series("rows", fixed, sizes, pair(query, ours, theirs))


def of_keys(spark, rows):
    """The same rows go to more keys: windows are four a row at most."""
    rows = rows * 2 // 5

    def query(make):
        return lambda size: batch(spark, make, "4 hours", "1 hour")(table(spark, rows, keys=size))

    fixed = f"batch, {rows:,} rows, RANGE/SLIDE 4 of hours"
    return Series("keys", fixed, powers(6), pair(query, ours, theirs))


def of_overlap(spark, rows):
    """RANGE grows, not SLIDE: windows are as many as the slides of the data and of one RANGE.

    So the data last for more slides than the longest RANGE has, and keys are few: six, of which
    each of two tasks gets three.
    """
    rows, keys = rows // 2, 6
    data = table(spark, rows, keys=keys)

    def length(slides):
        return f"{slides * DAY // SLIDES} microseconds"

    def query(make):
        return lambda size: batch(spark, make, length(size), length(1))(data)

    fixed = f"batch, {rows:,} rows, {keys} keys, {SLIDES:,} slides of data"
    return Series("RANGE/SLIDE", fixed, powers(5), pair(query, ours, theirs))


def of_duration(spark, rows):
    """Events last longer: Spark's own way copies each into every window that it is in."""
    rows //= 5

    def query(make):
        def made(size):
            events = spans.table(spark, rows, size, spread=size / 5)
            return Batch(make(events.read(spark)))

        return made

    fixed = f"batch, {rows:,} events, 1 key, RANGE/SLIDE {spans.RANGE} of minutes"
    entries = pair(query, spans.ours, spans.exploded, "explode + groupBy")
    return Series("slides an event", fixed, powers(5), entries)


def of_levels(spark, rows):
    """More levels below the widest one, each as long as the next but for a minute."""
    data = table(spark, rows // 10)

    def query(make):
        def made(size):
            lengths = range(WIDEST + 1 - size, WIDEST + 1)
            return batch(spark, make, [(minutes(n), minutes(1)) for n in lengths])(data)

        return made

    fixed = f"batch, {rows // 10:,} rows, 100 keys, {WIDEST} minutes every minute is the widest"
    entries = pair(query, levels, theirs_apart, "F.window, a query each")
    return Series("levels", fixed, (2, 4, 8, 16, 32), entries)


def of_frames(spark, rows):
    """Threshold frames: the fewer rows lie below the threshold, the fewer frames there are."""
    rows //= 5
    keys = max(rows // FRAMED, 1)
    data = table(spark, rows, keys=keys)

    def query(make):
        return lambda size: make(above(size / (rows / keys)))(data)

    def mine(text):
        return frames.batch(spark, fl.ThresholdFrame(text))

    def lag(text):
        return frames.by_lag(spark, text)

    steps = (10, 30, 100, 300, 1000, 3000, 10_000)
    sizes = tuple(n for n in steps if 4 * n * keys <= rows)  # a quarter of the rows at most
    fixed = f"batch, {rows:,} rows, {keys:,} key{'s' if keys > 1 else ''}, threshold frames"
    return Series("frames a key", fixed, sizes, pair(query, mine, lag, "lag, running sum"))


def above(frames_a_row):
    """The condition by which threshold frames are as many.

    A row begins a frame if it is inside and the one before it is not: share × (1 - share).
    """
    outside = (1 - math.sqrt(1 - 4 * frames_a_row)) / 2
    return f"v > {SPREAD * outside:.3f}"


def streams(spark):
    """What a stream is asked, by name: time windows, and data-driven windows."""
    return {
        "RANGE/SLIDE 2 of hours": pair(
            lambda make: stream(spark, make, "2 hours", "1 hour"), ours, theirs
        ),
        "delta frames": [Entry(MINE, frames.stream(spark, frames.SPECS["delta"]()))],
    }


def of_stream(spark, rows, what, *, files, skewed=0):
    """The same rows bring more keys, each of which has state."""
    rows = rows * 2 // 5

    def over(make):
        return lambda size: make(table(spark, rows, keys=size, files=files, skewed=skewed))

    entries = [replace(one, make=over(one.make)) for one in streams(spark)[what]]
    return Series("keys", f"stream, {rows:,} rows, {what}", powers(6)[3:], entries)
