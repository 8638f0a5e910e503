"""Every aggregate of the library over the rows of one window, from its definition.

Each function sees all the rows of one window at once: nothing is merged, nothing is taken back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

from tests.oracle.values import digits, exact, is_nan, rank, rounded, tallies, total

Oracle = TypeVar("Oracle", bound=Callable[..., Any])
FUNCTIONS: dict[str, Callable[..., Any]] = {}
TESTED = "n"  # ("where", *request) is the request over the rows in which this column is above 0
ARITY: dict[str, int] = {}  # how many leading arguments are columns; all where it is not said


def oracle(*names: str, columns: int | None = 1) -> Callable[[Oracle], Oracle]:
    """Enter a function as what aggregates are held against; None: any number of columns."""

    def enter(function: Oracle) -> Oracle:
        for name in names:
            FUNCTIONS[name] = function
            if columns is not None:
                ARITY[name] = columns
        return function

    return enter


@dataclass(frozen=True)
class Rows:
    """The rows of one window.

    ``columns`` are the values of the aggregate's arguments, row by row; ``places`` where each row
    stands in the order of its key (time, then tiebreak); ``times`` and ``start`` are in
    microseconds, or in the units of a numeric time.
    """

    columns: Sequence[tuple[Any, ...]]
    places: Sequence[Any]
    times: Sequence[Any]
    start: Any
    unit: int

    def values(self) -> list[Any]:
        """The first argument's values that are not null."""
        return [row[0] for row in self.columns if row and row[0] is not None]

    def ordered(self) -> list[Any]:
        """The first argument's values in order of place, then value; nulls first, and kept."""
        pairs = zip(self.places, (row[0] for row in self.columns), strict=True)
        return [value for _, value in sorted(pairs, key=lambda pair: (pair[0], rank(pair[1])))]


@oracle("count")
def _count(rows: Rows) -> int:
    return sum(1 for row in rows.columns if not row or row[0] is not None)


@oracle("sum")
def _sum(rows: Rows) -> Any:
    values = rows.values()
    return total(values) if values else None


@oracle("avg", "mean")
def _avg(rows: Rows) -> Any:
    values = rows.values()
    if not values:
        return None
    whole = total(values)
    if isinstance(whole, Decimal):
        return rounded(Fraction(whole) / len(values), digits(whole) + 4)
    return float(Fraction(whole) / len(values)) if math.isfinite(whole) else whole


@oracle("min")
def _min(rows: Rows) -> Any:
    return min(rows.values(), key=rank, default=None)


@oracle("max")
def _max(rows: Rows) -> Any:
    return max(rows.values(), key=rank, default=None)


def _variance(rows: Rows, taken: int) -> float | None:
    """The mean squared distance from the mean, over ``n - taken``."""
    values = rows.values()
    if len(values) <= taken:
        return None
    numbers = exact(values)
    if numbers is None:
        return math.nan
    mean = sum(numbers, Fraction(0)) / len(numbers)
    return float(sum((x - mean) ** 2 for x in numbers) / (len(numbers) - taken))


def _root(variance: float | None) -> float | None:
    return None if variance is None else math.sqrt(variance)


@oracle("var_samp")
def _var_samp(rows: Rows) -> float | None:
    return _variance(rows, 1)


@oracle("var_pop")
def _var_pop(rows: Rows) -> float | None:
    return _variance(rows, 0)


@oracle("stddev_samp")
def _stddev_samp(rows: Rows) -> float | None:
    return _root(_variance(rows, 1))


@oracle("stddev_pop")
def _stddev_pop(rows: Rows) -> float | None:
    return _root(_variance(rows, 0))


def _by(rows: Rows, *, largest: bool) -> Any:
    """The first argument where the second is extreme: the earliest of the least, or last."""
    known = [
        (rank(y), place, rank(x), x)
        for (x, y), place in zip(rows.columns, rows.places, strict=True)
        if y is not None
    ]
    if not known:
        return None
    choose = max if largest else min
    return choose(known, key=lambda row: row[:3])[3]


@oracle("min_by", columns=2)
def _min_by(rows: Rows) -> Any:
    return _by(rows, largest=False)


@oracle("max_by", columns=2)
def _max_by(rows: Rows) -> Any:
    return _by(rows, largest=True)


def _end(rows: Rows, ignorenulls: bool, *, late: bool) -> Any:
    values = [value for value in rows.ordered() if value is not None or not ignorenulls]
    return values[-1 if late else 0] if values else None


@oracle("first")
def _first(rows: Rows, ignorenulls: bool = False) -> Any:
    return _end(rows, ignorenulls, late=False)


@oracle("last")
def _last(rows: Rows, ignorenulls: bool = False) -> Any:
    return _end(rows, ignorenulls, late=True)


@oracle("count_distinct", columns=None)
def _count_distinct(rows: Rows) -> int:
    tuples = [row for row in rows.columns if all(value is not None for value in row)]
    return len(tallies(tuples))


@oracle("collect_list")
def _collect_list(rows: Rows) -> list[Any]:
    return [value for value in rows.ordered() if value is not None]


@oracle("concat")
def _concat(rows: Rows, separator: str = "") -> str | None:
    texts = _collect_list(rows)
    return separator.join(texts) if texts else None


