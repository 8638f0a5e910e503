"""What is read off the values of windows that overlap: one pass of rows, ordered by time.

Values come with their ranks, so this never compares any. A row enters a count of ranks and leaves
it again (:mod:`fanlight.engine.kernels.ranks`), and what is found is taken from the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from fanlight.engine.algebra.lowering import next_share
from fanlight.engine.algebra.readings import AtShares, Commonest, Distinct, Frequent, Reading
from fanlight.engine.kernels import ranks
from fanlight.engine.kernels.windows import windows
from fanlight.engine.operators.tables import Ints, ints, whole
from fanlight.engine.plan.grid import Grid

CHUNK = 200_000  # rows that are handled at a time, or as many as the key has


@dataclass(frozen=True)
class RankedQuery:
    """What is asked of each window.

    Rows have keys, ``t``, ``first`` (whether a key begins with it), and for each column of values
    ``c0`` and its rank ``r0``, null where the value is. ``readings`` names what is read, each of the
    values of a column.
    """

    keys: tuple[str, ...]
    grids: tuple[Grid, ...]
    has_query_column: bool  # whether results say of which grid they are
    readings: dict[str, tuple[int, Reading]]


@dataclass(frozen=True)
class Column:
    """The values of some keys' rows in order of time, by their ranks."""

    values: pa.Array
    ranks: Ints  # of rows in order of time; -1 for null
    before: Ints  # the number of ranks before those of each key
    examples: Ints  # a row that has the value of a rank, by the number of the rank

    @classmethod
    def of(cls, values: pa.Array, ranked: pa.Array, begins: Ints, order: Ints) -> Column:
        """From rows in any order of time; a key's begin at ``begins``."""
        found = ints(ranked.fill_null(-1))
        most = np.maximum.reduceat(found, begins) + 1
        before = np.cumsum(most) - most
        numbers = found + np.repeat(before, np.diff(np.append(begins, len(found))))
        examples = np.zeros(int(most.sum()), np.int64)
        there = found >= 0
        examples[numbers[there]] = np.flatnonzero(there)
        return cls(values, found[order], before, examples)

    def counted(self, keys: Ints, found: Ints, counts: Ints, ends: Ints) -> pa.Array:
        """Lists of values and counts; the ranks of list ``i`` end at ``ends[i]``."""
        rows = self.examples[self.before[np.repeat(keys, np.diff(ends, prepend=0))] + found]
        entries = pa.StructArray.from_arrays(
            [self.values.take(pa.array(rows)), pa.array(counts)], ["f0", "f1"]
        )
        return pa.ListArray.from_arrays(pa.array(np.append(0, ends).astype(np.int32)), entries)


class RankedPass:
    """The function that Spark maps over the batches of a partition."""

    def __init__(self, query: RankedQuery) -> None:
        self.query = query

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Windows: keys, ``query`` where there are several, ``start``, and what is asked."""
        for rows in whole_keys(batches):
            yield from self._read_windows(rows)

    def _read_windows(self, rows: pa.Table) -> Iterator[pa.RecordBatch]:
        begins = np.flatnonzero(whole(rows["first"]).to_numpy(zero_copy_only=False))
        lengths = np.diff(np.append(begins, len(rows)))
        order = np.lexsort((ints(rows["t"]), np.repeat(np.arange(len(begins)), lengths)))
        times = ints(rows["t"])[order]
        columns = {
            number: Column.of(whole(rows[f"c{number}"]), whole(rows[f"r{number}"]), begins, order)
            for number in {number for number, _ in self.query.readings.values()}
        }
        for number, grid in enumerate(self.query.grids):
            shape = (grid.range, grid.slide, grid.offset)
            for keys, starts, lo, hi in windows(times, begins, shape):
                heads = pa.array(begins[keys])
                found = {name: whole(rows[name]).take(heads) for name in self.query.keys}
                if self.query.has_query_column:
                    found["query"] = pa.array(np.full(len(keys), number, np.int32))
                found["start"] = pa.array(starts)
                for name, (of, reading) in self.query.readings.items():
                    found[name] = read(columns[of], reading, keys, lo, hi)
                yield pa.RecordBatch.from_pydict(found)


def whole_keys(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Rows of whole keys, many at a time; a key's rows come one after the other."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        begins = np.flatnonzero(batch["first"].to_numpy(zero_copy_only=False))
        if rows >= CHUNK and len(begins):
            last = int(begins[-1])
            yield pa.Table.from_batches([*held, batch.slice(0, last)]).combine_chunks()
            held, rows = [batch.slice(last)], batch.num_rows - last
        elif batch.num_rows:
            held.append(batch)
            rows += batch.num_rows
    if held:
        yield pa.Table.from_batches(held).combine_chunks()


def read(column: Column, reading: Reading, keys: Ints, lo: Ints, hi: Ints) -> pa.Array:
    """What is read of each window; ``keys`` has the number of each one's key."""
    if isinstance(reading, Distinct):
        return pa.array(ranks.range_distinct(column.ranks, lo, hi))
    if isinstance(reading, Commonest):
        found, counts = ranks.range_best(column.ranks, lo, hi)
        there = counts > 0
        return column.counted(keys, found[there], counts[there], np.cumsum(there))
    before = np.cumsum(np.append(0, column.ranks >= 0))
    rows = before[hi] - before[lo]
    if isinstance(reading, AtShares):
        return _count_at_shares(column, reading.shares, keys, lo, hi, rows)
    if isinstance(reading, Frequent):
        return _count_frequent(column, reading, keys, lo, hi, rows)
    raise AssertionError


def _count_at_shares(
    column: Column, shares: Sequence[float], keys: Ints, lo: Ints, hi: Ints, rows: Ints
) -> pa.Array:
    """Counts of the values beside each share: any other value is counted as the next of these."""
    ways = (rows - 1).astype(np.float64)[:, None] * np.array(shares)[None, :]
    places = np.concatenate([np.floor(ways), np.ceil(ways)], axis=1).astype(np.int64)
    places.sort(axis=1)
    found = ranks.range_places(column.ranks, lo, hi, places)
    upto = places + 1
    upto[:, -1] = rows
    counts = np.diff(upto, axis=1, prepend=0)
    there = (counts > 0) & (rows > 0)[:, None]
    return column.counted(keys, found[there], counts[there], np.cumsum(there.sum(axis=1)))


def _count_frequent(
    column: Column, reading: Frequent, keys: Ints, lo: Ints, hi: Ints, rows: Ints
) -> pa.Array:
    """The frequent values of each window, the most frequent first, then the least."""
    share = next_share(reading.share, max(int(rows.max(initial=0)), 1))
    least = np.maximum(-(-rows * share.numerator // share.denominator), 1)
    ends, found, counts = ranks.range_frequent(column.ranks, lo, hi, least)
    of = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    order = np.lexsort((-counts, of))  # ranks are in order already
    return column.counted(keys, found[order], counts[order], ends)
