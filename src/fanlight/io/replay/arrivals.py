"""When each row of a replay arrives, in which order, and how many have arrived by now."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from fanlight.io.replay.files import File, reorder_rows

_GOLDEN = 0x9E3779B97F4A7C15
_MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_DISORDER, _LATE, _LATE_BY = 1, 2, 3  # what a random number is for


@dataclass(frozen=True)
class Disorder:
    """How long after their times rows arrive, in microseconds, and the share that is late.

    A row arrives ``most`` after its time at most; a late one, up to ``late_by`` later than that.
    """

    most: int = 0
    late: float = 0.0
    late_by: int = 0
    seed: int = 0


def compute_arrivals(times: Any, disorder: Disorder) -> Any:
    """When each row arrives, in microseconds."""
    count = len(times)
    delays = _to_whole_numbers(_draw_numbers(count, disorder.seed, _DISORDER), disorder.most + 1)
    if disorder.late:
        late = _draw_numbers(count, disorder.seed, _LATE) < disorder.late
        beyond = _to_whole_numbers(_draw_numbers(count, disorder.seed, _LATE_BY), disorder.late_by)
        delays = np.where(late, disorder.most + 1 + beyond, delays)
    return times + delays


def _to_whole_numbers(draws: Any, below: int) -> Any:
    """Scale random numbers to whole numbers from 0 to ``below`` - 1."""
    return np.minimum((draws * below).astype(np.int64), below - 1)


def _draw_numbers(count: int, seed: int, use: int) -> Any:
    """Random numbers in [0, 1), one per row: SplitMix64 of row numbers (Steele et al., 2014)."""
    begin = np.array([(seed % 2**64) ^ use * _GOLDEN % 2**64], np.uint64)
    begin = _mix(begin)  # or neighbouring seeds would give the same numbers, only shifted by rows
    states = np.arange(1, count + 1, dtype=np.uint64)
    states *= np.uint64(_GOLDEN)
    states += begin
    return (_mix(states) >> np.uint64(11)) * 2.0**-53


def _mix(values: Any) -> Any:
    for shift, factor in _MIX:
        values ^= values >> np.uint64(shift)
        values *= np.uint64(factor)
    values ^= values >> np.uint64(31)
    return values


@dataclass(frozen=True)
class Part:
    """Some rows in the order of their arrival: the rows of each file, and where they go."""

    pieces: Sequence[tuple[File, Any]]
    places: Any

    def read_rows(self, kinds: pa.Schema) -> pa.Table:
        """Read the rows; in memory at a time are these rows and one row group of a file."""
        read = [file.read_rows(rows, kinds) for file, rows in self.pieces]
        return reorder_rows(pa.concat_tables([kinds.empty_table(), *read]), self.places)


@dataclass(frozen=True)
class Index:
    """All rows in the order of their arrival: 16 bytes per row, 32 if files are text."""

    files: Sequence[File]
    firsts: Any  # the number of each file's first row; last, how many rows there are
    order: Any  # numbers of rows, in the order of their arrival
    arrivals: Any  # when they arrive, in microseconds, ascending
    fingerprint: str = field(default="")  # a hash of order and arrivals, kept in checkpoints

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.order)

    def select_part(self, begin: int, end: int) -> Part:
        """The rows from one position in the order of arrival up to another."""
        numbers = self.order[begin:end]
        by_number = np.argsort(numbers)
        rising = numbers[by_number]
        cuts = np.searchsorted(rising, self.firsts)
        pieces = []
        for n, file in enumerate(self.files):
            rows = rising[cuts[n] : cuts[n + 1]] - self.firsts[n]
            if len(rows):
                pieces.append((file.keep_rows(rows), rows))
        places = np.empty(len(numbers), np.int64)
        places[by_number] = np.arange(len(numbers))
        return Part(pieces, places)


def build_index(files: Sequence[File], time: pa.Field, disorder: Disorder) -> Index:
    """Read all times, and order rows by arrival; at the same instant, in the order of the files."""
    each = [file.read_times(time) for file in files]
    firsts = np.cumsum([0, *map(len, each)])
    arrive = compute_arrivals(np.concatenate([np.zeros(0, np.int64), *each]), disorder)
    del each
    order = np.argsort(arrive, kind="stable")
    arrive = arrive[order]
    digest = hashlib.blake2b(arrive.data, digest_size=8)
    digest.update(order.data)
    return Index(files, firsts, order, arrive, digest.hexdigest())


class Clock:
    """Event time, which begins to run at the first question, from the arrival of the next row.

    So a replay that is started again from a checkpoint goes on where it was: while it was stopped,
    no event time passed.
    """

    def __init__(
        self, arrivals: Any, speedup: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._arrivals = arrivals
        self._speedup = speedup
        self._now = now
        self._begin: tuple[float, int] | None = None

    def count_arrived(self, start: int) -> int:
        """How many rows have arrived by now; ``start`` of them were played before."""
        if start >= len(self._arrivals):
            return start
        if self._begin is None:
            self._begin = self._now(), int(self._arrivals[start])
        began, first = self._begin
        elapsed = (self._now() - began) * self._speedup * 1e6
        left = int(self._arrivals[-1]) - first
        until = first + (left if elapsed >= left else int(elapsed))
        return max(start, int(np.searchsorted(self._arrivals, until, side="right")))
