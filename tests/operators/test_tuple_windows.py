"""The operator behind windows over rows: any split gives the same windows, and little is kept."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fanlight.engine.algebra.monoids import Max, Sum
from fanlight.engine.operators.arrow_tables import table_of_rows
from fanlight.engine.operators.partials import combine_any_ranges, combine_ranges_of_values
from fanlight.engine.plan.granules import Cut, EveryRows, LastRows, cut_into_pairs, cut_into_panes
from fanlight.engine.plan.grid import Grid
from tests.helpers.grouped import Grouped
from tests.helpers.shown import shown
from tests.operators.counted import query, row

LATEST = 2**60


events = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", None]),
        st.integers(-20, 60),
        st.none() | st.integers(-5, 5),
    ),
    max_size=40,
)
cuts = st.builds(
    lambda length, step, offset, cutter: cutter(Grid(length, step, offset)),
    st.integers(1, 9),
    st.integers(1, 9),
    st.integers(0, 4),
    st.sampled_from([cut_into_panes, cut_into_pairs]),
)

grids = st.integers(1, 30).map(lambda length: Grid(length, 1))
ends = st.integers(1, 6).flatmap(lambda n: st.builds(EveryRows, st.just(n), st.integers(0, n - 1)))
last_rows = st.builds(
    lambda count, slide, offset: (LastRows(count), Grid(slide, slide, offset)),
    st.integers(1, 9),
    st.integers(1, 30),
    st.integers(-9, 9),
)


def listed(tables):
    found = []
    for table in tables:
        if table is not None:
            found += [tuple(values.values()) for values in table.to_pylist()]
    return found


def counts(entries):
    tally = defaultdict(int)
    for entry in entries or ():
        tally[entry["v"]] += entry["n"]
    return dict(tally)


def comparable(found):
    return sorted(
        ((k is None, k or ""), start, total, high, sorted(counts(values).items()))
        for k, start, total, high, values in (
            (k, w, -999 if s is None else s, -999.0 if m is None else m, v)
            for k, w, s, m, v in found
        )
    )


def spans_of_rows(mine, grid):
    """Where each complete window of rows starts, and its values."""
    for m in range(-20, 60):
        start = grid.offset + m * grid.slide
        end = start + grid.range
        if 0 < end <= len(mine):
            yield start, [v for _, _, v in mine[max(start, 0) : end]]


def spans_at_rows(mine, ends, length):
    """Where each window starts that ends at the instant of so many rows, and its values."""
    instants = {t for at, (t, _, _) in enumerate(mine) if (at + 1 - ends.shift) % ends.every == 0}
    for t in instants:
        yield t - length + 1, [v for s, _, v in mine if t - length < s <= t]


def spans_of_last_rows(mine, ends, grid):
    """Where each slide with a row starts, and the values of the last rows before its end."""
    for start in {t - (t - grid.offset) % grid.slide for t, _, _ in mine}:
        yield start, [v for t, _, v in mine if t < start + grid.slide][-ends.count :]


def by_definition(rows, by, grid):
    """Every window by its rows, each key on its own."""
    keyed = defaultdict(list)
    for key, time, value in rows:
        keyed[key].append((time, (value is not None, value or 0), value))
    found = []
    for key, mine in keyed.items():
        mine.sort(key=lambda place: place[:2])
        if isinstance(by, Cut):
            spans = spans_of_rows(mine, by.grid)
        elif isinstance(by, EveryRows):
            spans = spans_at_rows(mine, by, grid.range)
        else:
            spans = spans_of_last_rows(mine, by, grid)
        for start, values in spans:
            if not values:
                continue
            there = [v for v in values if v is not None]
            tally = defaultdict(int)
            for v in values:
                tally[v or 0] += 1
            entries = [{"v": v, "n": n} for v, n in tally.items()]
            total = sum(there) if there else None
            found.append((key, start, total, max(map(float, there), default=None), entries))
    return found


def run(asked, batches, *, restart):
    """Batches of rows in order of time, the watermark behind each; a restart after each one."""
    operator, found = Grouped(asked), []
    for rows, watermark in batches:
        operator.feed(table_of_rows([row(*event) for event in rows], operator.query.schema))
        found.append(operator.release(watermark))
        if restart:
            operator = operator.restarted()
    found.append(operator.release(LATEST))
    return operator, listed(found)


@shown(150)
@given(events, cuts, st.integers(1, 12), st.booleans())
def test_windows_of_rows_equal_their_definition(rows, cut, size, restart):
    ordered = sorted(rows, key=lambda event: event[1])
    batches = []
    for at in range(0, len(ordered), size):
        part, rest = ordered[at : at + size], ordered[at + size :]
        batches.append((part[::-1], rest[0][1] - 1 if rest else -(10**6)))
    _, found = run(query(cut), batches, restart=restart)
    assert comparable(found) == comparable(by_definition(rows, cut, cut.grid))


@shown(150)
@given(events, st.tuples(ends, grids) | last_rows, st.integers(1, 12), st.booleans())
def test_windows_that_rows_and_time_place_equal_their_definition(rows, placed, size, restart):
    ordered = sorted(rows, key=lambda event: event[1])
    batches = []
    for at in range(0, len(ordered), size):
        part, rest = ordered[at : at + size], ordered[at + size :]
        batches.append((part[::-1], rest[0][1] - 1 if rest else -(10**6)))
    _, found = run(query(*placed), batches, restart=restart)
    assert comparable(found) == comparable(by_definition(rows, *placed))


def test_the_last_rows_wait_for_the_end_of_their_slide():
    operator = Grouped(query(LastRows(2), Grid(10, 10)))
    rows = [row("a", at, at) for at in (1, 3, 8)]
    operator.feed(table_of_rows(rows, operator.query.schema))
    assert listed([operator.release(8)]) == []
    assert operator.next_time == 9
    assert [found[:3] for found in listed([operator.release(9)])] == [("a", 0, 11)]
    assert operator.opened().slices.num_rows == 2
    assert operator.next_time is None


def test_state_is_bounded_by_open_windows_not_by_rows():
    cut = cut_into_panes(Grid(100, 10))
    operator = Grouped(query(cut))
    sizes = []
    for batch in range(50):
        operator.feed(
            table_of_rows(
                [row("a", batch * 200 + at, at % 7) for at in range(200)], operator.query.schema
            )
        )
        operator.release(batch * 200 + 199)
        assert operator.opened().slices.num_rows <= cut.span
        assert operator.next_time is None
        sizes.append(operator.size)
    assert max(sizes[10:]) <= max(sizes[:10])


def test_keys_that_fall_silent_leave_nothing_behind_where_windows_end_at_every_row():
    operator = Grouped(query(EveryRows(), Grid(10, 1)))
    operator.feed(table_of_rows([row(f"k{at}", at, 1) for at in range(100)], operator.query.schema))
    operator.release(99)
    assert operator.opened().keys.num_rows <= 10
    operator.feed(table_of_rows([row("last", 1000, 1)], operator.query.schema))
    operator.release(1000)
    assert operator.opened().keys.num_rows == 1


def test_a_sum_beyond_64_bits_is_an_error_and_not_a_wrong_number():
    operator = Grouped(query(cut_into_panes(Grid(2, 1))))
    operator.feed(
        table_of_rows([("a", at, 2**62, 0.0, None) for at in range(3)], operator.query.schema)
    )
    with pytest.raises(OverflowError):
        operator.release(LATEST)


@given(
    st.lists(st.none() | st.text(max_size=2), max_size=20),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 6)), max_size=20),
)
def test_two_stacks_join_in_order(values, moves):
    lo, hi, ranges = 0, 0, []
    for up, out in moves:
        lo = min(lo + up, len(values))
        hi = max(min(hi + out, len(values)), lo)
        ranges.append((lo, hi))
    los = pa.array([a for a, _ in ranges], pa.int64()).to_numpy()
    his = pa.array([b for _, b in ranges], pa.int64()).to_numpy()

    def combine(a, b):
        return (a or "") + (b or "") if a is not None and b is not None else (b if a is None else a)

    found = combine_ranges_of_values(values, los, his, combine)
    wanted = []
    for a, b in ranges:
        there = [v for v in values[a:b] if v is not None]
        wanted.append("".join(there) if there else None)
    assert found == wanted


@given(
    st.lists(st.none() | st.integers(-9, 9), max_size=20),
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=12),
)
def test_ranges_in_any_order_may_contain_each_other(values, pairs):
    bounds = [sorted(min(end, len(values)) for end in pair) for pair in pairs]
    lo, hi = np.array(bounds, np.int64).reshape(-1, 2).T
    texts = [None if value is None else f"{value} " for value in values]
    columns = [pa.array(values, pa.int64()), pa.array(texts, pa.string())]
    sums, greatest = combine_any_ranges(columns, [Sum(), Max()], lo, hi)
    there = [[v for v in values[a:b] if v is not None] for a, b in bounds]
    assert sums.to_pylist() == [sum(some) if some else None for some in there]
    assert greatest.to_pylist() == [max((f"{v} " for v in some), default=None) for some in there]
