"""Windows made by operators: given early, over events that last, placed by rows, without rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from fanlight.engine.algebra.sql_text import find_places
from fanlight.engine.operators.chain import ChainQuery
from fanlight.engine.operators.early_windows import DIRTY, RUNNING, OpenQuery, UnendedQuery
from fanlight.engine.operators.empty_windows import EmptyWindowsQuery
from fanlight.engine.operators.running_events import RunningQuery
from fanlight.engine.operators.spanning_events import SpanningQuery
from fanlight.engine.operators.stored_state import LAYOUT
from fanlight.engine.operators.tuple_windows import TupleQuery
from fanlight.engine.plan.candidate import Candidate
from fanlight.engine.plan.granules import Cut, Granules, LastRows, Pieces, granules_of
from fanlight.engine.plan.grid import Grid, longest_slide
from fanlight.engine.plan.ways import has_compiler
from fanlight.engine.spark.binding.placed import Lasting, Placed, Unended
from fanlight.engine.spark.binding.snapshot import SnapshotBound
from fanlight.engine.spark.cuts import (
    numbered_start_by,
    slice_end,
    slice_start,
    window_end_by,
    window_start_by,
    windows_of_event,
)
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.lift import (
    FIRST,
    Sent,
    drop_rows_in_gaps,
    lift_each_row,
    partials_of_rows,
    select_values,
    send_once,
)
from fanlight.engine.spark.ordered.host import Hosted, alike, clock_of, numbers, run_operator
from fanlight.engine.spark.ordered.host import numbers as of_windows
from fanlight.engine.spark.selected_events import ENDS, lift_copies, select_to_copy
from fanlight.engine.spec.errors import refuse

_WINDOW = numbers("query", "start", "final")


def give_early(bound: Placed, fields: Fields) -> DataFrame:
    """Partials of windows by key, ``query`` and ``start``, with ``final``: 1 once, at their end.

    Windows of events that may be running are made here also where they are given once.
    """
    if isinstance(bound, Lasting):
        if bound.unended is not None:
            return _give_running(bound, bound.unended, fields)
        return _give_events(bound, fields)
    return _give_points(bound, fields)


def _give_points(bound: Placed, fields: Fields) -> DataFrame:
    """Rows go into the pieces of time that windows share."""
    lifted, partials, _ = lift_each_row(bound, fields)
    rows = drop_rows_in_gaps(bound, lifted)
    if bound.since is not None:
        rows = rows.filter(f"t >= {bound.since}L")
    late = f"{bound.late_after} as t"
    piece = f"{slice_start(granules_of(bound.grids), 't')} as piece"
    rows = rows.selectExpr(*bound.keys, late, piece, *partials, "1L as dirty")
    return _run(bound, fields, rows, bound.grids)


def _give_events(bound: Placed, fields: Fields) -> DataFrame:
    """An event goes into each of its windows, which are all given when it has come.

    So the pieces are the windows of each query themselves, one long each and told by where they
    end: what ends a coordinate later is another piece.
    """
    events = select_to_copy(bound, fields)
    known = events.df.selectExpr("*", f"{bound.late_after} as known").filter("known is not null")
    copies = events.with_df(known, *ENDS, "known").with_places(
        "known", windows_of_event(bound.grids), place=["known", "query", "number"]
    )
    copies = lift_copies(bound, fields, copies)
    names = fields.names
    end = window_end_by(bound.grids, numbered_start_by(bound.grids, "number", "query"))
    rows = copies.df.selectExpr(
        *bound.keys, "query as which", "known as t", f"({end} - 1L) as piece",
        *partials_of_rows(copies.df, fields.all), "1L as dirty",
    )  # fmt: skip
    found = _run(bound, fields, rows, (Grid(1, 1),), ["which"])
    found = found.selectExpr(*bound.keys, "which as query", "start", "final", *names)
    start = f"({window_start_by(bound.grids, 'start + 1L')}) as start"
    return found.selectExpr(*bound.keys, "query", start, "final", *names)


def _run(
    bound: Placed,
    fields: Fields,
    rows: DataFrame,
    grids: tuple[Grid, ...],
    which: Sequence[str] = (),
) -> DataFrame:
    """The stateful operator over rows in pieces; ``which`` are keys besides the windows' own."""

    def query(schema: pa.Schema, keys: int) -> OpenQuery:
        return OpenQuery(
            schema, keys + len(which), (*fields.monoids, DIRTY), grids=grids,
            every=bound.early or 0, clock=clock_of(bound.df.sparkSession, bound.coordinate),
        )  # fmt: skip

    given = alike(*bound.keys, *which) | _WINDOW | alike(*fields.names)
    hosted = Hosted("windows given early", {"every": bound.early})
    return run_operator(bound, fields, rows, query, given, hosted)


