"""Frames of a batch in chunks, so that the rows of one key can be in many tasks.

Rows are divided by ranges of key and time, and each task cuts its chunk into frames. Where frames
depend on neighbouring rows alone, only those at the seams are not known there: the last frame of a
chunk may go on in the next one. A pass over frames, not rows, joins them and numbers all.

A chunk says of its first row which frame it could go on with, whether it is in one or not
(``HEAD``), and which of its frames was open at its end (``TAIL``); both with the inputs of the
scheme, of its first and of its last row.
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

from fanlight.engine.operators.frames.operator import FrameQuery
from fanlight.engine.operators.protocol import COMPLETE, BatchOperator
from fanlight.engine.spark.binding.frames import FrameBound
from fanlight.engine.spark.fields import Fields, combine_sql
from fanlight.engine.spark.lift import lift_units
from fanlight.engine.spark.ordered.frame_native import cell_sql, drop_small_frames
from fanlight.engine.spark.ordered.frames import kept_fields, plan_pass, prepare_rows
from fanlight.engine.spark.ordered.host import numbers, run_operator
from fanlight.engine.spark.sql import group_rows, over_clause, types_in

INSIDE, HEAD, TAIL = 0, 1, 2
AT = "at_"  # before the name of an input of the scheme: its value in the row at a seam


@dataclass(frozen=True)
class FrameChunks(BatchOperator):
    """The function that Spark maps over the sorted rows of a chunk.

    Its results are frames with the number of the chunk and, in ``edge``, what they are at its ends.
    """

    query: FrameQuery

    def results(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
        """The frames of each part, and what is at the ends of the chunk."""
        operator, head, last = self.query.start(), None, None
        for rows, watermark in self._parts(batches, operator):
            if len(rows):
                head = rows.slice(0, 1) if head is None else head
                last = rows.slice(len(rows) - 1)
            found = operator.take(rows, watermark)
            if found is not None:
                edges = np.full(len(found), INSIDE)
                if watermark == COMPLETE and last is not None:
                    edges[_are_of(found, last, self.query.keys)] = TAIL
                yield self._with_seam(found, edges, last)
        if head is not None:
            yield self._with_seam(self._frame_of(head), np.array([HEAD]), head)

    def _frame_of(self, head: pa.Table) -> pa.Table:
        """The first row of a chunk as a frame without rows, before all others."""
        given = {
            "frame": pa.array([-1]), "start": head["t"], "ending": head["t"], "rows": pa.array([0]),
            "closed": pa.array([False]), **{name: head[name] for name in self.query.keys},
        }  # fmt: skip
        columns = [given.get(one.name, pa.nulls(1, one.type)) for one in self.out]
        return pa.table(columns, names=self.out.names)

    def _with_seam(self, found: pa.Table, edges: Any, row: pa.Table | None) -> pa.Table:
        """Frames with what they are at the ends of the chunk, and the inputs of a row there."""
        context = TaskContext.get()
        number = 0 if context is None else context.partitionId()
        columns = {name: found[name] for name in found.column_names}
        columns |= {"chunk": pa.array(np.full(len(found), number)), "edge": pa.array(edges)}
        at = pa.array(np.zeros(len(found), np.int64), mask=edges == INSIDE)
        for name in self.query.inputs:
            kind = self.out.field(f"{AT}{name}").type
            columns[f"{AT}{name}"] = (
                pa.nulls(len(found), kind) if row is None else row[name].take(at)
            )
        return pa.table([columns[name] for name in self.out.names], names=self.out.names)


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
    in_order = over_clause(keys, "chunk, frame")
    so_far = over_clause(keys, "chunk, frame", "rows unbounded preceding")
    inputs = tuple(name for name in pieces.columns if name.startswith(AT))
    cell = "1" if scheme.kind == "every" else cell_sql(scheme, inputs, "")
    goes_on = f"start <= lag(ending) {in_order}" if scheme.timing else "true"
    after_open = f"edge = {HEAD} and lag(edge) {in_order} = {TAIL}"
    alike = f"cell is not null and cell <=> lag(cell) {in_order}"
    texts = [
        f"coalesce({after_open} and {alike} and {goes_on}, false) as joined",
        f"if(edge = {TAIL}, lead(start) {in_order}, null) as following",
    ]
    pieces = pieces.selectExpr("*", f"{cell} as cell").selectExpr("*", *texts)
    begins = f"edge <> {HEAD} and not coalesce(lag(joined) {in_order}, false)"
    pieces = pieces.selectExpr("*", f"{begins} as begins")
    pieces = pieces.selectExpr("*", f"count_if(begins) {so_far} as number")
    ended = "if(closed, least(ending, following), following)"
    pieces = pieces.filter(f"edge <> {HEAD}").selectExpr(
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
    whole = whole.selectExpr(
        *keys, "number - 1L as frame", "start", "ending", "rows", "closed", *names
    )
    return drop_small_frames(bound, whole, names)
