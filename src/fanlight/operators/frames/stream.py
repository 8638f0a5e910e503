"""Frames of a stream: rows wait for the watermark, are put in order, and go on with their frames.

Of a group of keys is kept:

- ``waiting``: rows that the watermark has not passed;
- ``keys``: each key with the next number of a frame, its open frame if it has one (bounds, count
  of rows, a partial a field) and what its scheme remembers: constant, however long the frame is;
- ``held``: where rows go out with their frames' numbers, those whose frame may yet be too small.

A snapshot is Arrow throughout, led by a format version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from fanlight.operators import snapshots
from fanlight.operators.frames.assembly import Found, Tags
from fanlight.operators.frames.query import FrameQuery
from fanlight.operators.tables import Ints, coded, ints, starts_of_runs, whole
from fanlight.operators.waiting import Waiting, in_order

FORMAT = 1


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
        self.waiting = Waiting(query.schema)
        self.keys = pa.schema(query.key_fields()).empty_table()
        held = [pa.field("slot", pa.int64()), *map(query.schema.field, query.payload)]
        self.held = pa.schema(held).empty_table()

    def feed(self, rows: list[tuple[Any, ...]]) -> None:
        """Take rows in any order; none may be older than the last watermark."""
        self.waiting.feed(rows)

    @property
    def next_time(self) -> int | None:
        """The earliest time that waits for the watermark, in microseconds."""
        return self.waiting.next_time

    def release(self, watermark: int) -> pa.Table | None:
        """What rows up to the watermark complete: frames, or rows that are certain of theirs."""
        query, rows = self.query, self.waiting.due(watermark)
        if not len(rows):
            return None
        codes = self._codes(rows.select(query.keys))
        order = in_order(rows, codes, query.order)
        rows, codes = rows.take(pa.array(order)).combine_chunks(), codes[order]
        firsts = starts_of_runs(codes)
        slots = codes[firsts]
        found, tags = self.assembly.advance(
            ints(rows["t"]),
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
        if not self.query.keys:
            self.assembly.grow(1 - self.assembly.slots)
            return np.zeros(len(keys), np.int64)
        codes, fresh = coded(self.keys, keys)
        if len(fresh):
            new = keys.take(pa.array(fresh)).cast(self.keys.schema)
            self.keys = pa.concat_tables([self.keys, new]).combine_chunks()
            self.assembly.grow(len(fresh))
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
            told = decision[ints(self.held["slot"])]
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
            codes = pa.array(moved[ints(self.held["slot"])])
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
        return snapshots.pack(FORMAT, [self.waiting.rows, pa.table(columns), self.held])

    @classmethod
    def restore(cls, query: FrameQuery, state: bytes) -> FrameStream:
        """The operator as it was at the snapshot."""
        operator = cls(query)
        (operator.waiting.rows, kept, operator.held), _ = snapshots.unpack(state, FORMAT, 3)
        keys = [kept[f"key{i}"] for i in range(len(query.keys))]
        operator.keys = pa.table(keys, schema=operator.keys.schema) if keys else operator.keys
        assembly = operator.assembly
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
