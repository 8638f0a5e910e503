"""SQL for units of a calendar: the number of the one that a time is in, and when one begins.

Local time is in microseconds of the clock, as if the zone were UTC: ``from_utc_timestamp`` and
``to_utc_timestamp`` turn an instant into it and back, whatever the session's time zone. Where
clocks are set back, a local time stands for the first of two instants; where they are set forth,
one that is left out stands for as much later.
"""

from __future__ import annotations

from fanlight.engine.algebra.sql_text import literal
from fanlight.engine.plan.coordinate import CalendarUnit
from fanlight.engine.spec.units import MICROSECONDS

YEAR_1, YEAR_9999 = -62_135_596_800_000_000, 253_370_764_800_000_000  # as far as Spark's dates go
_HOUR, _DAY = MICROSECONDS["hour"], MICROSECONDS["day"]


def number_by_clock(unit: CalendarUnit, column: str, micros: str) -> str:
    """SQL: the number of a unit by what the clock shows; where clocks change it may be one off.

    ``micros`` is SQL for the microseconds of the time column.
    """
    local = micros
    if unit.zone is not None:
        local = f"unix_micros(from_utc_timestamp({column}, {literal(unit.zone)}))"
    local = f"({local} - {unit.shift}L)"
    if not unit.in_months:
        return _divide_down(local, unit.count * _HOUR)
    months = month_of(_divide_down(local, _DAY))
    return _divide_down(months, unit.count) if unit.count > 1 else months


def beginning(unit: CalendarUnit, number: str) -> str:
    """SQL: when a unit begins, in microseconds; without a zone, of local time."""
    if unit.in_months:
        local = f"{first_day(f'({number}) * {unit.count}')} * {_DAY}L"
    else:
        local = f"({number}) * {unit.count * _HOUR}L"
    if unit.shift:
        local = f"{local} + {unit.shift}L"
    if unit.zone is None:
        return f"({local})"
    return f"unix_micros(to_utc_timestamp(timestamp_micros({local}), {literal(unit.zone)}))"


def month_of(day: str) -> str:
    """SQL: the month that a day is in; both are counted from the beginning of 1970."""
    date = f"date_from_unix_date(cast({day} as int))"
    return f"cast((year({date}) - 1970) * 12 + month({date}) - 1 as bigint)"


def first_day(month: str) -> str:
    """SQL: the first day of a month; both are counted from the beginning of 1970."""
    date = f"add_months(date'1970-01-01', cast({month} as int))"
    return f"cast(unix_date({date}) as bigint)"


def _divide_down(number: str, by: int) -> str:
    return f"(({number} - pmod({number}, {by}L)) div {by}L)"
