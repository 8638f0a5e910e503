"""A few rows with names that must be quoted, as a batch and as files that arrive."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
LANE = "Lane No"
LANES = ("north", "south")
BLOCKS = {0: (1, 1, 5, 5), 10: (1, 7, 7, 1), 20: (2, 3, 9, 9)}  # a row a minute, then none
SENTINEL = 1_000  # minutes: the last row of each lane, which closes all that is open
SCHEMA = pa.schema([
    (LANE, pa.string()),
    ("begin at", pa.timestamp("us", tz="UTC")),
    ("end", pa.timestamp("us", tz="UTC")),
    ("a.b", pa.int64()),
])  # fmt: skip


def lines():
    """Minute and value of each row of a lane."""
    found = [(start + k, value) for start, block in BLOCKS.items() for k, value in enumerate(block)]
    return [*found, (SENTINEL, 0)]


def table(first, last):
    """The rows of all lanes from a minute to before another, the latest first."""
    return pa.Table.from_pylist(
        [
            {
                LANE: lane,
                "begin at": NOON + minute * MINUTE - 1.5 * MINUTE,
                "end": NOON + minute * MINUTE,
                "a.b": value,
            }
            for minute, value in reversed(lines())
            if first <= minute < last
            for lane in LANES
        ],
        SCHEMA,
    )


def write(folder):
    """Files that a stream takes one after the other."""
    folder.mkdir(parents=True)
    for number, bounds in enumerate([(0, 12), (12, SENTINEL), (SENTINEL, SENTINEL + 1)]):
        path = folder / f"{number}.parquet"
        pq.write_table(table(*bounds), path)
        os.utime(path, (1_700_000_000 + number,) * 2)  # the order in which Spark takes them


def complete(df):
    """What a stream gives, too, as texts in order; (how many, their sum of n).

    That is what begins before the sentinel, and of frames the closed ones; of windows that are
    counted in rows those before the sentinel's.
    """
    limit = int((NOON + (SENTINEL - 100) * MINUTE).timestamp() * 1_000_000)
    if "window" not in df.columns:
        before = f"unix_micros(`end`) < {limit}"
    elif df.schema["window"].dataType["start"].dataType.typeName() == "timestamp":
        before = f"unix_micros(window.start) < {limit}"
    else:
        before = f"window.end < {len(lines())}"
    closed = " and closed" if "closed" in df.columns else ""
    found = df.where(before + closed).collect()
    total = sum(row["n"] for row in found) if "n" in df.columns else 0
    return sorted(map(text, found)), (len(found), total)


def text(row):
    """A row, its doubles as far as they must agree."""
    return str([f"{value:.9g}" if isinstance(value, float) else value for value in row])
