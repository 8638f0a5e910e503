"""Frames of a stream: rows wait for the watermark, are put in order, and go on with their frames.

Of a group of keys is kept:

- ``waiting``: rows that the watermark has not passed;
- ``keys``: each key with the next number of a frame, its open frame if it has one (bounds, count
  of rows, a partial a field) and what its scheme remembers: constant, however long the frame is;
- ``held``: where rows go out with their frames' numbers, those whose frame may yet be too small.

A snapshot is Arrow throughout, led by a format version.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.algebra.ordering import spark_key
from fanlight.operators.frames.framer import Framer, ints, whole
from fanlight.operators.frames.query import FrameQuery
from fanlight.operators.partials import python_values

Ints = NDArray[np.int64]
FORMAT = 1
_HEAD = struct.Struct("<BQQQ")  # format, lengths of the three tables


@dataclass(frozen=True)
class FrameStreamQuery(FrameQuery):
    """The same question, asked of a stream."""

    def start(self) -> FrameStream:
        """An operator without state."""
        return FrameStream(self)

    def resume(self, state: bytes) -> FrameStream:
        """The operator as it was at a snapshot."""
        return FrameStream.restore(self, state)


class FrameStream:
    """The running state of one group of keys."""

    def __init__(self, query: FrameQuery) -> None:
        self.query = query
        self.framer = Framer(query)
        self.waiting = query.schema.empty_table()

    def feed(self, rows: list[tuple[Any, ...]]) -> None:
        """Take rows in any order; none may be older than the last watermark."""
        if rows:
            names = self.query.schema.names
            self.feed_columns(dict(zip(names, zip(*rows, strict=True), strict=True)))

    def feed_columns(self, columns: Mapping[str, Sequence[Any]]) -> None:
        """Take rows as columns."""
        arrays = [pa.array(columns[field.name], field.type) for field in self.query.schema]
        new = pa.table(arrays, schema=self.query.schema)
        self.waiting = pa.concat_tables([self.waiting, new]).combine_chunks()

    @property
    def next_time(self) -> int | None:
        """The earliest time that waits for the watermark, in microseconds."""
        times = ints(self.waiting["t"])
        return int(times.min()) if len(times) else None

    def release(self, watermark: int) -> pa.Table | None:
        """What rows up to the watermark complete: frames, or rows that are certain of theirs."""
        due = ints(self.waiting["t"]) <= watermark
        if not due.any():
            return None
        rows = self.waiting.filter(pa.array(due))
        self.waiting = self.waiting.filter(pa.array(~due)).combine_chunks()
        tagged, frames = self.framer.take(
            rows, lambda codes: in_order(rows, codes, self.query.order)
        )
        result = frames if tagged is None else tagged
        return result if len(result) else None

    def snapshot(self) -> bytes:
        """The state as bytes."""
        framer, assembly = self.framer, self.framer.assembly
        columns = {f"key{i}": whole(c) for i, c in enumerate(framer.keys.columns)}
        columns |= {name: pa.array(getattr(assembly, name)) for name in assembly.counters}
        for name, values in assembly.state.items():
            flat = [values] if values.ndim == 1 else [values[:, i] for i in range(values.shape[1])]
            columns |= {f"{name}.{i}": pa.array(part) for i, part in enumerate(flat)}
        columns |= {f"part{i}": part for i, part in enumerate(assembly.parts)}
        parts = [_packed(table) for table in (self.waiting, pa.table(columns), framer.held)]
        return b"".join([_HEAD.pack(FORMAT, *map(len, parts)), *parts])

    @classmethod
    def restore(cls, query: FrameQuery, state: bytes) -> FrameStream:
        """The operator as it was at the snapshot."""
        operator = cls(query)
        version, *lengths = _HEAD.unpack_from(state)
        if version != FORMAT:
            msg = (
                f"the checkpoint holds state of format {version}, this version of fanlight reads "
                f"format {FORMAT}: finish the query with the version that began it"
            )
            raise ValueError(msg)
        at, tables = _HEAD.size, []
        for length in lengths:
            tables.append(pa.ipc.open_stream(pa.py_buffer(state[at : at + length])).read_all())
            at += length
        framer = operator.framer
        operator.waiting, kept, framer.held = tables
        keys = [kept[f"key{i}"] for i in range(len(query.keys))]
        framer.keys = pa.table(keys, schema=framer.keys.schema) if keys else framer.keys
        assembly = framer.assembly
        assembly.grow(len(kept))
        for name in assembly.counters:
            setattr(assembly, name, ints(kept[name]).copy())
        for name, values in assembly.state.items():
            width = 1 if values.ndim == 1 else values.shape[1]
            parts = [kept[f"{name}.{i}"].to_numpy() for i in range(width)]
            if width:
                stacked = parts[0] if values.ndim == 1 else np.stack(parts, axis=1)
                assembly.state[name] = np.array(stacked, dtype=values.dtype)
        assembly.parts = [
            whole(kept[f"part{i}"]).cast(part.type) for i, part in enumerate(assembly.parts)
        ]
        return operator


def in_order(rows: pa.Table, codes: Ints, order: tuple[str, ...]) -> Ints:
    """Rows by key, time and the columns ``order``; ties of time alone cost a sort in Python."""
    times = ints(rows["t"])
    placed: Ints = np.lexsort((times, codes)).astype(np.int64)
    code, time = codes[placed], times[placed]
    tied = np.flatnonzero((code[1:] == code[:-1]) & (time[1:] == time[:-1]))
    if not len(tied) or not order:
        return placed
    involved = np.union1d(tied, tied + 1)
    rest = rows.select(list(order)).take(pa.array(placed[involved]))
    values = zip(*(python_values(whole(column)) for column in rest.columns), strict=True)
    ranks = [spark_key(value) for value in values]
    decorated = sorted(
        range(len(involved)),
        key=lambda at: (code[involved[at]], time[involved[at]], ranks[at]),
    )
    placed[involved] = placed[involved[decorated]]
    return placed


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed
