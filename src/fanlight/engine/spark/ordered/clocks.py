"""The clocks of operators, as Spark tells them: when the units of a calendar begin."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from fanlight.engine.operators.clock import MICROSECONDS, Clock
from fanlight.engine.plan.coordinate import CalendarUnit, Coordinate
from fanlight.engine.spark.calendars import beginning
from fanlight.engine.spec.units import HOURS
from fanlight.engine.spec.units import MICROSECONDS as LENGTHS

_FROM, _TO = 1969, 2200  # the years that are asked for; a watermark is not before 1970
_known: WeakKeyDictionary[Any, dict[CalendarUnit, Clock]] = WeakKeyDictionary()


def clock_of(spark: Any, of: Coordinate) -> Clock:
    """The clock by which the watermark is compared with coordinates of a stream."""
    if of.calendar is None:
        return MICROSECONDS
    known = _known.setdefault(spark, {})
    if of.calendar not in known:
        known[of.calendar] = _ask(spark, of.calendar)
    return known[of.calendar]


def _ask(spark: Any, unit: CalendarUnit) -> Clock:
    """Spark says it in one row, without a job."""
    runs = _ask_months(unit) if unit.in_months else _ask_hours(unit)
    until = f"{beginning(unit, str(_number_in(unit, _TO)))} as until"
    (row,) = spark.sql(f"select {runs} as runs, {until} from values (1)").collect()
    step = 0 if unit.in_months else unit.count * LENGTHS["hour"]
    firsts, bases = zip(*((run.n, run.base) for run in row.runs), strict=True)
    return Clock(firsts, bases, step, row.until)


def _number_in(unit: CalendarUnit, year: int) -> int:
    """The number of a unit with which, or soon after which, a year begins."""
    units = (year - 1970) * 12 if unit.in_months else (year - 1970) * 1461 * 6
    return units // unit.count


def _ask_months(unit: CalendarUnit) -> str:
    """SQL: each unit is a run, since each has a length of its own."""
    first, last = (_number_in(unit, year) for year in (_FROM, _TO))
    each = f"named_struct('n', n, 'base', {beginning(unit, 'n')})"
    return f"transform(sequence({first}L, {last}L), n -> {each})"


def _ask_hours(unit: CalendarUnit) -> str:
    """SQL: runs begin where the clock is set; in which days that is, is asked first.

    No clock has been set twice in less than a week (see ``calendars.py``).
    """
    first, last = (_number_in(unit, year) for year in (_FROM, _TO))
    a_day = max(1, HOURS["day"] // unit.count)

    def ahead(n: str) -> str:
        return f"({beginning(unit, n)} - ({n}) * {unit.count * LENGTHS['hour']}L)"

    def changed(numbers: str, step: int) -> str:
        return f"filter({numbers}, n -> {ahead('n')} <> {ahead(f'n - {step}L')})"

    wide = 5 * a_day
    found = changed(f"sequence({first + wide}L, {last}L, {wide}L)", wide)
    for step in sorted({a_day, 1}, reverse=True):
        within = f"flatten(transform({found}, d -> sequence(d - {wide - step}L, d, {step}L)))"
        found, wide = changed(within, step), step
    numbers = f"concat(array({first}L), {found})"
    return f"transform({numbers}, n -> named_struct('n', n, 'base', {ahead('n')}))"
