"""Every aggregate of the library over the rows of one window, from its definition.

Each function sees all the rows of one window at once: nothing is merged, nothing is taken back.
"""

from __future__ import annotations

import itertools
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
    microseconds, or in the units of a numeric time. Of events that last ``parts`` says from when to
    when each lies in the window, which goes from ``start`` to ``end``.
    """

    columns: Sequence[tuple[Any, ...]]
    places: Sequence[Any]
    times: Sequence[Any]
    start: Any
    unit: int
    parts: Sequence[tuple[Any, Any]] = ()
    end: Any = None

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


@oracle("count_if")
def _count_if(rows: Rows) -> int:
    return sum(1 for value in rows.values() if value)


@oracle("bool_and")
def _bool_and(rows: Rows) -> bool | None:
    values = rows.values()
    return False not in values if values else None


@oracle("bool_or")
def _bool_or(rows: Rows) -> bool | None:
    values = rows.values()
    return True in values if values else None


def _numbers(rows: Rows, distinct: bool) -> list[Any]:
    return [value for value, _ in tallies(rows.values())] if distinct else rows.values()


@oracle("sum", "try_sum")
def _sum(rows: Rows, distinct: bool = False) -> Any:
    values = _numbers(rows, distinct)
    return total(values) if values else None


@oracle("product")
def _product(rows: Rows) -> float | None:
    values = rows.values()
    return math.prod(values) if values else None


def _bit(numbers: list[int], place: int) -> int:
    return sum(1 for number in numbers if number >> place & 1)


def _bits(rows: Rows, is_set: Callable[[int, int], bool]) -> int | None:
    """A number of 64 bits, bit by bit: by how many of how many numbers have the bit."""
    numbers = rows.values()
    if not numbers:
        return None
    bits = sum(is_set(_bit(numbers, place), len(numbers)) << place for place in range(64))
    return bits - 2**64 if bits >= 2**63 else bits


@oracle("bit_and")
def _bit_and(rows: Rows) -> int | None:
    return _bits(rows, lambda having, all_rows: having == all_rows)


@oracle("bit_or")
def _bit_or(rows: Rows) -> int | None:
    return _bits(rows, lambda having, _: having > 0)


@oracle("bit_xor")
def _bit_xor(rows: Rows) -> int | None:
    return _bits(rows, lambda having, _: having % 2 == 1)


@oracle("avg", "try_avg")
def _avg(rows: Rows, distinct: bool = False) -> Any:
    values = _numbers(rows, distinct)
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


def _variance(rows: Rows, taken: int, distinct: bool) -> float | None:
    """The mean squared distance from the mean, over ``n - taken``."""
    values = _numbers(rows, distinct)
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
def _var_samp(rows: Rows, distinct: bool = False) -> float | None:
    return _variance(rows, 1, distinct)


@oracle("var_pop")
def _var_pop(rows: Rows, distinct: bool = False) -> float | None:
    return _variance(rows, 0, distinct)


@oracle("stddev_samp")
def _stddev_samp(rows: Rows, distinct: bool = False) -> float | None:
    return _root(_variance(rows, 1, distinct))


@oracle("stddev_pop")
def _stddev_pop(rows: Rows, distinct: bool = False) -> float | None:
    return _root(_variance(rows, 0, distinct))


def _standardized(rows: Rows, power: int) -> float | None:
    """The mean of a power of the distances from the mean, in standard deviations."""
    values = rows.values()
    if not values:
        return None
    numbers = exact(values)
    if numbers is None:
        return math.nan
    mean = sum(numbers, Fraction(0)) / len(numbers)
    spread = sum((x - mean) ** 2 for x in numbers) / len(numbers)
    if not spread:
        return None
    return float(sum((x - mean) ** power for x in numbers) / len(numbers)) / (
        math.sqrt(spread) ** power
    )


@oracle("skewness")
def _skewness(rows: Rows) -> float | None:
    return _standardized(rows, 3)


@oracle("kurtosis")
def _kurtosis(rows: Rows) -> float | None:
    found = _standardized(rows, 4)
    return None if found is None else found - 3


def _pairs(rows: Rows) -> tuple[list[Any], list[Any]]:
    """Both columns, of the rows that have both."""
    pairs = [(y, x) for y, x in rows.columns if y is not None and x is not None]
    return [y for y, _ in pairs], [x for _, x in pairs]


def _deviations(one: list[Any], other: list[Any]) -> Fraction | None:
    """The sum of the products of the distances from the means; None if a value is not finite."""
    numbers = exact(one), exact(other)
    if numbers[0] is None or numbers[1] is None:
        return None
    means = [sum(side, Fraction(0)) / len(side) for side in numbers]
    return sum(
        ((a - means[0]) * (b - means[1]) for a, b in zip(*numbers, strict=True)), Fraction(0)
    )


def _of_deviations(rows: Rows, least: int, read: Callable[..., Any]) -> Any:
    """What is read off the number of pairs and their deviations, if there are enough."""
    ys, xs = _pairs(rows)
    if len(ys) < least:
        return None
    products = [_deviations(*sides) for sides in ((xs, xs), (xs, ys), (ys, ys))]
    if None in products:
        return math.nan
    found = read(len(ys), *products)
    return found if found is None else float(found)


@oracle("corr", columns=2)
def _corr(rows: Rows) -> float | None:
    def coefficient(_: int, sxx: Fraction, sxy: Fraction, syy: Fraction) -> float | None:
        return float(sxy) / math.sqrt(sxx) / math.sqrt(syy) if sxx * syy else None

    return _of_deviations(rows, 2, coefficient)


@oracle("covar_pop", columns=2)
def _covar_pop(rows: Rows) -> float | None:
    return _of_deviations(rows, 1, lambda n, _, sxy, __: sxy / n)


@oracle("covar_samp", columns=2)
def _covar_samp(rows: Rows) -> float | None:
    return _of_deviations(rows, 2, lambda n, _, sxy, __: sxy / (n - 1))


@oracle("regr_slope", columns=2)
def _regr_slope(rows: Rows) -> float | None:
    return _of_deviations(rows, 2, lambda _, sxx, sxy, __: sxy / sxx if sxx else None)


@oracle("regr_intercept", columns=2)
def _regr_intercept(rows: Rows) -> float | None:
    ys, xs = _pairs(rows)

    def crossing(n: int, sxx: Fraction, sxy: Fraction, _: Fraction) -> Fraction | None:
        sums = [sum(map(Fraction, side), Fraction(0)) for side in (ys, xs)]
        return (sums[0] - sxy / sxx * sums[1]) / n if sxx else None

    return _of_deviations(rows, 2, crossing)


@oracle("regr_r2", columns=2)
def _regr_r2(rows: Rows) -> float | None:
    def explained(_: int, sxx: Fraction, sxy: Fraction, syy: Fraction) -> Fraction | None:
        return None if not sxx else sxy**2 / (sxx * syy) if syy else Fraction(1)

    return _of_deviations(rows, 2, explained)


@oracle("regr_sxy", columns=2)
def _regr_sxy(rows: Rows) -> float | None:
    return _of_deviations(rows, 1, lambda _, __, sxy, ___: sxy)


def _squares(values: list[Any]) -> float | None:
    if not values:
        return None
    found = _deviations(values, values)
    return math.nan if found is None else float(found)


@oracle("regr_sxx", columns=2)
def _regr_sxx(rows: Rows) -> float | None:
    return _squares(_pairs(rows)[1])


@oracle("regr_syy", columns=2)
def _regr_syy(rows: Rows) -> float | None:
    return _squares(_pairs(rows)[0])


def _mean(values: list[Any]) -> float | None:
    return float(total(list(map(float, values)))) / len(values) if values else None


@oracle("regr_avgx", columns=2)
def _regr_avgx(rows: Rows) -> float | None:
    return _mean(_pairs(rows)[1])


@oracle("regr_avgy", columns=2)
def _regr_avgy(rows: Rows) -> float | None:
    return _mean(_pairs(rows)[0])


@oracle("regr_count", columns=2)
def _regr_count(rows: Rows) -> int:
    return len(_pairs(rows)[0])


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


@oracle("first", "any_value")
def _first(rows: Rows, ignorenulls: bool = False, _carry: None = None) -> Any:
    return _end(rows, ignorenulls, late=False)


@oracle("last")
def _last(rows: Rows, ignorenulls: bool = False) -> Any:
    return _end(rows, ignorenulls, late=True)


@oracle("count_distinct", columns=None)
def _count_distinct(rows: Rows) -> int:
    tuples = [row for row in rows.columns if all(value is not None for value in row)]
    return len(tallies(tuples))


@oracle("collect_list")
def _collect_list(rows: Rows, distinct: bool = False) -> list[Any]:
    values = [value for value in rows.ordered() if value is not None]
    seen = [rank(value) for value in values]
    return [one for at, one in enumerate(values) if not distinct or seen.index(seen[at]) == at]


@oracle("listagg")
def _listagg(rows: Rows, delimiter: str = "", distinct: bool = False) -> str | None:
    texts = _collect_list(rows, distinct)
    return delimiter.join(texts) if texts else None


@oracle("collect_set")
def _collect_set(rows: Rows) -> list[Any]:
    return [value for value, _ in tallies(rows.values())]


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


@oracle("percentile_disc")
def _percentile_disc(rows: Rows, share: float | list[float]) -> Any:
    """The least value that at least ``share`` of all values do not exceed."""
    values = sorted(rows.values(), key=rank)
    if not values:
        return None
    shares = share if isinstance(share, list) else [share]
    at = [max(math.ceil(Fraction(str(one)) * len(values)), 1) for one in shares]
    found = [float(values[place - 1]) for place in at]
    return found if isinstance(share, list) else found[0]


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


@oracle("top_k")
def _top_k(rows: Rows, k: int) -> list[tuple[Any, int]]:
    return sorted(tallies(rows.values()), key=lambda pair: (-pair[1], rank(pair[0])))[:k]


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


def _readings(rows: Rows) -> list[tuple[Fraction, float]]:
    """The instants, in seconds, and the numbers that are there at each; the last of each instant.

    Numbers at one instant are in order of place, then number.
    """
    found = [
        (Fraction(time) / rows.unit, place, rank(row[0]), row[0])
        for time, place, row in zip(rows.times, rows.places, rows.columns, strict=True)
        if row[0] is not None
    ]
    return [(at, float(value)) for at, _, _, value in sorted(found, key=lambda each: each[:3])]


def _area(points: Sequence[tuple[Fraction, float]]) -> float:
    """The area of the rectangles from each instant to the next, as high as the last number then."""
    last = dict(points)  # of several numbers at one instant the last holds
    instants = sorted(last)
    widths = [until - at for at, until in itertools.pairwise(instants)]
    heights = exact(last[at] for at in instants[:-1])
    if heights is None:
        return sum(last[at] * float(w) for at, w in zip(instants, widths, strict=False))
    return float(sum((w * h for w, h in zip(widths, heights, strict=True)), Fraction(0)))


def _overlaps(rows: Rows) -> list[Fraction]:
    """How many seconds of each event lie in the window."""
    return [(Fraction(end) - Fraction(begin)) / rows.unit for begin, end in rows.parts]


@oracle("overlap", columns=0)
def _overlap(rows: Rows) -> float:
    return float(sum(_overlaps(rows), Fraction(0)))


@oracle("mean_running", columns=0)
def _mean_running(rows: Rows) -> float:
    length = (Fraction(rows.end) - Fraction(rows.start)) / rows.unit
    return float(sum(_overlaps(rows), Fraction(0)) / length)


@oracle("covered", columns=0)
def _covered(rows: Rows) -> float:
    """The stretches between neighbouring edges that lie within some event."""
    spans = [(Fraction(begin), Fraction(end)) for begin, end in rows.parts]
    edges = sorted({edge for span in spans for edge in span})
    held = [
        until - at
        for at, until in itertools.pairwise(edges)
        if any(begin <= at and until <= end for begin, end in spans)
    ]
    return float(sum(held, Fraction(0)) / rows.unit)


@oracle("peak", columns=None)
def _peak(rows: Rows) -> tuple[Any, Any]:
    """The first instant with the most, among those at which what is running may change."""
    spans = [(Fraction(begin), Fraction(end)) for begin, end in rows.parts]
    taken = [
        (*span, row[0] if row else 1)
        for span, row in zip(spans, rows.columns, strict=True)
        if not row or row[0] is not None
    ]
    running = {}
    for at in {at for begin, end, _ in taken for at in (begin, begin + 1, end)}:
        there = [n for begin, end, n in taken if begin <= at < end or begin == at == end]
        if there:
            running[at] = total(there)
    if not running:
        return (None if any(rows.columns) else 0), None
    most = max(running.values(), key=rank)
    return most, int(min(at for at, number in running.items() if rank(number) == rank(most)))


def _held(rows: Rows) -> list[tuple[Fraction, float]]:
    """How many seconds of events with a number lie in the window, and the number."""
    pairs = zip(_overlaps(rows), (row[0] for row in rows.columns), strict=True)
    return [(seconds, float(value)) for seconds, value in pairs if value is not None]


def _integral_of_events(rows: Rows) -> float | None:
    held = _held(rows)
    if not held:
        return None
    lasting = [(seconds, value) for seconds, value in held if seconds]
    heights = exact(value for _, value in lasting)
    if heights is None:
        return sum(float(seconds) * value for seconds, value in lasting)
    pairs = zip((seconds for seconds, _ in lasting), heights, strict=True)
    return float(sum((seconds * value for seconds, value in pairs), Fraction(0)))


@oracle("integral")
def _integral(rows: Rows, _carry: None = None) -> float | None:
    if rows.end is not None:
        return _integral_of_events(rows)
    points = _readings(rows)
    return _area(points) if points else None


@oracle("time_weighted_avg")
def _time_weighted_avg(rows: Rows, _carry: None = None) -> float | None:
    """The area over the time that it spans; of events, over the time that they last together."""
    if rows.end is not None:
        time, area = sum(seconds for seconds, _ in _held(rows)), _integral_of_events(rows)
        return area / float(time) if time and area is not None else None
    points = _readings(rows)
    if not points or points[0][0] == points[-1][0]:
        return points[-1][1] if points else None
    return _area(points) / float(points[-1][0] - points[0][0])


@oracle("rate")
def _rate(rows: Rows, _carry: None = None) -> float | None:
    """What each stretch without a fall ends with, less what the first began with, a second."""
    points = _readings(rows)
    if not points or points[0][0] == points[-1][0]:
        return None
    values = [value for _, value in points]
    tops = [a for a, b in itertools.pairwise(values) if b < a]
    counted = sum(map(Fraction, [*tops, values[-1]])) - Fraction(values[0])
    return float(counted / (points[-1][0] - points[0][0]))


@oracle("increase")
def _increase(rows: Rows, _carry: None = None) -> float | None:
    """What each stretch without a fall ends with, less what the first began with."""
    values = [value for _, value in _readings(rows)]
    if not values:
        return None
    tops = [a for a, b in itertools.pairwise(values) if b < a]
    return float(sum(map(Fraction, [*tops, values[-1]])) - Fraction(values[0]))


@oracle("duration")
def _duration(rows: Rows, _carry: None = None) -> float | None:
    """For how long it is true; of events, for how long those last for which it is."""
    if rows.end is None:
        points = _readings(rows)
        return _area(points) if points else None
    held = [(seconds, value) for seconds, value in _held(rows)]
    return float(sum(seconds for seconds, true in held if true)) if held else None


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
        parts=[rows.parts[at] for at in kept] if rows.parts else (),
    )


def _minus(rows: Rows, options: Sequence[Any]) -> Any:
    """The difference of two aggregates, each of some of the columns; null if one of them is."""
    found, taken = [], 0
    for name, count, more in options:
        own = [row[taken : taken + count] for row in rows.columns]
        found.append(evaluate(name, replace(rows, columns=own), more))
        taken += count
    return None if None in found else found[0] - found[1]


def split(request: Sequence[Any]) -> tuple[str, tuple[str, ...], tuple[Any, ...]]:
    """A request such as ``("percentile", "v", 0.9)``: function, columns, further arguments.

    >>> split(("min_by", "v", "w")), split(("count",)), split(("percentile", "v", 0.9))
    (('min_by', ('v', 'w'), ()), ('count', (), ()), ('percentile', ('v',), (0.9,)))
    >>> split(("where", "percentile", "v", 0.9))
    ('where', ('v', 'n'), ('percentile', 0.9))
    >>> split(("minus", ("sum", "n"), ("count",)))
    ('minus', ('n',), (('sum', 1, ()), ('count', 0, ())))
    """
    name, *given = request
    if name == "minus":
        parts = [split(one) for one in given]
        columns = tuple(column for _, own, _ in parts for column in own)
        return name, columns, tuple((inner, len(own), more) for inner, own, more in parts)
    if name == "where":
        inner, columns, options = split(given)
        return name, (*columns, TESTED), (inner, *options)
    arity = ARITY.get(name, len(given))
    return name, tuple(given[:arity]), tuple(given[arity:])


def evaluate(name: str, rows: Rows, options: Sequence[Any]) -> Any:
    """The aggregate called ``name`` over the rows of a window."""
    if name == "where":
        return evaluate(options[0], _of_some(rows), options[1:])
    if name == "minus":
        return _minus(rows, options)
    return FUNCTIONS[name](rows, *options)
