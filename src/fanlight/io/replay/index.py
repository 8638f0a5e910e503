"""The order in which rows arrive, and which rows of which files stand in a part of it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from fanlight.io.replay.arrivals import Disorder, compute_arrivals
from fanlight.io.replay.files import File, reorder_rows


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
