"""What the case `growth` tells: tables of each series, what grows by what, and its page."""

from __future__ import annotations

from benchmarks.growth.memory import EVERY
from benchmarks.growth.picture import svg
from benchmarks.growth.series import RUNS, TIMED
from benchmarks.growth.slopes import LIMIT
from benchmarks.sessions import CORES, HEAP
from benchmarks.timing import Page
from experiments.charts import Line

MB, GB = 1e6, 1e9
MOST = 8 * GB
NOT_RUN = "not run"
# What is held beside a time, and whether every query has it.
PARTS = {
    "JVM": lambda point: point.held.jvm,
    "heap kept": lambda point: point.held.heap,
    "Python workers": lambda point: point.held.workers,
    "Python driver": lambda point: point.held.driver,
    "state": lambda point: point.state,
    "state, files": lambda point: point.stored,
}
THEIR_PARTS = ("JVM", "heap kept", "state", "state, files")
TEXT = f"""\
One thing grows in steps of a factor, and all else stays the same.

![Seconds and memory by size, one row of panels for each thing that grows](growth.svg)

A slope is the exponent of growth: least squares in log-log over the larger half of the sizes that
were run (of seven the largest four, of six or five three, two at least). 1 is in proportion, 0 is
no growth. Queries are count, sum and max of each key and window, of frames count and sum, over one
day of data, into Spark's `noop` sink. All answers at the smallest size must agree. Then each query
runs at all sizes, from the smallest on. The first run at a size is watched for its memory; then it
is timed, up to {RUNS} times while all its runs take less than {TIMED:g} seconds, and the best time
counts (that of the watched run, if there is no other). What is beside fanlight is not run where the
line through its last two points says more than {LIMIT:g} seconds.

RANGE/SLIDE makes windows longer, not more: there are as many as slides in the data, and as in one
RANGE. So the data have five times as many slides as the longest RANGE.

Memory is in MB, the most at any moment, looked at every {EVERY:g} s. *JVM* is its resident set:
Spark's driver and executors are one process (`local[{CORES}]`), with a heap of up to {HEAP} GB. The
heap is collected before each run, and then grows as far as it may before it is collected again;
what a collection left of it is *heap kept*, nearer to what is needed. *Python workers* are their
resident sets added up, pages that they share once; *Python driver* is the process that asks.
*State* is that of a stream after a micro-batch: in memory, as Spark reports it, and in RocksDB's
files."""


def shown(value, unit=MB):
    return f"{value / unit:,.0f}" if value else ""


def told(steep):
    """A slope as text; what goes to 0 from below is 0, not -0."""
    return "" if steep is None else f"{round(steep, 2) + 0.0:.2f}"


def parts(grown, name):
    """The columns of memory of an entry: those of which any point has something to say."""
    first = next(iter(grown.points)) == name
    return {
        what: of
        for what, of in PARTS.items()
        if (first or what in THEIR_PARTS) and any(map(of, grown.points[name]))
    }


def table(grown):
    """A series: a line a size, and the slopes below."""
    series = grown.series
    header, lines = [series.axis], [[f"{size:,}"] for size in series.sizes]
    lines.append(["slope"])
    for name, points in grown.points.items():
        columns = parts(grown, name)
        header += [f"{name}, s", *(f"{what}, MB" for what in columns)]
        for line, point in zip(lines, points, strict=False):
            line.append(NOT_RUN if point.seconds is None else f"{point.seconds:.2f}")
            line += [shown(of(point)) for of in columns.values()]
        lines[-1] += [
            told(grown.slope(name)),
            *(told(grown.slope(name, of)) for of in columns.values()),
        ]
    return f"{series.axis}: {series.fixed}", header, lines


def what_by_what(grown):
    """The slopes of time and memory of fanlight, and of the time of what is beside it."""
    memory = ("JVM", "heap kept", "Python workers", "state", "state, files")
    lines = []
    for one in grown:
        mine, *others = one.points
        known = parts(one, mine)
        lines.append([
            one.series.axis, one.series.fixed,
            f"{one.series.sizes[0]:,} to {_last(one, mine):,}", told(one.slope(mine)),
            *(told(one.slope(mine, known[what])) if what in known else "" for what in memory),
            ", ".join(f"{told(one.slope(other))} ({other}), up to {_last(one, other):,}".strip()
                      for other in others),
        ])  # fmt: skip
    header = ["grows", "stays", "from", "time", *memory, "time of what is beside it"]
    return "What grows by what: slopes", header, lines


def _last(grown, name):
    """The largest size that was run."""
    return [point.size for point in grown.points[name] if point.seconds][-1]


def held(points):
    """Streams of many keys, and the memory that they take: (what, point) each."""
    lines = []
    for what, point in points:
        lines.append([
            what, f"{point.size:,}", f"{point.seconds:.2f}",
            *(shown(of(point)) for of in PARTS.values()),
            shown(point.held.together),
        ])  # fmt: skip
    header = ["stream", "keys", "s", *(f"{what}, MB" for what in PARTS), "together, MB"]
    return "Streams of many keys", header, lines


def over(points):
    """Those that take more memory than is the goal."""
    return [
        f"growth, {what} of {point.size:,} keys: {shown(point.held.together)} MB; the goal is at "
        f"most {MOST / MB:,.0f} MB"
        for what, point in points
        if point.held.together > MOST
    ]


def drawn(grown):
    """The rows of the picture: time of all, memory of fanlight, and beside it their JVM."""
    rows = []
    for one in grown:
        times, held = [], []
        for name, points in one.points.items():
            run = [point for point in points if point.seconds]
            steep, mine = f"{name}: {told(one.slope(name))}".rstrip(": "), not times
            taken = [(point.size, point.seconds) for point in run]
            times.append(Line(steep, taken, len(times)))
            for what, of in parts(one, name).items():
                if mine or what == "JVM":
                    known = [(point.size, of(point) / MB) for point in run if of(point)]
                    shown_as = what if mine else f"{what}, {name}"
                    held.append(Line(shown_as, known, list(PARTS).index(what), dashed=not mine))
        rows.append((one.series.axis, one.series.fixed, times, held))
    return rows


def page(grown):
    return Page("growth", "Growth", TEXT, {"growth.svg": svg(drawn(grown))})
