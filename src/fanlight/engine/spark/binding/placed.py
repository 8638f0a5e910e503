"""Points, or events that last, bound to the windows that hold them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql import DataFrame

from fanlight.engine.kinds.kind import FINAL, kind_of
from fanlight.engine.kinds.options import RUNNING
from fanlight.engine.plan.clock_changes import (
    with_changes,
    without_skipped,
)
from fanlight.engine.plan.coordinate import Coordinate
from fanlight.engine.plan.granules import LastRows, RowEnds, row_ends_of
from fanlight.engine.plan.grid import Grid, make_grids
from fanlight.engine.plan.late_rows import Release, check_late, refuse_open_windows
from fanlight.engine.plan.request import Event, Queries, Query
from fanlight.engine.spark.binding.bound import Bound, Refusal
from fanlight.engine.spark.binding.lag import Lag, lag_of_event
from fanlight.engine.spark.binding.source import (
    Source,
    advise_watermark,
    bind_source,
    check_stream,
    check_stream_keys,
    date_in,
    schema_of,
    with_dates_in,
)
from fanlight.engine.spark.calendars import ask_changes, ask_spark
from fanlight.engine.spark.coordinates import (
    as_instant,
    boundary,
    coordinate,
    exact,
    rejections,
    unit_before,
)
from fanlight.engine.spark.cuts import (
    exists,
    first_end,
    first_event_end,
    first_place,
    limit,
    shown_bounds_by,
    text_by_query,
)
from fanlight.engine.spark.row_estimate import estimated_rows
from fanlight.engine.spark.sql import TIME_WINDOW, WATERMARK, expr, quote_column, type_text
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.granular import MultiGranular
from fanlight.engine.spec.sliding import Local, Sliding
from fanlight.engine.spec.trailing import Trailing
from fanlight.engine.spec.units import Extent
from fanlight.types import Late

MOST_WINDOWS_A_ROW = 1_000_000
MANY_ROWS = 200_000  # for fewer it takes as long to ask for what rows would look up
SINCE = "since"  # a column: when the first row of a window is, if that is where it begins

Spec = Sliding | MultiGranular | tuple[Sliding, ...]


@dataclass(frozen=True)
class Placed(Bound):
    """A source seen through the windows of one query or several."""

    spec: Spec
    queries: Queries
    late: Late
    # The windows themselves, where ``queries`` begin earlier, for what is carried into them.
    within: Queries | None = field(default=None, kw_only=True)

    @property
    def grids(self) -> tuple[Grid, ...]:
        """The grid of each query."""
        return self.queries.grids

    @property
    def grid(self) -> Grid:
        """The grid of the first query."""
        return self.grids[0]

    @property
    def longest(self) -> int:
        """The longest RANGE, in coordinates."""
        return max(grid.range for grid in self.grids)

    @property
    def window_lags(self) -> tuple[int | None, int | None]:
        """How long windows are at most, and how long after its end a window is given, at most."""
        if isinstance(self.row_ends, LastRows):
            return None, 0
        calendar = self.coordinate.calendar
        unit = 1 if calendar is None else calendar.longest_unit
        empty = self.options.get("with_empty", {})
        waits = (empty.get("most") or 0) + 1 if empty.get("values") == "linear" else 0
        longest = max(grid.range + grid.opened for grid in self.grids) * unit
        return longest, waits * max(grid.slide for grid in self.grids) * unit

    @property
    def query_columns(self) -> list[str]:
        """The column that holds the number of the query, if there are several."""
        return ["query"] if self.queries.several else []

    @property
    def window_columns(self) -> tuple[str, ...]:
        """The output columns that describe a window, besides aggregates."""
        several = (self.queries.name,) if self.queries.several else ()
        return ("window", *several, *(() if self.early is None else (FINAL,)))

    @property
    def early_refusals(self) -> list[Refusal]:
        """Which of these windows cannot be given early."""
        rowwise = "is for windows that time places and for frames, not for those that rows end"
        return [
            (self.event.ordered, rowwise, "ask for windows of time"),
            (self.forget_after is not None, "keeps nothing of a key beyond its windows",
             "leave forget_after out"),
        ]  # fmt: skip

    @property
    def lasting(self) -> bool:
        """Whether rows are events with a duration."""
        return False

    @property
    def event(self) -> Event:
        """What a row is in time."""
        if self.row_ends:
            return Event.ENDING
        return Event.COUNTED if self.coordinate.counted else Event.POINT

    @property
    def release(self) -> Release:
        """When windows are given."""
        return Release.of(self.late, streaming=self.df.isStreaming)

    @property
    def row_ends(self) -> RowEnds | None:
        """Which rows end a window, where rows and time place it together."""
        return row_ends_of(self.spec) if isinstance(self.spec, Sliding) else None

    @property
    def levels(self) -> MultiGranular:
        """The spec, which must be one of levels."""
        if not isinstance(self.spec, MultiGranular):
            msg = "a set of queries has no levels"
            raise TypeError(msg)
        return self.spec

    @property
    def since(self) -> int | None:
        """The coordinate before which nothing counts: the initiation time of levels."""
        if isinstance(self.spec, MultiGranular) and self.spec.offset is not None:
            own = self.within or self.queries
            return own.grids[0].offset  # level 0's range is whole slides: it starts where it ends
        return None

    @property
    def weights(self) -> tuple[float, ...] | None:
        """One weight for each level, if rows are weighted by level."""
        return self.spec.weights if isinstance(self.spec, MultiGranular) else None

    @property
    def changes_only(self) -> bool:
        """Whether only results that changed are reported."""
        return isinstance(self.spec, MultiGranular) and self.spec.changes_only

    @property
    def shown_start(self) -> str:
        """SQL: where a window is said to begin: not before the paper's initiation time.

        The last rows before an instant begin with the first of them.
        """
        if isinstance(self.row_ends, LastRows):
            return SINCE
        if self.since is not None:
            return f"greatest(start, {self.since}L)"
        return shown_bounds_by(self.grids, "start")[0]

    @property
    def shown_end(self) -> str:
        """SQL: where a window is said to end."""
        return shown_bounds_by(self.grids, "start")[1]

    @property
    def exact_bounds(self) -> tuple[str, str]:
        """SQL: where a window is said to begin and end, in numbers as instants are."""
        bounds = self.shown_start, self.shown_end
        if self.coordinate.is_unit_number:
            bounds = boundary(self.coordinate, bounds[0]), boundary(self.coordinate, bounds[1])
        return bounds

    def read_off(self) -> dict[str, str]:
        """SQL: where a window is said to begin and to end, and its first instant."""
        begun, over = self.exact_bounds
        first = text_by_query([first_place(grid, "start") for grid in self.grids])
        first = first if self.since is None else f"greatest({first}, {self.since}L)"
        if self.coordinate.is_unit_number:
            first = boundary(self.coordinate, first)
        return {"begun": begun, "over": over, "first": first}

    @property
    def carries(self) -> bool:
        """Whether readings may be carried into windows: time alone places rows."""
        return self.event is Event.POINT

    def reaching(self, carries: Collection[Extent]) -> Placed:
        """The windows that begin earlier, by at least the longest carry.

        It is a multiple of each SLIDE, so that pieces are cut where windows begin, too.
        """
        longest = max((int(carry.value) for carry in carries), default=0)
        if not longest:
            return self
        calendar = self.coordinate.calendar
        units = longest if calendar is None else calendar.most_units(longest)
        every = math.lcm(*(grid.slide for grid in self.grids))
        before = -(-units // every) * every
        for grid in self.grids:
            if (grid.range + before) // grid.slide > MOST_WINDOWS_A_ROW:
                raise refuse(
                    f"carry={max(carries, key=lambda one: one.value)}",
                    f"puts each reading into {(grid.range + before) // grid.slide:,} windows",
                    "write a shorter one, or a longer slide",
                )
        return replace(self, queries=self.queries.reaching(before), within=self.queries)

    def begun(self, start: str, query: int) -> str:
        """SQL: the first coordinate of a window itself, by where it begins with what is carried."""
        if self.within is None:
            raise AssertionError(self)
        own = self.within.grids[query]
        return first_place(own, f"({start} + {own.offset - self.grids[query].offset}L)")

    def without_carried(self, windows: DataFrame) -> DataFrame:
        """Windows by where they begin themselves."""
        if self.within is None:
            return windows
        later = self.within.grids[0].offset - self.grids[0].offset
        return windows.withColumn("start", expr(windows, f"start + {later}L"))

    def keep_existing(
        self, windows: DataFrame, start: str = "start", *, filled: bool = False
    ) -> DataFrame:
        """Windows without those that there are not, where the clock of a zone skips some time.

        ``start`` is SQL for where they begin; of several queries they have the column ``query``.
        Points are in none that has no length: so it is only asked of windows that overlap, since
        Spark would ask it of each row, or that are ``filled`` in.
        """
        asked = [grid.missing and (filled or self.lasting or grid.overlaps) for grid in self.grids]
        if not any(asked):
            return windows
        return windows.filter(text_by_query([exists(grid, start) for grid in self.grids]))

    @property
    def rejections(self) -> list[tuple[str, str]]:
        """(SQL condition, reason) pairs: rows that are in no window of any query."""
        rejected = super().rejections
        if self.since is not None and not self.coordinate.counted:
            early = f"{coordinate(self.coordinate, self.time_sql)} < {self.since}L"
            rejected.append((early, f"{self.time} is before the initiation time"))
        return rejected

    @property
    def instants(self) -> list[str]:
        """SQL: the first and last instant of a row, which are the same for a point."""
        return ["t as first_at", "t as last_at"]

    @property
    def late_after(self) -> str:
        """SQL: the end of the first window of any query that holds the row.

        It is null if no window does. So a row is late in all of its windows or in none. Where rows
        place windows, it is the row's time.
        """
        if self.event.ordered:
            return super().late_after
        return as_instant(self.coordinate, first_end(self.queries.deciding_grids, "t"))


@dataclass(frozen=True)
class Unended:
    """Options for streams whose events may still be running: the id column, and more.

    ``stop_sql`` is the stop as it is, null while an event is running; ``longest`` is how long one
    is running at most, in coordinates.
    """

    id: str
    id_sql: str
    stop_sql: str
    longest: int | None = None


@dataclass(frozen=True)
class Lasting(Placed):
    """Events that last, bound to their windows; ``time`` is the stop, when an event is known."""

    start: str
    start_sql: str
    limit: int  # bound on the absolute value of coordinates
    unended: Unended | None = field(default=None, kw_only=True)
    start_lag: Lag | None = field(default=None, kw_only=True)

    @property
    def lag(self) -> Lag | None:
        """The lag of the first instant of an event; None if both of its ends are of a source."""
        return lag_of_event(self.start_lag, self.source.lag)

    @property
    def times(self) -> tuple[str, str]:
        """The columns of an event's start and stop."""
        return self.start, self.time

    @property
    def lasting(self) -> bool:
        """Whether rows are events with a duration."""
        return True

    @property
    def divides(self) -> bool:
        """Whether a part of a row may lie in a window."""
        return True

    @property
    def event(self) -> Event:
        """What a row is in time."""
        return Event.LASTING

    @property
    def ttp(self) -> int | None:
        """A stream's time to postpone in milliseconds: the delay on the stop, and what is added."""
        if self.delay is None or not self.df.isStreaming:
            return None
        return int(self.delay) + self.postponement // 1000

    @property
    def order(self) -> list[str]:
        """Events are ordered by their stop (as the paper orders a stream), then their start."""
        ends = ["exact", "exact_from"] if self.coordinate.is_unit_number else ["t", "from_at"]
        return [*ends, *self.tie_keys]

    @property
    def rejections(self) -> list[tuple[str, str]]:
        """Also reject events that stop before they start, or end before the initiation time."""
        rejected = []
        for name, column in ((self.start, self.start_sql), (self.time, self.time_sql)):
            rejected += rejections(self.coordinate, name, column)
            if self.coordinate.kind in ("timestamp", "integer") and not self.coordinate.calendar:
                number = coordinate(self.coordinate, column)
                far = f"{number} >= {self.limit}L or {number} <= -{self.limit}L"
                rejected.append((far, f"{name} is out of range"))
        backwards = f"{self.time_sql} < {self.start_sql}"
        if self.options.get(RUNNING, {}).get("as_of") is not None:
            running = f"{quote_column(self.df, self.time)} is null and {backwards}"
            rejected.append((running, f"{self.start} is after as_of, and {self.time} is null"))
        rejected.append((backwards, f"{self.time} is before {self.start}"))
        if self.unended is not None:
            nobody = f"{self.unended.stop_sql} is null and {self.unended.id_sql} is null"
            rejected.append((nobody, f"{self.time} and {self.unended.id} are null"))
        if self.since is None:
            return rejected
        since = f"{self.since}L"
        stop, start = (coordinate(self.coordinate, c) for c in (self.time_sql, self.start_sql))
        if self.coordinate.is_unit_number:  # the values themselves, not the numbers of their units
            since = boundary(self.coordinate, since)
            stop, start = (exact(self.coordinate, c) for c in (self.time_sql, self.start_sql))
        # An event without duration is over only after its instant.
        over = f"{stop} <= {since} and {start} < {since}"
        return [*rejected, (over, f"{self.time} is before the initiation time")]

    @property
    def coordinates(self) -> list[tuple[str, str]]:
        """Start and stop as coordinates; of doubles also their values, which are finer."""
        coordinates = super().coordinates
        coordinates.append((coordinate(self.coordinate, self.start_sql), "from_at"))
        if self.coordinate.is_unit_number:
            coordinates.append((exact(self.coordinate, self.start_sql), "exact_from"))
        return coordinates

    @property
    def ends(self) -> tuple[str, str]:
        """The columns of an event's start and stop: of doubles the values themselves."""
        return ("exact_from", "exact") if self.coordinate.is_unit_number else ("from_at", "t")

    @property
    def place_columns(self) -> list[str]:
        """The stop, and the first and last instant of the event."""
        return ["t", *self.instants]

    @property
    def instants(self) -> list[str]:
        """SQL: the first and last instant of an event.

        The stop itself is not part of an event, unless the event has no duration. Of an event that
        began before the initiation time, only what is after that time counts.
        """
        before = "t - 1L"
        if self.coordinate.is_unit_number:
            ended = f"exact = {boundary(self.coordinate, 't')}"
            before = f"if({ended}, {unit_before(self.coordinate, 't')}, t)"
        first = "from_at" if self.since is None else f"greatest(from_at, {self.since}L)"
        return [f"{first} as first_at", f"greatest(from_at, {before}) as last_at"]

    @property
    def late_after(self) -> str:
        """SQL over the instants: the same of an event."""
        return as_instant(self.coordinate, first_event_end(self.queries.deciding_grids))


