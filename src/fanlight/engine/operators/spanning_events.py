"""The operator of windows over events with a duration, by any technique.

A slice is a piece of a technique, see :mod:`fanlight.engine.operators.techniques`. It is kept until
the last window that reads it has ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa

from fanlight.engine.operators.arrow_tables import Ints, filter_rows, ints
from fanlight.engine.operators.keyed_operator import KeyedOperator, KeyedQuery
from fanlight.engine.operators.open_windows import each_once
from fanlight.engine.operators.protocol import COMPLETE
from fanlight.engine.operators.techniques import TECHNIQUES, Technique
from fanlight.engine.plan.cut import Cut

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
