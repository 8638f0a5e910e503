"""SQL that converts a time column to whole numbers and back, without a time zone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from math import isnan
from typing import Any

from fanlight.engine.plan.clock_changes import find_zone
from fanlight.engine.plan.coordinate import EXACT_DOUBLE, Coordinate
from fanlight.engine.spark.calendars import YEAR_1, YEAR_9999, beginning, look_up_by, number_of
from fanlight.engine.spec.errors import refuse

EPOCH_NTZ = "timestamp_ntz'1970-01-01 00:00:00'"
_LIMIT = 2**62


def coordinate(of: Coordinate, column: str) -> str:
    """SQL: the whole-number coordinate of a value of the time column."""
    if of.kind == "double" and of.counted:
        return f"cast({column} as double)"  # it is read for the order of rows alone
    if of.is_unit_number:
        # A quotient may be off in its last bit: so the guess is checked against the unit's
        # boundaries.
        value = exact(of, column)
        if of.calendar is not None:
            return number_of(of.calendar, column, value)
        guess = f"cast(floor({_ratio(of, column)}) as bigint)"
        below, above = _beginning(of, "p.c"), _beginning(of, "p.c + 1L")
        checked = f"if(p.x < {below}, p.c - 1L, if(p.x >= {above}, p.c + 1L, p.c))"
        pair = f"struct({guess} as c, {value} as x)"
        if not of.halves:
            return f"transform(array({pair}), p -> {checked})[0]"
        sure = f"transform(array({pair}), p -> struct({checked} as c, p.x as x))"
        return f"transform({sure}, p -> p.c * 2L + if(p.x = {below}, 0L, 1L))[0]"
    return exact(of, column)


def microseconds(interval: str) -> str:
    """SQL: the microseconds of an interval of days to seconds.

    Whole seconds first, then the rest: a decimal of seconds, by which Spark gives both at once, is
    an object for each row.
    """
    seconds = f"cast(cast({interval} as interval second) as bigint)"
    rest = f"cast(({interval} - cast({seconds} as interval second)) * 1000000 as interval second)"
    return f"({seconds} * 1000000L + cast({rest} as bigint))"


def microseconds_since_epoch(local: str) -> str:
    """SQL: a timestamp without a time zone as microseconds since 1970.

    A cast to timestamp, as ``unix_micros`` does it, would go through the session's time zone.
    """
    return microseconds(f"({local} - {EPOCH_NTZ})")


def exact(of: Coordinate, column: str) -> str:
    """SQL: the value of the time column as a number that tells all times apart."""
    if of.kind == "timestamp":
        return f"unix_micros({column})"
    if of.kind == "timestamp_ntz":
        return microseconds_since_epoch(column)
    if of.kind == "double":
        return f"cast({column} as double)"
    return f"cast({column} as bigint)"


def _ratio(of: Coordinate, column: str) -> str:
    """(x - origin) / unit, in doubles."""
    shift, scale = of.origin, _whole_unit(of)
    moved = (
        f"(cast({column} as double) - {float(shift)!r}D)" if shift else f"cast({column} as double)"
    )
    return f"({moved} * {scale.denominator}D / {scale.numerator}D)"


def boundary(of: Coordinate, number: str) -> str:
    """SQL: where a unit begins, as :func:`exact` has it; the rest of a unit, where that begins.

    Of doubles it is the one nearest to ``origin + number * unit``; only a division rounds.
    """
    return _beginning(of, f"shiftright({number}, 1)" if of.halves else number)


def _whole_unit(of: Coordinate) -> Fraction:
    return of.unit * 2 if of.halves else of.unit


def _beginning(of: Coordinate, number: str) -> str:
    """SQL: where the unit with this number begins, of both of its halves."""
    if of.calendar is not None:
        return beginning(of.calendar, number)
    unit = _whole_unit(of)
    common = Fraction(unit.denominator * of.origin.denominator)
    per_unit, shift = unit * common, of.origin * common
    moved = f" + {int(shift)}L" if shift else ""
    return f"(cast(({number}) * {int(per_unit)}L{moved} as double) / {int(common)}D)"


def restore_sql(of: Coordinate, number: str) -> str:
    """SQL: a coordinate as a value of the time column's type; a row number is unchanged."""
    if of.counted:
        return f"({number})"
    if of.calendar is not None:
        number = boundary(of, number)
    if of.kind == "timestamp":
        return f"timestamp_micros({number})"
    if of.kind == "timestamp_ntz":
        return f"({EPOCH_NTZ} + ({number}) * interval '0.000001' second)"
    if of.is_unit_number:
        return boundary(of, number)
    return f"({number})"


