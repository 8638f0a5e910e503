"""Trend lines through the chain operator: a filled series, fed by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fanlight.engine.algebra.filling import Filled
from fanlight.engine.operators.arrow_tables import table_of_rows
from fanlight.engine.operators.chain import ChainQuery
from tests.helpers.grouped import Grouped
from tests.helpers.shown import shown
from tests.operators.fitted import COMBINE, SPECS, STRETCH, as_tuple, axes, granules, run
from tests.oracle import fit


def lines(spec, series, cuts):
    """Feed up to each cut, restore from a snapshot, release; lead in and run out as Spark does."""
    schema = pa.schema([("k", pa.string()), ("t", pa.int64()), ("f0", STRETCH)])
    query = ChainQuery(schema, 1, (Filled(),), axes(spec))
    operator, waiting = Grouped(query), list(granules(spec, series))
    for cut in [*sorted(cuts), 10_000]:
        now = [(k, t, p) for k, t, p in waiting if t <= cut]
        operator.feed(
            table_of_rows([(k, t, as_tuple(p)) for k, t, p in now], operator.query.schema)
        )
        waiting = [row for row in waiting if row[1] > cut]
        operator = operator.restarted()
        found = operator.release(cut)
        for row in found.to_pylist() if found is not None else []:
            axis, stretch = query.grids[row["query"]], row["f0"]
            start = max(row["start"], axis.offset) if spec.offset else row["start"]
            lead = None if stretch["c"] is None else run(start, stretch["f"], stretch["c"])
            m = COMBINE(lead, tuple(stretch["m"].values()))
            m = COMBINE(m, run(stretch["e"], row["start"] + axis.range, stretch["v"]))
            slope = m[5] / m[4] if m[4] > 0 else None
            first = None if slope is None else m[3] - slope * (m[2] + m[1] - start)
            yield (row["k"], row["query"], start), (slope, first)


@pytest.mark.parametrize("spec", SPECS, ids=repr)
@shown(60)
@given(
    series=st.dictionaries(
        st.tuples(st.sampled_from("ab"), st.integers(3, 40) | st.integers(3, 300)),
        st.integers(-9, 9).map(float),
        max_size=30,
    ),
    cuts=st.lists(st.integers(-2, 320), max_size=6),
)
def test_lines_through_the_chain(spec, series, cuts):
    rows = [{"k": k, "t": t, "v": v} for (k, t), v in series.items()]
    expected = {
        (row["k"], row["level"], row["window"]["start"]): (row["slope"], row["intercept"])
        for row in fit(rows, spec, "v", time="t", by=["k"])
    }
    found = list(lines(spec, series, cuts))
    assert len(found) == len(expected)
    for key, line in found:
        if expected[key][0] is None:
            assert line == (None, None)
        else:
            assert line == pytest.approx(expected[key], rel=1e-9, abs=1e-9)
