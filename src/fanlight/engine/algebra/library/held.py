"""Values that hold until the next row: the area under them, their mean over time, a counter's rate.

Each keeps the readings of a window with their instants and goes through them in order once all are
there, so that the result is the same however the rows fell into pieces and micro-batches. Whole
numbers and decimals are added up exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from fanlight.engine.algebra.aggregate import (
    INTEGRAL,
    LONG_DIGITS,
    Aggregate,
    Call,
    Partials,
    base_type,
    digits_of,
)
from fanlight.engine.algebra.collections import Collect
from fanlight.engine.algebra.library.overlaps import TIME_WITH_VALUE, TOTAL
from fanlight.engine.algebra.lowering_values import (
    LowerValues,
    area_over_time,
    mean_over_time,
    rate_over_time,
)
from fanlight.engine.algebra.monoids import Area
from fanlight.engine.algebra.registry import aggregate, sample
from fanlight.types import ColumnOrName


def _reading(value: str) -> str:
    return f"if({{x}} is null, null, named_struct('t', {{time}}, 'o', {{order}}, 'v', {value}))"


@dataclass(frozen=True)
class Readings(Collect):
    """Every number with its instant and its place in the order of rows."""

    value: str = _reading("cast({x} as double)")
    whole_time: ClassVar[bool] = True
    at_instants: ClassVar[bool] = True


_SPAN, _SUM = "cast(a.t - a.since as double)", "cast(a.sum as double)"
_AREA = "cast({p} as double)"


class _Kinds(NamedTuple):
    """The types of a reading, of what is computed with it, and of the sum.

    Where the result may have more than 38 digits, Spark leaves out the last ones after the point.
    """

    value: str = "double"
    term: str = "double"
    sum: str = "double"


def _kinds_of(kind: str, digits: int) -> _Kinds:
    """How numbers of a type are added up: decimals of more ``digits`` as doubles."""
    if base_type(kind) in INTEGRAL:
        return _Kinds(kind, "decimal(19, 0)", "decimal(38, 0)")
    if base_type(kind) == "decimal" and digits_of(kind)[0] <= digits:
        return _Kinds(kind, kind, f"decimal(37, {digits_of(kind)[1]})")
    return _Kinds()


def _pass(kinds: _Kinds, added: str, finish: str) -> str:
    """SQL: one pass over the readings ``e`` in order; null without any.

    What it knows is ``a``: the instants of the first and of the reading before, the value of that,
    and the sum so far, of which each reading adds what it says of the one before.
    """
    begin = (
        "named_struct('since', cast(null as bigint), 't', cast(null as bigint), "
        f"'v', cast(null as {kinds.value}), 'sum', cast(0 as {kinds.sum}))"
    )
    step = (
        "named_struct('since', coalesce(a.since, e.t), 't', e.t, 'v', e.v, "
        f"'sum', cast(a.sum + cast({added} as {kinds.sum}) as {kinds.sum}))"
    )
    found = f"aggregate(sort_array({{p}}), {begin}, (a, e) -> {step}, a -> {finish})"
    return f"if(size({{p}}) > 0, {found}, null)"


def _make(
    name: str,
    added: Callable[[_Kinds], str],
    finish: str,
    lower_values: LowerValues,
    of_events: Aggregate | None = None,
    *,
    digits: int = LONG_DIGITS,
    **more: Any,
) -> Aggregate:
    """An aggregate of readings: what each adds to the sum, and the result.

    Decimals of more ``digits`` become doubles.
    """

    def recipe(types: tuple[str, ...]) -> Partials:
        kinds = _kinds_of(types[0], digits)
        value = "cast({x} as double)" if kinds == _Kinds() else "{x}"
        lower, readings = _pass(kinds, added(kinds), finish), Readings(_reading(value))
        return Partials({"p": readings}, lower, lower_values=lower_values, **more)

    return Aggregate(name, algebra="holistic", recipe=recipe, of_events=of_events)


def _area(kinds: _Kinds) -> str:
    """SQL: the area under the reading before, which is 0 if it holds for no time."""
    time = "double" if kinds.term == "double" else "decimal(19, 0)"
    times = f"cast(a.v as {kinds.term}) * cast(e.t - a.t as {time})"
    return f"if(e.t > a.t, {times}, cast(0 as {kinds.sum}))"


def _of_events(name: str, lower: str, more: Mapping[str, Area]) -> Aggregate:
    """An aggregate of events that last: a number holds from an event's start to its stop."""

    def recipe(types: tuple[str, ...]) -> Partials:
        kinds = _kinds_of(types[0], LONG_DIGITS)
        value = f"cast({{x}} as {kinds.term})"
        time = "double" if kinds.term == "double" else "decimal(19, 0)"
        area = f"if({{ends}} > {{begins}}, {value} * cast({{ends}} - {{begins}} as {time}), 0)"
        area = f"if({{x}} is null, null, cast({area} as {kinds.sum}))"
        return Partials({"p": Area(area), **more}, lower)

    return Aggregate(name, recipe=recipe)


