"""Operators over events that last: their queries and rows."""

from __future__ import annotations

import pyarrow as pa

from fanlight.engine.algebra.collections import Values
from fanlight.engine.algebra.monoids import Max, Min, Sum
from fanlight.engine.operators.spanning_events import TECHNIQUES, SpanningQuery
from fanlight.engine.plan.granules import cut_into_pairs
from fanlight.engine.plan.grid import Grid

ENTRY = pa.list_(pa.struct([("v", pa.int64()), ("n", pa.int64())]))
KINDS = {"sum": pa.int64(), "max": pa.float64(), "min": pa.int64(), "values": ENTRY}
MONOIDS = {"sum": Sum(), "max": Max(), "min": Min(), "values": Values()}
FIELDS = dict.fromkeys(TECHNIQUES, ("sum", "max", "min", "values"))
FIELDS |= {"cumulative-sweeping": ("sum", "values"), "selective-sweeping": ("max", "min")}


def query(technique, length, slide, offset=0, height=3):
    names = FIELDS[technique]
    numbers = [(name, pa.int64()) for name in ("t", "first_at", "last_at")]
    fields = [("k", pa.float64()), *numbers, *((name, KINDS[name]) for name in names)]
    cut = cut_into_pairs(Grid(length, slide, offset))
    monoids = tuple(MONOIDS[name] for name in names)
    return SpanningQuery(pa.schema(fields), 1, monoids, cut, technique, height)


def row(asked, key, start, stop, value):
    last = max(start, stop - 1)
    end = asked.cut.grid.window_end(asked.cut.grid.first_window(start))
    unit = {
        "sum": value,
        "max": None if value is None else float(value),
        "min": value,
        "values": None if value is None else [(value, 1)],
    }
    return (key, end, start, last, *(unit[name] for name in FIELDS[asked.technique]))
