"""Sums over the parts of events in windows, through panes: an event is cut at the edges of panes.

    panes     |       |       |       |       |
    an event      b=======================e
    its ends      b===|               |===e        added up in their pane
    inside            |=======|=======|            counted once for all events, pane by pane

So each event is touched a constant number of times, however long it is and however many windows it
is in. Inside, whole numbers are counted by running sums, which take back exactly what is over;
doubles by the entries of events, where nothing is subtracted and nothing of them stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pyspark.sql import DataFrame

from fanlight.engine.algebra.monoids import PART_OF_EVENT, Max, Monoid, Sum
from fanlight.engine.algebra.sql_text import find_places, struct
from fanlight.engine.plan.coordinate import Coordinate
from fanlight.engine.plan.granules import panes_of
from fanlight.engine.plan.grid import Grid
from fanlight.engine.plan.request import FieldFacts
from fanlight.engine.spark.binding.placed import Lasting, Placed, bind_lasting
from fanlight.engine.spark.binding.source import bind_source
from fanlight.engine.spark.cuts import after_edge
from fanlight.engine.spark.fields import BEGINS, ENDS_AT, Field, Fields
from fanlight.engine.spark.lift import lift_rows
from fanlight.engine.spark.result import Relation
from fanlight.engine.spark.selected_events import select_to_copy
from fanlight.engine.spark.sql import group_rows, over_clause
from fanlight.engine.spec.sliding import Sliding

RunPlan = Callable[[Placed, Fields], DataFrame]  # keys, query (of several), start, partials


def add_up_panes(bound: Lasting, fields: Fields, run_plan: RunPlan) -> DataFrame:
    """Windows, each the sum of its panes."""
    return add_up(bound, select_to_copy(bound, fields), fields, run_plan)


def add_up(bound: Lasting, events: Relation, fields: Fields, run_plan: RunPlan) -> DataFrame:
    """The same of given events."""
    panes = panes_of(bound.grids)
    if panes is None:
        raise AssertionError(bound)
    events = _cut(events, panes)
    own, names = _sums(fields), fields.names
    if all(field.monoid.whole for field in fields.all):
        rows = _by_running_sums(events, fields, panes)
    else:
        ends, covered = _ends_in_panes(events, fields, panes), _bind_inside(events, fields, panes)
        inside = run_plan(covered, own).select(*bound.keys, "start", *names)
        rows = ends.df.select(*bound.keys, "pane", *names).union(inside)
    return run_plan(bind_panes(bound, rows, names), own)


def bind_panes(bound: Lasting, rows: DataFrame, names: Sequence[str]) -> Placed:
    """Rows of panes (keys, ``pane``, columns ``names``), bound to the windows of their events."""
    at = "pane" if bound.since is None else f"greatest(pane, {bound.since}L)"
    rows = rows.selectExpr(*bound.keys, f"{at} as at", *names)
    source = bind_source(rows, "at", list(bound.keys), [])
    return Placed(source, Coordinate("integer"), bound.spec, bound.queries, "drop")


def _cut(events: Relation, panes: Grid) -> Relation:
    """Events with the panes in which they begin and end: place ``first_pane``, ``last_pane``."""
    place = ["first_at", "until", "first_pane", "last_pane"]
    starts = [
        f"{at} - {after_edge(at, panes.offset, panes.slide)} as {name}"
        for at, name in (("first_at", "first_pane"), ("last_at", "last_pane"))
    ]
    return events.with_places("first_at", "greatest(first_at, t) as until", *starts, place=place)


def _ends_in_panes(events: Relation, fields: Fields, panes: Grid) -> Relation:
    """Partials of the parts of events in the panes in which they begin and end: place ``pane``."""
    copies = _cut_ends(events, panes)
    rows = copies.df.selectExpr(*events.keys, "pane", *fields.lifting)
    values = Relation.of_rows(rows, events.keys, ["pane"], fields.values.values())
    return lift_rows(values, ["pane"], fields.all)


def _cut_ends(events: Relation, panes: Grid) -> Relation:
    """The parts of events in the panes in which they begin and end: place ``pane``, ``side``, ends.

    ``side`` is 1 in the first of two panes, -1 in the last, 0 in the only one.
    """
    length = panes.range
    first = {"pane": "first_pane", "side": "if(last_pane > first_pane, 1, 0)", BEGINS: "first_at",
             ENDS_AT: f"least(until, first_pane + {length}L)"}  # fmt: skip
    last = {"pane": "last_pane", "side": "-1", BEGINS: "last_pane", ENDS_AT: "until"}
    one, other = struct(first.items()), struct(last.items())
    both = f"inline(if(last_pane > first_pane, array({one}, {other}), array({one})))"
    return events.with_places(both, place=["pane", "side", BEGINS, ENDS_AT])


def _by_running_sums(events: Relation, fields: Fields, panes: Grid) -> DataFrame:
    """What events have in panes: keys, ``pane``, fields; whole panes by a running sum.

    An event is there from after its first pane until before its last. The sums are of whole
    numbers, which are taken back exactly.
    """
    keys, length = events.keys, panes.range
    whole = [f"{text} as whole_{name}" for text, name in fields.values.items()]
    covering = _cover_a_pane(events.df, length).selectExpr(
        *keys, *events.place, *events.parts, *whole
    )
    parts = [*events.parts, *(f"whole_{name}" for name in fields.values.values())]
    cut = _cut_ends(Relation.of_rows(covering, keys, events.place, parts), panes)
    sums = [("came", _came("1L", "0L")), ("went", _went("1L", "0L"))]
    for field in fields.all:
        one = f"whole_{field.value}"
        sums += [
            (field.name, f"coalesce(sum({field.value}), 0D)"),
            (f"came_{field.name}", f"coalesce({_came(one, '0D')}, 0D)"),
            (f"went_{field.name}", f"coalesce({_went(one, '0D')}, 0D)"),
        ]
    lifted = cut.df.selectExpr("*", *fields.lifting)
    rows = group_rows(lifted, [*keys, "pane"], sums)
    before = over_clause(keys, "pane", "rows between unbounded preceding and 1 preceding")
    names = ["", *(f"_{field.name}" for field in fields.all)]
    inside = [
        f"coalesce(sum(came{name} + went{name}) {before}, {zero}) + went{name} as inside{name}"
        for name, zero in zip(names, ["0L", *["0D"] * len(fields.all)], strict=True)
    ]
    rows = rows.selectExpr("*", *inside, f"lead(pane) {over_clause(keys, 'pane')} as following")
    covered = "inside + came > 0"
    rows = rows.selectExpr("*", f"{panes_until_following(covered, length)} as at")
    own = [f"inside_{name} + if(at = pane, {name}, came_{name}) as {name}" for name in fields.names]
    return rows.selectExpr(*keys, "at as pane", *own)


def _cover_a_pane(events: DataFrame, length: int) -> DataFrame:
    """Events with the part that they have in a pane that they cover."""
    return events.selectExpr("*", f"0L as {BEGINS}", f"{length}L as {ENDS_AT}")


def panes_until_following(covered: str, length: int) -> str:
    """SQL: the pane of a row and, if an event covers them, those before the pane ``following``."""
    more = f"{covered} and following > pane + {length}L"
    return f"explode(if({more}, sequence(pane, following - {length}L, {length}L), array(pane)))"


def _came(what: str, nothing: str) -> str:
    """SQL aggregate: what there is more of after a pane."""
    return f"sum(if(side > 0, {what}, {nothing}))"


def _went(what: str, nothing: str) -> str:
    """SQL aggregate: what there is less of from a pane on, below 0."""
    return f"sum(if(side < 0, -{what}, {nothing}))"


def _bind_inside(events: Relation, fields: Fields, panes: Grid) -> Placed:
    """Events that cover whole panes, as events over these, with what they have in each of them."""
    length = panes.range
    rows = _cover_a_pane(events.df.filter(f"first_pane + {length}L < last_pane"), length)
    ends = [f"first_pane + {length}L as low", "last_pane as high"]
    rows = rows.selectExpr(*events.keys, *ends, *fields.lifting)
    named = [f"{field.value} as {field.name}" for field in fields.all]
    rows = rows.selectExpr(*events.keys, "low", "high", *named)
    spec = Sliding(length, offset=panes.offset)
    return bind_lasting(rows, spec, ("low", "high"), list(events.keys), [], "drop")


def _sums(fields: Fields) -> Fields:
    """The sums of columns that are called as the fields."""
    return of_columns(
        fields,
        Sum(),
        lambda field: replace(
            field.facts,
            additive=False,
            invertible=field.monoid.whole,
            why_not="" if field.monoid.whole else field.facts.why_not,
        ),
    )


def of_columns(fields: Fields, monoid: Monoid, facts_of: Callable[[Field], FieldFacts]) -> Fields:
    """The fields over columns that are called as they are, by another monoid."""
    own = Fields()
    for field in fields.all:
        column = own.values.setdefault(own.add_argument(field.name), f"v{len(own.values)}")
        facts = replace(facts_of(field), divided=False)
        own.kept[column, monoid, ()] = Field(field.name, column, monoid, facts)
    return own


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
    rows = _most_of_panes(edges, bound.keys, columns_of(fields), panes)
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


def columns_of(fields: Fields) -> dict[str, str]:
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
    some = {of: values[name] for name, of in columns_of(fields).items() if of}
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
