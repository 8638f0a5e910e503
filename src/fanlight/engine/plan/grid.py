"""Grids: RANGE, SLIDE and offset of windows as whole numbers, in a coordinate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from fanlight.engine.plan.coordinate import (
    EXACT_DOUBLE,
    TIMESTAMPS,
    CalendarUnit,
    Coordinate,
    Kind,
    advise_counted,
    check_kind,
    check_length,
    check_zone_of_time,
)
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.sliding import Local, Sliding
from fanlight.engine.spec.units import HOURS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Number = TypeVar("Number", int, "NDArray[np.int64]")  # one coordinate, or an array of many


@dataclass(frozen=True)
class EachRange:
    """Windows that begin together at each multiple of RANGE, and end at each multiple of SLIDE."""

    range: int
    offset: int

    def first_place(self, last: Any) -> Any:
        """The first coordinate of the window whose last one is given."""
        return last - (last - self.offset) % self.range

    def last_end(self, at: Any) -> Any:
        """The end of the last window that holds a coordinate."""
        return self.first_place(at) + self.range


@dataclass(frozen=True)
class Months:
    """Months of a calendar, in a coordinate of which so many make a day.

    ``first`` is one of the months, counted from January 1970, with which ``count`` of them begin.
    A month begins on its ``day``.
    """

    count: int
    first: int
    a_day: int
    day: int = 1

    def first_place(self, last: Any) -> Any:
        """The first coordinate of the window whose last one is given."""
        return first_day(self._first_month(last), self.day) * self.a_day

    def last_end(self, at: Any) -> Any:
        """The end of the last window that holds a coordinate."""
        return first_day(self._first_month(at) + self.count, self.day) * self.a_day

    def _first_month(self, at: Any) -> Any:
        month = month_of(at // self.a_day, self.day)
        return month - (month - self.first) % self.count


@dataclass(frozen=True)
class MonthsBack:
    """So many months before a day, from the same day of a month or from its last.

    They are in a coordinate of which so many make a day, and one ends with each day.
    """

    count: int
    a_day: int

    def first_place(self, last: Any) -> Any:
        """The first coordinate of the window whose last one is given."""
        return months_before((last + 1) // self.a_day, self.count) * self.a_day

    def last_end(self, at: Any) -> Any:
        """The end of the last window that holds a coordinate."""
        day = at // self.a_day + 1
        month = month_of(day)
        after = first_day(month + self.count) + day - first_day(month)
        return (_lesser(after, first_day(month + self.count + 1)) - 1) * self.a_day


@dataclass(frozen=True)
class Grid:
    """Windows in a coordinate: ``m`` is ``[offset + m * slide, offset + m * slide + range)``.

    Some windows begin later than that, as ``begins`` says: those that begin together, with each
    RANGE or with each so many months, of which none is longer than the RANGE; and those of so many
    months before each day.

    A window whose start is not in it (``opened``), or whose end is (``closed``), begins or ends one
    coordinate later than it is said to. Of a calendar, the windows that begin at ``missing`` are
    not there: see :mod:`fanlight.engine.plan.clock_changes`.

    It says which windows an instant is in, and where a window begins and ends, for one number or an
    array of them; :mod:`fanlight.engine.spark.cuts` does in SQL. Nothing else computes it.
    """

    range: int
    slide: int
    offset: int = 0
    begins: EachRange | Months | MonthsBack | None = None
    opened: int = 0
    closed: int = 0
    missing: tuple[int, ...] = ()

    def window_start(self, window: Number) -> Number:
        """Where a window begins, unless ``begins`` makes it later."""
        return self.offset + window * self.slide

    def window_at(self, start: Number) -> Number:
        """The window that begins there."""
        return (start - self.offset) // self.slide

    def first_place(self, window: Number) -> Number:
        """The first coordinate of which a window has what lies there."""
        first: Number = self.window_start(window)
        if self.begins is not None:
            first = self.begins.first_place(first + self.range - 1)
        return first

    def window_end(self, window: Number) -> Number:
        """Where a window ends: the first coordinate after it."""
        return self.window_start(window) + self.range

    def first_window(self, at: Number) -> Number:
        """The first window that ends after a coordinate: the first that holds it, if any does."""
        return (at - self.offset - self.range) // self.slide + 1

    def last_window(self, at: Number) -> Number:
        """The last window that begins by a coordinate: the last that holds it, if any does.

        In a gap it is the window before, and :meth:`first_window` is the window after.
        """
        begun = at if self.begins is None else self.begins.last_end(at) - self.range
        return (begun - self.offset) // self.slide

    def last_ended_window(self, at: Number) -> Number:
        """The last window that has ended at a coordinate."""
        return self.first_window(at) - 1

    def has_window(self, at: Any) -> Any:
        """Whether a coordinate lies in some window."""
        return (at - self.offset) % self.slide < self.range

    def reaching(self, before: int) -> Grid:
        """The windows that begin as much earlier, and none later than that."""
        missing = tuple(start - before for start in self.missing)
        return replace(
            self, range=self.range + before, offset=self.offset - before, begins=None,
            missing=missing,
        )  # fmt: skip

    @property
    def overlap(self) -> float:
        """RANGE/SLIDE: in how many windows an instant lies, on average."""
        return self.range / self.slide

    @property
    def overlaps(self) -> bool:
        """Whether an instant may lie in two windows."""
        return self.range > self.slide

    @property
    def has_gaps(self) -> bool:
        """Whether instants may lie in no window (SLIDE longer than RANGE)."""
        return self.slide > self.range


# Days and months are counted from the beginning of 1970. Here years begin in March, and every 400
# of them, an era, are of one length.
_ERA, _SHIFT = 146_097, 719_468  # days of an era; the first of them, of year 0, before 1970


def _lesser(one: Any, other: Any) -> Any:
    """The lesser of two numbers, or of each two of two arrays."""
    return one + (other - one) * (other < one)


def months_before(day: Any, count: int) -> Any:
    """The same day of a month, so many months before, or the last day of that month."""
    month = month_of(day)
    first = first_day(month - count) + day - first_day(month)
    return _lesser(first, first_day(month - count + 1) - 1)


def month_of(day: Number, begins: int = 1) -> Number:
    """The month that a day is in, where months begin on one of their days, or on their last."""
    month = _month_of(day)
    if begins == 1:
        return month
    earlier: Number = month - (day < first_day(month, begins))
    return earlier


def _month_of(day: Number) -> Number:
    era, left = (day + _SHIFT) // _ERA, (day + _SHIFT) % _ERA
    year = (left - left // 1460 + left // 36_524 - left // (_ERA - 1)) // 365
    of_year = left - (365 * year + year // 4 - year // 100)
    months: Number = (5 * of_year + 2) // 153 + 2
    return (era * 400 + year - 1970) * 12 + months


def first_day(month: Number, begins: int = 1) -> Number:
    """The day on which a month begins: one of its days by number, or its last if it has fewer."""
    if begins == 1:
        return _first_day(month)
    first: Number = _lesser(_first_day(month) + begins, _first_day(month + 1)) - 1
    return first


def _first_day(month: Number) -> Number:
    years = (month - 2) // 12 + 1970
    era, year, of_year = years // 400, years % 400, (month - 2) % 12
    left: Number = 365 * year + year // 4 - year // 100 + (153 * of_year + 2) // 5
    return era * _ERA + left - _SHIFT


def make_grids(
    specs: Sequence[Sliding], time: str, time_type: str
) -> tuple[Coordinate, tuple[Grid, ...]]:
    """The coordinate of a time column, and a grid for each spec; errors name the column.

    All grids are in the same coordinate, so that queries can share slices.
    """
    kind = check_kind(time, time_type, "which windows cannot slide over", doubles=True)
    if any(spec.local for spec in specs):
        return _make_calendar_grids(specs, time, time_type, kind)
    counted = specs[0].measure == "rows" and not specs[0].mixed
    for spec in [] if counted else specs:
        _check_lengths(spec, kind, time, time_type)
        if spec.mixed and kind == "double":
            raise refuse(
                repr(spec),
                f"is for times that are whole, but time={time!r} is of type {time_type}",
                f"cast {time!r} to bigint in a finer unit, or give both lengths as numbers",
            )
    if kind == "double" and not counted:
        return _make_unit_grids(specs)
    return Coordinate(kind, counted=counted), tuple(map(_make_grid, specs))


def _make_grid(spec: Sliding) -> Grid:
    if spec.slide_by_tuple:
        return Grid(int(spec.range.value), 1)
    if spec.range_of_tuples:  # the SLIDEs, at whose ends the last rows are reported
        return Grid(int(spec.slide.value), int(spec.slide.value), int(spec.offset.value))
    length, offset = int(spec.range.value), int(spec.offset.value)
    begins = _begins(spec, length, offset)
    return _close(spec, Grid(length, int(spec.slide.value), offset, begins))


def _close(spec: Sliding, grid: Grid) -> Grid:
    """The grid of windows to which other ends belong than the start."""
    opened, closed = int(spec.closed in ("right", "neither")), int(spec.closed in ("right", "both"))
    length = grid.range + closed - opened
    if not length:
        raise refuse(
            repr(spec),
            "has windows in which nothing can be: they are one unit long, without their ends",
            "leave closed out",
        )
    return replace(grid, range=length, offset=grid.offset + opened, opened=opened, closed=closed)


def _begins(spec: Sliding, length: int, offset: int) -> EachRange | None:
    """Windows that begin together; where a size is one step, they are windows that tumble."""
    return EachRange(length, offset) if spec.restarts and not spec.tumbling else None


def _check_lengths(spec: Sliding, kind: Kind, time: str, time_type: str) -> None:
    """Refuse lengths that do not fit the type of the time column."""
    if kind in TIMESTAMPS:
        instead = advise_counted(spec.range)
    elif "time" in (spec.measure, spec.slide.measure):
        instead = (
            f"write range and slide as numbers, or turn {time!r} into a timestamp "
            f"(timestamp_seconds, timestamp_micros)"
        )
    else:
        instead = f"round it, or cast {time!r} to double"
    parts = {} if spec.range_of_tuples else {"range": spec.range}
    if not spec.slide_by_tuple:
        parts |= {"slide": spec.slide, "offset": spec.offset}
    column = f"time={time!r}"
    for argument, length in parts.items():
        check_length(argument, length, kind, time=column, time_type=time_type, instead=instead)


def _make_calendar_grids(
    specs: Sequence[Sliding], time: str, time_type: str, kind: Kind
) -> tuple[Coordinate, tuple[Grid, ...]]:
    """Grids in the longest unit of the calendar that divides all RANGEs, SLIDEs and offsets."""
    several = [_local_of(spec, specs) for spec in specs]
    first = several[0]
    check_zone_of_time(first.zone, kind, time, time_type, repr(specs[0]))
    for number, one in enumerate(several):
        if one.counting != first.counting:
            raise refuse(
                f"query {number}, {specs[number]!r},",
                f"shares no pieces of time with query 0, {specs[0]!r}",
                "use another fl.over for windows in months than for those in days, and for each "
                "zone, offset and day",
            )
    unit = math.gcd(*(part for one in several for part in (one.range, one.slide, one.offset)))
    by_months = first.unit == "months"
    calendar = CalendarUnit(
        unit, by_months, first.shift, first.zone, day=first.day if by_months else 1
    )
    coordinate = Coordinate(kind, Fraction(calendar.microseconds), calendar=calendar)
    grids = []
    for spec, one in zip(specs, several, strict=True):
        length, offset = one.range // unit, one.offset // unit
        begins: EachRange | Months | MonthsBack | None = _begins(spec, length, offset)
        if one.restart_months:
            begins = Months(one.restart_months, one.first, HOURS["day"] // unit, one.day)
        if one.back:
            begins = MonthsBack(one.back, HOURS["day"] // unit)
        grids.append(Grid(length, one.slide // unit, offset, begins))
    return coordinate, tuple(grids)


def _local_of(spec: Sliding, specs: Sequence[Sliding]) -> Local:
    """A window as the calendar places it; one that it does not place is refused."""
    if spec.local is None:
        number, first = specs.index(spec), next(one for one in specs if one.local)
        raise refuse(
            f"query {number}, {spec!r},",
            f"is not placed by a calendar, as {first!r} is",
            "use another fl.over for it",
        )
    return spec.local


def _make_unit_grids(specs: Sequence[Sliding]) -> tuple[Coordinate, tuple[Grid, ...]]:
    """Grids in the longest unit that divides every RANGE, SLIDE and distance of offsets."""
    origin = specs[0].offset.value
    unit = Fraction(0)
    for spec in specs:
        for part in (spec.range.value, spec.slide.value, spec.offset.value - origin):
            unit = _common_divisor(unit, part)
    halves = any(spec.closed != "left" for spec in specs)
    parts = 2 if halves else 1  # of a unit: where it begins, and what is after that
    common = (origin / unit).denominator * unit.numerator
    for spec in specs:
        length, step = int(spec.range.value / unit), int(spec.slide.value / unit)
        if max(common, unit.denominator, length, step) > EXACT_DOUBLE:
            raise refuse(
                f"range={spec.range} with slide={spec.slide}",
                "have a common divisor too small for the precision of doubles",
                "round them to fewer digits",
            )
    grids = []
    for spec in specs:
        length, slide, offset = (
            parts * int(value / unit)
            for value in (spec.range.value, spec.slide.value, spec.offset.value - origin)
        )
        grids.append(_close(spec, Grid(length, slide, offset, _begins(spec, length, offset))))
    return Coordinate("double", unit / parts, origin, halves=halves), tuple(grids)


def _common_divisor(a: Fraction, b: Fraction) -> Fraction:
    """The greatest common divisor of fractions; that of 0 and b is b."""
    return Fraction(
        math.gcd(a.numerator * b.denominator, b.numerator * a.denominator),
        a.denominator * b.denominator,
    )


def longest_slide(grids: Sequence[Grid]) -> int:
    """The longest time until a window of each grid begins."""
    longest: int = max(grid.slide for grid in grids)
    return longest
