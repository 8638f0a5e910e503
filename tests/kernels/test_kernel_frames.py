"""The framing kernels: compiled and as plain Python, cut anywhere, and on edges."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fanlight.engine.kernels import frames as one
from fanlight.engine.kernels import frames_many as many
from fanlight.engine.kernels import running
from fanlight.engine.kernels.pieces import CARRIED, double_pieces, pieces
from fanlight.engine.kernels.sizes import NEVER, Sizes, cut_by_size
from tests.helpers.shown import shown
from tests.kernels.plain import uncompiled

few = shown(75)
OFF, ON = False, True
NAN, INF = float("nan"), float("inf")
REALS = st.sampled_from([0.0, -0.0, 0.5, 1.0, 1.5, 2.0, 3.0, -4.0, NAN, INF, -INF, 1e300])
WHOLES = st.sampled_from([0, 1, 2, 3, -4, 7, 2**62, 2**63 - 1, -(2**63)])
ROWS = st.lists(st.tuples(REALS, REALS, WHOLES, WHOLES, *[st.booleans()] * 4), max_size=24)
SPLITS = st.lists(st.integers(0, 24), max_size=4)


class Columns:
    """Made-up rows as the kernels take them; ``cut`` gives a stretch of them."""

    def __init__(self, rows):
        parts = list(zip(*rows, strict=True)) if rows else [()] * 8
        self.rows = rows
        self.reals = np.array(parts[:2], np.float64).reshape(2, len(rows))
        self.wholes = np.array(parts[2:4], np.int64).reshape(2, len(rows))
        self.valid = np.array(parts[4:6], np.bool_).reshape(2, len(rows))
        self.opens, self.closes = np.array(parts[6:], np.bool_).reshape(2, len(rows))
        self.cells = np.where(self.valid, self.wholes % 3, one.NO_CELL)

    def cut(self, begin, end):
        return Columns(self.rows[begin:end])


def no(shape):
    return np.zeros(shape, np.bool_)


def ints(slots, *width):
    return np.zeros((slots, *width), np.int64)


def reals(slots, *width):
    return np.zeros((slots, *width))


def several(columns, real_limits, whole_limits, reals_watched=(0, 0), wholes_watched=(0, 0)):
    """The two doubles and two integers of rows, with their limits and what is watched."""
    return (
        many.Reals(columns.reals, np.array(real_limits), np.array(reals_watched)),
        many.Wholes(
            columns.wholes, columns.valid, np.array(whole_limits), np.array(wholes_watched)
        ),
    )


def range_of(zeros, slots):
    return one.Range(no(slots), no(slots), zeros(slots), zeros(slots))


def ranges_of(slots, real=2, whole=2):
    return many.Ranges(
        no(slots), no(slots), reals(slots, real), reals(slots, real),
        ints(slots, whole), ints(slots, whole), no((slots, whole)),
    )  # fmt: skip


def run_of(slots, real=2, whole=2):
    return many.Run(
        no(slots), no(slots), *(reals(slots, real) for _ in range(3)),
        ints(slots, whole), no((slots, whole)),
    )  # fmt: skip


# Of each kernel: what it is given of the rows, and the state of so many slots.
def cases():
    found = {
        "flags": (one.mark_flags, lambda c: (c.opens,), lambda n: (no(n),)),
        "latches": (one.mark_latches, lambda c: (c.opens, c.closes), lambda n: (no(n), None)),
        "cells": (one.mark_cells, lambda c: (c.cells[0], OFF), lambda n: (no(n), ints(n))),
        "grid": (many.mark_grid_cells, lambda c: (c.cells,), lambda n: (no(n), ints(n, 2))),
    }
    for first in (False, True):
        for crossing in (False, True):
            how = f"{' against first' if first else ''}{' crossing' if crossing else ''}"
            found[f"float ranges{how}"] = (
                one.mark_float_deltas,
                lambda c, f=first, x=crossing: (c.reals[0].copy(), 1.5, f, x),
                lambda n: (range_of(reals, n),),
            )
            found[f"int ranges{how}"] = (
                one.mark_int_deltas,
                lambda c, f=first, x=crossing: (c.wholes[0].copy(), c.valid[0].copy(), 2, f, x),
                lambda n: (range_of(ints, n),),
            )
            found[f"deltas{how}"] = (
                many.mark_deltas,
                lambda c, f=first, x=crossing: (*several(c, [1.5, 3.0], [2, 5]), f, x),
                lambda n: (ranges_of(n), None),
            )
        found[f"float sums{' crossing' * first}"] = (
            one.mark_float_sums,
            lambda c, x=first: (c.reals[0].copy(), 3.0, x),
            lambda n: (no(n), reals(n), reals(n)),
        )
        found[f"int sums{' crossing' * first}"] = (
            one.mark_int_sums,
            lambda c, x=first: (c.wholes[0].copy(), c.valid[0].copy(), 4, x),
            lambda n: (no(n), ints(n)),
        )
        for watched in range(9):
            found[f"limits on {watched}{' crossing' * first}"] = (
                many.mark_limits,
                lambda c, x=first, w=watched: (
                    *several(
                        c, [1.2, 5.0], [4, 8], (w, running.SUM), (running.SUM, running.GREATEST)
                    ),
                    None, None, x,
                ),
                lambda n: (run_of(n), None),
            )  # fmt: skip
    return found


CASES = cases()


def marked(kernel, values, columns, starts, state):
    """The marks of some rows; the state is changed."""
    marks = np.full(len(columns.rows), 9, np.uint8)
    kernel(*values(columns), starts, *state, marks)
    return marks


def arrays_of(state):
    """The arrays of a state, also those in a named tuple."""
    parts = [part for part in state if part is not None]  # no limits on the size of frames
    return [array for part in parts for array in (part if isinstance(part, tuple) else (part,))]


@pytest.mark.parametrize("name", CASES)
def test_compiled_plain_and_cut_anywhere(name):
    kernel, values, empty = CASES[name]

    @few
    @given(ROWS, SPLITS)
    def check(rows, splits):
        columns, starts = Columns(rows), np.array([0, len(rows)])
        state, plain = empty(1), empty(1)
        marks = marked(kernel, values, columns, starts, state)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # unsigned spreads wrap around
            assert np.array_equal(marks, marked(kernel.__wrapped__, values, columns, starts, plain))
        assert all(
            np.array_equal(a, b, equal_nan=a.dtype == float)
            for a, b in zip(arrays_of(state), arrays_of(plain), strict=True)
        )
        # The same rows in stretches, the state carried on from one to the next; and row by row.
        edges = [0, *sorted(min(at, len(rows)) for at in splits), len(rows)]
        for cuts in (edges, range(len(rows) + 1)):
            carried, found = empty(1), [np.zeros(0, np.uint8)]
            for begin, end in pairwise(cuts):
                part = columns.cut(begin, end)
                found.append(marked(kernel, values, part, np.array([0, end - begin]), carried))
            assert np.array_equal(np.concatenate(found), marks)
        # And as the rows of several keys, each with a slot of its own.
        many_slots = empty(len(edges) - 1)
        told = marked(kernel, values, columns, np.array(edges), many_slots)
        alone = [
            marked(kernel, values, columns.cut(a, b), np.array([0, b - a]), empty(1))
            for a, b in pairwise(edges)
        ]
        assert np.array_equal(told, np.concatenate(alone))
        assert set(told.tolist()) <= {0, 1, 2}
        # A row goes on only where the row before was in a frame.
        goes_on = np.flatnonzero(marks == 1)
        assert (marks[goes_on - 1] > 0).all()
        assert not len(goes_on) or goes_on[0] > 0

    check()


def test_spreads_of_the_widest_integers_do_not_overflow():
    values = np.array([-(2**63), 2**63 - 1, 2**63 - 1, -(2**63)])
    marks, valid = np.empty(4, np.uint8), np.ones(4, np.bool_)
    starts = np.array([0, 4])
    one.mark_int_deltas(values, valid, 2**63 - 1, OFF, OFF, starts, range_of(ints, 1), marks)
    assert marks.tolist() == [2, 2, 1, 2]


def test_a_sum_beyond_64_bits_has_reached_any_limit():
    values = np.array([2**62, 2**62, 2**62, 1])
    marks, valid = np.empty(4, np.uint8), np.ones(4, np.bool_)
    one.mark_int_sums(values, valid, 2**63 - 1, ON, np.array([0, 4]), no(1), ints(1), marks)
    assert marks.tolist() == [2, 1, 2, 1]


def test_a_sum_below_64_bits_has_reached_no_limit():
    values = np.array([-(2**63), -1, -(2**63), 1])
    marks, valid = np.empty(4, np.uint8), np.ones(4, np.bool_)
    one.mark_int_sums(values, valid, 5, ON, np.array([0, 4]), no(1), ints(1), marks)
    assert marks.tolist() == [2, 1, 1, 1]


@pytest.mark.parametrize("crossing", [OFF, ON])
def test_sums_of_doubles_lose_nothing(crossing):
    """Many small values beside a large one: an uncompensated sum would never get there."""
    values = np.full(100_001, 1e-3)
    values[0] = 1e13
    marks = np.empty(len(values), np.uint8)
    limit = 1e13 + 50.0
    starts = np.array([0, len(values)])
    one.mark_float_sums(values, limit, crossing, starts, no(1), reals(1), reals(1), marks)
    assert abs(int(np.flatnonzero(marks[1:] == 2)[0]) + 1 - 50_000) <= 2


def by_definition(values, delta, *, first, crossing):
    """The marks of delta frames, each asked anew of all rows of its frame."""

    def changed(frame):
        known = [x for x in frame if x is not None]
        return any(abs(a - b) >= delta for a in (known[:1] if first else known) for b in known)

    frame, marks = [], []
    for x in values:
        full = crossing and changed(frame)
        if x is None:
            frame = [] if full or not frame else [*frame, x]
            marks.append(1 if frame else 0)
            continue
        on = frame and not full and (crossing or not changed([*frame, x]))
        frame = [*frame, x] if on else [x]
        marks.append(1 if on else 2)
    return marks


@pytest.mark.parametrize("crossing", [OFF, ON])
@pytest.mark.parametrize("first", [OFF, ON])
def test_deltas_are_as_defined(first, crossing):
    @shown(200)
    @given(st.lists(st.sampled_from([None, -3, -2, -1, 0, 1, 2, 3]), max_size=12))
    def check(values):
        marks, starts = np.empty(len(values), np.uint8), np.array([0, len(values)])
        told = by_definition(values, 2, first=first, crossing=crossing)
        doubles = np.array([NAN if x is None else x for x in values], np.float64)
        one.mark_float_deltas(doubles, 2.0, first, crossing, starts, range_of(reals, 1), marks)
        assert marks.tolist() == told
        valid = np.array([x is not None for x in values], np.bool_)
        whole = np.array([x or 0 for x in values], np.int64)
        one.mark_int_deltas(whole, valid, 2, first, crossing, starts, range_of(ints, 1), marks)
        assert marks.tolist() == told
        two = np.array([2])
        many.mark_deltas(
            many.Reals(doubles.reshape(1, -1), np.array([2.0]), ints(1)),
            many.Wholes(whole.reshape(1, -1), valid.reshape(1, -1), two, ints(1)),
            first, crossing, starts, ranges_of(1, 1, 1), None, marks,
        )  # fmt: skip
        assert marks.tolist() == told

    check()


def marks_by_definition(rows, reached, *, crossing):
    """The marks of frames that end where their rows, or those with the next one, reach a limit."""
    frame, marks = [], []
    for row in rows:
        full = crossing and reached(frame)
        if set(row) == {None}:
            frame = [] if full or not frame else [*frame, row]
            marks.append(1 if frame else 0)
            continue
        on = frame and not full and (crossing or not reached([*frame, row]))
        frame = [*frame, row] if on else [row]
        if not crossing and reached(frame):
            frame = []
        marks.append(1 if on else 2 if frame else 0)
    return marks


@pytest.mark.parametrize("crossing", [OFF, ON])
def test_limits_are_as_defined(crossing):
    some = st.sampled_from([None, -4, -3, -2, -1, 0, 1, 2])

    def reached(frame):
        """A greatest value of -1 of one, or a sum of 3 of the other."""
        a, b = ([row[at] for row in frame if row[at] is not None] for at in (0, 1))
        return bool((a and max(a) >= -1) or (b and sum(b) >= 3))

    @shown(300)
    @given(st.lists(st.tuples(some, some), max_size=12))
    def check(rows):
        marks, starts = np.empty(len(rows), np.uint8), np.array([0, len(rows)])
        wholes = np.array([[row[at] or 0 for row in rows] for at in (0, 1)], np.int64)
        valid = np.array([[row[at] is not None for row in rows] for at in (0, 1)], np.bool_)
        codes, most = np.array([running.GREATEST, running.SUM]), np.array([-1, 3])
        told = marks_by_definition(rows, reached, crossing=crossing)
        nothing = many.Reals(reals(0, len(rows)), reals(0), ints(0))
        given = many.Wholes(wholes, valid, most, codes)
        many.mark_limits(nothing, given, None, None, crossing, starts, run_of(1, 0, 2), None, marks)
        assert marks.tolist() == told
        doubles = np.where(valid, wholes, NAN).astype(np.float64)
        given = many.Reals(doubles, most.astype(np.float64), codes)
        nothing = many.Wholes(ints(0, len(rows)), no((0, len(rows))), ints(0), ints(0))
        many.mark_limits(given, nothing, None, None, crossing, starts, run_of(1, 2, 0), None, marks)
        assert marks.tolist() == told

    check()


@pytest.mark.parametrize("crossing", [OFF, ON])
def test_distinct_limits_are_as_defined(crossing):
    some = st.sampled_from([None, 0, 1, 2, 3])

    def reached(frame):
        """Two values of one, three of another, or a sum of 4."""
        a, b, c = ([row[at] for row in frame if row[at] is not None] for at in range(3))
        return len(set(a)) >= 2 or len(set(b)) >= 3 or sum(c) >= 4

    @shown(300)
    @given(st.lists(st.tuples(some, some, some), max_size=14), st.integers(0, 14))
    def check(rows, cut):
        told = marks_by_definition(rows, reached, crossing=crossing)
        values = np.array([[-1 if x is None else x for x in row] for row in rows], np.int64)
        values = values.reshape(len(rows), 3).T.copy()
        values[1, values[1] >= 0] += 4  # the limits' values have numbers of their own
        for kernel in (many.mark_distinct_limits, many.mark_distinct_limits.__wrapped__):
            most, sums = np.array([2, 3]), np.array([4])
            counts, frames, met, run = ints(1, 2), np.ones(1, np.int64), ints(8), run_of(1, 1, 1)
            found = []
            for begin, end in pairwise([0, min(cut, len(rows)), len(rows)]):
                part = values[:, begin:end]
                distinct = many.Distinct(part[:2].copy(), most, counts, frames, met)
                given = many.Wholes(part[2:].copy(), part[2:] >= 0, sums, ints(1))
                nothing = many.Reals(np.full((1, end - begin), NAN), reals(1), ints(1))
                marks, starts = np.empty(end - begin, np.uint8), np.array([0, end - begin])
                kernel(nothing, given, distinct, None, crossing, starts, run, None, marks)
                found += marks.tolist()
            assert found == told

    check()


@shown(200)
@given(st.floats(allow_nan=True, allow_infinity=True), st.sampled_from([0.1, 0.3, 4.2, 1e-3, 7.0]))
def test_a_value_lies_within_the_boundaries_of_its_cell(value, width):
    cell = np.zeros(1, np.int64)
    one.find_cells(np.array([value]), width, cell)
    n = int(cell[0])
    if n == one.NO_CELL:
        assert not abs(value) < 4.5e15 * width
    else:
        assert (n - 1) * width < value <= n * width


def test_boundaries_are_in_the_cell_below():
    for width in (0.1, 0.3, 4.2):
        edges = np.arange(-1000, 1000) * width
        cell = np.empty(len(edges), np.int64)
        one.find_cells(edges, width, cell)
        assert cell.tolist() == list(range(-1000, 1000))
        one.find_cells(np.nextafter(edges, INF), width, cell)
        assert cell.tolist() == list(range(-999, 1001))


def stretches(marks, opened):
    """What ``pieces`` gives of one group, told row by row."""
    found, begun = [], CARRIED if opened else None
    for at, mark in enumerate(marks):
        if mark == 1:
            continue
        if begun is not None:
            found.append((begun, at, True))
        begun = at if mark == 2 else None
    if begun is not None:
        found.append((begun, len(marks), False))
    return found


@few
@given(st.lists(st.tuples(st.booleans(), st.lists(st.integers(0, 2), max_size=8)), max_size=4))
def test_pieces(groups):
    told, at, fair = [], 0, []
    for number, (opened, marks) in enumerate(groups):
        inside = opened
        for mark in marks:  # a row can only go on with what is open
            fair.append(2 if mark == 1 and not inside else mark)
            inside = fair[-1] > 0
        mine = stretches(fair[at:], opened)
        told += [(lo if lo == CARRIED else lo + at, hi + at, number, ends) for lo, hi, ends in mine]
        at = len(fair)
    starts = np.cumsum([0, *(len(marks) for _, marks in groups)])
    opened = np.array([opened for opened, _ in groups], np.bool_)
    given_ = np.array(fair, np.uint8), starts, opened
    compiled, plain = pieces(*given_), uncompiled(pieces, *given_)
    for part, other in zip(compiled, plain, strict=True):
        assert np.array_equal(part, other)
    assert list(zip(*(part.tolist() for part in compiled), strict=True)) == told


def cut(marks, rows, cap, most):
    """What ``cut_by_size`` gives of one group, by looking back at all rows of each frame."""
    found, after, first = [], [], 0
    for at, mark in enumerate(marks):
        t = rows[at][0]
        ends = [until for _, until in rows[first:at]]
        late = mark == 1 and (t > max(ends) or (cap != NEVER and t >= rows[first][0] + cap))
        found.append(2 if late or (mark == 1 and at - first >= most) else mark)
        first = at if found[-1] == 2 else first
        ends = [until for _, until in rows[first : at + 1]]
        after.append(min(max(ends), NEVER if cap == NEVER else rows[first][0] + cap))
    return found, after


@shown(200)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(1, 7), st.integers(0, 2)), max_size=12),
    st.sampled_from([3, 6, NEVER]),
    st.sampled_from([1, 2, 4, NEVER]),
    SPLITS,
)
def test_sizes_cut(rows, cap, most, splits):
    marks, inside = [], False
    for *_, mark in rows:  # a row can only go on with what is open
        marks.append(2 if mark == 1 and not inside else mark)
        inside = marks[-1] > 0
    t = np.cumsum([apart for apart, *_ in rows], dtype=np.int64)
    until = t + np.array([length for _, length, _ in rows], np.int64)
    places = list(zip(t.tolist(), until.tolist(), strict=True))
    expected, ends = cut(marks, places, cap, most)
    for kernel in (cut_by_size, cut_by_size.__wrapped__):
        edges = [0, *sorted(min(at, len(rows)) for at in splits), len(rows)]
        opened, (began, counts, deadline) = no(1), (ints(1) for _ in range(3))
        told, after = [], []
        for low, high in pairwise(edges):  # cut anywhere, the state carried on
            mine, seen = np.array(marks[low:high], np.uint8), ints(high - low)
            part = t[low:high].copy(), until[low:high].copy()
            sizes = Sizes(*part, cap, most, began, counts, deadline, seen)
            opens = np.ones(high - low, np.bool_)
            kernel(mine, opens, np.array([0, high - low]), opened, sizes)
            told += mine.tolist()
            after += seen.tolist()
        assert told == expected
        inside = np.flatnonzero(np.array(told) > 0)
        assert [after[at] for at in inside] == [ends[at] for at in inside]


def doubles(cells):
    """The longest stretches in two neighbouring cells, by looking at all of them."""
    size = len(cells)
    good = [
        (i, j)
        for i in range(size)
        for j in range(i + 1, size + 1)
        if one.NO_CELL not in cells[i:j] and max(cells[i:j]) - min(cells[i:j]) <= 1
    ]
    return sorted(
        f for f in good if not any(f != g and g[0] <= f[0] and f[1] <= g[1] for g in good)
    )


@shown(200)
@given(st.lists(st.sampled_from([0, 1, 2, 3, one.NO_CELL]), max_size=12))
def test_double_pieces(cells):
    def run(kernel):
        state = no(1), ints(1), ints(1), ints(1), ints(1)
        return kernel(np.array(cells, np.int64), np.array([0, len(cells)]), *state, None), state

    (found, state), (plain, other) = run(double_pieces), run(double_pieces.__wrapped__)
    for part, same in zip((*found, *state), (*plain, *other), strict=True):
        assert np.array_equal(part, same)
    assert list(zip(found[0].tolist(), found[1].tolist(), strict=True)) == doubles(cells)


@pytest.mark.parametrize("name", CASES)
def test_no_rows_at_all(name):
    kernel, values, empty = CASES[name]
    for slots in (0, 2):
        marks = marked(kernel, values, Columns([]), ints(slots + 1), empty(slots))
        assert len(marks) == 0
