"""Every monoid is written twice, as SQL and in Python: the two must mean the same."""

from __future__ import annotations

import pyarrow as pa
import pytest

from fanlight import algebra
from fanlight.engine.algebra.library.held import Readings
from fanlight.engine.algebra.library.overlaps import AtOnce, RunningParts, United
from fanlight.engine.algebra.moments import Comoments, Covariances, HigherMoments
from fanlight.engine.algebra.monoids import BitAnd, BitOr, BitXor, Product
from tests.algebra.monoids import IN_PYTHON, alike, fold, meaning
from tests.helpers.dataframes import plain
from tests.helpers.events import INF, NAN

PLAIN = (1.5, None, -2.0, 1.5, 0.25, 1e6, -2.0, None, 3.0)
ODD = (1.0, NAN, INF, None, -INF, NAN, 1.0, -0.0, 0.0)
KEYS = (2.0, 1.0, 1.0, NAN, None, 2.0, -1.0, 1.0, 0.0)
CENTRED = (algebra.Moments, HigherMoments, Comoments, Product)
WHOLE = (3, None, 6, -1, 2**40, 3, None, None, None)
BITS = (BitAnd, BitOr, BitXor)


def unit(monoid, value):
    """The partial of one row in Python, from the value that SQL lifts."""
    if value is None or (type(monoid) is Comoments and value[1] is None):
        return None
    shapes = {
        algebra.Count: lambda: 1,
        algebra.Moments: lambda: (1, value, 0.0),
        HigherMoments: lambda: (1, value, 0.0, 0.0, 0.0),
        Comoments: lambda: (1, value[0], 0.0, value[1], 0.0, 0.0, 0.0),
        Covariances: lambda: (1, 0, value[0], value[1], 0.0, 0.0, 0.0),
        algebra.ExtremeCount: lambda: (value, 1),
        algebra.Values: lambda: [(value, 1)],
        algebra.Collect: lambda: [value],
        Readings: lambda: [value],
        AtOnce: lambda: [value],
        RunningParts: lambda: [value],
        United: lambda: [value],
        algebra.Extremes: lambda: [value],
    }
    return shapes.get(type(monoid), lambda: value)()


def same(monoid, in_sql, in_python):
    if isinstance(monoid, algebra.Count):  # no row at all is counted as 0
        return (in_sql or 0) == (in_python or 0)
    if isinstance(monoid, algebra.Collect):  # and an empty list is as none
        in_sql, in_python = in_sql or None, in_python or None
    return alike(monoid, in_sql, in_python)


def rows(monoid):
    values = PLAIN if isinstance(monoid, CENTRED) or type(monoid) is algebra.Sum else ODD
    whole = isinstance(monoid, BITS) or "cast({x} as bigint)" in monoid.value
    values = WHOLE if whole else values
    conditions = [True, None, False, True, True, False, None, None, None]
    if "if({x}, " in monoid.value:
        values = conditions
    times = [1_700_000_000_000_000 + 7 * at for at in range(9)]
    keys = PLAIN[::-1] if isinstance(monoid, (Covariances, *CENTRED)) else KEYS
    return pa.table({"p": [0, 0, 0, 1, 1, 1, 2, 2, 2], "x": values, "y": keys, "t": times})


@pytest.mark.parametrize("monoid", IN_PYTHON, ids=repr)
def test_sql_and_python_mean_the_same(classic, monoid):
    classic.createDataFrame(rows(monoid)).createOrReplaceTempView("given")
    ends = {"begins": "t", "ends": "(t + 7L)"}
    value = monoid.value.format(x="x", y="y", z="t", time="t", order="t", **ends)
    lifted = f"select p, t, {value} as v from given"
    values = {}
    for row in classic.sql(f"{lifted} order by t").toArrow().to_pylist():
        values.setdefault(row["p"], []).append(unit(monoid, plain(row["v"])))
    counted = f"select p, v, count(1) as n from ({lifted}) group by p, v"
    parts = f"select p, {monoid.lift('v', n='n')} as q from ({counted}) group by p"
    if not monoid.by_value:
        parts = f"select p, {monoid.lift('v')} as q from ({lifted}) group by p"
    units = f"select p, {monoid.combine_all(monoid.unit('v'))} as q from ({lifted}) group by p"
    for text in (parts, units):
        for row in classic.sql(text).toArrow().to_pylist():
            expected = fold(monoid, values[row["p"]])
            assert same(monoid, plain(row["q"]), expected), (row, meaning(monoid, expected))
    every = fold(monoid, [part for group in values.values() for part in group])
    merged = (
        classic.sql(f"select {monoid.combine_all('q')} as q from ({parts})").toArrow().to_pylist()
    )
    assert same(monoid, plain(merged[0]["q"]), every)


@pytest.mark.parametrize("monoid", [m for m in IN_PYTHON if m.combine("a", "b")], ids=repr)
def test_two_partials_are_combined_and_taken_back(classic, monoid):
    combined = monoid.combine("a", "b")
    back = monoid.inverse(f"({combined})", "b") if monoid.invertible else "a"
    text = f"select a, b, {combined} as ab, {back} as back from values {{}} as t(a, b)"
    if "named_struct" in monoid.value:
        pairs = "(struct(1L, 2D), struct(1L, 3D)), (struct(2L, 2D), null), (null, struct(0L, 1D))"
    else:
        pairs = "(1L, 3L), (7L, -2L), (5L, null), (null, 5L), (null, null)"
    for one, two, both, left in classic.sql(text.format(pairs)).collect():
        assert alike(monoid, both, monoid.combine_values(one, two))
        if monoid.invertible and None not in (one, two):
            assert alike(monoid, left, one)
