"""The stairwise chain: nested windows over granules that keep each partial only once.

Node g_k holds the partials in [t_k, t_{k-1}), where t_k is the start of the next window of level k;
the coarser the node, the coarser its granules (Patroumpas and Sellis, III.B, Figure 2). As time
advances, a partial that has fallen before t_{k-1} is shifted to node k and combined with the
partials of the same granule there. The paper's buffer node, which keeps shifted partials until
they are promoted, is here the newest granule of the core node, which still grows. Partials before
the start of the widest level are dropped.

All keys and nodes share one table: the place of a partial says which node it is in. The input is
either partials of granules, or rows, each a partial of one row, which are numbered first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from fanlight.engine.algebra.filling import Filled
from fanlight.engine.operators.arrow_tables import (
    Ints,
    as_array,
    ints,
    numbers_between,
    python_values,
    starts_of_runs,
    with_column,
)
from fanlight.engine.operators.keyed_operator import KeyedOperator, KeyedQuery
from fanlight.engine.operators.protocol import COMPLETE
from fanlight.engine.plan.granules import Granules, granules_of
from fanlight.engine.plan.grid import Grid


@dataclass(frozen=True)
class ChainQuery(KeyedQuery):
    """The fixed setup of the operator; ``t`` is the end of a granule, or the time of a row.

    If keys are forgotten, granules have the times of their first and last row after ``t``.
    """

    grids: tuple[Grid, ...]  # one for each level or query; column ``query`` has its index
    counts_rows: bool = False  # whether windows are counted in rows
    since: int | None = None  # rows of a key with a lower number are in no window

    @property
    def has_no_late_rows(self) -> bool:
        """True of granules: Spark made them of rows that were not late."""
        return not self.counts_rows

    @property
    def nodes(self) -> list[Grid]:
        """The levels, finest first."""
        return sorted(self.grids, key=lambda grid: (grid.range, grid.slide))

    def start(self) -> ChainWindows:
        """An operator without state."""
        return ChainWindows(self)


class ChainWindows(KeyedOperator[ChainQuery]):
    """The running state of some keys."""

    def __init__(self, query: ChainQuery) -> None:
        super().__init__(query)
        self.filling = any(isinstance(monoid, Filled) for monoid in query.monoids)
        if self.filling:
            self.keys = self.keys.append_column("carry", pa.array([], pa.float64()))
        self.granules = [granules_of(query.nodes[k:]) for k in range(len(query.nodes))]

    @property
    def deadlines(self) -> Ints:
        """For each key, the end of the next window that has a partial of it."""
        deadlines = super().deadlines
        if not self.query.counts_rows:
            self.end_with_windows(deadlines, self.query.grids)
        return deadlines

    @property
    def partial_count(self) -> int:
        """The number of partials in the chain, over all keys and nodes."""
        return int(self.slices.num_rows)

    def take(self, rows: pa.Table, watermark: int) -> pa.Table | None:
        """Take rows; return the windows they complete: keys, ``query``, ``start``, partials."""
        before = self.released
        self.released = max(self.released, watermark)
        windows = None
        if rows.num_rows or self.query.forget_after is not None or not self.query.counts_rows:
            add = self._add_rows if self.query.counts_rows else self._add_granules
            was, now = add(rows, before)
            # The windows of a life that no row can go on with are all given.
            now = np.where(self.complete_lives, COMPLETE >> 1, now)
            windows = self._make_completed_windows(was, now)
            self._shift_partials(now)
        self.keep_keys(~self.complete_lives)
        return windows

    def new_key_columns(self, count: int) -> list[pa.Array]:
        """Initial values for ``count`` new keys: no rows and, to fill series, no value to carry."""
        carry = [pa.nulls(count, pa.float64())] if self.filling else []
        return [*super().new_key_columns(count), *carry]

    def _add_granules(self, granules: pa.Table, before: int) -> tuple[Ints, Ints]:
        """Add granules to the chain at their places; return up to when windows are out, by key."""
        if granules.num_rows:
            codes = self.codes_of(granules)
            if self.query.forget_after is not None:
                order = np.lexsort((ints(granules["t"]), codes))
                granules = granules.take(pa.array(order)).combine_chunks()
                rows = [ints(granules[name]) for name in self.query.tie_columns[:2]]
                codes = self.begin_lives(codes[order], *rows)
            places = _granule_starts(self.granules[0], ints(granules["t"]) - 1)
            slices = self.to_slices(granules, codes, places)
            self.add_slices(self._carry_latest(slices) if self.filling else slices)
        size = self.keys.num_rows
        return np.full(size, before), np.full(size, self.released)

    def _carry_latest(self, slices: pa.Table) -> pa.Table:
        """Give each granule the latest value before it; keep the last value for the next one."""
        code, place = ints(slices["code"]), ints(slices["place"])
        slices = slices.take(pa.array(np.lexsort((place, code))))
        carry = self.keys["carry"].to_pylist()
        (name,) = self.query.partial_names
        partials = []
        for key, partial in zip(
            ints(slices["code"]).tolist(), python_values(as_array(slices[name])), strict=True
        ):
            partials.append(Filled.with_earlier_value(carry[key], partial))
            carry[key] = Filled.latest_value(partial)
        self.keys = with_column(self.keys, "carry", pa.array(carry, pa.float64()))
        return with_column(slices, name, pa.array(partials, slices.schema.field(name).type))

    def _add_rows(self, rows: pa.Table, before: int) -> tuple[Ints, Ints]:
        """Add rows to the chain; return how many rows each key had before, and has now."""
        del before
        rows, codes, numbers = self.number_rows(rows)
        now = self.counts
        was = now - np.bincount(codes, minlength=len(now))
        counts = pa.array(numbers >= (self.query.since or 0))
        slices = self.to_slices(rows, codes, _granule_starts(self.granules[0], numbers))
        self.add_slices(slices.filter(counts))
        return was, now

    def _make_completed_windows(self, was: Ints, now: Ints) -> pa.Table | None:
        """The windows of all levels that end in (was, now], limits given for each key."""
        code, place = ints(self.slices["code"]), ints(self.slices["place"])
        if not len(code):
            return None
        parts = []
        for number, grid in enumerate(self.query.grids):
            owner, windows = _windows_ended(grid, code, place, was, now)
            if len(owner):
                starts = grid.window_start(windows)
                labels = {"query": np.full(len(owner), number), "start": starts}
                parts.append(self.make_windows(owner, starts, grid.window_end(windows) - 1, labels))
        return pa.concat_tables(parts) if parts else None

    def _shift_partials(self, now: Ints) -> None:
        """Shift partials to the nodes they are in now, combine them, and drop those in none."""
        code, place = ints(self.slices["code"]), ints(self.slices["place"])
        node = np.full(len(code), len(self.granules), np.int64)
        granule = place.copy()
        for k in range(len(self.granules) - 1, -1, -1):
            start = next_window_start(self.query.nodes[k], now)
            here = place >= start[code] if len(code) else place > 0
            node[here] = k
            granule[here] = _granule_starts(self.granules[k], place[here])
        stay = node < len(self.granules)
        slices = self.slices.filter(pa.array(stay))
        code, node, granule = code[stay], node[stay], granule[stay]
        # Within a key, places rise as nodes fall: the rows of a (key, node, granule) are one run.
        begins = starts_of_runs(code, node, granule)
        self.slices = self.combine_runs(slices, begins).combine_chunks()
        if not self.query.counts_rows and not self.filling:
            self.forget_keys()


def next_window_start(grid: Grid, now: Any) -> Any:
    """The start of the next window of a level, once those that end by ``now`` are out."""
    return grid.window_start(grid.first_window(now))


def _granule_starts(granules: Granules, places: Ints) -> Ints:
    """:meth:`Granules.slice_start` for many places."""
    starts: Ints = np.maximum.reduce(
        [places - (places - first) % every for first, every in granules.edges]
    )
    return starts


def _windows_ended(grid: Grid, code: Ints, place: Ints, was: Ints, now: Ints) -> tuple[Ints, Ints]:
    """(key, window), each once, of the windows that hold a partial and end in (was, now]."""
    first = grid.first_window(np.maximum(place, was[code]))
    last = np.minimum(grid.last_window(place), grid.last_ended_window(now[code]))
    # Within a key, places rise, and so do both: start after the last window of the place before.
    same = np.append(False, code[1:] == code[:-1])
    first = np.where(same, np.maximum(first, np.append(first[:1], last[:-1] + 1)), first)
    return numbers_between(code, first, last)
