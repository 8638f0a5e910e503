"""The stairwise chain with larger partials: moments of a trend line, sets of items.

The chain is that of ``chain.py``, a row of numbers in place of each granule.

- :func:`fitted`: a granule is an instant's value; nodes hold centred moments, combined so that
  neither large times nor large values cancel (the paper adds up and takes out plain sums).
- :func:`recurring`: a granule is the set of items seen in it, a bit an item. A node's set is the
  union of its granules' (the paper's OR over a bitmap), and an item recurs if it is in every node
  (its AND over the levels). No item has an object of its own, and 64 of them share a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import types
from numba.extending import register_jitable

from experiments.compiled import FLOAT, FLOATS, INT, INTS, compiled
from experiments.multi_granular.chain import allocated

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from experiments.multi_granular.chain import Stairs

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Words = NDArray[np.uint64]

_WORD = types.uint64
_SETS = types.Array(_WORD, 2, "C", readonly=True)
_NEW_SETS = types.Array(_WORD, 2, "C")
_NEW_LINES = types.Array(FLOAT, 2, "C")
PARTS = 6  # n, mean time, mean value, sums of squares and products about the means


def fitted(values: Floats, levels: Stairs) -> list[Floats]:
    """For each level and slide: slope an instant, intercept at the window's start, r2.

    ``values`` has one value an instant; an instant before the first value is NaN. NaN where fewer
    than two instants have a value.
    """
    values = np.ascontiguousarray(values, np.float64)
    out = _fitted(values, levels.paces, levels.room, levels.first, levels.spans)
    return np.split(out, np.cumsum(len(values) // levels.paces)[:-1])


def recurring(sets: Words, levels: Stairs) -> Words:
    """At each slide of the widest level, the items that are in every node: a row of words."""
    sets = np.ascontiguousarray(sets, np.uint64)
    if sets.ndim != 2:
        raise TypeError("sets must be rows of words, one a granule")
    return _recurring(sets, levels.paces, levels.room, levels.first)


def fitted_bytes(levels: Stairs) -> int:
    """What :func:`fitted` allocates for its nodes."""
    return allocated(levels, 8 * PARTS)


def recurring_bytes(levels: Stairs, items: int) -> int:
    """What :func:`recurring` allocates for its nodes: whole words, and two sets on the move."""
    return allocated(levels, 8 * -(-items // 64), more=2)


def words(granule: Ints, item: Ints, granules: int, items: int) -> Words:
    """The sets of :func:`recurring` from pairs of granule and item code."""
    sets: Words = np.zeros((granules, -(-items // 64)), np.uint64)
    bit = np.uint64(1) << (item % 64).astype(np.uint64)
    np.bitwise_or.at(sets, (granule, item // 64), bit)
    return sets


@compiled(_NEW_SETS(INTS, INT))
def gathered(item: Ints, rate: int) -> Words:
    """A set an instant, of ``rate`` records each; items are below 64.

    One loop: an array of a bit for each record would be mapped anew at each call from 32 MiB on,
    and its page faults would cost as much as the records.
    """
    out = np.zeros((len(item) // rate, 1), np.uint64)
    for i in range(len(out)):
        word = np.uint64(0)
        for j in range(i * rate, (i + 1) * rate):
            word |= np.uint64(1) << np.uint64(item[j])
        out[i, 0] = word
    return out


@register_jitable
def _combined(a: Any, b: Any) -> Any:
    """Two pieces' moments to one; an n of 0 is empty."""
    if a[0] == 0.0:
        return b
    if b[0] == 0.0:
        return a
    n = a[0] + b[0]
    dx, dy, share = b[1] - a[1], b[2] - a[2], b[0] / n
    weight = a[0] * share
    return (
        n,
        a[1] + dx * share,
        a[2] + dy * share,
        a[3] + b[3] + dx * dx * weight,
        a[4] + b[4] + dx * dy * weight,
        a[5] + b[5] + dy * dy * weight,
    )


@register_jitable
def _at(rows: Any, i: int) -> Any:
    return rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], rows[i, 5]


