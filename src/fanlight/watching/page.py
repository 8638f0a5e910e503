"""The live page: a report page, of which the parts that changed are taken from the next one."""

from __future__ import annotations

import numpy as np

from fanlight.plots.figures.clock import local_time
from fanlight.plots.figures.look import listed
from fanlight.report import Page
from fanlight.watching.figures import micro_batches
from fanlight.watching.looks import Seen
from fanlight.watching.newest import Shown
from fanlight.watching.progress import told_late

_UNITS = ("bytes", "KB", "MB", "GB", "TB")


def page(seen: Seen, newest: Shown | None, zone: str) -> Page:
    """The page as things stand; without ``newest`` nobody knows where the windows are."""
    name = seen.name or "A stream without a name"
    made = Page(name, "A running stream: its windows as they come, and how it does.", "fanlight")
    made.facts(_facts(seen, zone))
    made.news(spoken(seen, zone))
    with made.part("status"):
        _status(made, seen)
    made.section("Windows")
    if newest is not None:
        with made.part("windows-figure"):
            if newest.figure is not None:
                made.figure(newest.figure, "windows")
        with made.part("windows-rows"):
            _windows(made, newest)
    else:
        made.text("This page was not told where the windows can be read: `windows=…`.")
    made.section("Micro-batches")
    with made.part("batches-figure"):
        made.figure(micro_batches(seen.batches, zone), "batches")
    made.section("State")
    with made.part("state"):
        _state(made, seen)
    made.foot("Served by fanlight on this machine, to this machine alone; it can only be read.")
    return made


def spoken(seen: Seen, zone: str) -> str:
    """How things stand in a sentence, for those who do not see the page."""
    last = seen.last
    doing = f"{state_of(seen)}: {seen.message}" if seen.running and seen.message else state_of(seen)
    if last is None:
        return f"{doing}. No micro-batch yet."
    there = _clock(last.watermark, zone)
    mark = f"{there} {zone}" if there else "not begun"
    return (
        f"{doing}. {seen.rows:,} rows so far, {last.rows_per_second:,.0f} rows a second, "
        f"watermark {mark}, late: {told_late(seen.late, seen.dropped)}."
    )


def state_of(seen: Seen) -> str:
    """One or two words."""
    if seen.running:
        return "Running"
    return "Ended" if seen.failure is None else "Failed"


def _facts(seen: Seen, zone: str) -> list[tuple[object, str]]:
    last = seen.last
    number = "–" if last is None or last.batch is None else f"{last.batch:,}"
    day, _, time = _clock(last.watermark if last else None, zone).partition(" ")
    return [
        (state_of(seen), f"micro-batch {number}"),
        (f"{last.rows_per_second:,.0f}" if last else "–", "rows a second"),
        (seen.rows, "rows so far"),
        (time or "not begun", f"watermark, {day}" if day else "watermark"),
        (told_late(seen.late, seen.dropped), "late" if seen.dropped else "late rows"),
        (last.state_rows if last else "–", "rows of state"),
    ]


def _clock(time: str | None, zone: str) -> str:
    """Date and time by the clock of a zone; empty if there is none."""
    if time is None:
        return ""
    there = local_time(np.array([time.removesuffix("Z")], dtype="datetime64[us]"), zone)[0]
    return str(there.astype("datetime64[s]")).replace("T", " ")


def _status(made: Page, seen: Seen) -> None:
    if seen.failure is not None:
        made.section("The query has failed", seen.failure, alarm=True)
    if seen.trouble is not None:
        made.section("The query does not answer", seen.trouble, alarm=True)


def _windows(made: Page, newest: Shown) -> None:
    if newest.trouble is not None:
        made.text(f"The windows could not be read or drawn: {newest.trouble}")
    elif not newest.count:
        made.text("No window has been reported yet.")
    if newest.rows:
        made.table(newest.head, newest.rows)
        made.note(
            f"The newest {len(newest.rows):,} of the {newest.count:,} windows that were read. The "
            f"last reading took {newest.seconds:.2f} s."
        )


def _state(made: Page, seen: Seen) -> None:
    last = seen.last
    if last is None or not last.state:
        made.text("No operator keeps state, or no micro-batch has ended yet.")
    else:
        made.table(
            ["operator", "its rows are", "rows", "memory", "disk", "dropped"],
            [
                [one.operator, one.keeps, one.rows, _size(one.bytes), _size(one.disk), one.dropped]
                for one in last.state
            ],
        )
    if seen.late_by:
        told = listed([f"{rows:,} of {name}" for name, rows in seen.late_by.items()])
        made.note(f"Late rows: {told}. Groups of rows that Spark left out: {seen.dropped:,}.")


def _size(count: int | None) -> str:
    if count is None:
        return "–"
    size, unit = float(count), 0
    while size >= 1_000 and unit < len(_UNITS) - 1:
        size, unit = size / 1_000, unit + 1
    return f"{size:,.0f} {_UNITS[unit]}" if unit == 0 else f"{size:,.1f} {_UNITS[unit]}"
