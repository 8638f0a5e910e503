"""A generator of auction bids: item, price, time. Loosely after XMark, as the paper's own was.

Generated, not observed: bids arrive at random (Poisson), some items are far more popular than
others (Zipf), each bid raises its item's price, and an item's first price is log-normal.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

START = 1_700_000_000_000_000  # microseconds; a whole number of minutes is of no importance
SECOND = 1_000_000
MINUTE = 60 * SECOND
BYTES = 24  # of a bid: three columns of eight


class Bids(NamedTuple):
    """Bids in order of time."""

    timestamp: np.ndarray  # microseconds
    item_id: np.ndarray
    bid_price: np.ndarray
    rate: float  # bids a second, on average


def auction(bids: int, *, rate: float, items: int = 1000, skew: float = 1.0, seed: int = 7) -> Bids:
    """That many bids; ``skew`` is Zipf's exponent, 0 makes all items alike."""
    random = np.random.default_rng(seed)
    gaps = random.exponential(SECOND / rate, bids)
    timestamp = START + np.floor(np.cumsum(gaps)).astype(np.int64)
    weight = np.arange(1, items + 1) ** -skew
    rank = np.searchsorted(np.cumsum(weight) / weight.sum(), random.random(bids), side="right")
    names = random.permutation(items)
    item_id = names[np.minimum(rank, items - 1)]
    return Bids(timestamp, item_id, _prices(item_id, items, random), rate)


def _prices(item_id, items, random):
    """First price plus the raises so far, by item; whole cents."""
    first = np.exp(random.normal(3.0, 1.0, items))
    raises = np.round(random.exponential(1.5, len(item_id)), 2) + 0.01
    order = np.argsort(item_id, kind="stable")
    total = np.cumsum(raises[order])
    starts = np.searchsorted(item_id[order], np.arange(items))
    before = np.concatenate([[0.0], total])[starts]
    price = np.empty(len(item_id))
    price[order] = total - before[item_id[order]] + first[item_id[order]]
    return np.round(price, 2)


def even(bids: int, groups: int = 1) -> Bids:
    """One bid a microsecond, its items in turn: where the formulas can be met exactly."""
    timestamp = np.arange(bids)
    return Bids(timestamp, timestamp % groups, timestamp % 101 / 4, float(SECOND))


def parquet(spark, folder, name, bids):
    """The bids as a Parquet file that is scanned at each run."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    stamp = pa.array(bids.timestamp).cast(pa.timestamp("us", tz="UTC"))
    columns = {"timestamp": stamp, "item_id": bids.item_id, "bid_price": bids.bid_price}
    path = Path(folder) / f"{name}.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=len(bids.timestamp) // 4 + 1)
    return spark.read.parquet(str(path))