def _quantile(values: list[Any], share: float) -> float:
    at = (len(values) - 1) * share
    low, high = values[math.floor(at)], values[math.ceil(at)]
    if rank(low) == rank(high):
        return float(low)
    distance = float(high) - float(low)
    numbers = exact((low, high))
    if numbers is None or math.isinf(distance):
        return float(low) + (at - math.floor(at)) * distance
    upper = Fraction(at) - math.floor(at)
    return float((1 - upper) * numbers[0] + upper * numbers[1])


@oracle("percentile")
def _percentile(rows: Rows, share: float | list[float]) -> Any:
    values = sorted(rows.values(), key=rank)
    if not values:
        return None
    if isinstance(share, list):
        return [_quantile(values, one) for one in share]
    return _quantile(values, share)


@oracle("median")
def _median(rows: Rows) -> float | None:
    values = sorted(rows.values(), key=rank)
    return _quantile(values, 0.5) if values else None


@oracle("approx_percentile")
def _approx_percentile(rows: Rows, share: float | list[float], accuracy: int = 10_000) -> Any:
    """The least value that at least ``share`` of all values do not exceed; NaN left out."""
    del accuracy
    values = sorted(value for value in rows.values() if not is_nan(value))
    if not values:
        return None
    shares = share if isinstance(share, list) else [share]
    at = [math.ceil(Fraction(str(one)) * len(values)) for one in shares]
    found = [values[max(place, 1) - 1] for place in at]
    return found if isinstance(share, list) else found[0]


@oracle("approx_count_distinct")
def _approx_count_distinct(rows: Rows, rsd: float = 0.05) -> int:
    del rsd
    return _count_distinct(rows)


@oracle("mode")
def _mode(rows: Rows) -> Any:
    """The most frequent value; the least among equals."""
    counted = tallies(rows.values())
    most = max((count for _, count in counted), default=0)
    return next((value for value, count in counted if count == most), None)


@oracle("heavy_hitters")
def _heavy_hitters(rows: Rows, share: float) -> list[tuple[Any, int]]:
    counted = tallies(rows.values())
    least = Fraction(str(share)) * sum(count for _, count in counted)
    kept = [(value, count) for value, count in counted if count >= least]
    return sorted(kept, key=lambda pair: (-pair[1], rank(pair[0])))


def _extreme_count(rows: Rows, *, largest: bool) -> int:
    counted = tallies(rows.values())
    return counted[-1 if largest else 0][1] if counted else 0


@oracle("max_count")
def _max_count(rows: Rows) -> int:
    return _extreme_count(rows, largest=True)


@oracle("min_count")
def _min_count(rows: Rows) -> int:
    return _extreme_count(rows, largest=False)


@oracle("nth_smallest")
def _nth_smallest(rows: Rows, n: int) -> Any:
    values = sorted(rows.values(), key=rank)
    return values[n - 1] if n <= len(values) else None


@oracle("nth_youngest")
def _nth_youngest(rows: Rows, n: int) -> Any:
    values = _collect_list(rows)
    return values[-n] if n <= len(values) else None


@oracle("linear_fit")
def _linear_fit(rows: Rows) -> tuple[float, float, float] | None:
    """Least squares over the time since the window's start: (slope, intercept, r2)."""
    start = Fraction(rows.start)
    points = [
        ((Fraction(time) - start) / rows.unit, row[0])
        for time, row in zip(rows.times, rows.columns, strict=True)
        if row[0] is not None
    ]
    if len({x for x, _ in points}) <= 1:
        return None
    ys = exact(y for _, y in points)
    if ys is None:
        return (math.nan, math.nan, math.nan)
    xs = [x for x, _ in points]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    sxx = sum((x - mean_x) ** 2 for x in xs)
    sxy = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    syy = sum((y - mean_y) ** 2 for y in ys)
    slope = sxy / sxx
    share = sxy**2 / (sxx * syy) if syy else Fraction(1)
    return (float(slope), float(mean_y - slope * mean_x), float(share))


def _of_some(rows: Rows) -> Rows:
    """The rows whose last column is above 0, without that column."""
    kept = [at for at, row in enumerate(rows.columns) if row[-1] is not None and row[-1] > 0]
    return replace(
        rows,
        columns=[rows.columns[at][:-1] for at in kept],
        places=[rows.places[at] for at in kept],
        times=[rows.times[at] for at in kept],
    )


def split(request: Sequence[Any]) -> tuple[str, tuple[str, ...], tuple[Any, ...]]:
    """A request such as ``("percentile", "v", 0.9)``: function, columns, further arguments.

    >>> split(("min_by", "v", "w")), split(("count",)), split(("percentile", "v", 0.9))
    (('min_by', ('v', 'w'), ()), ('count', (), ()), ('percentile', ('v',), (0.9,)))
    >>> split(("where", "percentile", "v", 0.9))
    ('where', ('v', 'n'), ('percentile', 0.9))
    """
    name, *given = request
    if name == "where":
        inner, columns, options = split(given)
        return name, (*columns, TESTED), (inner, *options)
    arity = ARITY.get(name, len(given))
    return name, tuple(given[:arity]), tuple(given[arity:])


def evaluate(name: str, rows: Rows, options: Sequence[Any]) -> Any:
    """The aggregate called ``name`` over the rows of a window."""
    if name == "where":
        return evaluate(options[0], _of_some(rows), options[1:])
    return FUNCTIONS[name](rows, *options)
