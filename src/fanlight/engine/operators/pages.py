"""Pages: many windows to search, packed together so that each row is stored once.

A window of progressive widening shares rows with its neighbours and with windows of other levels. A
page has the rows of some windows, sorted by key and time, and each window as ranges of row numbers.
Pages are sent between tasks as bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.engine.operators.arrow_tables import Ints, from_arrow_stream, to_arrow_stream

FORMAT = 1
WORK = 200_000  # row visits per page: small enough to spread pages over tasks
_HEADER = struct.Struct("<BQQQ")  # format, bytes of the rows, windows, ranges


@dataclass(frozen=True)
class Windows:
    """Windows over sorted rows: key code, level, number of the later batch, row ranges."""

    codes: Ints
    levels: Ints
    batches: Ints
    ends: Ints  # window i has the ranges [ends[i - 1], ends[i])
    ranges: NDArray[np.int64]  # (lo, hi)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def starts(self) -> Ints:
        """The first range of each window."""
        return np.append(np.zeros(1, np.int64), self.ends[:-1])[: len(self.ends)]

    @property
    def lengths(self) -> Ints:
        """How many rows each window has."""
        before = np.append(0, np.cumsum(self.ranges[:, 1] - self.ranges[:, 0]))
        lengths: Ints = before[self.ends] - before[self.starts]
        return lengths

    def slice(self, low: int, high: int) -> Windows:
        """The windows with numbers in ``[low, high)``."""
        first = int(self.starts[low]) if high > low else 0
        last = int(self.ends[high - 1]) if high > low else 0
        return Windows(
            self.codes[low:high],
            self.levels[low:high],
            self.batches[low:high],
            self.ends[low:high] - first,
            self.ranges[first:last],
        )

    @classmethod
    def concatenate(cls, parts: list[Windows]) -> Windows:
        """Concatenate windows of several levels over the same rows; sort by key, level, batch."""
        codes = np.concatenate([part.codes for part in parts])
        levels = np.concatenate([part.levels for part in parts])
        batches = np.concatenate([part.batches for part in parts])
        counts = np.concatenate([part.ends - part.starts for part in parts])
        shift = np.cumsum([0, *(len(part.ranges) for part in parts[:-1])])
        begin = np.concatenate(
            [part.starts + move for part, move in zip(parts, shift, strict=True)]
        )
        ranges = np.concatenate([part.ranges for part in parts])
        order = np.lexsort((batches, levels, codes))
        counts, begin = counts[order], begin[order]
        ends = np.cumsum(counts)
        # Each range moves with its window.
        places = np.repeat(begin - (ends - counts), counts) + np.arange(int(counts.sum()))
        return cls(codes[order], levels[order], batches[order], ends, ranges[places])


@dataclass(frozen=True)
class Page:
    """Rows sorted by key and time, and windows over them."""

    rows: pa.Table  # keys, ``t``, payload, ``gap``: whether rows of the key before it are missing
    windows: Windows

    def pack(self) -> bytes:
        """The page as bytes."""
        rows, windows = to_arrow_stream(self.rows), self.windows
        header = _HEADER.pack(FORMAT, len(rows), len(windows), len(windows.ranges))
        numbers = (windows.codes, windows.levels, windows.batches, windows.ends, windows.ranges)
        return b"".join(
            [header, rows, *(np.ascontiguousarray(part, np.int64).tobytes() for part in numbers)]
        )

    @classmethod
    def unpack(cls, data: bytes) -> Page:
        """The page that was packed to ``data``."""
        version, size, windows, ranges = _HEADER.unpack_from(data)
        if version != FORMAT:
            msg = (
                f"a page of format {version} where this version of fanlight reads format {FORMAT}: "
                "the driver and the workers have different versions installed"
            )
            raise ValueError(msg)
        at = _HEADER.size + size
        rows = from_arrow_stream(memoryview(data)[_HEADER.size : at])
        parts = []
        for count in (windows, windows, windows, windows, 2 * ranges):
            parts.append(np.frombuffer(data, np.int64, count, at))
            at += 8 * count
        codes, levels, batches, ends, flat = parts
        return cls(rows, Windows(codes, levels, batches, ends, flat.reshape(-1, 2)))


def pages_of(rows: pa.Table, gaps: NDArray[np.bool_], windows: Windows) -> Iterator[Page]:
    """Split windows into pages of about ``WORK`` row visits each.

    ``gaps`` is true for rows that do not directly follow the one before: rows between are missing,
    or a new key begins.
    """
    work = np.cumsum(windows.lengths + 8)
    low = 0
    while low < len(windows):
        done = int(work[low - 1]) if low else 0
        high = max(int(np.searchsorted(work, done + WORK, "right")), low + 1)
        yield _make_page(rows, gaps, windows.slice(low, high))
        low = high


def _make_page(rows: pa.Table, gaps: NDArray[np.bool_], windows: Windows) -> Page:
    ranges = windows.ranges
    # Windows and rows are sorted by key, so only the rows between these two are needed.
    first, last = int(ranges[:, 0].min()), int(ranges[:, 1].max())
    change = np.zeros(last - first + 1, np.int64)
    np.add.at(change, ranges[:, 0] - first, 1)
    np.add.at(change, ranges[:, 1] - first, -1)
    used = np.cumsum(change[:-1]) > 0
    places = np.cumsum(np.append(0, used))
    gap = gaps[first:last] | np.append(False, ~used[:-1])
    mine = rows.slice(first, last - first)
    if not used.all():
        mine = mine.filter(pa.array(used))
    mine = mine.append_column("gap", pa.array(gap[used]))
    moved = places[ranges - first]
    return Page(mine, Windows(windows.codes, windows.levels, windows.batches, windows.ends, moved))
