"""Framing by several attributes or several limits at once; otherwise as in ``kernels/frames``.

Doubles and integers stay apart, so that integers stay exact. Matrices have a row an attribute, and
the state a column an attribute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fanlight.engine.kernels.frames import NEW_MARKS, NO_CELL
from fanlight.engine.kernels.jit import (
    BOOL,
    FLOAT,
    FLOATS,
    INTS,
    NEW_BOOLS,
    NEW_TABLE,
    NOTHING,
    array,
    jitable,
    kernel,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Marks = NDArray[np.uint8]

FLOATS_2 = array(FLOAT, 2)
BOOLS_2 = array(BOOL, 2)

# What a limit watches; the numbers are part of the state's layout.
SUM, GREATEST, MEAN, VAR_SAMP, VAR_POP, STDDEV_SAMP, STDDEV_POP = range(7)


@kernel(NOTHING(NEW_TABLE, INTS, NEW_BOOLS, NEW_TABLE, NEW_MARKS))
def grid_cells(cells: Ints, starts: Ints, opened: Bools, last: Ints, marks: Marks) -> None:
    """Boundary frames over a grid: the longest stretches of rows in one cell of it."""
    dimensions = len(cells)
    for g in range(len(starts) - 1):
        inside = opened[g]
        for i in range(starts[g], starts[g + 1]):
            same, placed = inside, True
            for d in range(dimensions):
                placed = placed and cells[d, i] != NO_CELL
                same = same and cells[d, i] == last[g, d]
                last[g, d] = cells[d, i]
            inside = placed
            marks[i] = 0 if not placed else (1 if same else 2)
        opened[g] = inside


@kernel(
    NOTHING(
        FLOATS_2, FLOATS, NEW_TABLE, BOOLS_2, INTS, BOOL, BOOL, INTS, NEW_BOOLS, NEW_BOOLS,
        FLOATS_2, FLOATS_2, NEW_TABLE, NEW_TABLE, BOOLS_2, NEW_MARKS,
    )
)  # fmt: skip
def deltas(
    reals: Floats,
    real_deltas: Floats,
    wholes: Ints,
    valid: Bools,
    whole_deltas: Ints,
    against_first: bool,
    crossing: bool,
    starts: Ints,
    opened: Bools,
    crossed: Bools,
    real_least: Floats,
    real_greatest: Floats,
    whole_least: Ints,
    whole_greatest: Ints,
    whole_seen: Bools,
    marks: Marks,
) -> None:
    """Delta frames over several attributes, against the frame's range or its first values."""
    n_reals, n_wholes = len(reals), len(wholes)
    for g in range(len(starts) - 1):
        inside, full = opened[g], crossed[g]
        for i in range(starts[g], starts[g + 1]):
            some, reached = False, False
            for a in range(n_reals):
                x = reals[a, i]
                if x == x:  # noqa: PLR0124 - not NaN
                    some = True
                    if inside and real_least[g, a] == real_least[g, a]:
                        low, high = min(real_least[g, a], x), max(real_greatest[g, a], x)
                        reached = reached or bool(high - low >= real_deltas[a])
            for a in range(n_wholes):
                if valid[a, i]:
                    some = True
                    y = wholes[a, i]
                    if inside and whole_seen[g, a]:
                        small, large = min(whole_least[g, a], y), max(whole_greatest[g, a], y)
                        apart = np.uint64(large) - np.uint64(small)
                        reached = reached or bool(apart >= np.uint64(whole_deltas[a]))
            if not some:
                inside = inside and not full
                marks[i] = 1 if inside else 0
                continue
            opens = full or not inside or (reached and not crossing)
            marks[i] = 2 if opens else 1
            inside, full = True, reached and not opens
            for a in range(n_reals):
                x = reals[a, i]
                unset = opens or real_least[g, a] != real_least[g, a]
                if unset:
                    real_least[g, a] = x
                    real_greatest[g, a] = x
                elif x == x and not against_first:  # noqa: PLR0124
                    real_least[g, a] = min(real_least[g, a], x)
                    real_greatest[g, a] = max(real_greatest[g, a], x)
            for a in range(n_wholes):
                y = wholes[a, i]
                if opens or not whole_seen[g, a]:
                    whole_least[g, a] = y
                    whole_greatest[g, a] = y
                    whole_seen[g, a] = valid[a, i]
                elif valid[a, i] and not against_first:
                    whole_least[g, a] = min(whole_least[g, a], y)
                    whole_greatest[g, a] = max(whole_greatest[g, a], y)
        opened[g], crossed[g] = inside, full and inside


