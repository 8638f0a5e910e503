"""Finds the rows of each window, among rows sorted by key and time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fanlight.engine.kernels.jit import (
    INT,
    INTS,
    NEW_INTS,
    VOID,
    jitable,
    kernel,
    named_tuple_of,
    tuple_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


AT_ONCE = 100_000  # windows that are returned together


class Windows(NamedTuple):
    """Windows: of each the number of its key, its start, and its rows ``[lo, hi)``."""

    keys: Ints
    starts: Ints
    lo: Ints
    hi: Ints


WINDOWS = named_tuple_of(Windows, NEW_INTS, NEW_INTS, NEW_INTS, NEW_INTS)


def windows_with_rows(
    times: Ints, begins: Ints, grid: tuple[int, int, int], at_once: int = AT_ONCE
) -> Iterator[Windows]:
    """The windows that have a row, at most ``at_once`` at a time.

    A key's rows begin at ``begins`` and are sorted by time. ``grid`` is RANGE, SLIDE and offset.
    Windows are sorted by key and time, so neither end of their rows moves back.
    """
    ends = np.append(begins[1:], len(times))
    # Key, whether it has begun, start of next window, a row up to its first.
    state = np.array([0, 0, 0, 0])
    while state[0] < len(begins):
        buffers = Windows(*(np.empty(at_once, np.int64) for _ in range(4)))
        used = _write_windows(times, begins, ends, grid, state, buffers)
        if used:
            yield Windows(*(part[:used] for part in buffers))


@jitable
def _first_start_after(t: int, length: int, slide: int, offset: int) -> int:
    """The start of the first window that ends after ``t``."""
    after = t - length + 1
    return after + (offset - after) % slide


@kernel(INT(INTS, INTS, INTS, tuple_of(INT, INT, INT), NEW_INTS, WINDOWS))
def _write_windows(
    times: Ints,
    begins: Ints,
    ends: Ints,
    grid: tuple[int, int, int],
    state: Ints,
    buffers: Windows,
) -> int:
    """Write windows and return how many; ``state`` says where to resume, and is updated."""
    length, slide, offset = grid
    keys, starts, lows, highs = buffers
    key, started, start, lo = state[0], state[1], state[2], state[3]
    hi, used = lo, 0
    while key < len(begins):
        if not started:
            lo, started = begins[key], 1
            hi = lo
            start = _first_start_after(times[lo], length, slide, offset)
        while lo < ends[key] and used < len(keys):
            start = max(start, _first_start_after(times[lo], length, slide, offset))
            if times[lo] < start:  # all its windows are done, or it lies in a gap between windows
                lo += 1
                continue
            hi = max(hi, lo)
            while hi < ends[key] and times[hi] < start + length:
                hi += 1
            if hi > lo:
                keys[used], starts[used], lows[used], highs[used] = key, start, lo, hi
                used += 1
            start += slide
        if lo < ends[key]:
            break
        key, started = key + 1, 0
    state[0], state[1], state[2], state[3] = key, started, start, lo
    return used


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
