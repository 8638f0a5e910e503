"""Running values of a frame: how to add a value, and whether a limit is reached.

All kernels that cut frames by deltas or limits use these functions, over one attribute or several.
Doubles are added with compensation (Neumaier), integers exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fanlight.engine.kernels.jit import jitable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

# What a limit watches; the numbers are part of the layout of state.
SUM, GREATEST, MEAN, VAR_SAMP, VAR_POP, STDDEV_SAMP, STDDEV_POP = range(7)
FAR_SUM, FAR_MEAN = 7, 8  # how far a sum or a mean is from 0
# A sum of integers saturates at these.
TOP, BOTTOM = 2**63 - 1, -(2**63)


@jitable
def floats_differ_by(low: float, high: float, delta: float) -> bool:
    """Whether two doubles differ by at least ``delta``."""
    return bool(high - low >= delta)


@jitable
def ints_differ_by(low: int, high: int, delta: int) -> bool:
    """Whether two integers differ by at least ``delta``; unsigned, so it cannot overflow."""
    return bool(np.uint64(high) - np.uint64(low) >= np.uint64(delta))


@jitable
def add_float(total: float, lost: float, x: float) -> tuple[float, float]:
    """Add a value to a sum of doubles: the sum, and what rounding has lost so far."""
    more = total + x
    less = (total - more) + x if abs(total) >= abs(x) else (x - more) + total
    return more, (lost + less if abs(more) < np.inf else 0.0)


@jitable
def add_int(total: int, x: int) -> int:
    """Add a value to a sum of integers, saturating at 64 bits.

    A sum above 64 bits has reached any limit, a sum below them none.
    """
    if x > 0 and total > TOP - x:
        return TOP
    if x < 0 and total < BOTTOM - x:
        return BOTTOM
    return total + x


@jitable
def sum_reached(total: float, lost: float, limit: float) -> bool:
    """Whether a sum of doubles has reached a limit; NaN has not."""
    return bool(total + lost >= limit)


@jitable
def add_value(watched: int, n: float, s: float, c: float, x: float) -> tuple[float, float, float]:
    """Add a value, which may be NaN, to the running state of a limit on doubles.

    The state is the number of values; their sum (also for a mean), greatest, or mean (for a
    variance); and what the sum has lost to rounding, or the second moment about the mean.
    """
    if x != x:  # noqa: PLR0124 - NaN
        return n, s, c
    if n == 0.0:
        return 1.0, x, 0.0
    if watched in (SUM, FAR_SUM, MEAN, FAR_MEAN):
        total, lost = add_float(s, c, x)
        return n + 1.0, total, lost
    if watched == GREATEST:
        return n + 1.0, max(s, x), 0.0
    beyond = x - s
    mean = s + beyond / (n + 1.0)
    return n + 1.0, mean, c + beyond * (x - mean)


@jitable
def limit_reached(watched: int, n: float, s: float, c: float, limit: float) -> bool:
    """Whether the running state of a limit on doubles has reached it."""
    if n == 0.0:
        return False
    if watched in (SUM, FAR_SUM):
        return abs(s + c) >= limit if watched == FAR_SUM else sum_reached(s, c, limit)
    if watched in (MEAN, FAR_MEAN):
        mean = (s + c) / n
        return (abs(mean) if watched == FAR_MEAN else mean) >= limit
    if watched == GREATEST:
        return s >= limit
    if watched in (VAR_SAMP, STDDEV_SAMP):
        if n < 2.0:
            return False
        c = c / (n - 1.0)
    else:
        c = c / n
    return (np.sqrt(c) if watched >= STDDEV_SAMP else c) >= limit


@jitable
def add_whole(watched: int, total: int, x: int) -> int:
    """Add a value to the running state of a limit on integers."""
    return max(total, x) if watched == GREATEST else add_int(total, x)


@jitable
def whole_reached(watched: int, total: int, limit: int) -> bool:
    """Whether the running state of a limit on integers has reached it."""
    return total >= limit or (watched == FAR_SUM and (limit == BOTTOM or total <= -limit))


@jitable
def count_with_value(count: int, value: int, alone: bool, frame: int, met: Ints) -> int:
    """The number of distinct values in a frame after adding ``value``, a number, -1 for null.

    ``met`` has the last frame of each value; ``alone``: the row is the first of its frame.
    """
    if alone:
        return int(value >= 0)
    return count + int(value >= 0 and met[value] != frame)
