"""The operator of frames: rows in order continue the frames of their keys.

The state is tables:

- ``keys``: each key with the number of its next frame, its open frame if it has one (bounds,
  deadline, count of rows, a partial for each field) and the state of its scheme; its size does not
  depend on how long the frame is;
- ``held``: if the result is numbered rows, the rows whose frame may still turn out too small;
- if a key may have any number of open frames, these, each with what ``keys`` would have of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.engine.algebra.monoids import Monoid
from fanlight.engine.kernels.sizes import NEVER
from fanlight.engine.operators.arrow_tables import (
    Ints,
    argsort_rows,
    argsort_slots,
    as_array,
    encode_keys,
    ints,
    starts_of_runs,
    with_column,
    with_schema_of,
)
from fanlight.engine.operators.clock import complete_lives, is_report, next_report, split_lives
from fanlight.engine.operators.frames.assembly import Assembly, FrameNumbers, Frames
from fanlight.engine.operators.frames.last_known import LastKnown
from fanlight.engine.operators.frames.marks import Marker
from fanlight.engine.operators.frames.overlapping import DwellAssembly, OverlappingAssembly
from fanlight.engine.operators.frames.parts import PartAssembly
from fanlight.engine.operators.frames.patterns import PatternAssembly
from fanlight.engine.operators.frames.running import MARKERS
from fanlight.engine.operators.frames.several import SeveralAssembly
from fanlight.engine.operators.protocol import BEGINNING, COMPLETE
from fanlight.engine.operators.snapshots import CODE, Snapshot
from fanlight.engine.plan.clock_changes import CalendarSteps
from fanlight.engine.plan.frames import Scheme

Bools = NDArray[np.bool_]

# Assemblies of frames whose rows have no number, by the kind of their scheme.
_UNNUMBERED: dict[str, type[Assembly]] = {
    "dwell": DwellAssembly,
    "cells": OverlappingAssembly,
    "logical": SeveralAssembly,
    "pattern": PatternAssembly,
}


@dataclass(frozen=True)
class FrameQuery:
    """The columns of a row (``schema``), their roles, and the kind of result.

    The result has frames with partials of ``monoids`` over the columns ``partials``; if
    ``numbered``, it has the rows: their columns ``payload``, and the number of their frame.
    """

    scheme: Scheme
    schema: pa.Schema
    keys: tuple[str, ...]
    order: tuple[str, ...]
    inputs: tuple[str, ...]
    partials: tuple[str, ...] = ()
    monoids: tuple[Monoid, ...] = ()
    sources: tuple[str, ...] = ()  # the input columns of the partials, if named differently
    payload: tuple[str, ...] = ()
    numbered: bool = False
    batch: bool = False  # whether rows come in order of time, and at their end all frames end
    closings: bool = False  # of a batch: numbered rows include one for each closed frame, its end
    marks: type[Marker] = Marker  # the class that marks rows; by default, that of the scheme's kind
    forget_after: int | None = None  # after a longer silence a key starts anew
    # Frames come in parts, which end at the multiples of this, or where a calendar says.
    every: int | CalendarSteps | None = None
    of: tuple[tuple[str, ...], ...] = ()  # of each partial the variables whose rows it is of
    carried: tuple[str, ...] = ()  # columns of which a null goes on with the key's last value
    # Frames come also while they are open, once the watermark passes multiples of this, or if it is
    # 0 with each micro-batch; a column ``final`` tells those that are closed or forgotten.
    early: int | None = None
    eager: ClassVar[bool] = False
    has_no_late_rows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Look up the marker on the driver, so that it is pickled to the workers with the query."""
        if self.marks is Marker:
            object.__setattr__(self, "marks", MARKERS[self.scheme.kind])
        if self.numbered and self.scheme.is_unnumbered and not self.scheme.is_listed:
            msg = "rows of these frames have no one number"
            raise AssertionError(msg)

    def make_assembly(self) -> Assembly:
        """An assembly without keys."""
        fields = [self.schema.field(name) for name in self.carried_columns]
        if self.every is not None:
            kind: Callable[..., Assembly] = partial(PartAssembly, every=self.every)
        else:
            kind = _UNNUMBERED[self.scheme.kind] if self.scheme.is_unnumbered else Assembly
        further = {"seen": self.forget_after, "changed": self.early}
        asked = [name for name, value in further.items() if value is not None]
        if self.scheme.kind == "pattern":
            inputs = [self.schema.field(name) for name in self.inputs]
            kind = partial(PatternAssembly, inputs=inputs, of=self.of, listed=self.numbered)
        return kind(self.marks(self.scheme), fields, self.monoids, further=asked)

    @property
    def carried_columns(self) -> tuple[str, ...]:
        """The columns that the assembly combines or, if it lists rows, gives back."""
        listed = self.numbered and self.scheme.is_listed
        return self.payload if listed else self.sources or self.partials

    def key_fields(self) -> list[pa.Field]:
        """The columns of a key."""
        return [self.schema.field(name) for name in self.keys]

    def start(self) -> FrameOperator:
        """An operator without state."""
        return FrameOperator(self)

    def resume(self, snapshot: Snapshot) -> FrameOperator:
        """The operator as it was at a snapshot."""
        return FrameOperator.restore(self, snapshot)