def _give_running(bound: Lasting, unended: Unended, fields: Fields) -> DataFrame:
    """Partials of windows by key, ``query`` and ``start``; with ``final`` where given early."""
    for field in fields.all:
        if {"time", "order", "begins", "ends"} & find_places(field.monoid.value):
            raise refuse(
                f"running() of a stream with {field.facts.label}",
                "reads when events end, at least to decide ties, and the end of a running event is "
                "not known",
                "ask for counts, sums, means, least and greatest values, or of structs: "
                "agg.max(F.struct('price', 'item'))",
            )
    name, stop = fields.add_argument(unended.id), fields.add_argument(bound.time)
    given = [*bound.instants, f"{stop} is null as running", f"cast({name} as string) as id"]
    rows = select_values(bound, fields, given)
    # Between two windows it counts as if it went on to the next: what is running will, and a row
    # that says it did not has to be known.
    last = f"if(running, {RUNNING}L, last_at) as last"
    rows = rows.selectExpr(
        *bound.keys, "first_at", f"first_at + {longest_slide(bound.grids)}L as last_at", last, "id",
        *partials_of_rows(rows, fields.all),
    )  # fmt: skip
    names = fields.names
    # Whether a row is late is for the operator to say, which knows what it has of an event.
    rows = rows.selectExpr(
        *bound.keys, f"{RUNNING}L as t", f"{bound.late_after} as known",
        "first_at as place", "last", "id", *names,
    )  # fmt: skip
    early = bound.early is not None
    query = partial(
        UnendedQuery, monoids=fields.monoids, grids=bound.grids, early=early,
        every=bound.early or 0, longest=unended.longest,
        clock=clock_of(bound.df.sparkSession, bound.coordinate),
    )  # fmt: skip
    told = {"early": early, "every": bound.early, "longest": unended.longest}
    hosted = Hosted("windows of events that may be running", told)
    shown = alike(*bound.keys) | _WINDOW | alike(*names)
    found = run_operator(bound, fields, rows, query, shown, hosted)
    kept = ["final"] if early else []
    return found.selectExpr(*bound.keys, *bound.query_columns, "start", *kept, *names)


_ITSELF = ("{p}", "coalesce({p}, 0L)")  # results that are equal where partials are, and only there


def run_technique(
    bound: Lasting, fields: Fields, chosen: Candidate[Pieces], height: int
) -> DataFrame:
    """Windows, one row a key and ``start``, of events that Spark has lifted to partials."""
    rows = select_values(bound, fields, bound.place_columns)
    places = [f"{bound.late_after} as t", *ENDS]
    rows = rows.selectExpr(*bound.keys, *places, *partials_of_rows(rows, fields.all))
    rows = rows.filter("t is not null")
    cut, technique = chosen.pieces.only_cut, chosen.strategy.name
    query = partial(
        SpanningQuery, monoids=fields.monoids, cut=cut, technique=technique, height=height
    )
    what = f"windows over events with a duration, by {technique!r}"
    told = {"cut": cut.technique, "height": height, "layout": 2}
    hosted = Hosted(what, told, order=["t", "first_at", "last_at"])
    given = alike(*bound.keys) | numbers("start") | alike(*fields.names)
    return run_operator(bound, fields, rows, query, given, hosted)


def release_snapshots(bound: SnapshotBound, fields: Fields) -> DataFrame:
    """Windows (keys, ``start``, ``upto``, partials); of a stream, once its watermark is past."""
    if bound.snapshot.merge_equal:
        _check_mergeable(fields)
    rows = select_values(bound, fields, bound.instants)
    places = [f"{bound.late_after} as t", *ENDS]
    rows = rows.selectExpr(*bound.keys, *places, *partials_of_rows(rows, fields.all))
    merged = bound.snapshot.merge_equal
    query = partial(RunningQuery, monoids=fields.monoids, merges=merged)
    hosted = Hosted("snapshots of events", {"merged": merged}, order=["first_at"], by="first_at")
    given = alike(*bound.keys) | numbers("start", "upto") | alike(*fields.names)
    return run_operator(bound, fields, rows, query, given, hosted)


def why_not_in_a_pass(bound: SnapshotBound, fields: Fields) -> str:
    """The reason to leave a batch to Spark's own plan. It is empty if a pass is faster."""
    if not has_compiler():
        return "a pass needs numba, which is not installed here"
    slow = [one.facts.label for one in fields.all if not one.monoid.combining]
    if slow:
        return f"{slow[0]} is not a count, a sum, a least or a greatest value"
    if bound.coordinate.is_unit_number:
        return "times are numbers"
    merged = _labels_apart(fields) if bound.snapshot.merge_equal else []
    if merged:
        return f"merge_equal compares the results of {merged[0]}, not what is kept of it"
    return bound.source.why_not_in_python


