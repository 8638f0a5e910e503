"""Values that run along with a frame: how the next one enters, and whether a limit is reached.

All loops that cut frames by deltas or by limits take these steps, over one attribute or several.
Doubles are added with compensation (Neumaier), integers exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fanlight.engine.kernels.jit import jitable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

# What a limit watches; the numbers are part of the state's layout.
SUM, GREATEST, MEAN, VAR_SAMP, VAR_POP, STDDEV_SAMP, STDDEV_POP = range(7)
# What a sum of integers stays at once 64 bits cannot hold it.
TOP, BOTTOM = 2**63 - 1, -(2**63)


@jitable
def floats_differ_by(low: float, high: float, delta: float) -> bool:
    """Whether two doubles are a delta apart."""
    return bool(high - low >= delta)


@jitable
def ints_differ_by(low: int, high: int, delta: int) -> bool:
    """Whether two integers are a delta apart; the distance is unsigned, so none overflows."""
    return bool(np.uint64(high) - np.uint64(low) >= np.uint64(delta))


@jitable
def add_float(total: float, lost: float, x: float) -> tuple[float, float]:
    """A sum of doubles with one value more, and what rounding has lost so far."""
    more = total + x
    less = (total - more) + x if abs(total) >= abs(x) else (x - more) + total
    return more, (lost + less if abs(more) < np.inf else 0.0)


@jitable
def add_int(total: int, x: int) -> int:
    """A sum of integers with one value more.

    What is above 64 bits has reached any limit, what is below them none.
    """
    if x > 0 and total > TOP - x:
        return TOP
    if x < 0 and total < BOTTOM - x:
        return BOTTOM
    return total + x


@jitable
def sum_reached(total: float, lost: float, limit: float) -> bool:
    """Whether a sum of doubles has reached a limit; one that is NaN has reached nothing."""
    return bool(total + lost >= limit)


@jitable
def add_value(watched: int, n: float, s: float, c: float, x: float) -> tuple[float, float, float]:
    """What a limit on doubles keeps, with one value more, which may be NaN.

    This is how many values there were; their sum, greatest or mean; and what the sum has lost, or
    the second moment about the mean.
    """
    if x != x:  # noqa: PLR0124 - NaN
        return n, s, c
    if n == 0.0:
        return 1.0, x, 0.0
    if watched == SUM:
        total, lost = add_float(s, c, x)
        return n + 1.0, total, lost
    if watched == GREATEST:
        return n + 1.0, max(s, x), 0.0
    beyond = x - s
    mean = s + beyond / (n + 1.0)
    return n + 1.0, mean, c + beyond * (x - mean)


@jitable
def limit_reached(watched: int, n: float, s: float, c: float, limit: float) -> bool:
    """Whether what a limit on doubles keeps has reached it."""
    if n == 0.0:
        return False
    if watched == SUM:
        return sum_reached(s, c, limit)
    if watched in (GREATEST, MEAN):
        return s >= limit
    if watched in (VAR_SAMP, STDDEV_SAMP):
        if n < 2.0:
            return False
        c = c / (n - 1.0)
    else:
        c = c / n
    return (np.sqrt(c) if watched >= STDDEV_SAMP else c) >= limit


@jitable
def count_with_value(count: int, value: int, alone: bool, frame: int, met: Ints) -> int:
    """How many distinct values a frame has with one more: its number, or -1 for none.

    ``met`` says for each value in which frame it was last; ``alone`` is the first of its frame.
    """
    if alone:
        return int(value >= 0)
    return count + int(value >= 0 and met[value] != frame)
