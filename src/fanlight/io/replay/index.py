"""The order in which rows arrive, and which rows of which files lie between two places in it."""

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
    """Some rows in the order of their arrival: of each file its rows, and their places."""

    pieces: Sequence[tuple[File, Any]]
    places: Any

    def read_rows(self, kinds: pa.Schema) -> pa.Table:
        """The rows themselves; in memory is one row group of a file, and these rows."""
        read = [file.read_rows(rows, kinds) for file, rows in self.pieces]
        return reorder_rows(pa.concat_tables([kinds.empty_table(), *read]), self.places)


@dataclass(frozen=True)
class Index:
    """All rows by their arrival: 16 bytes a row, of text 32."""

    files: Sequence[File]
    firsts: Any  # the number of each file's first row, and of all rows
    order: Any  # numbers of rows
    arrivals: Any  # microseconds, which rise
    fingerprint: str = field(default="")  # another order, or other times, have another one

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.order)

    def select_part(self, begin: int, end: int) -> Part:
        """The rows that arrive from one place in the order up to another."""
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
    """Read all times; rows that arrive at the same instant keep the order of the files."""
    each = [file.read_times(time) for file in files]
    firsts = np.cumsum([0, *map(len, each)])
    arrive = compute_arrivals(np.concatenate([np.zeros(0, np.int64), *each]), disorder)
    del each
    order = np.argsort(arrive, kind="stable")
    arrive = arrive[order]
    told = hashlib.blake2b(arrive.data, digest_size=8)
    told.update(order.data)
    return Index(files, firsts, order, arrive, told.hexdigest())
