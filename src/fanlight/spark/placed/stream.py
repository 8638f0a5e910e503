"""Windows over a stream: chained native aggregations in append mode.

    points   rows -> granules -> windows
    events   events -> cells -> (dyadic intervals ->) windows

Each step is a ``groupBy`` that Spark keeps in its state store and emits once the watermark has
passed. Spark drops and counts late rows, and resumes from the checkpoint. Pieces and windows are
grouped by their end as an event-time column, ``ending``: computed timestamps carry the watermark on
in their metadata, so the next aggregation knows when it is complete.

A cell is complete when the watermark has passed the end of the first window, of any query, that its
events are in. So an event is late in all of its windows or in none. The watermark is on the stop,
and its delay is the paper's time to postpone (TTP).

Every candidate ends in rows of keys, ``query`` (where there are several), ``ending``, ``start`` and
partials.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame

from fanlight.plan.candidate import Plan
from fanlight.plan.granules import Granules
from fanlight.spark.binding.placed import Placed
from fanlight.spark.coordinates import coordinate, restored
from fanlight.spark.cuts import slice_end, slice_start
from fanlight.spark.fields import Fields, combined, types_of
from fanlight.spark.lift import again, first, last, lifted, points
from fanlight.spark.numbers import first_of_dyadic
from fanlight.spark.placed.aging import aged, weight
from fanlight.spark.placed.copies import More, copied
from fanlight.spark.placed.dyadic import apart, others, pushed
from fanlight.spark.placed.events import (
    copies,
    end_by,
    events,
    in_cells,
    ranged,
    soonest,
    start_by,
)
from fanlight.spark.sql import grouped, with_event_time


def windows(bound: Placed, fields: Fields, plan: Plan[Any]) -> DataFrame:
    """One row a key, query and window, once the watermark has passed the window's end."""
    if bound.lasting:
        if plan.chosen.strategy == "cells":
            return _by_cells(bound, fields, plan)
        return _by_buckets(bound, fields)
    if plan.chosen.lift == "rows":
        return _of_rows(bound, fields)
    pieces = granules(bound, fields, plan)
    if not bound.which and plan.chosen.rollup == "":
        return _started(bound, pieces)
    return _of_granules(bound, fields, plan, pieces)


def ending(bound: Placed, rows: DataFrame, end: str, kept: Sequence[str]) -> DataFrame:
    """``kept`` (SQL), and the event time ``ending`` made from the coordinate ``end``."""
    at = restored(bound.coordinate, f"({end})")
    return with_event_time(rows, kept, at, "ending", bound.delay)


def granules(bound: Placed, fields: Fields, plan: Plan[Any]) -> DataFrame:
    """One partial a key and granule, once the watermark has passed it: keys, ``ending``."""
    keys, cut = bound.keys, plan.chosen.cut.granules
    rows = ending(bound, points(bound, fields), slice_end(cut, "t"), [*keys, *fields.lifting])
    return lifted(rows, [*keys, "ending"], fields.all, piece_start(bound, cut))


def piece_start(bound: Placed, cut: Granules) -> str:
    """SQL: the start of the granule that ends at ``ending``."""
    return slice_start(cut, last_instant(bound))


def last_instant(bound: Placed) -> str:
    """SQL: the last coordinate of the granule that ends at ``ending``."""
    return f"({coordinate(bound.coordinate, 'ending')} - 1L)"


def window_copies(
    bound: Placed,
    pieces: DataFrame,
    cut: Granules,
    names: Sequence[str],
    more: More | None = None,
    *,
    ahead: int = 0,
) -> DataFrame:
    """Each granule copied to each of its windows: keys, names, ``query``, ``more``, ``ending``."""
    here = pieces.selectExpr(
        *bound.keys,
        f"{last_instant(bound)} as upto",
        f"{piece_start(bound, cut)} as piece",
        *names,
    )
    found = copied(bound, here, "upto", names, more, ahead=ahead)
    kept = [name for name in found.columns if bound.which or name != "start"]
    return ending(bound, found, f"start + {bound.lengths}", kept)


def _of_rows(bound: Placed, fields: Fields) -> DataFrame:
    """Each row copied into each of its windows: Spark's own way."""
    values = list(fields.values.values())
    rows = points(bound, fields).selectExpr(*bound.keys, "t", *fields.lifting)
    found = copied(bound, rows, "t", values)
    rows = ending(bound, found, f"start + {bound.grid.range}L", [*bound.keys, *values])
    origin = f"({coordinate(bound.coordinate, 'ending')} - {bound.grid.range}L)"
    return _started(bound, lifted(rows, [*bound.keys, "ending"], fields.all, origin))


def _of_granules(bound: Placed, fields: Fields, plan: Plan[Any], pieces: DataFrame) -> DataFrame:
    """Each granule's partial copied to its windows of every query, and combined there."""
    names, types = [field.name for field in fields.all], types_of(pieces, fields.all)
    place, cut = [*bound.keys, *bound.which, "ending"], plan.chosen.cut.granules
    if bound.weights is not None:
        found = aged(fields, window_copies(bound, pieces, cut, names, weight(bound)), place)
    else:
        found = window_copies(bound, pieces, cut, names)
        found = grouped(found, place, [(f.name, combined(f, types[f.name])) for f in fields.all])
    return _started(bound, found)


def _by_cells(bound: Placed, fields: Fields, plan: Plan[Any]) -> DataFrame:
    """Events lifted by cell; a cell goes to its windows when it is complete."""
    keys, kept = bound.keys, fields.all
    rows = in_cells(bound, events(bound, fields))
    rows = ending(bound, rows, soonest(bound), rows.columns).filter("ending is not null")
    cells = first(rows, [*keys, "first_at", "last_at", "ending"], kept, "last_at")
    if plan.chosen.rollup == "copies":
        found = copies(bound, cells)
    else:
        which = [*keys, *bound.which]
        spread = apart(ranged(bound, cells), which)
        spread = ending(bound, spread, end_by(bound, first_of_dyadic()), spread.columns)
        found = pushed(again(spread, [*which, "power", "dyadic", "ending"], kept), which)
    found = ending(bound, found, end_by(bound, "number"), others(found, ["number"]))
    place = [*keys, *bound.which, "ending"]
    return _started(bound, last(again(found, place, kept), place, kept))


def _by_buckets(bound: Placed, fields: Fields) -> DataFrame:
    """Each event into each of its windows: the paper's aggregate buckets, and Spark's own way."""
    found = copies(bound, events(bound, fields))
    found = ending(bound, found, end_by(bound, "number"), found.columns)
    place = [*bound.keys, *bound.which, "ending", "number"]
    parts = first(found, place, fields.all, start_by(bound, "number"))
    return _started(bound, last(parts, place, fields.all).drop("number"))


def _started(bound: Placed, found: DataFrame) -> DataFrame:
    """Windows with their start, which follows from their end."""
    end = coordinate(bound.coordinate, "ending")
    return found.selectExpr("*", f"({end} - {bound.lengths}) as start")
