"""The choice of a technique, and what explain() says of it."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight.plan import cost
from fanlight.plan.axis import Axis
from fanlight.plan.coordinate import Coordinate
from fanlight.plan.explain_sliding import explain_sliding
from fanlight.plan.grid import Grid
from fanlight.plan.sliding import FieldFacts, plan_sliding

COUNT = FieldFacts("count(1)", running=True, invertible=True)
MAX = FieldFacts("max(v)", running=True, invertible=False, why_not="has no inverse")
MEDIAN = FieldFacts("median(v)", running=False, invertible=False, why_not="has no inverse")
MINUTE = 60_000_000


def hours(span: int, step: int = 1) -> Axis:
    return Axis(Coordinate("timestamp"), Grid(span * MINUTE, step * MINUTE))


def test_formulas_of_the_paper_count_touches():
    load = cost.Load(tuples=1200.0, panes=4, step=1, groups=10.0, groups_per_window=10.0)
    spread = cost.SPREAD / cost.CACHED
    once = (cost.READ + cost.ROW + spread * 10) * 1200 / 4
    assert cost.slice_rows(load) == pytest.approx(once + cost.PARTIAL * 10)
    rolled = cost.scan(load) - cost.slice_rows(load)
    assert rolled == pytest.approx((cost.FILL + cost.ENTER * 4) * 10)
    again = (cost.EXPANDED_ROW + spread * 10 * 4) * 1200 * 3 / 4
    assert cost.expand(load) == pytest.approx(once + again + cost.PARTIAL * 10)


def test_few_panes_are_scanned_and_many_are_not():
    assert plan_sliding(hours(4), [MAX]).chosen.rollup == "scan"
    assert plan_sliding(hours(1000), [MAX]).chosen.rollup == "blocks"


def test_without_overlap_there_is_nothing_to_roll_up():
    for axis in (hours(1), hours(1, 5)):
        assert plan_sliding(axis, [MAX]).chosen.rollup == "none"


def test_a_row_a_group_leaves_nothing_to_share():
    sparse = cost.Workload(rows_per_slide=1000.0, groups=1e9, assumed=False)
    assert plan_sliding(hours(2), [MAX], workload=sparse).chosen.strategy == "expand"
    busy = cost.Workload(rows_per_slide=1e6, groups=100.0, assumed=False)
    assert plan_sliding(hours(2), [MAX], workload=busy).chosen.strategy == "panes"


def test_a_small_divisor_is_cut_in_pairs():
    plan = plan_sliding(Axis(Coordinate("timestamp"), Grid(3601 * MINUTE, 60 * MINUTE)), [MAX])
    assert plan.chosen.strategy == "pairs"
    assert plan.chosen.cut is not None
    assert plan.chosen.cut.step == 2


@pytest.mark.parametrize("field", [MAX, MEDIAN])
def test_differential_without_an_inverse_says_why(field):
    with pytest.raises(fl.FanlightError, match=r"'differential'.*has no inverse"):
        plan_sliding(hours(60), [COUNT, field], strategy="differential")


def test_differential_where_it_fits():
    plan = plan_sliding(hours(60), [COUNT], strategy="differential")
    assert plan.chosen.rollup == "difference"


def test_differential_over_a_stream_says_why():
    with pytest.raises(fl.FanlightError, match="state store"):
        plan_sliding(hours(60), [COUNT], strategy="differential", streaming=True)


@pytest.mark.parametrize("strategy", ["panes", "pairs", "expand"])
@pytest.mark.parametrize("streaming", [True, False])
def test_forced_strategies_are_taken(strategy, streaming):
    axis = Axis(Coordinate("timestamp"), Grid(90 * MINUTE, 60 * MINUTE))
    plan = plan_sliding(axis, [COUNT], strategy=strategy, streaming=streaming)
    assert plan.chosen.strategy == strategy
    assert plan.forced


def test_explain_names_the_cut_the_choice_and_every_candidate():
    spec = fl.Sliding("9 minutes", "6 minutes")
    plan = plan_sliding(Axis(Coordinate("timestamp"), Grid(9 * MINUTE, 6 * MINUTE)), [MAX])
    text = explain_sliding(plan, spec, "ts", ["item"], ["max(v)"])
    assert "slices of 3 minutes; 3 a window, 2 a SLIDE" in text
    assert "cheapest by the cost model" in text
    assert "max(v) has no inverse" in text
    for name in ("panes", "pairs", "expand", "differential"):
        assert name in text
    assert text.count("<- chosen") == 1
