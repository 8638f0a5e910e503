"""The paper's theory, found again from the definitions on small streams: closures and lemmas."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fanlight as fl
from fanlight import agg
from tests.helpers.shown import shown
from tests.oracle import framings as theory
from tests.oracle.frames import framed, local_condition

SMALL = st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0, 3.0]), min_size=1, max_size=5)
HOLDS = {"v > 1": lambda row: row["v"] > 1}
THRESHOLD = fl.ThresholdFrame("v > 1")
BOUNDARY = fl.BoundaryFrame({"v": 1})
DOUBLE = fl.BoundaryFrame({"v": 1}, overlapping=True)
BELOW = fl.DeltaFrame({"v": 1})
REACHED = fl.DeltaFrame({"v": 1}, include_crossing=True)
SUM_BELOW = fl.AggregateFrame(agg.sum("v"), 3, include_crossing=False)
SUM_REACHED = fl.AggregateFrame(agg.sum("v"), 3)
BY_UNION = (THRESHOLD, BOUNDARY)
BY_CHAIN = (BELOW, REACHED, SUM_BELOW, SUM_REACHED)
ALL = (*BY_UNION, DOUBLE, *BY_CHAIN)
few = shown(60)


def rows_of(values):
    return [{"t": t, "v": v} for t, v in enumerate(values)]


def candidates(values, spec):
    return theory.candidates(len(values), local_condition(rows_of(values), spec, HOLDS))


def final(values, spec):
    """(first row, behind the last row) of the frames that the library's scheme gives."""
    found = framed(rows_of(values), spec, time="t", holds=HOLDS)
    return frozenset((f.rows[0]["t"], f.rows[-1]["t"] + 1) for f in found), found


@few
@given(SMALL)
def test_closures(values):
    """Definition 5, for each scheme as section 3.2 says."""
    size = len(values)
    for spec in BY_UNION:
        assert theory.union_closed(candidates(values, spec))
        assert theory.sub_closed(candidates(values, spec), size)
    for spec in (BELOW, SUM_BELOW):
        assert theory.sub_closed(candidates(values, spec), size)
    for spec in (REACHED, SUM_REACHED):
        assert theory.super_closed(candidates(values, spec), size)


def test_delta_frames_are_not_closed_under_union():
    assert not theory.union_closed(candidates([0.0, 0.5, 1.0], BELOW))
    assert not theory.sub_closed(candidates([0.0, 1.0], REACHED), 2)


@shown(40)
@given(st.lists(st.sampled_from([0.5, 1.5, 2.0]), min_size=1, max_size=4))
def test_lemma_1(values):
    """Union closure, maximal and covering: one framing; it is drained and does not overlap."""
    conditions = (theory.is_maximal, theory.covering)
    for spec in BY_UNION:
        every = candidates(values, spec)
        found = theory.framings(every, conditions)
        assert found == [theory.maximal(every)]
        assert found[0] == final(values, spec)[0]
        assert theory.drained(found[0], every, conditions)  # Proposition 1
        assert not theory.overlapping(found[0])  # Proposition 2


@shown(40)
@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=1, max_size=4))
def test_lemma_2(values):
    """Frames that follow each other, each the longest (shortest) from its start: one framing."""
    for spec, longest in zip(BY_CHAIN, (True, False, True, False), strict=True):
        every = candidates(values, spec)
        one = theory.longest_from_start if longest else theory.shortest_from_start
        conditions = (one, theory.disjoint, theory.covering if longest else _no_gap)
        found = theory.framings(every, conditions)
        chained = theory.chain(every, longest=longest)
        assert chained in found
        if spec is not SUM_BELOW:  # there a row may be in no frame, and others be skipped
            assert found == [chained]
        frames, reported = final(values, spec)
        if longest:
            assert frames == chained
        else:  # what is still open is a candidate only once it has reached its limit
            done = frozenset(f for f in frames if f in every)
            assert done == chained
            assert all(
                not f.closed for f in reported if (f.rows[0]["t"], f.rows[-1]["t"] + 1) not in every
            )


def _no_gap(framing, chosen_from):
    """Frames follow each other from the first row on, as far as there are candidates."""
    at = 0
    for i, j in sorted(framing):
        if i != at:
            return False
        at = j
    return not any(i >= at for i, _ in chosen_from)


def test_the_conditions_of_delta_frames_taken_literally_overlap():
    """Longest among all, covering and drained: not the partition that the paper means."""
    every = candidates([0.0, 0.5, 1.0], BELOW)
    conditions = (theory.is_maximal, theory.covering)
    found = [f for f in theory.framings(every, conditions) if theory.drained(f, every, conditions)]
    assert found == [frozenset({(0, 2), (1, 3)})]
    assert theory.overlapping(found[0])
    assert final([0.0, 0.5, 1.0], BELOW)[0] == frozenset({(0, 2), (2, 3)})


@shown(40)
@given(st.lists(st.sampled_from([0.5, 1.5, 2.5, 4.5]), min_size=1, max_size=4))
def test_double_boundary_frames(values):
    """Maximal, covering and saturated: unique, and they may overlap."""
    every = candidates(values, DOUBLE)
    conditions = (theory.is_maximal, theory.covering)
    found = [
        f for f in theory.framings(every, conditions) if theory.saturated(f, every, conditions)
    ]
    assert found == [final(values, DOUBLE)[0]]


def test_double_boundary_frames_do_overlap():
    assert theory.overlapping(final([0.5, 1.5, 2.5], DOUBLE)[0])


@few
@given(SMALL)
def test_what_each_scheme_guarantees(values):
    size = len(values)
    for spec in ALL:
        frames, _ = final(values, spec)
        if "non-overlapping" in spec.guarantees:
            assert not theory.overlapping(frames)
        if "separated" in spec.guarantees:
            assert theory.separated(frames)
        if "partitions" in spec.guarantees:
            assert theory.partitions(frames, size)


@pytest.mark.parametrize("spec", ALL, ids=repr)
def test_guarantees_are_stated(spec):
    assert "unique" in spec.guarantees
    assert ("overlapping" in spec.guarantees) == (spec is DOUBLE)
