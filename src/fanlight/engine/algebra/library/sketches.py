"""Sketches as values: Spark's own, which a user can store, unite and ask later."""

from __future__ import annotations

from typing import Any, Protocol

from fanlight.engine.algebra.aggregate import Accepts, Aggregate, Call
from fanlight.engine.algebra.collections import HyperLogLog, Quantiles, Theta
from fanlight.engine.algebra.monoids import Monoid
from fanlight.engine.algebra.registry import aggregate, sample
from fanlight.engine.algebra.sql_text import fill
from fanlight.engine.spec.errors import refuse
from fanlight.types import ColumnOrName

_USUAL = 200  # Spark's k, where none is given


def _sketch(
    name: str, monoid: Monoid, accepts: Accepts, column: Any, shown: tuple[int, ...]
) -> Call:
    """The call of Spark's function of this name, whose result is the partial itself."""
    arguments = ", ".join(["{x}", *map(str, shown)])
    native = f"{name}({arguments})"
    about = Aggregate(name, {"p": monoid}, "{p}", accepts=accepts, native=native)
    return Call(about, (column,), shown)


def _check_size(name: str, argument: str, given: Any, limits: tuple[int, int]) -> None:
    least, most = limits
    if type(given) is not int or not least <= given <= most:
        raise refuse(
            f"{name}({argument}={given!r})",
            f"is not a whole number from {least} to {most}",
            f"leave {argument} out, or write one of these",
        )


@aggregate(
    sample("bigint", gives="binary", log_size=10),
    sample("string", gives="binary"),
    alike="columns",
)
def hll_sketch_agg(column: ColumnOrName, log_size: int = 12) -> Call:
    """A HyperLogLog sketch of the distinct values, as Spark's function of the same name makes it.

    Parameters
    ----------
    column
        A column's name or a Column: an int, a bigint, text or binary.
    log_size
        The binary logarithm of the number of registers, from 4 to 21. The relative standard
        deviation of what is estimated is about 1.04 / sqrt(2**log_size).

    Returns
    -------
    Call
        A binary, never null, for Spark's ``hll_sketch_estimate``, ``hll_union`` and
        ``hll_union_agg``.

    Raises
    ------
    FanlightError
        If ``log_size`` is out of range. Also if the windows are made row by row or while they are
        open.

    See Also
    --------
    approx_count_distinct : the estimate itself, of any type, in all windows.

    Notes
    -----
    Nulls and empty texts are left out, as Spark does it. Sketches of the same column and size can
    be united, also with those that Spark made; the bytes may differ where the estimates do not.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 'ann'), (1, 'bob'), (2, 'ann') as t(at, who)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> kept = windows.agg(bidders=agg.hll_sketch_agg("who"))
    >>> kept.selectExpr("hll_sketch_estimate(bidders) as about").first().about
    2

    """
    _check_size("hll_sketch_agg", "log_size", log_size, (4, 21))
    monoid = HyperLogLog("{x}", log_size)
    return _sketch("hll_sketch_agg", monoid, "hashable", column, (log_size,))


@aggregate(
    sample("double", gives="binary", log_size=10),
    sample("string", gives="binary"),
    alike="columns",
)
def theta_sketch_agg(column: ColumnOrName, log_size: int = 12) -> Call:
    """A theta sketch of the distinct values, which can also be intersected and subtracted.

    Parameters
    ----------
    column
        A column's name or a Column: an int, a bigint, a float, a double, text, binary, or an array
        of ints or bigints.
    log_size
        The binary logarithm of the number of hashes kept, from 4 to 26.

    Returns
    -------
    Call
        A binary, never null, for Spark's ``theta_sketch_estimate``, ``theta_union``,
        ``theta_intersection``, ``theta_difference`` and their aggregates.

    Raises
    ------
    FanlightError
        If ``log_size`` is out of range. Also if Spark is older than 4.1, or if the windows are made
        row by row or while they are open.

    See Also
    --------
    hll_sketch_agg : smaller, if all that is done with sketches is to unite them.

    Notes
    -----
    Nulls, empty texts and empty arrays are left out, as Spark does it. NaN is one value, and -0.0
    is 0.0. Sketches can be united with those that Spark made of the same column.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 'ann'), (1, 'bob'), (2, 'ann') as t(at, who)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> kept = windows.agg(bidders=agg.theta_sketch_agg("who"))
    >>> kept.selectExpr("theta_sketch_estimate(bidders) as about").first().about
    2

    """
    _check_size("theta_sketch_agg", "log_size", log_size, (4, 26))
    monoid = Theta("{x}", log_size)
    return _sketch("theta_sketch_agg", monoid, "thetable", column, (log_size,))


class OfValues(Protocol):
    """A function of numbers, whose sketch has a size."""

    def __call__(self, column: ColumnOrName, size: int = 200) -> Call:
        """Make an aggregate of them."""


def _enter_quantiles(kind: str, accepts: Accepts, takes: str, odd: str) -> OfValues:
    """The public function of a sketch of quantiles, of numbers of a kind."""
    name = f"kll_sketch_agg_{kind}"

    def function(column: ColumnOrName, size: int = 200) -> Call:
        """A KLL sketch of the values, of which quantiles and ranks can be read: of {takes}.

        Parameters
        ----------
        column
            A column's name or a Column: {takes}.
        size
            Spark's ``k``, from 8 to 65535: the greater, the larger and the more accurate.

        Returns
        -------
        Call
            A binary, never null, for Spark's ``kll_sketch_get_quantile_{kind}``,
            ``kll_sketch_get_rank_{kind}``, ``kll_sketch_get_n_{kind}``, ``kll_sketch_merge_{kind}``
            and ``kll_merge_agg_{kind}``.

        Raises
        ------
        FanlightError
            If ``size`` is out of range. Also if Spark is older than 4.1, or if the windows are made
            row by row or while they are open.

        See Also
        --------
        approx_percentile : the quantiles themselves, in all windows.

        Notes
        -----
        Nulls{odd} are left out, as Spark does it. While there are fewer values than ``size``, all
        of them are kept, and quantiles are exact.

        Examples
        --------
        >>> from fanlight import agg
        >>> df = spark.sql("select id as at, cast(id as {kind}) as x from range(9)")
        >>> windows = fl.over(df, fl.Sliding(10), time="at")
        >>> kept = windows.agg(values=agg.{name}("x"))
        >>> kept.selectExpr("kll_sketch_get_n_{kind}(values) as n").first().n
        9

        """
        _check_size(name, "size", size, (8, 65535))
        shown = () if size == _USUAL else (size,)  # as Spark names its results
        return _sketch(name, Quantiles("{x}", size, kind), accepts, column, shown)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = fill(function.__doc__ or "", name=name, kind=kind, takes=takes, odd=odd)
    samples = sample(kind, gives="binary", size=100), sample(kind, gives="binary")
    return aggregate(*samples, alike="columns")(function)


kll_sketch_agg_bigint = _enter_quantiles("bigint", "integral", "whole numbers", "")
kll_sketch_agg_double = _enter_quantiles("double", "floating", "floats or doubles", " and NaN")
kll_sketch_agg_float = _enter_quantiles("float", "float", "floats", " and NaN")
