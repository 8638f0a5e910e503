"""The greatest size of a frame: when time or a number of rows ends it besides its scheme.

In schemes where the rows so far decide whether the next one may join their frame, a cut changes the
marks of all rows after it. So kernels ask these functions row by row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fanlight.engine.kernels.jit import (
    BOOLS,
    INT,
    INTS,
    NEW_BOOLS,
    NEW_INTS,
    VOID,
    Type,
    array,
    jitable,
    kernel,
    named_tuple_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Marks = NDArray[np.uint8]

NEVER = 2**63 - 1  # a deadline later than any time; as many rows as there may be
NEW_MARKS = array(Type("uint8"))


class Sizes(NamedTuple):
    """The limits on frames, and the size so far of the open frame of each group, updated.

    ``until`` has the time up to which each row keeps its frame open. A frame's deadline is the
    greatest of these, but no later than ``cap`` after its first row (``NEVER``: no such limit). A
    row at the very time that earlier rows name still belongs to the frame, a row at the cap does
    not, and neither does a row after ``most`` others. ``after`` gets the deadline after each row.
    """

    t: Ints
    until: Ints
    cap: int
    most: int
    began: Ints
    rows: Ints
    deadline: Ints
    after: Ints


SIZES = named_tuple_of(Sizes, NEW_INTS, NEW_INTS, INT, INT, NEW_INTS, NEW_INTS, NEW_INTS, NEW_INTS)


@jitable
def comes_late(sizes: Sizes, g: int, i: int) -> bool:
    """Whether time has ended the open frame of a row's group before the row."""
    t = sizes.t[i]
    late = t > sizes.deadline[g] or (sizes.cap != NEVER and t >= sizes.began[g] + sizes.cap)
    return bool(late)


@jitable
def exceeds_size(sizes: Sizes, g: int, i: int) -> bool:
    """Whether a row comes too late for the open frame of its group, or would be too many."""
    return bool(comes_late(sizes, g, i) or sizes.rows[g] >= sizes.most)


@jitable
def measure_row(sizes: Sizes, g: int, i: int, mark: int) -> None:
    """Update the size of the open frame of a group by a row that has been marked."""
    if mark == 2:
        sizes.began[g] = sizes.t[i]
        sizes.rows[g] = 0
        sizes.deadline[g] = sizes.until[i]
    if mark != 0:
        latest = NEVER if sizes.cap == NEVER else sizes.began[g] + sizes.cap
        sizes.rows[g] += 1
        sizes.deadline[g] = min(max(sizes.deadline[g], sizes.until[i]), latest)
    sizes.after[i] = sizes.deadline[g]


@jitable
def ends_before(sizes: Sizes, g: int, i: int, first: int, marks: Marks) -> bool:
    """Whether the open frame of a group must end before a row, whose predecessors are marked."""
    if i > first:
        measure_row(sizes, g, i - 1, marks[i - 1])
    return exceeds_size(sizes, g, i)


@kernel(VOID(NEW_MARKS, BOOLS, INTS, NEW_BOOLS, SIZES))
def cut_by_size(marks: Marks, opens: Bools, starts: Ints, opened: Bools, sizes: Sizes) -> None:
    """Cut frames whose rows may be in a frame whatever its other rows are: 1 becomes 2.

    ``opens`` says which rows may open a frame; of others 1 becomes 0. ``opened`` is true for groups
    with a frame open before their first row, and then for those with one open after their last.

        t         0  4  9 20 24 30     until 5 later, cap 12
        marks     1  1  1  1  1  1     becomes 2  1  1  2  1  2
        after     5  9 12 25 29 35     (30 is later than 29, and 9 is not later than 9)
    """
    for g in range(len(starts) - 1):
        inside = opened[g]
        for i in range(starts[g], starts[g + 1]):
            if marks[i] == 1 and (not inside or exceeds_size(sizes, g, i)):
                marks[i] = 2 if opens[i] else 0
            measure_row(sizes, g, i, marks[i])
            inside = marks[i] != 0
        opened[g] = inside
