"""Windows without rows that follow those that have some, by the sentence about them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fanlight.engine.operators.arrow_tables import table_of_columns
from fanlight.engine.operators.empty_windows import EmptyWindowsQuery
from fanlight.engine.operators.protocol import BEGINNING
from fanlight.engine.plan.grid import Grid
from tests.helpers.grouped import Grouped

GRIDS = (Grid(10, 10), Grid(20, 5, 3))
SCHEMA = pa.schema(
    [
        ("k", pa.string()), ("t", pa.int64()), ("query", pa.int64()), ("start", pa.int64()),
        ("r0", pa.int64()), ("r1", pa.decimal128(9, 2)), ("r2", pa.list_(pa.int64())),
    ]
)  # fmt: skip


def windows_of(rows):
    """Rows of key, query, number of the window, result, as windows that have ended."""
    columns = {name: [] for name in SCHEMA.names}
    for key, query, number, value in rows:
        start = GRIDS[query].offset + number * GRIDS[query].slide
        for name, one in zip(
            SCHEMA.names, (key, start, query, start, value, None, [value]), strict=True
        ):
            columns[name].append(one)
    return pa.table(columns, schema=SCHEMA)


def end_of(query, number):
    grid = GRIDS[query]
    return grid.offset + number * grid.slide + grid.range


def expected(rows, watermark, rule, most):
    """So many windows after each with rows, as far as they have ended, and before the next."""
    fill = {"null": (None, None, None), "zero": (0, 0, None)}
    found = {(k, q, w): (v, None, [v]) for k, q, w, v in rows}
    there = set(found)
    for key, query, number, value in rows:
        for ahead in range(1, most + 1):
            one = (key, query, number + ahead)
            if one in there or end_of(query, number + ahead) > watermark:
                break
            found[one] = fill.get(rule, (value, None, [value]))
    return found


def numbered(table):
    """A table of windows by key, query and number; each is there once."""
    found = {}
    for row in table.to_pylist():
        grid = GRIDS[row["query"]]
        key = (row["k"], row["query"], (row["start"] - grid.offset) // grid.slide)
        assert key not in found
        found[key] = (row["r0"], row["r1"], row["r2"])
    return found


CASES = st.tuples(
    st.dictionaries(
        st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 1), st.integers(0, 30)),
        st.integers(0, 9),
        max_size=12,
    ),
    st.lists(st.integers(1, 400), max_size=5),
    st.sampled_from(["null", "zero", "last"]),
    st.integers(1, 6),
)


@given(CASES)
def test_they_come_as_the_watermark_goes_on(case):
    given_, watermarks, rule, most = case
    rows = [(*place, value) for place, value in given_.items()]
    query = EmptyWindowsQuery(SCHEMA, 1, (), GRIDS, rule, most, (True, True, False))
    operator, found, before = query.start(), {}, BEGINNING
    for watermark in sorted({*watermarks, 1000}):
        come = [r for r in rows if before < end_of(r[1], r[2]) <= watermark]
        due = operator.deadlines.tolist()
        operator = query.resume(operator.snapshot())
        made = numbered(operator.take(windows_of(come), watermark))
        assert bool(made) == bool(come or (due and min(due) <= watermark))
        assert not made.keys() & found.keys()
        found |= made
        told = [r for r in rows if end_of(r[1], r[2]) <= watermark]
        assert found == expected(told, watermark, rule, most)
        before = watermark
    assert not len(operator.keys)
    assert not len(operator.slices)


def test_there_may_be_any_number_of_queries():
    """NumPy's own choice among arrays takes 64 of them at most, and 32 before NumPy 2."""
    grids = tuple(Grid(n, n) for n in range(1, 101))
    query = EmptyWindowsQuery(SCHEMA, 1, (), grids, "null", 1, (True, True, False))
    columns = {"k": ["a"] * 100, "t": [0] * 100, "query": range(100), "start": [0] * 100}
    columns |= {"r0": [1] * 100, "r1": [None] * 100, "r2": [[1]] * 100}
    made = query.start().take(table_of_columns(columns, SCHEMA), 300)
    ends = [row["start"] + row["query"] + 1 for row in made.to_pylist() if row["start"]]
    assert sorted(ends) == [2 * n for n in range(1, 101)]


@pytest.mark.parametrize("rule", ["null", "last"])
def test_a_group_wakes_when_the_next_one_has_ended(rule):
    query = EmptyWindowsQuery(SCHEMA, 1, (), GRIDS, rule, 2, (True, True, False))
    group = Grouped(query)
    rows = [("a", 0, 0, 1), ("b", 0, 0, 2), ("b", 1, -3, 4)]
    found = numbered(group.feed(windows_of(rows), 10))
    assert found == expected(rows, 10, rule, 2)
    woken = []
    while group.next_time is not None:
        wakes = group.next_time
        woken.append(wakes)
        group = group.restarted()
        found |= numbered(group.release(wakes))
        assert found == expected(rows, wakes, rule, 2)
    assert woken == [13, 18, 20, 30]
