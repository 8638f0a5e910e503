"""The choice of a technique, and what explain() says of it."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight.engine.plan.cost import constants, points
from fanlight.engine.plan.explain import About
from fanlight.engine.plan.explain_placed import explain_placed
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
    assert points.slicing(load) == pytest.approx(once + constants.PARTIAL * 10)
    rolled = points.scan(load) - points.slicing(load)
    assert rolled == pytest.approx((constants.FILL + constants.ENTER * 4) * 10)
    copied = points.copies(load) - points.slicing(load)
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


def page(asked, plan, *, verbose):
    spec = fl.Sliding("9 minutes", "6 minutes")
    about = About(spec, "ts", ["item"], asked.streaming, verbose=verbose)
    return explain_placed(plan, asked, about, ["max(v)"])


def test_explain_says_what_how_often_how_and_why():
    asked = request(hours(9, 6), [MAX])
    text = page(asked, plan_placed(asked), verbose=False)
    assert [line.split("  ")[1].strip() for line in text.splitlines()[1:]] == [
        "computes", "windows", "how", "strategy", "workload",
    ]  # fmt: skip
    assert "9 minutes long, one every 6 minutes" in text
    assert "rows are combined in slices of 3 minutes, 3 per window; " in text
    assert "panes, the cheapest of 5 ways that fit, by the cost model" in text
    assert "<- chosen" not in text


@pytest.mark.parametrize(
    ("strategy", "says"),
    [
        ("pairs", "pairs, as requested; 'auto' would choose panes (scan)"),
        ("panes", "panes, as requested; explain(verbose=True)"),
    ],
)
def test_explain_of_a_forced_strategy_says_what_auto_would_take(strategy, says):
    asked = request(hours(9, 6), [MAX])
    assert says in page(asked, plan_placed(asked, strategy), verbose=False)


def test_explain_in_full_names_the_cut_and_every_candidate():
    asked = request(hours(9, 6), [MAX])
    text = page(asked, plan_placed(asked), verbose=True)
    assert "slices of 3 minutes, 3 per window, 2 per SLIDE" in text
    assert "max(v) has no inverse" in text
    for name in ("panes", "pairs", "expand", "differential"):
        assert name in text
    assert text.count("<- chosen") == 1
