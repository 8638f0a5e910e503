"""Sliding reductions: one result for each range, where both ends of ranges only move forward.

Each row enters and leaves once, so a range costs amortised O(1), whatever its length.

- Counts and sums of integers are exact, so rows are added to a running sum and subtracted again.
- Sums of doubles are not exact: the rounding error that a large value leaves when it is subtracted
  would stay in all later ranges. A minimum cannot be subtracted at all. Both are combined from two
  parts (the two stacks of a queue): rows up to a turning point are kept as partials of every
  suffix, rows after it as one running partial; when the lower end passes the turning point, this
  moves to the upper end. So each row is visited at most twice, and nothing is ever subtracted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fanlight.engine.kernels.jit import (
    BOOL,
    BOOLS,
    FLOATS,
    INT,
    INTS,
    NEW_BOOLS,
    NEW_FLOATS,
    NEW_INTS,
    VOID,
    jitable,
    kernel,
    named_tuple_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Reduced = tuple[NDArray[Any], Bools]

_LOW = 0xFFFF_FFFF  # the lower half of a 64-bit integer
_HALF = 1 << 31  # sums whose upper half is in [-_HALF, _HALF) fit 64 bits


def range_sum(values: NDArray[Any], valid: Bools | None, lo: Ints, hi: Ints) -> Reduced:
    """The sum of each range ``[lo_i, hi_i)``: integers exactly, doubles with compensation.

    Raises OverflowError if the sum of a range of integers does not fit 64 bits; intermediate sums
    may exceed them.
    """
    values, valid, lo, hi = _check_arguments(values, valid, lo, hi)
    if values.dtype == np.float64:
        return _float_sums(values, valid, lo, hi)
    sums, seen = np.zeros(len(lo), np.int64), np.zeros(len(lo), np.bool_)
    overflow = _sum_ints(values, valid, lo, hi, sums, seen)
    if overflow >= 0:
        raise OverflowError(
            f"the sum of rows {lo[overflow]} to {hi[overflow] - 1} does not fit a 64-bit integer"
        )
    return sums, seen


def range_min(values: NDArray[Any], valid: Bools | None, lo: Ints, hi: Ints) -> Reduced:
    """The least value of each range ``[lo_i, hi_i)``; NaN only where all valid values are NaN."""
    return _extreme(values, valid, lo, hi, greatest=False)


def range_max(values: NDArray[Any], valid: Bools | None, lo: Ints, hi: Ints) -> Reduced:
    """The greatest value of each range ``[lo_i, hi_i)``; NaN, the greatest, if it has one."""
    return _extreme(values, valid, lo, hi, greatest=True)


def _extreme(
    values: NDArray[Any], valid: Bools | None, lo: Ints, hi: Ints, *, greatest: bool
) -> Reduced:
    values, valid, lo, hi = _check_arguments(values, valid, lo, hi)
    search: Callable[..., None] = (
        _find_float_extremes if values.dtype == np.float64 else _find_int_extremes
    )
    best_rows, held = np.full(len(lo), -1, np.int64), np.empty(_longest(lo, hi), np.int64)
    search(values, valid, lo, hi, greatest, held, best_rows)
    seen = best_rows >= 0
    best = np.zeros(len(lo), values.dtype)
    best[seen] = values[best_rows[seen]]
    return best, seen


def _check_arguments(
    values: NDArray[Any], valid: Bools | None, lo: Ints, hi: Ints
) -> tuple[NDArray[Any], Bools, Ints, Ints]:
    """Check and convert the arguments, as the loops do no checks."""
    values = np.ascontiguousarray(values)
    if values.ndim != 1 or values.dtype not in (np.int64, np.float64):
        raise TypeError(f"values must be one row of int64 or float64, not {values.dtype}")
    rows = len(values)
    mask = np.ones(rows, np.bool_) if valid is None else np.ascontiguousarray(valid, np.bool_)
    lo, hi = np.ascontiguousarray(lo, np.int64), np.ascontiguousarray(hi, np.int64)
    if mask.shape != values.shape or lo.ndim != 1 or lo.shape != hi.shape:
        raise ValueError("values and valid, and lo and hi, must be of the same length")
    for name, ends in (("lo", lo), ("hi", hi)):
        if len(ends) and (ends[0] < 0 or ends[-1] > rows or np.any(ends[1:] < ends[:-1])):
            raise ValueError(f"{name} must never fall and stay between 0 and {rows}")
    return values, mask, lo, hi


def _float_sums(values: Floats, valid: Bools, lo: Ints, hi: Ints) -> Reduced:
    sums, seen = np.zeros(len(lo), np.float64), np.zeros(len(lo), np.bool_)
    longest = _longest(lo, hi)
    totals, losses = np.empty(longest, np.float64), np.empty(longest, np.float64)
    suffixes = Suffixes(totals, losses, np.empty(longest, np.bool_))
    _sum_floats(values, valid, lo, hi, suffixes, sums, seen)
    return sums, seen


def _longest(lo: Ints, hi: Ints) -> int:
    return int((hi - lo).max(initial=0))


# Loops write to arrays allocated outside them: so they compile in less than half the time.


@kernel(INT(INTS, BOOLS, INTS, INTS, NEW_INTS, NEW_BOOLS))
def _sum_ints(values: Ints, valid: Bools, lo: Ints, hi: Ints, sums: Ints, seen: Bools) -> int:
    """Write sums, and whether a range has a value; return the first that overflows, or -1.

    The running sum is two sums of 32-bit halves, which are exact for 2**31 rows.
    """
    first = last = 0  # rows [first, last) are in the running sum
    high = low = rows = 0
    overflow = -1
    for i in range(len(lo)):
        if lo[i] >= last:
            first = last = lo[i]
            high = low = rows = 0
        while first < lo[i]:
            if valid[first]:
                high -= values[first] >> 32
                low -= values[first] & _LOW
                rows -= 1
            first += 1
        while last < hi[i]:
            if valid[last]:
                high += values[last] >> 32
                low += values[last] & _LOW
                rows += 1
            last += 1
        carried = high + (low >> 32)
        if overflow < 0 and not -_HALF <= carried < _HALF:
            overflow = i
        sums[i] = (carried << 32) | (low & _LOW)
        seen[i] = rows > 0
    return overflow


@jitable
def _add_compensated(total: float, lost: float, value: float) -> tuple[float, float]:
    """Add a value to a compensated sum: the sum, and what rounding has lost so far (Knuth)."""
    more = total + value
    back = more - total
    return more, lost + ((total - (more - back)) + (value - back))


class Suffixes(NamedTuple):
    """Buffers for sums of suffixes: the sum, what rounding lost, whether there was a value."""

    totals: Floats
    losses: Floats
    some: Bools


SUFFIXES = named_tuple_of(Suffixes, NEW_FLOATS, NEW_FLOATS, NEW_BOOLS)


@kernel(VOID(FLOATS, BOOLS, INTS, INTS, SUFFIXES, NEW_FLOATS, NEW_BOOLS))
def _sum_floats(
    values: Floats,
    valid: Bools,
    lo: Ints,
    hi: Ints,
    suffixes: Suffixes,
    sums: Floats,
    seen: Bools,
) -> None:
    """Write sums, and whether a range has a value."""
    totals, losses, some = suffixes
    base = turn = last = 0  # suffixes of [base, turn) are held, rows [turn, last) are running
    total = lost = 0.0
    any_running = False
    for i in range(len(lo)):
        if hi[i] <= lo[i]:
            continue
        if lo[i] >= turn:
            base, turn, last = lo[i], hi[i], hi[i]
            total = lost = 0.0
            any_running = False
            for row in range(turn - 1, base - 1, -1):
                if valid[row]:
                    total, lost = _add_compensated(total, lost, values[row])
                    any_running = True
                totals[row - base], losses[row - base] = total, lost
                some[row - base] = any_running
            total = lost = 0.0
            any_running = False
        while last < hi[i]:
            if valid[last]:
                total, lost = _add_compensated(total, lost, values[last])
                any_running = True
            last += 1
        both, rest = _add_compensated(totals[lo[i] - base], losses[lo[i] - base], total)
        rest += lost
        sums[i] = both + rest if abs(both) < np.inf and abs(rest) < np.inf else both
        seen[i] = some[lo[i] - base] or any_running


@jitable
def _beats(a: Any, b: Any, greatest: bool) -> bool:
    """Whether ``a`` is more extreme than ``b`` in Spark's order, where NaN is greatest."""
    if greatest:
        return bool(a > b or (a != a and b == b))  # noqa: PLR0124 - NaN
    return bool(a < b or (b != b and a == a))  # noqa: PLR0124


