"""Percentiles, modes, frequent and distinct values of overlapping windows, in one pass over rows.

Each value comes with its rank, so values are never compared here. Rows are added to a count of
ranks and removed again (:mod:`fanlight.engine.kernels.ranks`); the ranks that the counts yield are
looked up in the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fanlight.engine.algebra.lowering import next_share
from fanlight.engine.algebra.ordering import AtShares, Commonest, Distinct, Frequent, Reading
from fanlight.engine.kernels import ranks
from fanlight.engine.kernels.windows import windows_with_rows
from fanlight.engine.operators.arrow_tables import Ints, as_array, ints
from fanlight.engine.plan.grid import Grid

CHUNK = 200_000  # rows handled at a time; more if a key has more


@dataclass(frozen=True)
class RankedQuery:
    """What to compute for each window.

    Rows have keys, ``t``, ``first`` (whether the row is the first of its key), and for each column
    of values ``c0`` and its rank ``r0``, null where the value is. ``readings`` maps the name of a
    result to the number of a column and what to compute of its values.
    """

    keys: tuple[str, ...]
    grids: tuple[Grid, ...]
    has_query_column: bool  # whether results have the number of their grid
    readings: dict[str, tuple[int, Reading]]


@dataclass(frozen=True)
class RankedColumn:
    """A column of values of some keys, with the ranks of its rows sorted by time."""

    values: pa.Array
    ranks: Ints  # of rows sorted by time; -1 for null
    before: Ints  # the number of ranks before those of each key
    examples: Ints  # for each rank, a row that has its value

    @classmethod
    def from_rows(
        cls, values: pa.Array, ranked: pa.Array, begins: Ints, order: Ints
    ) -> RankedColumn:
        """Build from rows that are not sorted by time. The rows of a key start at ``begins``."""
        by_row = ints(ranked.fill_null(-1))
        most = np.maximum.reduceat(by_row, begins) + 1
        before = np.cumsum(most) - most
        numbers = by_row + np.repeat(before, np.diff(np.append(begins, len(by_row))))
        examples = np.zeros(int(most.sum()), np.int64)
        there = by_row >= 0
        examples[numbers[there]] = np.flatnonzero(there)
        return cls(values, by_row[order], before, examples)

    def make_count_lists(self, keys: Ints, ranks: Ints, counts: Ints, ends: Ints) -> pa.Array:
        """A list of (value, count) for each window; the ranks of list ``i`` end at ``ends[i]``."""
        rows = self.examples[self.before[np.repeat(keys, np.diff(ends, prepend=0))] + ranks]
        entries = pa.StructArray.from_arrays(
            [self.values.take(pa.array(rows)), pa.array(counts)], ["f0", "f1"]
        )
        return pa.ListArray.from_arrays(pa.array(np.append(0, ends).astype(np.int32)), entries)


class RankedPass:
    """The function that Spark maps over the batches of a partition."""

    def __init__(self, query: RankedQuery) -> None:
        self.query = query

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Windows: keys, ``query`` if there are several, ``start``, and the readings."""
        for rows in chunks_of_whole_keys(batches):
            yield from self._read_windows(rows)

    def _read_windows(self, rows: pa.Table) -> Iterator[pa.RecordBatch]:
        begins = np.flatnonzero(as_array(rows["first"]).to_numpy(zero_copy_only=False))
        lengths = np.diff(np.append(begins, len(rows)))
        order = np.lexsort((ints(rows["t"]), np.repeat(np.arange(len(begins)), lengths)))
        times = ints(rows["t"])[order]
        columns = {
            number: RankedColumn.from_rows(
                as_array(rows[f"c{number}"]), as_array(rows[f"r{number}"]), begins, order
            )
            for number in {number for number, _ in self.query.readings.values()}
        }
        for number, grid in enumerate(self.query.grids):
            shape = (grid.range, grid.slide, grid.offset)
            for keys, starts, lo, hi in windows_with_rows(times, begins, shape):
                heads = pa.array(begins[keys])
                result = {name: as_array(rows[name]).take(heads) for name in self.query.keys}
                if self.query.has_query_column:
                    result["query"] = pa.array(np.full(len(keys), number, np.int32))
                result["start"] = pa.array(starts)
                for name, (of, reading) in self.query.readings.items():
                    result[name] = compute_reading(columns[of], reading, keys, lo, hi)
                yield pa.RecordBatch.from_pydict(result)


def chunks_of_whole_keys(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Regroup batches into chunks of whole keys; the rows of a key are consecutive."""
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


def rank_values(column: pa.Array | pa.ChunkedArray) -> RankedColumn:
    """The ranks of values in their order, NaN after all numbers; null has none."""
    encoded = as_array(column).dictionary_encode()
    values, order = encoded.dictionary, pc.sort_indices(encoded.dictionary)
    rank_of = np.empty(len(values), np.int64)
    rank_of[ints(order)] = np.arange(len(values))
    there = encoded.is_valid().to_numpy(zero_copy_only=False)
    ranks = np.full(len(encoded), -1, np.int64)
    ranks[there] = rank_of[ints(encoded.indices.drop_null())]
    none = np.zeros(1, np.int64)
    return RankedColumn(values.take(order), ranks, none, np.arange(len(values)))


def compute_reading(
    column: RankedColumn, reading: Reading, keys: Ints, lo: Ints, hi: Ints
) -> pa.Array:
    """Compute a reading of each window ``[lo_i, hi_i)``; ``keys`` has its key's number."""
    if isinstance(reading, Distinct):
        return pa.array(ranks.range_distinct(column.ranks, lo, hi))
    if isinstance(reading, Commonest):
        modes, counts = ranks.range_mode(column.ranks, lo, hi)
        there = counts > 0
        return column.make_count_lists(keys, modes[there], counts[there], np.cumsum(there))
    before = np.cumsum(np.append(0, column.ranks >= 0))
    rows = before[hi] - before[lo]
    if isinstance(reading, AtShares):
        return _count_at_shares(column, reading.shares, keys, lo, hi, rows)
    if isinstance(reading, Frequent):
        return _count_frequent(column, reading, keys, lo, hi, rows)
    raise AssertionError


def _count_at_shares(
    column: RankedColumn, shares: Sequence[float], keys: Ints, lo: Ints, hi: Ints, rows: Ints
) -> pa.Array:
    """Counts of the values around each share; every other value counts as the next of these."""
    ways = (rows - 1).astype(np.float64)[:, None] * np.array(shares)[None, :]
    places = np.concatenate([np.floor(ways), np.ceil(ways)], axis=1).astype(np.int64)
    places.sort(axis=1)
    ranked = ranks.range_places(column.ranks, lo, hi, places)
    upto = places + 1
    upto[:, -1] = rows
    counts = np.diff(upto, axis=1, prepend=0)
    there = (counts > 0) & (rows > 0)[:, None]
    return column.make_count_lists(keys, ranked[there], counts[there], np.cumsum(there.sum(axis=1)))


def _count_frequent(
    column: RankedColumn, reading: Frequent, keys: Ints, lo: Ints, hi: Ints, rows: Ints
) -> pa.Array:
    """The frequent values of each window, most frequent first, equally frequent ones by rank."""
    share = next_share(reading.share, max(int(rows.max(initial=0)), 1))
    least = np.maximum(-(-rows * share.numerator // share.denominator), 1)
    ends, frequent, counts = ranks.range_frequent(column.ranks, lo, hi, least)
    of = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    order = np.lexsort((-counts, of))  # ranks are in order already
    return column.make_count_lists(keys, frequent[order], counts[order], ends)
