"""Aggregates that keep every value, or a sketch in place of it."""

from __future__ import annotations

import math
from typing import Any

from fanlight.algebra import lowering
from fanlight.algebra.aggregate import Aggregate, Call, Partials, of_one
from fanlight.algebra.collections import Collect, HyperLogLog, Quantiles, Values
from fanlight.spec.errors import refuse


def _distinct(arity: int) -> Aggregate:
    names = ("{x}", "{y}", "{z}")[:arity]
    value = names[0]
    if arity > 1:
        absent = " or ".join(f"{name} is null" for name in names)
        value = f"if({absent}, null, struct({', '.join(names)}))"
    lower = "cast(coalesce(size(array_distinct(transform({p}, e -> e.v))), 0) as bigint)"
    return of_one(
        "count_distinct", Values(value), lower, accepts="groupable", arity=arity, algebra="holistic"
    )


_DISTINCT = {arity: _distinct(arity) for arity in (1, 2, 3)}


def count_distinct(*columns: Any) -> Call:
    """How many distinct values (or tuples of up to three columns) occur, exactly.

    Holistic, pseudo-differential, cumulative: a pane keeps each distinct value once. Where that is
    too much, use :func:`approx_count_distinct`.

    >>> from fanlight import agg
    >>> agg.count_distinct("user").aggregate.bounded
    False
    """
    if len(columns) not in _DISTINCT:
        raise refuse(
            f"count_distinct of {len(columns)} columns",
            "is not supported",
            "name one to three columns, or count a struct of them",
        )
    call = Call(_DISTINCT[len(columns)], columns)
    if all(isinstance(column, str) for column in columns):
        return call.alias(f"count(DISTINCT {', '.join(columns)})")
    return call


def approx_count_distinct(column: Any, rsd: float = 0.05) -> Call:
    """About how many distinct values occur, from HyperLogLog sketches that merge. Bounded.

    ``rsd`` is the relative standard deviation of the answer. The sketch is Apache DataSketches',
    so the estimate differs from Spark's function of the same name, within that deviation. Over
    tuple-based windows and windows that slide by tuple the answer is exact.

    >>> from fanlight import agg
    >>> agg.approx_count_distinct("user", 0.02).label
    'approx_count_distinct(user)'
    """
    if not isinstance(rsd, (int, float)) or not 0.0006 <= rsd <= 0.3:
        raise refuse(
            f"approx_count_distinct(rsd={rsd!r})",
            "is out of reach of the sketch",
            "choose a relative standard deviation from 0.0006 to 0.3, or use count_distinct",
        )
    log_size = math.ceil(math.log2((1.04 / rsd) ** 2))
    size = sorted((4, log_size, 21))[1]
    aggregate = of_one(
        "approx_count_distinct",
        HyperLogLog(log_size=size),
        "coalesce(hll_sketch_estimate({p}), 0L)",
        accepts="groupable",
    )
    return Call(aggregate, (column,), exact=_DISTINCT[1])


def collect_list(column: Any) -> Call:
    """All values that are not null, in the order of rows. Holistic, cumulative.

    >>> from fanlight import agg
    >>> agg.collect_list("price").aggregate.algebra
    'holistic'
    """
    lower = "coalesce(transform(sort_array({p}), e -> e.v), array())"
    return Call(
        of_one("collect_list", Collect(), lower, accepts="orderable", algebra="holistic"),
        (column,),
    )


def concat(column: Any, separator: str = "") -> Call:
    """All texts that are not null, in the order of rows, in one. Holistic, cumulative.

    Null if no text is there.

    >>> from fanlight import agg
    >>> agg.concat("word", " ").label
    'concat(word)'
    """
    # As bytes: how a literal is escaped depends on the session.
    quoted = f"cast(X'{separator.encode().hex()}' as string)"
    lower = (
        f"if(size({{p}}) > 0, array_join(transform(sort_array({{p}}), e -> e.v), {quoted}), null)"
    )
    return Call(of_one("concat", Collect(), lower, accepts="string", algebra="holistic"), (column,))


def _shares(name: str, given: Any) -> tuple[list[float], bool]:
    many = isinstance(given, (list, tuple))
    shares = list(given) if many else [given]
    for share in shares:
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
            raise refuse(
                f"{name}(percentage={given!r})",
                "is not a share between 0 and 1",
                f"write for example {name}(column, 0.95)",
            )
    return [float(share) for share in shares], many


def _quantile_recipe(shares: list[float], *, many: bool) -> Any:
    def recipe(types: tuple[str, ...]) -> Partials:
        results = [lowering.quantile("{p}", types[0], share) for share in shares]
        lower = (
            results[0] if not many else f"if(size({{p}}) > 0, array({', '.join(results)}), null)"
        )
        return Partials({"p": Values()}, lower)

    return recipe