def _find_extremes(
    values: NDArray[Any],
    valid: Bools,
    lo: Ints,
    hi: Ints,
    greatest: bool,
    held: Ints,
    best_rows: Ints,
) -> None:
    """Write the row of each range's extreme value, the first among equals; -1 stays if none."""
    base = turn = last = 0  # suffixes of [base, turn) are held, rows [turn, last) are running
    best = -1
    for i in range(len(lo)):
        if hi[i] <= lo[i]:
            continue
        if lo[i] >= turn:
            base, turn, last = lo[i], hi[i], hi[i]
            best = -1
            for row in range(turn - 1, base - 1, -1):
                if valid[row] and (best < 0 or not _beats(values[best], values[row], greatest)):
                    best = row
                held[row - base] = best
            best = -1
        while last < hi[i]:
            if valid[last] and (best < 0 or _beats(values[last], values[best], greatest)):
                best = last
            last += 1
        row = held[lo[i] - base]
        if row < 0 or (best >= 0 and _beats(values[best], values[row], greatest)):
            row = best
        best_rows[i] = row


_find_int_extremes = kernel(VOID(INTS, BOOLS, INTS, INTS, BOOL, NEW_INTS, NEW_INTS))(_find_extremes)
_find_float_extremes = kernel(VOID(FLOATS, BOOLS, INTS, INTS, BOOL, NEW_INTS, NEW_INTS))(
    _find_extremes
)
