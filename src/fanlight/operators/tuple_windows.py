"""Windows over the rows of each key in order: counted in rows, or ending at every row.

Rows arrive in any order and wait until the watermark has passed them; then they are final, are put
in order, numbered and cut. The operator keeps, for a group of keys:

- ``waiting``: rows that the watermark has not passed;
- ``slices``: partials of the slices that a coming window may still hold, one an instant where
  every row ends a window;
- ``keys``: each key with the number of its rows so far.

A snapshot is Arrow throughout, led by a format version.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.algebra.monoids import Monoid
from fanlight.operators import snapshots
from fanlight.operators.partials import joined
from fanlight.operators.tables import Ints, coded, ints, starts_of_runs, whole
from fanlight.operators.waiting import Waiting, in_order
from fanlight.plan.cut import Cut

FORMAT = 1


@dataclass(frozen=True)
class TupleQuery:
    """What is asked of the operator."""

    schema: pa.Schema  # a row: keys, ``t``, tiebreaks, partials
    keys: int
    monoids: tuple[Monoid, ...]
    cut: Cut | None  # over row numbers; None: a window ends at every row
    range: int  # microseconds, where every row ends a window

    @property
    def names(self) -> list[str]:
        """The columns of the partials."""
        return list(self.schema.names[len(self.schema.names) - len(self.monoids) :])

    @property
    def key_names(self) -> list[str]:
        """The columns of the key."""
        return list(self.schema.names[: self.keys])

    @property
    def ties(self) -> list[str]:
        """The columns that order rows of one time: tiebreaks, then what rows contribute."""
        return list(self.schema.names[self.keys + 1 :])

    def start(self) -> TupleWindows:
        """An operator without state."""
        return TupleWindows(self)

    def resume(self, state: bytes) -> TupleWindows:
        """The operator as it was at a snapshot."""
        return TupleWindows.restore(self, state)


class TupleWindows:
    """The running state of one group of keys."""

    def __init__(self, query: TupleQuery) -> None:
        self.query = query
        self.released = -(2**63)
        self.waiting = Waiting(query.schema)
        kept = [("code", pa.int64()), ("i", pa.int64())]
        kept += [(name, query.schema.field(name).type) for name in query.names]
        self.slices = pa.schema(kept).empty_table()
        fields = [query.schema.field(name) for name in query.key_names]
        self.keys = pa.schema([*fields, pa.field("rows", pa.int64())]).empty_table()

    def feed(self, rows: pa.Table) -> None:
        """Take rows in any order; none may be older than the last watermark."""
        self.waiting.feed(rows)

    @property
    def next_time(self) -> int | None:
        """The earliest time that waits for the watermark, in microseconds."""
        return self.waiting.next_time

    def release(self, watermark: int) -> pa.Table | None:
        """Windows that rows up to the watermark complete: keys, ``w``, partials."""
        self.released = max(self.released, watermark)
        rows = self.waiting.due(watermark)
        if not rows.num_rows:
            return None
        codes = self._codes(rows)
        order = in_order(rows, codes, self.query.ties)
        rows, codes = rows.take(pa.array(order)).combine_chunks(), codes[order]
        result = self._cut(rows, codes)
        self._forget()
        return result

    def _codes(self, rows: pa.Table) -> Ints:
        """The number of each row's key; new keys are numbered on."""
        keys = rows.select(self.query.key_names)
        codes, fresh = coded(self.keys.select(self.query.key_names), keys)
        if len(fresh):
            new = self._begun(keys.take(pa.array(fresh)))
            self.keys = pa.concat_tables([self.keys, new.cast(self.keys.schema)]).combine_chunks()
        return codes

    def _begun(self, keys: pa.Table) -> pa.Table:
        """New keys with what is kept of each."""
        return keys.append_column("rows", pa.array(np.zeros(keys.num_rows, np.int64)))

    def _cut(self, rows: pa.Table, codes: Ints) -> pa.Table:
        """Rows to slices, slices to the windows that are complete now."""
        query, cut = self.query, self.query.cut
        counts = ints(self.keys["rows"]).copy()
        before = counts.copy()
        starts = starts_of_runs(codes)
        within = np.arange(len(codes)) - np.repeat(starts, np.diff(np.append(starts, len(codes))))
        numbers = before[codes] + within
        np.add.at(counts, codes, 1)
        self.keys = self.keys.set_column(query.keys, "rows", pa.array(counts))
        if cut is None:
            places, inside = ints(rows["t"]), np.ones(len(codes), np.bool_)
        else:
            places, inside = _slices_of(cut, numbers)
        units = pa.table(
            [pa.array(codes[inside]), pa.array(places[inside])]
            + [rows[name].combine_chunks().filter(pa.array(inside)) for name in query.names],
            schema=self.slices.schema,
        )
        self.slices = self._merged(pa.concat_tables([self.slices, units]).combine_chunks())
        touched = codes[starts]
        if cut is None:
            ends = np.unique(np.stack([codes, places], axis=1), axis=0)
            owner, last = ends[:, 0], ends[:, 1]
            first, start = last - query.range + 1, last - query.range + 1
        else:
            owner, number = _completed(cut, touched, before[touched], counts[touched])
            first, last = number * cut.step, number * cut.step + cut.span - 1
            start = cut.grid.offset + number * cut.grid.slide
        return self._windows(owner, first, last, start)

    def _merged(self, slices: pa.Table) -> pa.Table:
        """One partial a key and slice; stable, so that rows keep their order within a slice."""
        code, place = ints(slices["code"]), ints(slices["i"])
        order = np.lexsort((place, code))
        slices = slices.take(pa.array(order)).combine_chunks()
        code, place = code[order], place[order]
        lo = np.union1d(starts_of_runs(code), starts_of_runs(place))
        if len(lo) == len(code):
            return slices
        hi = np.append(lo[1:], len(code))
        columns = [pa.array(code[lo]), pa.array(place[lo])]
        for name, monoid in zip(self.query.names, self.query.monoids, strict=True):
            columns.append(joined(whole(slices[name]), monoid, lo, hi))
        return pa.table(columns, schema=slices.schema)

    def _windows(self, owner: Ints, first: Ints, last: Ints, start: Ints) -> pa.Table:
        code, place = ints(self.slices["code"]), ints(self.slices["i"])
        lo, hi = np.empty(len(owner), np.int64), np.empty(len(owner), np.int64)
        for low, high in runs(owner):
            begin, end = np.searchsorted(code, (owner[low], owner[low] + 1))
            mine = place[begin:end]
            lo[low:high] = begin + np.searchsorted(mine, first[low:high], "left")
            hi[low:high] = begin + np.searchsorted(mine, last[low:high], "right")
        columns = [
            self.keys[name].combine_chunks().take(pa.array(owner)) for name in self.query.key_names
        ]
        columns.append(pa.array(start))
        for name, monoid in zip(self.query.names, self.query.monoids, strict=True):
            columns.append(joined(whole(self.slices[name]), monoid, lo, hi))
        return pa.table(columns, names=[*self.query.key_names, "w", *self.query.names])

    def _forget(self) -> None:
        """Drop the slices that no coming window holds, and the keys that have nothing left."""
        code, place = ints(self.slices["code"]), ints(self.slices["i"])
        cut = self.query.cut
        if cut is not None:
            done = (ints(self.keys["rows"]) - cut.grid.offset - cut.grid.range) // cut.grid.slide
            self.slices = self.slices.filter(pa.array(place >= (done[code] + 1) * cut.step))
            return
        stay = place > self.released - self.query.range
        alive, renumbered = np.unique(code[stay], return_inverse=True)
        kept = self.slices.filter(pa.array(stay))
        self.slices = kept.set_column(0, "code", pa.array(renumbered.astype(np.int64)))
        self.keys = self.keys.take(pa.array(alive))

    def snapshot(self) -> bytes:
        """The state as bytes."""
        tables = [self.waiting.rows, self.slices, self.keys]
        return snapshots.pack(FORMAT, tables, [self.released])

    @classmethod
    def restore(cls, query: TupleQuery, state: bytes) -> TupleWindows:
        """The operator as it was at the snapshot."""
        operator = cls(query)
        tables, (operator.released,) = snapshots.unpack(state, FORMAT, tables=3, numbers=1)
        operator.waiting.rows, operator.slices, operator.keys = tables
        return operator


