"""Sessions: rows that follow each other without a gap."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from fractions import Fraction
from typing import Any, ClassVar

from fanlight.engine.spec.errors import explain_wrong_calls, is_column, refuse
from fanlight.engine.spec.frames.base import (
    Frame,
    Guarantee,
    Input,
    Least,
    Most,
    read_sizes,
    set_fields,
    write_sizes,
)
from fanlight.engine.spec.units import (
    LONGEST,
    MICROSECONDS,
    MONTHS,
    Extent,
    Rows,
    is_iso,
    parse_parts,
    read_uncounted,
)
from fanlight.types import ColumnOrName, Duration

# A text that begins like this is a duration; any other is SQL.
_DURATION = re.compile(r"\s*(interval\s+)?[+-]?\d+(\.\d+)?\s*[a-z]", re.IGNORECASE)
_DAYS = {"day": 1, "week": 7}


@dataclass(frozen=True, init=False)
class Session(Frame):
    """A burst of rows of a key: each comes no later than a gap after those before it.

    Like ``F.session_window``, with all that frames can do besides and two limits of its own. Each
    row keeps its session open for the length of the gap; a row that comes at the very end of it
    still belongs to the session, as in Spark. A session's window goes from its first row to the
    latest time up to which one of its rows keeps it open. So its end is known without a further
    row, and a stream reports a session once the watermark has passed its end. A session that
    ``max_rows`` cuts ends at the time of the row that opens the next one.

    Parameters
    ----------
    gap
        How long a row keeps its session open. A duration, for a timestamp, or a whole number, in
        the units of a whole-number time. Or an expression for each row's own: a column's name, SQL
        such as ``"CASE WHEN app = 'tv' THEN '2 hours' ELSE '5 minutes' END"``, or a Column, of an
        interval or text for a timestamp, of a whole number for a number. A row whose own gap is
        null or not positive is in no session; :meth:`fanlight.FrameWindows.rejected` shows it.
        Days and longer units in a text are those of the session time zone's calendar, as in
        ``F.session_window``; ``"24 hours"`` or a ``timedelta`` has a fixed length.
    max_duration
        A session ends that long after its first row, at the latest; the next row at or after that
        time opens a new one. A duration, or a whole number for a whole-number time.
    max_rows
        A session ends before the row that would be too many, which opens a new one.
    min_rows, min_duration
        Sessions of fewer rows, or whose window is shorter, are left out, and get no number.

    Raises
    ------
    FanlightError
        If an argument is of the wrong kind or not positive, or ``max_duration`` is shorter than
        the gap. A gap of each row that does not parse, names an unknown column or is of the wrong
        type is refused by :func:`fanlight.over`.

    See Also
    --------
    pyspark.sql.functions.session_window : The same sessions, without the limits.

    Examples
    --------
    >>> import fanlight as fl
    >>> fl.Session("5 minutes", max_duration="8 hours")
    Session('5 minutes', max_duration='8 hours')
    >>> fl.Session("wait", min_rows=2)
    Session('wait', min_rows=2)
    >>> fl.Session("0 minutes")
    Traceback (most recent call last):
    ...
    fanlight.FanlightError: gap='0 minutes' must be positive; write for example \
