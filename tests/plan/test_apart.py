"""Aggregates that are planned apart, and those that are planned together."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight.engine.algebra.ordering import Commonest, Distinct
from fanlight.engine.plan.grid import Grid
from fanlight.engine.plan.request import Event, Workload
from tests.plan.requests import (
    COUNTED,
    DISTINCT,
    MAX,
    MINUTE,
    SKETCH,
    SUM,
    plan_apart,
    plan_placed,
    request,
)

HOUR = Grid(60 * MINUTE, MINUTE)
THIRDS = Grid(60 * MINUTE, 20 * MINUTE)
TUMBLING = Grid(MINUTE, MINUTE)
LISTED = [Grid(9 * MINUTE, 6 * MINUTE), THIRDS]
VALUES = frozenset({Distinct.kind})
RANKED = frozenset({Commonest.kind})


def distinct(grids, **how):
    return request(grids, [DISTINCT], reads=VALUES, **how)


def planned(grid, *parts, strategy="auto"):
    """Plans of parts, each a list of fields, in the order given."""
    asked = [distinct(grid) if part == [DISTINCT] else request(grid, part) for part in parts]
    whole = request(grid, [field for part in parts for field in part], reads=VALUES | {""})
    return plan_apart(whole, asked, strategy)


@pytest.mark.parametrize("grids", [HOUR, THIRDS, LISTED])
def test_values_are_ranked_where_windows_overlap(grids):
    several = {"name": "query"} if isinstance(grids, list) else {}
    for reads in (VALUES, RANKED, VALUES | RANKED):
        plan = plan_placed(request(grids, [DISTINCT], reads=reads, **several))
        assert plan.chosen.strategy.name == "ranks"


def test_distinct_values_of_one_key_last():
    """The rows of a key are ranked in one task."""
    one = {"work": Workload(10_000.0, 1.0)}
    assert plan_placed(distinct(HOUR, **one)).chosen.strategy.name == "lifetimes"
    assert (
        plan_placed(request(HOUR, [COUNTED], reads=RANKED, **one)).chosen.strategy.name == "ranks"
    )
    few = plan_placed(request(THIRDS, [COUNTED], reads=RANKED, **one))
    assert few.chosen.lift.name in ("counts", "rows")


def test_distinct_values_of_windows_side_by_side_are_counted():
    assert plan_placed(distinct(TUMBLING)).chosen.strategy.name == "panes"


def test_spark_aggregates_windows_side_by_side_where_it_can():
    assert plan_placed(distinct(TUMBLING, by_spark=True)).chosen.lift.name == "results"
    assert plan_placed(distinct(HOUR, by_spark=True)).chosen.lift.name == "values"
    assert plan_placed(distinct(TUMBLING, by_spark=True), "expand").chosen.lift.name == "rows"


def test_little_data_takes_one_step_and_much_takes_panes():
    def chosen(rows, *fields):
        work = Workload(rows=rows)
        return plan_placed(request(THIRDS, fields, work=work, native_windows=True)).chosen

    assert chosen(10_000.0, SUM).lift.name == "windows"
    assert chosen(10_000.0, MAX).lift.name == "windows"
    assert chosen(1e8, SUM).strategy.name == "panes"
    assert chosen(None, SUM) == chosen(1e30, SUM)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"streaming": True}, "batches"),
        ({"event": Event.ENDING}, "rows"),
        ({"reads": frozenset({"", Distinct.kind})}, "something else"),
    ],
)
def test_what_does_not_last_says_why(how, why):
    with pytest.raises(fl.FanlightError, match=f"'lifetimes'.*{why}"):
        plan_placed(request(HOUR, [DISTINCT], **{"reads": VALUES, **how}), "lifetimes")
    with pytest.raises(fl.FanlightError, match=f"'ranks'.*{why}"):
        plan_placed(request(HOUR, [DISTINCT], **{"reads": VALUES, **how}), "ranks")


def test_a_sketch_is_not_kept_once_a_value():
    plans = planned(THIRDS, [COUNTED], [SKETCH])
    assert [plan.chosen.lift.name for plan in plans] == ["counts", "rows"]
    assert planned(TUMBLING, [COUNTED], [SKETCH]) is not None


def test_what_needs_no_values_goes_with_them_where_rows_are_read_once():
    assert planned(TUMBLING, [COUNTED], [SUM, MAX]) is None
    assert planned(TUMBLING, [DISTINCT], [SUM]) is None


def test_distinct_values_leave_the_others_to_their_own():
    values, numbers = planned(HOUR, [DISTINCT], [SUM, MAX])
    assert values.chosen.strategy.name == "ranks"
    assert numbers.chosen.strategy.name == "panes"


def test_results_side_by_side_are_not_for_nothing():
    """With many groups in a window, joining them costs more than is saved."""
    how = {"work": Workload(10_000.0, 10_000.0, assumed=False)}
    parts = [distinct(THIRDS, **how), request(THIRDS, [SUM], **how)]
    whole = request(THIRDS, [DISTINCT, SUM], reads=VALUES | {""}, **how)
    alone = sum(plan_placed(part).chosen.cost for part in parts)
    assert alone < plan_placed(whole).chosen.cost
    assert plan_apart(whole, parts) is None


def test_a_strategy_of_values_is_for_those_that_it_fits():
    values, numbers = planned(TUMBLING, [DISTINCT], [SUM], strategy="lifetimes")
    assert values.chosen.strategy.name == "lifetimes"
    assert values.forced
    assert numbers.chosen.strategy.name == "panes"
    assert planned(HOUR, [COUNTED], [SUM], strategy="lifetimes") is None


def test_other_strategies_are_for_all():
    plans = planned(HOUR, [DISTINCT], [SUM], strategy="panes")
    assert plans is None or {plan.chosen.strategy.name for plan in plans} == {"panes"}
    with pytest.raises(fl.FanlightError, match="no inverse"):
        planned(HOUR, [DISTINCT], [SUM], strategy="differential")
