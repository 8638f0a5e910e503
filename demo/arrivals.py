"""The flights in the order in which they might arrive: disordered, and some of them too late."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SEED = 2013
MARCH = pa.scalar(datetime(2013, 3, 1, 5, tzinfo=UTC))  # midnight at the airports
FILES = 4
LATE = 500
LAG_HOURS = 4
DELAY_HOURS = 18  # more than the longest flight and the longest lag together
DELAY = f"{DELAY_HOURS} hours"
LONGEST = np.timedelta64(24, "h")  # RANGE of the widest window
AFTER = 3  # a late flight comes at least this many files after the file it belongs to
FAR = 4_000_000_000_000_000  # 2096, in microseconds: a flight that closes every window
FIRST_FILE = 1_000_000_000  # modification time of the first file; each next one is a second later

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Arrivals:
    """The files' contents, one table per micro-batch; the column ``late`` marks late rows."""

    files: tuple[pa.Table, ...]
    disordered: int  # flights that arrive after one that departed later

    @property
    def rows(self) -> int:
        """How many flights there are."""
        return sum(table.num_rows for table in self.files)

    @property
    def late(self) -> int:
        """How many rows come too late."""
        return sum(pc.sum(table["late"]).as_py() or 0 for table in self.files)


def first_two_months(flights: pa.Table) -> pa.Table:
    """The flights of January and February: enough for a stream."""
    return flights.filter(pc.less(flights["scheduled"], MARCH))


def arrange(flights: pa.Table, *, files: int = FILES, late: int = LATE) -> Arrivals:
    """Split the flights into files by time of arrival, which is random with a fixed seed.

    A flight arrives when it has landed, or up to ``LAG_HOURS`` later: within the watermark's delay.
    ``late`` of them go into a file so much later that the watermark has passed all of their
    windows. No two of those share an airport and an hour, so that Spark cannot combine them before
    it drops them, and its count of dropped rows is a count of flights.
    """
    random = np.random.default_rng(SEED)
    null = flights["departed"].is_null().to_numpy()
    known = _first_known_time(flights, "departed", "scheduled")
    order = np.argsort(known_times(flights, random), kind="stable")
    file = np.empty(flights.num_rows, dtype=np.int64)
    for number, part in enumerate(np.array_split(order, files)):
        file[part] = number
    landed = flights["landed"].is_valid().to_numpy()
    chosen = _choose_late(flights, random, landed & (file < files - AFTER))[:late]
    file[chosen] = random.integers(file[chosen] + AFTER, files)
    is_late = np.zeros(flights.num_rows, dtype=bool)
    is_late[chosen] = True
    table = flights.append_column("late", pa.array(is_late))
    order = order[np.argsort(file[order], kind="stable")]
    cuts = np.searchsorted(file[order], np.arange(files + 1))
    tables = tuple(table.take(pa.array(order[begin:end])) for begin, end in pairwise(cuts))
    _check(tables)
    arriving = known[order][~null[order]]
    disordered = int((arriving < np.maximum.accumulate(arriving)).sum())
    return Arrivals(tables, disordered)


def known_times(flights: pa.Table, random: np.random.Generator) -> Array:
    """When each flight becomes known: when it has landed, or up to ``LAG_HOURS`` later."""
    over = _first_known_time(flights, "landed", "departed", "scheduled")
    lag = random.integers(0, LAG_HOURS * 3_600, flights.num_rows).astype("timedelta64[s]")
    times: Array = over + lag
    return times


def write(files: Sequence[pa.Table], folder: Path) -> None:
    """Write one Parquet file per micro-batch, in order of modification time.

    A window is complete only when the watermark has passed it. So the last row of the last file is
    a flight of no airport, far in the future, which moves the watermark past every window.
    """
    folder.mkdir(parents=True)
    *others, last = files
    times = pa.timestamp("us", "UTC")
    closing = pa.table(
        {
            **dict.fromkeys(("departed", "landed", "scheduled"), pa.array([FAR], times)),
            **{name: [""] for name in ("origin", "carrier", "tail")},
            **dict.fromkeys(("flight", "delay"), pa.array([None], pa.int64())),
            "late": [False],
        },
        schema=last.schema,
    )
    for number, table in enumerate([*others, pa.concat_tables([last, closing])]):
        path = folder / f"{number:03d}.parquet"
        pq.write_table(table, path)
        os.utime(path, (FIRST_FILE + number, FIRST_FILE + number))


def _choose_late(flights: pa.Table, random: np.random.Generator, eligible: Array) -> Array:
    """Eligible row numbers in random order, no two of the same airport and hour."""
    rows = random.permutation(np.flatnonzero(eligible))
    hours = (
        _first_known_time(flights, "departed", "scheduled").astype("datetime64[h]").astype(np.int64)
    )
    origin = flights["origin"].combine_chunks().dictionary_encode().indices.to_numpy()
    key = hours[rows] * 1_000 + origin[rows]
    _, first = np.unique(key, return_index=True)
    return rows[np.sort(first)]


def _first_known_time(flights: pa.Table, *columns: str) -> Array:
    """The first time in each row that is not null."""
    filled = pc.coalesce(*(flights[name] for name in columns)).cast(pa.int64())
    times: Array = filled.to_numpy().astype("datetime64[us]")
    return times


def _check(tables: tuple[pa.Table, ...]) -> None:
    """Check that every flight is certainly on time or certainly late.

    The watermark is the latest departure, or landing, of the files before, less ``DELAY``. Spark
    may drop rows by that watermark, or still by the one of a file earlier.
    """
    delay = np.timedelta64(DELAY_HOURS, "h")
    latest: list[tuple[Any, Any]] = []  # departure, landing
    for table in tables:
        times = table.filter(table["departed"].is_valid())
        departed, landed = (
            _first_known_time(times, "departed"),
            _first_known_time(times, "landed", "departed"),
        )
        late = times["late"].to_numpy()
        if latest:
            unsure = ~late & (departed <= max(landing for _, landing in latest) - delay)
            if len(latest) > 1:
                sure = max(departure for departure, _ in latest[:-1]) - delay
                unsure |= late & (departed + LONGEST > sure)
            if unsure.any() or (len(latest) == 1 and late.any()):
                raise AssertionError(f"{unsure.sum()} flights are neither on time nor late")
        none = np.datetime64(0, "us")
        latest.append((np.append(departed, none).max(), np.append(landed, none).max()))
