"""Frames of a batch in chunks, so that the rows of one key can be in many tasks.

Rows are divided by ranges of key and time, and each task cuts its chunk into frames. Where frames
depend on neighbouring rows alone, only those at the seams are not known there: the last frame of a
chunk may go on in the next one. A pass over frames, not rows, joins them and numbers all.

A chunk leaves two marks: ``HEAD``, its first row, and ``END``, its last one, each with the inputs
of the scheme there. ``END`` also says how many frames its key has had in the chunk, and whether the
last of them (``TAIL``) is open. Marks are few, so each task of that pass is given all of them, and
some of the frames: frames of one key are in many tasks there, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql import DataFrame

from fanlight.engine.operators.arrow_tables import ints
from fanlight.engine.operators.frames.operator import FrameQuery
from fanlight.engine.operators.protocol import COMPLETE, BatchOperator
from fanlight.engine.spark.binding.frames import FrameBound
from fanlight.engine.spark.fields import Fields, combine_sql
from fanlight.engine.spark.lift import lift_units
from fanlight.engine.spark.ordered.frame_native import cell_sql, drop_small_frames
from fanlight.engine.spark.ordered.frames import kept_fields, plan_pass, prepare_rows
from fanlight.engine.spark.ordered.host import numbers, run_operator
from fanlight.engine.spark.sql import group_rows, over_clause, types_in

INSIDE, TAIL, HEAD, END = range(4)
AT = "at_"  # before the name of an input of the scheme: its value in the row of a mark
PARTS = 64  # into which frames are divided, each with all marks


@dataclass(frozen=True)
class FrameChunks(BatchOperator):
    """The function that Spark maps over the sorted rows of a chunk.

    Its results are frames and marks, with the number of the chunk and, in ``edge``, what they are.
    """

    query: FrameQuery

    def results(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
        """The frames of each part, and the marks of the chunk."""
        operator, keys, many = self.query.start(), self.query.keys, 0
        head: pa.Table | None = None
        last: pa.Table | None = None
        ending = None
        for rows, watermark in self._parts(batches, operator):
            if len(rows):
                before, head = last, rows.slice(0, 1) if head is None else head
                last = rows.slice(len(rows) - 1)
                many = many if before is not None and _are_of(before, last, keys).all() else 0
            found = operator.take(rows, watermark)
            if found is None or last is None:
                continue
            edges, same = np.full(len(found), INSIDE), _are_of(found, last, keys)
            if same.any():
                many = int(np.max(ints(found["frame"])[same])) + 1
                if watermark == COMPLETE:
                    edges[same], ending = TAIL, found["ending"].filter(pa.array(same))
            yield self._with_edges(found, edges)
        if head is not None and last is not None:
            yield self._mark(HEAD, head, -1)
            yield self._mark(END, last, many, ending)

    def _mark(self, edge: int, row: pa.Table, frame: int, ending: Any = None) -> pa.Table:
        """A row at an end of the chunk as a frame without rows, in its place among the others."""
        nothing = pa.nulls(1, pa.int64())
        given = {
            "frame": pa.array([frame]), "start": row["t"], "rows": pa.array([0]),
            "ending": nothing if ending is None else ending, "closed": pa.array([False]),
            **{name: row[name] for name in self.query.keys},
            **{f"{AT}{name}": row[name] for name in self.query.inputs},
        }  # fmt: skip
        return self._with_edges(given, np.array([edge]))

    def _with_edges(self, found: Any, edges: Any) -> pa.Table:
        """Frames with what they are in the chunk, and its number; what is not given is null."""
        context, count = TaskContext.get(), len(edges)
        number = 0 if context is None else context.partitionId()
        of_chunk = {"chunk": pa.array(np.full(count, number)), "edge": pa.array(edges)}
        given = of_chunk | {name: found[name] for name in getattr(found, "column_names", found)}
        columns = [given.get(one.name, pa.nulls(count, one.type)) for one in self.out]
        return pa.table(columns, names=self.out.names)


def _are_of(frames: pa.Table, row: pa.Table, keys: Iterable[str]) -> Any:
    """Which frames are of the key of a row."""
    same = np.ones(len(frames), np.bool_)
    for name in keys:
        value = row[name].combine_chunks()[0]
        if value.as_py() is None:
            same &= np.asarray(frames[name].is_null())
        else:
            same &= np.asarray(pc.equal(frames[name], value).fill_null(False))  # noqa: FBT003
    return same


def frames(bound: FrameBound, fields: Fields) -> DataFrame:
    """Frames: keys, ``frame``, ``start``, ``ending``, ``rows``, ``closed``, partials."""
    scheme = bound.scheme
    whole = replace(bound, scheme=replace(scheme, min_rows=1, min_duration=0))
    return _join(bound, fields, _cut(whole, fields))


def _cut(bound: FrameBound, fields: Fields) -> DataFrame:
    """The frames of each chunk, and what is at its ends."""
    rows = prepare_rows(bound, fields)
    units = lift_units(rows.df, kept_fields(fields), fields.values_by_name)
    made = plan_pass(bound, fields, rows, units)
    # Rows of one time stay together, so that their order is decided within a task.
    ranges = (*bound.keys, "t")
    hosted = replace(made.hosted, ranges=ranges, order=(*ranges, *rows.order), function=FrameChunks)
    given = made.given | numbers("chunk", "edge") | {f"{AT}{name}": name for name in made.inputs}
    return run_operator(bound, fields, rows.df, made.query, given, hosted, made.counts)


def _join(bound: FrameBound, fields: Fields, pieces: DataFrame) -> DataFrame:
    """Frames whose pieces in several chunks are one, numbered."""
    keys, scheme, names = bound.keys, bound.scheme, fields.names
    marks = f"edge in ({HEAD}, {END})"
    parts = f"if({marks}, sequence(0L, {PARTS - 1}L), array(pmod(chunk, {PARTS}L)))"
    pieces = pieces.selectExpr("*", f"explode({parts}) as part")
    in_order = over_clause(("part", *keys), "chunk, frame")
    so_far = over_clause(("part", *keys), "chunk, frame", "rows unbounded preceding")
    inputs = tuple(name for name in pieces.columns if name.startswith(AT))
    cell = "1" if scheme.kind == "every" else cell_sql(scheme, inputs, "")
    goes_on = f"start <= lag(ending) {in_order}" if scheme.timing else "true"
    after_open = f"edge = {HEAD} and lag(edge) {in_order} = {END}"
    alike = f"cell is not null and cell <=> lag(cell) {in_order}"
    is_open = f"lag(ending) {in_order} is not null"
    texts = [
        f"coalesce({after_open} and {is_open} and {alike} and {goes_on}, false) as joined",
        # The end of the chunk is next, and then the head of the next one.
        f"if(edge = {TAIL}, lead(start, 2) {in_order}, null) as following",
    ]
    pieces = pieces.selectExpr("*", f"{cell} as cell").selectExpr("*", *texts)
    earlier = f"sum(if(edge = {END}, frame, 0L)) {so_far} - count_if(joined) {so_far}"
    pieces = pieces.selectExpr("*", f"frame + {earlier} as number")
    ended = "if(closed, least(ending, following), following)"
    pieces = pieces.filter(f"not {marks}").selectExpr(
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