def bind_points(df: Any, spec: Any, time: Any, by: Any, tiebreak: Any, late: Any) -> Placed:
    """Check the request of windows over points against the DataFrame."""
    rule = check_late(late)
    kept, windows, labels, name = _read_specs(spec)
    source = bind_source(df, time, by, tiebreak, ("window", name) if name else ("window",))
    source = _with_dates(source, windows)
    coordinate, grids = make_grids(windows, source.time, source.time_type)
    check_stream(source)
    coordinate, grids = _know_changes(source, kept, coordinate, grids)
    for window, grid in zip(windows, grids, strict=True):
        if grid.overlap > MOST_WINDOWS_A_ROW and not window.mixed:
            hint = ", or slide=fl.Rows(1) for a window that ends at each row"
            raise refuse(
                f"range={window.range} with slide={window.slide}",
                f"puts each row into {grid.overlap:.0f} windows",
                f"choose a longer slide{'' if name else hint}",
            )
    if coordinate.counted or any(window.mixed for window in windows):
        refuse_open_windows(late, "data-driven windows")
    weights = kept.weights if isinstance(kept, MultiGranular) else None
    if weights is not None and coordinate.counted and source.df.isStreaming:
        raise refuse(
            f"weights={list(weights)} over rows in a stream",
            "have no place in the one operator that puts rows in order and counts them",
            "leave weights out, or give the levels as durations",
        )
    queries = _number_queries(labels, grids, name)
    return Placed(source, coordinate, kept, queries, rule)


