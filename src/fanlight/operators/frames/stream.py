"""Frames of a stream: rows wait for the watermark, are put in order, and go on with their frames.

The state of a group of keys is:

- ``waiting``: rows that the watermark has not passed;
- ``keys``: each key with the next number of a frame, its open frame if it has one (bounds,
  deadline, count of rows, a partial for each field) and the state of its scheme: constant, however
  long the frame is;
- ``held``: if rows go out with the numbers of their frames, those whose frame may be too small.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from fanlight.operators import snapshots
from fanlight.operators.frames.framer import Framer
from fanlight.operators.frames.query import FrameQuery
from fanlight.operators.tables import ints, whole
from fanlight.operators.waiting import Waiting, in_order

FORMAT = 2


@dataclass(frozen=True)
class FrameStreamQuery(FrameQuery):
    """The same for a stream."""

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
        self.waiting = Waiting(query.schema)

    def feed(self, rows: pa.Table) -> None:
        """Take rows in any order; none may be older than the last watermark."""
        self.waiting.feed(rows)

    @property
    def next_time(self) -> int | None:
        """The earliest time that waits for the watermark, in microseconds: a row's, a deadline."""
        times = (self.waiting.next_time, self.framer.assembly.next_deadline)
        return min((time for time in times if time is not None), default=None)

    def release(self, watermark: int) -> pa.Table | None:
        """The frames that rows and deadlines up to the watermark close.

        If rows are numbered, the rows whose frame is now certain.
        """
        rows = self.waiting.due(watermark)
        steps = []
        if len(rows):
            order = self.query.order
            steps.append(self.framer.take(rows, lambda codes: in_order(rows, codes, order)))
        if self.query.scheme.timing:
            steps.append(self.framer.expire(watermark))
        found = [frames if numbered is None else numbered for numbered, frames in steps]
        result = pa.concat_tables(found) if found else None
        return result or None  # a table without rows is false

    def snapshot(self) -> bytes:
        """The state as bytes."""
        framer, assembly = self.framer, self.framer.assembly
        columns = {f"key{i}": whole(c) for i, c in enumerate(framer.keys.columns)}
        columns |= {name: pa.array(getattr(assembly, name)) for name in assembly.counters}
        for name, values in assembly.state.items():
            flat = [values] if values.ndim == 1 else [values[:, i] for i in range(values.shape[1])]
            columns |= {f"{name}.{i}": pa.array(part) for i, part in enumerate(flat)}
        columns |= {f"part{i}": part for i, part in enumerate(assembly.parts)}
        return snapshots.pack(FORMAT, [self.waiting.rows, pa.table(columns), framer.held])

    @classmethod
    def restore(cls, query: FrameQuery, state: bytes) -> FrameStream:
        """The operator as it was at the snapshot."""
        operator = cls(query)
        framer = operator.framer
        (operator.waiting.rows, kept, framer.held), _ = snapshots.unpack(state, FORMAT, tables=3)
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
