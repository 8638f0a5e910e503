"""The stairwise chain over arrays: one granule after the other, core and buffer nodes.

Node *k* of the chain holds the granules of level *k* that no finer level holds. What comes in, or
what a full node gives up, is gathered in the buffer before the next node, and promoted there as one
granule when that level slides (Patroumpas and Sellis, III.B, Figure 2). A
level reports before anything is shifted, from the nodes up to its own (IV.A).

A node is a ring of granules with the partials of its suffixes (two stacks in one array): a granule
is joined when it comes in, and once more when the ring has come round. So any aggregate costs O(1)
a granule, without an inverse: doubles are never subtracted, and a minimum is never searched for.
:func:`searched` is the paper's own way for minima and maxima, to measure it beside.

Lengths are in units of what comes in, such as instants. A unit without rows holds the identity
(:func:`identity`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from experiments.compiled import FLOATS, INT, INTS, NEW_FLOATS, NEW_INTS, compiled, several

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

SUM, MIN, MAX = 0, 1, 2
OPS = {"sum": SUM, "min": MIN, "max": MAX}


class Stairs(NamedTuple):
    """The levels: made by :func:`stairs`, which checks them."""

    spans: Ints  # ω_k
    paces: Ints  # β_k
    room: Ints  # granules that core node k holds: (ω_k - ω_{k-1}) / β_k
    first: Ints  # where node k's granules begin in one array for all nodes

    @property
    def held(self) -> int:
        """The most granules in core and buffer nodes at once: the paper's bound."""
        steps = np.append(1, self.paces[:-1])
        return int(self.room.sum() + (self.paces // steps).sum())


class Reports(NamedTuple):
    """What each level reports: one array a level, one value a slide; and how much was touched."""

    levels: list[NDArray[Any]]
    touched: int


def stairs(spans: Sequence[int], paces: Sequence[int]) -> Stairs:
    """Levels, finest first: every pace divides the next one and its neighbours' spans."""
    omega, beta = np.array(spans, np.int64), np.array(paces, np.int64)
    if omega.ndim != 1 or omega.shape != beta.shape or not len(omega) or beta[0] < 1:
        raise ValueError("levels need as many spans as paces, from 1 on")
    before = np.append(0, omega[:-1])
    steps = np.append(1, beta[:-1])
    if np.any(omega <= before) or np.any(beta % steps) or np.any(omega % beta):
        raise ValueError("spans must grow, paces divide their spans and the next pace")
    if np.any(before % beta):
        raise ValueError("a level's pace must divide the span of the level before it")
    room = (omega - before) // beta
    return Stairs(omega, beta, room, np.cumsum(room) - room)


def allocated(levels: Stairs, partial: int = 8, more: int = 0) -> int:
    """Bytes that a loop over the chain allocates for its nodes, with so many a partial.

    A granule and a suffix for each place of a core node; for each node the buffer and the running
    suffix, and three integers: the next place, where the ring ends, when the level slides. ``more``
    partials that do not grow with the levels.
    """
    nodes = len(levels.spans)
    return (2 * int(levels.room.sum()) + 2 * nodes + more) * partial + 3 * 8 * nodes


def identity(op: str, kind: Any = np.float64) -> Any:
    """What a granule without rows holds."""
    if op == "sum":
        return kind(0)
    if np.issubdtype(kind, np.integer):
        bounds = np.iinfo(kind)
        return bounds.max if op == "min" else bounds.min
    return np.inf if op == "min" else -np.inf


def chained(values: NDArray[Any], levels: Stairs, op: str) -> Reports:
    """Each level's aggregate at each of its slides; half-filled windows at the start."""
    return _run(_chained_float, _chained_int, values, levels, op)


def searched(values: NDArray[Any], levels: Stairs, op: str) -> Reports:
    """The same by the paper's way: take out what leaves; search a node when its extreme leaves."""
    return _run(_searched_float, _searched_int, values, levels, op)


def _run(floats: Any, ints: Any, values: NDArray[Any], levels: Stairs, op: str) -> Reports:
    values = np.ascontiguousarray(values)
    if values.ndim != 1 or values.dtype not in (np.int64, np.float64):
        raise TypeError(f"values must be one row of int64 or float64, not {values.dtype}")
    loop = floats if values.dtype == np.float64 else ints
    empty = np.full(1, identity(op, values.dtype.type), values.dtype)
    out, touched = loop(values, levels.paces, levels.room, levels.first, empty, OPS[op])
    counts = len(values) // levels.paces
    ends = np.cumsum(counts)
    return Reports(np.split(out, ends[:-1]), int(touched))


@register_jitable
def _combine(a: Any, b: Any, op: int) -> Any:
    """Two partials to one; NaN is the greatest, as in Spark."""
    if op == SUM:
        return a + b
    if op == MIN:
        return b if (b < a or a != a) else a  # noqa: PLR0124 - NaN
    return b if (b > a or b != b) else a  # noqa: PLR0124


def _chain(
    values: NDArray[Any],
    paces: Ints,
    room: Ints,
    first: Ints,
    empty: NDArray[Any],
    op: int,
) -> tuple[NDArray[Any], int]:
    n, zero = len(paces), empty[0]
    size = first[n - 1] + room[n - 1]
    raw, suffix = np.empty(size, values.dtype), np.empty(size, values.dtype)
    raw[:], suffix[:] = zero, zero
    back, buffer = np.empty(n, values.dtype), np.empty(n, values.dtype)
    back[:], buffer[:] = zero, zero
    at = first.copy()  # where in its ring each node takes the next granule
    stop = first + room
    wait = paces.copy()  # granules until each level slides
    counts = len(values) // paces
    place = np.cumsum(counts) - counts
    out = np.empty(counts.sum(), values.dtype)
    touched = 0
    for i in range(len(values)):
        total = zero
        moved = values[i]
        for k in range(n):
            buffer[k] = _combine(buffer[k], moved, op)
            touched += 1
            wait[k] -= 1 if k == 0 else paces[k - 1]
            if wait[k] > 0:
                break
            wait[k] = paces[k]
            # Promotion: the buffer enters as one granule; shift: the oldest one goes on.
            fresh = buffer[k]
            buffer[k] = zero
            j = at[k]
            # Before the shift the level holds everything of its span but what is new.
            gone = raw[j]
            raw[j] = fresh
            back[k] = _combine(back[k], fresh, op)
            touched += 1
            j += 1
            if j == stop[k]:
                held = zero
                for s in range(stop[k] - 1, first[k] - 1, -1):
                    held = _combine(raw[s], held, op)
                    suffix[s] = held
                    touched += 1
                back[k] = zero
                j = first[k]
            at[k] = j
            total = _combine(total, _combine(suffix[j], back[k], op), op)
            touched += 2
            out[place[k]] = total
            place[k] += 1
            moved = gone
    return out, touched


def _search(
    values: NDArray[Any],
    paces: Ints,
    room: Ints,
    first: Ints,
    empty: NDArray[Any],
    op: int,
) -> tuple[NDArray[Any], int]:
    n, zero = len(paces), empty[0]
    size = first[n - 1] + room[n - 1]
    raw = np.empty(size, values.dtype)
    raw[:] = zero
    alpha, buffer = np.empty(n, values.dtype), np.empty(n, values.dtype)
    alpha[:], buffer[:] = zero, zero
    at = first.copy()
    stop = first + room
    wait = paces.copy()
    counts = len(values) // paces
    place = np.cumsum(counts) - counts
    out = np.empty(counts.sum(), values.dtype)
    touched = 0
    for i in range(len(values)):
        total = zero
        moved = values[i]
        for k in range(n):
            buffer[k] = _combine(buffer[k], moved, op)
            touched += 1
            wait[k] -= 1 if k == 0 else paces[k - 1]
            if wait[k] > 0:
                break
            wait[k] = paces[k]
            fresh = buffer[k]
            buffer[k] = zero
            j = at[k]
            gone = raw[j]
            raw[j] = fresh
            at[k] = j + 1 if j + 1 < stop[k] else first[k]
            if op == SUM:
                alpha[k] += fresh - gone
                touched += 2
            elif gone == alpha[k]:
                held = zero
                for s in range(first[k], stop[k]):
                    held = _combine(held, raw[s], op)
                    touched += 1
                alpha[k] = held
            else:
                alpha[k] = _combine(alpha[k], fresh, op)
                touched += 1
            total = _combine(total, alpha[k], op)
            touched += 1
            out[place[k]] = total
            place[k] += 1
            moved = gone
    return out, touched


_INT_TYPE = several(NEW_INTS, INT)(INTS, INTS, INTS, INTS, INTS, INT)
_FLOAT_TYPE = several(NEW_FLOATS, INT)(FLOATS, INTS, INTS, INTS, FLOATS, INT)
_chained_int = compiled(_INT_TYPE)(_chain)
_chained_float = compiled(_FLOAT_TYPE)(_chain)
_searched_int = compiled(_INT_TYPE)(_search)
_searched_float = compiled(_FLOAT_TYPE)(_search)
