"""The chain operator, fed by hand: its answers and what it holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fanlight.engine.operators.arrow_tables import table_of_rows
from fanlight.engine.plan.granules import granules_of
from fanlight.engine.spec import MultiGranular
from tests.helpers.grouped import Grouped
from tests.helpers.shown import shown
from tests.operators.chained import ROW_LEVELS, TIME_LEVELS, axes, granules, query
from tests.oracle import granular, queries

ORACLE = {
    "n": ("count",),
    "s": ("sum", "v"),
    "m": ("max", "i"),
}


def bound_of(grids):
    """The most partials that a chain may keep for one key, by the paper: core and buffer nodes.

    The sum of ceil((ω_k - ω_{k-1}) / β_k) for the core nodes and of β_k / β_{k-1} for the buffers,
    with one more granule where the lengths of neighbours do not divide.
    """
    nodes = sorted(grids, key=lambda grid: (grid.range, grid.slide))
    total, before, step = 0, 0, granules_of(nodes).edges[0][1]
    for grid in nodes:
        total += -(-(grid.range - before) // grid.slide) + -(-grid.slide // step)
        before, step = grid.range, grid.slide
    return total


def run(spec, rows, *, by_rows=False, cuts=(), check=None):
    """Feed rows up to each cut of the time line, restore from a snapshot, release."""
    asked = query(spec, rows=by_rows)
    operator = Grouped(asked)
    results = []
    waiting = sorted(rows, key=lambda row: row[1])
    for cut in [*sorted(cuts), 10_000]:
        operator.feed(
            table_of_rows([row for row in waiting if row[1] <= cut], operator.query.schema)
        )
        waiting = [row for row in waiting if row[1] > cut]
        operator = operator.restarted()
        found = operator.release(cut)
        results += found.to_pylist() if found is not None else []
        if check is not None:
            check(operator.opened())
    return operator, results


def as_dicts(spec, results):
    lengths = [axis.range for axis in axes(spec)]
    numbers = [one.number for one in spec.levels] if isinstance(spec, MultiGranular) else None
    label = "level" if isinstance(spec, MultiGranular) else "query"
    first = spec.offset.value if label == "level" and spec.offset is not None else None
    return sorted(
        (
            row["k"],
            numbers[row["query"]] if numbers else row["query"],
            max(row["start"], first) if first is not None else row["start"],
            row["start"] + lengths[row["query"]],
            row["n"],
            row["s"],
            row["m"],
        )
        for row in results
    )


def expected(spec, events, **how):
    rows = [{"k": k, "t": t, "i": i, "v": i / 4} for k, t, i in events]
    where = {"time": "t", "by": ["k"], "aggregates": ORACLE}
    if isinstance(spec, MultiGranular):
        found, label = granular(rows, spec, **where, **how), "level"
    else:
        found, label = queries(rows, spec, **where, **how), "query"
    return sorted(
        (
            row["k"], row[label], row["window"]["start"], row["window"]["end"],
            row["n"], row["s"], row["m"],
        )
        for row in found
    )  # fmt: skip


events_drawn = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 60) | st.integers(0, 400), st.integers(-8, 8)),
    max_size=40,
)
cuts_drawn = st.lists(st.integers(-2, 450), max_size=8)


@pytest.mark.parametrize("spec", TIME_LEVELS, ids=repr)
@shown(60)
@given(events=events_drawn, cuts=cuts_drawn)
def test_granules_to_windows(spec, events, cuts):
    _, results = run(spec, granules(spec, events), cuts=cuts)
    assert as_dicts(spec, results) == expected(spec, events)


@pytest.mark.parametrize("spec", ROW_LEVELS, ids=repr)
@shown(60)
@given(events=events_drawn, cuts=cuts_drawn)
def test_rows_to_windows(spec, events, cuts):
    rows = [(k, t, i, 1, i / 4, i, [at]) for at, (k, t, i) in enumerate(events)]
    _, results = run(spec, rows, by_rows=True, cuts=cuts)
    found = as_dicts(spec, results)
    assert found == expected(spec, events, unfinished=False)


@pytest.mark.parametrize("spec", TIME_LEVELS[:4], ids=repr)
@pytest.mark.parametrize("step", [1, 3, 7])
def test_no_partial_is_held_twice(spec, step):
    """Rows are held once each, in no more partials than the paper's core and buffer nodes."""
    events = [("a", t, t % 5) for t in range(120)]
    most = bound_of(axes(spec))
    seen = []

    def check(operator):
        rows = [at for each in operator.slices["each"].to_pylist() for at in each]
        assert len(rows) == len(set(rows))
        assert operator.partial_count <= most
        seen.append(operator.partial_count)

    operator, _ = run(spec, granules(spec, events), cuts=range(0, 120, step), check=check)
    assert max(seen) >= 2
    assert operator.opened().partial_count == 0
    assert operator.opened().keys.num_rows == 0
    assert operator.next_time is None


@pytest.mark.slow
def test_the_state_is_that_of_the_widest_level_not_of_all():
    spec = MultiGranular([6, 60, 360], [1, 6, 30])
    events = [("a", t, 0) for t in range(800)]
    held = []
    run(
        spec,
        granules(spec, events),
        cuts=range(400, 800),
        check=lambda o: held.append(o.partial_count),
    )
    assert bound_of(axes(spec)) == 25 + 1 + 6 + 5
    assert max(held) == 6 - 1 + 9 + 10  # what leaves at the next report is dropped at this one


def test_the_next_time_is_the_end_of_a_window():
    spec = TIME_LEVELS[0]
    operator = Grouped(query(spec))
    operator.feed(table_of_rows(granules(spec, [("a", 5, 1)]), operator.query.schema))
    assert operator.next_time == 6
    assert operator.release(6).num_rows == 2  # level 0 at 6, level 1 at 6
    assert operator.next_time == 7
    assert operator.release(6) is None