def bind_lasting(df: Any, spec: Any, time: Any, by: Any, tiebreak: Any, late: Any) -> Lasting:
    """Check the request of windows over events against the DataFrame."""
    rule = check_late(late)
    kept, windows, labels, name = _read_specs(spec)
    if isinstance(spec, MultiGranular) and spec.weights is not None:
        raise refuse(
            f"weights={list(spec.weights)} over time={tuple(time)!r}",
            "depend on the level a row belongs to, but an event with a duration belongs to several",
            "leave weights out, or name one column, for example the stop",
        )
    own = ("window", name) if name else ("window",)
    source, start, text, lag = _bind_events(df, windows, time, by, tiebreak, own)
    coordinate, grids = make_grids(windows, source.time, source.time_type)
    coordinate, grids = _know_changes(source, kept, coordinate, grids)
    for window, grid in zip(windows, grids, strict=True):
        _check_reach(window, grid, limit(grid, len(grids)))
    if isinstance(spec, MultiGranular) and spec.changes_only and source.df.isStreaming:
        raise refuse(
            "changes_only=True over a stream of events with a duration",
            "is not supported: an event is in windows far apart, which have no order in a stream",
            "compare the results afterwards, or leave it out",
        )
    return Lasting(
        source,
        coordinate,
        spec=kept,
        queries=_number_queries(labels, grids, name),
        late=rule,
        start=start,
        start_sql=text,
        start_lag=lag,
        limit=min(limit(grid, len(grids)) for grid in grids),
    )


