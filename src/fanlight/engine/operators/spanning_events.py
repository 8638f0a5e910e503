"""Windows over events with a duration: the techniques, and the operator that runs any of them.

A *piece* is a partial with a place and a reach: two whole numbers, whose meaning is the technique's
own. An event is kept as the pieces of which each of its windows reads exactly one, until the last
of them has ended. All windows that read a piece follow each other. So a technique needs no more
than arithmetic, over arrays of events and of pieces.

Tuple buckets, aggregate buckets, plane sweeping, SE-Slicing and SE-ML-Slicing are those of Suzanne
et al., sections 3 to 5; dyadic intervals are of this library.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from fanlight.engine.algebra.monoids import Monoid
from fanlight.engine.operators.arrow_tables import (
    Ints,
    filter_rows,
    ints,
    numbers_between,
    python_values,
)
from fanlight.engine.operators.early_windows import each_once
from fanlight.engine.operators.keyed_operator import KeyedOperator, KeyedQuery
from fanlight.engine.operators.partials import combine_covering
from fanlight.engine.operators.protocol import COMPLETE
from fanlight.engine.plan.granules import Cut

PART = 20_000  # events that are made to pieces at a time


@dataclass(frozen=True)
class SpanningQuery(KeyedQuery):
    """The fixed setup: a row has keys, ``t``, ``first_at``, ``last_at``, partials.

    ``t`` is the end of its first window; it is of an event from its first to its last instant.
    """

    cut: Cut
    technique: str
    height: int = 1
    eager: ClassVar[bool] = True

    @property
    def slice_columns(self) -> list[tuple[str, pa.DataType]]:
        """What a piece has besides its key and place."""
        return [("reach", pa.int64()), *super().slice_columns]

    def start(self) -> SpanningOperator:
        """An operator without state."""
        return SpanningOperator(self)


class SpanningOperator(KeyedOperator[SpanningQuery]):
    """The running state of some keys."""

    @cached_property
    def technique(self) -> Technique:
        """What says where an event is kept."""
        return TECHNIQUES[self.query.technique](self.query.cut, self.query.height)

    @property
    def _ahead(self) -> tuple[Ints, Ints]:
        """The first and last unreleased window that reads each piece."""
        places = ints(self.slices["place"]), ints(self.slices["reach"])
        low, high = self.technique.windows(*places)
        return np.maximum(low, self._ended + 1), high

    @property
    def _ended(self) -> int:
        return self.query.cut.grid.last_ended_window(self.released)

    @property
    def deadlines(self) -> Ints:
        """For each key, the end of its next window."""
        deadlines = np.full(len(self.keys), COMPLETE)
        ends = self.query.cut.grid.window_end(self._ahead[0])
        np.minimum.at(deadlines, ints(self.slices["code"]), ends)
        return deadlines

    def take(self, rows: pa.Table, watermark: int) -> pa.Table | None:
        """Take events; return the windows that end by the watermark: keys, ``start``, partials.

        No event may be in a window that has been released.
        """
        for at in range(0, len(rows), PART):
            self._insert(rows.slice(at, PART))
        low, high = self._ahead
        self.released = max(self.released, watermark)
        ended = np.minimum(high, self._ended)
        owner, window = each_once(ints(self.slices["code"]), low, ended)
        covered, partials = self.cover(owner, window, low, ended, self.technique.combine)
        starts = self.query.cut.grid.window_start(window[covered])
        found = self.window_table(owner[covered], {"start": starts}, partials)
        self.slices = filter_rows(self.slices, high > self._ended).combine_chunks()
        self.forget_keys()
        return found

    def _insert(self, events: pa.Table) -> None:
        first, last = ints(events["first_at"]), ints(events["last_at"])
        grid = self.query.cut.grid
        some = grid.first_window(first) <= grid.last_window(last)
        events = filter_rows(events, some).combine_chunks()
        codes = self.codes_of(events)
        of, *places = self.technique.pieces(first[some], last[some])
        pieces = self.to_slices(events.take(pa.array(of)), codes[of], *places)
        if self.technique.combines:
            self.add_slices(pieces)
        else:
            self.slices = pa.concat_tables([self.slices, pieces])


Covered = tuple[Ints, list[pa.Array]]
PHI, VARPHI = 0, 1
_FITS = 2.0**62  # sums that are less are exact in 64 bits


@dataclass(frozen=True)
class Technique(ABC):
    """How events are kept, whose windows ``cut`` has, with its slices."""

    cut: Cut
    height: int = 1
    combines: ClassVar[bool] = True  # the pieces of one place and reach are combined to one

    @abstractmethod
    def pieces(self, first: Ints, last: Ints) -> tuple[Ints, Ints, Ints]:
        """The pieces of events from ``first`` to ``last``: the event's number, place and reach.

        Each event is in some window.
        """

    @abstractmethod
    def windows(self, place: Ints, reach: Ints) -> tuple[Ints, Ints]:
        """The first and the last window that read each piece: none if they are the other way."""

    def combine(
        self, columns: Sequence[pa.Array], monoids: Sequence[Monoid], lo: Ints, hi: Ints
    ) -> Covered:
        """Combine, for each place, the partials of all ranges ``[lo_i, hi_i)`` that cover it."""
        return combine_covering(columns, monoids, lo, hi)


class AggregateBuckets(Technique):
    """A baseline of the paper: a partial for each window. The place is the window."""

    def pieces(self, first: Ints, last: Ints) -> tuple[Ints, Ints, Ints]:
        """One in the bucket of each window of the event."""
        grid, of = self.cut.grid, np.arange(len(first))
        of, window = numbers_between(of, grid.first_window(first), grid.last_window(last))
        return of, window, np.zeros_like(window)

    def windows(self, place: Ints, reach: Ints) -> tuple[Ints, Ints]:
        """The window whose bucket it is."""
        del reach
        return place, place


class TupleBuckets(AggregateBuckets):
    """A baseline of the paper: each window keeps its events, which are combined in the end."""

    combines = False


class SelectiveSweeping(Technique):
    """Plane sweeping (Piatov and Helmer): events themselves, of which the extremes are found.

    The place is an event's first coordinate, the reach its last. Nothing is subtracted.
    """

    combines = False

    def pieces(self, first: Ints, last: Ints) -> tuple[Ints, Ints, Ints]:
        """The event."""
        return np.arange(len(first)), first, last

    def windows(self, place: Ints, reach: Ints) -> tuple[Ints, Ints]:
        """The windows that end after the event's start and begin before its end."""
        return self.cut.grid.first_window(place), self.cut.grid.last_window(reach)


