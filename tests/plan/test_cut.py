"""Slices cover windows exactly, whatever RANGE, SLIDE and offset."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fanlight.engine.plan.cut import Cut, pairs, panes
from fanlight.engine.plan.grid import Grid

axes = st.builds(
    Grid,
    st.integers(1, 60),
    st.integers(1, 60),
    st.integers(-50, 50),
)


def windows_by_definition(axis: Grid, at: int) -> set[int]:
    first = (at - axis.offset - axis.range) // axis.slide
    return {
        m
        for m in range(first, first + axis.range // axis.slide + 4)
        if axis.offset + m * axis.slide <= at < axis.offset + m * axis.slide + axis.range
    }


def windows_by_slices(cut: Cut, at: int) -> set[int]:
    if not cut.grid.holds(at):
        return set()
    number = cut.slice_of(at)
    earliest = -((cut.span - 1 - number) // cut.step)
    return set(range(earliest, number // cut.step + 1))


@given(axes, st.integers(-500, 500), st.sampled_from([panes, pairs]))
def test_a_row_is_in_the_windows_of_its_slice(axis, at, cutter):
    assert windows_by_slices(cutter(axis), at) == windows_by_definition(axis, at)


@given(axes, st.integers(-500, 500), st.sampled_from([panes, pairs]))
def test_a_slice_starts_where_its_number_says(axis, at, cutter):
    cut = cutter(axis)
    number = cut.slice_of(at)
    start = cut.start_of(number)
    assert start <= at < cut.start_of(number + 1)
    assert cut.slice_of(start) == number
    assert cut.slice_of(start - 1) == number - 1


@given(axes, st.integers(-500, 500))
def test_the_grid_answers_as_its_definition_says(axis, at):
    """Of one number, and of many."""
    held = windows_by_definition(axis, at)
    assert set(range(axis.first(at), axis.last(at) + 1)) == held
    assert axis.holds(at) == bool(held)
    assert axis.start(axis.last(at)) <= at < axis.start(axis.last(at) + 1)
    assert axis.end(axis.ended(at)) <= at < axis.end(axis.ended(at) + 1)
    many = np.arange(at - 3, at + 4)
    for asked in (axis.first, axis.last, axis.ended, axis.start, axis.end, axis.holds):
        assert asked(many).tolist() == [asked(int(one)) for one in many]


@given(axes)
def test_pairs_are_never_more_than_two_a_slide_nor_more_than_panes(axis):
    assert pairs(axis).step <= 2
    assert pairs(axis).span <= panes(axis).span


@given(axes)
def test_panes_are_as_wide_as_the_paper_says(axis):
    cut = panes(axis)
    if axis.slide < axis.range:
        assert cut.head == math.gcd(axis.range, axis.slide)
        assert cut.span * cut.head == axis.range
        assert cut.step * cut.head == axis.slide
    else:
        assert (cut.span, cut.step) == (1, 1)


def test_nine_by_six_as_in_the_paper():
    cut = panes(Grid(9, 6))
    assert (cut.head, cut.span, cut.step) == (3, 3, 2)
