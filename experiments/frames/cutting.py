"""Series cut into frames by fanlight's kernels, into windows of so many tuples, and sampled."""

from __future__ import annotations

import numpy as np

from fanlight.engine.kernels import frames as kernels
from fanlight.engine.kernels import frames_many
from fanlight.engine.kernels.pieces import pieces

NO = np.zeros(1, np.bool_)
CROSSING = FIRST = False


def _stretches(marks):
    lo, hi, *_ = pieces(marks, np.array([0, len(marks)]), NO)
    return lo, hi


def thresholds(values, above, least):
    """Stretches of at least ``least`` values above a threshold."""
    marks = np.empty(len(values), np.uint8)
    kernels.mark_flags(values > above, np.array([0, len(values)]), NO.copy(), marks)
    lo, hi = _stretches(marks)
    large = hi - lo >= least
    return lo[large], hi[large]


def deltas(values, delta):
    """Stretches in which a value changes by less than a delta."""
    marks = np.empty(len(values), np.uint8)
    ends = np.array([0, len(values)])
    state = kernels.Range(NO.copy(), NO.copy(), np.zeros(1), np.zeros(1))
    kernels.mark_float_deltas(values, delta, FIRST, CROSSING, ends, state, marks)
    return _stretches(marks)


def many_deltas(columns, amounts):
    """Stretches in which each of several values changes by less than its delta."""
    values, size = np.stack(columns), len(columns[0])
    marks, count = np.empty(size, np.uint8), len(columns)
    nothing, none = np.empty(0, np.int64), np.empty((0, size), np.int64)
    reals = frames_many.Reals(values, np.array(amounts, float), np.zeros(count, np.int64))
    wholes = frames_many.Wholes(none, np.empty((0, size), np.bool_), nothing, nothing)
    wide = lambda kind: np.zeros((1, count if kind is float else 0), kind)  # noqa: E731
    state = frames_many.Ranges(
        NO.copy(), NO.copy(), wide(float), wide(float),
        wide(np.int64), wide(np.int64), wide(np.bool_),
    )  # fmt: skip
    starts = np.array([0, size])
    frames_many.mark_deltas(reals, wholes, FIRST, CROSSING, starts, state, None, marks)
    return _stretches(marks)


def grid(columns, widths):
    """Stays in one cell of a grid of multiples."""
    size = len(columns[0])
    cells = np.empty((len(columns), size), np.int64)
    for column, width, cell in zip(columns, widths, cells, strict=True):
        kernels.find_cells(column, width, cell)
    marks, last = np.empty(size, np.uint8), np.zeros((1, len(columns)), np.int64)
    frames_many.mark_grid_cells(cells, np.array([0, size]), NO.copy(), last, marks)
    lo, hi = _stretches(marks)
    return lo, hi, cells


def tuples(size, length):
    """Tumbling windows of so many tuples."""
    lo = np.arange(0, size, length)
    return lo, np.minimum(lo + length, size)


def means(values, lo):
    """The mean of each stretch; stretches follow each other from the first value on."""
    return np.add.reduceat(values, lo) / np.diff(np.append(lo, len(values)))


def delta_for(cut, wanted, low, high):
    """The delta that gives about so many frames, by halving."""
    for _ in range(40):
        middle = (low * high) ** 0.5
        if len(cut(middle)[0]) > wanted:
            low = middle
        else:
            high = middle
    return high
