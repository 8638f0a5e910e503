"""Trend lines through the chain operator: the stretches that it is fed."""

from __future__ import annotations

from functools import reduce

import pyarrow as pa

from fanlight.engine.algebra.moments import Comoments
from fanlight.engine.plan.granules import granules_of
from fanlight.engine.plan.grid import make_grids
from fanlight.engine.spec import MultiGranular
from tests.helpers.granular_cases import end_of

MOMENTS = ("n", "t0", "mx", "my", "sxx", "sxy", "syy")
WHOLE = ("n", "t0")
MOMENT = pa.struct([(name, pa.int64() if name in WHOLE else pa.float64()) for name in MOMENTS])
STRETCH = pa.struct([
    ("f", pa.int64()), ("e", pa.int64()), ("v", pa.float64()), ("c", pa.float64()), ("m", MOMENT),
])  # fmt: skip
SPECS = (
    MultiGranular([4, 8, 16], [1, 2, 4]),
    MultiGranular([4, 9], [2, 3]),
    MultiGranular([2, 4], [2, 4], offset=3),
    MultiGranular([4, 9], [2, 3], report="continuous"),
)
COMBINE = Comoments().combine_values


def run(first, end, value):
    """One value at every instant."""
    points = [(1, at, 0.0, value, 0.0, 0.0, 0.0) for at in range(first, end)]
    return reduce(COMBINE, points, None)


def axes(spec):
    return make_grids([one.windows for one in spec.levels], "t", "bigint")[1]


def granules(spec, series):
    """What Spark hands on: a stretch a key and granule, at the granule's end."""
    cut = granules_of(axes(spec))
    found = {}
    for (k, t), value in sorted(series.items()):
        found.setdefault((k, end_of(cut, t)), []).append((t, value))
    for (k, end), points in found.items():
        after = [*(t for t, _ in points[1:]), points[-1][0] + 1]
        moments = reduce(
            COMBINE, (run(t, z, v) for (t, v), z in zip(points, after, strict=True)), None
        )
        stretch = dict(zip("fevc", (points[0][0], after[-1], points[-1][1], None), strict=True))
        yield k, end, {**stretch, "m": dict(zip(MOMENTS, moments, strict=True))}


def as_tuple(value):
    return tuple(map(as_tuple, value.values())) if isinstance(value, dict) else value
