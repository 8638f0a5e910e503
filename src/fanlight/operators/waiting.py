"""Rows that wait for the watermark, and the order in which they are used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from fanlight.algebra.ordering import spark_key
from fanlight.operators.partials import python_values
from fanlight.operators.tables import Ints, ints, whole


class Waiting:
    """Rows that the watermark has not passed, in the order of their arrival."""

    def __init__(self, schema: pa.Schema) -> None:
        self.rows = schema.empty_table()

    def feed(self, rows: pa.Table) -> None:
        """Take rows in any order; none may be older than the last watermark."""
        self.rows = pa.concat_tables([self.rows, rows]).combine_chunks()

    @property
    def next_time(self) -> int | None:
        """The earliest time that waits, in microseconds."""
        times = ints(self.rows["t"])
        return int(times.min()) if len(times) else None

    def due(self, watermark: int) -> pa.Table:
        """The rows up to the watermark, which wait no longer."""
        due = ints(self.rows["t"]) <= watermark
        if not due.any():
            return self.rows.slice(0, 0)
        rows = self.rows.filter(pa.array(due)).combine_chunks()
        self.rows = self.rows.filter(pa.array(~due)).combine_chunks()
        return rows


def in_order(rows: pa.Table, codes: Ints, ties: Sequence[str], last: Ints | None = None) -> Ints:
    """Rows by the code of their key, time, the columns ``ties``, and the numbers ``last``.

    Ties of time alone cost a sort in Python.
    """
    times = ints(rows["t"])
    order: Ints = np.lexsort((times, codes) if last is None else (last, times, codes))
    order = order.astype(np.int64, copy=False)
    code, time = codes[order], times[order]
    tied = np.flatnonzero((code[1:] == code[:-1]) & (time[1:] == time[:-1]))
    if not len(tied) or not ties:
        return order
    places = np.union1d(tied, tied + 1)
    involved = order[places]
    rest = rows.select(list(ties)).take(pa.array(involved))
    values = zip(*(python_values(whole(column)) for column in rest.columns), strict=True)
    ranks = [spark_key(value) for value in values]
    # Python's sort is stable: rows with equal ties keep the order of ``last``.
    decorated = sorted(
        range(len(involved)), key=lambda at: (code[places[at]], time[places[at]], ranks[at])
    )
    order[places] = involved[decorated]
    return order