def median(column: Any) -> Call:
    """The middle value, between the two middle ones if their number is even; a double.

    Holistic, pseudo-differential, cumulative: panes keep value counts. Equal to Spark's.

    >>> from fanlight import agg
    >>> agg.median("price").label
    'median(price)'
    """
    aggregate = Aggregate("median", algebra="holistic", recipe=_quantile_recipe([0.5], many=False))
    return Call(aggregate, (column,))


def percentile(column: Any, percentage: float | list[float]) -> Call:
    """The exact percentile (0.95 for the 95th), interpolated; a list gives an array. Holistic.

    >>> from fanlight import agg
    >>> agg.percentile("price", 0.95).label
    'percentile(price, 0.95, 1)'
    """
    shares, many = _shares("percentile", percentage)
    aggregate = Aggregate(
        "percentile", algebra="holistic", recipe=_quantile_recipe(shares, many=many)
    )
    shown = f"array({', '.join(map(str, shares))})" if many else percentage
    return Call(aggregate, (column,), (shown, 1))


def approx_percentile(column: Any, percentage: float | list[float], accuracy: int = 10_000) -> Call:
    """The percentile to within a rank error of about 1/accuracy, from KLL sketches that merge.

    Bounded. Gives a value that occurs, of the column's type. The sketch is exact up to as many
    values as it keeps, and NaN is left out; over tuple-based windows and windows that slide by
    tuple the percentile is exact.

    >>> from fanlight import agg
    >>> agg.approx_percentile("price", 0.5).label
    'approx_percentile(price, 0.5, 10000)'
    """
    if isinstance(accuracy, bool) or not isinstance(accuracy, int) or accuracy < 1:
        raise refuse(
            f"approx_percentile(accuracy={accuracy!r})",
            "is not a positive whole number",
            "write for example accuracy=10000",
        )
    shares, many = _shares("approx_percentile", percentage)
    size = sorted((8, math.ceil((2.296 * accuracy) ** (1 / 0.9021)), 65_535))[1]

    def recipe(types: tuple[str, ...]) -> Partials:
        wanted = f"array({', '.join(f'{share!r}D' for share in shares)})"
        lower = f"kll_sketch_get_quantile_double({{p}}, {wanted})"
        lower = f"transform({lower}, q -> cast(q as {types[0]}))" + ("" if many else "[0]")
        guarded = f"if(coalesce(kll_sketch_get_n_double({{p}}), 0L) > 0L, {lower}, null)"
        return Partials({"p": Quantiles(size=size)}, guarded)

    def ranked(types: tuple[str, ...]) -> Partials:
        results = [lowering.ranked("{p}", types[0], share) for share in shares]
        lower = (
            results[0] if not many else f"if(size({{p}}) > 0, array({', '.join(results)}), null)"
        )
        return Partials({"p": Values("if(isnan(cast({x} as double)), null, {x})")}, lower)

    shown = f"array({', '.join(map(str, shares))})" if many else percentage
    exact = Aggregate("approx_percentile", algebra="holistic", recipe=ranked)
    aggregate = Aggregate("approx_percentile", recipe=recipe)
    return Call(aggregate, (column,), (shown, accuracy), exact=exact)


def _mode_recipe(types: tuple[str, ...]) -> Partials:
    return Partials({"p": Values()}, lowering.best("{p}", types[0]))


_MODE = Aggregate("mode", accepts="groupable", algebra="holistic", recipe=_mode_recipe)


def mode(column: Any) -> Call:
    """The most frequent value; the least among equals. Holistic, pseudo-differential.

    >>> from fanlight import agg
    >>> agg.mode("item").aggregate.differential
    'pseudo'
    """
    return Call(_MODE, (column,))


def heavy_hitters(column: Any, share: float) -> Call:
    """The values that make up at least ``share`` of all, most frequent first, exactly.

    Output: array<struct<value, count>>. Nulls do not count. Holistic, pseudo-differential: panes
    keep value counts, as in Li et al., 3.3.2 (Query 4).

    >>> from fanlight import agg
    >>> agg.heavy_hitters("item", 0.05).label
    'heavy_hitters(item, 0.05)'
    """
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
        raise refuse(
            f"heavy_hitters(share={share!r})",
            "is not a share above 0 and at most 1",
            "write for example heavy_hitters(column, 0.05)",
        )

    def recipe(types: tuple[str, ...]) -> Partials:
        # acc.n >= share * total, in doubles: what a reader would compute.
        order = (
            "transform(sort_array(transform(out, e -> named_struct('m', -e.n, 'v', e.v))), "
            "e -> named_struct('value', e.v, 'count', -e.m))"
        )
        lower = lowering.let(
            "total",
            lowering.size("{p}"),
            lowering.tally("{p}", types[0], order, f"acc.n >= {float(share)!r}D * total"),
        )
        return Partials({"p": Values()}, f"coalesce({lower}, array())")

    aggregate = Aggregate("heavy_hitters", accepts="groupable", algebra="holistic", recipe=recipe)
    return Call(aggregate, (column,), (share,))
