"""How steeply times grow: slopes in log-log, and whether the next size would take too long."""

from __future__ import annotations

import math
from statistics import linear_regression

LIMIT = 60.0  # seconds that a competitor may be expected to take


def slope(points):
    """The exponent of growth: least squares through (log size, log value) of the larger half.

    Of seven points the largest four, of six three, two at least: below them, what a query costs
    whatever its size would count. None where there are no two points.
    """
    known = [(size, value) for size, value in points if value]
    upper = known[max(min(len(known) // 2, len(known) - 2), 0) :]
    if len(upper) < 2:
        return None
    sizes, values = zip(*upper, strict=True)
    return linear_regression(list(map(math.log, sizes)), list(map(math.log, values))).slope


def expected(points, size):
    """Seconds at a size, on the line through the last two points; of one point, in proportion."""
    (last, seconds), *_ = reversed(points)
    steep = 1.0 if len(points) == 1 else max(slope(points[-2:]), 0.0)
    return seconds * (size / last) ** steep


def too_long(points, size):
    """Whether a size is not run, from the (size, seconds) of those that were."""
    return bool(points) and expected(points, size) > LIMIT