def _with_dates(source: Source, windows: Sequence[Sliding]) -> Source:
    """The source with dates read by the clock of the calendar, if one places the windows."""
    local = _local_of(windows)
    return source if local is None else with_dates_in(source, local.zone)


def _local_of(windows: Sequence[Sliding]) -> Local | None:
    """The calendar that places one of the windows; None if none does."""
    return next((window.local for window in windows if window.local is not None), None)


def _know_changes(
    source: Source, spec: Spec, coordinate: Coordinate, grids: tuple[Grid, ...]
) -> tuple[Coordinate, tuple[Grid, ...]]:
    """The same where the clock of a zone is set, as Spark sets it."""
    unit = coordinate.calendar
    if unit is None or unit.zone is None:
        return coordinate, grids
    unit = with_changes(unit, ask_changes(source.df.sparkSession, unit.zone))
    since = grids[0].offset if isinstance(spec, MultiGranular) and spec.offset is not None else None
    left = tuple(without_skipped(grid, unit, since) for grid in grids)
    return replace(coordinate, calendar=unit), left


def know_calendar(bound: Placed) -> Placed:
    """Add the columns in which rows look up a calendar, unless they exist or are not needed."""
    calendar = bound.coordinate.calendar
    if calendar is None or calendar.zone is None or calendar.known:
        return bound
    rows = None if bound.df.isStreaming else estimated_rows(bound.df)
    if rows is not None and rows < MANY_ROWS:
        return bound
    known = ask_spark(bound.df.sparkSession, calendar)
    return replace(bound, coordinate=replace(bound.coordinate, calendar=known))


