"""Least-squares lines over time."""

from __future__ import annotations

from typing import Protocol

from fanlight.engine.algebra import lowering_values
from fanlight.engine.algebra.aggregate import Aggregate, Call, aggregate_of_field
from fanlight.engine.algebra.lowering import slope_and_r2, slope_error
from fanlight.engine.algebra.lowering_values import LowerValues, line
from fanlight.engine.algebra.moments import Comoments, Covariances, Moments
from fanlight.engine.algebra.monoids import Count, Sum
from fanlight.engine.algebra.registry import aggregate, sample
from fanlight.engine.algebra.sql_text import fill
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


_CENTRED = (
    " NaN or infinity in one of them makes it NaN. Partials are centred (Chan, Golub, LeVeque), so "
    "that values far from zero do not cancel."
)


class OfPairs(Protocol):
    """A function of pairs of numbers."""

    def __call__(self, y: ColumnOrName, x: ColumnOrName) -> Call:
        """Make an aggregate of them."""


def _enter(
    of_pairs: Aggregate, what: str, shown: float, null: str, *, odd: str = _CENTRED
) -> OfPairs:
    """The public function of an aggregate of two columns."""
    name, counts = of_pairs.name, of_pairs.name == "regr_count"

    def function(y: ColumnOrName, x: ColumnOrName) -> Call:
        """{what}.

        Parameters
        ----------
        y
            A number: a column's name or a Column.
        x
            Another number, which the first is taken to depend on.

        Returns
        -------
        Call
            A {kind}{never}.

        See Also
        --------
        linear_fit : the line over time.

        Notes
        -----
        Rows where one of the columns is null are left out{null}.{odd}

        Examples
        --------
        >>> from fanlight import agg
        >>> df = spark.sql("select * from values (0, 1, 2), (1, 2, 4), (2, 6, 6) as t(at, y, x)")
        >>> windows = fl.over(df, fl.Sliding(10), time="at")
        >>> round(windows.agg(found=agg.{name}("y", "x")).first().found, 6)
        {shown}

        """
        return Call(of_pairs, (y, x))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = fill(
        function.__doc__ or "",
        name=name, what=what, shown=shown, odd=odd, null=null and f"; null if {null}",
        kind="bigint" if counts else "double", never="; never null" if counts else "",
    )  # fmt: skip
    gives = "bigint" if counts else "double"
    return aggregate(sample("double", "double", gives=gives), alike="columns")(function)


# Zero, or NaN where a value was not finite: then a mean is not finite either.
_ODD = "({p}.mx - {p}.mx + ({p}.my - {p}.my))"
_SXX, _SXY, _SYY = (f"({{p}}.{name} + {_ODD})" for name in ("sxx", "sxy", "syy"))
_SLOPE = f"{_SXY} / {_SXX}"


def _of_moments(name: str, lower: str, lower_values: LowerValues, unless: str = "") -> Aggregate:
    """An aggregate of centred moments: ``lower``, or null where ``unless`` is true."""
    text = f"if({unless}, null, {lower})" if unless else lower
    return aggregate_of_field(name, Covariances(), text, arity=2, lower_values=lower_values)


def _of_pairs(value: str) -> str:
    """SQL: a value of rows where both columns are there."""
    return f"if({{x}} is null or {{y}} is null, null, cast({{{value}}} as double))"


def _mean_of(name: str, value: str) -> Aggregate:
    fields = {"s": Sum(_of_pairs(value)), "n": Count(_of_pairs(value))}
    lower = "cast({s} as double) / nullif({n}, 0)"
    return Aggregate(name, fields, lower, arity=2, lower_values=lowering_values.mean)


def _squares_of(name: str, value: str) -> Aggregate:
    moments = Moments(_of_pairs(value))
    return aggregate_of_field(
        name, moments, "{p}.m2", arity=2, lower_values=lowering_values.last_of_struct
    )


_FEW = "coalesce({p}.n, 0L) < 2L"
_LEVEL = f"{_FEW} or {_SXX} = 0D"
_NOTHING, _ONE = "nothing else is there", "fewer than two rows are left"
_NO_LINE = "fewer than two values of x are left"

corr = _enter(
    _of_moments("corr", f"{_SXY} / (sqrt({_SXX}) * sqrt({_SYY}))", lowering_values.correlation,
                f"{_LEVEL} or {_SYY} = 0D"),
    "Pearson's coefficient: how much two numbers vary together, from -1 to 1", 0.944911,
    "fewer than two values of one of them are left",
)  # fmt: skip
covar_pop = _enter(
    _of_moments("covar_pop", f"{_SXY} / {{p}}.n", lowering_values.covariance(sample=False)),
    "The covariance of two numbers, where the window is all there is: over n", 3.333333,
    _NOTHING,
)  # fmt: skip
covar_samp = _enter(
    _of_moments("covar_samp", f"{_SXY} / ({{p}}.n - 1L)", lowering_values.covariance(sample=True),
                _FEW),
    "The covariance of two numbers, estimated from a sample: over n - 1", 5.0, _ONE,
)  # fmt: skip
regr_slope = _enter(
    _of_moments("regr_slope", _SLOPE, lowering_values.regression("slope"), _LEVEL),
    "The slope of the least-squares line of y over x", 1.25, _NO_LINE,
)  # fmt: skip
regr_intercept = _enter(
    _of_moments("regr_intercept", f"{{p}}.my - {_SLOPE} * {{p}}.mx",
                lowering_values.regression("intercept"), _LEVEL),
    "Where the least-squares line of y over x is when x is 0", -2.0, _NO_LINE,
)  # fmt: skip
regr_r2 = _enter(
    _of_moments("regr_r2", f"if({_SYY} = 0D, 1D, {_SXY} * {_SXY} / ({_SXX} * {_SYY}))",
                lowering_values.regression("r2"), _LEVEL),
    "The share of the variance of y that its line over x explains, from 0 to 1", 0.892857,
    _NO_LINE,
)  # fmt: skip
regr_sxy = _enter(
    _of_moments("regr_sxy", _SXY, lowering_values.regression("sxy")),
    "The sum of the products of two numbers' distances from their means", 10.0, _NOTHING,
)  # fmt: skip
regr_sxx = _enter(
    _squares_of("regr_sxx", "y"),
    "The sum of the squared distances of x from its mean", 8.0, _NOTHING,
)  # fmt: skip
regr_syy = _enter(
    _squares_of("regr_syy", "x"),
    "The sum of the squared distances of y from its mean", 14.0, _NOTHING,
)  # fmt: skip
regr_avgx = _enter(
    _mean_of("regr_avgx", "y"),
    "The mean of x, of the rows that have a y", 4.0, _NOTHING, odd="",
)  # fmt: skip
regr_avgy = _enter(
    _mean_of("regr_avgy", "x"),
    "The mean of y, of the rows that have an x", 3.0, _NOTHING, odd="",
)  # fmt: skip
regr_count = _enter(
    aggregate_of_field(
        "regr_count", Count(_of_pairs("x")), "coalesce({p}, 0L)", arity=2,
        algebra="distributive", lower_values=lowering_values.number_or_zero,
    ),
    "How many rows have both numbers", 3, "", odd="",
)  # fmt: skip
