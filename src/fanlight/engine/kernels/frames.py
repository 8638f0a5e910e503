"""Marks rows one by one: whether a row opens a frame, continues one, or is in none.

Rows are sorted, with the rows of a key together: group *g* is ``[starts[g], starts[g + 1])``, and
its state is in slot *g* of the state arrays, which are updated. So a key can continue in the next
batch of rows, or in the next micro-batch.

Marks: 0, the row is in no frame; 1, it continues the open frame; 2, it opens one. An open frame is
closed by the first row that is not in it. Grossniklaus et al., *Frames*, 5.1 and Table 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fanlight.engine.kernels.jit import (
    BOOL,
    BOOLS,
    FLOAT,
    FLOATS,
    INT,
    INTS,
    NEW_BOOLS,
    NEW_FLOATS,
    NEW_INTS,
    NONE,
    VOID,
    kernel,
    named_tuple_of,
)
from fanlight.engine.kernels.running import (
    add_float,
    add_int,
    floats_differ_by,
    ints_differ_by,
    sum_reached,
)
from fanlight.engine.kernels.sizes import NEW_MARKS, SIZES, Sizes, ends_before, measure_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Marks = NDArray[np.uint8]

NO_CELL = -(2**63)  # the cell of null


@kernel(VOID(BOOLS, INTS, NEW_BOOLS, NEW_MARKS))
def mark_flags(holds: Bools, starts: Ints, opened: Bools, marks: Marks) -> None:
    """Mark threshold frames: the longest stretches of rows for which a predicate holds."""
    for g in range(len(starts) - 1):
        begin, end = starts[g], starts[g + 1]
        if begin == end:
            continue
        marks[begin] = 0 if not holds[begin] else (1 if opened[g] else 2)
        for i in range(begin + 1, end):
            marks[i] = holds[i] * (2 - holds[i - 1])
        opened[g] = holds[end - 1]


def _mark_latches(
    opens: Bools, closes: Bools, starts: Ints, opened: Bools, sizes: Sizes | None, marks: Marks
) -> None:
    """Mark logical frames of two predicates: first close, then continue, then open.

    If ``sizes`` is None, the branches for it are not compiled.
    """
    for g in range(len(starts) - 1):
        inside = opened[g]
        for i in range(starts[g], starts[g + 1]):
            if sizes is not None:
                inside = inside and not ends_before(sizes, g, i, starts[g], marks)
            inside = inside and not closes[i]
            if inside:
                marks[i] = 1
            elif opens[i]:
                marks[i] = 2
                inside = True
            else:
                marks[i] = 0
        if sizes is not None and starts[g + 1] > starts[g]:
            measure_row(sizes, g, starts[g + 1] - 1, marks[starts[g + 1] - 1])
        opened[g] = inside


mark_latches = kernel(VOID(BOOLS, BOOLS, INTS, NEW_BOOLS, NONE, NEW_MARKS))(_mark_latches)
mark_sized_latches = kernel(VOID(BOOLS, BOOLS, INTS, NEW_BOOLS, SIZES, NEW_MARKS))(_mark_latches)


@kernel(VOID(FLOATS, FLOAT, NEW_INTS))
def find_cells(values: Floats, width: float, cells: Ints) -> None:
    """Number the cell ``((n - 1) * width, n * width]`` of each value, with doubles as boundaries.

    The quotient may be off by its last bit, so the cell is checked against its boundaries.
    """
    for i in range(len(values)):
        x = values[i]
        if not abs(x) < 4.5e15 * width:  # also NaN; beyond, doubles cannot distinguish cells
            cells[i] = NO_CELL
            continue
        n = np.ceil(x / width)
        if x <= (n - 1.0) * width:
            n -= 1.0
        elif x > n * width:
            n += 1.0
        cells[i] = np.int64(n)


@kernel(VOID(INTS, BOOL, INTS, NEW_BOOLS, NEW_INTS, NEW_MARKS))
def mark_cells(
    cell: Ints, skips: bool, starts: Ints, opened: Bools, last: Ints, marks: Marks
) -> None:
    """Mark boundary and state frames: the longest stretches of rows in one cell.

    A row in no cell ends the frame or, with ``skips``, stays in it.
    """
    for g in range(len(starts) - 1):
        begin, end = starts[g], starts[g + 1]
        if begin == end:
            continue
        before = last[g] if opened[g] else NO_CELL
        for i in range(begin, end):
            c = cell[i]
            if skips and c == NO_CELL:
                marks[i] = 0 if before == NO_CELL else 1
                continue
            marks[i] = 0 if c == NO_CELL else (1 if c == before else 2)
            before = c
        opened[g] = before != NO_CELL
        last[g] = before


class Range(NamedTuple):
    """The state of delta frames for each group: the extremes of its open frame that count."""

    opened: Bools
    crossed: Bools
    least: NDArray[Any]
    greatest: NDArray[Any]


FLOAT_RANGE = named_tuple_of(Range, NEW_BOOLS, NEW_BOOLS, NEW_FLOATS, NEW_FLOATS)
INT_RANGE = named_tuple_of(Range, NEW_BOOLS, NEW_BOOLS, NEW_INTS, NEW_INTS)


@kernel(VOID(FLOATS, FLOAT, BOOL, BOOL, INTS, FLOAT_RANGE, NEW_MARKS))
def mark_float_deltas(
    values: Floats,
    delta: float,
    against_first: bool,
    crossing: bool,
    starts: Ints,
    state: Range,
    marks: Marks,
) -> None:
    """Mark delta frames over one double: greatest minus least value stays below ``delta``.

    ``against_first``: instead, the distance from the frame's first value stays below it; both
    extremes are then that value. ``crossing``: the row that reaches the delta still belongs to the
    frame. NaN changes nothing.
    """
    for g in range(len(starts) - 1):
        inside, full = state.opened[g], state.crossed[g]
        lo, hi = (state.least[g], state.greatest[g]) if inside else (np.inf, -np.inf)
        if not crossing:  # by far the most frequent case, and a shorter loop
            for i in range(starts[g], starts[g + 1]):
                x = values[i]
                if x == x:  # noqa: PLR0124 - not NaN
                    low, high = min(lo, x), max(hi, x)
                    if floats_differ_by(low, high, delta) or not inside:
                        marks[i] = 2
                        lo = hi = x
                        inside = True
                    else:
                        marks[i] = 1
                        if not against_first:
                            lo, hi = low, high
                else:
                    marks[i] = 1 if inside else 0
            state.opened[g], state.least[g], state.greatest[g] = inside, lo, hi
            continue
        for i in range(starts[g], starts[g + 1]):
            x = values[i]
            if not x == x:  # noqa: SIM201, PLR0124 - NaN
                inside = inside and not full
                marks[i] = 1 if inside else 0
            elif full or not inside:
                marks[i] = 2
                lo = hi = x
                inside, full = True, False
            else:
                marks[i] = 1
                low, high = min(lo, x), max(hi, x)
                full = floats_differ_by(low, high, delta)
                if not against_first:
                    lo, hi = low, high
        state.opened[g], state.crossed[g] = inside, full and inside
        state.least[g], state.greatest[g] = lo, hi


@kernel(VOID(INTS, BOOLS, INT, BOOL, BOOL, INTS, INT_RANGE, NEW_MARKS))
def mark_int_deltas(
    values: Ints,
    valid: Bools,
    delta: int,
    against_first: bool,
    crossing: bool,
    starts: Ints,
    state: Range,
    marks: Marks,
) -> None:
    """:func:`mark_float_deltas` over one integer, exactly."""
    for g in range(len(starts) - 1):
        inside, full = state.opened[g], state.crossed[g]
        lo, hi = state.least[g], state.greatest[g]
        for i in range(starts[g], starts[g + 1]):
            x = values[i]
            if not valid[i]:
                inside = inside and not full
                marks[i] = 1 if inside else 0
                continue
            low, high = min(lo, x), max(hi, x)
            reached = ints_differ_by(low, high, delta)
            if full or not inside or (reached and not crossing):
                marks[i] = 2
                lo, hi = x, x
                inside, full = True, False
            else:
                marks[i] = 1
                full = reached
                if not against_first:
                    lo, hi = low, high
        state.opened[g], state.crossed[g] = inside, full and inside
        state.least[g], state.greatest[g] = lo, hi


@kernel(VOID(FLOATS, FLOAT, BOOL, INTS, NEW_BOOLS, NEW_FLOATS, NEW_FLOATS, NEW_MARKS))
def mark_float_sums(
    values: Floats,
    limit: float,
    crossing: bool,
    starts: Ints,
    opened: Bools,
    total: Floats,
    lost: Floats,
    marks: Marks,
) -> None:
    """Mark aggregate frames over a sum of doubles; NaN adds nothing."""
    for g in range(len(starts) - 1):
        inside, s, c = opened[g], total[g], lost[g]
        for i in range(starts[g], starts[g + 1]):
            x = values[i]
            full = inside and crossing and sum_reached(s, c, limit)
            if not x == x:  # noqa: SIM201, PLR0124 - NaN
                inside = inside and not full
                marks[i] = 1 if inside else 0
                continue
            if inside and not full:
                more, loss = add_float(s, c, x)
                if crossing or not sum_reached(more, loss, limit):
                    marks[i] = 1
                    s, c = more, loss
                    continue
            s, c = x, 0.0
            inside = crossing or not sum_reached(s, c, limit)
            marks[i] = 2 if inside else 0
        opened[g], total[g], lost[g] = inside, s, c


@kernel(VOID(INTS, BOOLS, INT, BOOL, INTS, NEW_BOOLS, NEW_INTS, NEW_MARKS))
def mark_int_sums(
    values: Ints,
    valid: Bools,
    limit: int,
    crossing: bool,
    starts: Ints,
    opened: Bools,
    total: Ints,
    marks: Marks,
) -> None:
    """Mark aggregate frames over a sum of integers; a count is a sum of ones."""
    for g in range(len(starts) - 1):
        inside, s = opened[g], total[g]
        for i in range(starts[g], starts[g + 1]):
            x = values[i]
            full = inside and crossing and s >= limit
            if not valid[i]:
                inside = inside and not full
                marks[i] = 1 if inside else 0
                continue
            if inside and not full:
                more = add_int(s, x)
                if crossing or more < limit:
                    marks[i] = 1
                    s = more
                    continue
            s = x
            inside = crossing or x < limit
            marks[i] = 2 if inside else 0
        opened[g], total[g] = inside, s
