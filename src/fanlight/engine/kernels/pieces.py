"""Turns marks into frames: finds the stretch of rows of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fanlight.engine.kernels.frames import NO_CELL
from fanlight.engine.kernels.jit import BOOLS, INTS, NEW_BOOLS, NEW_INTS, VOID, kernel, tuple_of
from fanlight.engine.kernels.sizes import NEW_MARKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Marks = NDArray[np.uint8]
    Pieces = tuple[Ints, Ints, Ints, Bools, Bools]


def pieces(marks: Marks, starts: Ints, opened: Bools) -> Pieces:
    """The stretch of rows ``[lo, hi)`` of each frame, its group, whether it begins and ends here.

    ``opened`` is true for groups with a frame open before their first row; that frame's stretch
    comes first and may be empty. A frame ends at the row ``hi``, the first one not in it.

        marks     1 1 0 2 1 2        opened before
        stretch   [ ]   [ ] [
        begins    no    yes yes
        ends      yes   yes no
    """
    opening = marks[starts[0] : starts[-1]] == 2
    count = np.count_nonzero(opened) + np.count_nonzero(opening)
    lo, hi = np.empty(count, np.int64), np.empty(count, np.int64)
    group = np.empty(count, np.int64)
    begins, ends = np.ones(count, np.bool_), np.zeros(count, np.bool_)
    _pieces(marks, starts, opened, lo, hi, group, begins, ends)
    return lo, hi, group, begins, ends


@kernel(VOID(NEW_MARKS, INTS, BOOLS, NEW_INTS, NEW_INTS, NEW_INTS, NEW_BOOLS, NEW_BOOLS))
def _pieces(
    marks: Marks,
    starts: Ints,
    opened: Bools,
    lo: Ints,
    hi: Ints,
    group: Ints,
    begins: Bools,
    ends: Bools,
) -> None:
    p = -1
    for g in range(len(starts) - 1):
        begin, end = starts[g], starts[g + 1]
        inside = opened[g]
        if inside:
            p += 1
            lo[p], hi[p], group[p], begins[p] = begin, end, g, False
        for i in range(begin, end):
            mark = marks[i]
            if mark == 1:
                continue
            if inside:
                hi[p], ends[p] = i, True
            inside = mark == 2
            if inside:
                p += 1
                lo[p], hi[p], group[p] = i, end, g


CARRIED_FRAME, CARRIED_RUN = -2, -1  # instead of a row: starts in an earlier batch


@kernel(
    tuple_of(NEW_INTS, NEW_INTS, NEW_INTS, NEW_BOOLS, NEW_INTS)(
        INTS, INTS, NEW_BOOLS, NEW_INTS, NEW_INTS
    )
)
def double_pieces(
    cell: Ints, starts: Ints, opened: Bools, last: Ints, partner: Ints
) -> tuple[Ints, Ints, Ints, Bools, Ints]:
    """Double-boundary frames: the longest stretches of rows in two neighbouring cells.

    If a row leaves the two cells of a frame for a neighbour of the present cell, the next frame
    begins with the present run of rows in one cell, so this run is in two frames:

        cell      1 1 2 1 2 2 3 3 2 4
        frames    [         ]
                          [       ]      the run 2 2 is in both
                                    [

    ``last`` is the cell of the present run, ``partner`` the other cell of its frame, if known.
    Returns the stretches (``lo`` may be ``CARRIED_FRAME`` or ``CARRIED_RUN``), their groups,
    whether they end, and the start of an open frame's present run. Updates ``opened``, ``last``
    and ``partner``.
    """
    size = 0
    for g in range(len(starts) - 1):
        size += 1 + starts[g + 1] - starts[g]
    lo, hi = np.empty(size, np.int64), np.empty(size, np.int64)
    group, run = np.empty(size, np.int64), np.empty(size, np.int64)
    ends = np.empty(size, np.bool_)
    used = 0
    for g in range(len(starts) - 1):
        inside, present, other = opened[g], last[g], partner[g]
        begin, since = CARRIED_FRAME, CARRIED_RUN
        for i in range(starts[g], starts[g + 1]):
            c = cell[i]
            if inside and c == present:
                continue
            beside = c != NO_CELL and abs(c - present) == 1
            if inside and beside and (other in (NO_CELL, c)):
                other, present, since = present, c, i
                continue
            if inside:
                lo[used], hi[used], group[used], ends[used], run[used] = begin, i, g, True, 0
                used += 1
            if c == NO_CELL:
                inside = False
                continue
            if inside and beside:
                begin, other = since, present
            else:
                begin, other = i, NO_CELL
            inside, present, since = True, c, i
        if inside:
            lo[used], hi[used], group[used], ends[used] = begin, starts[g + 1], g, False
            run[used] = since
            used += 1
        opened[g], last[g], partner[g] = inside, present, other
    return lo[:used], hi[:used], group[:used], ends[:used], run[:used]
