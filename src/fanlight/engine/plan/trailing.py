"""Trailing windows as data: which rows one holds, in coordinates."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fanlight.engine.plan import ways
from fanlight.engine.plan.candidate import Candidate, Plan, choose_candidate
from fanlight.engine.plan.clock_changes import CalendarLength, ZoneClock
from fanlight.engine.plan.coordinate import TIMESTAMPS, advise_counted, check_length
from fanlight.engine.plan.cost import points
from fanlight.engine.spec.trailing import Trailing
from fanlight.engine.spec.units import HOURS

EVER = 2**62  # longer than any time, as in kernels/trailing
SHORTEST = 2  # windows: a chunk of time is no shorter, so that at most half of its rows are copied


@dataclass(frozen=True)
class Horizon:
    """For a row at ``t`` the rows at ``[t - first, t - last]``, or the latest ``rows`` of them.

    It begins ``back`` before the row, whether or not a row at that very time belongs to it. If a
    ``calendar`` says how long it is, it begins so long before ``t - delay``, and ``first`` is only
    how far back that may be.
    """

    first: int
    last: int
    rows: int = 0
    include_self: bool = True
    back: int = EVER
    calendar: CalendarLength | None = None
    delay: int = 0
    opened: bool = False  # whether it begins after that instant, and not at it

    @property
    def whole(self) -> bool:
        """Whether it reaches back to the first row."""
        return self.first == EVER and not self.rows

    @property
    def one(self) -> bool:
        """Whether it holds the latest row alone."""
        return self.rows == 1 and self.first == EVER

    def rows_folded(self, rows: float, rate: float | None) -> float:
        """How many rows Spark adds up for each of so many, with so many a key and coordinate.

        No window holds more than half of them in the mean, whatever the keys. One that reaches back
        to the first row is the one before it and what is new.
        """
        if self.first == EVER:
            return 1
        if rate is None:
            return rows / 2
        return min(rows / 2, rate * max(self.first - self.last + 1, 0))


def horizon_of(spec: Trailing, time_kind: str, clock: ZoneClock | None = None) -> Horizon:
    """A window over a time column of this kind; errors name the length that does not fit.

    ``clock`` is that of its zone, if a calendar says how long it is.
    """
    by_time = spec.range if spec.range is None or spec.range.measure != "rows" else None
    by_time = None if spec.by_calendar else by_time
    for argument, length in (("range", by_time), ("delay", spec.delay)):
        if length is not None:
            by_count = argument == "range" and time_kind in TIMESTAMPS
            counted = advise_counted(length) if by_count else ""
            check_length(argument, length, time_kind, instead=counted)
    delay = 0 if spec.delay is None else int(spec.delay.value)
    last = delay if spec.closed in ("right", "both") else delay + 1
    opened = spec.closed in ("right", "neither")
    if clock is not None and spec.range is not None:
        units = int(spec.range.value)
        months, days = (units, 0) if spec.range.measure == "months" else (0, units // HOURS["day"])
        calendar = CalendarLength(clock, months, days)
        first = delay + calendar.longest
        return Horizon(first, last, 0, spec.include_self, first, calendar, delay, opened)
    if by_time is None:
        rows = int(spec.range.value) if spec.range else 0
        return Horizon(EVER, last, rows, spec.include_self)
    back = delay + int(by_time.value)
    first = back - opened
    return Horizon(first, last, 0, spec.include_self, back)


STRATEGIES = (ways.NATIVE, ways.ARROW, ways.CHUNKS)


def plan_trailing(
    horizons: tuple[Horizon, ...],
    partials: int,
    *,
    streaming: bool,
    refused: str = "",
    incomparable: str = "",
    undivided: str = "",
    strategy: ways.Strategy = ways.AUTO,
    rows: float | None = None,
    rate: float | None = None,
    keys: float | None = None,
    tasks: float | None = None,
    latest: bool = False,
    asking: bool = False,
) -> Plan[tuple[Horizon, ...]]:
    """The plan of trailing windows with so many partials each.

    ``refused`` says why Spark's own windows cannot give them, ``incomparable`` why rows cannot be
    compared in Python, and ``undivided`` why those of a key cannot be divided among tasks; ``rows``
    how many there are in a batch, ``rate`` how many a key and coordinate, ``keys`` how many keys
    they have, and ``tasks`` how many tasks run at a time, where that is known. ``latest``: only the
    latest row of each window matters. ``asking``: other rows ask, which are in no window.
    """
    way = ways.LOOKED_BACK_IN_OPERATOR if streaming else ways.LOOKED_BACK
    row, started = points.row_pass(by_python=False, returned=True), points.worker_overhead(rows)
    idle = points.idle_share(keys, tasks)
    cost = row * idle + started
    known = math.inf if rows is None else rows
    folded = sum(1.0 if latest else horizon.rows_folded(known, rate) for horizon in horizons)
    if streaming:
        why = "it is for batches; in a stream a stateful operator puts rows in order"
    else:
        why = refused or _why_not_native(horizons, asking=asking)
    chunks = (keys or 1) * _count_chunks(horizons, rows, rate, keys)
    divided = points.divided_pass(row, rows, tasks) * points.idle_share(chunks, tasks)
    native = points.folding(folded, partials) * idle
    return choose_candidate(
        [
            Candidate(ways.ARROW, way, horizons, cost, "" if why else incomparable),
            Candidate(ways.NATIVE, ways.FOLDED, horizons, native, why),
            Candidate(
                ways.CHUNKS,
                ways.LOOKED_BACK_IN_CHUNKS,
                horizons,
                divided + started,
                incomparable or _why_not_divided(horizons, streaming=streaming) or undivided,
            ),
        ],
        strategy,
    )


def _count_chunks(
    horizons: tuple[Horizon, ...], rows: float | None, rate: float | None, keys: float | None
) -> float:
    """How many chunks of time a key has at most, each twice as long as windows; 1 if not known."""
    reach = max(horizon.first for horizon in horizons)
    if rows is None or rate is None or keys is None or reach >= EVER:
        return 1.0
    return max(1.0, rows / (rate * keys) / (SHORTEST * max(reach, 1)))


def _why_not_divided(horizons: tuple[Horizon, ...], *, streaming: bool) -> str:
    """Explain why no chunk of time has all rows that its windows hold. Empty if one may."""
    if streaming:
        return "it is for batches; in a stream the rows of a key come one after the other"
    if any(horizon.rows for horizon in horizons):
        return "the last rows as of a time may be any time before it, not in the chunk before"
    if any(horizon.first >= EVER for horizon in horizons):
        return "a window that reaches back to the first row of a key needs all chunks before it"
    return ""


def _why_not_native(horizons: tuple[Horizon, ...], *, asking: bool) -> str:
    """Explain why no window of Spark's holds these rows. Empty if one does."""
    if any(horizon.calendar is not None for horizon in horizons):
        return "a window of Spark's has one length, and this one has that of a calendar"
    if any(horizon.rows and not horizon.one for horizon in horizons):
        return "the last rows as of a time are more than Spark's ROWS where rows share the time"
    if not asking and not all(horizon.include_self for horizon in horizons):
        return "a window of Spark's cannot leave out its own row"
    if any(horizon.first < horizon.last for horizon in horizons):
        return "Spark has no windows that hold nothing"
    return ""
