"""Least-squares lines over time."""

from __future__ import annotations

from fanlight.engine.algebra.aggregate import Call, aggregate_of_field
from fanlight.engine.algebra.lowering import slope_and_r2, slope_error
from fanlight.engine.algebra.lowering_values import line
from fanlight.engine.algebra.moments import Comoments
from fanlight.engine.algebra.registry import aggregate, sample
from fanlight.types import ColumnOrName

_MOMENTS = ("{p}.my", "{p}.sxx", "{p}.sxy", "{p}.syy")


@aggregate(sample("double", gives="struct<slope:double,intercept:double,r2:double>"))
def linear_fit(column: ColumnOrName) -> Call:
    """The least-squares line of a number over time: where a trend leads, and how well it fits.

    Parameters
    ----------
    column
        A number: a column's name or a Column.

    Returns
    -------
    Call
        A struct of doubles. ``slope`` is per second (per unit of a numeric time); ``intercept`` is
        the line's value at the window's start (its first row's time where rows are counted);
        ``r2`` is the share of the variance that the line explains.

    Raises
    ------
    FanlightError
        Also if the time is neither a timestamp nor a whole number.

    Notes
    -----
    Nulls are left out; null where fewer than two instants have a value. NaN and infinity make all
    three NaN. Partials are centred, so that times near 1.7e15 microseconds do not cancel.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.0D), (1, 2.5D), (2, 3.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(line=agg.linear_fit("price")).first().line
    Row(slope=0.5, intercept=2.0, r2=1.0)

    """
    lower = _lower_line()
    return Call(aggregate_of_field("linear_fit", Comoments(), lower, lower_values=line), (column,))


def _lower_line(more: str = "") -> str:
    slope, r2 = slope_and_r2(*_MOMENTS)
    at_start = "({p}.mx + cast({p}.t0 - {start} as double))"
    return (
        f"if({{p}}.sxx > 0D, named_struct('slope', {slope} * {{scale}}, "
        f"'intercept', {{p}}.my - {slope} * {at_start}, "
        f"'r2', {r2}{more}), null)"
    )


# The same with ``slope_error``, the standard error of the slope; for ``fit`` of levels.
LINE_WITH_ERROR = aggregate_of_field(
    "linear_fit",
    Comoments(),
    _lower_line(f", 'slope_error', {slope_error(*_MOMENTS, '{p}.n')} * {{scale}}"),
)
