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
from itertools import pairwise
from typing import Any

from fanlight.engine.algebra.ordering import spark_key
from fanlight.engine.spec.errors import refuse

Places = Mapping[str, Any]
LowerValues = Callable[[Places], Any]
_WIDE = Context(prec=80)
Number = int | float | Fraction


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


def values_once(of: Places) -> list[Any]:
    """Each value where its first row is, in the order of rows."""
    found: dict[Any, Any] = {}
    for value in values_in_order(of):
        found.setdefault(spark_key(value), value)
    return list(found.values())


def join_texts(*, distinct: bool) -> LowerValues:
    """All texts in the order of rows, joined; perhaps each once."""

    def lower(of: Places) -> str | None:
        texts = values_once(of) if distinct else values_in_order(of)
        return of["between"].join(texts) if texts else None

    return lower


def number_of_values(of: Places) -> int:
    """How many distinct values there are."""
    return len(of["p"] or ())


def most_frequent(of: Places) -> Any:
    """The value with the greatest count; the least of several."""
    entries = sorted(of["p"] or (), key=lambda entry: spark_key(entry[0]))
    return max(entries, key=lambda entry: entry[1])[0] if entries else None


def values_sorted(of: Places) -> list[Any]:
    """Each value that has a count, in order."""
    return sorted((value for value, _ in of["p"] or ()), key=spark_key)


def frequent_values(share: Fraction) -> LowerValues:
    """The values that make up a share of all rows, with their counts, the most frequent first."""

    def lower(of: Places) -> list[dict[str, Any]]:
        entries = of["p"] or ()
        least = share * sum(number for _, number in entries)
        return _most_first([entry for entry in entries if entry[1] >= least])

    return lower


def top_values(most: int) -> LowerValues:
    """So many values, with their counts, the most frequent first."""
    return lambda of: _most_first(of["p"] or ())[:most]


def _most_first(entries: Sequence[tuple[Any, int]]) -> list[dict[str, Any]]:
    found = sorted(entries, key=lambda entry: (-entry[1], spark_key(entry[0])))
    return [{"value": value, "count": number} for value, number in found]


def quantiles(shares: Sequence[float], *, many: bool) -> LowerValues:
    """The values at shares of the way through, interpolated between neighbours."""

    def lower(of: Places) -> Any:
        entries = sorted(of["p"] or (), key=lambda entry: spark_key(entry[0]))
        if not entries:
            return None
        found = [_quantile(entries, share) for share in shares]
        return found if many else found[0]

    return lower


def values_at_shares(shares: Sequence[Fraction], *, many: bool) -> LowerValues:
    """The least values such that at least these shares of all values are no greater."""

    def lower(of: Places) -> Any:
        entries = sorted(of["p"] or (), key=lambda entry: spark_key(entry[0]))
        if not entries:
            return None
        total = sum(number for _, number in entries)
        rows = [max(math.ceil(share * total), 1) - 1 for share in shares]
        found = [float(_at_row(entries, row)) for row in rows]
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


def _readings(of: Places) -> list[tuple[int, Number]]:
    """The instants and values of readings, in order; decimals as fractions, which are exact."""
    return [
        (at, Fraction(value) if isinstance(value, Decimal) else value)
        for at, _, value in sorted(of["p"] or (), key=spark_key)
    ]


def _area(readings: list[tuple[int, Number]]) -> Number:
    """The area under readings, in coordinates; what does not hold for any time adds nothing."""
    area: Number = 0
    for (at, value), (until, _) in pairwise(readings):
        area += value * (until - at) if until > at else 0
    return area


def area_over_time(of: Places) -> float | None:
    """The area under readings, each of which holds until the next."""
    readings = _readings(of)
    return float(_area(readings)) / float(of["scale"]) if readings else None


def mean_over_time(of: Places) -> float | None:
    """The mean of readings over time, each of which holds until the next."""
    readings = _readings(of)
    if not readings:
        return None
    (first, _), (last, value) = readings[0], readings[-1]
    return float(_area(readings)) / float(last - first) if last > first else float(value)


def rate_over_time(of: Places) -> float | None:
    """How fast a counter rises; where it falls, it has begun anew at 0."""
    readings = _readings(of)
    counted = _counted("rate", readings)
    if not readings or readings[-1][0] == readings[0][0]:
        return None
    return float(counted) / (float(readings[-1][0] - readings[0][0]) / float(of["scale"]))