class FrameOperator:
    """The running state of some keys, each of which has a slot in the assembly.

    ``waiting`` has the rows whose frame is not known yet, each with the slot of its key.
    """

    def __init__(self, query: FrameQuery) -> None:
        self.query = query
        self.assembly = query.make_assembly()
        self.known = LastKnown([query.schema.field(name).type for name in query.carried])
        self.keys = pa.schema(query.key_fields()).empty_table()
        waiting = [pa.field(CODE, pa.int64()), *map(query.schema.field, query.payload)]
        self.waiting = pa.schema(waiting).empty_table()
        self.released = BEGINNING

    @property
    def _all_slots(self) -> Bools:
        return np.ones(self.assembly.slots, np.bool_)

    @property
    def held(self) -> int:
        """The number of keys, and of rows that wait or are searched again."""
        kept = sum(int(table.num_rows) for table in self.assembly.tables)
        return self.assembly.slots + int(self.waiting.num_rows) + kept

    def take(self, rows: pa.Table, watermark: int) -> pa.Table | None:
        """Take rows; return the frames that rows and deadlines up to the watermark close.

        If the query is ``numbered``, return the rows whose frame is now known instead. If it is
        ``early``, also return the frames that are still open, of the keys that have had rows.
        """
        before, early = self.released, self.query.early
        self.released = max(before, watermark)
        found = [self._add_rows(rows)] if len(rows) else []
        if not self.query.batch:
            if self.query.scheme.timing:
                found.append(self._expire(self.assembly.deadline <= watermark, watermark))
                self._drop_idle_keys()
            found += self._report(self._all_slots, watermark)
        if self.query.batch and watermark == COMPLETE:
            found += self._end(self._all_slots)
        else:
            found += self._forget(watermark)
        if early is not None:
            found = [_add_final(frames, final=True) for frames in found]
            if is_report(early, before, self.released):
                found.append(_add_final(self._give_open(), final=False))
        result = pa.concat_tables(found) if found else None
        return result or None  # a table without rows is falsy

    @property
    def deadlines(self) -> Ints:
        """For each key, when its open frame closes or is given, or it is forgotten."""
        assembly, forget_after = self.assembly, self.query.forget_after
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
        assembly = self.assembly
        columns: dict[str, Any] = dict(zip(self.keys.column_names, self.keys.columns, strict=True))
        columns |= {name: pa.array(getattr(assembly, name)) for name in assembly.counters}
        for name, values in assembly.state.items():
            flat = [values] if values.ndim == 1 else [values[:, i] for i in range(values.shape[1])]
            columns |= {f"{name}.{i}": _column(part) for i, part in enumerate(flat)}
        columns |= {f"part{i}": part for i, part in enumerate(assembly.parts)}
        columns |= {f"known{i}": held for i, held in enumerate(self.known.values)}
        return Snapshot((pa.table(columns), self.waiting, *assembly.tables), self.released)

    @classmethod
    def restore(cls, query: FrameQuery, snapshot: Snapshot) -> FrameOperator:
        """The operator with the state of a snapshot."""
        operator = cls(query)
        operator.released = snapshot.released
        keys, operator.waiting, *tables = snapshot.tables
        schema = operator.keys.schema
        if schema.names:
            operator.keys = pa.table([as_array(keys[n]) for n in schema.names], schema=schema)
        assembly = operator.assembly
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
        operator.known.values = [
            as_array(keys[f"known{i}"]).cast(held.type)
            for i, held in enumerate(operator.known.values)
        ]
        return operator

    def _add_rows(self, rows: pa.Table) -> pa.Table:
        """Take rows; see :meth:`take`.

        If keys are forgotten, :meth:`_forget` has to follow: lives that are over are still there.
        """
        query = self.query
        codes = self._slots_of(rows.select(query.keys))
        order = argsort_slots(codes) if query.batch else argsort_rows(rows, codes, query.order)
        partials = query.carried_columns
        wanted = dict.fromkeys(["t", *query.inputs, *partials, *query.payload])
        rows, codes = rows.select(list(wanted)).take(pa.array(order)), codes[order]
        if query.forget_after is not None:
            codes = self._begin_lives(codes, ints(rows["t"]), query.forget_after)
        if query.carried:
            given = [as_array(rows[name]) for name in query.carried]
            filled = self.known.fill(given, codes, self.assembly.slots)
            for name, column in zip(query.carried, filled, strict=True):
                rows = with_column(rows, name, column)
        firsts = starts_of_runs(codes)
        closed, numbers = self.assembly.advance(
            ints(rows["t"]),
            [as_array(rows[name]) for name in query.inputs],
            [as_array(rows[name]) for name in partials],
            np.append(firsts, len(codes)),
            codes[firsts],
            numbered=query.numbered,
        )
        if query.early is not None:
            self.assembly.changed[codes[firsts]] = 1
        if isinstance(numbers, FrameNumbers):
            numbers = self._number_rows(rows, codes, numbers)
        found = self._show(closed, numbers)
        if query.forget_after is None:
            self._drop_idle_keys()
        return found

    def _expire(self, due: Bools, now: int) -> pa.Table:
        """Close the open frames of some keys at their deadlines up to ``now``; see ``take``."""
        closed, numbers = self.assembly.expire(due, now)
        numbered = numbers if isinstance(numbers, pa.Table) else None
        if self.query.numbered and isinstance(numbers, FrameNumbers):
            none = self.waiting.slice(0, 0)
            numbered = self._number_rows(none, np.zeros(0, np.int64), numbers)
        return self._show(closed, numbered)

    def _report(self, which: Bools, now: int) -> list[pa.Table]:
        """Return the parts of some keys' open frames that end while the keys are remembered."""
        assembly, forget_after = self.assembly, self.query.forget_after
        if not isinstance(assembly, PartAssembly):
            return []
        until = np.full(assembly.slots, now)
        if forget_after is not None:
            until = np.minimum(until, assembly.last + forget_after)
        until = np.where(which, until, assembly.last)
        return [self._show(assembly.report(until))]

    def _forget(self, now: int) -> list[pa.Table]:
        """End the lives that are complete, after all rows up to ``now``; see ``take``."""
        if self.query.forget_after is None:
            return []
        over = complete_lives(self.assembly.seen, self.query.forget_after, now)
        found = self._end(over) if over.any() else []
        self._keep_slots(~over)
        self._drop_idle_keys()
        return found

    def _give_open(self) -> pa.Table:
        """The open frames of keys that have had rows since they were given; they stay open."""
        assembly = self.assembly
        still_open = assembly.early_frames(assembly.changed > 0)
        assembly.changed[:] = 0
        return self._show(still_open, closed=False)

    def _end(self, over: Bools) -> list[pa.Table]:
        """Return the open frames of some keys, and the rows that wait for them; see ``take``.

        A key that is over is complete: every deadline has come.
        """
        found = []
        if self.query.scheme.timing:
            found = [self._expire(over, NEVER - 1)]
        if self.query.forget_after is not None:
            found += self._report(over, NEVER)
        if self.query.numbered and isinstance(self.assembly, PatternAssembly):
            return [*found, self.assembly.list_rows(over)]
        still_open = self.assembly.open_frames(over)
        numbered = None
        if self.query.numbered:
            decision = np.full(self.assembly.slots, -1, np.int64)
            decision[still_open.slot] = still_open.number
            numbered = self._rows_that_waited(over, decision)
        return [*found, self._show(still_open, numbered, closed=False)]

    def _begin_lives(self, codes: Ints, times: Ints, forget_after: int) -> Ints:
        """The slot of each sorted row's life; lives that begin get new slots."""
        lives = split_lives(codes, times, times, self.assembly.seen, forget_after)
        if len(lives.begun):
            if self.query.keys:
                again = self.keys.take(pa.array(lives.begun))
                self.keys = pa.concat_tables([self.keys, again]).combine_chunks()
            self.assembly.grow(len(lives.begun))
        self.assembly.seen = lives.seen
        return lives.codes

    def _slots_of(self, keys: pa.Table) -> Ints:
        """The slot of each row's key; new keys get new slots."""
        if not self.query.keys:
            self.assembly.grow(1 - self.assembly.slots)
            return np.zeros(len(keys), np.int64)
        codes, fresh = encode_keys(self.keys, keys)
        if len(fresh):
            new = with_schema_of(self.keys, keys.take(pa.array(fresh)))
            self.keys = pa.concat_tables([self.keys, new]).combine_chunks()
            self.assembly.grow(len(fresh))
        return codes

    def _show(
        self, frames: Frames, numbered: pa.Table | None = None, *, closed: bool = True
    ) -> pa.Table:
        """Frames or, if there are any, the rows with the number of theirs, as a table."""
        query = self.query
        at = pa.array(frames.slot)
        columns = {name: as_array(self.keys[name]).take(at) for name in query.keys}
        columns |= {"frame": pa.array(frames.number), "start": pa.array(frames.start)}
        columns |= {"ending": pa.array(frames.end), "rows": pa.array(frames.rows)}
        if numbered is None:
            columns |= {"closed": pa.array(np.full(len(frames.slot), closed))}
            return pa.table(columns | dict(zip(query.partials, frames.partials, strict=True)))
        if not query.closings:
            return numbered
        inside = numbered.filter(numbered["frame"].is_valid())  # other rows are in no frame
        inside = inside.append_column("ending", pa.nulls(len(inside), pa.int64()))
        if not closed:
            return inside
        # Rows that only tell the end of their frame.
        told = {name: columns[name] for name in (*query.keys, "frame", "ending")}
        ends = [
            told[one.name] if one.name in told else pa.nulls(len(at), one.type)
            for one in inside.schema
        ]
        return pa.concat_tables([inside, pa.table(ends, schema=inside.schema)])

    def _number_rows(self, rows: pa.Table, codes: Ints, known: FrameNumbers) -> pa.Table:
        """Rows whose frame is now known, of this batch and of earlier ones, with its number."""
        now = rows.select(list(self.query.payload))
        number, sure = known.number, known.certain
        if sure.all() and not len(self.waiting):
            return _add_frame_column(now, number)
        decision = np.full(self.assembly.slots, -2, np.int64)  # not known yet
        decision[known.slot[known.slot_certain]] = known.slot_number[known.slot_certain]
        waited = self._rows_that_waited(decision != -2, decision)
        if not sure.all():
            unsure = now.filter(pa.array(~sure)).add_column(0, CODE, pa.array(codes[~sure]))
            waiting = pa.concat_tables([self.waiting, with_schema_of(self.waiting, unsure)])
            self.waiting = waiting.combine_chunks()
        return pa.concat_tables(
            [_add_frame_column(now.filter(pa.array(sure)), number[sure]), waited]
        )

    def _rows_that_waited(self, known: Bools, number: Ints) -> pa.Table:
        """The rows of keys whose frame is known, with its number; they wait no more."""
        code = ints(self.waiting[CODE])
        over = known[code]
        rows = self.waiting.filter(pa.array(over)).select(list(self.query.payload))
        self.waiting = self.waiting.filter(pa.array(~over)).combine_chunks()
        return _add_frame_column(rows, number[code[over]])

    def _drop_idle_keys(self) -> None:
        """Drop the keys that have had no frame, have none open, and have no value to carry."""
        if self.query.keys:
            idle = self.assembly.idle
            self._keep_slots(~idle | self.known.is_there(len(idle)))

    def _keep_slots(self, stay: Bools) -> None:
        """Drop the other keys, for which no rows are held."""
        if stay.all():
            return
        slots = np.flatnonzero(stay)
        self.assembly.keep_slots(slots)
        self.known.keep_slots(slots)
        if self.query.keys:
            self.keys = self.keys.take(pa.array(slots))
        if len(self.waiting):
            moved = np.cumsum(stay) - 1
            codes = pa.array(moved[ints(self.waiting[CODE])])
            self.waiting = self.waiting.set_column(0, CODE, codes)


def _add_frame_column(rows: pa.Table, numbers: Ints) -> pa.Table:
    return rows.append_column("frame", pa.array(numbers, mask=numbers < 0))


def _add_final(frames: pa.Table, *, final: bool) -> pa.Table:
    return frames.append_column("final", pa.array(np.full(len(frames), final)))


def _column(values: NDArray[Any]) -> pa.Array:
    """An array as a column, whose type does not depend on whether it has values."""
    return pa.array(values, pa.string() if values.dtype == object else None)