def _check_mergeable(fields: Fields) -> None:
    """Refuse aggregates whose results may be equal although their partials differ."""
    for label in _labels_apart(fields):
        raise refuse(
            f"merge_equal with {label}",
            "is not known in a stream, which compares what it keeps of windows, not results",
            "ask for counts, sums, least and greatest values, or leave merge_equal out",
        )


def _labels_apart(fields: Fields) -> list[str]:
    """The aggregates whose results may be equal although their partials differ."""
    return [one.label for one in fields.outputs if one.lower not in _ITSELF]


FIRST_AND_LAST = ("first_row", "last_row")  # the times of a granule's rows, if keys are forgotten


def chain_rows(bound: Placed, fields: Fields) -> DataFrame:
    """Rows counted in order to windows: keys, ``query``, ``start``, partials."""
    rows, partials, order = lift_each_row(bound, fields)
    sent = send_once(order, partials, fields.all)
    rows = rows.selectExpr(*bound.keys, *sent.columns)
    return _run_chain(bound, rows, fields, bound.forget_after, sent=sent, **{LAYOUT: 2})


def chain_granules(
    bound: Placed,
    granules: DataFrame,
    cut: Granules,
    fields: Fields,
    forget_after: int | None = None,
    **options: Any,
) -> DataFrame:
    """Granules (keys, ``piece``, ``ending``, partials) to windows, as :func:`chain_rows`.

    If keys are forgotten, ``granules`` also have the times of their first and last row. ``options``
    are those that partials depend on, besides what ``fields`` says.
    """
    names = fields.names
    order = ["t"] if forget_after is None else ["t", *FIRST_AND_LAST]
    rows = granules.selectExpr(*bound.keys, f"{slice_end(cut, 'piece')} as t", *order[1:], *names)
    return _run_chain(bound, rows, fields, forget_after, **options)


def _run_chain(
    bound: Placed,
    rows: DataFrame,
    fields: Fields,
    forget_after: int | None,
    sent: Sent | None = None,
    **options: Any,
) -> DataFrame:
    """The stateful operator over rows, as they are ``sent``, or granules."""
    counted = bound.coordinate.counted
    query = partial(
        ChainQuery, monoids=fields.monoids, grids=bound.grids, counts_rows=counted,
        since=bound.since if counted else None, forget_after=forget_after,
        partials=sent.partials if sent else (), sources=sent.sources if sent else (),
    )  # fmt: skip
    columns = sent.given if sent else alike(*fields.names)
    given = alike(*bound.keys) | numbers("query", "start") | columns
    hosted = Hosted("windows in a chain", options, aggregated=sent is None)
    return run_operator(bound, fields, rows, query, given, hosted)


def release_windows(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Partials of windows by key and ``start``, once the watermark has passed their last row."""
    kept = [FIRST, *fields.all] if isinstance(bound.row_ends, LastRows) else fields.all
    rows, partials, order = lift_each_row(bound, fields)
    if len(kept) > len(partials):
        partials = [f"t as {FIRST.name}", *partials]
    sent = send_once(order, partials, kept)
    rows = rows.selectExpr(*bound.keys, *sent.columns)
    by = bound.row_ends or chosen.pieces.only_cut
    monoids = tuple(field.monoid for field in kept)
    query = partial(
        TupleQuery, monoids=monoids, by=by, grid=bound.grid, forget_after=bound.forget_after,
        partials=sent.partials, sources=sent.sources,
    )  # fmt: skip
    cut = by.technique if isinstance(by, Cut) else "none"
    given = alike(*bound.keys) | numbers("start") | sent.given
    hosted = Hosted("windows over rows", {"cut": cut, LAYOUT: 2})
    return run_operator(bound, fields, rows, query, given, hosted)


def follow_windows(
    bound: Placed,
    fields: Fields,
    results: DataFrame,
    *,
    rule: Any,
    most: int,
    numbers: Collection[str],
) -> DataFrame:
    """Windows (keys, ``query``, ``start``, results), and those without rows that follow them.

    At most ``most`` follow one with rows; ``numbers`` are the results that are numbers.
    """
    place = [*bound.keys, *bound.query_columns, "start"]
    values = [name for name in results.columns if name not in place]
    which = "cast(query as bigint) as query" if bound.query_columns else "0L as query"
    rows = results.selectExpr(*bound.keys, "start as t", which, "start", *values)
    query = partial(
        EmptyWindowsQuery, monoids=(), grids=bound.grids, rule=rule, most=most,
        numbers=tuple(name in numbers for name in values),
        clock=clock_of(bound.df.sparkSession, bound.coordinate),
    )  # fmt: skip
    # Options under the names that checkpoints have had from the beginning.
    told = {"empty": rule, "max_empty": most}
    given = alike(*bound.keys) | of_windows("query", "start") | alike(*values)
    hosted = Hosted("windows without rows", told, aggregated=True)
    return run_operator(bound, fields, rows, query, given, hosted)
