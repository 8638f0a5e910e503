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
is before that: what is older is kept until the watermark moves. Windows that are postponed have
an ``ending`` that is as much later.

Every candidate ends in rows of keys, ``query`` (where there are several), ``start``, ``ending`` and
partials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import count
from typing import Any

from pyspark.sql import DataFrame

from fanlight.engine.algebra.sql_text import literal
from fanlight.engine.plan import ways
from fanlight.engine.plan.candidate import Candidate
from fanlight.engine.plan.granules import Granules, Pieces
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.coordinates import as_instant, exact
from fanlight.engine.spark.cuts import slice_end, slice_start, window_end, window_end_by
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.fingerprint import fingerprint
from fanlight.engine.spark.lift import condense, lift_or_count, lift_rows, select_points
from fanlight.engine.spark.placed.aging import sum_weighted, weight
from fanlight.engine.spark.placed.events import (
    add_ranges,
    copy_events,
    move_to_cells,
    start_from_number,
    window_end_of,
    window_start_of,
)
from fanlight.engine.spark.result import Relation
from fanlight.engine.spark.selected_events import (
    ENDS,
    lift_copies,
    select_events,
    select_to_copy,
)
from fanlight.engine.spark.sql import expr, group_rows, with_event_time
from fanlight.engine.spark.window_ranges import (
    More,
    copy_pieces,
    copy_to_dyadics,
    first_of_dyadic,
    push_to_windows,
)
from fanlight.engine.spec.formats import RELEASE

FORMAT = 1  # counted up whenever the same query keeps other partials, or the same ones otherwise
_PARTS = 4  # of 189 types each: two fingerprints have one type once in 1.3 thousand million times
_MOST = 18  # digits of a decimal that is a long


def name_of(format_: int, release: str) -> str:
    """The seal's name, which Spark's error shows of both queries."""
    return (
        f"state of format {format_} by fanlight {release}: "
        "another query needs another checkpointLocation, another format the release that wrote it"
    )


SEAL = name_of(FORMAT, RELEASE)


def seal(bound: Placed, fields: Fields, chosen: Candidate[Pieces], **more: Any) -> Placed:
    """The request with the seal as its last key; unchanged for a batch.

    ``more`` is what else the state depends on. Results have the keys of ``bound``, and so are
    without the seal.
    """
    if not bound.df.isStreaming:
        return bound
    fields.check_comparable(by_value=True)  # Spark's state store refuses such keys
    asked = fingerprint(chosen.name, bound, {}, fields, late=bound.late, **more)
    never = f"{exact(bound.coordinate, bound.time_sql)} = -9223372036854775808L"
    # Spark's error shows the names of the fields.
    named = zip((SEAL, *map(str, range(1, _PARTS))), _key_types(asked), strict=True)
    parts = ", ".join(f"{literal(name)}, cast(0 as {kind})" for name, kind in named)
    # Not simply null: Spark leaves out keys that are constants.
    seal = expr(bound.rows, f"if({never}, named_struct({parts}), null)")
    return bound.with_source(by=(*bound.by, seal), names=(*bound.names, SEAL))


def _key_types(asked: Mapping[str, str]) -> list[str]:
    """The decimal types that a fingerprint picks."""
    topics = (f"{about}: {asked[about]}" for about in sorted(asked))
    told = "\n".join([f"format: {FORMAT}", *topics])
    number = int.from_bytes(sha256(told.encode()).digest(), "big")
    kinds = []
    every = [(digits, scale) for digits in range(1, _MOST + 1) for scale in range(digits + 1)]
    for _ in range(_PARTS):
        number, place = divmod(number, len(every))
        digits, scale = every[place]
        kinds.append(f"decimal({digits}, {scale})")
    return kinds


_NUMBERS = count(1)