@register_jitable
def _put(rows: Any, i: int, p: Any) -> None:
    rows[i, 0], rows[i, 1], rows[i, 2] = p[0], p[1], p[2]
    rows[i, 3], rows[i, 4], rows[i, 5] = p[3], p[4], p[5]


@compiled(_NEW_LINES(FLOATS, INTS, INTS, INTS, INTS))
def _fitted(values: Floats, paces: Ints, room: Ints, first: Ints, spans: Ints) -> Floats:
    n = len(paces)
    size = first[n - 1] + room[n - 1]
    raw, suffix = np.zeros((size, PARTS)), np.zeros((size, PARTS))
    back, buffer = np.zeros((n, PARTS)), np.zeros((n, PARTS))
    at, stop, wait = first.copy(), first + room, paces.copy()
    counts = len(values) // paces
    place = np.cumsum(counts) - counts
    out = np.full((counts.sum(), 3), np.nan)
    none = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    # Means are kept as differences from the first value: those far from zero would lose digits.
    start = 0.0
    for i in range(len(values)):
        if np.isfinite(values[i]):
            start = values[i]
            break
    for i in range(len(values)):
        total = none
        moved = none if np.isnan(values[i]) else (1.0, float(i), values[i] - start, 0.0, 0.0, 0.0)
        for k in range(n):
            wait[k] -= 1 if k == 0 else paces[k - 1]
            fresh = _combined(_at(buffer, k), moved)
            if wait[k] > 0:
                _put(buffer, k, fresh)
                break
            wait[k] = paces[k]
            _put(buffer, k, none)
            j = at[k]
            moved = _at(raw, j)  # what is shifted on
            _put(raw, j, fresh)
            running = _combined(_at(back, k), fresh)
            j += 1
            if j == stop[k]:
                held = none
                for s in range(stop[k] - 1, first[k] - 1, -1):
                    held = _combined(_at(raw, s), held)
                    _put(suffix, s, held)
                running = none
                j = first[k]
            _put(back, k, running)
            at[k] = j
            total = _combined(total, _combined(_at(suffix, j), running))
            row = place[k]
            place[k] += 1
            if total[3] > 0.0:
                slope = total[4] / total[3]
                begin = max(i + 1 - spans[k], 0)
                out[row, 0] = slope
                out[row, 1] = start + (total[2] - slope * (total[1] - begin))
                out[row, 2] = total[4] * slope / total[5] if total[5] > 0.0 else 1.0
    return out


@compiled(_NEW_SETS(_SETS, INTS, INTS, INTS))
def _recurring(sets: Words, paces: Ints, room: Ints, first: Ints) -> Words:
    n, width = len(paces), sets.shape[1]
    size = first[n - 1] + room[n - 1]
    raw, suffix = np.zeros((size, width), np.uint64), np.zeros((size, width), np.uint64)
    back, buffer = np.zeros((n, width), np.uint64), np.zeros((n, width), np.uint64)
    moved, gone = np.zeros(width, np.uint64), np.zeros(width, np.uint64)
    at, stop, wait = first.copy(), first + room, paces.copy()
    out = np.empty((len(sets) // paces[n - 1], width), np.uint64)
    reports = 0
    for i in range(len(sets)):
        moved[:] = sets[i]
        for k in range(n):
            for w in range(width):
                buffer[k, w] |= moved[w]
            wait[k] -= 1 if k == 0 else paces[k - 1]
            if wait[k] > 0:
                break
            wait[k] = paces[k]
            moved[:] = buffer[k]
            buffer[k] = 0
            j = at[k]
            for w in range(width):
                gone[w] = raw[j, w]
                raw[j, w] = moved[w]
                back[k, w] |= moved[w]
            j += 1
            if j == stop[k]:
                back[k] = 0
                for s in range(stop[k] - 1, first[k] - 1, -1):
                    for w in range(width):
                        back[k, w] |= raw[s, w]
                        suffix[s, w] = back[k, w]
                back[k] = 0
                j = first[k]
            at[k] = j
            moved[:] = gone
            if k == n - 1:
                for w in range(width):
                    out[reports, w] = suffix[at[0], w] | back[0, w]
                    for level in range(1, n):
                        out[reports, w] &= suffix[at[level], w] | back[level, w]
                reports += 1
    return out
