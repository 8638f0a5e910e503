"""Windows over a stream: chained native aggregations in append mode.

    points   rows -> granules -> windows
    events   events -> cells -> (dyadic intervals ->) windows

Each step is a ``groupBy`` that Spark keeps in its state store and emits once the watermark has
passed. Spark drops and counts late rows, and resumes from the checkpoint. Pieces and windows are
grouped also by an event time that is computed, ``ending``: such timestamps carry the watermark on
in their metadata, so the next aggregation knows when it is complete.

A piece (a granule, a cell) is complete when the watermark has passed the end of the first window,
of any query, that its rows are in: no window needs it before. That is its ``ending``. So a row is
late in all of its windows or in none, however time is cut. Of events the watermark is on the stop,
and its delay is the paper's time to postpone (TTP).

Spark's watermark begins at 1970, and an event time that is not after it is late. So no ``ending``
is before that: what is older is kept until the watermark moves.

Every candidate ends in rows of keys, ``query`` (where there are several), ``start``, ``ending`` and
partials.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from fanlight.engine.plan import ways
from fanlight.engine.plan.candidate import Candidate
from fanlight.engine.plan.granules import Granules, Pieces
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.coordinates import restored
from fanlight.engine.spark.cuts import slice_end, slice_start
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.grids import first_end, soonest, window_end, window_end_by
from fanlight.engine.spark.lift import first, lifted, points
from fanlight.engine.spark.numbers import first_of_dyadic
from fanlight.engine.spark.placed.aging import aged, weight
from fanlight.engine.spark.placed.copies import More, copied
from fanlight.engine.spark.placed.dyadic import apart, pushed
from fanlight.engine.spark.placed.events import (
    ENDS,
    copies,
    end_of,
    events,
    in_cells,
    ranged,
    start_by,
)
from fanlight.engine.spark.placed.sealing import sealed
from fanlight.engine.spark.relation import Relation
from fanlight.engine.spark.sql import with_event_time

FIRST = 1  # the first coordinate after the watermark that a stream begins with


def of_granules(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """One row a key, query and window, once the watermark has passed the window's end."""
    bound = sealed(bound, fields, chosen)
    pieces = granules(bound, fields, chosen)
    if not chosen.rollup.shuffled and not (bound.which or bound.queries.asked):
        return pieces.df.withColumnRenamed("piece", "start")
    place, cut = [*bound.which, "start", "ending"], chosen.pieces.granules
    if bound.weights is not None:
        return aged(window_copies(bound, pieces, cut, weight(bound)), *place)
    return window_copies(bound, pieces, cut).combined(*place).df


def with_ending(bound: Placed, rows: Relation, end: str) -> Relation:
    """The same, and the event time ``ending`` in its place; see :func:`ending`."""
    found = ending(bound, rows.df, end, [*rows.keys, *rows.place, *rows.parts])
    return rows.to(found, *rows.place, "ending")


def ending(bound: Placed, rows: DataFrame, end: str, kept: Sequence[str]) -> DataFrame:
    """``kept`` (SQL), and the event time ``ending`` made from the coordinate ``end``.

    Queries taken one by one are told apart by the least that it may be: where their plans are
    equal up to a shuffle, Spark would reuse that of the first, and give the others no watermark.
    """
    at = restored(bound.coordinate, f"greatest({end}, {FIRST + bound.queries.place}L)")
    return with_event_time(rows, kept, at, "ending", bound.delay)


def granules(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> Relation:
    """One partial a key and granule, once it is complete: place ``piece``, ``ending``."""
    rows = in_pieces(bound, points(bound, fields), chosen.pieces.granules, fields.lifting)
    place = ["piece", "ending"]
    found = Relation.of_rows(rows, bound.keys, place, fields.values.values())
    return lifted(found, place, fields.all, "piece")


def in_pieces(bound: Placed, rows: DataFrame, cut: Granules, kept: Sequence[str]) -> DataFrame:
    """Rows in some window: keys, ``piece`` (where their granule begins), ``kept``, ``ending``."""
    place = [*bound.keys, f"{slice_start(cut, 't')} as piece"]
    return ending(bound, rows, first_end(bound.queries.deciding, "t"), [*place, *kept])


def window_copies(
    bound: Placed, pieces: Relation, cut: Granules, more: More | None = None, *, ahead: int = 0
) -> Relation:
    """Each granule copied to each of its windows: as :func:`copied`, and ``ending``."""
    upto = f"({slice_end(cut, 'piece')} - 1L) as upto"
    here = pieces.at(upto, "piece", place=["upto", "piece"])
    found = copied(bound, here, "upto", more, ahead=ahead)
    return with_ending(bound, found, window_end_by(bound.grids, "start"))


def of_rows(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Each row copied into each of its windows: Spark's own way."""
    bound = sealed(bound, fields, chosen)
    df = points(bound, fields).selectExpr(*bound.keys, "t", *fields.lifting)
    rows = copied(bound, Relation.of_rows(df, bound.keys, ["t"], fields.values.values()), "t")
    rows = with_ending(bound, rows, window_end(bound.grid, "start"))
    return lifted(rows, rows.place, fields.all, "start").df


def by_cells(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Events lifted by cell; a cell goes to its windows when it is complete."""
    bound = sealed(bound, fields, chosen)
    rows, which = events(bound, fields), bound.which
    at = f"{soonest(bound.queries.deciding)} as soonest"
    rows = rows.to(rows.df.selectExpr("*", at).filter("soonest is not null"), *ENDS, "soonest")
    cells = in_cells(bound, rows)
    rows = with_ending(bound, cells.to(cells.df, *ENDS), "soonest")
    cells = first(rows, rows.place, fields.all, "last_at")
    if chosen.way is ways.CELL_COPIES:
        found = copies(bound, cells)
    else:
        spread = apart(ranged(bound, cells), which)
        spread = with_ending(bound, spread, end_of(bound, first_of_dyadic()))
        found = pushed(spread.combined(*spread.place), which)
    found = with_ending(bound, found, end_of(bound, "number"))
    return _started(bound, found.combined(*found.place).settled())


def by_buckets(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Each event into each of its windows: the paper's aggregate buckets, and Spark's own way."""
    bound = sealed(bound, fields, chosen)
    rows = with_ending(bound, copies(bound, events(bound, fields)), end_of(bound, "number"))
    origin = start_by(bound, "number")
    return _started(bound, first(rows, rows.place, fields.all, origin).settled())


def _started(bound: Placed, found: Relation) -> DataFrame:
    """Windows with their start, which follows from their number."""
    place = [*bound.which, "ending"]
    start = f"{start_by(bound, 'number')} as start"
    return found.at(*place, start, place=[*place, "start"]).df
