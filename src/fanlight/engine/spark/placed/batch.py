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
from fanlight.engine.spark import window_ranges
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.carried import settle
from fanlight.engine.spark.cuts import last_start, slice_end, slice_start
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.lift import count_values, lift_or_count, lift_rows, select_points
from fanlight.engine.spark.placed.aging import sum_weighted, weight
from fanlight.engine.spark.placed.events import (
    copy_events,
    make_entries,
    make_steps,
    move_to_cells,
    start_from_number,
    window_start_of,
)
from fanlight.engine.spark.placed.numbered_rows import number_granules, number_rows
from fanlight.engine.spark.placed.spark_windows import aggregate_starts
from fanlight.engine.spark.result import Relation
from fanlight.engine.spark.rollup import roll_up_branches
from fanlight.engine.spark.selected_events import (
    ENDS,
    lift_copies,
    select_events,
    select_to_copy,
)
from fanlight.engine.spark.window_ranges import (
    copy_pieces,
    copy_runs,
    copy_to_dyadics,
    push_to_windows,
    sum_steps,
)


def lift_granules(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> Relation:
    """Partials, one a key and granule: place ``piece``, the start of the granule."""
    if bound.coordinate.counted:
        return number_granules(bound, fields, chosen.pieces)
    pieces = lift_rows(_place_in_pieces(bound, fields, chosen), ["piece"], fields.all, "piece")
    return settle(bound, pieces, chosen.pieces.granules) if fields.carries else pieces


def _place_in_pieces(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> Relation:
    """Rows with the start of their granule."""
    piece = f"{slice_start(chosen.pieces.granules, 't')} as piece"
    return _place_rows(bound, fields, piece, ["piece"])


def _place_rows(bound: Placed, fields: Fields, text: str, place: Sequence[str]) -> Relation:
    """The rows that are in a window, at a place computed by SQL from their coordinate."""
    rows = select_points(bound, fields).selectExpr(*bound.keys, text, *fields.lifting)
    return Relation.of_rows(rows, bound.keys, place, fields.values.values())


def roll_up_slices(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Windows of all queries from shared granules; weighted copies if there are weights."""
    pieces = lift_granules(bound, fields, chosen)
    if bound.weights is None:
        return roll_up_branches(bound, chosen.pieces, pieces)
    end = f"({slice_end(chosen.pieces.granules, 'piece')} - 1L)"
    return sum_weighted(
        copy_pieces(bound, pieces, end, weight(bound)), *bound.query_columns, "start"
    )


def copy_counts(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Windows from value counts of granules: copied to windows, combined by value, then lifted."""
    counts = count_values(_place_in_pieces(bound, fields, chosen), ["piece"], fields.all, "piece")
    end = f"({slice_end(chosen.pieces.granules, 'piece')} - 1L)"
    return copy_pieces(bound, counts, end).combine(*bound.query_columns, "start").lift_counts().df


def copy_rows(bound: Placed, fields: Fields) -> DataFrame:
    """Windows from copies of each row in each of its windows: Spark's own way."""
    if bound.coordinate.counted:
        return copy_pieces(bound, number_rows(bound, fields), "t").combine("start").df
    rows = _place_rows(bound, fields, "t", ["t"])
    return lift_rows(copy_pieces(bound, rows, "t"), ["start"], fields.all, "start").df


def aggregate_in_spark(bound: Placed, fields: Fields) -> DataFrame:
    """Results of Spark's own aggregates for windows that share no row; partials of others."""
    start = f"{last_start(bound.grid, 't')} as start"
    read = [*fields.arguments.values(), *fields.lifting]
    rows = select_points(bound, fields).selectExpr(*bound.keys, start, *read)
    return aggregate_starts(rows, bound.keys, fields, ways.RESULTS)


def roll_up_entries(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Windows from two entries for each event and query."""
    query, _, number = window_ranges.unpack_entry(bound.grids, "entry")
    rows = make_entries(bound, select_events(bound, fields))
    origin = window_start_of(bound, number, query)
    return _roll_up_dyadics(bound, lift_or_count(rows, ["entry"], fields.all, origin), chosen)


def add_up_steps(bound: Placed, fields: Fields) -> DataFrame:
    """Windows from the begin and the end of each event: what has begun less what is over."""
    steps = make_steps(bound, select_events(bound, fields))
    windows = sum_steps(bound.grids, steps, fields.all, bound.query_columns)
    return start_from_number(bound, windows).df


def roll_up_cells(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Windows from cells: events lifted by cell, then two entries or copies for each cell."""
    rows = move_to_cells(bound, select_events(bound, fields))
    cells = lift_or_count(rows, ENDS, fields.all, "last_at")
    if chosen.way is ways.CELL_COPIES:
        return _combine_copies(bound, copy_events(bound, cells))
    return _roll_up_dyadics(bound, make_entries(bound, cells).combine("entry"), chosen)


def fill_buckets(bound: Placed, fields: Fields) -> DataFrame:
    """Windows from copies of each event: the paper's aggregate buckets, and Spark's own way."""
    copies = copy_events(bound, select_to_copy(bound, fields))
    copies = start_from_number(bound, lift_copies(bound, fields, copies))
    return lift_or_count(copies, copies.place, fields.all, "start").lift_counts().df


def _roll_up_dyadics(bound: Placed, entered: Relation, chosen: Candidate[Pieces]) -> DataFrame:
    """Windows from entries, by the roll-up of the plan."""
    which = bound.query_columns
    query, power, number = window_ranges.unpack_entry(bound.grids, "entry")
    texts = [f"{query} as query"] if which else []
    place = [*which, "power", "number"]
    entered = entered.with_places(*texts, f"{power} as power", f"{number} as number", place=place)
    if chosen.rollup == ways.DYADIC_RUNS:
        return _combine_copies(bound, copy_runs(entered, which))
    dyadics = copy_to_dyadics(entered, which).combine(*which, "power", "dyadic")
    return _combine_copies(bound, push_to_windows(dyadics, which))


def _combine_copies(bound: Placed, copies: Relation) -> DataFrame:
    """Combine the copies of each window."""
    copies = start_from_number(bound, copies)
    return copies.combine(*copies.place).lift_counts().df
