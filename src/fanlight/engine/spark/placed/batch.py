"""Windows over a batch: rows lifted to partials of pieces, pieces rolled up to windows.

Every candidate ends in rows of keys, ``query`` (where there are several), ``start`` (the window's
first coordinate) and partials.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from fanlight.engine.plan import ways
from fanlight.engine.plan.candidate import Candidate
from fanlight.engine.plan.granules import Pieces
from fanlight.engine.spark import numbers
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.cuts import slice_end, slice_start
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.grids import last_start
from fanlight.engine.spark.lift import again, counted, first, last, lifted, points
from fanlight.engine.spark.placed.aging import aged, weight
from fanlight.engine.spark.placed.copies import copied
from fanlight.engine.spark.placed.counted import numbered_granules, numbered_rows
from fanlight.engine.spark.placed.dyadic import apart, others, pushed, runs
from fanlight.engine.spark.placed.events import copies, entries, events, in_cells, start_by
from fanlight.engine.spark.rollup import branches
from fanlight.engine.spark.sql import grouped


def granules(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """One partial a key and granule: keys, ``piece`` (where it begins), partials."""
    if bound.coordinate.counted:
        return numbered_granules(bound, fields, chosen.pieces)
    return lifted(_pieces(bound, fields, chosen), [*bound.keys, "piece"], fields.all, "piece")


def _pieces(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Rows with the start of their granule."""
    piece = f"{slice_start(chosen.pieces.granules, 't')} as piece"
    return points(bound, fields).selectExpr(*bound.keys, piece, *fields.lifting)


def of_partials(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Granules once, then the branch of each query; with weights, copied and weighted instead."""
    pieces = granules(bound, fields, chosen)
    if bound.weights is None:
        return branches(bound, fields, chosen.pieces, pieces)
    names = [field.name for field in fields.all]
    end = f"({slice_end(chosen.pieces.granules, 'piece')} - 1L)"
    copies = copied(bound, pieces, end, names, weight(bound))
    return aged(fields, copies, [*bound.keys, *bound.which, "start"])


def of_counts(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Each granule's value counts copied to its windows, combined by value, and lifted there."""
    counts = counted(_pieces(bound, fields, chosen), [*bound.keys, "piece"], fields.all, "piece")
    names = others(counts, [*bound.keys, "piece"])
    end = f"({slice_end(chosen.pieces.granules, 'piece')} - 1L)"
    found = copied(bound, counts, end, names)
    place = [*bound.keys, *bound.which, "start"]
    return last(again(found, place, fields.all), place, fields.all)


def of_rows(bound: Placed, fields: Fields) -> DataFrame:
    """Each row copied into each of its windows: Spark's own way."""
    place = [*bound.keys, "start"]
    if bound.coordinate.counted:
        rows = numbered_rows(bound, fields)
        found = copied(bound, rows, "t", [field.name for field in fields.all])
        return again(found, place, fields.all)
    rows = points(bound, fields).selectExpr(*bound.keys, "t", *fields.lifting)
    found = copied(bound, rows, "t", list(fields.values.values()))
    return lifted(found, place, fields.all, "start")


def by_spark(bound: Placed, fields: Fields) -> DataFrame:
    """Results by Spark's own aggregates, of windows that share no row; and partials of others."""
    start = f"{last_start(bound.grid, 't')} as start"
    read = [*fields.arguments.values(), *fields.lifting]
    rows = points(bound, fields).selectExpr(*bound.keys, start, *read)
    found = fields.natively
    plain = [field for field in fields.all if not field.monoid.by_value]
    found += [(field.name, field.monoid.lift(field.value, origin="start")) for field in plain]
    return grouped(rows, [*bound.keys, "start"], found)


def by_entries(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Two entries for each event and query, then windows of them."""
    query, _, number = numbers.unpacked(bound.grids, "entry")
    rows = entries(bound, events(bound, fields))
    origin = start_by(bound, number, query)
    return _rolled(bound, fields, first(rows, [*bound.keys, "entry"], fields.all, origin), chosen)


def by_cells(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Events lifted by cell; then two entries for each cell, or copies in all its windows."""
    rows = in_cells(bound, events(bound, fields))
    cells = first(rows, [*bound.keys, "first_at", "last_at"], fields.all, "last_at")
    if chosen.way is ways.CELL_COPIES:
        return _combined(bound, fields, copies(bound, cells))
    entered = again(entries(bound, cells), [*bound.keys, "entry"], fields.all)
    return _rolled(bound, fields, entered, chosen)


def by_buckets(bound: Placed, fields: Fields) -> DataFrame:
    """Each event into each of its windows: the paper's aggregate buckets, and Spark's own way."""
    place = [*bound.keys, *bound.which, "number"]
    origin = start_by(bound, "number")
    found = first(copies(bound, events(bound, fields)), place, fields.all, origin)
    return _started(bound, fields, last(found, place, fields.all))


def _rolled(
    bound: Placed, fields: Fields, entered: DataFrame, chosen: Candidate[Pieces]
) -> DataFrame:
    """Entries to windows, by the roll-up of the plan."""
    keys = [*bound.keys, *bound.which]
    query, power, number = numbers.unpacked(bound.grids, "entry")
    rest = others(entered, [*bound.keys, "entry"])
    which = [f"{query} as query"] if bound.which else []
    place = [*which, f"{power} as power", f"{number} as number"]
    entered = entered.selectExpr(*bound.keys, *place, *rest)
    if chosen.rollup == ways.DYADIC_RUNS:
        return _started(bound, fields, runs(entered, keys, fields.all))
    dyadics = again(apart(entered, keys), [*keys, "power", "dyadic"], fields.all)
    return _combined(bound, fields, pushed(dyadics, keys))


def _combined(bound: Placed, fields: Fields, found: DataFrame) -> DataFrame:
    """Copies in windows, combined by window."""
    place = [*bound.keys, *bound.which, "number"]
    return _started(bound, fields, last(again(found, place, fields.all), place, fields.all))


def _started(bound: Placed, fields: Fields, found: DataFrame) -> DataFrame:
    """Windows by their start instead of their number."""
    start = f"{start_by(bound, 'number')} as start"
    names = [field.name for field in fields.all]
    return found.selectExpr(*bound.keys, *bound.which, start, *names)
