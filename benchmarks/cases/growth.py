"""How time and memory grow: one thing at a time, in steps of a factor, all else the same."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.growth import axes, page
from benchmarks.growth.series import measured, point
from benchmarks.timing import Result

FILES = 10  # micro-batches of a stream
BATCHES = (axes.of_rows, axes.of_keys, axes.of_overlap, axes.of_duration, axes.of_levels)


def growth(bench):
    """Rows, keys, RANGE/SLIDE, durations, levels, frames a key; keys of a stream, and skew."""
    spark, rows = bench.spark, bench.table.rows
    windows, frames = axes.streams(spark)
    # Python workers live on for a while, so what needs them is last.
    grown = [_measured(bench, make(spark, rows)) for make in BATCHES]
    many = _streamed(bench, windows, grown)
    grown.append(_measured(bench, axes.of_frames(spark, rows)))
    many += _streamed(bench, frames, grown)
    tables = [
        page.what_by_what(grown),
        page.held(many),
        *map(page.table, grown),
    ]
    unreached = [] if bench.smoke else page.over(many)
    return Result(tables=tables, unreached=unreached, page=page.page(grown))


def _measured(bench, series):
    if bench.smoke:  # rows alone in two sizes, for a slope
        series = replace(series, sizes=series.sizes[: 2 if series.axis == "rows" else 1])
    bench.say(f" {series.axis}: {series.fixed}")
    return measured(bench, series)


def _streamed(bench, what, grown):
    """Keys of a stream; returns its largest point, and the same with one key that has more rows."""
    given = (bench.spark, bench.table.rows, what)
    files = 2 if bench.smoke else FILES
    series = axes.of_stream(*given, files=files)
    if bench.smoke:  # every stream takes seconds
        series = replace(series, entries=series.entries[:1])
    grown.append(_measured(bench, series))
    (entry, *_) = axes.of_stream(*given, files=files, skewed=3).entries
    even = grown[-1].points[entry.name][-1]
    named = f"{what}, one key with a third of the rows"
    skewed = point(bench, even.size, entry.make(even.size))
    bench.say(f"  {entry.name}, {named}: {skewed.seconds:.2f} s")
    return [(what, even), (named, skewed)]
