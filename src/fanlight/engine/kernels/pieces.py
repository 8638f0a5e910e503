"""Turns marks into frames: finds the stretch of rows of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fanlight.engine.kernels.frames import NO_CELL
from fanlight.engine.kernels.jit import (
    BOOLS,
    INT,
    INTS,
    NEW_BOOLS,
    NEW_INTS,
    NONE,
    VOID,
    jitable,
    kernel,
    tuple_of,
)
from fanlight.engine.kernels.sizes import (
    NEW_MARKS,
    SIZES,
    Sizes,
    comes_late,
    exceeds_size,
    measure_row,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Marks = NDArray[np.uint8]
    Pieces = tuple[Ints, Ints, Ints, Bools]
    Stretches = tuple[Ints, Ints, Ints, Bools, Ints]


# Where a stretch begins that began in an earlier batch, instead of a row: what is carried of it is
# as one row before those of its group or, if its current run is told apart, as two.
CARRIED = -1
CARRIED_FRAME, CARRIED_RUN = -2, -1


def pieces(marks: Marks, starts: Ints, opened: Bools) -> Pieces:
    """The stretch of rows ``[lo, hi)`` of each frame, its group, and whether it ends here.

    ``opened`` is true for groups with a frame open before their first row; that frame's stretch
    comes first, begins at ``CARRIED`` and may have no row. A frame ends at the row ``hi``, the
    first one not in it.

        marks     1 1 0 2 1 2        opened before
        stretch   [ ]   [ ] [
        ends      yes   yes no
    """
    opening = marks[starts[0] : starts[-1]] == 2
    count = np.count_nonzero(opened) + np.count_nonzero(opening)
    lo, hi = np.empty(count, np.int64), np.empty(count, np.int64)
    group = np.empty(count, np.int64)
    ends = np.zeros(count, np.bool_)
    _pieces(marks, starts, opened, lo, hi, group, ends)
    return lo, hi, group, ends


@kernel(VOID(NEW_MARKS, INTS, BOOLS, NEW_INTS, NEW_INTS, NEW_INTS, NEW_BOOLS))
def _pieces(
    marks: Marks,
    starts: Ints,
    opened: Bools,
    lo: Ints,
    hi: Ints,
    group: Ints,
    ends: Bools,
) -> None:
    p = -1
    for g in range(len(starts) - 1):
        begin, end = starts[g], starts[g + 1]
        inside = opened[g]
        if inside:
            p += 1
            lo[p], hi[p], group[p] = CARRIED, end, g
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


STRETCHES = tuple_of(NEW_INTS, NEW_INTS, NEW_INTS, NEW_BOOLS, NEW_INTS)


@jitable
def _is_neighbour(cell: int, present: int) -> bool:
    return cell != NO_CELL and abs(cell - present) == 1


def _double_pieces(
    cell: Ints,
    starts: Ints,
    opened: Bools,
    last: Ints,
    partner: Ints,
    run_start: Ints,
    run_rows: Ints,
    sizes: Sizes | None,
) -> Stretches:
    """Double-boundary frames: the longest stretches of rows in two neighbouring cells.

    If a row leaves the two cells of a frame for a neighbour of the present cell, the next frame
    begins with the present run of rows in one cell, so this run is in two frames:

        cell      1 1 2 1 2 2 3 3 2 4
        frames    [         ]
                          [       ]      the run 2 2 is in both
                                    [

    ``last`` is the cell of the present run, ``partner`` the other cell of its frame, if known, and
    ``run_start`` and ``run_rows`` are the first time and the number of rows of the present run. A
    frame that ``sizes`` end shares no row with the next one; if None, the branches for it are not
    compiled.

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
        begin, since, mark = CARRIED_FRAME, CARRIED_RUN, 0
        for i in range(starts[g], starts[g + 1]):
            c = cell[i]
            if sizes is not None:
                if i > starts[g]:
                    measure_row(sizes, g, i - 1, mark)
                mark = 1
                joins = c == present or (_is_neighbour(c, present) and other in (NO_CELL, c))
                late = inside and comes_late(sizes, g, i)
                if late or (inside and joins and exceeds_size(sizes, g, i)):
                    lo[used], hi[used], group[used], ends[used], run[used] = begin, i, g, True, 0
                    used += 1
                    inside = False
            if inside and c == present:
                continue
            beside = _is_neighbour(c, present)
            if inside and beside and (other in (NO_CELL, c)):
                other, present, since = present, c, i
                continue
            if inside:
                lo[used], hi[used], group[used], ends[used], run[used] = begin, i, g, True, 0
                used += 1
            if c == NO_CELL:
                inside, mark = False, 0
                continue
            if inside and beside:
                if sizes is not None:
                    carried = since == CARRIED_RUN
                    sizes.began[g] = run_start[g] if carried else sizes.t[since]
                    sizes.rows[g] = run_rows[g] + i - starts[g] if carried else i - since
                begin, other = since, present
            else:
                begin, other, mark = i, NO_CELL, 2
            inside, present, since = True, c, i
        if sizes is not None and starts[g + 1] > starts[g]:
            measure_row(sizes, g, starts[g + 1] - 1, mark)
        if inside:
            lo[used], hi[used], group[used], ends[used] = begin, starts[g + 1], g, False
            run[used] = since
            used += 1
        opened[g], last[g], partner[g] = inside, present, other
    return lo[:used], hi[:used], group[:used], ends[:used], run[:used]


_DOUBLE = (INTS, INTS, NEW_BOOLS, NEW_INTS, NEW_INTS, INTS, INTS)
double_pieces = kernel(STRETCHES(*_DOUBLE, NONE))(_double_pieces)
sized_double_pieces = kernel(STRETCHES(*_DOUBLE, SIZES))(_double_pieces)

ENTERS, LEAVES = 1, 2  # what a row says of a frame; 0: nothing


def _dwell_pieces(
    said: Ints,
    t: Ints,
    starts: Ints,
    enter_for: int,
    leave_for: int,
    opened: Bools,
    inside: Bools,
    run: Ints,
    since: Ints,
    sizes: Sizes | None,
) -> Stretches:
    """Frames that begin with a run of rows that lasts, and end before one that lasts.

        t         0  1  2  3  4  5  6  7  8      enter_for 2, leave_for 2
        said      1  0  1  1  1  2  0  2  2  2
        frame           [              )         a run of 1 from 2 to 4, one of 2 from 7 on

    ``run`` is what the current run of rows says: outside of a frame that it may open one, inside
    that it may close it, or nothing; ``since`` is the time of its first row. Returns stretches as
    :func:`double_pieces`, whose ``hi`` may be ``CARRIED_RUN``, too: the frame ends before the run
    that began in an earlier batch. Updates ``opened``, whether there is a run or a frame,
    ``inside``, whether there is a frame, and ``run``.

    ``sizes`` are those of the frame or, if there is none, of the run that may open it: what they
    end is over before the row, which begins anew. If None, the branches for it are not compiled.
    """
    size = 0
    for g in range(len(starts) - 1):
        size += 1 + starts[g + 1] - starts[g]
    lo, hi = np.empty(size, np.int64), np.empty(size, np.int64)
    group, begun = np.empty(size, np.int64), np.empty(size, np.int64)
    ends = np.empty(size, np.bool_)
    used = 0
    for g in range(len(starts) - 1):
        within = opened[g] and inside[g]
        current = run[g] if opened[g] else 0
        begin, first, at = CARRIED_FRAME, CARRIED_RUN, since[g]
        for i in range(starts[g], starts[g + 1]):
            one, mark = said[i], 0
            if sizes is not None and (within or current == ENTERS) and exceeds_size(sizes, g, i):
                if within:
                    lo[used], hi[used], group[used], ends[used], begun[used] = begin, i, g, True, 0
                    used += 1
                within, current = False, 0
            if current == ENTERS:
                if t[i] - at >= enter_for:
                    within, begin, current = True, first, 0
                elif one != ENTERS:
                    current = 0
            elif current == LEAVES:
                if t[i] - at >= leave_for:
                    lo[used], hi[used], group[used] = begin, first, g
                    ends[used], begun[used] = True, 0
                    used += 1
                    within, current = False, 0
                elif one != LEAVES:
                    current = 0
            if current == 0 and not within and one == ENTERS:
                current, first, at, mark = ENTERS, i, t[i], 2
                if enter_for <= 0:
                    within, begin, current = True, i, 0
            elif current == 0 and within and one == LEAVES:
                current, first, at = LEAVES, i, t[i]
                if leave_for <= 0:
                    lo[used], hi[used], group[used], ends[used], begun[used] = begin, i, g, True, 0
                    used += 1
                    within, current = False, 0
            if sizes is not None:
                if mark == 0 and (within or current == ENTERS):
                    mark = 1
                measure_row(sizes, g, i, mark)
        opened[g], inside[g], run[g] = within or current == ENTERS, within, current
        if opened[g]:
            lo[used] = begin if within else first
            hi[used], group[used], ends[used] = starts[g + 1], g, False
            begun[used] = first if current != 0 else starts[g + 1]
            used += 1
    return lo[:used], hi[:used], group[:used], ends[:used], begun[:used]


_DWELL = (INTS, INTS, INTS, INT, INT, NEW_BOOLS, NEW_BOOLS, NEW_INTS, INTS)
dwell_pieces = kernel(STRETCHES(*_DWELL, NONE))(_dwell_pieces)
sized_dwell_pieces = kernel(STRETCHES(*_DWELL, SIZES))(_dwell_pieces)
