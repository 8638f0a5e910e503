"""Results read off partials in Python, as :mod:`fanlight.engine.algebra.lowering` does in SQL.

A function takes what fills the places of ``lower``, by name: partials, of which structs are tuples
and a missing one is None, the user's texts, ``start`` and ``scale``. ``p`` is the only partial of
most aggregates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from fanlight.engine.algebra.ordering import spark_key

Places = Mapping[str, Any]
LowerValues = Callable[[Places], Any]
_WIDE = Context(prec=80)


def partial_itself(of: Places) -> Any:
    """The partial."""
    return of["p"]


def last_of_struct(of: Places) -> Any:
    """The last field of a struct: what goes along with what was compared."""
    return of["p"] and of["p"][-1]


def number_or_zero(of: Places) -> Any:
    """A count."""
    return of["p"] or 0


def count_of_extreme(of: Places) -> Any:
    """How many rows have the extreme value."""
    return of["p"][1] if of["p"] else 0


def mean(of: Places) -> float | None:
    """The mean as a double, of the sum ``s`` and the number ``n``."""
    return float(of["s"]) / of["n"] if of["n"] else None


def mean_of_decimals(digits: int) -> LowerValues:
    """The mean with so many digits after the point, rounded half up."""

    def lower(of: Places) -> Decimal | None:
        if not of["n"]:
            return None
        step = Decimal(1).scaleb(-digits)
        whole = Fraction(of["s"]) / of["n"] / Fraction(step)
        # Halves are rounded away from zero; the sum is divided only here, and exactly.
        rounded = math.floor(abs(whole) + Fraction(1, 2))
        return _WIDE.multiply(Decimal(rounded if whole >= 0 else -rounded), step)

    return lower


def variance(*, sample: bool, root: bool) -> LowerValues:
    """The variance, or the standard deviation, of centred moments."""

    def lower(of: Places) -> float | None:
        if not of["p"] or (sample and of["p"][0] < 2):
            return None
        number, _, moment = of["p"]
        found = float(moment) / (number - 1 if sample else number)
        return math.sqrt(found) if root else found

    return lower


def value_at(place: int, *, of_struct: bool = False) -> LowerValues:
    """The value at a place of a list, from 0; or the last field of the struct there."""

    def lower(of: Places) -> Any:
        kept = of["p"] or ()
        found = kept[place] if place < len(kept) else None
        return found[-1] if of_struct and found is not None else found

    return lower


def values_in_order(of: Places) -> list[Any]:
    """All values in the order of rows."""
    return [value for _, value in sorted(of["p"] or (), key=spark_key)]


def text_in_order(of: Places) -> str | None:
    """All texts in the order of rows, joined."""
    return of["separator"].join(values_in_order(of)) if of["p"] else None


def number_of_values(of: Places) -> int:
    """How many distinct values there are."""
    return len(of["p"] or ())


def most_frequent(of: Places) -> Any:
    """The value with the greatest count; the least of several."""
    entries = sorted(of["p"] or (), key=lambda entry: spark_key(entry[0]))
    return max(entries, key=lambda entry: entry[1])[0] if entries else None


def frequent_values(share: Fraction) -> LowerValues:
    """The values that make up a share of all rows, with their counts, the most frequent first."""

    def lower(of: Places) -> list[dict[str, Any]]:
        entries = of["p"] or ()
        least = share * sum(number for _, number in entries)
        found = [entry for entry in entries if entry[1] >= least]
        found.sort(key=lambda entry: (-entry[1], spark_key(entry[0])))
        return [{"value": value, "count": number} for value, number in found]

    return lower


def quantiles(shares: Sequence[float], *, many: bool) -> LowerValues:
    """The values at shares of the way through, interpolated between neighbours."""

    def lower(of: Places) -> Any:
        entries = sorted(of["p"] or (), key=lambda entry: spark_key(entry[0]))
        if not entries:
            return None
        found = [_quantile(entries, share) for share in shares]
        return found if many else found[0]

    return lower


def _quantile(entries: Sequence[tuple[Any, int]], share: float) -> float:
    at = float(sum(number for _, number in entries) - 1) * share
    low, high = (float(_at_row(entries, whole(at))) for whole in (math.floor, math.ceil))
    same = low == high or (math.isnan(low) and math.isnan(high))
    return low if same else low + (at - math.floor(at)) * (high - low)


def _at_row(entries: Sequence[tuple[Any, int]], row: int) -> Any:
    """The value of a row, where rows are in order of their values."""
    passed = 0
    for value, number in entries:
        passed += number
        if row < passed:
            return value
    return entries[-1][0]


def line(of: Places) -> dict[str, float] | None:
    """The line of least squares, of centred moments of values over time."""
    if not of["p"]:
        return None
    _, first, mean_x, mean_y, sxx, sxy, syy = of["p"]
    if not sxx > 0:
        return None
    odd = mean_y - mean_y  # 0, or NaN where a value was not finite
    sxy, syy = sxy + odd, syy + odd
    slope = sxy / sxx
    before = mean_x + float(first - of["start"])
    return {
        "slope": slope * of["scale"],
        "intercept": mean_y - slope * before,
        "r2": 1.0 if syy == 0 else sxy * sxy / (sxx * syy),
    }
