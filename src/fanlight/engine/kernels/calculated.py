"""Limits that rows, or the earlier rows and frames of their group, decide.

A group remembers its last values, and the numbers of rows of its last frames, for the means of
which a limit is made. All numbers of a group are in one row of ``ring``, those of each mean from
its ``offset`` on, the oldest overwritten first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fanlight.engine.kernels.jit import (
    BOOL,
    FLOAT,
    NEW_FLOATS,
    NEW_INTS,
    NEW_TABLE,
    array,
    jitable,
    named_tuple_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

# What a step does to a stack of numbers; the first three push one.
STEPS = (
    "number", "row", "mean", "negate", "abs",
    "add", "subtract", "multiply", "divide", "greatest", "least", "coalesce",
)  # fmt: skip
NUMBER, ROW, MEAN, NEGATE, ABS, ADD, SUBTRACT, MULTIPLY, DIVIDE, GREATEST, LEAST, COALESCE = range(
    12
)
REAL, WHOLE, COUNT = range(3)  # what an aggregate that has a limit watches
TOP, BOTTOM = 2**63 - 1, -(2**63)


class Means(NamedTuple):
    """Means of a group, and what they are made of.

    Mean ``m`` is that of the last ``last[m]`` numbers, and null before there are ``least[m]``: of
    rows of frames if ``source[m]`` is negative, or else of the values of this real attribute or,
    after all reals, of this whole one; divided by ``units[m]``. ``known`` are the means that the
    open frame of a group has taken, NaN for those that are null so far; ``rows`` the rows of that
    frame, or of the one before it.
    """

    last: Ints
    least: Ints
    source: Ints
    units: Floats
    offset: Ints
    ring: Floats
    pushed: Ints
    known: Floats
    rows: Ints


class Calculated(NamedTuple):
    """The limits of all rows: of each real attribute, each whole one, each count of values.

    Those that are made of means are calculated row by row. Of the limit ``p``, the steps are those
    from ``begins[p]`` on; it is that of attribute ``at[p]`` of the kind ``kinds[p]``, in its units:
    what the steps make, times ``units[p]``.
    """

    reals: Floats
    wholes: Ints
    counts: Ints
    does: Ints
    what: Floats
    begins: Ints
    kinds: Ints
    at: Ints
    units: Floats
    beyond: Bools
    rows: Floats
    stack: Floats
    means: Means


_FLOATS_2 = array(FLOAT, 2)
MEANS = named_tuple_of(
    Means, NEW_INTS, NEW_INTS, NEW_INTS, NEW_FLOATS, NEW_INTS,
    _FLOATS_2, NEW_TABLE, _FLOATS_2, NEW_INTS,
)  # fmt: skip
CALCULATED = named_tuple_of(
    Calculated, _FLOATS_2, NEW_TABLE, NEW_TABLE, NEW_INTS, NEW_FLOATS, NEW_INTS, NEW_INTS, NEW_INTS,
    NEW_FLOATS, array(BOOL), _FLOATS_2, NEW_FLOATS, MEANS,
)  # fmt: skip


@jitable
def push_number(means: Means, g: int, m: int, x: float) -> None:
    """Remember a number for a mean."""
    means.ring[g, means.offset[m] + means.pushed[g, m] % means.last[m]] = x
    means.pushed[g, m] += 1


@jitable
def mean_with(means: Means, g: int, m: int, x: float) -> float:
    """A mean with one more number at its end; NaN: without it."""
    there = means.pushed[g, m]
    more = int(x == x)  # noqa: PLR0124 - not NaN
    if there + more < means.least[m] or there + more == 0:
        return np.nan
    last, first = means.last[m], means.offset[m]
    fades = 1.0 - 2.0 / (last + 1.0)
    total, weight = 0.0, 0.0
    for k in range(max(0, there + more - last), there):
        total = total * fades + means.ring[g, first + k % last]
        weight = weight * fades + 1.0
    if more:
        total, weight = total * fades + x, weight * fades + 1.0
    return float(total / weight / means.units[m])


@jitable
def begin_frame(means: Means, g: int) -> None:
    """Remember the frame before, and take the means that a frame begins with."""
    if means.rows[g] > 0:
        for m in range(len(means.last)):
            if means.source[m] < 0:
                push_number(means, g, m, float(means.rows[g]))
        means.rows[g] = 0
    for m in range(len(means.last)):
        means.known[g, m] = mean_with(means, g, m, np.nan)


@jitable
def value_of(reals: Floats, wholes: Ints, valid: Bools, source: int, i: int) -> float:
    """A row's value of an attribute, as a double; NaN if it is null."""
    if source < len(reals):
        return float(reals[source, i])
    at = source - len(reals)
    return float(wholes[at, i]) if valid[at, i] else np.nan


