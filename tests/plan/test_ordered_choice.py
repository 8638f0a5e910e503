"""How data-driven windows are found: candidates, and what is refused."""

from __future__ import annotations

import pytest

from fanlight import FanlightError
from fanlight.engine.plan.candidate import plan_widening
from fanlight.engine.plan.frames import InputColumn, Scheme
from fanlight.engine.plan.trailing import Horizon, plan_trailing
from fanlight.engine.plan.widening import levels_of
from fanlight.engine.spec import ProgressiveWidening
from tests.plan.requests import frame_plan

HOUR = 3_600_000_000
DAY = 24 * HOUR
FLAGS = Scheme("flags", (InputColumn("v", "flag"),))
CELLS = Scheme("cells", (InputColumn("v", "real"),), cells=(1.0,))
DELTAS = Scheme("deltas", (InputColumn("v", "real"),), (1.0,))
SHARED = Scheme("cells", (InputColumn("v", "real"),), cells=(1.0,), overlapping=True)


@pytest.mark.parametrize("by_spark", [False, True])
@pytest.mark.parametrize("scheme", [FLAGS, CELLS, DELTAS, SHARED], ids=lambda s: s.kind)
def test_auto_is_the_pass_through_arrow(scheme, by_spark):
    plan = frame_plan(scheme, streaming=False, by_spark=by_spark)
    assert plan.chosen.strategy.name == "arrow"
    assert not plan.forced


@pytest.mark.parametrize("scheme", [FLAGS, CELLS], ids=lambda s: s.kind)
def test_native_where_neighbouring_rows_tell(scheme):
    plan = frame_plan(scheme, streaming=False, strategy="native")
    assert plan.chosen.strategy.name == "native"
    assert plan.forced
    assert plan.chosen.cost > plan.candidates[0].cost


@pytest.mark.parametrize(
    ("scheme", "streaming", "why"),
    [(DELTAS, False, "the one before"), (SHARED, False, "share rows"), (FLAGS, True, "batches")],
)
def test_native_is_refused_with_the_reason(scheme, streaming, why):
    with pytest.raises(FanlightError, match=rf"using\('native'\).*{why}.*'auto'"):
        frame_plan(scheme, streaming=streaming, strategy="native")
    assert frame_plan(scheme, streaming=streaming).chosen.strategy.name == "arrow"


def test_aggregates_that_spark_groups_cost_more_and_functions_most():
    slow = Scheme("logical", (InputColumn("v", "any"),))
    costs = [
        frame_plan(FLAGS, streaming=False).chosen.cost,
        frame_plan(FLAGS, streaming=False, by_spark=True).chosen.cost,
        frame_plan(slow, streaming=False).chosen.cost,
    ]
    assert costs == sorted(set(costs))


@pytest.mark.parametrize(
    ("keys", "tasks", "rows", "chosen"),
    [
        (1, 100, None, "arrow"),  # there may be few
        (1, 4, 1e8, "chunks"),
        (10, 100, 1e9, "chunks"),
        (1, 2, 1e9, "arrow"),  # one task keeps both busy, as Python is busy beside Spark
        (1, 100, 1e6, "arrow"),  # soon done in one task
        (1, 100, 1e3, "native"),
        (100, 100, 1e9, "arrow"),
        (None, 100, 1e9, "arrow"),
        (1, None, 1e9, "arrow"),
    ],
)
def test_rows_of_a_key_are_divided_where_keys_leave_cores_idle(keys, tasks, rows, chosen):
    given = {"keys": keys, "tasks": tasks, "rows": rows, "streaming": False}
    assert frame_plan(FLAGS, **given).chosen.strategy.name == chosen
    assert frame_plan(DELTAS, **given).chosen.strategy.name == "arrow"
    undivided = frame_plan(FLAGS, **given, undivided="is of Spark alone").chosen.strategy.name
    assert undivided == ("arrow" if chosen == "chunks" else chosen)


@pytest.mark.parametrize(
    ("reach", "keys", "tasks", "rate", "chosen"),
    [
        (HOUR, 1, 100, 100, "chunks"),
        (HOUR, 1, 100, None, "arrow"),  # how many hours there are is not known
        (HOUR, 1, 2, 100, "arrow"),
        (HOUR, 1000, 100, 100, "arrow"),
        (100 * DAY, 1, 100, 100, "arrow"),  # all rows are within one window
    ],
)
def test_rows_that_look_back_are_divided_where_chunks_are_many(reach, keys, tasks, rate, chosen):
    rate = None if rate is None else rate / 1e6 / keys
    plan = plan_trailing(
        (Horizon(reach, 0),), 3, streaming=False, rows=1e9, keys=keys, tasks=tasks, rate=rate
    )
    assert plan.chosen.strategy.name == chosen


@pytest.mark.parametrize(
    ("tasks", "rows", "chosen"),
    [(4, 1e9, "arrow"), (100, None, "arrow"), (100, 1e9, "chunks"), (100, 1e3, "native")],
)
def test_rows_with_numbers_are_divided_where_that_is_worth_a_further_sort(tasks, rows, chosen):
    given = {"keys": 1, "tasks": tasks, "rows": rows, "streaming": False}
    assert frame_plan(FLAGS, **given, of_rows=True).chosen.strategy.name == chosen
    costs = [frame_plan(FLAGS, **given, of_rows=one).candidates[2].cost for one in (False, True)]
    assert costs == sorted(set(costs))


def test_windows_that_widen_have_one_way():
    spec = ProgressiveWidening(1, max_duration=8, max_rows=10)
    plan = plan_widening(levels_of(spec), spec.max_rows)
    assert plan.candidates == (plan.chosen,)
    assert plan.chosen.cost > 0