class CumulativeSweeping(SelectiveSweeping):
    """The same, but events are added when they begin, and subtracted when they have ended.

    Only for monoids with exact inverses.
    """

    def combine(
        self, columns: Sequence[pa.Array], monoids: Sequence[Monoid], lo: Ints, hi: Ints
    ) -> Covered:
        """Sweep over the places from the first to the last."""
        size = int(hi.max(initial=0))
        covered = np.flatnonzero(_running(np.ones(len(lo), np.int64), lo, hi, size))
        taken = pa.array(covered)
        pairs = zip(columns, monoids, strict=True)
        return covered, [_sweep(*one, lo, hi, size).take(taken) for one in pairs]


def _running(values: Ints, lo: Ints, hi: Ints, size: int) -> Ints:
    """For each place, the sum of the values whose ranges cover it."""
    changes = np.zeros(size + 1, np.int64)
    np.add.at(changes, lo, values)
    np.subtract.at(changes, hi, values)
    return np.cumsum(changes)[:size]


def _sweep(column: pa.Array, monoid: Any, lo: Ints, hi: Ints, size: int) -> pa.Array:
    """For each place, the partials that cover it; a place without values is null, not 0."""
    valid = np.asarray(column.is_valid())
    known = _running(valid.astype(np.int64), lo, hi, size)
    if pa.types.is_integer(column.type) and monoid.combining == "sum":
        values = ints(column.fill_null(0))
        if np.abs(values.astype(np.float64)).sum() < _FITS:
            return pa.array(_running(values, lo, hi, size), mask=known == 0).cast(column.type)
    partials, found, total = python_values(column), [], None
    begin, end = (at[np.argsort(ends[at], kind="stable")].tolist()
                  for at in [np.flatnonzero(valid)] for ends in (lo, hi))  # fmt: skip
    begun = ended = 0
    for place, there in enumerate(known.tolist()):
        while begun < len(begin) and lo[begin[begun]] <= place:
            total = monoid.combine_values(total, partials[begin[begun]])
            begun += 1
        while ended < len(end) and hi[end[ended]] <= place:
            total = monoid.without(total, partials[end[ended]])
            ended += 1
        total = total if there else None
        found.append(total)
    return pa.array(found, type=column.type)


