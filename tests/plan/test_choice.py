"""The choice of a technique, and what explain() says of it."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight.engine.plan.cost import constants, points
from fanlight.engine.plan.explain_placed import About, explain_placed
from fanlight.engine.plan.grid import Grid
from fanlight.engine.plan.request import Workload
from tests.plan.requests import COUNT, MAX, MEDIAN, MINUTE, plan_placed, request


def planned(grid, fields, strategy="auto", **how):
    return plan_placed(request(grid, fields, **how), strategy)


def hours(span: int, step: int = 1) -> Grid:
    return Grid(span * MINUTE, step * MINUTE)


def test_formulas_of_the_paper_count_touches():
    load = points.Load(tuples=1200.0, panes=4, step=1, groups=10.0, groups_per_window=10.0)
    spread = constants.SPREAD / constants.CACHED
    once = (constants.READ + constants.ROW + spread * 10) * 1200 / 4
    assert points.slice_rows(load) == pytest.approx(once + constants.PARTIAL * 10)
    rolled = points.scan(load) - points.slice_rows(load)
    assert rolled == pytest.approx((constants.FILL + constants.ENTER * 4) * 10)
    copied = points.copies(load) - points.slice_rows(load)
    assert copied == pytest.approx(constants.COPY * 4 * 10)
    again = (constants.EXPANDED_ROW + spread * 10 * 4) * 1200 * 3 / 4
    assert points.expand(load) == pytest.approx(once + again + constants.PARTIAL * 10)


def test_few_panes_are_scanned_and_many_are_not():
    assert planned(hours(4), [MAX]).chosen.rollup.name == "scan"
    assert planned(hours(1000), [MAX]).chosen.rollup.name == "two stacks"


def test_without_overlap_there_is_nothing_to_roll_up():
    for grid in (hours(1), hours(1, 5)):
        assert planned(grid, [MAX]).chosen.rollup.name == ""


def test_a_row_a_group_leaves_nothing_to_share():
    sparse = Workload(rows_per_slide=1000.0, groups=1e9, assumed=False)
    assert planned(hours(2), [MAX], work=sparse).chosen.strategy.name == "expand"
    busy = Workload(rows_per_slide=1e6, groups=100.0, assumed=False)
    assert planned(hours(2), [MAX], work=busy).chosen.strategy.name == "panes"


def test_a_small_divisor_is_cut_in_pairs():
    plan = planned(hours(3601, 60), [MAX])
    assert plan.chosen.strategy.name == "pairs"
    assert plan.chosen.cut.branches[0].cut.step == 2


@pytest.mark.parametrize("field", [MAX, MEDIAN])
def test_differential_without_an_inverse_says_why(field):
    with pytest.raises(fl.FanlightError, match=r"'differential'.*has no inverse"):
        planned(hours(60), [COUNT, field], "differential")


def test_differential_where_it_fits():
    plan = planned(hours(60), [COUNT], "differential")
    assert plan.chosen.rollup.name == "difference"


def test_differential_over_a_stream_says_why():
    with pytest.raises(fl.FanlightError, match="state store"):
        planned(hours(60), [COUNT], "differential", streaming=True)


@pytest.mark.parametrize(
    ("strategy", "how"),
    [
        ("panes", {}),
        ("pairs", {}),
        ("expand", {}),
        ("panes", {"streaming": True}),
        ("pairs", {"streaming": True}),
        ("expand", {"streaming": True, "late": "open"}),
    ],
)
def test_forced_strategies_are_taken(strategy, how):
    plan = planned(hours(90, 60), [COUNT], strategy, **how)
    assert plan.chosen.strategy.name == strategy
    assert plan.forced


def test_explain_names_the_cut_the_choice_and_every_candidate():
    spec = fl.Sliding("9 minutes", "6 minutes")
    asked = request(hours(9, 6), [MAX])
    text = explain_placed(plan_placed(asked), asked, About(spec, "ts", ["item"], ["max(v)"]))
    assert "slices of 3 minutes; 3 a window, 2 a SLIDE" in text
    assert "cheapest by the cost model" in text
    assert "max(v) has no inverse" in text
    for name in ("panes", "pairs", "expand", "differential"):
        assert name in text
    assert text.count("<- chosen") == 1
