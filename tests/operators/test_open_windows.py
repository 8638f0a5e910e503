"""The operator that gives windows while they are open: by the definition, for any split of rows."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from fanlight.engine.algebra.monoids import Sum
from fanlight.engine.operators.arrow_tables import table_of_rows
from fanlight.engine.operators.early_windows import DIRTY, OpenQuery
from fanlight.engine.operators.protocol import BEGINNING
from fanlight.engine.plan.granules import granules_of
from fanlight.engine.plan.grid import Grid

SCHEMA = pa.schema([("k", pa.string()), *((n, pa.int64()) for n in ("t", "piece", "v", "dirty"))])
grids = st.lists(
    st.builds(Grid, st.integers(1, 9), st.integers(1, 6), st.integers(0, 4)), min_size=1, max_size=2
)
# Micro-batches of rows, each with how far the watermark goes on after it.
arrivals = st.lists(
    st.tuples(
        st.lists(st.tuples(st.sampled_from("ab"), st.integers(-8, 30), st.integers(-5, 5))),
        st.integers(0, 9),
    ),
    max_size=6,
)


def windows_of(grid, at):
    """The starts of the windows that hold an instant, from the definition."""
    return [
        start for start in range(at - grid.range + 1, at + 1)
        if (start - grid.offset) % grid.slide == 0
    ]  # fmt: skip


@given(grids, arrivals, st.integers(0, 7))
def test_changes_are_given_and_each_window_is_final_once(several, batches, every):
    cut = granules_of(several)
    operator = OpenQuery(SCHEMA, 1, (Sum(), DIRTY), tuple(several), every).start()
    sums, given_, final, changed = {}, {}, set(), set()
    now, reported = BEGINNING, BEGINNING
    for rows, further in batches:
        taken = []
        for k, at, v in rows:
            held = [(n, s) for n, grid in enumerate(several) for s in windows_of(grid, at)]
            soonest = min((s + several[n].range for n, s in held), default=BEGINNING)
            if soonest <= now:
                continue  # in no window, or late
            taken.append((k, soonest, cut.slice_start(at), v, 1))
            for n, s in held:
                sums[k, n, s] = sums.get((k, n, s), 0) + v
                changed.add((k, n, s))
        now = further if now == BEGINNING else now + further
        found = operator.take(table_of_rows(taken, SCHEMA), now).to_pylist()
        done = {one for one in sums if one[2] + several[one[1]].range <= now} - final
        report = not every or reported // every < now // every
        reported = now
        wanted = done | {one for one in changed if report and one not in final}
        if report:
            changed.clear()
        assert {(row["k"], row["query"], row["start"]) for row in found} == wanted
        assert len(found) == len(wanted)
        for row in found:
            one = (row["k"], row["query"], row["start"])
            assert (row["v"], bool(row["final"])) == (sums[one], one in done)
            given_[one] = row["v"]
        final |= done
    opened = {k for k, n, s in sums if s + several[n].range > now}
    assert operator.keys.num_rows <= len(opened)
    if not every:
        assert given_ == sums


@given(grids, arrivals)
def test_a_key_is_due_when_its_next_window_is_final_or_its_changes_are(several, batches):
    """Or else the state of the key would not be read when it has to be."""
    cut = granules_of(several)
    query = OpenQuery(SCHEMA, 1, (Sum(), DIRTY), tuple(several), 4)
    operator, now = query.start(), 0
    for rows, further in batches:
        taken = []
        for k, at, v in rows:
            ends = [s + grid.range for grid in several for s in windows_of(grid, at)]
            if ends and min(ends) > now:
                taken.append((k, min(ends), cut.slice_start(at), v, 1))
        now += further
        operator.take(table_of_rows(taken, SCHEMA), now)
        soonest = min(operator.deadlines.tolist(), default=now + 1)
        assert soonest > now
        again = query.resume(operator.snapshot())
        assert len(again.take(SCHEMA.empty_table(), soonest - 1)) == 0