@jitable
def take_means(means: Means, reals: Floats, wholes: Ints, valid: Bools, g: int, i: int) -> None:
    """Take the means that are null so far with the values of a row."""
    for m in range(len(means.last)):
        if means.source[m] >= 0 and means.known[g, m] != means.known[g, m]:
            x = value_of(reals, wholes, valid, means.source[m], i)
            means.known[g, m] = mean_with(means, g, m, x)


@jitable
def push_values(means: Means, reals: Floats, wholes: Ints, valid: Bools, g: int, i: int) -> None:
    """Remember the values of a row."""
    for m in range(len(means.last)):
        if means.source[m] >= 0:
            x = value_of(reals, wholes, valid, means.source[m], i)
            if x == x:  # noqa: PLR0124
                push_number(means, g, m, x)


@jitable
def combine_numbers(does: int, a: float, b: float) -> float:
    """What a step makes of two numbers, NaN for null."""
    if does == ADD:
        return a + b
    if does == SUBTRACT:
        return a - b
    if does == MULTIPLY:
        return a * b
    if does == DIVIDE:
        return a / b if b != 0.0 else np.nan
    if does == COALESCE or b != b or a != a:  # noqa: PLR0124
        return b if a != a else a  # noqa: PLR0124
    return max(a, b) if does == GREATEST else min(a, b)


@jitable
def calculate_limit(limits: Calculated, p: int, g: int, i: int) -> float:
    """The limit ``p`` for a row; NaN if it is null."""
    stack, top = limits.stack, 0
    for k in range(limits.begins[p], limits.begins[p + 1]):
        does, what = limits.does[k], limits.what[k]
        if does <= MEAN:
            if does == NUMBER:
                stack[top] = what
            elif does == ROW:
                stack[top] = limits.rows[int(what), i]
            else:
                stack[top] = limits.means.known[g, int(what)]
            top += 1
        elif does == NEGATE:
            stack[top - 1] = -stack[top - 1]
        elif does == ABS:
            stack[top - 1] = abs(stack[top - 1])
        else:
            top -= 1
            stack[top - 1] = combine_numbers(does, stack[top - 1], stack[top])
    return float(stack[0] * limits.units[p])


@jitable
def whole_limit(limit: float, beyond: bool) -> int:
    """The least integer that reaches a limit, or exceeds it; NaN is never reached."""
    if not limit < 9.2e18:
        return TOP
    if limit < -9.2e18:
        return BOTTOM
    return int(np.floor(limit)) + 1 if beyond else int(np.ceil(limit))


@jitable
def next_double(x: float) -> float:
    """The least double greater than this one; NaN if there is none."""
    return float(np.nextafter(x, np.inf)) if x < np.inf else np.nan


@jitable
def set_limits(limits: Calculated, g: int, i: int) -> None:
    """Calculate the limits of a row that are made of means."""
    for p in range(len(limits.kinds)):
        limit = calculate_limit(limits, p, g, i)
        at, beyond = limits.at[p], limits.beyond[p]
        if limits.kinds[p] == REAL:
            limits.reals[at, i] = next_double(limit) if beyond else limit
        elif limits.kinds[p] == WHOLE:
            limits.wholes[at, i] = whole_limit(limit, beyond)
        else:
            limits.counts[at, i] = whole_limit(limit, beyond)
