"""Frames of a batch: the rows of some keys, sorted by time, pass through once.

Rows are sorted by time rather than by key and time: Spark does that in a fraction of the time, the
more so where rows come almost in order. A stretch of rows is then put in order of keys here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain

import numpy as np
import pyarrow as pa

from fanlight.kernels.pieces import NEVER
from fanlight.operators.frames.framer import Framer
from fanlight.operators.frames.query import FrameQuery
from fanlight.operators.tables import Ints

STRETCH = 200_000  # rows that are worked on at once, or as many as there are keys


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
        # The schema as it comes: times are in the session's zone.
        framer = Framer(replace(self.query, schema=first.schema))
        for rows in gathered(chain([first], coming), lambda: framer.assembly.slots):
            yield from self._out(*framer.take(rows, side_by_side), closed=True)
        if self.query.scheme.timing:  # a batch is complete: every deadline has come
            yield from self._out(*framer.expire(NEVER - 1), closed=True)
        yield from self._out(*framer.finish(), closed=False)

    def _out(
        self, tagged: pa.Table | None, frames: pa.Table, *, closed: bool
    ) -> Iterator[pa.RecordBatch]:
        query = self.query
        if tagged is None:
            at = frames.schema.get_field_index("rows") + 1
            state = pa.array(np.full(len(frames), closed))
            yield from frames.add_column(at, "closed", state).to_batches()
            return
        # All that goes out has one schema, whatever is said of what may be null.
        tagged = pa.table(tagged.columns, names=tagged.column_names)
        if not query.closings:
            yield from tagged.to_batches()
            return
        tagged = tagged.filter(tagged["frame"].is_valid())  # the others are in no frame
        yield from tagged.append_column("ending", pa.nulls(len(tagged), pa.int64())).to_batches()
        if closed and len(frames):  # nothing of these rows but their frame's end counts
            columns = {name: pa.nulls(len(frames), tagged[name].type) for name in query.payload}
            columns |= {name: frames[name] for name in (*query.keys, "frame", "ending")}
            yield from pa.table(columns).select([*tagged.column_names, "ending"]).to_batches()


def gathered(batches: Iterable[pa.RecordBatch], slots: Callable[[], int]) -> Iterator[pa.Table]:
    """Batches put together, so that what is done once a stretch, or slot, does not count."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
            rows += batch.num_rows
        if rows >= max(STRETCH, slots()):
            yield pa.Table.from_batches(held).combine_chunks()
            held, rows = [], 0
    if held:
        yield pa.Table.from_batches(held).combine_chunks()


def side_by_side(slots: Ints) -> Ints:
    """The order that puts rows of one slot side by side, and leaves them in order otherwise."""
    # Numbers of 16 bits are sorted by their digits.
    short = slots.astype(np.uint16) if len(slots) and slots.max() < 2**16 else slots
    order: Ints = np.argsort(short, kind="stable").astype(np.int64, copy=False)
    return order
