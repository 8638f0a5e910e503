"""What follows from an aggregate's monoids: what it can be used for, or why it cannot."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fanlight.engine.algebra.aggregate import (
    INTEGRAL,
    LONG_DIGITS,
    Aggregate,
    Partials,
    base_type,
    digits_of,
)
from fanlight.engine.algebra.forms import is_arithmetic
from fanlight.engine.algebra.monoids import Monoid
from fanlight.engine.algebra.sql_text import find_places

# A division by anything but a number, and by what is null where nothing is to be divided.
_DIVIDED = re.compile(r"/(?! *(?:\d|\{scale\}))|\bnullif\(")


def why_not_invertible(monoid: Monoid, types: Sequence[str]) -> str:
    """Explain why rows cannot be subtracted from a partial exactly. The text is empty if they can.

    ``types`` are the Spark types of the aggregate's arguments: sums are exact for integers and for
    decimals whose sums Spark keeps exactly.
    """
    word = type(monoid).__name__
    if monoid.divided:
        return "takes another part of an event in each of its windows"
    if not monoid.invertible:
        return f"keeps a {word}, which has no inverse: rows cannot be taken back out of it"
    kind = types[0] if types else "bigint"
    added_up = monoid.combining == "sum" and not monoid.counts
    short = base_type(kind) == "decimal" and digits_of(kind)[0] <= LONG_DIGITS
    exact = (base_type(kind) in INTEGRAL or short) and "double" not in monoid.value
    if not added_up or exact:
        return ""
    added = "double" if "double" in monoid.value else kind
    return (
        f"adds values of type {added}: a running difference would keep the rounding of every value "
        "that has left"
    )


def why_not_weightable(partials: Partials) -> tuple[str, str] | None:
    """Why rows cannot have weights, and what to write instead; None where they can.

    A row of weight 2 counts as two rows. So only sums over rows can be weighted; they are doubles
    then, and ``lower`` must be right for doubles.
    """
    if not all(monoid.combining == "sum" for monoid in partials.fields.values()):
        return (
            "has no weighted form: only counts, sums and means are sums over rows",
            "leave weights out, or ask for agg.count, agg.sum or agg.avg",
        )
    if partials.weightless:
        return partials.weightless, partials.instead
    if not (
        is_arithmetic(partials.lower) and find_places(partials.lower) <= partials.fields.keys()
    ):
        why = (
            f"is read off its sums by {partials.lower!r}, and weighted sums are doubles, for which "
            "only + - * / of sums, coalesce, nullif and casts to double are known to be right"
        )
        return (
            why,
            "leave weights out, or write lower of an algebra.Aggregate(…) with no more than these",
        )
    return None


def adds_up(partials: Partials) -> bool:
    """Whether a window has the sum of what its parts have: of sums, if none divides another."""
    sums = all(monoid.combining == "sum" for monoid in partials.fields.values())
    return sums and not _DIVIDED.search(partials.lower)


def ignores_repeats(aggregate: Aggregate) -> bool:
    """Whether equal values count once anyway, so that DISTINCT makes no difference."""
    return all(
        monoid.idempotent and not find_places(monoid.value) & {"order", "time"}
        for monoid in aggregate.monoids
    )
