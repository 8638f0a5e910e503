"""Late rows: which candidates keep which rule, and what is said of it."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight.engine.plan.explain import About
from fanlight.engine.plan.explain_placed import explain_placed
from fanlight.engine.plan.grid import Grid
from fanlight.engine.plan.late_rows import BEHIND, Release
from fanlight.engine.plan.request import Event, Workload, rule_out
from tests.plan.requests import COUNT, MINUTE, plan_placed, request

OVERLAPPING = Grid(7 * MINUTE, 5 * MINUTE)
LISTED = [OVERLAPPING, Grid(MINUTE, 4 * MINUTE)]
SPARSE = Workload(rows_per_slide=1000.0, groups=1e9, assumed=False)
COPIES = {"expand", "separate", "aggregate-buckets"}


def streamed_request(grids, late, **how):
    several = {"name": "query"} if isinstance(grids, list) else {}
    return request(grids, [COUNT], streaming=True, late=late, **several, **how)


@pytest.mark.parametrize("work", [None, SPARSE], ids=["busy", "sparse"])
@pytest.mark.parametrize("event", [Event.POINT, Event.LASTING], ids=["points", "events"])
@pytest.mark.parametrize("grids", [OVERLAPPING, LISTED], ids=["one", "several"])
def test_a_rule_rules_out_all_that_cannot_keep_it(grids, event, work):
    """Queries that are taken one by one can keep either."""
    found = {}
    for late in ("drop", "open"):
        plan = plan_placed(streamed_request(grids, late, event=event, work=work))
        fitting = {one.strategy.name for one in plan.candidates if not one.refused}
        found[late] = fitting - {"separate"}
        assert plan.chosen.strategy.name in fitting
    assert found["drop"]
    assert not found["drop"] & COPIES
    assert found["open"] <= COPIES


def test_a_choice_by_cost_keeps_the_rule():
    """A batch would copy such rows."""
    assert (
        plan_placed(streamed_request(OVERLAPPING, "drop", work=SPARSE)).chosen.strategy.name
        != "expand"
    )
    assert plan_placed(request(OVERLAPPING, [COUNT], work=SPARSE)).chosen.strategy.name == "expand"


@pytest.mark.parametrize("late", ["drop", "open"])
def test_a_row_in_one_window_knows_one_rule(late):
    for strategy in ("panes", "pairs", "expand"):
        tumbling = streamed_request(Grid(5 * MINUTE, 5 * MINUTE), late)
        assert plan_placed(tumbling, strategy).chosen.strategy.name == strategy


def test_queries_that_belong_together_drop_late_rows():
    with pytest.raises(fl.FanlightError, match="late='open' takes each query by itself, but why"):
        plan_placed(streamed_request(LISTED, "open", ruled_out=rule_out(together="why")))


def test_a_batch_has_no_late_rows():
    for late in ("drop", "open"):
        of_batch = request(OVERLAPPING, [COUNT], late=late)
        assert not any(
            one.refused for one in plan_placed(of_batch).candidates if one.strategy.name == "expand"
        )
        assert "late rows" not in explained(of_batch)


def explained(of):
    about = About(fl.Sliding("7 minutes"), "ts", [], of.streaming)
    return explain_placed(plan_placed(of), of, about, ["n"])


def test_the_rule_is_explained():
    assert Release.DROPPING.value in explained(streamed_request(OVERLAPPING, "drop"))
    assert Release.OPENING.value in explained(streamed_request(OVERLAPPING, "open"))
    assert BEHIND in explained(streamed_request(Grid(7, 5), "drop", event=Event.ENDING))
