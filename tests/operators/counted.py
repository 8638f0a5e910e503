"""The operator behind windows over rows: its queries and rows."""

from __future__ import annotations

import pyarrow as pa

from fanlight.engine.algebra.collections import Values
from fanlight.engine.algebra.monoids import Max, Sum
from fanlight.engine.operators.tuple_windows import TupleQuery
from fanlight.engine.plan.granules import Cut, RowEnds
from fanlight.engine.plan.grid import Grid

ENTRY = pa.list_(pa.struct([("v", pa.int64()), ("n", pa.int64())]))
SCHEMA = pa.schema(
    [
        ("k0", pa.string()),
        ("t", pa.int64()),
        ("f0", pa.int64()),
        ("f1", pa.float64()),
        ("f2", ENTRY),
    ]
)
MONOIDS = (Sum(), Max(), Values())


def query(by: Cut | RowEnds, grid: Grid | None = None) -> TupleQuery:
    return TupleQuery(SCHEMA, 1, MONOIDS, by, by.grid if isinstance(by, Cut) else grid)


def row(key, time, value):
    return (key, time, value, None if value is None else float(value), [(value or 0, 1)])