_INTEGRAL = _make(
    "integral", _area, f"{_SUM} / {{scale}}", area_over_time,
    _of_events("integral", f"{_AREA} / {{scale}}", {}),
)  # fmt: skip
_MEAN = _make(
    "time_weighted_avg", _area, f"if(a.t > a.since, {_SUM} / {_SPAN}, double(a.v))",
    mean_over_time,
    _of_events(
        "time_weighted_avg", f"if({TOTAL} > 0D, {_AREA} / {TOTAL}, null)", TIME_WITH_VALUE
    ),
)  # fmt: skip


@aggregate(*(sample(kind, gives="double") for kind in ("double", "bigint", "decimal(12,2)")))
def integral(column: ColumnOrName) -> Call:
    """The area under a number over time: energy from power, litres from a flow, cost from a rate.

    Parameters
    ----------
    column
        A number: a column's name or a Column.

    Returns
    -------
    Call
        A double: the number times seconds (times units of a numeric time), exact up to its last
        digit for whole numbers and decimals of at most 18 digits. 0 for one reading, null for none.

    Raises
    ------
    FanlightError
        Also if the time is neither a timestamp nor a whole number.

    Notes
    -----
    A reading holds until the next one of the window, so the area is that from the window's first
    reading to its last. Of several at one instant the last in order holds. Rows where the column is
    null are left out. Every reading of a window is kept until its result is out. Of events that
    last it is the sum of each one's number times the seconds of it that lie in the window.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.0D), (3, 5.0D), (4, 1.0D) as t(at, watts)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(joules=agg.integral("watts")).first().joules
    11.0

    """
    return Call(_INTEGRAL, (column,))


@aggregate(*(sample(kind, gives="double") for kind in ("double", "bigint", "decimal(12,2)")))
def time_weighted_avg(column: ColumnOrName) -> Call:
    """The mean of a number over time: each reading counts as long as it holds.

    Parameters
    ----------
    column
        A number: a column's name or a Column.

    Returns
    -------
    Call
        A double, exact up to its last digit for whole numbers and decimals of at most 18 digits;
        null if there is no reading.

    Raises
    ------
    FanlightError
        Also if the time is neither a timestamp nor a whole number.

    Notes
    -----
    A reading holds until the next one of the window, so the mean is over the time from the window's
    first reading to its last; where all are at one instant, it is the last in order. Rows where the
    column is null are left out. Every reading of a window is kept until its result is out. Of
    events that last each counts by how much of it lies in the window; null if that is no time.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.0D), (3, 5.0D), (4, 1.0D) as t(at, watts)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(watts=agg.time_weighted_avg("watts")).first().watts
    2.75

    """
    return Call(_MEAN, (column,))


_FALLS = (
    "rate: the counter falls below 0, so it has not begun anew at 0; "
    "ask for linear_fit of a number that rises and falls"
)


def _rise(kinds: _Kinds) -> str:
    """What a counter has counted since the reading before; all of it if it has begun anew."""
    goes_on = "e.v >= a.v or isnan(a.v)" if kinds.term == "double" else "e.v >= a.v"
    rise = f"cast(e.v as {kinds.term}) - cast(a.v as {kinds.term})"
    return (
        f"case when a.v is null then cast(0 as {kinds.sum}) when {goes_on} then {rise} "
        f"when e.v < 0 then cast(raise_error({{told}}) as {kinds.sum}) "
        f"else cast(e.v as {kinds.sum}) end"
    )


_RATE = _make(
    "rate", _rise, f"if(a.t > a.since, {_SUM} / ({_SPAN} / {{scale}}), null)", rate_over_time,
    digits=36, strings={"told": _FALLS},
)  # fmt: skip


@aggregate(sample("float", gives="double"))
def rate(column: ColumnOrName) -> Call:
    """How fast a counter rises, by the second, also where it began anew within the window.

    Parameters
    ----------
    column
        A number that only rises, until it begins anew at 0: a column's name or a Column.

    Returns
    -------
    Call
        A double: the increase from the window's first reading to its last, divided by the seconds
        between them (of a numeric time: by the units), exact up to its last digit for whole numbers
        and decimals of at most 36 digits. Null where all readings are at one instant.

    Raises
    ------
    FanlightError
        Also if the time is neither a timestamp nor a whole number. Where the counter falls below 0,
        Spark raises an error as it runs.

    Notes
    -----
    Where the counter falls, it has begun anew, and what it shows then is counted from 0. Rows where
    the column is null are left out. Readings at one instant are taken in order. Every reading of a
    window is kept until its result is out.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 40), (2, 50), (4, 6) as t(at, requests)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(rate=agg.rate("requests")).first().rate
    4.0

    """
    return Call(_RATE, (column,))
