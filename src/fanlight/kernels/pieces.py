"""From marks to frames: the stretches of rows that belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fanlight.kernels.frames import NEW_MARKS
from fanlight.kernels.jit import BOOLS, INTS, NEW_BOOLS, NEW_INTS, kernel, several

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Marks = NDArray[np.uint8]
    Pieces = tuple[Ints, Ints, Ints, Bools, Bools]


@kernel(several(NEW_INTS, NEW_INTS, NEW_INTS, NEW_BOOLS, NEW_BOOLS)(NEW_MARKS, INTS, BOOLS))
def pieces(marks: Marks, starts: Ints, opened: Bools) -> Pieces:
    """The stretch ``[lo, hi)`` of each frame, its group, whether it begins here, and ends here.

    ``opened`` says of each group whether a frame was open before its first row; that frame's
    stretch comes first and may be empty. A frame ends at the row ``hi``, the first one not in it.

        marks     1 1 0 2 1 2        opened before
        stretch   [ ]   [ ] [
        begins    no    yes yes
        ends      yes   yes no
    """
    found = 0
    for g in range(len(starts) - 1):
        begin, end = starts[g], starts[g + 1]
        found += opened[g]
        for i in range(begin, end):
            found += marks[i] == 2
    lo, hi = np.empty(found, np.int64), np.empty(found, np.int64)
    group = np.empty(found, np.int64)
    begins, ends = np.ones(found, np.bool_), np.zeros(found, np.bool_)
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
    return lo, hi, group, begins, ends
