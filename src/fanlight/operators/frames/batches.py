"""Frames of a batch: sorted rows pass through, a key is forgotten once its last row is seen.

Rows come by key, then in order. A stretch of rows may hold many keys, and a key many stretches; of
the last key what is known is carried on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fanlight.operators.frames.assembly import Found, Tags
from fanlight.operators.frames.query import FrameQuery
from fanlight.operators.tables import Ints, whole

STRETCH = 100_000  # rows that are worked on at once


class FrameBatches:
    """The function that Spark maps over the batches of a partition."""

    def __init__(self, query: FrameQuery) -> None:
        self.query = query

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Frames, or rows with the numbers of their frames."""
        running = _Running(self.query)
        for table in gathered(batches):
            yield from running.take(table)
        yield from running.finish()


def gathered(batches: Iterable[pa.RecordBatch], size: int = STRETCH) -> Iterator[pa.Table]:
    """Batches put together, so that what is done once a stretch does not count."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
            rows += batch.num_rows
        if rows >= size:
            yield pa.Table.from_batches(held).combine_chunks()
            held, rows = [], 0
    if held:
        yield pa.Table.from_batches(held).combine_chunks()


class _Running:
    def __init__(self, query: FrameQuery) -> None:
        self.query = query
        self.assembly = query.assembly()
        self.keys: list[pa.Array] = []  # the values of each key column, one a slot
        self.types: dict[str, pa.DataType] = {}  # times come in the session's time zone
        self.held: pa.Table | None = None  # rows whose frame may yet turn out too small

    def take(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        query = self.query
        columns = {name: whole(table[name]) for name in table.column_names}
        self.types = {name: column.type for name, column in columns.items()}
        before = [keys.slice(len(keys) - 1) for keys in self.keys]
        changes, goes_on = _changes([columns[name] for name in query.keys], before, len(table))
        if self.assembly.slots and not goes_on:
            yield from self._ended(np.zeros(1, np.int64))
            self.assembly.keep(np.empty(0, np.int64))
        starts = np.append(changes, len(table))
        slots = np.arange(len(changes))
        self.assembly.grow(len(changes) - self.assembly.slots)
        firsts = pa.array(changes)
        self.keys = [columns[name].take(firsts) for name in query.keys]
        found, tags = self.assembly.advance(
            columns["t"].to_numpy(),
            [columns[name] for name in query.lanes],
            [columns[name] for name in query.sources or query.partials],
            starts,
            slots,
            tags=query.tagged,
        )
        if tags is not None:
            yield from self._tagged(table, tags, slots, starts)
        if not query.tagged or query.closings:
            yield from self._frames(found, closed=True)
        yield from self._ended(slots[:-1])
        self.assembly.keep(slots[-1:])
        self.keys = [keys.slice(len(keys) - 1) for keys in self.keys]

    def finish(self) -> Iterator[pa.RecordBatch]:
        if self.assembly.slots:
            yield from self._ended(np.zeros(1, np.int64))

    def _ended(self, slots: Ints) -> Iterator[pa.RecordBatch]:
        """No row will come for these keys: what is open stays so."""
        if not len(slots):
            return
        found = self.assembly.still_open()
        if self.query.tagged:
            if self.held is not None and len(slots) == self.assembly.slots:
                number = int(found.number[0]) if len(found.number) else -1
                yield from self._out(self.held, np.full(len(self.held), number))
                self.held = None
            return
        mine = np.isin(found.slot, slots)
        part = pa.array(mine)
        yield from self._frames(
            Found(
                found.slot[mine], found.number[mine], found.start[mine], found.end[mine],
                found.rows[mine], [p.filter(part) for p in found.partials],
            ),
            closed=False,
        )  # fmt: skip

    def _frames(self, found: Found, *, closed: bool) -> Iterator[pa.RecordBatch]:
        if not len(found.slot):
            return
        query, size = self.query, len(found.slot)
        at = pa.array(found.slot)
        columns = {n: keys.take(at) for n, keys in zip(query.keys, self.keys, strict=True)}
        columns["frame"] = pa.array(found.number)
        if query.tagged:  # a closing: nothing of it but its end counts
            columns |= {n: pa.nulls(size, self.types[n]) for n in query.payload}
            columns["e"] = pa.array(found.end)
            yield pa.RecordBatch.from_pydict(columns)
            return
        columns |= {"s": pa.array(found.start), "e": pa.array(found.end)}
        columns |= {"rows": pa.array(found.rows), "closed": pa.array(np.full(size, closed))}
        columns |= dict(zip(query.partials, found.partials, strict=True))
        yield pa.RecordBatch.from_pydict(columns)

    def _tagged(
        self, table: pa.Table, tags: Tags, slots: Ints, starts: Ints
    ) -> Iterator[pa.RecordBatch]:
        number, certain = tags.number, tags.certain
        # Keys that end here are decided: an open frame is reported if it is large enough.
        reported = np.isin(slots, self.assembly.still_open().slot)
        if self.held is not None and (tags.slot_certain.any() or len(slots) > 1):
            decided = tags.slot_certain[0] or reported[0]
            at = tags.slot_number[0] if decided else -1
            yield from self._out(self.held, np.full(len(self.held), at))
            self.held = None
        if certain.all():
            yield from self._out(table, number)
            return
        owner = np.repeat(slots, np.diff(starts))
        ended = owner != slots[-1]
        number = np.where(~certain & ended & ~reported[owner], -1, number)
        sure = certain | ended
        yield from self._out(table.filter(pa.array(sure)), number[sure])
        waiting = table.filter(pa.array(~sure))
        if len(waiting):
            self.held = waiting if self.held is None else pa.concat_tables([self.held, waiting])

    def _out(self, table: pa.Table, number: Ints) -> Iterator[pa.RecordBatch]:
        query = self.query
        if query.closings and (number < 0).any():  # these rows are in no frame
            inside = number >= 0
            table, number = table.filter(pa.array(inside)), number[inside]
        columns = [table[name] for name in (*query.keys, *query.payload)]
        names = [*query.keys, "frame", *query.payload]
        columns.insert(len(query.keys), pa.chunked_array([pa.array(number, mask=number < 0)]))
        if query.closings:
            columns.append(pa.chunked_array([pa.nulls(len(number), pa.int64())]))
            names.append("e")
        yield from pa.table(columns, names=names).to_batches()


def _changes(keys: list[pa.Array], before: list[pa.Array], size: int) -> tuple[Ints, bool]:
    """The first row of each key, and whether the first one is that of the rows before."""
    new = np.zeros(size, np.bool_)
    new[0] = not before and bool(keys)
    for at, column in enumerate(keys):
        if before:
            new |= _differs(pa.concat_arrays([before[at], column]))
        else:
            new[1:] |= _differs(column)
    goes_on = not new[0]
    new[0] = True
    return np.flatnonzero(new).astype(np.int64), goes_on


def _differs(column: pa.Array) -> NDArray[np.bool_]:
    """Whether each value is another one than the value before; null is null, and NaN is NaN."""
    one, other = column.slice(0, len(column) - 1), column.slice(1)
    kind = column.type
    if pa.types.is_struct(kind):
        parts = [_differs(pc.struct_field(column, at)) for at in range(kind.num_fields)]
        nulls = _differs(column.is_null())
        found: NDArray[np.bool_] = np.logical_or.reduce([nulls, *parts])
        return found
    if pa.types.is_nested(kind):
        values = column.to_pylist()
        return np.array([a != b for a, b in pairwise(values)], np.bool_)
    unequal = pc.fill_null(pc.not_equal(one, other), pa.scalar(value=False))
    differs: NDArray[np.bool_] = unequal.to_numpy(zero_copy_only=False)
    if column.null_count:
        null = column.is_null().to_numpy(zero_copy_only=False)
        differs = differs | (null[1:] != null[:-1])
    if pa.types.is_floating(kind):
        nan = np.isnan(column.to_numpy(zero_copy_only=False))
        differs = differs & ~(nan[1:] & nan[:-1])
    return differs
