"""Finds, for each of many times in order, which rows of its group are in a trailing window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fanlight.engine.kernels.jit import INT, INTS, NEW_INTS, VOID, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

EVER = 2**62  # as ``first``: there is no row too early


@kernel(VOID(INTS, INTS, INTS, INTS, INT, INT, INT, NEW_INTS, NEW_INTS))
def find_ranges(
    times: Ints,
    starts: Ints,
    asked: Ints,
    asked_starts: Ints,
    first: int,
    last: int,
    rows: int,
    lo: Ints,
    hi: Ints,
) -> None:
    """Write the rows ``[lo, hi)`` of each window.

    The rows of group ``g`` are ``[starts[g], starts[g + 1])``, what is asked of it is in
    ``[asked_starts[g], asked_starts[g + 1])``, both by time. A window holds the rows at
    ``[t - first, t - last]``, or the latest ``rows`` of those, if that is not 0. No window begins
    before that of an earlier time, nor ends before it.
    """
    for g in range(len(starts) - 1):
        begin = end = starts[g]
        for i in range(asked_starts[g], asked_starts[g + 1]):
            t = asked[i]
            while end < starts[g + 1] and times[end] <= t - last:
                end += 1
            while first < EVER and begin < end and times[begin] < t - first:
                begin += 1
            if rows > 0 and begin < end - rows:
                begin = end - rows
            lo[i], hi[i] = begin, end