gap='1 minute'

    """

    scheme_cause: ClassVar[str] = "gap"
    gap: Extent | None
    own_gap: Any  # SQL text or a Column, where rows have gaps of their own
    max_duration: Extent | None
    least: Least
    most: Most | None
    shown: str

    @explain_wrong_calls("fl.Session('5 minutes', max_duration='8 hours')")
    def __init__(
        self,
        gap: Duration | ColumnOrName,
        *,
        max_duration: Duration | None = None,
        max_rows: int | None = None,
        min_rows: int = 1,
        min_duration: Duration | None = None,
    ) -> None:
        length, own = _read_gap(gap)
        longest = None if max_duration is None else _read_fixed_length("max_duration", max_duration)
        if length and longest:
            _check_against_gap(length, longest)
        sizes = read_sizes(min_rows, min_duration, max_rows, None, None)
        set_fields(
            self,
            gap=length,
            own_gap=own,
            max_duration=longest,
            **sizes,
            shown=length.text if length else repr(gap) if isinstance(gap, str) else str(gap),
        )

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Each row's own gap, if it has one."""
        if self.gap is not None:
            return ()
        return (Input("gap", self.own_gap, "length of a row's gap"),)

    @property
    def scheme_ends(self) -> str:
        """Where gaps and the longest duration end a session, in words."""
        gap = f"{self.gap} after its last row"
        end = gap if self.gap else "at the latest time that a gap of its rows reaches"
        longest = self.max_duration
        return end + (f", but no later than {longest} after its first row" if longest else "")

    @property
    def scheme_guarantees(self) -> frozenset[Guarantee]:
        """Sessions are unique; each row with a gap is in one."""
        return frozenset({"unique", "drained", "non-overlapping", "partitions"})

    def __repr__(self) -> str:
        longest = f", max_duration={self.max_duration}" if self.max_duration else ""
        return f"Session({self.shown}{longest}{write_sizes(self)})"


def _read_gap(given: Any) -> tuple[Extent | None, Any]:
    """Read ``gap``: one length for all rows, or else SQL or a Column with each row's own."""
    if isinstance(given, str):
        if not given.strip():
            raise refuse("gap=''", "is empty", "write gap='5 minutes'")
        if is_iso(given):  # a fixed length, as in Java, whatever the calendar
            return _read_fixed_length("gap", given), None
        if not _DURATION.match(given):
            return None, given
        interval = _write_calendar_interval(given)
        return (None, interval) if interval else (_read_fixed_length("gap", given), None)
    if isinstance(given, timedelta):  # as hours: days would follow the calendar
        length = _read_fixed_length("gap", given)
        hours, rest = divmod(length.value, MICROSECONDS["hour"])
        return (length if rest else replace(length, text=f"'{hours} hours'")), None
    if isinstance(given, (int, float, Rows)):
        return _read_fixed_length("gap", given), None
    if not is_column(given):
        raise refuse(
            f"gap={given!r}",
            "is neither a length nor a column",
            "write gap='5 minutes', a number for a numeric time, or gap='wait' for a column",
        )
    return None, given


def _read_fixed_length(argument: str, given: Any) -> Extent:
    """Read a length of time; a number of rows is refused."""
    instead = f"write {argument}='5 minutes', or a number for a numeric time"
    return read_uncounted(argument, given, "counts rows, but sessions are cut by time", instead)


def _check_against_gap(gap: Extent, longest: Extent) -> None:
    if gap.measure != longest.measure:
        raise refuse(
            f"max_duration={longest}",
            f"does not go with gap={gap}: one is a duration, the other a number",
            "write durations for a timestamp, numbers for a numeric time",
        )
    if longest.value < gap.value:
        raise refuse(
            f"max_duration={longest}",
            f"is shorter than gap={gap}, so that no session would ever end by its gap",
            f"write max_duration={gap} or longer",
        )


def _write_calendar_interval(given: str) -> str | None:
    """SQL of an interval of days or months, by the calendar; None if its length is fixed."""
    units = {"month": Fraction(0), "day": Fraction(0), "microsecond": Fraction(0)}
    calendar = False
    for number, unit in parse_parts("gap", given):
        for name, sizes in (("month", MONTHS), ("day", _DAYS), ("microsecond", MICROSECONDS)):
            if unit in sizes:
                units[name] += number * sizes[unit]
                calendar = calendar or name != "microsecond"
                break
    months, days, micros = units.values()
    whole = all(value.denominator == 1 for value in units.values())
    if not calendar or (not months and not whole):
        return None  # of a fixed length
    about = 31 * 86_400_000_000 * months + 86_400_000_000 * days + micros
    if not whole or min(units.values()) < 0 or not 0 < about < LONGEST:
        raise refuse(
            f"gap={given!r}",
            "is not a positive whole number of months, days and microseconds",
            "write for example gap='1 month'",
        )
    seconds = f"{micros // 1_000_000}.{int(micros % 1_000_000):06}"
    return f"make_interval(0, {months}, 0, {days}, 0, 0, {seconds})"
