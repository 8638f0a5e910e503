"""The chain operator, fed by hand: its queries, and partials of granules."""

from __future__ import annotations

import pyarrow as pa

import fanlight as fl
from fanlight.engine.algebra.collections import Collect
from fanlight.engine.algebra.monoids import Count, Max, Sum
from fanlight.engine.operators.chain import ChainQuery
from fanlight.engine.plan.granules import granules_of
from fanlight.engine.plan.grid import make_grids
from fanlight.engine.spec import MultiGranular
from tests.helpers.granular_cases import end_of

NAMES = ("n", "s", "m", "each")
MONOIDS = (Count(), Sum(), Max(), Collect())
KINDS = (pa.int64(), pa.float64(), pa.int64(), pa.list_(pa.int64()))
TIME_LEVELS = (
    MultiGranular([4, 8, 16], [1, 2, 4]),
    MultiGranular([4, 9], [2, 3]),
    MultiGranular([2, 4, 8], [2, 4, 8]),
    MultiGranular([6, 10], [2, 5], offset=-1),
    MultiGranular([4, 9], [2, 3], report="continuous", horizons=[5, 1]),
    [fl.Sliding(9, 6), fl.Sliding(4, 1), fl.Sliding(2, 5, offset=1)],
)
ROW_LEVELS = (
    MultiGranular([fl.Rows(2), fl.Rows(4)], [fl.Rows(1), fl.Rows(2)]),
    MultiGranular([fl.Rows(4), fl.Rows(9)], [fl.Rows(2), fl.Rows(3)], offset=2),
    MultiGranular([fl.Rows(4), fl.Rows(9)], [fl.Rows(2), fl.Rows(3)], report="continuous"),
)


def axes(spec):
    windows = [one.windows for one in spec.levels] if isinstance(spec, MultiGranular) else spec
    return make_grids(windows, "t", "bigint")[1]


def query(spec, *, rows=False):
    fields = [("k", pa.string()), ("t", pa.int64()), *(("i", pa.int64()) for _ in range(rows))]
    fields += zip(NAMES, KINDS, strict=True)
    since = int(spec.offset.value) if rows and spec.offset else None
    return ChainQuery(pa.schema(fields), 1, MONOIDS, axes(spec), rows, since)


def granules(spec, events):
    """What Spark's aggregation would hand on: one partial a key and granule, at its end."""
    cut = granules_of(axes(spec))
    found = {}
    for at, (k, t, i) in enumerate(events):
        end = end_of(cut, t)
        n, s, m, each = found.get((k, end), (0, 0.0, i, []))
        found[k, end] = (n + 1, s + i / 4, max(m, i), [*each, at])
    return [(k, end, *partial) for (k, end), partial in found.items()]
