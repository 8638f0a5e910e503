"""Frames of a stream: rows that the watermark has passed continue the frames of their keys.

The state is tables:

- ``keys``: each key with the number of its next frame, its open frame if it has one (bounds,
  deadline, count of rows, a partial for each field) and the state of its scheme; its size does not
  depend on how long the frame is;
- ``held``: if the result is numbered rows, the rows whose frame may still turn out too small;
- if a key may have any number of open frames, these, each with what ``keys`` would have of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.engine.operators.arrow_tables import Ints, as_array, ints
from fanlight.engine.operators.frames.framer import Framer
from fanlight.engine.operators.frames.parts import PartAssembly
from fanlight.engine.operators.frames.query import FrameQuery
from fanlight.engine.operators.protocol import BEGINNING, COMPLETE
from fanlight.engine.operators.reports import is_report, next_report
from fanlight.engine.operators.snapshots import Snapshot
from fanlight.engine.operators.sorting import argsort_rows


@dataclass(frozen=True)
class FrameStreamQuery(FrameQuery):
    """The fixed setup of the operator of a stream."""

    eager: ClassVar[bool] = False
    has_no_late_rows: ClassVar[bool] = False

    def start(self) -> FrameStream:
        """An operator without state."""
        return FrameStream(self)

    def resume(self, snapshot: Snapshot) -> FrameStream:
        """The operator as it was at a snapshot."""
        return FrameStream.restore(self, snapshot)


class FrameStream:
    """The running state of some keys."""

    def __init__(self, query: FrameQuery) -> None:
        self.query = query
        self.framer = Framer(query)
        self.released = BEGINNING

    def take(self, rows: pa.Table, watermark: int) -> pa.Table | None:
        """Take rows; return the frames that rows and deadlines up to the watermark close.

        If the query is ``numbered``, return the rows whose frame is now known instead. If it is
        ``early``, also return the frames that are still open, of the keys that have had rows.
        """
        before, early = self.released, self.query.early
        self.released = max(before, watermark)
        steps = []
        if len(rows):
            order = self.query.order
            steps.append(self.framer.take(rows, lambda codes: argsort_rows(rows, codes, order)))
        if self.query.scheme.timing:
            steps.append(self.framer.expire(watermark))
        steps += [*self.framer.report(watermark), *self.framer.forget(watermark)]
        tables = [frames if numbered is None else numbered for numbered, frames in steps]
        if early is not None:
            tables = [_add_final(frames, final=True) for frames in tables]
            if is_report(early, before, self.released):
                tables.append(_add_final(self.framer.give_open(), final=False))
        result = pa.concat_tables(tables) if tables else None
        return result or None  # a table without rows is falsy

    @property
    def deadlines(self) -> Ints:
        """For each key, when its open frame closes or is given, or it is forgotten."""
        assembly, forget_after = self.framer.assembly, self.query.forget_after
        due = np.full(assembly.slots, COMPLETE)
        if self.query.scheme.timing is not None:
            due = np.where(assembly.opened, np.minimum(assembly.deadline, COMPLETE), due)
        if isinstance(assembly, PartAssembly):
            due = np.where(assembly.opened, np.minimum(assembly.next_report, due), due)
        if self.query.early:
            report = next_report(self.query.early, self.released)
            due = np.where(assembly.changed > 0, np.minimum(report, due), due)
        return due if forget_after is None else np.minimum(due, assembly.seen + forget_after)

    def snapshot(self) -> Snapshot:
        """The state as tables."""
        framer, assembly = self.framer, self.framer.assembly
        columns: dict[str, Any] = dict(
            zip(framer.keys.column_names, framer.keys.columns, strict=True)
        )
        columns |= {name: pa.array(getattr(assembly, name)) for name in assembly.counters}
        for name, values in assembly.state.items():
            flat = [values] if values.ndim == 1 else [values[:, i] for i in range(values.shape[1])]
            columns |= {f"{name}.{i}": _column(part) for i, part in enumerate(flat)}
        columns |= {f"part{i}": part for i, part in enumerate(assembly.parts)}
        return Snapshot((pa.table(columns), framer.held, *assembly.tables), self.released)

    @classmethod
    def restore(cls, query: FrameQuery, snapshot: Snapshot) -> FrameStream:
        """The operator with the state of a snapshot."""
        operator = cls(query)
        operator.released = snapshot.released
        framer = operator.framer
        keys, framer.held, *tables = snapshot.tables
        names = framer.keys.column_names
        if names:
            framer.keys = pa.table(
                [as_array(keys[name]) for name in names], schema=framer.keys.schema
            )
        assembly = framer.assembly
        assembly.grow(len(keys))
        assembly.tables = tuple(tables)
        for name in assembly.counters:
            setattr(assembly, name, ints(keys[name]).copy())
        for name, values in assembly.state.items():
            width = 1 if values.ndim == 1 else values.shape[1]
            parts = [keys[f"{name}.{i}"].to_numpy() for i in range(width)]
            if width:
                stacked = parts[0] if values.ndim == 1 else np.stack(parts, axis=1)
                assembly.state[name] = np.array(stacked, dtype=values.dtype)
        assembly.parts = [
            as_array(keys[f"part{i}"]).cast(part.type) for i, part in enumerate(assembly.parts)
        ]
        return operator


def _add_final(frames: pa.Table, *, final: bool) -> pa.Table:
    return frames.append_column("final", pa.array(np.full(len(frames), final)))


def _column(values: NDArray[Any]) -> pa.Array:
    """An array as a column, whose type does not depend on whether it has values."""
    return pa.array(values, pa.string() if values.dtype == object else None)
