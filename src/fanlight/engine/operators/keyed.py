"""The base of operators over windows: partials by key and place.

The state of some keys is:

- ``keys``: each key with the number of its rows so far;
- ``slices``: partials, each with the number of its key (``code``) and where it is (``place``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Generic, Self, TypeVar

import numpy as np
import pyarrow as pa

from fanlight.engine.algebra.monoids import Monoid
from fanlight.engine.operators.order import in_order
from fanlight.engine.operators.partials import combined
from fanlight.engine.operators.protocol import BEGINNING, COMPLETE
from fanlight.engine.operators.snapshots import Snapshot
from fanlight.engine.operators.tables import Ints, coded, ints, starts_of_runs, whole, within_runs


@dataclass(frozen=True)
class KeyedQuery:
    """The fixed setup: the columns of a row are keys, ``t``, more to order by, partials."""

    schema: pa.Schema
    keys: int
    monoids: tuple[Monoid, ...]
    eager: ClassVar[bool] = False

    @property
    def has_no_late_rows(self) -> bool:
        """Rows may be late."""
        return False

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
        """The columns that order rows of one time: tiebreaks, then partials."""
        return list(self.schema.names[self.keys + 1 :])


Q = TypeVar("Q", bound=KeyedQuery)


class Keyed(Generic[Q]):
    """The running state of some keys: an operator without ``take``."""

    def __init__(self, query: Q) -> None:
        self.query = query
        self.released = BEGINNING
        kept = [("code", pa.int64()), ("place", pa.int64())]
        kept += [(name, query.schema.field(name).type) for name in query.names]
        self.slices = pa.schema(kept).empty_table()
        fields = [query.schema.field(name) for name in query.key_names]
        self.keys = pa.schema([*fields, pa.field("rows", pa.int64())]).empty_table()

    @property
    def deadlines(self) -> Ints:
        """Only rows complete windows."""
        return np.full(len(self.keys), COMPLETE)

    def snapshot(self) -> Snapshot:
        """The state as tables."""
        return Snapshot((self.keys, self.slices), self.released)

    @classmethod
    def restore(cls, query: Q, snapshot: Snapshot) -> Self:
        """The operator as it was at the snapshot."""
        operator = cls(query)
        operator.keys, operator.slices = snapshot.tables
        operator.released = snapshot.released
        return operator

    def codes_of(self, rows: pa.Table) -> Ints:
        """The number of each row's key; new keys get the next numbers."""
        names = self.query.key_names
        codes, fresh = coded(self.keys.select(names), rows.select(names))
        if len(fresh):
            # Without keys all rows have one key: a table of no columns would lose it.
            new = [whole(rows[name]).take(pa.array(fresh)) for name in names]
            new += self.begun(len(fresh))
            added = pa.table(new, schema=self.keys.schema)
            self.keys = pa.concat_tables([self.keys, added]).combine_chunks()
        return codes

    def begun(self, count: int) -> list[pa.Array]:
        """What is kept for each of some new keys: the columns after those of the key."""
        return [pa.array(np.zeros(count, np.int64))]

    def numbered(self, rows: pa.Table) -> tuple[pa.Table, Ints, Ints]:
        """Rows in order, the code of each one's key, and its number among the key's rows."""
        codes = self.codes_of(rows)
        order = in_order(rows, codes, self.query.ties)
        rows, codes = rows.take(pa.array(order)).combine_chunks(), codes[order]
        within = within_runs(starts_of_runs(codes), len(codes))
        counts = self.counts.copy()
        numbers = counts[codes] + within
        np.add.at(counts, codes, 1)
        self.keys = self.keys.set_column(self.query.keys, "rows", pa.array(counts))
        return rows, codes, numbers

    @property
    def counts(self) -> Ints:
        """How many rows each key has had."""
        return ints(self.keys["rows"])

    def placed(self, rows: pa.Table, codes: Ints, places: Ints) -> pa.Table:
        """Rows as slices: key, place, partials."""
        columns = [pa.array(codes), pa.array(places)]
        columns += [whole(rows[name]) for name in self.query.names]
        return pa.table(columns, schema=self.slices.schema)

    def keep(self, slices: pa.Table) -> None:
        """Combine slices with those kept; rows keep their order within a place."""
        slices = pa.concat_tables([self.slices, slices]).combine_chunks()
        code, place = ints(slices["code"]), ints(slices["place"])
        order = np.lexsort((place, code))
        slices = slices.take(pa.array(order)).combine_chunks()
        code, place = code[order], place[order]
        begins = np.union1d(starts_of_runs(code), starts_of_runs(place))
        self.slices = self.combined(slices, begins)

    def combined(self, slices: pa.Table, begins: Ints) -> pa.Table:
        """One slice for each run of slices, with the partial of the run; ``begins`` says where."""
        if len(begins) == len(slices):
            return slices
        ends = np.append(begins[1:], len(slices))
        first = pa.array(begins)
        columns = [whole(slices[name]).take(first) for name in ("code", "place")]
        return pa.table([*columns, *self.partials(slices, begins, ends)], schema=slices.schema)

    def partials(self, slices: pa.Table, lo: Ints, hi: Ints) -> list[pa.Array]:
        """The partials of ranges of slices, a column for each field."""
        pairs = zip(self.query.names, self.query.monoids, strict=True)
        return [combined(whole(slices[name]), monoid, lo, hi) for name, monoid in pairs]

    def windows(self, owner: Ints, first: Ints, last: Ints, labels: dict[str, Ints]) -> pa.Table:
        """Windows from the partials between two places, both included: keys, labels, partials.

        ``owner`` is the code of each window's key; windows of a key are consecutive, and neither
        end moves back from one to the next.
        """
        code, place = ints(self.slices["code"]), ints(self.slices["place"])
        begin, end = np.searchsorted(code, owner), np.searchsorted(code, owner + 1)
        lo, hi = _search_in_ranges(place, begin, end, first), _search_in_ranges(place, begin, end, last + 1)
        of = pa.array(owner)
        columns = [whole(self.keys[name]).take(of) for name in self.query.key_names]
        columns += [pa.array(values) for values in labels.values()]
        columns += self.partials(self.slices, lo, hi)
        return pa.table(columns, names=[*self.query.key_names, *labels, *self.query.names])

    def forget_keys(self) -> None:
        """Drop the keys that have no slice left."""
        alive, renumbered = np.unique(ints(self.slices["code"]), return_inverse=True)
        if len(alive) < self.keys.num_rows:
            codes = pa.array(renumbered.astype(np.int64).reshape(-1))
            self.slices = self.slices.set_column(0, "code", codes)
            self.keys = self.keys.take(pa.array(alive)).combine_chunks()


def _search_in_ranges(places: Ints, begin: Ints, end: Ints, wanted: Ints) -> Ints:
    """For each range of sorted places, where the first one is that is not less than wanted."""
    lo, hi = begin.astype(np.int64), end.astype(np.int64)
    while (lo < hi).any():  # all ranges are halved at once
        middle = (lo + hi) // 2
        less = (lo < hi) & (places[np.minimum(middle, len(places) - 1)] < wanted)
        lo, hi = np.where(less, middle + 1, lo), np.where(less, hi, np.minimum(middle, hi))
    return lo