def _number_queries(labels: Sequence[int], grids: Sequence[Grid], name: str) -> Queries:
    """Queries made of grids and the labels of their results."""
    return Queries(tuple(Query(*pair) for pair in zip(labels, grids, strict=True)), name)


def _read_specs(spec: Any) -> tuple[Spec, list[Sliding], list[int], str]:
    """The spec, its sliding windows, their labels, and the name of the column that holds labels."""
    if isinstance(spec, Sliding):
        return spec, [spec], [0], ""
    if isinstance(spec, MultiGranular):
        levels = spec.levels
        labels = [level.number for level in levels]
        return spec, [level.windows for level in levels], labels, "level"
    windows = _read_list(spec)
    return tuple(windows), windows, list(range(len(windows))), "query"


def _read_list(given: Sequence[Any]) -> list[Sliding]:
    if not given:
        raise refuse("over(df, [])", "lists no window", "write for example [fl.Sliding('1 hour')]")
    for number, spec in enumerate(given):
        named = f"query {number}, {spec!r},"
        if kind_of(spec) is None:
            usual = "list specs, for example fl.Sliding('1 hour', '1 minute')"
            raise refuse(named, "is not a window that fanlight knows", usual)
        if isinstance(spec, Trailing):
            labelled = "{'1h': fl.Trailing('1 hour'), '1d': fl.Trailing('1 day')}"
            raise refuse(named, "has no label, by which columns tell", f"label it: {labelled}")
        if not isinstance(spec, Sliding):
            raise refuse(
                named, "is not placed by time alone", "list fl.Sliding, fl.Calendar, fl.Cumulative"
            )
        if spec.mixed:
            raise refuse(
                named,
                "ends where rows are, so it shares no slices with others",
                "use an fl.over of its own for it",
            )
        if spec.slide.measure != given[0].slide.measure:
            raise refuse(
                named,
                f"is not measured like query 0, {given[0]!r}",
                "use an fl.over for each",
            )
        if spec in given[:number]:
            raise refuse(named, f"repeats query {list(given).index(spec)}", "list it only once")
    return list(given)


