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
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.algebra.ordering import spark_key
from fanlight.operators.frames.assembly import Found, Tags
from fanlight.operators.frames.batches import whole
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
        self.assembly = query.assembly()
        self.waiting = query.schema.empty_table()
        self.keys = pa.schema(query.key_fields()).empty_table()
        held = [pa.field("slot", pa.int64()), *map(query.schema.field, query.payload)]
        self.held = pa.schema(held).empty_table()

    def feed(self, rows: list[tuple[Any, ...]]) -> None:
        """Take rows in any order; none may be older than the last watermark."""
        if rows:
            columns = [
                pa.array(column, type=field.type)
                for column, field in zip(zip(*rows, strict=True), self.query.schema, strict=True)
            ]
            new = pa.table(columns, schema=self.query.schema)
            self.waiting = pa.concat_tables([self.waiting, new]).combine_chunks()

    @property
    def next_time(self) -> int | None:
        """The earliest time that waits for the watermark, in microseconds."""
        times = _ints(self.waiting["t"])
        return int(times.min()) if len(times) else None

    def release(self, watermark: int) -> pa.Table | None:
        """What rows up to the watermark complete: frames, or rows that are certain of theirs."""
        due = _ints(self.waiting["t"]) <= watermark
        if not due.any():
            return None
        query = self.query
        rows = self.waiting.filter(pa.array(due))
        self.waiting = self.waiting.filter(pa.array(~due)).combine_chunks()
        codes = self._codes(rows.select(query.keys))
        order = in_order(rows, codes, query.order)
        rows, codes = rows.take(pa.array(order)).combine_chunks(), codes[order]
        firsts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1])).astype(np.int64)
        slots = codes[firsts]
        found, tags = self.assembly.advance(
            _ints(rows["t"]),
            [whole(rows[name]) for name in query.lanes],
            [whole(rows[name]) for name in query.partials],
            np.append(firsts, len(codes)),
            slots,
            tags=query.tagged,
        )
        result = self._frames(found) if tags is None else self._tagged(rows, codes, tags)
        self._forget()
        return result if len(result) else None

    def _codes(self, keys: pa.Table) -> Ints:
        """The slot of each row's key; new keys get new slots."""
        codes, fresh = coded(self.keys, keys)
        if len(fresh):
            new = keys.take(pa.array(fresh)).cast(self.keys.schema)
            self.keys = pa.concat_tables([self.keys, new]).combine_chunks()
            self.assembly.grow(len(fresh))
        if not self.query.keys and not self.assembly.slots:
            self.assembly.grow(1)
        return codes

    def _frames(self, found: Found) -> pa.Table:
        query = self.query
        at = pa.array(found.slot)
        columns = {name: whole(self.keys[name]).take(at) for name in query.keys}
        columns |= {"frame": pa.array(found.number), "s": pa.array(found.start)}
        columns |= {"e": pa.array(found.end), "rows": pa.array(found.rows)}
        columns |= dict(zip(query.partials, found.partials, strict=True))
        return pa.table(columns)

    def _tagged(self, rows: pa.Table, codes: Ints, tags: Tags) -> pa.Table:
        """Rows that are certain of their frame, of now and of before, with its number."""
        payload = list(self.query.payload)
        now = rows.select(payload)
        number, sure = tags.number, tags.certain
        parts = [(now.filter(pa.array(sure)), number[sure])]
        if len(self.held):
            decision = np.full(self.assembly.slots, -2, np.int64)  # not yet
            decision[tags.slot[tags.slot_certain]] = tags.slot_number[tags.slot_certain]
            told = decision[_ints(self.held["slot"])]
            parts.append((self.held.select(payload).filter(pa.array(told != -2)), told[told != -2]))
            self.held = self.held.filter(pa.array(told == -2))
        if not sure.all():
            late = now.filter(pa.array(~sure)).add_column(0, "slot", pa.array(codes[~sure]))
            self.held = pa.concat_tables([self.held, late.cast(self.held.schema)])
        self.held = self.held.combine_chunks()
        numbers = np.concatenate([number for _, number in parts])
        table = pa.concat_tables([part for part, _ in parts])
        return table.append_column("frame", pa.array(numbers, mask=numbers < 0))

    def _forget(self) -> None:
        """Drop keys that have nothing to remember: no frame yet, and none open."""
        stay = self.assembly.opened | (self.assembly.ids > 0)
        if stay.all() or not self.query.keys:
            return
        slots = np.flatnonzero(stay)
        self.assembly.keep(slots)
        self.keys = self.keys.take(pa.array(slots))
        if len(self.held):  # rows are held of open frames only, whose keys stay
            moved = np.cumsum(stay) - 1
            codes = pa.array(moved[_ints(self.held["slot"])])
            self.held = self.held.set_column(0, "slot", codes)

    def snapshot(self) -> bytes:
        """The state as bytes."""
        assembly = self.assembly
        columns = {f"key{i}": whole(c) for i, c in enumerate(self.keys.columns)}
        columns |= {name: pa.array(getattr(assembly, name)) for name in assembly.counters}
        for name, values in assembly.state.items():
            flat = [values] if values.ndim == 1 else [values[:, i] for i in range(values.shape[1])]
            columns |= {f"{name}.{i}": pa.array(part) for i, part in enumerate(flat)}
        columns |= {f"part{i}": part for i, part in enumerate(assembly.parts)}
        parts = [_packed(table) for table in (self.waiting, pa.table(columns), self.held)]
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
        operator.waiting, kept, operator.held = tables
        keys = [kept[f"key{i}"] for i in range(len(query.keys))]
        operator.keys = pa.table(keys, schema=operator.keys.schema) if keys else operator.keys
        assembly = operator.assembly
        assembly.grow(len(kept))
        for name in assembly.counters:
            setattr(assembly, name, _ints(kept[name]).copy())
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


