"""Sorts rows by key, time and tiebreaks, as Spark would."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from fanlight.engine.algebra.ordering import spark_key
from fanlight.engine.operators.arrow_tables import Ints, as_array, ints
from fanlight.engine.operators.python_values import python_values


def argsort_rows(
    rows: pa.Table, codes: Ints, ties: Sequence[str], last: Ints | None = None
) -> Ints:
    """The permutation that sorts rows by key code, time, the columns ``ties``, then ``last``.

    Only rows that share key and time are sorted in Python, by their ``ties``.
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
    values = zip(*(python_values(as_array(column)) for column in rest.columns), strict=True)
    ranks = [spark_key(value) for value in values]
    # Python's sort is stable: rows with equal ties stay in the order of ``last``.
    decorated = sorted(
        range(len(involved)), key=lambda at: (code[places[at]], time[places[at]], ranks[at])
    )
    order[places] = involved[decorated]
    return order


def argsort_slots(slots: Ints) -> Ints:
    """The permutation that sorts rows by slot, stably."""
    # NumPy sorts numbers of 16 bits by radix, which is faster.
    short = slots.astype(np.uint16) if len(slots) and slots.max() < 2**16 else slots
    order: Ints = np.argsort(short, kind="stable").astype(np.int64, copy=False)
    return order
