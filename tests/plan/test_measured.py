"""The cost model's choices against what was measured: ``experiments/panes/choices.md``."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.claims import number, tables
from fanlight.engine.plan.grid import Grid
from fanlight.engine.plan.request import Workload
from tests.plan.requests import COUNT, MAX, MEDIAN, MINUTE, plan_placed, request

PAGE = Path(__file__).parents[2] / "experiments" / "panes" / "choices.md"
(ROWS,) = tables(PAGE.read_text("utf-8")).values()
# What the planner sees of a standard deviation is what it sees of a median.
FIELDS = {"max": MAX, "count": COUNT, "stddev": MEDIAN}
LIMIT = 1.3


def named(row):
    return "{aggregate}, {tuples a pane} a pane, {groups} groups, {P/W} by {panes a SLIDE}".format(
        **row
    )


@pytest.mark.parametrize("row", ROWS, ids=named)
def test_no_choice_takes_much_longer_than_the_best(row):
    step = int(row["panes a SLIDE"])
    work = Workload(number(row["tuples a pane"]) * step, number(row["groups"]), assumed=False)
    asked = request(
        Grid(int(row["P/W"]) * MINUTE, step * MINUTE), [FIELDS[row["aggregate"]]], work=work
    )
    chosen = plan_placed(asked).chosen.strategy.name
    took = {name.split(",")[0]: number(cell) for name, cell in row.items() if name.endswith(", s")}
    took = {name: seconds for name, seconds in took.items() if seconds is not None}
    assert took[chosen] <= LIMIT * min(took.values()), chosen


def test_every_strategy_is_the_best_somewhere():
    """Otherwise the rows could not tell one model from another."""
    best = set()
    for row in ROWS:
        took = {n: number(cell) for n, cell in row.items() if n.endswith(", s")}
        took = {n: seconds for n, seconds in took.items() if seconds is not None}
        best.add(min(took, key=took.get))
    assert {"panes, s", "expand, s"} <= best
