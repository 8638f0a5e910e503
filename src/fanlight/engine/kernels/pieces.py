"""Turns marks into frames: cuts them by time, and finds the stretch of rows of each frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fanlight.engine.kernels.frames import NEW_MARKS, NO_CELL
from fanlight.engine.kernels.jit import (
    BOOLS,
    INT,
    INTS,
    NEW_BOOLS,
    NEW_INTS,
    VOID,
    kernel,
    named_tuple_of,
    tuple_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Marks = NDArray[np.uint8]
    Pieces = tuple[Ints, Ints, Ints, Bools, Bools]


NEVER = 2**63 - 1  # a deadline later than any time


class Before(NamedTuple):
    """Each group's state before its first row: whether a frame is open, its start, its deadline."""

    opened: Bools
    began: Ints
    deadline: Ints


BEFORE = named_tuple_of(Before, NEW_BOOLS, NEW_INTS, NEW_INTS)


@kernel(VOID(NEW_MARKS, INTS, INTS, INT, INTS, BEFORE, NEW_INTS))
def apply_deadlines(
    marks: Marks,
    t: Ints,
    until: Ints,
    cap: int,
    starts: Ints,
    before: Before,
    after: Ints,
) -> None:
    """Cut frames by time: a row too late to continue the open frame opens one.

    ``until`` has the time up to which each row keeps its frame open. The frame's deadline is the
    greatest of these, but no later than ``cap`` after its first row (``NEVER``: no such limit). A
    row at the very time that earlier rows name still belongs to the frame, a row at the cap does
    not.

    Updates ``marks``, where 1 becomes 2, and the deadlines of ``before``; writes to ``after`` the
    deadline of the open frame after each row.

        t         0  4  9 20 24 30     until 5 later, cap 12
        marks     1  1  1  1  1  1     becomes 2  1  1  2  1  2
        after     5  9 12 25 29 35     (30 is later than 29, and 9 is not later than 9)
    """
    for g in range(len(starts) - 1):
        inside, end = before.opened[g], before.deadline[g]
        latest = before.began[g] + cap if inside and cap != NEVER else NEVER
        for i in range(starts[g], starts[g + 1]):
            if marks[i] == 1 and (not inside or t[i] > end or t[i] >= latest):
                marks[i] = 2
            if marks[i] == 1:
                end = min(max(end, until[i]), latest)
            elif marks[i] == 2:
                latest = t[i] + cap if cap != NEVER else NEVER
                end = min(until[i], latest)
            inside = marks[i] != 0
            after[i] = end
        before.deadline[g] = end


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
