"""Frames of a batch, in one pass over rows that are sorted by time.

Spark sorts rows by time, not by key and time: that is several times faster, above all if rows come
almost in order. Here each chunk of rows is grouped by key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain

import numpy as np
import pyarrow as pa

from fanlight.engine.operators.arrow_tables import Ints
from fanlight.engine.operators.frames.framer import Found, Framer
from fanlight.engine.operators.frames.query import FrameQuery
from fanlight.engine.operators.protocol import BEGINNING

CHUNK = 200_000  # rows handled at a time; more if there are more keys


class FrameBatches:
    """The function that Spark maps over the batches of a partition."""

    def __init__(self, query: FrameQuery) -> None:
        self.query = query

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Frames, or rows with the numbers of their frames."""
        coming = iter(batches)
        first = next((batch for batch in coming if batch.num_rows), None)
        if first is None:
            return
        # Take the schema from Spark, whose times are in the time zone of the Spark session.
        framer = Framer(replace(self.query, schema=first.schema))
        for rows in concatenate_batches(chain([first], coming), lambda: framer.assembly.slots):
            yield from self._output_batches(framer.take(rows, argsort_slots))
            for found in framer.forget(BEGINNING):  # lives that others have followed
                yield from self._output_batches(found)
        for found in framer.finish():
            yield from self._output_batches(found)

    def _output_batches(self, found: Found) -> Iterator[pa.RecordBatch]:
        query, (numbered, frames) = self.query, found
        if numbered is None:
            yield from frames.to_batches()
            return
        # All output tables need the same schema, nullability included.
        numbered = pa.table(numbered.columns, names=numbered.column_names)
        if not query.closings:
            yield from numbered.to_batches()
            return
        numbered = numbered.filter(numbered["frame"].is_valid())  # other rows are in no frame
        yield from numbered.append_column(
            "ending", pa.nulls(len(numbered), pa.int64())
        ).to_batches()
        frames = frames.filter(frames["closed"])
        if len(frames):  # rows that only tell the end of their frame
            columns = {name: pa.nulls(len(frames), numbered[name].type) for name in query.payload}
            columns |= {name: frames[name] for name in (*query.keys, "frame", "ending")}
            yield from pa.table(columns).select([*numbered.column_names, "ending"]).to_batches()


def concatenate_batches(
    batches: Iterable[pa.RecordBatch], slots: Callable[[], int]
) -> Iterator[pa.Table]:
    """Concatenate record batches to chunks so large that the cost per chunk and slot is small."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
            rows += batch.num_rows
        if rows >= max(CHUNK, slots()):
            yield pa.Table.from_batches(held).combine_chunks()
            held, rows = [], 0
    if held:
        yield pa.Table.from_batches(held).combine_chunks()


def argsort_slots(slots: Ints) -> Ints:
    """The permutation that sorts rows by slot, stably."""
    # NumPy sorts numbers of 16 bits by radix, which is faster.
    short = slots.astype(np.uint16) if len(slots) and slots.max() < 2**16 else slots
    order: Ints = np.argsort(short, kind="stable").astype(np.int64, copy=False)
    return order
