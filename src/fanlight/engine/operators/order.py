"""The order in which rows are used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from fanlight.engine.algebra.ordering import spark_key
from fanlight.engine.operators.partials import python_values
from fanlight.engine.operators.tables import Ints, ints, whole


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