@jitable
def _real_with(watched: int, n: float, s: float, c: float, x: float) -> tuple[float, float, float]:
    """The state of a limit on doubles, with one value more: count, sum or mean, lost or moment."""
    if x != x:  # noqa: PLR0124 - NaN
        return n, s, c
    if n == 0.0:
        return 1.0, x, 0.0
    if watched == SUM:
        t = s + x
        more = (s - t) + x if abs(s) >= abs(x) else (x - t) + s
        return n + 1.0, t, (c + more if abs(t) < np.inf else 0.0)
    if watched == GREATEST:
        return n + 1.0, max(s, x), 0.0
    apart = x - s
    mean = s + apart / (n + 1.0)
    return n + 1.0, mean, c + apart * (x - mean)


@jitable
def _reached(watched: int, n: float, s: float, c: float, limit: float) -> bool:
    if n == 0.0:
        return False
    if watched == SUM:
        return s + c >= limit
    if watched in (GREATEST, MEAN):
        return s >= limit
    if watched in (VAR_SAMP, STDDEV_SAMP):
        if n < 2.0:
            return False
        c = c / (n - 1.0)
    else:
        c = c / n
    return (np.sqrt(c) if watched >= STDDEV_SAMP else c) >= limit


@kernel(
    NOTHING(
        FLOATS_2, INTS, FLOATS, NEW_TABLE, BOOLS_2, INTS, INTS, BOOL, INTS, NEW_BOOLS, NEW_BOOLS,
        FLOATS_2, FLOATS_2, FLOATS_2, NEW_TABLE, BOOLS_2, NEW_MARKS,
    )
)  # fmt: skip
def limits(
    reals: Floats,
    real_watched: Ints,
    real_limits: Floats,
    wholes: Ints,
    valid: Bools,
    whole_watched: Ints,
    whole_limits: Ints,
    crossing: bool,
    starts: Ints,
    opened: Bools,
    crossed: Bools,
    count: Floats,
    first: Floats,
    second: Floats,
    whole: Ints,
    whole_seen: Bools,
    marks: Marks,
) -> None:
    """Aggregate frames over several aggregates: the frame ends when any has reached its limit."""
    n_reals, n_wholes = len(reals), len(wholes)
    top = 2**63 - 1
    # What the frame would be with this row: n_reals times (count, first, second), and integers.
    tried, tried_whole = np.empty((n_reals, 3)), np.empty(n_wholes, np.int64)
    for g in range(len(starts) - 1):
        inside, full = opened[g], crossed[g]
        for i in range(starts[g], starts[g + 1]):
            some = False
            for a in range(n_reals):
                some = some or reals[a, i] == reals[a, i]
            for a in range(n_wholes):
                some = some or valid[a, i]
            if not some:
                inside = inside and not full
                full = full and inside
                marks[i] = 1 if inside else 0
                continue
            alone = full or not inside
            while True:
                reached = False
                for a in range(n_reals):
                    n = 0.0 if alone else count[g, a]
                    n, s, c = _real_with(real_watched[a], n, first[g, a], second[g, a], reals[a, i])
                    tried[a, 0], tried[a, 1], tried[a, 2] = n, s, c
                    reached = reached or _reached(real_watched[a], n, s, c, real_limits[a])
                for a in range(n_wholes):
                    y, known = wholes[a, i], whole_seen[g, a] and not alone
                    if known and valid[a, i]:
                        z = whole[g, a]
                        if whole_watched[a] == SUM:
                            y = top if y > 0 and z > top - y else y + z
                        else:
                            y = max(y, z)
                    elif known:
                        y = whole[g, a]
                    tried_whole[a] = y
                    if known or valid[a, i]:
                        reached = reached or y >= whole_limits[a]
                if alone or crossing or not reached:
                    break
                alone = True  # it would be too much: the row begins the next frame, if any
            inside = crossing or not reached
            marks[i] = 0 if not inside else (2 if alone else 1)
            full = inside and reached
            for a in range(n_reals):
                count[g, a], first[g, a], second[g, a] = tried[a, 0], tried[a, 1], tried[a, 2]
            for a in range(n_wholes):
                whole_seen[g, a] = valid[a, i] or (whole_seen[g, a] and not alone)
                whole[g, a] = tried_whole[a]
        opened[g], crossed[g] = inside, full
