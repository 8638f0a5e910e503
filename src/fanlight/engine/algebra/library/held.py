"""Values that hold until the next row: the area under them, their mean over time, a counter's rate.

Each keeps the readings of a window with their instants and goes through them in order once all are
there, so that the result is the same however the rows fell into pieces and micro-batches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from fanlight.engine.algebra.aggregate import Aggregate, Call, Partials, aggregate_of_field
from fanlight.engine.algebra.collections import Collect
from fanlight.engine.algebra.library.overlaps import TIME_WITH_VALUE, TOTAL
from fanlight.engine.algebra.lowering_values import area_over_time, mean_over_time, rate_over_time
from fanlight.engine.algebra.monoids import Area
from fanlight.engine.algebra.registry import aggregate, sample


@dataclass(frozen=True)
class Readings(Collect):
    """Every number with its instant and its place in the order of rows."""

    value: str = (
        "if({x} is null, null, named_struct('t', {time}, 'o', {order}, 'v', cast({x} as double)))"
    )
    whole_time: ClassVar[bool] = True
    at_instants: ClassVar[bool] = True


# What one pass over readings in order knows: the instants of the first and of the reading before,
# the value of that, and the sum so far, of which each reading adds what it says of the one before.
_BEGIN = (
    "named_struct('since', cast(null as bigint), 't', cast(null as bigint), "
    "'v', cast(null as double), 'sum', 0D)"
)
_SPAN = "cast(a.t - a.since as double)"


def _pass(added: str, finish: str) -> str:
    """SQL: one pass over the readings ``e`` in order; null without any."""
    step = (
        f"named_struct('since', coalesce(a.since, e.t), 't', e.t, 'v', e.v, 'sum', a.sum + {added})"
    )
    found = f"aggregate(sort_array({{p}}), {_BEGIN}, (a, e) -> {step}, a -> {finish})"
    return f"if(size({{p}}) > 0, {found}, null)"


# A value that does not hold for any time adds nothing, not even if it is infinite.
_AREA = "if(e.t > a.t, a.v * cast(e.t - a.t as double), 0D)"


def _make(name: str, lower: str, of_events: Aggregate | None = None, **more: Any) -> Aggregate:
    partials = Partials({"p": Readings()}, lower, **more)
    return Aggregate(name, algebra="holistic", recipe=lambda _: partials, of_events=of_events)


# Of an event that lasts the number holds from its start to its stop, as far as in the window.
_PART = Area(
    "if({x} is null, null, if({ends} > {begins}, "
    "cast({x} as double) * cast({ends} - {begins} as double), 0D))"
)
_INTEGRAL = _make(
    "integral", _pass(_AREA, "a.sum / {scale}"),
    aggregate_of_field("integral", _PART, "{p} / {scale}"), lower_values=area_over_time,
)  # fmt: skip
_MEAN = _make(
    "time_weighted_avg", _pass(_AREA, f"if(a.t > a.since, a.sum / {_SPAN}, a.v)"),
    Aggregate(
        "time_weighted_avg", {"p": _PART, **TIME_WITH_VALUE},
        f"if({TOTAL} > 0D, {{p}} / {TOTAL}, null)",
    ),
    lower_values=mean_over_time,
)  # fmt: skip


@aggregate(sample("double", gives="double"))
def integral(column: Any) -> Call:
    """The area under a number over time: energy from power, litres from a flow, cost from a rate.

    Parameters
    ----------
    column
        A number: a column's name or a Column.

    Returns
    -------
    Call
        A double: the number times seconds (times units of a numeric time). 0 for one reading, null
        for none.

    Raises
    ------
    FanlightError
        By ``agg`` of the windows: if there is no such column, it is not a number, or the time is
        neither a timestamp nor a whole number.

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


@aggregate(sample("double", gives="double"))
def time_weighted_avg(column: Any) -> Call:
    """The mean of a number over time: each reading counts as long as it holds.

    Parameters
    ----------
    column
        A number: a column's name or a Column.

    Returns
    -------
    Call
        A double; null if there is no reading.

    Raises
    ------
    FanlightError
        By ``agg`` of the windows: if there is no such column, it is not a number, or the time is
        neither a timestamp nor a whole number.

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
_RISE = (
    "case when a.v is null then 0D when e.v >= a.v or isnan(a.v) then e.v - a.v "
    "when e.v < 0D then cast(raise_error({told}) as double) else e.v end"
)
_RATE = _make(
    "rate", _pass(_RISE, f"if(a.t > a.since, a.sum / ({_SPAN} / {{scale}}), null)"),
    strings={"told": _FALLS}, lower_values=rate_over_time,
)  # fmt: skip


@aggregate(sample("float", gives="double"))
def rate(column: Any) -> Call:
    """How fast a counter rises, by the second, also where it began anew within the window.

    Parameters
    ----------
    column
        A number that only rises, until it begins anew at 0: a column's name or a Column.

    Returns
    -------
    Call
        A double: what was counted from the window's first reading to its last, a second (a unit of
        a numeric time). Null where all readings are at one instant.

    Raises
    ------
    FanlightError
        By ``agg`` of the windows: if there is no such column, it is not a number, or the time is
        neither a timestamp nor a whole number. Where the counter falls below 0, Spark raises an
        error as it runs.

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