def restore_exact(of: Coordinate, number: str) -> str:
    """SQL: a number that :func:`exact` gave, as a value of the time column's type."""
    return number if of.kind == "double" else restore_sql(replace(of, calendar=None), number)


def rejections(of: Coordinate, name: str, column: str) -> list[tuple[str, str]]:
    """(SQL condition, reason) pairs: which rows cannot be placed, null times first."""
    rejected = [(f"{column} is null", f"{name} is null")]
    if of.kind == "double":
        rejected.append((f"isnan({column})", f"{name} is NaN"))
    if of.calendar is not None:
        number = exact(of, column)
        far = f"{number} >= {YEAR_9999}L or {number} < {YEAR_1}L"
        rejected.append((far, f"{name} is out of range"))
    elif of.is_unit_number:
        limit = float(EXACT_DOUBLE * of.unit / 2)
        far = f"abs(cast({column} as double)) >= {limit!r}D"
        rejected.append((far, f"{name} is too large for windows this small"))
    if of.kind in ("integer", "timestamp") and of.calendar is None:
        number = coordinate(of, column)
        far = f"{number} >= {_LIMIT}L or {number} <= -{_LIMIT}L"
        rejected.append((far, f"{name} is out of range"))
    return rejected


def unit_before(of: Coordinate, number: str) -> str:
    """SQL: the unit that ends where another one begins; units without length are left out."""
    before = f"{number} - 1L"
    if of.calendar is None or not of.calendar.together:
        return before
    firsts, lasts = zip(*of.calendar.together, strict=True)
    earlier = look_up_by(lasts, [first - 1 for first in firsts], number)
    return f"coalesce({earlier}, {before})"


def as_instant(coordinate: Coordinate, number: str) -> str:
    """SQL: a coordinate of a stream in microseconds, as the watermark is."""
    return boundary(coordinate, number) if coordinate.calendar is not None else number


def _midnight(of: Coordinate, day: date) -> datetime:
    """When a date begins: in the zone of the calendar, if one places windows."""
    midnight = datetime(day.year, day.month, day.day)  # noqa: DTZ001 - local
    if of.calendar is None or of.calendar.zone is None:
        return midnight
    return midnight.replace(tzinfo=find_zone(of.calendar.zone))


def read_instant(of: Coordinate, given: Any, asked: str, instead: str) -> tuple[Any, str]:
    """A value that can be compared with others of its kind, and its SQL.

    Errors say what was ``asked``, and what to write ``instead``.
    """
    if not of.is_timestamp:
        if isinstance(given, bool) or not isinstance(given, (int, float)) or isnan(given):
            why = "has what is not a number, but the time is one"
            raise refuse(asked, why, "write numbers, such as 0 or 0.5")
        return given, f"{given}L" if isinstance(given, int) else f"{given!r}D"
    if isinstance(given, str):
        try:
            given = datetime.fromisoformat(given)
        except ValueError as error:
            raise refuse(asked, f"has {given!r}, which is not a time", instead) from error
    if isinstance(given, date) and not isinstance(given, datetime):
        given = _midnight(of, given)
    if not isinstance(given, datetime):
        raise refuse(asked, f"has a {type(given).__name__}, which is not a time", instead)
    local = of.kind == "timestamp_ntz"
    if (given.tzinfo is None) != local:
        raise refuse(
            asked,
            "has a time zone, but the times have none" if local else "has no time zone",
            "leave its time zone out" if local else instead,
        )
    epoch = datetime(1970, 1, 1, tzinfo=None if local else UTC)
    micros = (given - epoch) // timedelta(microseconds=1)
    return micros, restore_sql(Coordinate(of.kind), f"{micros}L")
