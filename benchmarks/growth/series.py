"""One thing grows and all else stays: time and memory of each query at each size."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchmarks.growth.memory import Held, Watch
from benchmarks.growth.slopes import slope, too_long
from benchmarks.timing import check, seconds

TIMED = 15.0  # seconds that the runs of a point may take before there are no more of them
RUNS = 3  # of a point at most, after the one that is watched
ON_DISK = "rocksdbSstFileSize"


@dataclass(frozen=True)
class Series:
    """What grows, what stays, and the entries, each of which makes its query of a size.

    The slow ones are not waited for where they would take too long.
    """

    axis: str
    fixed: str
    sizes: tuple[int, ...]
    entries: list


@dataclass(frozen=True)
class Point:
    """A query at a size; no seconds where it was not run."""

    size: int
    seconds: float | None = None
    held: Held = field(default_factory=Held)
    state: int = 0  # bytes of a stream's state that are in memory
    stored: int = 0  # and in files


@dataclass(frozen=True)
class Grown:
    """A series with the points of each entry, by name."""

    series: Series
    points: dict[str, list[Point]]

    def slope(self, name, of=lambda point: point.seconds):
        return slope([(point.size, of(point)) for point in self.points[name]])


def measured(bench, series):
    """Every point; first all entries answer at the smallest size, and answers must agree.

    In a smoke run those answers are all there is of a series of one size.
    """
    answers, points = {}, {}
    for one in series.entries:
        query = one.make(series.sizes[0])
        with Watch(bench.spark) as watch:
            took = seconds(lambda e=one, q=query: answers.update({e.name: q.answer()}))
        points[one.name] = [Point(series.sizes[0], took, watch.held)]
    check(series.entries, answers)
    if not bench.smoke or len(series.sizes) > 1:
        points = {one.name: _grown(bench, series, one) for one in series.entries}
    return Grown(series, points)


def _grown(bench, series, entry):
    points = []
    for size in series.sizes:
        known = [(point.size, point.seconds) for point in points if point.seconds]
        if entry.slow and too_long(known, size):
            points.append(Point(size))
            bench.say(f"  {entry.name}, {size:,} {series.axis}: not run")
            continue
        query = entry.make(size)
        if not points and not bench.smoke:
            warmed = 0.0
            while warmed < bench.warm:
                warmed += seconds(query.run)
        points.append(point(bench, size, query))
        bench.say(f"  {entry.name}, {size:,} {series.axis}: {points[-1].seconds:.2f} s")
    return points


def point(bench, size, query):
    """The first run is watched; if that leaves time, others are timed instead of it."""
    progress = []
    with Watch(bench.spark) as watch:
        times = [seconds(lambda: progress.extend(query.run() or ()))]
    while not bench.smoke and len(times) <= RUNS and sum(times) < TIMED:
        times.append(seconds(query.run))
    return Point(size, min(times[1:] or times), watch.held, *state(progress))


def state(progress):
    """The most bytes of state after any micro-batch, in memory and in files."""
    found = [
        (
            sum(one.memoryUsedBytes for one in batch.stateOperators),
            sum(one.customMetrics.get(ON_DISK, 0) for one in batch.stateOperators),
        )
        for batch in progress
    ]
    return tuple(map(max, zip(*found, strict=True))) if found else (0, 0)
