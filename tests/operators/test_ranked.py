"""The pass of ranked values: chunks of whole keys, and what is read of their windows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from fanlight.engine.algebra.ordering import AtShares, Commonest, Distinct, Frequent
from fanlight.engine.operators import ranked_windows
from fanlight.engine.operators.ranked_windows import (
    RankedPass,
    RankedQuery,
    chunks_of_whole_keys,
    rank_values,
)
from fanlight.engine.plan.grid import Grid
from fanlight.engine.spec.arguments import read_exact

ASKED = {
    "d0": (0, AtShares((0.0, 0.5))),
    "d1": (0, Commonest()),
    "d2": (0, Frequent(read_exact("", 0.4, ""))),
    "d3": (0, Distinct()),
}
QUERY = RankedQuery(("k0",), (Grid(10, 5),), has_query_column=False, readings=ASKED)


def rows(*keys):
    """Rows of keys, each a list of times and values, in order of values as Spark sends them."""
    columns = {"k0": [], "t": [], "c0": [], "r0": [], "first": []}
    for key, own in enumerate(keys):
        values = sorted({value for _, value in own if value is not None})
        ordered = sorted(own, key=lambda row: (row[1] is not None, row[1] or 0))
        for n, (t, value) in enumerate(ordered):
            rank = None if value is None else values.index(value)
            for name, one in zip(columns, (key, t, value, rank, n == 0), strict=True):
                columns[name].append(one)
    types = {"k0": pa.int64(), "t": pa.int64(), "c0": pa.float64(), "r0": pa.int32(),
             "first": pa.bool_()}  # fmt: skip
    return pa.record_batch([pa.array(columns[n], types[n]) for n in columns], names=list(columns))


def windows(batch, query=QUERY):
    found = [row for out in RankedPass(query)([batch]) for row in out.to_pylist()]
    plain = [{name: pairs(one) for name, one in row.items()} for row in found]
    return {(row.pop("k0"), row.pop("start")): row for row in plain}


def pairs(found):
    return [tuple(one.values()) for one in found] if isinstance(found, list) else found


def test_what_is_read_of_windows():
    got = windows(rows([(0, 2.0), (1, 1.0), (6, 2.0), (7, 3.0), (8, None)], [(30, None)]))
    assert got == {
        # Counts of the values asked for alone: all others count as the next one of these.
        (0, -5): {"d0": [(1.0, 1), (2.0, 1)], "d1": [(1.0, 1)], "d2": [(1.0, 1), (2.0, 1)],
                  "d3": 2},
        (0, 0): {"d0": [(1.0, 1), (2.0, 1), (2.0, 2)], "d1": [(2.0, 2)], "d2": [(2.0, 2)],
                 "d3": 3},
        (0, 5): {"d0": [(2.0, 1), (3.0, 1)], "d1": [(2.0, 1)], "d2": [(2.0, 1), (3.0, 1)],
                 "d3": 2},
        (1, 25): {"d0": [], "d1": [], "d2": [], "d3": 0},
        (1, 30): {"d0": [], "d1": [], "d2": [], "d3": 0},
    }  # fmt: skip


@pytest.mark.parametrize("chunk", [1, 4, 1000])
def test_chunks_hold_whole_keys(monkeypatch, chunk):
    monkeypatch.setattr(ranked_windows, "CHUNK", chunk)
    rng = np.random.default_rng(1)
    keys = [[(int(t), float(t % 3)) for t in rng.integers(0, 40, size)] for size in (1, 9, 3, 2, 7)]
    whole = rows(*keys)
    for size in (1, 2, 5):
        parts = [whole.slice(at, size) for at in range(0, len(whole), size)]
        chunks = list(chunks_of_whole_keys(parts))
        assert pa.concat_tables(chunks).to_pylist() == whole.to_pylist()
        assert all(part["first"][0].as_py() for part in chunks)
        assert chunk > 4 or len(chunks) > 1


def test_no_row_no_window():
    assert windows(rows()) == {}
    assert list(RankedPass(QUERY)([])) == []


@pytest.mark.parametrize(
    ("values", "ranks"),
    [
        ([3, None, 1, 3, 2], [2, -1, 0, 2, 1]),
        ([0.5, float("nan"), -1.0, float("nan"), float("inf")], [1, 3, 0, 3, 2]),
        (["b", "a", "é", None, "Z"], [2, 1, 3, -1, 0]),
        ([True, False, None], [1, 0, -1]),
        ([], []),
    ],
)
def test_values_are_ranked_in_sparks_order(values, ranks):
    """NaN is the greatest, and texts go by their bytes."""
    kind = pa.int64() if not values else None
    ranked = rank_values(pa.array(values, kind))
    assert ranked.ranks.tolist() == ranks
    for value, rank in zip(values, ranks, strict=True):
        if rank >= 0:
            known = ranked.values[int(ranked.examples[rank])].as_py()
            assert known == value or value != value  # noqa: PLR0124