def coded(known: pa.Table, rows: pa.Table) -> tuple[Ints, Ints]:
    """Codes of rows: the place of their key among the known ones, new ones numbered on.

    Also the first row of each new key.
    """
    if not rows.num_columns:
        return np.zeros(len(rows), np.int64), np.empty(0, np.int64)
    both = pa.concat_tables([known, rows.cast(known.schema)])
    combined: pa.Array | None = None
    for column in both.columns:
        indices, size = _indices(whole(column))
        if combined is None:
            combined = indices
            continue
        wide = combined.to_numpy().astype(np.int64) * size + indices.to_numpy()
        combined = pa.array(wide).dictionary_encode().indices
    if combined is None:
        raise AssertionError
    codes = combined.to_numpy().astype(np.int64)[len(known) :]
    count = int(codes.max()) + 1 - len(known) if len(codes) else 0
    if count <= 0:
        return codes, np.empty(0, np.int64)
    fresh = np.full(count, len(codes), np.int64)
    new = np.flatnonzero(codes >= len(known))
    np.minimum.at(fresh, codes[new] - len(known), new)
    return codes, fresh


def _indices(column: pa.Array) -> tuple[pa.Array, int]:
    """Equal values as equal numbers, in order of appearance; NaN is NaN, and -0.0 is 0.0."""
    if pa.types.is_floating(column.type):
        plain = column.to_numpy(zero_copy_only=False) + 0.0
        column = pa.array(plain, mask=column.is_null().to_numpy(zero_copy_only=False))
    if pa.types.is_nested(column.type):
        told = [repr(spark_key(value)) for value in python_values(column)]
        column = pa.array(told, pa.string())
    encoded = column.dictionary_encode(null_encoding="encode")
    return encoded.indices, len(encoded.dictionary)


def in_order(rows: pa.Table, codes: Ints, order: tuple[str, ...]) -> Ints:
    """Rows by key, time and the columns ``order``; ties of time alone cost a sort in Python."""
    times = _ints(rows["t"])
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


def _ints(column: pa.ChunkedArray) -> Ints:
    values: Ints = column.to_numpy().astype(np.int64, copy=False)
    return values


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed
