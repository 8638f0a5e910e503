"""The choice of a technique for events that last."""

from __future__ import annotations

import pytest

from fanlight.engine.plan.cost.event_costs import list_loads
from fanlight.engine.plan.events import PAPER, SEVERAL, TECHNIQUES, check_height
from fanlight.engine.plan.grid import Grid
from fanlight.engine.plan.placed import check_strategy
from fanlight.engine.plan.request import Event, FieldFacts, Workload
from fanlight.engine.plan.ways import SEPARATE
from fanlight.engine.spec.errors import FanlightError
from tests.plan.requests import COUNT, MAX, MINUTE, plan_placed, request

COUNTED = FieldFacts("median(v)", running=False, invertible=True, counted=True)


def workload(length, rate=10_000.0, groups=1.0, minutes=1):
    """``rate`` rows a second, events of ``length`` minutes, seen a SLIDE of ``minutes``."""
    rows = None if rate is None else rate * 60 * minutes
    last = None if length is None else length * MINUTE
    if rows is None:
        return Workload(groups=groups, duration=last)
    return Workload(rows, groups, assumed=False, duration=last)


def request_for(length, fields=(COUNT,), *, range_=60, rate=10_000.0, groups=1.0, **how):
    work = workload(length, rate, groups)
    return request(Grid(range_ * MINUTE, MINUTE), fields, work=work, event=Event.LASTING, **how)


def chosen(length, fields=(COUNT,), *, strategy="auto", **how):
    return plan_placed(request_for(length, fields, **how), strategy).chosen


def test_long_events_go_to_levels():
    for length in (10, 50, 5000):
        for fields, rollup in (((COUNT,), "running sum"), ((COUNT, MAX), "dyadic runs")):
            found = chosen(length, fields, groups=1000.0)
            assert (found.strategy.name, found.rollup.name) == ("levels", rollup)


def test_few_events_go_straight_into_few_windows():
    found = chosen(0.1, range_=1, rate=0.001, groups=1000.0)
    assert found.strategy.name == "aggregate-buckets"


def test_what_has_no_running_form_goes_through_nodes():
    assert chosen(50, (COUNT, COUNTED), groups=1000.0).rollup.name in ("dyadic", "copies")


@pytest.mark.parametrize("length", [0.5, 50, 5000])
def test_a_stream_adds_up_cells_first(length):
    assert chosen(length, streaming=True).strategy.name == "cells"


def test_a_stream_copies_into_few_windows_and_pushes_down_to_many():
    assert chosen(1, range_=2, streaming=True, rate=1.0).rollup.name == "copies"
    assert chosen(5000, streaming=True).rollup.name == "dyadic"


def test_the_cost_of_levels_does_not_grow_with_duration():
    costs = {}
    for length in (10, 50_000):
        plan = plan_placed(request_for(length))
        costs[length] = {c.strategy.name: c.cost for c in plan.candidates}
    assert costs[50_000]["levels"] < 1.6 * costs[10]["levels"]
    assert costs[50_000]["aggregate-buckets"] > 500 * costs[10]["aggregate-buckets"]
    assert costs[50_000]["se-slicing"] > 100 * costs[10]["se-slicing"]


def test_operators_are_never_chosen():
    for length in (0.1, 1, 60, 5000):
        for streaming in (False, True):
            assert chosen(length, streaming=streaming).rollup.name != "operator"


@pytest.mark.parametrize("name", map(str, PAPER))
def test_each_technique_of_the_paper_can_be_forced(name):
    field = MAX if name == "selective-sweeping" else COUNT
    plan = plan_placed(request_for(5, [field]), name)
    assert plan.chosen.strategy.name == name
    assert plan.forced


@pytest.mark.parametrize(
    ("name", "field", "why"),
    [
        ("cumulative-sweeping", MAX, "has no inverse"),
        ("cumulative-sweeping", COUNTED, None),
        ("selective-sweeping", COUNT, "not a minimum or maximum"),
        ("selective-sweeping", COUNTED, "not a minimum or maximum"),
    ],
)
def test_a_technique_that_does_not_fit_says_why(name, field, why):
    if why is None:  # counts of values can be taken back, but the paper's counters hold none
        field, why = (
            FieldFacts("median(v)", running=False, invertible=False, why_not="x", counted=True),
            "holistic",
        )
    with pytest.raises(FanlightError, match=f"{name}.*{field.label[:3]}.*{why}"):
        plan_placed(request_for(5, [field]), name)


def test_figure_15_by_the_formulas():
    """SE-Slicing for short events, SE-ML-Slicing for long ones, sweeping for a high overlap."""

    def best(length, range_, names=("se-slicing", "se-ml-slicing", "cumulative-sweeping")):
        (load,) = list_loads(request_for(length, range_=range_, rate=1.0))
        by_name = {one.strategy.name: one for one in TECHNIQUES}
        return min(names, key=lambda name: by_name[name].steps.total_steps(load, 7))

    assert best(0.5, 5) == "se-slicing"
    assert best(60, 5) == "se-ml-slicing"
    assert best(500, 500) == "cumulative-sweeping"


@pytest.mark.parametrize("height", [0, -1, 1.0, True, "7"])
def test_heights_that_cannot_be(height):
    with pytest.raises(FanlightError, match="height"):
        check_height(height)


GRIDS = (Grid(60 * MINUTE, MINUTE), Grid(600 * MINUTE, 10 * MINUTE))


def asked_several(length, fields=(COUNT,), *, rate=10_000.0, groups=1.0, **how):
    work = workload(length, rate, groups)
    return request(GRIDS, fields, name="query", work=work, event=Event.LASTING, **how)


def several(length, *, strategy="auto", **how):
    return plan_placed(asked_several(length, **how), strategy)


def test_several_windows_see_one_stream():
    fine, coarse = list_loads(asked_several(50))
    assert coarse.events == 10 * fine.events
    assert fine.length == 10 * coarse.length
    assumed = list_loads(asked_several(None, rate=None))
    assert assumed[1].events == 10 * assumed[0].events
    assert assumed[0].length == 60


def test_cells_are_shared_where_they_are_few_and_not_where_they_are_many():
    assert several(50, groups=1.0, rate=1e6).chosen.strategy.name == "cells"
    assert several(5000, groups=10_000.0, rate=100.0).chosen.strategy.name == "levels"
    assert several(50, streaming=True).chosen.strategy.name == "cells"


@pytest.mark.parametrize("groups", [1.0, 1000.0])
def test_several_are_never_read_apart_unless_asked_for(groups):
    for length in (0.1, 50, 5000):
        assert several(length, groups=groups).chosen.strategy.name != "separate"
        assert (
            several(length, groups=groups, strategy="separate").chosen.strategy.name == "separate"
        )
    told = several(5000, groups=groups)
    assert told.candidates[-1].cost > told.chosen.cost


@pytest.mark.parametrize(
    ("strategy", "how", "named"),
    [
        ("levels", {"streaming": True}, "different times"),
        ("separate", {"ruled_out": {SEPARATE: "weights are shared"}}, "weights are shared"),
    ],
)
def test_several_that_cannot_be(strategy, how, named):
    with pytest.raises(FanlightError, match=f"'{strategy}'.*{named}.*'auto'"):
        several(50, strategy=strategy, **how)


@pytest.mark.parametrize("strategy", ["auto", *map(str, SEVERAL), None, "panes", *map(str, PAPER)])
def test_strategies_of_several(strategy):
    if strategy in ("auto", *map(str, SEVERAL)):
        assert check_strategy(strategy, lasting=True, several=True).name == strategy
        return
    with pytest.raises(FanlightError, match="separate"):
        check_strategy(strategy, lasting=True, several=True)
