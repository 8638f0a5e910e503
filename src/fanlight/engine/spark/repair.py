"""``roll_up_late``: the windows that late rows change, made anew of stored pieces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import Aggregate
from fanlight.engine.algebra.library.totals import sum as summed
from fanlight.engine.algebra.sql_text import quote
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.coordinates import coordinate
from fanlight.engine.spark.cuts import block_of_reach, reach
from fanlight.engine.spark.foreign_frames import in_kind
from fanlight.engine.spark.pieces import PieceTable
from fanlight.engine.spark.roll_up import bind_pieces
from fanlight.engine.spark.sql import expr, free_name, project, type_text
from fanlight.engine.spark.stored_results import check_results
from fanlight.engine.spec.errors import explain_wrong_calls, refuse
from fanlight.engine.spec.granular import MultiGranular
from fanlight.engine.spec.trailing import Trailing
from fanlight.types import DataFrameLike

if TYPE_CHECKING:
    from fanlight.engine.spec.sliding import Sliding


@explain_wrong_calls("fl.roll_up_late(pieces, late_pieces, fl.Sliding('7 days', '1 day'))")
@in_kind
def roll_up_late(
    pieces: DataFrameLike,
    late_pieces: DataFrameLike,
    spec: Sliding | MultiGranular | Sequence[Sliding],
    results: DataFrameLike | None = None,
    *,
    aggregates: Sequence[Aggregate] = (),
) -> DataFrame:
    """Compute the windows that late rows change, and no others, from stored and late pieces.

    Write them by key and window over the stored results, which are then the same as after one batch
    over all rows. The windows of a late piece follow from its time by arithmetic, so only the
    stored pieces of these windows are aggregated.

    Parameters
    ----------
    pieces
        The table of pieces without those of ``late_pieces``, as :func:`fanlight.roll_up` takes it.
    late_pieces
        The pieces of the late rows, made by the same call of
        :meth:`fanlight.SlidingWindows.pieces` over them. Their rows are added to what is stored.
    spec
        The windows of the stored results, as for :func:`fanlight.roll_up`.
    results
        The stored table of results. Its rows are not read: its columns and their types are compared
        with those of the repair.
    aggregates
        Your own aggregates whose partials are in the tables.

    Returns
    -------
    DataFrame
        The columns of ``fl.roll_up(pieces, spec)``, a row for each window that a late piece is in,
        also for one that only late rows make. Write it by the keys, ``window`` and, if there are
        several kinds of windows, ``level`` or ``query``; for example with :func:`fanlight.upsert`.

    Raises
    ------
    FanlightError
        If ``pieces`` or ``late_pieces`` is not a table of pieces, or they are not of one length,
        with the same keys and aggregates; if windows begin or end within a piece; if ``results``
        has other columns than the repair; for windows with ``changes_only``, where a late row also
        decides which results are given.

    Notes
    -----
    Cost: a pass over keys and times of the stored pieces, and the windows over those pieces that
    are at most one RANGE from a late one of their key.

    See Also
    --------
    Li et al., *No Pane, No Gain*, section 3.

    Examples
    --------
    >>> import fanlight as fl
    >>> from fanlight import agg
    >>> bids = spark.sql("SELECT timestamp_seconds(id) AS ts, id AS price FROM range(600)")
    >>> minutes = fl.Sliding("1 minute")
    >>> stored = fl.over(bids, minutes, time="ts").pieces(high=agg.max("price"))
    >>> more = spark.sql("SELECT timestamp_seconds(61) AS ts, 999L AS price")
    >>> late = fl.over(more, minutes, time="ts").pieces(high=agg.max("price"))
    >>> repaired = fl.roll_up_late(stored, late, fl.Sliding("2 minutes", "1 minute"))
    >>> [(row.window.start.minute, row.high) for row in repaired.orderBy("window").collect()]
    [(0, 999), (1, 999)]

    """
    table = PieceTable.of(pieces, "roll_up_late(pieces=", "pieces")
    further = PieceTable.of(late_pieces, "roll_up_late(late_pieces=", "late_pieces")
    if isinstance(spec, (Trailing, Mapping)):
        raise refuse(
            f"roll_up_late(pieces, late_pieces, {spec!r})",
            "has windows of the rows that ask, of which none is stored here",
            "append the late pieces, and ask again: fl.roll_up(pieces, spec, spine=…, time=…)",
        )
    if isinstance(spec, MultiGranular) and spec.changes_only:
        raise refuse(
            f"roll_up_late(pieces, late_pieces, {spec!r})",
            "would have to take back results that are no changes any more",
            "leave changes_only out, or write fl.roll_up(pieces, spec) anew",
        )
    _check_alike(table, further)
    calls = table.merging_calls(aggregates)
    stored, at = table.select_rows()
    added = project(further.select_rows()[0], _columns_of(further, table, at))
    asked = f"roll_up_late(pieces, late_pieces, {spec!r})"
    bound = bind_pieces(table, stored, at, spec, asked)._bound  # noqa: SLF001 - of this house
    names = [*bound.names, *bound.window_columns, *(call.label for call in calls)]
    mark = free_name("late", [*stored.columns, *names])
    near = _pieces_near(stored, added, bound, at)
    both = _with_mark(near, mark, "cast(null as bigint)").unionAll(_with_mark(added, mark, "1L"))
    # It stays null where there is no late piece, also where windows weight some of them by 0.
    marked = bind_pieces(table, both, at, spec, asked).agg(*calls, summed(mark).alias(mark))
    found = marked.where(expr(marked, f"{quote(mark)} is not null")).drop(mark)
    if results is not None:
        write = "write fl.roll_up(pieces, spec) into it once, then repair it"
        check_results(results, found, write)
    return found


def _columns_of(late: PieceTable, table: PieceTable, at: str) -> list[tuple[str, str]]:
    """The columns of late pieces as rows, named and in the order of those of the stored ones."""
    kept = [*table.pieces.by, *(one.label for one in table.stored)]
    time = free_name(late.pieces.time, late.df.columns)
    return [*((quote(name), name) for name in kept), (quote(time), at)]


def _with_mark(rows: DataFrame, mark: str, text: str) -> DataFrame:
    return rows.select("*", expr(rows, text).alias(mark))


def _pieces_near(stored: DataFrame, late: DataFrame, bound: Placed, at: str) -> DataFrame:
    """The stored pieces that windows hold which hold a late one of the same key.

    Keys alone would not divide a table of one key, so rows also meet by the block of time.
    """
    taken = list(stored.columns)

    def free(name: str) -> str:
        taken.append(free_name(name, taken))
        return taken[-1]

    t = coordinate(bound.coordinate, quote(at))
    same = {name: free(f"late_{name}") for name in bound.names}
    begin, end, block, late_block = map(free, ("begin", "end", "block", "late_block"))
    first_held, after_held = reach(bound.grids, t)
    keys = [(quote(name), other) for name, other in same.items()]
    runs = project(late, [*keys, (first_held, begin), (f"{after_held} - 1L", end)])
    ends = [quote(begin), quote(end)]
    blocks = ", ".join([block_of_reach(bound.grids, one) for one in ends])
    held = expr(runs, f"explode(array_distinct(array({blocks})))").alias(late_block)
    placed = stored.select("*", expr(stored, block_of_reach(bound.grids, t)).alias(block))
    meet = [
        *(f"{quote(name)} <=> {quote(other)}" for name, other in same.items()),
        f"{quote(block)} = {quote(late_block)}",
        f"{t} between {' and '.join(ends)}",
    ]
    on = expr(placed, " and ".join(meet))
    return placed.join(runs.select("*", held), on, "left_semi").drop(block)


def _check_alike(table: PieceTable, late: PieceTable) -> None:
    """Refuse late pieces that are not what is stored: of other lengths, keys or aggregates."""
    again = "make late_pieces by the same call as the stored pieces: fl.over(rows, …).pieces(…)"
    ours, theirs = table.pieces, late.pieces
    if theirs.by != ours.by:
        raise refuse(
            "late_pieces",
            f"has the keys {list(theirs.by)!r}, the stored pieces {list(ours.by)!r}",
            again,
        )
    kinds = {"their time": (late.time_type, table.time_type)}
    for name in (*ours.by, *(one.label for one in table.stored)):
        if name in late.df.columns:
            given, stored = (one.df.schema[name].dataType for one in (late, table))
            kinds[repr(name)] = type_text(given), type_text(stored)
    has = {one.label: one for one in late.stored}
    for one in table.stored:
        if one.label not in has:
            raise refuse(
                "late_pieces", f"lacks the aggregate {one.label!r} of the stored pieces", again
            )
        if has[one.label] != one:
            why = f"has another aggregate {one.label!r} than the stored pieces"
            raise refuse("late_pieces", why, again)
    for name, (theirs_type, ours_type) in kinds.items():
        if theirs_type != ours_type:
            why = f"is of type {theirs_type} in {name}, the stored pieces of {ours_type}"
            raise refuse("late_pieces", why, again)
    if (theirs.length, theirs.offset) != (ours.length, ours.offset):
        measured = "time" if table.coordinate.is_timestamp else "number"
        lengths = [one.write_length(measured) for one in (theirs, ours)]
        same = lengths[0] == lengths[1]
        cut = "cut elsewhere than those stored" if same else f"the table of {lengths[1]}"
        raise refuse("late_pieces", f"has pieces of {lengths[0]}, {cut}", again)