def increase_over_time(of: Places) -> Number | Decimal | None:
    """What a counter has counted; where it falls, it has begun anew at 0."""
    readings = _readings(of)
    found = _counted("increase", readings)
    if isinstance(found, Fraction):
        return _WIDE.divide(Decimal(found.numerator), Decimal(found.denominator))
    return found if readings else None


def _counted(name: str, readings: Sequence[tuple[int, Number]]) -> Number:
    counted: Number = 0
    for (_, before), (_, value) in pairwise(readings):
        if value < before and value < 0:
            raise refuse(
                name,
                f"is of a counter that falls from {before} to {value}, which is below 0",
                "ask for linear_fit of a number that rises and falls",
            )
        counted += value if value < before else value - before
    return counted


def shape(*, fourth: bool) -> LowerValues:
    """The skewness of centred moments, or with the fourth one the kurtosis beyond a normal's."""

    def lower(of: Places) -> float | None:
        if not of["p"] or of["p"][2] == 0:
            return None
        number, _, second, third, last = of["p"]
        if fourth:
            return float(number * last / (second * second) - 3)
        return float(math.sqrt(number) * third / (second * math.sqrt(second)))

    return lower


def _pairs(of: Places) -> tuple[float, ...]:
    """Number, means and moments of pairs; all NaN where a value was not finite."""
    number, _, mean_x, mean_y, *moments = of["p"] or (0, 0, *[0.0] * 5)
    odd = (mean_x - mean_x) + (mean_y - mean_y)
    return number, mean_x, mean_y, *(moment + odd for moment in moments)


def covariance(*, sample: bool) -> LowerValues:
    """The covariance of centred moments."""

    def lower(of: Places) -> float | None:
        number, *_, sxy, _ = _pairs(of)
        return None if number <= sample else sxy / (number - sample)

    return lower


def correlation(of: Places) -> float | None:
    """Pearson's coefficient, of centred moments."""
    number, *_, sxx, sxy, syy = _pairs(of)
    if number < 2 or sxx == 0 or syy == 0:
        return None
    return sxy / (math.sqrt(sxx) * math.sqrt(syy))


def regression(part: str) -> LowerValues:
    """A part of the least-squares line, of centred moments."""

    def lower(of: Places) -> float | None:
        number, mean_x, mean_y, sxx, sxy, syy = _pairs(of)
        if part == "sxy":
            return sxy if number else None
        if number < 2 or sxx == 0:
            return None
        slope = sxy / sxx
        parts = {"slope": slope, "intercept": mean_y - slope * mean_x}
        return parts[part] if part in parts else 1.0 if syy == 0 else sxy * sxy / (sxx * syy)

    return lower


def long_or_null(of: Places) -> int | None:
    """A sum, or null where it does not fit 64 bits."""
    total = None if of["p"] is None else int(of["p"])
    return total if total is None or -(2**63) <= total < 2**63 else None


def sum_of_distinct(of: Places) -> Any:
    """The sum of the values that have counts."""
    return _total([value for value, _ in of["p"] or ()])


def mean_of_distinct(digits: int | None) -> LowerValues:
    """The mean of partials. Decimals are rounded to so many digits."""
    read = mean if digits is None else mean_of_decimals(digits)
    return lambda of: read({"s": sum_of_distinct(of), "n": len(of["p"] or ())})


def spread_of_distinct(*, sample: bool, root: bool) -> LowerValues:
    """The variance or standard deviation of centred moments."""

    def lower(of: Places) -> Any:
        values = [value for value, _ in of["p"] or ()]
        if not values:
            return None
        middle = math.fsum(values) / len(values)
        moment = math.fsum((value - middle) ** 2 for value in values)
        return variance(sample=sample, root=root)({"p": (len(values), middle, moment)})

    return lower


def _total(values: Sequence[Any]) -> Any:
    """The sum of numbers of one type; None of none."""
    if not values:
        return None
    if not isinstance(values[0], Decimal):
        return sum(values)
    found = values[0]
    for value in values[1:]:
        found = _WIDE.add(found, value)
    return found