def runs(codes: Ints) -> list[tuple[int, int]]:
    """Where each run of equal codes begins and ends."""
    edges = [*starts_of_runs(codes).tolist(), len(codes)]
    return list(pairwise(edges))


def _slices_of(cut: Cut, numbers: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """:meth:`Cut.slice_of` for many rows: the slice of each, and whether it is in one."""
    moved = numbers - cut.grid.offset
    slide, rest = moved // cut.grid.slide, moved % cut.grid.slide
    if cut.span == 1:
        return slide, rest < cut.grid.range
    if cut.technique == "pairs":
        return 2 * slide + (rest >= cut.head), np.ones(len(numbers), np.bool_)
    return moved // cut.head, np.ones(len(numbers), np.bool_)


def _completed(cut: Cut, codes: Ints, before: Ints, now: Ints) -> tuple[Ints, Ints]:
    """(key, window number) of the windows whose last row has come between two row counts."""
    grid = cut.grid
    done = (before - grid.offset - grid.range) // grid.slide
    through = (now - grid.offset - grid.range) // grid.slide
    fresh = through - done
    owner = np.repeat(codes, fresh)
    offsets = np.arange(len(owner)) - np.repeat(np.cumsum(fresh) - fresh, fresh)
    return owner, np.repeat(done, fresh) + 1 + offsets
