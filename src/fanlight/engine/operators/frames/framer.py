"""Cuts frames of many keys at once: maps keys to slots, and slots in results back to keys."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.engine.kernels.sizes import NEVER
from fanlight.engine.operators.arrow_tables import (
    Ints,
    as_array,
    encode_keys,
    ints,
    starts_of_runs,
    with_schema_of,
)
from fanlight.engine.operators.frames.assembly import FrameNumbers, Frames
from fanlight.engine.operators.frames.parts import PartAssembly
from fanlight.engine.operators.frames.query import FrameQuery
from fanlight.engine.operators.lives import complete_lives, split_lives
from fanlight.engine.operators.snapshots import CODE

Bools = NDArray[np.bool_]
Found = tuple[pa.Table | None, pa.Table]  # numbered rows, and frames


class Framer:
    """The state of each key, and the rows whose frame is not known yet."""

    def __init__(self, query: FrameQuery) -> None:
        self.query = query
        self.assembly = query.make_assembly()
        self.keys = pa.schema(query.key_fields()).empty_table()
        held = [pa.field(CODE, pa.int64()), *map(query.schema.field, query.payload)]
        self.held = pa.schema(held).empty_table()

    def take(self, rows: pa.Table, place: Callable[[Ints], Ints]) -> Found:
        """Take rows; return rows whose frame is now known, with its number, and closed frames.

        The rows are None unless the query is ``numbered``. ``place`` maps the slots of rows to a
        permutation that puts the rows of a slot together, in order. If keys are forgotten,
        :meth:`forget` has to follow: lives that are over are still there.
        """
        query = self.query
        codes = self._slots_of(rows.select(query.keys))
        order = place(codes)
        partials = query.sources or query.partials
        wanted = dict.fromkeys(["t", *query.inputs, *partials, *query.payload])
        rows, codes = rows.select(list(wanted)).take(pa.array(order)), codes[order]
        if query.forget_after is not None:
            codes = self._begin_lives(codes, ints(rows["t"]), query.forget_after)
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
        numbered = None if numbers is None else self._number_rows(rows, codes, numbers)
        frames = self._frame_table(closed)
        if query.forget_after is None:
            self._drop_idle_keys()
        return numbered, frames

    def expire(self, now: int) -> Found:
        """Close the frames whose deadline has come, after all rows up to ``now``; see ``take``."""
        found = self._expire(self.assembly.deadline <= now, now)
        self._drop_idle_keys()
        return found

    def report(self, now: int) -> list[Found]:
        """Return the parts of open frames that end up to ``now``, after all rows; see ``take``."""
        return self._report(np.ones(self.assembly.slots, np.bool_), now)

    def forget(self, now: int) -> list[Found]:
        """End the lives that are complete, after all rows up to ``now``; see ``take``."""
        if self.query.forget_after is None:
            return []
        over = complete_lives(self.assembly.seen, self.query.forget_after, now)
        found = self._end(over) if over.any() else []
        self._keep_slots(~over)
        self._drop_idle_keys()
        return found

    def give_open(self) -> pa.Table:
        """The open frames of keys that have had rows since they were given; they stay open."""
        assembly = self.assembly
        still_open = assembly.open_frames(assembly.changed > 0)
        assembly.changed[:] = 0
        return self._frame_table(still_open, closed=False)

    def finish(self) -> list[Found]:
        """End all keys, after the last row; see ``take``."""
        return self._end(np.ones(self.assembly.slots, np.bool_))

    def _end(self, over: Bools) -> list[Found]:
        """Return the open frames of some keys, and the rows held for them; see ``take``.

        A key that is over is complete: every deadline has come.
        """
        found = []
        if self.query.scheme.timing:
            found = [self._expire(over, NEVER - 1)]
        if self.query.forget_after is not None:
            found += self._report(over, NEVER)
        still_open = self.assembly.open_frames(over)
        frames = self._frame_table(still_open, closed=False)
        if not self.query.numbered:
            return [*found, (None, frames)]
        code = ints(self.held[CODE])
        decision = np.full(self.assembly.slots, -1, np.int64)
        decision[still_open.slot] = still_open.number
        ended = pa.array(over[code])
        held = self.held.filter(ended).select(list(self.query.payload))
        self.held = self.held.filter(pa.array(~over[code])).combine_chunks()
        return [*found, (_add_frame_column(held, decision[code[over[code]]]), frames)]

    def _report(self, which: Bools, now: int) -> list[Found]:
        """Return the parts of some keys' open frames that end while the keys are remembered."""
        assembly, forget_after = self.assembly, self.query.forget_after
        if not isinstance(assembly, PartAssembly):
            return []
        until = np.full(assembly.slots, now)
        if forget_after is not None:
            until = np.minimum(until, assembly.last + forget_after)
        until = np.where(which, until, assembly.last)
        return [(None, self._frame_table(assembly.report(until)))]

    def _expire(self, due: Bools, now: int) -> Found:
        """Close the open frames of some keys at their deadlines up to ``now``; see ``take``."""
        closed, numbers = self.assembly.expire(due, now)
        numbered = None
        if self.query.numbered and numbers is not None:
            numbered = self._number_rows(self.held.slice(0, 0), np.zeros(0, np.int64), numbers)
        return numbered, self._frame_table(closed)

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

    def _frame_table(self, frames: Frames, *, closed: bool = True) -> pa.Table:
        query = self.query
        at = pa.array(frames.slot)
        columns = {name: as_array(self.keys[name]).take(at) for name in query.keys}
        columns |= {"frame": pa.array(frames.number), "start": pa.array(frames.start)}
        columns |= {"ending": pa.array(frames.end), "rows": pa.array(frames.rows)}
        columns |= {"closed": pa.array(np.full(len(frames.slot), closed))}
        columns |= dict(zip(query.partials, frames.partials, strict=True))
        return pa.table(columns)

    def _number_rows(self, rows: pa.Table, codes: Ints, known: FrameNumbers) -> pa.Table:
        """Rows whose frame is now known, of this batch and of earlier ones, with its number."""
        payload = list(self.query.payload)
        now = rows.select(payload)
        number, sure = known.number, known.certain
        if sure.all() and not len(self.held):
            return _add_frame_column(now, number)
        parts = [(now.filter(pa.array(sure)), number[sure])]
        if len(self.held):
            decision = np.full(self.assembly.slots, -2, np.int64)  # not known yet
            decision[known.slot[known.slot_certain]] = known.slot_number[known.slot_certain]
            decided = decision[ints(self.held[CODE])]
            held = self.held.select(payload)
            parts.append((held.filter(pa.array(decided != -2)), decided[decided != -2]))
            self.held = self.held.filter(pa.array(decided == -2))
        if not sure.all():
            unsure = now.filter(pa.array(~sure)).add_column(0, CODE, pa.array(codes[~sure]))
            self.held = pa.concat_tables([self.held, with_schema_of(self.held, unsure)])
        self.held = self.held.combine_chunks()
        numbers = np.concatenate([number for _, number in parts])
        return _add_frame_column(pa.concat_tables([part for part, _ in parts]), numbers)

    def _drop_idle_keys(self) -> None:
        """Drop the keys that have had no frame and have none open."""
        if self.query.keys:
            self._keep_slots(~self.assembly.idle)

    def _keep_slots(self, stay: Bools) -> None:
        """Drop the other keys, for which no rows are held."""
        if stay.all():
            return
        slots = np.flatnonzero(stay)
        self.assembly.keep_slots(slots)
        if self.query.keys:
            self.keys = self.keys.take(pa.array(slots))
        if len(self.held):
            moved = np.cumsum(stay) - 1
            codes = pa.array(moved[ints(self.held[CODE])])
            self.held = self.held.set_column(0, CODE, codes)


def _add_frame_column(rows: pa.Table, numbers: Ints) -> pa.Table:
    return rows.append_column("frame", pa.array(numbers, mask=numbers < 0))