class SeMlSlicing(Technique):
    """SE-ML-Slicing (Algorithms 5 to 8): level ``k`` of slice ``i`` covers slices i-k+1 to i.

    The place is the slice. Of each level there are two partials, of events that end in the slice
    (phi) and that go on (varphi): the reach is ``2 * level`` and which of the two it is.
    """

    def pieces(self, first: Ints, last: Ints) -> tuple[Ints, Ints, Ints]:
        """The highest level that an event fills, back from its last slice by heights."""
        low, high = self.cut.slice_of(first), self.cut.slice_of(last)
        low = np.where(self.cut.grid.has_window(first), low, low + 1)  # slices in gaps do not count
        steps = (high - low) // self.height
        of, step = numbers_between(np.arange(len(low)), np.zeros_like(low), steps)
        slice_ = high[of] - step * self.height
        level = np.minimum(slice_ - low[of] + 1, self.height)
        return of, slice_, 2 * level + np.where(step > 0, VARPHI, PHI)

    def windows(self, place: Ints, reach: Ints) -> tuple[Ints, Ints]:
        """The windows with a slice of the event, or whose last slice is one, if it goes on."""
        level, part = reach // 2, reach % 2
        low = -((self.cut.span - 2 + level - place) // self.cut.step)
        return low, (place - np.where(part == PHI, 0, self.cut.span - 1)) // self.cut.step


class SeSlicing(SeMlSlicing):
    """SE-Slicing (Algorithms 1 to 4): one level, so an event updates each of its slices."""

    def __init__(self, cut: Cut, height: int = 1) -> None:
        del height
        super().__init__(cut, 1)


class DyadicIntervals(Technique):
    """An event's windows are a suffix of one dyadic interval and a prefix of the next.

    The place is its first window, and its last one; the reach is the order of the smallest dyadic
    interval that contains both, whose halves are the left and the right interval.
    """

    def pieces(self, first: Ints, last: Ints) -> tuple[Ints, Ints, Ints]:
        """Two pieces per event, or one if the event is in a single window."""
        low, high = self.cut.grid.first_window(first), self.cut.grid.last_window(last)
        two = np.flatnonzero(low < high)
        of = np.append(np.arange(len(low)), two)
        return of, np.append(low, high[two]), _bits(low ^ high)[of]

    def windows(self, place: Ints, reach: Ints) -> tuple[Ints, Ints]:
        """A left interval begins at the first window, a right interval ends at the last."""
        half = np.maximum(reach - 1, 0)
        inside = (np.int64(1) << half) - 1
        # Of all numbers of 64 bits, the right half is the one from 0 on.
        right = ((place >> half) & 1 == 1) != (reach == 64)
        return np.where(right, place & ~inside, place), np.where(right, place, place | inside)


def _bits(numbers: Ints) -> Ints:
    """How many bits each number has; 64 if it is negative."""
    whole = numbers.view(np.uint64)
    upper, lower = (np.frexp(part)[1] for part in (whole >> 32, whole & 0xFFFF_FFFF))
    bits: Ints = np.where(upper > 0, upper + 32, lower).astype(np.int64)
    return bits


TECHNIQUES: dict[str, type[Technique]] = {
    "tuple-buckets": TupleBuckets,
    "aggregate-buckets": AggregateBuckets,
    "cumulative-sweeping": CumulativeSweeping,
    "selective-sweeping": SelectiveSweeping,
    "se-slicing": SeSlicing,
    "se-ml-slicing": SeMlSlicing,
    "levels": DyadicIntervals,
}
