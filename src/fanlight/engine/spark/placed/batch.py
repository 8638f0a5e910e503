"""Windows over a batch: rows lifted to partials of pieces, pieces rolled up to windows.

Every candidate ends in rows of keys, ``query`` (where there are several), ``start`` (the window's
first coordinate) and partials.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from fanlight.engine.plan import ways
from fanlight.engine.plan.candidate import Candidate
from fanlight.engine.plan.granules import Pieces
from fanlight.engine.spark import numbers
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.cuts import slice_end, slice_start
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.grids import last_start
from fanlight.engine.spark.lift import counted, first, lifted, points
from fanlight.engine.spark.placed.aging import aged, weight
from fanlight.engine.spark.placed.copies import copied
from fanlight.engine.spark.placed.counted import numbered_granules, numbered_rows
from fanlight.engine.spark.placed.dyadic import apart, pushed, runs
from fanlight.engine.spark.placed.events import ENDS, copies, entries, events, in_cells, start_by
from fanlight.engine.spark.relation import Relation, plain_of
from fanlight.engine.spark.rollup import branches
from fanlight.engine.spark.sql import grouped


def granules(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> Relation:
    """One partial a key and granule: place ``piece``, where it begins."""
    if bound.coordinate.counted:
        return numbered_granules(bound, fields, chosen.pieces)
    return lifted(_pieces(bound, fields, chosen), ["piece"], fields.all, "piece")


def _pieces(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> Relation:
    """Rows with the start of their granule."""
    piece = f"{slice_start(chosen.pieces.granules, 't')} as piece"
    return _rows(bound, fields, piece, ["piece"])


def _rows(bound: Placed, fields: Fields, text: str, place: Sequence[str]) -> Relation:
    """The rows in some window, at a place that SQL makes of their coordinate."""
    rows = points(bound, fields).selectExpr(*bound.keys, text, *fields.lifting)
    return Relation.of_rows(rows, bound.keys, place, fields.values.values())


def of_partials(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Granules once, then the branch of each query; with weights, copied and weighted instead."""
    pieces = granules(bound, fields, chosen)
    if bound.weights is None:
        return branches(bound, chosen.pieces, pieces)
    end = f"({slice_end(chosen.pieces.granules, 'piece')} - 1L)"
    return aged(copied(bound, pieces, end, weight(bound)), *bound.which, "start")


def of_counts(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Each granule's value counts copied to its windows, combined by value, and lifted there."""
    counts = counted(_pieces(bound, fields, chosen), ["piece"], fields.all, "piece")
    end = f"({slice_end(chosen.pieces.granules, 'piece')} - 1L)"
    return copied(bound, counts, end).combined(*bound.which, "start").settled().df


def of_rows(bound: Placed, fields: Fields) -> DataFrame:
    """Each row copied into each of its windows: Spark's own way."""
    if bound.coordinate.counted:
        return copied(bound, numbered_rows(bound, fields), "t").combined("start").df
    rows = _rows(bound, fields, "t", ["t"])
    return lifted(copied(bound, rows, "t"), ["start"], fields.all, "start").df


def by_spark(bound: Placed, fields: Fields) -> DataFrame:
    """Results by Spark's own aggregates, of windows that share no row; and partials of others."""
    start = f"{last_start(bound.grid, 't')} as start"
    read = [*fields.arguments.values(), *fields.lifting]
    rows = points(bound, fields).selectExpr(*bound.keys, start, *read)
    found = fields.natively
    found += [(f.name, f.monoid.lift(f.value, origin="start")) for f in plain_of(fields.all)]
    return grouped(rows, [*bound.keys, "start"], found)


def by_entries(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Two entries for each event and query, then windows of them."""
    query, _, number = numbers.unpacked(bound.grids, "entry")
    rows = entries(bound, events(bound, fields))
    origin = start_by(bound, number, query)
    return _rolled(bound, first(rows, ["entry"], fields.all, origin), chosen)


def by_cells(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Events lifted by cell; then two entries for each cell, or copies in all its windows."""
    rows = in_cells(bound, events(bound, fields))
    cells = first(rows, ENDS, fields.all, "last_at")
    if chosen.way is ways.CELL_COPIES:
        return _combined(bound, copies(bound, cells))
    return _rolled(bound, entries(bound, cells).combined("entry"), chosen)


def by_buckets(bound: Placed, fields: Fields) -> DataFrame:
    """Each event into each of its windows: the paper's aggregate buckets, and Spark's own way."""
    rows, origin = copies(bound, events(bound, fields)), start_by(bound, "number")
    return _started(bound, first(rows, rows.place, fields.all, origin).settled())


def _rolled(bound: Placed, entered: Relation, chosen: Candidate[Pieces]) -> DataFrame:
    """Entries to windows, by the roll-up of the plan."""
    which = bound.which
    query, power, number = numbers.unpacked(bound.grids, "entry")
    texts = [f"{query} as query"] if which else []
    place = [*which, "power", "number"]
    entered = entered.at(*texts, f"{power} as power", f"{number} as number", place=place)
    if chosen.rollup == ways.DYADIC_RUNS:
        return _started(bound, runs(entered, which))
    dyadics = apart(entered, which).combined(*which, "power", "dyadic")
    return _combined(bound, pushed(dyadics, which))


def _combined(bound: Placed, found: Relation) -> DataFrame:
    """Copies in windows, combined by window."""
    return _started(bound, found.combined(*bound.which, "number").settled())


def _started(bound: Placed, found: Relation) -> DataFrame:
    """Windows by their start instead of their number."""
    start = f"{start_by(bound, 'number')} as start"
    return found.at(*bound.which, start, place=[*bound.which, "start"]).df
