"""Progressive widening over sorted rows: the windows of a level, and the rows to keep.

A batch of any level is the first and the last ``L`` rows of its interval, or all of them if there
are no more, as this is what repeatedly cutting out the middle leaves. So windows are ranges of
rows, and no batch is ever copied.

Rows are sorted by key and time. ``prev`` and ``closed`` are two watermarks for each key; the
windows that end between them are returned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fanlight.engine.kernels.jit import (
    BOOL,
    INT,
    INTS,
    NEW_BOOLS,
    NEW_INTS,
    NEW_TABLE,
    VOID,
    jitable,
    kernel,
    named_tuple_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]


class Level(NamedTuple):
    """A level: duration of its batches, of those below (0: none), rows at each end of one."""

    duration: int
    below: int
    most: int


class KeptLevel(NamedTuple):
    """A level: duration of its batches, of those above (0: none), rows at each end of one."""

    duration: int
    above: int
    most: int
    lowest: bool


class Span(NamedTuple):
    """For each key: two watermarks, and the earliest instant at which something is due."""

    prev: Ints
    closed: Ints
    due: Ints


class WindowBuffers(NamedTuple):
    """Buffers for windows and ranges, see :func:`level_windows`, and how many of both there are."""

    owners: Ints
    numbers: Ints
    ends: Ints
    ranges: Ints
    counts: Ints


LEVEL = named_tuple_of(Level, INT, INT, INT)
KEPT_LEVEL = named_tuple_of(KeptLevel, INT, INT, INT, BOOL)
SPAN = named_tuple_of(Span, NEW_INTS, NEW_INTS, NEW_INTS)
WINDOW_BUFFERS = named_tuple_of(WindowBuffers, NEW_INTS, NEW_INTS, NEW_INTS, NEW_TABLE, NEW_INTS)


@jitable
def _end_of_batch(codes: Ints, times: Ints, at: int, duration: int) -> int:
    """The row after the last row of the batch, of one key, that row ``at`` lies in."""
    number, code = times[at] // duration, codes[at]
    stop = at + 1
    while stop < len(times) and codes[stop] == code and times[stop] // duration == number:
        stop += 1
    return stop


@jitable
def _add(ranges: Ints, used: int, start: int, lo: int, hi: int) -> int:
    """Append a range of rows, or extend the last one if they touch; return how many there are."""
    if used > start and ranges[used - 1, 1] == lo:
        ranges[used - 1, 1] = hi
        return used
    ranges[used, 0], ranges[used, 1] = lo, hi
    return used + 1


@jitable
def _add_ends(ranges: Ints, used: int, start: int, lo: int, hi: int, most: int) -> int:
    """Append the first and the last ``most`` rows of a range; return how many ranges there are."""
    if hi - lo <= 2 * most:
        return _add(ranges, used, start, lo, hi)
    used = _add(ranges, used, start, lo, lo + most)
    return _add(ranges, used, start, hi - most, hi)


def level_windows(
    codes: Ints,
    times: Ints,
    prev: Ints,
    closed: Ints,
    duration: int,
    below: int,
    most: int,
    due: Ints,
) -> tuple[Ints, Ints, Ints, Ints]:
    """The windows of one level that can hold new matches.

    ``below`` is the duration of the level below, 0 at level 0. A window is left out if anything in
    it was in an earlier window: at level 0 if its later batch is empty, above if no two of its rows
    lie in batches of the level below that are neither the same nor neighbours.

    Returns for each window its key, the number of its later batch, and where its ranges end; and
    the ranges. Lowers ``due`` to the earliest instant that completes another window of each key.
    """
    rows, ratio = len(times), duration // below if below else 1
    numbered = times // duration
    other = (numbered[1:] != numbered[:-1]) | (codes[1:] != codes[:-1])
    batches = min(rows, 1) + np.count_nonzero(other)
    capacity = rows if ratio > 2 else 0  # a batch of many parts has one or two ranges for each
    owners, numbers, ends = (np.empty(batches, np.int64) for _ in range(3))
    ranges = np.empty((4 * batches + 2 * capacity, 2), np.int64)
    buffers = WindowBuffers(owners, numbers, ends, ranges, np.zeros(2, np.int64))
    _level_windows(codes, times, Span(prev, closed, due), Level(duration, below, most), buffers)
    windows, used = buffers.counts
    return owners[:windows], numbers[:windows], ends[:windows], ranges[:used]


@kernel(VOID(INTS, INTS, SPAN, LEVEL, WINDOW_BUFFERS))
def _level_windows(
    codes: Ints, times: Ints, span: Span, level: Level, buffers: WindowBuffers
) -> None:
    """Write the windows that :func:`level_windows` returns."""
    prev, closed, due = span
    duration, below, most = level
    ranges = buffers.ranges
    rows, ratio = len(times), duration // below if below else 1
    count = used = at = 0
    before_lo = before_hi = 0  # the previous batch of the same key
    while at < rows:
        code, number = codes[at], times[at] // duration
        stop = _end_of_batch(codes, times, at, duration)
        neighbour = (
            before_hi == at
            and before_hi > before_lo
            and codes[before_lo] == code
            and times[before_lo] // duration == number - 1
        )
        complete = (number + 1) * duration - 1  # the last instant of the window
        if complete > prev[code]:
            first = before_lo if neighbour else at
            new = not below or times[stop - 1] // below - times[first] // below >= 2
            if new and complete > closed[code]:
                due[code] = min(due[code], complete)
            elif new:
                start = used
                if neighbour:
                    used = _add_ends(ranges, used, start, before_lo, before_hi, most)
                if not below:
                    used = _add(ranges, used, start, at, stop)
                elif ratio == 2:
                    used = _add_ends(ranges, used, start, at, stop, most)
                else:
                    part = at
                    while part < stop:
                        part_end = _end_of_batch(codes, times, part, below)
                        used = _add_ends(ranges, used, start, part, part_end, most)
                        part = part_end
                buffers.owners[count], buffers.numbers[count] = code, number
                buffers.ends[count] = used
                count += 1
        before_lo, before_hi = at, stop
        at = stop
    buffers.counts[0], buffers.counts[1] = count, used


@kernel(VOID(INTS, INTS, INTS, KEPT_LEVEL, NEW_BOOLS, NEW_INTS))
def keep_rows(
    codes: Ints, times: Ints, closed: Ints, level: KeptLevel, keep: Bools, due: Ints
) -> None:
    """Mark the rows that a level still needs after all windows up to ``closed`` are out.

    These are the ends of the open batch and of the one before it; if a batch of the level above
    has more than two parts, the ends of all of these; all rows of the open batch of level 0; and
    all rows after the watermark.

    Lowers ``due`` to the earliest instant at which a row of the highest level can be dropped.
    """
    duration, above, most, lowest = level
    rows = len(times)
    at = 0
    while at < rows:
        code, number = codes[at], times[at] // duration
        stop = _end_of_batch(codes, times, at, duration)
        final = stop
        while final > at and times[final - 1] > closed[code]:
            final -= 1
            keep[final] = True
        through = closed[code]
        open_batch = through // duration
        if (through + 1) // duration > open_batch:
            open_batch += 1
        oldest = open_batch - 1
        if above > 2 * duration:
            parts = above // duration
            oldest = min(oldest, (open_batch // parts) * parts)
        if number >= oldest:
            if final - at <= 2 * most or (lowest and number >= open_batch):
                for row in range(at, final):
                    keep[row] = True
            else:
                for row in range(most):
                    keep[at + row] = keep[final - 1 - row] = True
            if not above:
                due[code] = min(due[code], (number + 2) * duration - 1)
        at = stop
