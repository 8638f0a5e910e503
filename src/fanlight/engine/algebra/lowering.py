"""SQL text that reads results off partials: lists of (value, count) entries, moments.

It goes into ``lower``, the template of an aggregate: ``{type}`` is the type of the values.
"""

from __future__ import annotations

from fractions import Fraction

_MOST = 2**62  # rows, in a window
# SQL over the array ``out`` of :func:`tally`: the most frequent values first, then the least.
MOST_FIRST = (
    "transform(sort_array(transform(out, e -> named_struct('m', -e.n, 'v', e.v))), "
    "e -> named_struct('value', e.v, 'count', -e.m))"
)


def slope_and_r2(mean: str, sxx: str, sxy: str, syy: str) -> tuple[str, str]:
    """SQL: the slope of a line and the share of variance that it explains, of centred moments.

    Both are NaN where a value was not finite: then the mean is not finite either, whatever became
    of the other moments. They need ``sxx`` above 0.
    """
    odd = f"({mean} - {mean})"  # 0, or NaN
    xy, yy = f"({sxy} + {odd})", f"({syy} + {odd})"
    return f"{xy} / {sxx}", f"if({yy} = 0D, 1D, {xy} * {xy} / ({sxx} * {yy}))"


def slope_error(mean: str, sxx: str, sxy: str, syy: str, n: str) -> str:
    """SQL: the standard error of a slope, from centred moments of ``n`` points; null if n < 3.

    NaN where a value was not finite. It needs ``sxx`` above 0.
    """
    left = f"greatest({syy} - {sxy} * {sxy} / {sxx}, 0D) + ({mean} - {mean})"
    return f"if({n} > 2, sqrt(({left}) / (cast({n} as double) - 2D) / {sxx}), null)"


def let(name: str, value: str, body: str) -> str:
    """SQL: ``body``, in which ``name`` stands for ``value``, evaluated once."""
    return f"transform(array({value}), {name} -> {body})[0]"


def tally(entries: str, finish: str, keep: str) -> str:
    """SQL: add up the counts of equal values, then evaluate ``finish`` over the array ``out``.

    The array holds the values, with their counts, that meet ``keep``: a condition on ``acc.v`` and
    ``acc.n``, asked when the count of a value is complete.
    """
    close = (
        f"if(acc.n > 0L and {keep}, "
        "concat(acc.out, array(named_struct('v', acc.v, 'n', acc.n))), acc.out)"
    )
    return (
        f"aggregate(sort_array({entries}), "
        f"named_struct('v', {_no_value(entries)}, 'n', 0L, 'out', filter({entries}, e -> false)), "
        "(acc, e) -> if(acc.n > 0L and acc.v <=> e.v, "
        "named_struct('v', acc.v, 'n', acc.n + e.n, 'out', acc.out), "
        f"named_struct('v', e.v, 'n', e.n, 'out', {close})), "
        f"acc -> {let('out', close, finish)})"
    )


def row_count(entries: str) -> str:
    """SQL: how many rows the entries stand for."""
    return f"aggregate({entries}, 0L, (acc, e) -> acc + e.n)"


def _no_value(entries: str) -> str:
    """SQL: a null of the values' type. The type is not written out: names in it are a user's."""
    return f"get({entries}, -1).v"


def most_frequent(entries: str) -> str:
    """SQL: the value with the greatest count; the least of several."""
    zero = f"named_struct('v', {_no_value(entries)}, 'n', 0L, 'bv', {_no_value(entries)}, 'bn', 0L)"
    return (
        f"aggregate(sort_array({entries}), {zero}, (acc, e) -> "
        + let(
            "n",
            "if(acc.n > 0L and acc.v <=> e.v, acc.n + e.n, e.n)",
            "named_struct('v', e.v, 'n', n, 'bv', if(n > acc.bn, e.v, acc.bv), "
            "'bn', greatest(n, acc.bn))",
        )
        + ", acc -> acc.bv)"
    )


def next_share(share: Fraction, most: int = _MOST) -> Fraction:
    """The least fraction of ``most`` rows or fewer that is at least a share.

    >>> next_share(Fraction("0.07"), 1000), next_share(Fraction("0.07"), 20)
    (Fraction(7, 100), Fraction(1, 14))
    """
    near = share.limit_denominator(most)
    if near >= share:
        return near
    # No other fraction lies between ``near`` and the share, so it is the next in a Farey sequence.
    up, down = near.numerator, near.denominator
    least = -pow(up, -1, down) % down
    below = least + (most - least) // down * down
    return Fraction((up * below + 1) // down, below)


def reaches(count: str, total: str, share: Fraction) -> str:
    """SQL: whether ``count`` is at least a share of ``total``, in whole numbers of 38 digits."""
    near = next_share(share)
    return (
        f"cast({count} as decimal(19,0)) * {near.denominator}BD "
        f">= cast({total} as decimal(19,0)) * {near.numerator}BD"
    )


def value_at_share(entries: str, share: Fraction) -> str:
    """SQL: the least value that at least a given share of all values does not exceed."""
    zero = f"named_struct('c', 0L, 'v', {_no_value('es')}, 'there', false)"
    there = f"acc.there or {reaches('acc.c + e.n', 'total', share)}"
    step = f"named_struct('c', acc.c + e.n, 'v', if(acc.there, acc.v, e.v), 'there', {there})"
    walk = f"aggregate(sort_array(es), {zero}, (acc, e) -> {step}, acc -> acc.v)"
    return let("es", entries, let("total", row_count("es"), walk))


def quantile(entries: str, share: float) -> str:
    """SQL: the value at ``share`` of the way through, interpolated between its neighbours.

    Adds to the lower one its share of the distance, as Spark does since 4.3: it matters where the
    distance is infinite.
    """
    zero = f"named_struct('c', 0L, 'lo', {_no_value('es')}, 'hi', {_no_value('es')})"
    step = (
        "named_struct('c', acc.c + e.n, "
        "'lo', if(acc.c <= floor(at) and floor(at) < acc.c + e.n, e.v, acc.lo), "
        "'hi', if(acc.c <= ceil(at) and ceil(at) < acc.c + e.n, e.v, acc.hi))"
    )
    walk = f"aggregate(sort_array(es), {zero}, (acc, e) -> {step})"
    between = (
        "if(w.lo <=> w.hi, cast(w.lo as double), cast(w.lo as double) + "
        "(at - floor(at)) * (cast(w.hi as double) - cast(w.lo as double)))"
    )
    at = f"cast(({row_count('es')} - 1L) as double) * {share!r}D"
    body = let("at", at, let("w", walk, between))
    return f"if(size({entries}) > 0, {let('es', entries, body)}, null)"
