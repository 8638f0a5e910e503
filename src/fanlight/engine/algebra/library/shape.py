"""The shape of a distribution: how skewed it is, and how heavy its tails are."""

from __future__ import annotations

from fanlight.engine.algebra.aggregate import Call, aggregate_of_field
from fanlight.engine.algebra.lowering_values import shape
from fanlight.engine.algebra.moments import HigherMoments
from fanlight.engine.algebra.registry import aggregate, sample
from fanlight.types import ColumnOrName

_SHAPE_MOMENTS = HigherMoments("cast({x} as double)")
_SKEWNESS = aggregate_of_field(
    "skewness", _SHAPE_MOMENTS,
    "if({p}.m2 = 0D, null, sqrt({p}.n) * {p}.m3 / ({p}.m2 * sqrt({p}.m2)))",
    lower_values=shape(fourth=False), native="skewness({x})",
)  # fmt: skip
_KURTOSIS = aggregate_of_field(
    "kurtosis", _SHAPE_MOMENTS, "if({p}.m2 = 0D, null, {p}.n * {p}.m4 / ({p}.m2 * {p}.m2) - 3D)",
    lower_values=shape(fourth=True), native="kurtosis({x})",
)  # fmt: skip


@aggregate(sample("double", gives="double"), alike="columns")
def skewness(column: ColumnOrName) -> Call:
    """How far a number's distribution leans: above 0 where its upper tail is the longer one.

    Parameters
    ----------
    column
        A number: a column's name or a Column.

    Returns
    -------
    Call
        A double: the third standardized moment of all values of the window.

    Notes
    -----
    Nulls are left out; null where all values that are left are the same. NaN and infinity make it
    NaN. Partials are centred (Chan, Golub, LeVeque), so that values far from zero do not cancel.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 1.0D), (1, 2.0D), (2, 6.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> round(windows.agg(leans=agg.skewness("price")).first().leans, 6)
    0.59517

    """
    return Call(_SKEWNESS, (column,))


@aggregate(sample("double", gives="double"), alike="columns")
def kurtosis(column: ColumnOrName) -> Call:
    """How heavy the tails of a number's distribution are: 0 for a normal one, above it for heavier.

    Parameters
    ----------
    column
        A number: a column's name or a Column.

    Returns
    -------
    Call
        A double: the fourth standardized moment of all values of the window, less 3.

    Notes
    -----
    Nulls are left out; null where all values that are left are the same. NaN and infinity make it
    NaN. Partials are centred (Chan, Golub, LeVeque), so that values far from zero do not cancel.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 1.0D), (1, 2.0D), (2, 6.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> round(windows.agg(tails=agg.kurtosis("price")).first().tails, 6)
    -1.5

    """
    return Call(_KURTOSIS, (column,))
