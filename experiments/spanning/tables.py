"""Windows over events that last: what every technique is given, writes to, and answers with.

Count, sum and maximum of every sliding window. Times are whole numbers; an event ``[start, stop)``
is in each window that shares an instant with it. Events may come in any order as long as each comes
before its first window is released: window ``[x, y)`` is released when the clock (the latest stop
seen) reaches ``y + ttp``. Later ones are dropped whole, and counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import types
from numba.extending import register_jitable

from experiments.compiled import FLOAT, FLOATS, INT, INTS, NEW_INTS, compiled, several

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

NEW_TABLE = types.Array(FLOAT, 2, "C")
SIGNATURE = several(NEW_TABLE, NEW_INTS)(INTS, INTS, FLOATS, NEW_INTS)

# Where the numbers of a grid stand, and the counters that come back.
RANGE, SLIDE, TTP, HEAD, SPAN, STEP, FIRST, WINDOWS, HEIGHT, CAPACITY = range(10)
INSERTED, RELEASED, DELETED, LATE = range(4)
FARTHEST = 1 << 51  # between the first window and the last event


class Spanning(NamedTuple):
    """One row a window, empty ones included, and what it took."""

    window: Ints  # window m is [m * slide, m * slide + range)
    counts: Ints
    sums: Floats
    most: Floats  # -inf where the window is empty
    inserted: int  # partials, entries or tuples written for events
    released: int  # the same, read for windows
    deleted: int
    late: int


def grid(start: Ints, stop: Ints, range_: int, slide: int, ttp: int, *, height: int = 1) -> Ints:
    """The numbers of a query, for the loops; slices are cut by Pairs."""
    if not 0 < slide <= range_ or ttp < 0 or height < 1:
        raise ValueError("0 < slide <= range, ttp >= 0 and height >= 1 must hold")
    reversed_, lowest, last = _reach(start, stop)
    if len(start) != len(stop) or reversed_:
        raise ValueError("start and stop must be of one length, no stop before its start")
    head = range_ % slide
    span = 2 * (range_ // slide) + 1 if head else range_ // slide
    first = (lowest - range_) // slide + 1
    step = 2 if head else 1
    live = ((range_ + ttp) // slide + 4) * step + span + 2 * height
    capacity = 1 << int(live - 1).bit_length()
    windows = max(last // slide - first + 1, 0)
    if last - first * slide >= FARTHEST:
        raise ValueError(f"events reach over {last - first * slide} units, and {FARTHEST} is most")
    numbers = (range_, slide, ttp, head, span, step, first, windows, height, capacity)
    return np.array(numbers, np.int64)


@compiled(several(INT, INT, INT)(INTS, INTS))
def _reach(start: Ints, stop: Ints) -> tuple[int, int, int]:
    """Whether a stop is before its start; the first instant of all events, and the last."""
    if len(start) == 0 or len(start) != len(stop):
        return 0, 0, -1
    least, lowest, last, longest = 0, start[0], stop[0] - 1, start[0]
    for e in range(len(start)):
        least = min(least, stop[e] - start[e])
        lowest = min(lowest, start[e])
        last = max(last, stop[e] - 1)
        longest = max(longest, start[e])
    return -least, lowest, max(last, longest)


def answer(table: Floats, counters: Ints, numbers: Ints) -> Spanning:
    """What a loop gives, by name."""
    window = np.arange(numbers[FIRST], numbers[FIRST] + numbers[WINDOWS])
    counts = table[:, 0].astype(np.int64)
    most = np.where(counts > 0, table[:, 2], -np.inf)
    return Spanning(window, counts, table[:, 1], most, *(int(c) for c in counters))


@register_jitable
def slice_of(time: int, slide: int, head: int, inverse: float) -> int:
    """The slice of an instant from 0 to ``FARTHEST``; a product in place of a division.

    Half an instant on keeps it farther from a whole number than the rounding of both doubles.
    """
    number = int((time + 0.5) * inverse)
    if head:
        return 2 * number + (1 if time - number * slide >= head else 0)
    return number


@register_jitable
def add(table: Floats, row: int, count: float, total: float, most: float) -> None:
    """A partial into a row of a table, without a branch."""
    table[row, 0] += count
    table[row, 1] += total
    before = table[row, 2]
    table[row, 2] = most if most > before else before  # noqa: FURB136 - one instruction


@register_jitable
def join(table: Floats, row: int, other: Floats, at: int) -> None:
    """A row of another table into a row of a table."""
    add(table, row, other[at, 0], other[at, 1], other[at, 2])


@register_jitable
def clear(table: Floats, row: int) -> None:
    """A row without events."""
    table[row, 0] = 0.0
    table[row, 1] = 0.0
    table[row, 2] = -np.inf


@register_jitable
def empty(rows: int) -> Floats:
    """A table of rows without events."""
    table = np.zeros((rows, 4))
    table[:, 2] = -np.inf
    return table
