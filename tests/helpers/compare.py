"""Whether a value is the oracle's: doubles to 1e-9 of what went into them, all else exactly."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

from tests.oracle import aggregates
from tests.oracle.values import is_finite, rank, tallies

CLOSE = 1e-9
PAIRS = ("corr", "covar_pop", "covar_samp", "regr_avgx", "regr_avgy", "regr_count",
         "regr_intercept", "regr_r2", "regr_slope", "regr_sxx", "regr_sxy", "regr_syy")  # fmt: skip
ULP = 2.0**-52
OF_ONE = ("regr_avgx", "regr_avgy", "regr_sxx", "regr_syy")  # of one of two columns


def same(got, expected, slack=0.0):
    """Whether a value is as expected; ``slack`` is allowed between numbers (one a field)."""
    if isinstance(expected, (list, tuple)):
        if not isinstance(got, (list, tuple)) or len(got) != len(expected):
            return False
        slacks = slack if isinstance(slack, tuple) else [slack] * len(expected)
        return all(map(same, got, expected, slacks))
    if type(got) is not type(expected):
        return False
    if isinstance(expected, (int, float)) and math.isfinite(expected) and math.isfinite(got):
        return abs(got - expected) <= slack
    return rank(got) == rank(expected)


def tolerance(request, window, spec, time):
    """How far a number may be from the oracle's, given the rows of the window.

    ``time`` is a column, or of events that last a pair of them.
    """
    if request[0] == "where":
        rows = [row for row in window.rows if (row[aggregates.TESTED] or 0) > 0]
        bounds = {name: getattr(window, name, None) for name in ("origin", "start", "end")}
        window = SimpleNamespace(rows=rows, **bounds)
        return tolerance(request[1:], window, spec, time)
    function, names, options = aggregates.split(request)
    if function in PAIRS:
        pairs = [[row[name] for name in names] for row in window.rows]
        return _pair_slack(function, [pair for pair in pairs if None not in pair])
    values = [row[names[0]] for row in window.rows if names and row[names[0]] is not None]
    if True in options:
        values = [value for value, _ in tallies(values)]
    exactly = "rows" in (spec.measure, spec.slide.measure)
    finite = [abs(value) for value in values if not isinstance(value, str) and is_finite(value)]
    if function == "approx_count_distinct" and not exactly:
        return 4 * (options[0] if options else 0.05) * len({rank(value) for value in values})
    if function in ("median", "percentile"):
        return CLOSE * _neighbours(values, options[0] if options else 0.5) if values else 0.0
    if function in ("integral", "time_weighted_avg", "rate", "increase", "duration"):
        return _held_slack(function, window, (names[0], time), spec)
    time = time[1] if isinstance(time, tuple) else time
    slack = 0.0
    if not finite or len(finite) < len(values):
        slack = 0.0  # NaN, infinite and null are what they are
    elif function in ("sum", "avg", "try_sum", "try_avg") and not isinstance(
        values[0], (int, Decimal)
    ):
        slack = CLOSE * math.fsum(finite) / (1 if function == "sum" else len(values))
    elif function in ("avg", "try_avg") and isinstance(values[0], int):
        slack = CLOSE * sum(finite) / len(values)
    elif function.startswith(("var", "stddev")):
        slack = _spread_slack(function, values)
    elif function in ("skewness", "kurtosis"):
        slack = _shape_slack(function, values)
    elif function == "product":
        slack = CLOSE * abs(math.prod(values))
    elif function == "linear_fit":
        whole = "number" in (spec.measure, spec.slide.measure)
        slack = _fit_slack(window, names[0], time, 1 if whole else 1_000_000)
    return slack


def _held_slack(function, window, names, spec):
    """What rounding loses of the area under the sizes of values, or of a rise by the second."""
    name, time = names
    unit = 1 if "number" in (spec.measure, spec.slide.measure) else 1_000_000
    rows = [row for row in window.rows if row[name] is not None]
    heights = [abs(float(row[name])) for row in rows if is_finite(row[name])]
    if not heights:
        return 0.0
    if isinstance(time, tuple):
        lengths = [
            float(min(row[time[1]], window.end) - max(row[time[0]], window.start)) / unit
            for row in rows
        ]
        if function in ("integral", "duration"):
            return CLOSE * max(heights) * sum(lengths)
        return CLOSE * max(heights)
    span = float(max(row[time] for row in rows) - min(row[time] for row in rows)) / unit
    if function == "increase":
        return CLOSE * math.fsum(heights)
    if function == "rate":
        return CLOSE * math.fsum(heights) / span if span else 0.0
    return CLOSE * max(heights) * (span if function in ("integral", "duration") else 1)


def _neighbours(values, share):
    """The size of the values that a percentile lies between."""
    if isinstance(share, list):
        return max(_neighbours(values, one) for one in share)
    ordered, at = sorted(values, key=rank), (len(values) - 1) * share
    beside = (float(ordered[math.floor(at)]), float(ordered[math.ceil(at)]))
    return max(map(abs, beside)) if all(map(is_finite, beside)) else 0.0


def _moments(values):
    """Mean and standard deviation, in doubles: for tolerances only."""
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def _spread_slack(function, values):
    """Centred moments lose as much as the mean is larger than the deviation, and no more.

    A sum of squares would lose the square of it, and be seen.
    """
    numbers = [float(value) for value in values]
    mean, deviation = _moments(numbers)
    largest = max(map(abs, numbers))
    floor = (4 * len(numbers) * ULP * largest) ** 2  # the mean itself is rounded
    if function.startswith("var"):
        return CLOSE * deviation * math.hypot(mean, deviation) * 2 + floor
    return CLOSE * 2 * math.hypot(mean, deviation) * bool(deviation) + math.sqrt(floor)


def _shape_slack(function, values):
    """What a standardized moment may be, and by how much the deviation is known less well."""
    mean, deviation = _moments([float(value) for value in values])
    most = math.sqrt(len(values)) if function == "skewness" else len(values)
    return CLOSE * 8 * (1 + most) * math.hypot(mean, deviation) / deviation if deviation else 0.0


def _pair_slack(function, pairs):
    """As much as means are larger than deviations, for each of the two columns."""
    ys, xs = ([pair[at] for pair in pairs] for at in (0, 1))
    own = {"x": xs, "y": ys}.get(function[-1], [*ys, *xs]) if function in OF_ONE else [*ys, *xs]
    if not pairs or function == "regr_count" or not all(map(is_finite, own)):
        return 0.0
    if function in ("regr_avgx", "regr_avgy"):
        return CLOSE * math.fsum(map(abs, own)) / len(own)
    if function in OF_ONE:
        return len(own) * _spread_slack("var_pop", own)
    (my, dy), (mx, dx) = _moments(ys), _moments(xs)
    ly, lx, n = math.hypot(my, dy), math.hypot(mx, dx), len(pairs)
    both = CLOSE * 2 * (lx * dy + dx * ly) + (4 * n * ULP) ** 2 * lx * ly
    if function in ("covar_pop", "covar_samp", "regr_sxy"):
        return both * (n if function == "regr_sxy" else 2)
    return _line_slack(function, (lx, dx, abs(mx)), (ly, dy), both) if dx else 0.0


def _line_slack(function, x, y, both):
    """Of the size, the deviation and the mean of the columns, and what their product may lose."""
    (lx, dx, mx), (ly, dy) = x, y
    slope = both / dx**2 + CLOSE * 4 * lx * dy / dx**2
    if function in ("regr_slope", "regr_intercept"):
        return slope if function == "regr_slope" else CLOSE * ly + slope * mx
    return CLOSE * 8 * (1 + lx / dx + (ly / dy if dy else 0.0))


def _fit_slack(window, name, time, unit):
    """A line's slope is known to the size of the values over the spread of the times."""
    kept = [row for row in window.rows if row[name] is not None]
    xs = [float(Fraction(row[time]) - Fraction(window.origin)) / unit for row in kept]
    ys = [float(row[name]) for row in kept]
    (mean, wide), (_, high) = _moments(xs), _moments(ys)
    largest = max(map(abs, ys))
    slope = CLOSE * largest / wide if wide else 0.0
    lost = largest / high if high else 0.0
    return slope, CLOSE * largest + slope * abs(mean), CLOSE * (1 + lost)
