"""Variances and standard deviations."""

from __future__ import annotations

from fanlight.engine.algebra import distinct_numbers
from fanlight.engine.algebra.aggregate import Aggregate, Call, aggregate_of_field
from fanlight.engine.algebra.lowering_values import shape, variance
from fanlight.engine.algebra.moments import HigherMoments, Moments
from fanlight.engine.algebra.registry import aggregate, sample
from fanlight.engine.spec.frames.limits import Watched
from fanlight.types import ColumnOrName

_MOMENTS = Moments("cast({x} as double)")
_SAMPLE = "if({p}.n > 1, {p}.m2 / ({p}.n - 1), null)"


_OF_ALL = "{p}.m2 / {p}.n"


def _make_spread(name: Watched, *, sample: bool, root: bool = False) -> tuple[Aggregate, Aggregate]:
    """The aggregate of all values, and of each value once."""
    lower = _SAMPLE if sample else _OF_ALL
    every = aggregate_of_field(
        name, _MOMENTS, f"sqrt({lower})" if root else lower, native=f"{name}({{x}})", watched=name,
        lower_values=variance(sample=sample, root=root),
    )  # fmt: skip
    return every, distinct_numbers.spread(sample=sample, root=root).make(name)


_VAR_SAMP, _VAR_POP = _make_spread("var_samp", sample=True), _make_spread("var_pop", sample=False)
_STDDEV_SAMP = _make_spread("stddev_samp", sample=True, root=True)
_STDDEV_POP = _make_spread("stddev_pop", sample=False, root=True)


@aggregate(
    sample("double", gives="double"),
    sample("double", gives="double", distinct=True),
    names=("variance",),
    alike="columns",
)
def var_samp(column: ColumnOrName, *, distinct: bool = False) -> Call:
    """The variance of a number, estimated from a sample: over ``n - 1``.

    Parameters
    ----------
    column
        A number: a column's name or a Column.
    distinct
        Whether to take each value once, however many rows have it.

    Notes
    -----
    Nulls are left out; null where fewer than two values are left. NaN and infinity make it NaN.
    Partials are centred (Chan, Golub, LeVeque), so that values far from zero do not cancel.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.0D), (1, null), (2, 4.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(v=agg.var_samp("price")).first().v
    2.0

    """
    return distinct_numbers.call_of(*_VAR_SAMP, column, distinct)


@aggregate(
    sample("double", gives="double"),
    sample("double", gives="double", distinct=True),
    alike="columns",
)
def var_pop(column: ColumnOrName, *, distinct: bool = False) -> Call:
    """The variance of a number, where the window is all there is: over ``n``.

    Parameters
    ----------
    column
        A number: a column's name or a Column.
    distinct
        Whether to take each value once, however many rows have it.

    Notes
    -----
    Nulls are left out; null if nothing else is there. NaN and infinity make it NaN. Partials are
    centred (Chan, Golub, LeVeque), so that values far from zero do not cancel.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.0D), (1, null), (2, 4.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(v=agg.var_pop("price")).first().v
    1.0

    """
    return distinct_numbers.call_of(*_VAR_POP, column, distinct)


@aggregate(
    sample("bigint", gives="double"),
    sample("bigint", gives="double", distinct=True),
    names=("std", "stddev"),
    alike="columns",
)
def stddev_samp(column: ColumnOrName, *, distinct: bool = False) -> Call:
    """The standard deviation of a number, estimated from a sample: the root of :func:`var_samp`.

    Parameters
    ----------
    column
        A number: a column's name or a Column.
    distinct
        Whether to take each value once, however many rows have it.

    Notes
    -----
    Nulls are left out; null where fewer than two values are left. NaN and infinity make it NaN.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 1.0D), (1, 1.0D), (2, 4.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> round(windows.agg(s=agg.stddev_samp("price")).first().s, 6)
    1.732051

    """
    return distinct_numbers.call_of(*_STDDEV_SAMP, column, distinct)


@aggregate(
    sample("decimal(12,2)", gives="double"),
    sample("decimal(12,2)", gives="double", distinct=True),
    alike="columns",
)
def stddev_pop(column: ColumnOrName, *, distinct: bool = False) -> Call:
    """The standard deviation, where the window is all there is: the root of :func:`var_pop`.

    Parameters
    ----------
    column
        A number: a column's name or a Column.
    distinct
        Whether to take each value once, however many rows have it.

    Notes
    -----
    Nulls are left out; null if nothing else is there. NaN and infinity make it NaN.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.0D), (1, null), (2, 4.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(s=agg.stddev_pop("price")).first().s
    1.0

    """
    return distinct_numbers.call_of(*_STDDEV_POP, column, distinct)


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
