"""Frames of a batch in chunks, so that the rows of one key can be in many tasks.

Rows are divided by ranges of key and time, and each task cuts its chunk into frames. Where frames
depend on neighbouring rows alone, only those at the seams are not known there: the last frame of a
chunk may go on in the next one. A pass over frames, not rows, joins them and numbers all. If rows
are asked for, they go through that pass themselves, with their numbers in their chunk.

A chunk leaves two marks: ``HEAD``, its first row, and ``END``, its last one, each with the inputs
of the scheme there. ``END`` also says how many frames its key has had in the chunk; the last of
them is ``TAIL``. Marks are few, so each task of that pass is given all of them, and some of the
frames or rows: those of one key are in many tasks there, too.

It sorts by chunk and edge alone: all between two marks are given the same offset to their numbers,
the frames in earlier chunks, less those that have been joined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql import DataFrame

from fanlight.engine.operators.arrow_tables import encode_keys, with_column
from fanlight.engine.operators.frames.operator import FrameQuery
from fanlight.engine.operators.protocol import COMPLETE, BatchOperator
from fanlight.engine.spark.binding.frames import FrameBound
from fanlight.engine.spark.fields import Fields, combine_sql
from fanlight.engine.spark.lift import lift_units
from fanlight.engine.spark.ordered.frame_native import cell_sql, drop_small_frames
from fanlight.engine.spark.ordered.frames import (
    Pass,
    kept_fields,
    plan_numbering,
    plan_pass,
    prepare_rows,
    restore_names,
)
from fanlight.engine.spark.ordered.host import numbers, run_operator
from fanlight.engine.spark.sql import group_rows, over_clause, types_in

HEAD, INSIDE, TAIL, END = range(4)  # in their order in a chunk
FOUND = f"edge in ({INSIDE}, {TAIL})"  # SQL: it is not a mark
AT = "at_"  # before the name of an input of the scheme: its value in the row of a mark
PARTS = 64  # into which frames, or rows, are divided, each with all marks


@dataclass(frozen=True)
class FrameChunks(BatchOperator):
    """The function that Spark maps over the sorted rows of a chunk.

    Its results are frames, or rows with the numbers of theirs, and marks: with the number of the
    chunk, the part of the pass over seams that is given them and, in ``edge``, what they are.
    """

    query: FrameQuery

    def results(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
        """The frames of each part, or its rows with their numbers, and the marks of the chunk."""
        operator, keys, many = self.query.start(), self.query.keys, 0
        head: pa.Table | None = None
        last: pa.Table | None = None
        for rows, watermark in self._parts(batches, operator):
            if len(rows):
                before, head = last, rows.slice(0, 1) if head is None else head
                last = rows.slice(len(rows) - 1)
                many = many if before is not None and _are_of(before, last, keys).all() else 0
            found = operator.take(rows, watermark)
            if found is None or last is None:
                continue
            edges, same = np.full(len(found), INSIDE), _are_of(found, last, keys)
            highest = pc.max(found["frame"].filter(pa.array(same))).as_py()
            many = many if highest is None else highest + 1
            if watermark == COMPLETE:
                edges[same] = TAIL
            yield self._with_edges(found, edges)
        if head is not None and last is not None:
            yield self._mark(HEAD, head, -1)
            yield self._mark(END, last, many)

    def _mark(self, edge: int, row: pa.Table, frame: int) -> pa.Table:
        """A row at an end of the chunk as a frame without rows, once for each part.

        It keeps its own values: of a struct whose fields are never null, Arrow casts no nulls.
        """
        given = {name: row[name] for name in row.column_names}
        given |= {f"{AT}{name}": row[name] for name in self.query.inputs}
        given |= {"frame": pa.array([frame]), "start": row["t"]}
        mark = self._with_edges(given, np.array([edge])).take(pa.array(np.zeros(PARTS, np.int64)))
        return with_column(mark, "part", pa.array(np.arange(PARTS)))

    def _with_edges(self, found: Any, edges: Any) -> pa.Table:
        """Frames or rows with what they are in the chunk, its number, and the part that has them.

        What is not given is null.
        """
        context, count = TaskContext.get(), len(edges)
        number = 0 if context is None else context.partitionId()
        given = {"chunk": np.full(count, number), "part": np.full(count, number % PARTS)}
        given = {name: pa.array(values) for name, values in {**given, "edge": edges}.items()}
        given |= {name: found[name] for name in getattr(found, "column_names", found)}
        columns = [given.get(one.name, pa.nulls(count, one.type)) for one in self.out]
        return pa.table(columns, names=self.out.names)


def _are_of(frames: pa.Table, row: pa.Table, keys: Sequence[str]) -> Any:
    """Which frames are of the key of a row."""
    if not keys:
        return np.ones(len(frames), np.bool_)
    codes, _ = encode_keys(row.select(keys), frames.select(keys))
    return codes == 0


def frames(bound: FrameBound, fields: Fields) -> DataFrame:
    """Frames: keys, ``frame``, ``start``, ``ending``, ``rows``, ``closed``, partials."""
    whole = replace(bound, scheme=replace(bound.scheme, min_rows=1, min_duration=0))
    rows = prepare_rows(whole, fields)
    units = lift_units(rows.df, kept_fields(fields), fields.values_by_name)
    made = plan_pass(whole, fields, rows, units)
    return _join(bound, fields, _cut(whole, fields, rows.df, made))


def rows(bound: FrameBound) -> DataFrame:
    """The rows unchanged, with the number of their frame."""
    fields = Fields()
    payload = fields.add_columns(bound.df)
    rows = prepare_rows(bound, fields)
    made = plan_numbering(bound, rows, (*payload, *bound.keys))
    numbered = _number(bound, _cut(bound, fields, rows.df, made)).filter(FOUND)
    return restore_names(bound, payload, numbered.selectExpr(*payload, "number as frame"))


def _cut(bound: FrameBound, fields: Fields, rows: DataFrame, made: Pass) -> DataFrame:
    """What a pass finds in each chunk of prepared rows, and what is at its ends."""
    # Rows of one time stay together, so that their order is decided within a task.
    ranges, order = (*bound.keys, "t"), (*bound.keys, *made.hosted.order)
    hosted = replace(made.hosted, ranges=ranges, order=order, function=FrameChunks)
    given = made.given | numbers("start", "chunk", "part", "edge")
    given |= {f"{AT}{name}": name for name in made.inputs}
    return run_operator(bound, fields, rows, made.query, given, hosted, made.counts)


def _number(bound: FrameBound, pieces: DataFrame) -> DataFrame:
    """Add ``number`` to frames or rows of chunks: that of the frame among all of its key.

    Each of them comes between the marks of its chunk, in whatever order.
    """
    scheme, within = bound.scheme, ("part", *bound.keys)
    in_order = over_clause(within, "chunk, edge")
    so_far = over_clause(within, "chunk, edge", "rows unbounded preceding")
    inputs = tuple(name for name in pieces.columns if name.startswith(AT))
    cell = "1" if scheme.kind == "every" else cell_sql(scheme, inputs, "")
    gap = scheme.timing and scheme.timing.gap
    goes_on = "true" if gap is None else f"start <= lag(start) {in_order} + {gap}L"
    after_end = f"edge = {HEAD} and lag(edge) {in_order} = {END}"
    alike = f"cell is not null and cell <=> lag(cell) {in_order}"
    joined = f"coalesce({after_end} and {alike} and {goes_on}, false) as joined"
    pieces = pieces.selectExpr("*", f"{cell} as cell").selectExpr("*", joined)
    earlier = f"sum(if(edge = {END}, frame, 0L)) {so_far} - count_if(joined) {so_far}"
    return pieces.selectExpr("*", f"frame + {earlier} as number")


def _join(bound: FrameBound, fields: Fields, pieces: DataFrame) -> DataFrame:
    """Frames whose pieces in several chunks are one, numbered."""
    keys, names = bound.keys, fields.names
    in_order = over_clause(("part", *keys), "chunk, edge")
    # The end of the chunk is next, and then the head of the next one.
    following = f"if(edge = {TAIL}, lead(start, 2) {in_order}, null) as following"
    pieces = _number(bound, pieces.selectExpr("*", following))
    ended = "if(closed, least(ending, following), following)"
    pieces = pieces.filter(FOUND).selectExpr(
        *keys, "number", "chunk", "start", "rows",
        f"if(following is null, ending, {ended}) as ending",
        "(closed or following is not null) as closed", *names,
    )  # fmt: skip
    types = types_in(pieces)
    combined = [
        ("start", "min(start)"), ("ending", "max_by(ending, chunk)"), ("rows", "sum(rows)"),
        ("closed", "max_by(closed, chunk)"),
        *((field.name, combine_sql(field, types[field.name])) for field in fields.all),
    ]  # fmt: skip
    whole = group_rows(pieces, [*keys, "number"], combined)
    whole = whole.selectExpr(*keys, "number as frame", "start", "ending", "rows", "closed", *names)
    return drop_small_frames(bound, whole, names)
