"""How many events are running at once: their starts and stops in order, and the most of each pane.

    a=======b             after a start one more is running, after a stop one less
        c=======d         what is running where a pane begins, is running there, too

An event without duration is running at its instant alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import DataFrame

from fanlight.engine.algebra.monoids import PART_OF_EVENT, Max
from fanlight.engine.algebra.sql_text import struct
from fanlight.engine.algebra.template import find_places
from fanlight.engine.plan.cut import panes_of
from fanlight.engine.plan.grid import Grid
from fanlight.engine.spark.binding.placed import Lasting
from fanlight.engine.spark.cuts import after_edge
from fanlight.engine.spark.fields import BEGINS, ENDS_AT, Fields
from fanlight.engine.spark.lasting import select_to_copy
from fanlight.engine.spark.placed.areas import (
    RunPlan,
    bind_panes,
    of_columns,
    panes_until_following,
)
from fanlight.engine.spark.sql import group_rows, over_clause


def find_most(bound: Lasting, fields: Fields, run_plan: RunPlan) -> DataFrame:
    """Windows with the most that are running at once, as a partial of one part without duration."""
    panes = panes_of(bound.grids)
    if panes is None:
        raise AssertionError(bound)
    names = [field.name for field in fields.all]
    edges = _order_edges(bound, fields, panes)
    rows = _most_of_panes(edges, bound.keys, _columns_of(fields), panes.range)
    greatest = of_columns(
        fields,
        Max(),
        lambda field: replace(field.facts, at_once=False, running=True, selective=True),
    )
    found = run_plan(bind_panes(bound, rows, names), greatest)
    texts = []
    for name in names:
        part = struct([("begins", f"-{name}.at"), ("ends", f"-{name}.at"), ("n", f"{name}.n")])
        texts.append(f"if({name}.n > 0, array({part}), null) as {name}")
    return found.selectExpr(*bound.keys, *bound.query_columns, "start", *texts)


def _columns_of(fields: Fields) -> dict[str, str]:
    """How columns of a field end: as those of all events, or with its name if it takes some."""
    return {
        field.name: "" if find_places(field.monoid.value) <= PART_OF_EVENT else f"_{field.name}"
        for field in fields.all
    }


def _order_edges(bound: Lasting, fields: Fields, panes: Grid) -> DataFrame:
    """Starts and stops: keys, ``pane``, ``at``, and how many are running then and after it.

    Of all events ``now`` and ``later``, of those that a field takes these with its name.
    """
    keys, events = bound.keys, select_to_copy(bound, fields)
    rows = events.df.selectExpr("*", f"first_at as {BEGINS}", f"greatest(first_at, t) as {ENDS_AT}")
    taken = [f"if({f.value} is null, 0L, 1L) as taken_{f.name}" for f in fields.all]
    rows = rows.selectExpr("*", *fields.lifting).selectExpr(*keys, BEGINS, ENDS_AT, *taken)
    start = struct({"at": BEGINS, "step": "1L", "instant": "0L"}.items())
    stop = struct({"at": ENDS_AT, "step": "-1L", "instant": "0L"}.items())
    alone = struct({"at": BEGINS, "step": "0L", "instant": "1L"}.items())
    both = f"inline(if({ENDS_AT} > {BEGINS}, array({start}, {stop}), array({alone})))"
    counted = [f"taken_{field.name}" for field in fields.all]
    edges = rows.selectExpr(*keys, *counted, both)
    pane = f"at - {after_edge('at', panes.offset, panes.slide)} as pane"
    edges = edges.selectExpr("*", pane)
    # Spark need not sort again to group by pane.
    until = over_clause(keys, "pane, at", "range between unbounded preceding and current row")
    then = over_clause(keys, "pane, at", "range between current row and current row")
    texts = []
    for of in dict.fromkeys(["", *_columns_of(fields).values()]):
        times = of and f" * taken{of}"
        later = f"sum(step{times}) {until}"
        texts += [f"{later} as later{of}", f"{later} + sum(instant{times}) {then} as now{of}"]
    return edges.selectExpr(*keys, "pane", "at", *texts)


def _most_of_panes(
    edges: DataFrame, keys: list[str], columns: Mapping[str, str], length: int
) -> DataFrame:
    """The most of each pane that has an event: keys, ``pane``, and for each name a struct.

    The struct has how many, ``n``, and since when, ``at``, below 0 so the greatest is earliest.
    """
    kinds = list(dict.fromkeys(["", *columns.values()]))
    made = [("first_at", "min(at)")]
    for of in kinds:
        made += [(f"most{of}", f"max({_since(f'now{of}', 'at')})"),
                 (f"later{of}", f"max_by(later{of}, at)")]  # fmt: skip
    order = over_clause(keys, "pane")
    before = [f"coalesce(lag(later{of}) {order}, 0L) as before{of}" for of in kinds]
    rows = group_rows(edges, [*keys, "pane"], made)
    rows = rows.selectExpr("*", *before, f"lead(pane) {order} as following")
    rows = rows.selectExpr("*", f"{panes_until_following('later > 0', length)} as here")
    # What was running before is running where the pane begins, unless something happens there.
    rows = rows.filter("here > pane or greatest(most.n, if(first_at > pane, before, 0L)) > 0")
    own = []
    for name, of in columns.items():
        began = f"if(first_at > pane, {_since(f'before{of}', 'pane')}, null)"
        on = _since(f"later{of}", "here")
        own.append(f"if(here > pane, {on}, greatest(most{of}, {began})) as {name}")
    return rows.selectExpr(*keys, "here as pane", *own)


def _since(count: str, at: str) -> str:
    return struct([("n", count), ("at", f"-{at}")])
