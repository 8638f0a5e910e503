"""Cumulative windows: so far in this hour, day, month or year, step by step."""

from __future__ import annotations

from fanlight.engine.spec.arguments import check_choice
from fanlight.engine.spec.calendar import (
    WEEKDAYS,
    check_zone,
    has_months,
    read_day,
    read_offset,
    read_units,
    refuse_week_starts,
    week_offset,
    write_first_days,
)
from fanlight.engine.spec.errors import explain_wrong_calls, refuse
from fanlight.engine.spec.sliding import Local, Sliding
from fanlight.engine.spec.units import (
    HOURS,
    LONGEST_MONTH,
    Extent,
    read_extent,
    read_uncounted,
)
from fanlight.types import Duration, Weekday


class Cumulative(Sliding):
    """Windows from the start of each day, month or other range, one that ends with each slide.

    Windows of a range begin together; the first is a slide long, the next two, and the last as long
    as the range. A row is in those that end after it. A window is reported if at least
    one row lies in it, also when none came in its last slide.

    Parameters
    ----------
    range
        How long the longest windows are: ``"1 day"``, ``"1 month"``; a number when ``time`` is
        numeric.
    slide
        How often a window ends, of the same kind. It divides the range; months can be divided by
        months, by days, and by what divides a day.
    offset
        Where counting starts, as in :class:`fanlight.Sliding` and :class:`fanlight.Calendar`.
    zone
        The time zone whose calendar and clock say when ranges begin and slides end. ``None``: a day
        has 24 hours and begins at 0:00 UTC; months are then those of times without time zone
        (``timestamp_ntz``).
    week_starts
        The first day of a week of the zone's calendar.
    day
        The day of the month on which months begin, as in :class:`fanlight.Calendar`.

    Raises
    ------
    FanlightError
        If a length cannot be read or is not positive, if the slide does not divide the range, or if
        there is no such zone or day.

    Notes
    -----
    Cost: rows are combined once, in slides; a window is the one before it and a slide. In a stream
    the partial of each slide is copied to the windows of its range that end after it.

    See Also
    --------
    Li et al., *No Pane, No Gain*, section 3: slides are panes. Flink's ``CUMULATE``.

    Examples
    --------
    >>> import fanlight as fl
    >>> fl.Cumulative("1 month", "1 day", zone="Europe/Berlin")
    Cumulative('1 month', '1 day', zone='Europe/Berlin')
    >>> from fanlight import agg
    >>> calls = spark.sql("SELECT timestamp_seconds(1200 * id) AS at FROM range(7)")
    >>> so_far = fl.over(calls, fl.Cumulative("2 hours", "30 minutes"), time="at")
    >>> [row.calls for row in so_far.agg(calls=agg.count()).orderBy("window.end").collect()]
    [2, 3, 5, 6, 1, 1, 1, 1]

    """

    __slots__ = ("day", "shift", "week_starts", "zone")
    _parts = (*Sliding._parts, "shift", "zone", "week_starts", "day")  # noqa: SLF001 - of this kind
    shift: int  # the part of the offset that is in microseconds of local time
    zone: str | None
    week_starts: Weekday
    day: int | None  # None: months begin on their first day

    @explain_wrong_calls("fl.Cumulative('1 day', '1 hour')")
    def __init__(
        self,
        range: Duration,
        slide: Duration,
        *,
        offset: Duration = 0,
        zone: str | None = None,
        week_starts: Weekday = "monday",
        day: int = 1,
    ) -> None:
        first = check_choice("week_starts", week_starts, WEEKDAYS, "a day of the week")
        local = zone is not None or has_months("range", range)
        if not local and first != "monday":
            raise refuse_week_starts(first)
        read = read_units if local else _read_length
        length, every = read("range", range), read("slide", slide)
        _check_divides(length, every)
        start, shift = (
            read_offset(offset, length.measure) if local else (_read_start(offset, length), 0)
        )
        begins = read_day(day, length)
        self._set_parts(length, every, start, "left", shift, check_zone(zone), first, begins)

    @property
    def restarts(self) -> bool:
        """Windows begin together."""
        return True

    @property
    def local(self) -> Local | None:
        """The windows in a local calendar, if that places them."""
        size, step = int(self.range.value), int(self.slide.value)
        if self.measure not in ("months", "hours"):
            return None
        if self.slide.measure == "months":
            offset = int(self.offset.value)
            return Local(size, step, offset, "months", self.shift, self.zone, day=self.day or 1)
        if self.measure == "hours":
            offset = week_offset(self.range, self.week_starts)
            return Local(size, step, offset, "hours", self.shift, self.zone)
        longest = size * LONGEST_MONTH
        first = int(self.offset.value)
        return Local(
            longest, step, 0, "hours", self.shift, self.zone, restart_months=size, first=first,
            day=self.day or 1,
        )  # fmt: skip

    def _key(self) -> tuple[object, ...]:
        return self.local, self.zone, *super()._key()

    def __repr__(self) -> str:
        offset = f", offset={self.offset}" if self.offset.value or self.shift else ""
        zone = "" if self.zone is None else f", zone={self.zone!r}"
        first = write_first_days(self)
        return f"Cumulative({self.range}, {self.slide}{offset}{zone}{first})"


def _read_length(argument: str, given: object) -> Extent:
    why = "counts rows, and cumulative windows begin with time"
    return read_uncounted(argument, given, why, f"write {argument}='1 day' or a number")


def _read_start(given: object, size: Extent) -> Extent:
    start = read_extent("offset", given, positive=False, counted=False)
    if not start.value:
        return Extent(size.measure, start.value, start.text)
    if start.measure != size.measure:
        raise refuse(
            f"offset={start}",
            f"is {start.kind_in_words}, but range={size} is {size.kind_in_words}",
            "leave offset out, or give it in the same kind",
        )
    return start


def _check_divides(size: Extent, step: Extent) -> None:
    """Refuse a slide that does not divide the range."""
    named = f"slide={step} with range={size}"
    if (size.measure, step.measure) == ("months", "hours"):
        if HOURS["day"] % step.value:
            raise refuse(
                named,
                "does not divide every month, since months differ in days",
                "write slide='1 day', or hours that divide a day",
            )
    elif size.measure != step.measure:
        raise refuse(
            named,
            f"mixes {size.kind_in_words} with {step.kind_in_words}",
            "give both in the same kind; months may have slides of days",
        )
    elif size.value % step.value:
        raise refuse(
            named,
            "does not divide it",
            "write a slide that the range is a multiple of",
        )
