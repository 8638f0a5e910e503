"""SQL for units of a calendar: the number of the one that a time is in, and when one begins.

Local time is in microseconds of the clock, as if the zone were UTC: ``from_utc_timestamp`` and
``to_utc_timestamp`` turn an instant into it and back, whatever the session's time zone. Where
clocks are set back, a local time stands for the first of two instants; where they are set forth,
one that is left out stands for the instant at which that is. Spark has it as much later, so units
that begin within what is left out are looked up.

To ask for the clock of a zone costs more than all else that is done with a row. So Spark is asked
once when units begin, or which offset from UTC the zone has, and rows look that up. Times that are
near to a change of the clock, or far from today, are asked about one by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from pyspark.errors import PySparkException

from fanlight.engine.algebra.sql_text import literal
from fanlight.engine.plan.clock_changes import LOOK, SINCE, UNTIL, Change, ZoneClock, changes_of
from fanlight.engine.plan.coordinate import CalendarUnit
from fanlight.engine.spark.quiet import quietly
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.units import MICROSECONDS

YEAR_1, YEAR_9999 = -62_135_596_800_000_000, 253_370_764_800_000_000  # as far as Spark's dates go
_HOUR, _DAY = MICROSECONDS["hour"], MICROSECONDS["day"]


_MINUTE = MICROSECONDS["minute"]
_MONTHS = 12 * 80  # that are known, from 1970
# Offsets are known for stretches of 2**40 microseconds, 12.7 days, from 1970 to 2041. None of the
# world's clocks has been set twice in less than a week since 1970, and none by more than a day.
_BITS, _STRETCHES, _NEAR = 40, 2048, 3 * _DAY
_UNSTEADY = 9999  # minutes: instead of an offset where the clock is set, or near to that
_known: WeakKeyDictionary[Any, dict[CalendarUnit, str]] = WeakKeyDictionary()
_changes: WeakKeyDictionary[Any, dict[str, tuple[Change, ...]]] = WeakKeyDictionary()


def ask_spark(spark: Any, unit: CalendarUnit) -> CalendarUnit:
    """The unit, which has a zone, with what rows look up of it; Spark says it without a job."""
    known = _known.setdefault(spark, {})
    if unit not in known:
        every = _ask_begins(unit) if unit.in_months else _ask_offsets(literal(unit.zone or ""))
        known[unit] = ",".join(map(str, _ask(spark, every, unit.zone)))
    return replace(unit, known=known[unit])


def _ask_begins(unit: CalendarUnit) -> str:
    """SQL: the microseconds at which units begin."""
    return f"transform(sequence(0L, {_MONTHS // unit.count}L), n -> {beginning(unit, 'n')})"


def _ask_offsets(zone: str) -> str:
    """SQL: the minutes by which a zone is ahead of UTC, of each stretch."""
    at = f"(s * {1 << _BITS}L + d)"
    offset = f"unix_micros(from_utc_timestamp(timestamp_micros({at}), {zone})) - {at}"
    days = f"sequence({-_NEAR - _DAY}L, {(1 << _BITS) + _NEAR + _DAY}L, {_NEAR}L)"
    steady = f"array_min(o) = array_max(o) and o[0] % {_MINUTE}L = 0"
    minutes = f"if({steady}, o[0] div {_MINUTE}L, {_UNSTEADY}L)"
    each = f"transform(array(transform({days}, d -> {offset})), o -> {minutes})[0]"
    return f"transform(sequence(0L, {_STRETCHES - 1}L), s -> {each})"


def ask_changes(spark: Any, zone: str) -> tuple[Change, ...]:
    """Each time at which Spark sets the clock of a zone, from 1900 up to 2200; without a job.

    What Python knows of it is taken if Spark says the same at each change and between any two. The
    zones of Java may be of another year: then they are searched, which takes longer.
    """
    known = _changes.setdefault(spark, {})
    if zone not in known:
        guess = changes_of(zone)
        ends = [one.at for one in guess[1:]] + [UNTIL]
        told = [(one.at - 1, one.before) for one in guess] + [(one.at, one.after) for one in guess]
        told += [((one.at + end) // 2, one.after) for one, end in zip(guess, ends, strict=False)]
        listed = _array(",".join(str(at) for at, _ in (*told, (SINCE, 0), (UNTIL, 0))), "bigint")
        shown = _ask(spark, f"transform({listed}, s -> {_ahead('s', zone)})", zone)
        if shown[:-2] == [ahead for _, ahead in told] and (told or shown[0] == shown[1]):
            known[zone] = guess
        else:
            known[zone] = tuple(Change(*row) for row in _ask(spark, _search(zone), zone))
    return known[zone]


def ask_clock(spark: Any, zone: str | None) -> ZoneClock:
    """The clock of a zone, as Spark knows it; without a zone, times are local already."""
    return ZoneClock.of(zone, () if zone is None else ask_changes(spark, zone))


@quietly()
def _ask(spark: Any, text: str, zone: str | None) -> Any:
    """What Spark says of a zone in SQL without rows, without a job."""
    try:
        (row,) = spark.sql(f"select {text} as said from values (1)").collect()
    except PySparkException as error:
        if "INVALID_TIMEZONE" not in str(error):
            raise
        raise refuse(
            f"zone={zone!r}",
            "is a time zone that Python knows, and Spark's Java does not",
            "write zone='+08:00', as far ahead of UTC as it is, or a place that has the same time, "
            "as zone='Asia/Taipei'",
        ) from error
    return row.said


def _ahead(at: str, zone: str) -> str:
    """SQL: by how much a zone is ahead of UTC at an instant, both in seconds."""
    shown = f"from_utc_timestamp(timestamp_seconds({at}), {literal(zone)})"
    return f"(unix_seconds({shown}) - ({at}))"


def _search(zone: str) -> str:
    """SQL: each change of the clock of a zone: it lies between two looks, and is halved down."""
    looks = f"sequence({SINCE}L, {UNTIL}L, {LOOK}L)"
    changed = f"filter({looks}, s -> {_ahead('s', zone)} <> {_ahead(f's + {LOOK}L', zone)})"
    further = f"at + shiftleft(1L, p) < s + {LOOK}L and "
    further += f"{_ahead('at + shiftleft(1L, p)', zone)} = {_ahead('s', zone)}"
    powers = f"sequence({LOOK.bit_length() - 1}, 0, -1)"
    last = f"aggregate({powers}, s, (at, p) -> if({further}, at + shiftleft(1L, p), at))"
    before, after = _ahead("s", zone), _ahead(f"s + {LOOK}L", zone)
    return f"transform({changed}, s -> struct({last} + 1L, {before}, {after}))"


def number_of(unit: CalendarUnit, column: str, micros: str) -> str:
    """SQL: the number of the unit that a time is in; ``micros`` are its microseconds."""
    if unit.zone is None:
        return _number_by_clock(unit, micros)
    # A clock that is set back shows a time again: so units that have begun by then are counted.
    clock = f"unix_micros(from_utc_timestamp({column}, {literal(unit.zone)}))"
    guess = _number_by_clock(unit, clock)
    begun = (
        f"if({micros} >= {beginning(unit, f'{guess} + {n}L')}, 1L, 0L)"
        for n in range(1, unit.repeated + 1)
    )
    checked = f"({guess} + {' + '.join(begun)})"
    if not unit.known:
        return checked
    if unit.in_months:
        # By the length of a unit on average it may be one off.
        shift = unit.shift + (unit.day - 1) * _DAY
        about = f"cast(({micros} - {shift}L) div {unit.microseconds}L as int)"
        begins, after = _look_up(unit, "bigint", about), _look_up(unit, "bigint", f"{about} + 1")
        off = f"if({micros} < {begins}, -1L, if({micros} >= {after}, 1L, 0L))"
        return f"if({about} > 0 and {after} is not null, {about} + {off}, {checked})"
    minutes = _look_up(unit, "int", f"cast(shiftright({micros}, {_BITS}) as int)")
    steady = _number_by_clock(unit, f"({micros} + {minutes} * {_MINUTE}L)")
    return f"if({minutes} < {_UNSTEADY}, {steady}, {checked})"


def _look_up(unit: CalendarUnit, kind: str, place: str) -> str:
    """SQL: the fact known at a place. Null if there is none."""
    return f"get({_array(unit.known, kind)}, {place})"


def look_up_by(keys: Iterable[int], values: Iterable[int], key: str) -> str:
    """SQL: the value of a key, or null where the key is not listed."""
    listed, found = (_array(",".join(map(str, numbers)), "bigint") for numbers in (keys, values))
    return f"get({found}, cast(array_position({listed}, {key}) as int) - 1)"


def _array(numbers: str, kind: str) -> str:
    """SQL: an array of numbers, written with commas, which Spark reads faster than many."""
    return f"cast(split({literal(numbers)}, ',') as array<{kind}>)"


def _number_by_clock(unit: CalendarUnit, local: str) -> str:
    """SQL: the number of a unit by what the clock shows; where clocks change it may be one off."""
    local = f"({local} - {unit.shift}L)" if unit.shift else local
    least = YEAR_1 - abs(unit.shift) - _DAY
    if not unit.in_months:
        return _divide_down(local, unit.count * _HOUR, least)
    months = month_of(_divide_down(local, _DAY, least), unit.day)
    return _divide_down(months, unit.count, -12 * 1970) if unit.count > 1 else months


def beginning(unit: CalendarUnit, number: str) -> str:
    """SQL: when a unit begins, in microseconds; without a zone, of local time."""
    if unit.in_months:
        local = f"{first_day(f'({number}) * {unit.count}', unit.day)} * {_DAY}L"
    else:
        local = f"({number}) * {unit.count * _HOUR}L"
    if unit.shift:
        local = f"{local} + {unit.shift}L"
    if unit.zone is None:
        return f"({local})"
    begins = f"unix_micros(to_utc_timestamp(timestamp_micros({local}), {literal(unit.zone)}))"
    if not unit.late:
        return begins
    numbers, instants = zip(*unit.late, strict=True)
    return f"coalesce({look_up_by(numbers, instants, f'({number})')}, {begins})"


def month_of(day: str, begins: int = 1) -> str:
    """SQL: the month that a day is in; both are counted from the beginning of 1970.

    Months begin on one of their days by number, or on their last if they have fewer.
    """
    date = f"date_from_unix_date(cast({day} as int))"
    month = f"(year({date}) - 1970) * 12 + month({date}) - 1"
    if begins > 1:
        month += f" - if(dayofmonth({date}) < {begins} and {date} < last_day({date}), 1, 0)"
    return f"cast({month} as bigint)"


def first_day(month: str, begins: int = 1) -> str:
    """SQL: the day on which a month begins; both are counted from the beginning of 1970."""
    date = f"add_months(date'1970-01-01', cast({month} as int))"
    if begins > 1:
        date = f"least(date_add({date}, {begins - 1}), last_day({date}))"
    return f"cast(unix_date({date}) as bigint)"


def later_day(day: str, months: str) -> str:
    """SQL: so many months after a day, or the last day of that month; counted from 1970."""
    date = f"add_months(date_from_unix_date(cast({day} as int)), {months})"
    return f"cast(unix_date({date}) as bigint)"


def _divide_down(number: str, by: int, least: int) -> str:
    """SQL: a division that rounds down, of a number that is ``least`` or more."""
    shift = -(least // by)
    return f"(({number} + {shift * by}L) div {by}L - {shift}L)"
