"""Base class of window operators whose state is partials by key and place.

The state is two tables:

- ``keys``: each key, how many rows it has had, and, if keys are forgotten, when its last row was;
- ``slices``: partials, each with the number of its key (``code``) and its coordinate (``place``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.engine.algebra.monoids import Monoid
from fanlight.engine.operators.arrow_tables import (
    Ints,
    argsort_rows,
    as_array,
    encode_keys,
    ints,
    positions_in_runs,
    starts_of_runs,
    with_column,
)
from fanlight.engine.operators.clock import MICROSECONDS, UNSEEN, Clock, complete_lives, split_lives
from fanlight.engine.operators.partials import combine_columns, combine_covering
from fanlight.engine.operators.protocol import BEGINNING, COMPLETE
from fanlight.engine.operators.snapshots import Snapshot
from fanlight.engine.plan.grid import Grid

Combine = Callable[[Sequence[pa.Array], Sequence[Monoid], Ints, Ints], tuple[Ints, list[pa.Array]]]


@dataclass(frozen=True)
class KeyedQuery(ABC):
    """The fixed setup of an operator; a row has, in order, keys, ``t``, tiebreaks and partials.

    ``partials`` are the names of partials, and ``sources`` the columns with those of one row, where
    a column has another name or is not sent: a source without a name is 1.
    """

    schema: pa.Schema
    keys: int
    monoids: tuple[Monoid, ...]
    partials: tuple[str, ...] = field(default=(), kw_only=True)
    sources: tuple[str, ...] = field(default=(), kw_only=True)
    forget_after: int | None = field(default=None, kw_only=True)  # see operators/lives.py
    clock: Clock = field(default=MICROSECONDS, kw_only=True)  # of the coordinates of windows
    eager: ClassVar[bool] = False

    @property
    def has_no_late_rows(self) -> bool:
        """False: rows may be late."""
        return False

    @property
    def partial_names(self) -> list[str]:
        """The names of the partials: without others, those of the last columns."""
        return list(self.partials or self.schema.names[len(self.schema) - len(self.monoids) :])

    @property
    def partial_types(self) -> list[pa.DataType]:
        """The types of partials."""
        sources = self.sources or self.partial_names
        return [self.schema.field(one).type if one else pa.int64() for one in sources]

    @property
    def slice_columns(self) -> list[tuple[str, pa.DataType]]:
        """What a slice has besides the number of its key and its place: the partials first."""
        return list(zip(self.partial_names, self.partial_types, strict=True))

    @property
    def key_names(self) -> list[str]:
        """The columns of the key."""
        return list(self.schema.names[: self.keys])

    @property
    def counters(self) -> dict[str, int]:
        """What is kept of a key besides the key itself, and what a new one has."""
        return {"rows": 0} if self.forget_after is None else {"rows": 0, "seen": UNSEEN}

    @property
    def tie_columns(self) -> list[str]:
        """The columns that order rows of the same time: tiebreaks, then partials."""
        return list(self.schema.names[self.keys + 1 :])

    @abstractmethod
    def start(self) -> KeyedOperator[Any]:
        """An operator without state."""

    def resume(self, snapshot: Snapshot) -> KeyedOperator[Any]:
        """The operator as it was at a snapshot."""
        operator = self.start()
        operator.keys, operator.slices = snapshot.tables
        operator.released = snapshot.released
        return operator


Q = TypeVar("Q", bound=KeyedQuery)


class KeyedOperator(ABC, Generic[Q]):
    """The running state of some keys."""

    def __init__(self, query: Q) -> None:
        self.query = query
        self.released = BEGINNING
        columns = [("code", pa.int64()), ("place", pa.int64())]
        columns += query.slice_columns
        self.slices = pa.schema(columns).empty_table()
        fields = [query.schema.field(name) for name in query.key_names]
        fields += [pa.field(name, pa.int64()) for name in query.counters]
        self.keys = pa.schema(fields).empty_table()

    @property
    def deadlines(self) -> Ints:
        """When each key is forgotten: no watermark completes a window, only rows do."""
        if self.query.forget_after is None:
            return np.full(len(self.keys), COMPLETE)
        return ints(self.keys["seen"]) + self.query.forget_after

    @property
    def held(self) -> int:
        """The number of slices that are kept, and of keys."""
        return int(self.slices.num_rows + self.keys.num_rows)

    @property
    def now(self) -> int:
        """The coordinate that the watermark has passed."""
        return self.query.clock.number(self.released)

    def windows_ahead(self, grid: Grid) -> tuple[Ints, NDArray[np.bool_]]:
        """The first window of each slice that has not ended, and whether there is one."""
        place = ints(self.slices["place"])
        first = grid.first_window(np.maximum(place, np.int64(self.now)))
        return first, first <= grid.last_window(place)

    def end_with_windows(self, deadlines: Ints, grids: Sequence[Grid]) -> None:
        """Bring the deadline of each key forward to the end of its next window with a slice."""
        code = ints(self.slices["code"])
        for grid in grids:
            first, some = self.windows_ahead(grid)
            ends = self.query.clock.instant(grid.window_end(first[some]))
            np.minimum.at(deadlines, code[some], ends)

    def snapshot(self) -> Snapshot:
        """The state as tables."""
        return Snapshot((self.keys, self.slices), self.released)

    @abstractmethod
    def take(self, rows: pa.Table, watermark: int) -> pa.Table | None:
        """Take rows; return the results that the watermark completes."""

    def codes_of(self, rows: pa.Table) -> Ints:
        """The number of each row's key; new keys are added, with the next numbers."""
        names = self.query.key_names
        codes, fresh = encode_keys(self.keys.select(names), rows.select(names))
        if len(fresh):
            # Without keys, all rows share one key, which a table without columns would lose.
            new = [as_array(rows[name]).take(pa.array(fresh)) for name in names]
            new += self.new_key_columns(len(fresh))
            added = pa.table(new, schema=self.keys.schema)
            self.keys = pa.concat_tables([self.keys, added]).combine_chunks()
        return codes

    def new_key_columns(self, count: int) -> list[pa.Array]:
        """Initial values for ``count`` new keys in the columns of ``keys`` after the key itself."""
        return [pa.array(np.full(count, value)) for value in self.query.counters.values()]

    def begin_lives(self, codes: Ints, first: Ints, last: Ints) -> Ints:
        """The code of each sorted row's life; see :func:`operators.lives.split_lives`."""
        if self.query.forget_after is None:
            return codes
        seen = ints(self.keys["seen"])
        lives = split_lives(codes, first, last, seen, self.query.forget_after)
        begun = pa.array(lives.begun)
        again = [as_array(self.keys[name]).take(begun) for name in self.query.key_names]
        again += self.new_key_columns(len(begun))
        both = [self.keys, pa.table(again, schema=self.keys.schema)]
        self.keys = pa.concat_tables(both).combine_chunks()
        self.set_counter("seen", lives.seen)
        return lives.codes

    @property
    def complete_lives(self) -> NDArray[np.bool_]:
        """Which keys no row can go on with."""
        if self.query.forget_after is None:
            return np.zeros(len(self.keys), np.bool_)
        return complete_lives(ints(self.keys["seen"]), self.query.forget_after, self.released)

    def set_counter(self, name: str, values: Ints) -> None:
        """Replace a column of the table of keys."""
        self.keys = with_column(self.keys, name, pa.array(values))

    def number_rows(self, rows: pa.Table) -> tuple[pa.Table, Ints, Ints]:
        """Sort and number rows: rows, the code of each one's key, its number among the key's."""
        codes = self.codes_of(rows)
        order = argsort_rows(rows, codes, self.query.tie_columns)
        rows, times = rows.take(pa.array(order)).combine_chunks(), ints(rows["t"])[order]
        codes = self.begin_lives(codes[order], times, times)
        within = positions_in_runs(starts_of_runs(codes), len(codes))
        counts = self.counts.copy()
        numbers = counts[codes] + within
        np.add.at(counts, codes, 1)
        self.set_counter("rows", counts)
        return rows, codes, numbers

    @property
    def counts(self) -> Ints:
        """The number of rows that each key has had."""
        return ints(self.keys["rows"])

    def to_slices(self, rows: pa.Table, codes: Ints, *places: Ints) -> pa.Table:
        """Rows as slices: key, place, what else places them, partials."""
        columns = [pa.array(part) for part in (codes, *places)]
        return pa.table([*columns, *self.partials_of(rows)], schema=self.slices.schema)

    def partials_of(self, rows: pa.Table) -> list[pa.Array]:
        """The partials of each row by itself."""
        return [
            as_array(rows[source]) if source else pa.array(np.ones(len(rows), np.int64))
            for source in self.query.sources or self.query.partial_names
        ]

    def add_slices(self, slices: pa.Table) -> None:
        """Add slices to the state, combined by place; rows keep their order within a place."""
        slices = pa.concat_tables([self.slices, slices]).combine_chunks()
        places = [ints(slices[name]) for name in self._place_names]
        order = np.lexsort(places[::-1])
        slices = slices.take(pa.array(order)).combine_chunks()
        begins = starts_of_runs(*[part[order] for part in places])
        self.slices = self.combine_runs(slices, begins)

    @property
    def _place_names(self) -> list[str]:
        """The columns of slices that are no partials: the number of the key, and places."""
        names = self.slices.column_names
        return [name for name in names if name not in self.query.partial_names]

    def combine_runs(self, slices: pa.Table, begins: Ints) -> pa.Table:
        """Combine each run of slices to one; ``begins`` has the first slice of each run."""
        if len(begins) == len(slices):
            return slices
        ends = np.append(begins[1:], len(slices))
        first = pa.array(begins)
        columns = [as_array(slices[name]).take(first) for name in self._place_names]
        columns += self.combine_ranges(slices, begins, ends)
        return pa.table(columns, schema=slices.schema)

    def combine_ranges(self, slices: pa.Table, lo: Ints, hi: Ints) -> list[pa.Array]:
        """Combine the partials in ranges of slices; returns a column for each field."""
        columns = [as_array(slices[name]) for name in self.query.partial_names]
        return combine_columns(columns, self.query.monoids, lo, hi)

    def make_windows(
        self, owner: Ints, first: Ints, last: Ints, labels: dict[str, Ints]
    ) -> pa.Table:
        """Roll up slices to windows; a row of the result has key, labels and partials.

        A window has the slices of the key with code ``owner`` whose places are from ``first`` to
        ``last``, both included. The windows of a key are consecutive, and neither end moves back
        from one to the next.
        """
        code, place = ints(self.slices["code"]), ints(self.slices["place"])
        begin, end = np.searchsorted(code, owner), np.searchsorted(code, owner + 1)
        lo = search_in_ranges(place, begin, end, first)
        hi = search_in_ranges(place, begin, end, last + 1)
        return self.window_table(owner, labels, self.combine_ranges(self.slices, lo, hi))

    def cover(
        self,
        owner: Ints,
        window: Ints,
        low: Ints,
        high: Ints,
        combine: Combine = combine_covering,
    ) -> tuple[Ints, list[pa.Array]]:
        """Combine the slices that are in each of these windows of keys, sorted; see ``combine``.

        A slice is in the windows of its key from ``low`` to ``high``, both included.
        """
        code = ints(self.slices["code"])
        begin, end = np.searchsorted(owner, code), np.searchsorted(owner, code, side="right")
        lo = search_in_ranges(window, begin, end, low)
        hi = search_in_ranges(window, begin, end, high + 1)
        there = pa.array(lo < hi)
        values = [as_array(self.slices[name]).filter(there) for name in self.query.partial_names]
        return combine(values, self.query.monoids, lo[lo < hi], hi[lo < hi])

    def window_table(self, owner: Any, labels: dict[str, Any], partials: Sequence[Any]) -> pa.Table:
        """A table of windows of these keys: the key, labels, then partials."""
        of = pa.array(owner)
        keys = {name: as_array(self.keys[name]).take(of) for name in self.query.key_names}
        return pa.table(keys | labels | dict(zip(self.query.partial_names, partials, strict=True)))

    def forget_keys(self) -> None:
        """Drop the keys that have no slice left, and renumber the others."""
        alive = np.zeros(self.keys.num_rows, np.bool_)
        alive[ints(self.slices["code"])] = True
        self.keep_keys(alive)

    def keep_keys(self, alive: NDArray[np.bool_]) -> None:
        """Drop all other keys with their slices, and renumber these."""
        if alive.all():
            return
        code = ints(self.slices["code"])
        stay = alive[code]
        self.slices = self.slices.filter(pa.array(stay)).combine_chunks()
        renumbered = np.cumsum(alive) - 1
        self.slices = with_column(self.slices, "code", pa.array(renumbered[code[stay]]))
        self.keys = self.keys.filter(pa.array(alive)).combine_chunks()


def search_in_ranges(places: Ints, begin: Ints, end: Ints, wanted: Ints) -> Ints:
    """Binary search in many ranges of sorted places: the first place not less than wanted."""
    lo, hi = begin.astype(np.int64), end.astype(np.int64)
    while (lo < hi).any():  # all searches advance together
        middle = (lo + hi) // 2
        less = (lo < hi) & (places[np.minimum(middle, len(places) - 1)] < wanted)
        lo, hi = np.where(less, middle + 1, lo), np.where(less, hi, np.minimum(middle, hi))
    return lo