def roll_up_granules(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Windows, one row a key and query, once the watermark has passed their end."""
    bound = seal(bound, fields, chosen)
    pieces = lift_granules(bound, fields, chosen)
    if not chosen.rollup.shuffled and not (bound.query_columns or bound.queries.asked):
        return pieces.df.withColumnRenamed("piece", "start")
    place, cut = [*bound.query_columns, "start", "ending"], chosen.pieces.granules
    if fields.carries:
        return _copy_carried(bound, condense(pieces), cut).combine(*place).df
    if bound.weights is not None:
        return sum_weighted(copy_granules(bound, pieces, cut, weight(bound)), *place)
    return copy_granules(bound, pieces, cut).combine(*place).df


def add_ending(bound: Placed, rows: Relation, end: str) -> Relation:
    """Add the event time ``ending``, a coordinate, to the place of rows; see the next function."""
    at, kept = as_instant(bound.coordinate, end), [*rows.keys, *rows.place, *rows.parts]
    with_ending = select_with_ending(bound, rows.df, at, kept)
    return rows.with_df(with_ending, *rows.place, "ending")


def select_with_ending(bound: Placed, rows: DataFrame, at: str, kept: Sequence[str]) -> DataFrame:
    """Select ``kept`` (SQL) and the event time ``ending``, made from the instant ``at``.

    A number that is never the greatest tells plans apart: where they are equal up to a shuffle,
    Spark would reuse that of the first, and give the others no watermark.
    """
    at = f"greatest({bound.later(at)}, -{next(_NUMBERS)}L)"
    return with_event_time(rows, kept, at, "ending", bound.delay)


def lift_granules(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> Relation:
    """Partials, one a key and granule, once that is complete: place ``piece``, ``ending``."""
    rows = place_in_pieces(
        bound, select_points(bound, fields), chosen.pieces.granules, fields.lifting
    )
    place = ["piece", "ending"]
    values = Relation.of_rows(rows, bound.keys, place, fields.values.values())
    return lift_rows(values, place, fields.all, "piece")


def place_in_pieces(
    bound: Placed, rows: DataFrame, cut: Granules, kept: Sequence[str]
) -> DataFrame:
    """Rows that are in a window: keys, ``piece`` (its granule's start), ``kept``, ``ending``."""
    place = [*bound.keys, f"{slice_start(cut, 't')} as piece"]
    return select_with_ending(bound, rows, bound.late_after, [*place, *kept])


def copy_granules(
    bound: Placed, pieces: Relation, cut: Granules, more: More | None = None, *, ahead: int = 0
) -> Relation:
    """Copy each granule to each of its windows, as :func:`copy_pieces`, with ``ending``."""
    upto = f"({slice_end(cut, 'piece')} - 1L) as upto"
    here = pieces.with_places(upto, "piece", place=["upto", "piece"])
    copies = copy_pieces(bound, here, "upto", more, ahead=ahead)
    return add_ending(bound, copies, window_end_by(bound.grids, "start"))


def _copy_carried(bound: Placed, pieces: Relation, cut: Granules) -> Relation:
    """Copies in windows that begin earlier than they are said to, for what is carried into them.

    All other fields have only what lies in a window itself.
    """

    def more(start: str, query: int, _: str) -> dict[str, str]:
        return {"begun": bound.begun(start, query)}

    copies = copy_granules(bound, pieces, cut, more)
    own = [
        one.name if one.monoid.carry else f"if(piece >= begun, {one.name}, null) as {one.name}"
        for one in pieces.fields
    ]
    kept = [*copies.keys, *copies.place, *own]
    return copies.with_df(copies.df.selectExpr(*kept), *copies.place)


def copy_rows(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Windows from copies of each row in each of its windows: Spark's own way."""
    bound = seal(bound, fields, chosen)
    df = select_points(bound, fields).selectExpr(*bound.keys, "t", *fields.lifting)
    rows = copy_pieces(bound, Relation.of_rows(df, bound.keys, ["t"], fields.values.values()), "t")
    rows = add_ending(bound, rows, window_end(bound.grid, "start"))
    return lift_rows(rows, rows.place, fields.all, "start").df


def roll_up_cells(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Windows from cells: events lifted by cell, each cell copied to windows once complete."""
    bound = seal(bound, fields, chosen)
    rows, which = _move_to_cells(bound, select_events(bound, fields)), bound.query_columns
    cells = lift_or_count(rows, rows.place, fields.all, "last_at")
    if chosen.way is ways.CELL_COPIES:
        copies = copy_events(bound, cells)
    else:
        spread = copy_to_dyadics(add_ranges(bound, cells), which)
        spread = add_ending(bound, spread, window_end_of(bound, first_of_dyadic()))
        copies = push_to_windows(spread.combine(*spread.place), which)
    copies = add_ending(bound, copies, window_end_of(bound, "number"))
    return start_from_number(bound, copies.combine(*copies.place).lift_counts()).df


def fill_buckets(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Windows from copies of each event: the paper's aggregate buckets, and Spark's own way."""
    bound = seal(bound, fields, chosen)
    return _fill_buckets(bound, fields, copy_events(bound, select_to_copy(bound, fields)))


def keep_events(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Windows from copies of each event, made once it is known to be late in none of them.

    Events of a cell are kept together until the watermark has passed the end of its first window.
    """
    bound = seal(bound, fields, chosen)
    rows = _move_to_cells(bound, select_to_copy(bound, fields))
    whole = f"collect_list(struct({', '.join(rows.parts)}))"
    kept = group_rows(rows.df, [*rows.keys, *rows.place], [("events", whole)])
    events = rows.with_df(kept.selectExpr(*rows.keys, *ENDS, "inline(events)"), *ENDS)
    return _fill_buckets(bound, fields, copy_events(bound, events))


def _move_to_cells(bound: Placed, events: Relation) -> Relation:
    """Events in cells, with when each is complete; without those that are in no window."""
    rows = events.df.selectExpr("*", f"{bound.late_after} as soonest").filter("soonest is not null")
    cells = move_to_cells(bound, events.with_df(rows, *ENDS, "soonest"))
    kept = [*cells.keys, *ENDS, *cells.parts]
    return cells.with_df(select_with_ending(bound, cells.df, "soonest", kept), *ENDS, "ending")


def _fill_buckets(bound: Placed, fields: Fields, copies: Relation) -> DataFrame:
    copies = lift_copies(bound, fields, add_ending(bound, copies, window_end_of(bound, "number")))
    origin = window_start_of(bound, "number")
    windows = lift_or_count(copies, copies.place, fields.all, origin).lift_counts()
    return start_from_number(bound, windows).df
