"""Slices cover windows exactly, whatever RANGE, SLIDE and offset."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fanlight.engine.plan.granules import Cut, cut_into_pairs, cut_into_panes
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
    if not cut.grid.has_window(at):
        return set()
    number = cut.slice_of(at)
    earliest = -((cut.span - 1 - number) // cut.step)
    return set(range(earliest, number // cut.step + 1))


@given(axes, st.integers(-500, 500), st.sampled_from([cut_into_panes, cut_into_pairs]))
def test_a_row_is_in_the_windows_of_its_slice(axis, at, cutter):
    assert windows_by_slices(cutter(axis), at) == windows_by_definition(axis, at)


@given(axes, st.integers(-500, 500), st.sampled_from([cut_into_panes, cut_into_pairs]))
def test_a_slice_starts_where_its_number_says(axis, at, cutter):
    cut = cutter(axis)
    number = cut.slice_of(at)
    start = cut.slice_start(number)
    assert start <= at < cut.slice_start(number + 1)
    assert cut.slice_of(start) == number
    assert cut.slice_of(start - 1) == number - 1


@given(axes, st.integers(-500, 500))
def test_the_grid_answers_as_its_definition_says(axis, at):
    """Of one number, and of many."""
    held = windows_by_definition(axis, at)
    assert set(range(axis.first_window(at), axis.last_window(at) + 1)) == held
    assert axis.has_window(at) == bool(held)
    assert (
        axis.window_start(axis.last_window(at)) <= at < axis.window_start(axis.last_window(at) + 1)
    )
    assert (
        axis.window_end(axis.last_ended_window(at))
        <= at
        < axis.window_end(axis.last_ended_window(at) + 1)
    )
    many = np.arange(at - 3, at + 4)
    for asked in (
        axis.first_window,
        axis.last_window,
        axis.last_ended_window,
        axis.window_start,
        axis.window_end,
        axis.has_window,
    ):
        assert asked(many).tolist() == [asked(int(one)) for one in many]


@given(axes)
def test_pairs_are_never_more_than_two_a_slide_nor_more_than_panes(axis):
    assert cut_into_pairs(axis).step <= 2
    assert cut_into_pairs(axis).span <= cut_into_panes(axis).span


@given(axes)
def test_panes_are_as_wide_as_the_paper_says(axis):
    cut = cut_into_panes(axis)
    if axis.slide < axis.range:
        assert cut.head == math.gcd(axis.range, axis.slide)
        assert cut.span * cut.head == axis.range
        assert cut.step * cut.head == axis.slide
    else:
        assert (cut.span, cut.step) == (1, 1)


def test_nine_by_six_as_in_the_paper():
    cut = cut_into_panes(Grid(9, 6))
    assert (cut.head, cut.span, cut.step) == (3, 3, 2)
