"""How many events are running at once: their starts and stops in order, and the most of each pane.

    a=======b             after a start one more is running, after a stop one less
        c=======d         what is running where a pane begins, is running there, too

An event without duration is running at its instant alone. What is running is added up within each
pane, so panes are put in order apart, in all tasks; what was running before comes on top of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import DataFrame

from fanlight.engine.algebra.monoids import PART_OF_EVENT, Max
from fanlight.engine.algebra.sql_text import find_places, struct
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

_BITS = 32  # for how far into a pane; Spark counts the rows that it puts in order in 31
_HASHES = 1 << 31
_AT = "shiftright(edge, 1)"


def find_most(bound: Lasting, fields: Fields, run_plan: RunPlan) -> DataFrame:
    """Windows with the most that are running at once, as a partial of one part without duration."""
    panes = panes_of(bound.grids)
    if panes is None:
        raise AssertionError(bound)
    names = fields.names
    edges = _mark_edges(bound, fields, panes)
    rows = _most_of_panes(edges, bound.keys, _columns_of(fields), panes)
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


def _mark_edges(bound: Lasting, fields: Fields, panes: Grid) -> DataFrame:
    """Starts and stops: keys, ``place``, ``edge``, and how many more are running from it on.

    ``edge`` is twice the first instant of an event, or twice its last and one more. ``step`` is 1
    or -1, ``step_`` with the name of a field that takes some events 0 for all others. ``place`` is
    an instant in the pane, another one for each key: Spark compares the first column much faster
    than others where it tells rows apart.
    """
    keys, events = bound.keys, select_to_copy(bound, fields)
    rows = events.df.selectExpr("*", f"first_at as {BEGINS}", f"greatest(first_at, t) as {ENDS_AT}")
    rows = rows.selectExpr("*", *fields.lifting)
    values = {field.name: field.value for field in fields.all}
    some = {of: values[name] for name, of in _columns_of(fields).items() if of}
    taken = [f"if({value} is null, 0L, 1L) as taken{of}" for of, value in some.items()]
    of_key = f"pmod(hash({', '.join(keys)}), {min(panes.range, _HASHES)}L)" if keys else "0L"
    ends = ["first_at * 2L as started", "last_at * 2L + 1L as stopped", f"{of_key} as of_key"]
    rows = rows.selectExpr(*keys, *taken, *ends)
    # Compiled code copies the rows of an unpivot; to explode an array, Spark would build it first.
    kept = [*keys, "of_key", *(f"taken{of}" for of in some)]
    edges = rows.unpivot([*kept], ["started", "stopped"], "which", "edge")
    place = f"{_AT} - {after_edge(_AT, panes.offset, panes.slide)} + of_key as place"
    edges = edges.selectExpr("*", place, "1L - 2L * (edge & 1L) as step")
    steps = [f"step * taken{of} as step{of}" for of in some]
    return edges.selectExpr(*keys, "place", "edge", "step", *steps)


def _most_of_panes(
    edges: DataFrame, keys: list[str], columns: Mapping[str, str], panes: Grid
) -> DataFrame:
    """The most of each pane in which an event runs: keys, ``pane``, and for each name a struct.

    The struct has how many, ``n``, and since when, ``at``, below 0 so the greatest is earliest.
    """
    kinds, length = list(dict.fromkeys(["", *columns.values()])), panes.range
    until = over_clause(
        ["place", *keys], "edge", "rows between unbounded preceding and current row"
    )
    more = [f"sum(step{of}) {until} as more{of}" for of in kinds]
    into = after_edge(_AT, panes.offset, panes.slide)
    # After a stop there are less than before it, so the most is after a start or where panes begin.
    most = [(f"most{of}", f"max({_pack(f'more{of}', into, length)})") for of in kinds]
    change = [(f"change{of}", f"sum(step{of})") for of in kinds]
    rows = group_rows(edges.selectExpr("*", *more), ["place", *keys], [*most, *change])
    rows = rows.selectExpr("*", f"place - {after_edge('place', panes.offset, panes.slide)} as pane")
    before = over_clause(keys, "pane", "rows between unbounded preceding and 1 preceding")
    rows = rows.selectExpr(
        "*",
        *(f"coalesce(sum(change{of}) {before}, 0L) as before{of}" for of in kinds),
        f"lead(pane) {over_clause(keys, 'pane')} as following",
    )
    rows = rows.selectExpr("*", f"{panes_until_following('before + change > 0', length)} as here")
    own = []
    for name, of in columns.items():
        on = _since(f"before{of} + change{of}", "here")
        n, into = _unpack(f"most{of}", length)
        most_there = _since(f"before{of} + {n}", f"(pane + {into})")
        began = _since(f"before{of}", "pane")
        own.append(f"if(here > pane, {on}, greatest({most_there}, {began})) as {name}")
    return rows.selectExpr(*keys, "here as pane", *own)


def _since(count: str, at: str) -> str:
    return struct([("n", count), ("at", f"-{at}")])


def _pack(count: str, into: str, length: int) -> str:
    """SQL: greater the greater the count is, and then the less far into a pane of this length.

    A number where it fits, which Spark compares much faster than a struct.
    """
    bits = (length - 1).bit_length()
    return f"shiftleft({count}, {bits}) - {into}" if bits <= _BITS else _since(count, into)


def _unpack(packed: str, length: int) -> tuple[str, str]:
    """SQL: the count, and how far into a pane."""
    bits = (length - 1).bit_length()
    if bits > _BITS:
        return f"{packed}.n", f"-{packed}.at"
    count = f"shiftright({packed} + {(1 << bits) - 1}L, {bits})"
    return count, f"shiftleft({count}, {bits}) - {packed}"
