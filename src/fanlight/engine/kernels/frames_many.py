"""Marks rows by several attributes or limits at once; otherwise as ``kernels/frames``.

Doubles and integers are in separate arrays, so that integers stay exact. Matrices of values have a
row for each attribute, those of state a column. One attribute has loops of its own, in
``kernels/frames``, as they compile in a fraction of the time and run several times faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fanlight.engine.kernels.calculated import (
    CALCULATED,
    Calculated,
    begin_frame,
    push_values,
    set_limits,
    take_means,
)
from fanlight.engine.kernels.frames import NO_CELL
from fanlight.engine.kernels.jit import (
    BOOL,
    FLOAT,
    INTS,
    NEW_BOOLS,
    NEW_FLOATS,
    NEW_INTS,
    NEW_TABLE,
    NONE,
    VOID,
    array,
    kernel,
    named_tuple_of,
)
from fanlight.engine.kernels.running import (
    add_value,
    add_whole,
    count_with_value,
    floats_differ_by,
    ints_differ_by,
    limit_reached,
    whole_reached,
)
from fanlight.engine.kernels.sizes import NEW_MARKS, SIZES, Sizes, ends_before, measure_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Marks = NDArray[np.uint8]

FLOATS_2 = array(FLOAT, 2)
BOOLS_2 = array(BOOL, 2)


@kernel(VOID(NEW_TABLE, INTS, NEW_BOOLS, NEW_TABLE, NEW_MARKS))
def mark_grid_cells(cells: Ints, starts: Ints, opened: Bools, last: Ints, marks: Marks) -> None:
    """Mark boundary frames over a grid: the longest stretches of rows in one cell of it."""
    dimensions = len(cells)
    for g in range(len(starts) - 1):
        inside = opened[g]
        for i in range(starts[g], starts[g + 1]):
            same, in_cell = inside, True
            for d in range(dimensions):
                in_cell = in_cell and cells[d, i] != NO_CELL
                same = same and cells[d, i] == last[g, d]
                last[g, d] = cells[d, i]
            inside = in_cell
            marks[i] = 0 if not in_cell else (1 if same else 2)
        opened[g] = inside


class Reals(NamedTuple):
    """Attributes that are doubles, NaN for null, with what each limit watches."""

    values: Floats
    limits: Floats
    watched: Ints


class Wholes(NamedTuple):
    """Attributes that are integers; ``valid`` is true where they are not null."""

    values: Ints
    valid: Bools
    limits: Ints
    watched: Ints


class Ranges(NamedTuple):
    """The state of delta frames for each group; NaN or not seen: no value of the attribute yet."""

    opened: Bools
    crossed: Bools
    real_least: Floats
    real_greatest: Floats
    whole_least: Ints
    whole_greatest: Ints
    whole_seen: Bools


class Run(NamedTuple):
    """The state of aggregate frames for each group; of doubles, see :func:`running.add_value`."""

    opened: Bools
    crossed: Bools
    counts: Floats
    first: Floats
    second: Floats
    whole: Ints
    whole_seen: Bools


class Distinct(NamedTuple):
    """Limits on distinct values; ``values`` are numbers, -1 for null.

    A value has a number of its own in each group, and frames are numbered as they open: ``frames``
    has the number of each group's open frame, ``met`` the last frame that had each value, and
    ``counts`` the number of distinct values in each group's open frame for each limit.
    """

    values: Ints
    limits: Ints
    counts: Ints
    frames: Ints
    met: Ints


REALS = named_tuple_of(Reals, FLOATS_2, NEW_FLOATS, NEW_INTS)
WHOLES = named_tuple_of(Wholes, NEW_TABLE, BOOLS_2, NEW_INTS, NEW_INTS)
RANGES = named_tuple_of(
    Ranges, NEW_BOOLS, NEW_BOOLS, FLOATS_2, FLOATS_2, NEW_TABLE, NEW_TABLE, BOOLS_2
)  # fmt: skip
RUN = named_tuple_of(Run, NEW_BOOLS, NEW_BOOLS, FLOATS_2, FLOATS_2, FLOATS_2, NEW_TABLE, BOOLS_2)
DISTINCT = named_tuple_of(Distinct, NEW_TABLE, NEW_INTS, NEW_TABLE, NEW_INTS, NEW_INTS)


def _mark_deltas(
    reals: Reals,
    wholes: Wholes,
    against_first: bool,
    crossing: bool,
    starts: Ints,
    state: Ranges,
    sizes: Sizes | None,
    marks: Marks,
) -> None:
    """Mark delta frames over several attributes, by the frame's range or its first values.

    If ``sizes`` is None, the branches for it are not compiled.
    """
    n_reals, n_wholes = len(reals.values), len(wholes.values)
    least, greatest = state.real_least, state.real_greatest
    numbers, valid, seen = wholes.values, wholes.valid, state.whole_seen
    whole_least, whole_greatest = state.whole_least, state.whole_greatest
    for g in range(len(starts) - 1):
        inside, full = state.opened[g], state.crossed[g]
        for i in range(starts[g], starts[g + 1]):
            if sizes is not None and ends_before(sizes, g, i, starts[g], marks):
                inside, full = False, False
            some, over = False, False
            for a in range(n_reals):
                x = reals.values[a, i]
                if x == x:  # noqa: PLR0124 - not NaN
                    some = True
                    if inside and least[g, a] == least[g, a]:
                        low, high = min(least[g, a], x), max(greatest[g, a], x)
                        over = over or floats_differ_by(low, high, reals.limits[a])
            for a in range(n_wholes):
                if valid[a, i]:
                    some = True
                    y = numbers[a, i]
                    if inside and seen[g, a]:
                        small, large = min(whole_least[g, a], y), max(whole_greatest[g, a], y)
                        far = ints_differ_by(small, large, wholes.limits[a])
                        over = over or far
            if not some:
                inside = inside and not full
                marks[i] = 1 if inside else 0
                continue
            opens = full or not inside or (over and not crossing)
            marks[i] = 2 if opens else 1
            inside, full = True, over and not opens
            for a in range(n_reals):
                x = reals.values[a, i]
                unset = opens or least[g, a] != least[g, a]
                if unset:
                    least[g, a] = x
                    greatest[g, a] = x
                elif x == x and not against_first:  # noqa: PLR0124
                    least[g, a], greatest[g, a] = min(least[g, a], x), max(greatest[g, a], x)
            for a in range(n_wholes):
                y = numbers[a, i]
                if opens or not seen[g, a]:
                    whole_least[g, a] = y
                    whole_greatest[g, a] = y
                    seen[g, a] = valid[a, i]
                elif valid[a, i] and not against_first:
                    small, large = min(whole_least[g, a], y), max(whole_greatest[g, a], y)
                    whole_least[g, a], whole_greatest[g, a] = small, large
        if sizes is not None and starts[g + 1] > starts[g]:
            measure_row(sizes, g, starts[g + 1] - 1, marks[starts[g + 1] - 1])
        state.opened[g], state.crossed[g] = inside, full and inside


_DELTAS = (REALS, WHOLES, BOOL, BOOL, INTS, RANGES)
mark_deltas = kernel(VOID(*_DELTAS, NONE, NEW_MARKS))(_mark_deltas)
mark_sized_deltas = kernel(VOID(*_DELTAS, SIZES, NEW_MARKS))(_mark_deltas)


def _mark_limits(
    reals: Reals,
    wholes: Wholes,
    distinct: Distinct | None,
    limits: Calculated | None,
    crossing: bool,
    starts: Ints,
    state: Run,
    sizes: Sizes | None,
    marks: Marks,
) -> None:
    """Mark aggregate frames over several aggregates: a frame ends when any reaches its limit.

    If ``distinct``, ``limits`` or ``sizes`` is None, the branches for it are not compiled.
    """
    n_reals, n_wholes = len(reals.values), len(wholes.values)
    numbers, valid, whole, seen = wholes.values, wholes.valid, state.whole, state.whole_seen
    counts, first, second = state.counts, state.first, state.second
    # The state of the frame with this row: n_reals times (count, first, second), and integers.
    tried, tried_whole = np.empty((n_reals, 3)), np.empty(n_wholes, np.int64)
    for g in range(len(starts) - 1):
        inside, full = state.opened[g], state.crossed[g]
        for i in range(starts[g], starts[g + 1]):
            if sizes is not None and ends_before(sizes, g, i, starts[g], marks):
                inside, full = False, False
            some = False
            for a in range(n_reals):
                some = some or reals.values[a, i] == reals.values[a, i]
            for a in range(n_wholes):
                some = some or valid[a, i]
            if distinct is not None:
                for a in range(len(distinct.values)):
                    some = some or distinct.values[a, i] >= 0
            if not some:
                inside = inside and not full
                full = full and inside
                marks[i] = 1 if inside else 0
                if limits is not None:
                    limits.means.rows[g] += int(inside)
                continue
            alone = full or not inside
            while True:
                over = False
                if limits is not None:
                    if alone:
                        begin_frame(limits.means, g)
                    take_means(limits.means, reals.values, numbers, valid, g, i)
                    set_limits(limits, g, i)
                for a in range(n_reals):
                    watched = reals.watched[a]
                    limit = reals.limits[a] if limits is None else limits.reals[a, i]
                    n = 0.0 if alone else counts[g, a]
                    n, s, c = add_value(watched, n, first[g, a], second[g, a], reals.values[a, i])
                    tried[a, 0], tried[a, 1], tried[a, 2] = n, s, c
                    over = over or limit_reached(watched, n, s, c, limit)
                for a in range(n_wholes):
                    y, known = numbers[a, i], seen[g, a] and not alone
                    if known and valid[a, i]:
                        y = add_whole(wholes.watched[a], whole[g, a], y)
                    elif known:
                        y = whole[g, a]
                    tried_whole[a] = y
                    if known or valid[a, i]:
                        most = wholes.limits[a] if limits is None else limits.wholes[a, i]
                        over = over or whole_reached(wholes.watched[a], y, most)
                if distinct is not None:
                    for a in range(len(distinct.values)):
                        count = count_with_value(
                            distinct.counts[g, a],
                            distinct.values[a, i],
                            alone,
                            distinct.frames[g],
                            distinct.met,
                        )
                        many = distinct.limits[a] if limits is None else limits.counts[a, i]
                        over = over or 0 < count >= many
                if alone or crossing or not over:
                    break
                alone = True  # the row would reach a limit: it begins the next frame, if any
            inside = crossing or not over
            marks[i] = 0 if not inside else (2 if alone else 1)
            full = inside and over
            if limits is not None:
                limits.means.rows[g] += int(inside)
                push_values(limits.means, reals.values, numbers, valid, g, i)
            for a in range(n_reals):
                counts[g, a], first[g, a], second[g, a] = tried[a, 0], tried[a, 1], tried[a, 2]
            for a in range(n_wholes):
                seen[g, a] = valid[a, i] or (seen[g, a] and not alone)
                whole[g, a] = tried_whole[a]
            if distinct is not None:
                distinct.frames[g] += int(alone)
                for a in range(len(distinct.values)):
                    value, frame = distinct.values[a, i], distinct.frames[g]
                    distinct.counts[g, a] = count_with_value(
                        distinct.counts[g, a], value, alone, frame, distinct.met
                    )
                    if value >= 0:
                        distinct.met[value] = frame
        if sizes is not None and starts[g + 1] > starts[g]:
            measure_row(sizes, g, starts[g + 1] - 1, marks[starts[g + 1] - 1])
        state.opened[g], state.crossed[g] = inside, full


_RUN = (BOOL, INTS, RUN)
mark_limits = kernel(VOID(REALS, WHOLES, NONE, NONE, *_RUN, NONE, NEW_MARKS))(_mark_limits)
mark_sized_limits = kernel(VOID(REALS, WHOLES, NONE, NONE, *_RUN, SIZES, NEW_MARKS))(_mark_limits)
mark_distinct_limits = kernel(VOID(REALS, WHOLES, DISTINCT, NONE, *_RUN, NONE, NEW_MARKS))(
    _mark_limits
)
mark_sized_distinct_limits = kernel(VOID(REALS, WHOLES, DISTINCT, NONE, *_RUN, SIZES, NEW_MARKS))(
    _mark_limits
)
mark_calculated_limits = kernel(VOID(REALS, WHOLES, DISTINCT, CALCULATED, *_RUN, SIZES, NEW_MARKS))(
    _mark_limits
)
