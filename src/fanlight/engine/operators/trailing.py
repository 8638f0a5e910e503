"""Trailing windows: of each row, or of each row that asks, the partials of what came before it.

Rows come in order of time, and those of one time together. The state has the rows that later ones
may look back at; where a window reaches back to the first row, those before are one row a key,
``BEFORE`` all times.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.engine.algebra.ordering import Reading
from fanlight.engine.kernels.windows import find_ranges
from fanlight.engine.operators.arrow_tables import (
    Ints,
    argsort_rows,
    argsort_slots,
    as_array,
    flags,
    ints,
    starts_of_runs,
    with_column,
)
from fanlight.engine.operators.clock import UNSEEN, LocalClock
from fanlight.engine.operators.keyed_operator import (
    KeyedOperator,
    KeyedQuery,
    search_in_ranges,
)
from fanlight.engine.operators.partials import combine_pairs, combine_returning_ranges
from fanlight.engine.operators.protocol import BEGINNING, COMPLETE
from fanlight.engine.operators.ranked_windows import compute_reading, rank_values
from fanlight.engine.plan.trailing import EVER, Horizon

BEFORE = -(2**63)
ASKED = "asked"
COPIED = "copied"
SINCE = "since"  # when a window begins that a calendar places


@dataclass(frozen=True)
class TrailingQuery(KeyedQuery):
    """The fixed setup: a row has keys, ``t``, columns that order it, payload, and partials.

    ``ranked`` is what is read off values in the order of their ranks: its name, the column of
    values, and the reading. If some rows only ask, and others are only looked back at, the column
    ``asked`` tells. If some have been copied, which are looked back at but do not ask here, the
    column ``copied`` does. ``sorted``: rows come in their order.
    """

    horizons: tuple[Horizon, ...]
    order: tuple[str, ...]
    payload: tuple[str, ...]
    ranked: tuple[tuple[str, str, Reading], ...] = ()
    asking: bool = False
    copied: bool = False
    sorted: bool = False

    @property
    def tie_columns(self) -> list[str]:
        """The columns that order rows of the same time."""
        return list(self.order)

    @property
    def ranked_columns(self) -> list[str]:
        """The columns of values that are ranked, each once."""
        return list(dict.fromkeys(source for _, source, _ in self.ranked))

    @property
    def slice_columns(self) -> list[tuple[str, pa.DataType]]:
        """The partials of a row, then its values."""
        values = [(name, self.schema.field(name).type) for name in self.ranked_columns]
        return [*super().slice_columns, *values]

    @property
    def is_whole(self) -> bool:
        """Whether a window reaches back to the first row."""
        return any(horizon.whole for horizon in self.horizons)

    @property
    def longest(self) -> int:
        """How long a row counts for later rows. ``EVER`` if there is no limit."""
        return max(horizon.first for horizon in self.horizons)

    def start(self) -> Trailer:
        """An operator without state."""
        return Trailer(self)


class Trailer(KeyedOperator[TrailingQuery]):
    """The running state of some keys."""

    @property
    def deadlines(self) -> Ints:
        """When no row of a key is looked back at any more."""
        deadlines = super().deadlines
        if self.query.longest < EVER:
            last = np.full(len(self.keys), BEFORE)
            np.maximum.at(last, ints(self.slices["code"]), ints(self.slices["place"]))
            known = last > BEFORE
            deadlines[known] = np.minimum(deadlines[known], last[known] + self.query.longest + 1)
        return deadlines

    def take(self, rows: pa.Table, watermark: int) -> pa.Table | None:
        """Take rows; return those that ask, with the partials of their windows.

        A row without a time, which only a batch has, has null partials.
        """
        self.released = max(self.released, watermark)
        if not rows.num_rows:
            found = None
        elif rows["t"].null_count:
            found = self._look_back(*self._in_order(rows.filter(rows["t"].is_valid())))
            found = self._with_lost(found, rows.filter(rows["t"].is_null()))
        else:
            found = self._look_back(*self._in_order(rows))
        if BEGINNING < watermark < COMPLETE:
            self._drop_rows()
        return found

    def _with_lost(self, found: pa.Table, lost: pa.Table) -> pa.Table:
        """What is found, and those of the rows without a time that ask."""
        if self.query.asking:
            lost = lost.filter(lost[ASKED])
        own = {*self.query.payload, "t"}
        columns = [
            lost[one.name] if one.name in own else pa.nulls(len(lost), one.type)
            for one in found.schema
        ]
        return pa.concat_tables([found, pa.table(columns, schema=found.schema)])

    def _in_order(self, rows: pa.Table) -> tuple[pa.Table, Ints]:
        """Rows by key, in order, and the code of each one's key."""
        codes = self.codes_of(rows)
        if self.query.sorted:
            order = argsort_slots(codes)
        else:
            order = argsort_rows(rows, codes, self.query.tie_columns)
        rows, codes = rows.take(pa.array(order)), codes[order]
        return (rows, codes) if self.query.forget_after is None else self._by_lives(rows, codes)

    def _by_lives(self, rows: pa.Table, codes: Ints) -> tuple[pa.Table, Ints]:
        """Rows by life, in order, and the code of each one's life.

        Only rows that are looked back at break a silence: who asks changes no answer. So one that
        asks stands for the last of them up to its time; after a silence it is alone in a life.
        """
        last = ints(rows["t"])
        if self.query.asking:
            asked = flags(rows[ASKED])
            order = np.lexsort((asked, last, codes))
            rows, codes, asked = rows.take(pa.array(order)), codes[order], asked[order]
            last = self._last_looked_at(ints(rows["t"]), codes, asked)
        codes = self.begin_lives(codes, ints(rows["t"]), last)
        order = argsort_slots(codes)  # a life of a key comes after all keys
        return rows.take(pa.array(order)), codes[order]

    def _last_looked_at(self, times: Ints, codes: Ints, asked: NDArray[np.bool_]) -> Ints:
        """The time of the last row up to each that does not ask, of the same key."""
        starts = starts_of_runs(codes)
        begins = np.repeat(starts, np.diff(np.append(starts, len(codes))))
        latest = np.maximum.accumulate(np.where(asked, -1, np.arange(len(codes))))
        return np.where(latest >= begins, times[latest], ints(self.keys["seen"])[codes])

    def _look_back(self, rows: pa.Table, codes: Ints) -> pa.Table:
        """The rows that ask, with the partials of their windows; others are added to the state."""
        asked = self._which_ask(rows)
        asks = rows if asked is None else rows.filter(pa.array(asked))
        of = codes if asked is None else codes[asked]
        if asked is not None and self.query.asking:
            rows, codes = rows.filter(pa.array(~asked)), codes[~asked]
        places = self._add_rows(rows, codes)
        own = None if self.query.asking else places if asked is None else places[asked]
        names = [*self.query.payload, "t"]
        columns = [asks[name] for name in names]
        times = ints(asks["t"])
        values = {name: rank_values(self.slices[name]) for name in self.query.ranked_columns}
        for number, horizon in enumerate(self.query.horizons):
            since = _begins(horizon, times)
            lo, hi = self._find_ranges(horizon, of, times, since)
            columns += self._combine(horizon, own, lo, hi)
            of_all = np.zeros(len(lo), np.int64)  # keys may share ranks
            columns += [
                compute_reading(values[source], reading, of_all, lo, hi)
                for _, source, reading in self.query.ranked
            ]
            names += [f"{name}_{number}" for name in self.query.partial_names]
            names += [f"{name}_{number}" for name, _, _ in self.query.ranked]
            if since is not None:
                columns.append(pa.array(since))
                names.append(f"{SINCE}_{number}")
        return pa.table(columns, names=names)

    def _which_ask(self, rows: pa.Table) -> NDArray[np.bool_] | None:
        """Which rows ask; None if all do."""
        if self.query.asking:
            return flags(rows[ASKED])
        return ~flags(rows[COPIED]) if self.query.copied else None

    def _add_rows(self, rows: pa.Table, codes: Ints) -> Ints:
        """Add rows to those looked back at; return the place of each among them."""
        names = self.slices.schema.names
        columns = [pa.array(codes), as_array(rows["t"]), *self.partials_of(rows)]
        columns += [as_array(rows[name]) for name in self.query.ranked_columns]
        added = [c.cast(kind) for c, kind in zip(columns, self.slices.schema.types, strict=True)]
        kept = self.slices.num_rows
        both = pa.concat_tables([self.slices, pa.table(added, names=names)]).combine_chunks()
        order = argsort_slots(ints(both["code"]))
        self.slices = both.take(pa.array(order)).combine_chunks()
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        return places[kept:]

    def _find_ranges(
        self, horizon: Horizon, codes: Ints, times: Ints, since: Ints | None = None
    ) -> tuple[Ints, Ints]:
        """The rows of the windows of these keys at these times, which are in order.

        ``since`` is where windows begin that a calendar places.
        """
        keys = np.arange(self.keys.num_rows + 1)
        starts = np.searchsorted(ints(self.slices["code"]), keys)
        asked_starts = np.searchsorted(codes, keys)
        lo, hi = np.empty(len(times), np.int64), np.empty(len(times), np.int64)
        # If the row itself may be among the latest ones, one more is needed without it.
        rows = horizon.rows + (horizon.rows > 0 and not horizon.include_self)
        places = ints(self.slices["place"])
        find_ranges(places, starts, times, asked_starts, horizon.first, horizon.last, rows, lo, hi)
        if since is not None:
            lo = search_in_ranges(places, lo, hi, since + horizon.opened)
        return lo, hi

    def _combine_ranges(self, horizon: Horizon, lo: Ints, hi: Ints) -> list[pa.Array]:
        """Combine ranges of rows. Those of a calendar may begin before that of an earlier row."""
        if horizon.calendar is None:
            return self.combine_ranges(self.slices, lo, hi)
        columns = [as_array(self.slices[name]) for name in self.query.partial_names]
        return combine_returning_ranges(columns, self.query.monoids, lo, hi)

    def _combine(self, horizon: Horizon, own: Ints | None, lo: Ints, hi: Ints) -> list[pa.Array]:
        """The partials of windows, a column for each field."""
        if horizon.include_self or own is None:
            if horizon.rows and not horizon.include_self:
                lo = np.maximum(lo, hi - horizon.rows)
            return self._combine_ranges(horizon, lo, hi)
        inside = (own >= lo) & (own < hi)
        # Where the row itself is not among them, all are on one side of it: no end moves back.
        turn = np.maximum(lo, hi - horizon.rows) if horizon.rows else hi
        before = self._combine_ranges(
            horizon, lo, np.where(inside, own, lo if horizon.rows else hi)
        )
        after = self._combine_ranges(horizon, np.where(inside, own + 1, turn), hi)
        return combine_pairs(before, after, self.query.monoids)

    def _drop_rows(self) -> None:
        """Drop the rows that no later row looks back at, or make them one of each key."""
        code, place = ints(self.slices["code"]), ints(self.slices["place"])
        keys = np.arange(self.keys.num_rows)
        times = np.full(len(keys), self.released)
        keep = np.full(len(keys), len(code))
        for horizon in self.query.horizons:
            lo, hi = self._find_ranges(horizon, keys, times)
            keep = np.minimum(keep, hi if horizon.whole else lo)
        old = np.arange(len(code)) < keep[code]
        if not self.query.is_whole:
            self.slices = self.slices.filter(pa.array(~old)).combine_chunks()
        elif old.any():
            begins = np.union1d(np.flatnonzero(~old), starts_of_runs(code))
            self.slices = self.combine_runs(self.slices, begins)
            place = np.where(old, BEFORE, place)[begins]
            self.slices = with_column(self.slices, "place", pa.array(place)).combine_chunks()
        if self.query.forget_after is None:
            self.forget_keys()
        else:
            # One that has only been asked about has nothing to forget.
            self.keep_keys(~self.complete_lives & (ints(self.keys["seen"]) < UNSEEN))


def _begins(horizon: Horizon, times: Ints) -> Ints | None:
    """When the windows of rows at some times begin, if a calendar says so."""
    length = horizon.calendar
    if length is None:
        return None
    return LocalClock(length.clock).go_back(times - horizon.delay, length)