def _bind_events(
    df: Any, specs: Sequence[Sliding], time: Any, by: Any, tiebreak: Any, own: Sequence[str]
) -> tuple[Source, str, str, Lag | None]:
    """The source with the stop as its time; the name of the start, its SQL, and its lag."""
    start, stop = read_time_pair(time)
    for spec in specs:
        if spec.measure == "rows" or spec.mixed:
            raise refuse(
                f"{spec!r} over time={(start, stop)!r}",
                "counts rows, but events with a duration overlap, so they have no single order",
                "write range and slide as durations, or name one column, for example "
                f"time={stop!r}",
            )
    source = _with_dates(bind_source(df, stop, by, tiebreak, own), specs)
    check_stream_keys(source)
    (began,) = schema_of(df, [("time", start)], "time")
    kind, wanted = type_text(began.dataType), source.read_from or source.time_type
    if kind != wanted:
        raise refuse(
            f"time={(start, stop)!r}",
            f"is of two types, {kind} and {wanted}",
            f"cast both to the same type, for example {start!r} to {wanted}",
        )
    # A type without windows is refused before a missing watermark.
    make_grids(specs, stop, source.time_type)
    _check_watermark(source, start, WATERMARK in began.metadata)
    text = quote_column(df, start)
    lag = None
    if df.isStreaming:
        spans = [field for field in df.schema.fields if (field.metadata or {}).get(TIME_WINDOW)]
        made = any(Lag.of(field.metadata) is None for field in spans)  # windows that Spark has made
        lag = Lag.of(began.metadata) or (Lag(None, source.delay) if made else None)
    local = _local_of(specs)
    if source.read_from == "date" and local is not None:
        text = date_in(text, local.zone)
    elif source.read_from:
        text = f"cast({text} as timestamp)"
    return source, start, text, lag


def _check_reach(spec: Sliding, grid: Grid, most: int) -> None:
    """Refuse grids with so many windows, or so far from 1970, that numbers do not fit 64 bits."""
    if grid.overlap > MOST_WINDOWS_A_ROW:
        raise refuse(
            f"range={spec.range} with slide={spec.slide}",
            f"puts each instant into {grid.overlap:.0f} windows",
            "choose a longer slide",
        )
    if grid.range + abs(grid.offset) + grid.slide >= most:
        raise refuse(
            f"range={spec.range} with offset={spec.offset}",
            f"reaches farther than {most} units, beyond which windows are not numbered",
            "write shorter ones, or a longer slide",
        )


def read_time_pair(time: Any) -> tuple[str, str]:
    """Read the names of the columns of an event's start and stop."""
    names = tuple(time)
    if len(names) != 2 or not all(isinstance(name, str) for name in names):
        raise refuse(
            f"time={time!r}", "is not a pair of column names", "write time=('start', 'stop')"
        )
    if names[0] == names[1]:
        raise refuse(
            f"time={time!r}",
            "names one column for both ends",
            f"write time={names[0]!r} for events that are points",
        )
    return names


def _check_watermark(source: Source, start: str, marked: bool) -> None:
    """Check that a stream has its watermark on the stop: an event is known when it ends."""
    if not source.df.isStreaming or source.delay is not None:
        return
    pair, stop = (start, source.time), source.time
    if marked:
        raise refuse(
            f"time={pair!r}",
            f"has its watermark on {start!r}, but an event is known only when it ends",
            f"write df.withWatermark({stop!r}, …) with a delay (TTP) longer than the longest event",
        )
    if source.time_type == "timestamp" and not source.read_from:
        raise refuse(
            f"time={pair!r}",
            f"has no watermark on {stop!r}, so a stream could not tell when a window is complete",
            f"write {advise_watermark(source.df, stop, '1 hour')} before fl.over; its delay is the "
            "time to postpone (TTP): choose it longer than the longest event",
        )
    what = {
        "timestamp": f"are of type {source.read_from}, on which Spark sets no watermark",
        "timestamp_ntz": "are timestamps without time zone, on which Spark sets no watermark",
    }.get(source.time_type, "are numbers, and no watermark can be set on a number")
    raise refuse(
        f"time={pair!r}",
        f"{what}, so a stream could not tell when a window is complete",
        f"cast both to timestamp before df.withWatermark({stop!r}, …)",
    )
