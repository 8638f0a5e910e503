"""Several windows over one stream: what they share, and how each is made."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import fanlight as fl
from fanlight.engine.plan.explain import About
from fanlight.engine.plan.explain_placed import explain_placed
from fanlight.engine.plan.granules import granules_of
from fanlight.engine.plan.grid import Grid, make_grids
from fanlight.engine.plan.placed import check_strategy
from fanlight.engine.plan.request import rule_out
from tests.helpers.granular_cases import end_of
from tests.helpers.shown import shown
from tests.plan.requests import SUM, plan_placed, request

NESTED = fl.MultiGranular(
    ["1 minute", "10 minutes", "1 hour"], ["10 seconds", "1 minute", "5 minutes"]
)
drawn = st.lists(
    st.builds(Grid, st.integers(1, 12), st.integers(1, 12), st.integers(-5, 5)),
    min_size=1,
    max_size=4,
)


def levels(spec, **how):
    grids = make_grids([one.windows for one in spec.levels], "ts", "timestamp")[1]
    return request(grids, [SUM], name="level", **how)


def pieces(asked):
    return plan_placed(asked).chosen.cut


def edges(grids, upto):
    """Where windows begin or end, by their definition."""
    found = set()
    for grid in grids:
        for m in range(-40, upto + 10):
            start = grid.offset + m * grid.slide
            found |= {start, start + grid.range}
    return sorted(edge for edge in found if 0 <= edge < upto)


@shown(200)
@given(grids=drawn)
def test_time_is_cut_at_every_edge_and_nowhere_else(grids):
    granules = granules_of(grids)
    starts = sorted({granules.slice_start(t) for t in range(60)})
    assert [start for start in starts if start >= 0] == edges(grids, 60)
    for t in range(60):
        assert granules.slice_start(t) <= t < end_of(granules, t)
        assert granules.slice_start(end_of(granules, t)) == end_of(granules, t)
        assert granules.slice_start(end_of(granules, t) - 1) == granules.slice_start(t)


@shown(200)
@given(grids=drawn)
@example(grids=[Grid(2, 2), Grid(9, 5)])
def test_every_branch_can_be_made_from_its_source(grids):
    cut = pieces(request(grids, [SUM], name="query", kind="integer"))
    made = {}
    for branch in cut.branches:
        assert branch.source is None or branch.source in made
        held = branch.cut.grid.has_window
        made[branch.number] = [branch.cut.slice_of(t) if held(t) else None for t in range(120)]
        if branch.source is None:
            finer = [cut.granules.slice_start(t) for t in range(120)]
        else:
            finer = made[branch.source]
            assert None not in finer
        for (a, b), (x, y) in zip(pairwise(finer), pairwise(made[branch.number]), strict=True):
            if a == b:
                assert x == y, "a slice of the source lies in two slices"
            elif branch.whole and None not in (x, y):
                assert x != y
    assert sorted(made) == list(range(len(grids)))


def test_nested_levels_feed_each_other():
    plan = pieces(levels(NESTED))
    assert plan.granules.edges == ((0, 10_000_000),)
    assert [(b.number, b.source, b.whole, b.cut.span) for b in plan.branches] == [
        (0, None, True, 6),
        (1, 0, False, 10),
        (2, 1, False, 12),
    ]


def test_short_levels_are_rolled_up_together():
    plan = pieces(levels(NESTED))
    assert [b.together for b in plan.branches] == [False, True, True]
    same = [["1 minute", "8 minutes", "1 hour"], ["10 seconds", "4 minutes", "4 minutes"]]
    branches = pieces(levels(fl.MultiGranular(*same))).branches
    assert [(b.whole, b.together) for b in branches] == [(True, False), (False, True), (True, True)]
    two = fl.MultiGranular(["1 minute", "1 hour"], ["10 seconds", "5 minutes"])
    assert not any(b.together for b in pieces(levels(two)).branches)
    # Level 2 has windows of 600 slices, which no slice is copied to; level 1 feeds it.
    wide = fl.MultiGranular(
        ["1 minute", "10 minutes", "10 hours"], ["10 seconds", "1 minute", "1 minute"]
    )
    branches = pieces(levels(wide)).branches
    assert [b.rollup.name for b in branches][2] != "scan"
    assert not any(b.together for b in branches)


def test_queries_without_a_common_divisor_share_few_slices():
    """A divisor would cut 2,520 slices a period where there are 13 edges."""
    given = [Grid(2520, 630), Grid(2521, 504)]
    granules = granules_of(given)
    starts = {granules.slice_start(t) for t in range(100_800, 100_800 + 2520)}
    assert len(starts) == 13


def test_strategies_that_do_not_fit_say_why():
    with pytest.raises(fl.FanlightError, match=r"chain.*no state to keep"):
        plan_placed(levels(NESTED), "chain")
    with pytest.raises(fl.FanlightError, match=r"'panes'.*granules.*separate"):
        check_strategy("panes", lasting=False, several=True)
    with pytest.raises(fl.FanlightError, match=r"granules.*because"):
        plan_placed(
            levels(NESTED, streaming=True, ruled_out=rule_out(operator="because")), "granules"
        )
    chosen = plan_placed(
        levels(NESTED, streaming=True, ruled_out=rule_out(operator="because"))
    ).chosen
    assert chosen.strategy.name == "chain"


def test_sharing_is_estimated_cheaper_than_apart():
    for streaming in (False, True):
        plan = plan_placed(levels(NESTED, streaming=streaming))
        costs = {way.strategy.name: way.cost for way in plan.candidates}
        assert costs["granules"] < costs["separate"]


def test_explain_names_granules_branches_and_costs():
    asked = levels(NESTED)
    about = About(NESTED, "ts", ["k"], verbose=True)
    text = explain_placed(plan_placed(asked), asked, about, ["sum(v)"])
    for part in (
        "cut at every 10 seconds",
        "level 0     1 minute long, one every 10 seconds; 6 slices per window, from",
        "6 slices per window, from the slices, scan",
        "level 2     1 hour long, one every 5 minutes; 12 slices per window, from level 1, copied",
        "chain (operator)                does not fit",
        "<- chosen",
    ):
        assert part in text
