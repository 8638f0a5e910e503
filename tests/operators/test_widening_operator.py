"""The operator behind progressive widening: Theorems 1 and 2, any split, and little is kept."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fanlight.engine.operators import widening
from fanlight.engine.operators.arrow_tables import encode_keys, table_of_rows
from fanlight.engine.operators.widening import Page, Windows, pages_from_sorted, pages_of
from fanlight.engine.plan.widening import bound_on_work, levels_of, most_kept_rows, most_window_rows
from fanlight.engine.spec.widening import ProgressiveWidening
from tests.helpers.grouped import Grouped
from tests.helpers.shown import shown
from tests.helpers.widened import SCHEMA, SPECS, dicts, fed, owner, pages_in, query, run, streams
from tests.oracle.widening import widened


def expected(spec, rows):
    """Windows of the reference that can hold something new, by the values of their uncut runs."""
    found = Counter()
    for window in widened(dicts(rows), spec, time="t", by=["k"], tiebreak=["b", "v"]):
        if not window.rows:
            continue
        ends = [row["t"] for row in window.rows]
        new = any(
            owner(levels_of(spec), low, high)
            == (window.level, window.end // level_size(spec, window) - 1)
            for low in ends
            for high in ends
            if low <= high
        )
        if new:
            runs = [tuple(row["v"] for row in run) for run in window.runs]
            found[window.key, window.level, window.start, *runs] += 1
    return found


def level_size(spec, window):
    return spec.durations[window.level]


def windows_in(spec, pages):
    """The windows of pages, as ``expected`` gives them."""
    levels, found = levels_of(spec), Counter()
    for page in pages:
        keys, values = page.rows["k0"].to_pylist(), page.rows["v"].to_pylist()
        windows = page.windows
        for at in range(len(windows)):
            spans = windows.ranges[windows.starts[at] : windows.ends[at]].tolist()
            places = [row for low, high in spans for row in range(low, high)]
            cuts = {low for low, _ in spans} | set(np.flatnonzero(page.rows["gap"]).tolist())
            runs = []
            for row in places:
                if row in cuts:
                    runs.append(())
                runs[-1] += (values[row],)
            level = levels[int(windows.levels[at])]
            start, _ = level.window_of_batch(int(windows.batches[at]))
            (key,) = {keys[row] for row in places}
            found[(key,), level.number, start, *runs] += 1
    return found


@shown(120)
@given(st.sampled_from(SPECS), streams(), st.integers(1, 30), st.booleans())
def test_windows_are_those_of_the_papers_recursion(spec, rows, size, restart):
    assert windows_in(spec, run(spec, rows, size, restart=restart)) == expected(spec, rows)


AT_ONCE = [("a", 5, "x", number) for number in range(9)]  # longer than a chunk


@shown(100)
@given(st.sampled_from(SPECS), streams(), st.integers(1, 30))
@example(SPECS[0], AT_ONCE, 3)
def test_a_sorted_batch_gives_the_same_windows(spec, rows, size):
    ordered = sorted(
        rows, key=lambda row: (row[0] is not None, row[0] or "", row[1], row[2], row[3])
    )
    columns = list(zip(*map(fed, ordered), strict=True)) or [[]] * 5
    table = pa.table(
        [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
    )
    chunk, widening.CHUNK = widening.CHUNK, size
    try:
        tables = list(pages_from_sorted(query(spec), iter(table.to_batches(max_chunksize=3))))
    finally:
        widening.CHUNK = chunk
    assert windows_in(spec, pages_in(tables)) == expected(spec, rows)


def rows_of(page, at):
    windows = page.windows
    spans = windows.ranges[windows.starts[at] : windows.ends[at]].tolist()
    values = page.rows["v"].to_pylist()
    return {values[row] for low, high in spans for row in range(low, high)}


@shown(120)
@given(st.sampled_from(SPECS), streams(), st.integers(1, 30))
def test_theorem_1_every_pattern_is_in_a_window(spec, rows, size):
    """Any run of at most L_max rows of a key, at most as long as ``longest``."""
    pages = run(spec, rows, size)
    seen = [rows_of(page, at) for page in pages for at in range(len(page.windows))]
    keyed = {}
    for row in sorted(rows, key=lambda row: row[1:]):
        keyed.setdefault(row[0], []).append(row)
    for mine in keyed.values():
        for first in range(len(mine)):
            for last in range(first, min(first + spec.max_rows, len(mine))):
                if mine[last][1] - mine[first][1] <= spec.max_duration.value:
                    pattern = {row[3] for row in mine[first : last + 1]}
                    assert any(pattern <= window for window in seen), pattern


GROWING = (
    *(ProgressiveWidening(2, max_duration=2 * factor**2, max_rows=4, factor=factor)
      for factor in (2, 4, 8, 16)),
    ProgressiveWidening(2, max_duration=256, max_rows=4),
    ProgressiveWidening([2, 6, 60, 120], max_duration=120, max_rows=4),
    ProgressiveWidening([2, 4, 32], max_duration=32, max_rows=1),
    ProgressiveWidening([2, 10], max_duration=10, max_rows=3),
    ProgressiveWidening(2, max_duration=2, max_rows=3),
)  # fmt: skip


def released(spec, arrivals, watermarks):
    """Feed rows (key, time); after each watermark the operator, and the pages that leave it."""
    operator, at, asked = Grouped(query(spec)), 0, query(spec)
    arrivals = [fed((key, t, "x", n)) for n, (key, t) in enumerate(sorted(arrivals, key=str))]
    arrivals.sort(key=lambda row: row[1])
    for watermark in watermarks:
        due = at
        while due < len(arrivals) and arrivals[due][1] <= watermark:
            due += 1
        operator.feed(table_of_rows(arrivals[at:due], asked.schema))
        at = due
        pages = pages_in([operator.release(watermark)])
        yield operator.opened(), pages


def kept_at_most(operator):
    """Rows of the key that has the most; none waits for the watermark."""
    return max(Counter(operator.rows["k0"].to_pylist()).values(), default=0)


@pytest.mark.slow
@pytest.mark.parametrize("spec", GROWING, ids=repr)
def test_theorem_2_bounded_work_and_memory(spec):
    """As many rows as the assumption allows, for long: every bound is kept, and is reached."""
    limit, first, levels = spec.max_rows, spec.durations[0], levels_of(spec)
    length = 2 * spec.durations[-1]
    rows = [("a", at) for at in range(0, length, first) for _ in range(limit)]
    work, longest, held = 0, Counter(), []
    for operator, pages in released(spec, rows, range(length)):
        held.append(kept_at_most(operator))
        for page in pages:
            work += int(page.windows.lengths.sum())
            for level, count in zip(page.windows.levels, page.windows.lengths, strict=True):
                longest[int(level)] = max(longest[int(level)], int(count))
    assert max(held) == most_kept_rows(levels, limit)
    for level in levels:
        full = most_window_rows(level, limit)
        # Of doubling batches, windows above level 1 hold nothing new if their batches are cut.
        assert longest[level.number] == full or not longest[level.number]
    assert 0 < work <= length * bound_on_work(levels, limit)
    if spec.factor == 2 and not spec.listed:
        assert work <= length * 2 * 4 * limit / first  # the paper's bound (2)


@st.composite
def arrivals(draw):
    """Rows of two keys, as many in each first batch as a spec allows or fewer, and watermarks."""
    spec = draw(st.sampled_from(GROWING))
    first, limit = spec.durations[0], spec.max_rows
    rows, number = [], draw(st.integers(-9, 9))
    many = st.sampled_from((limit, limit, limit, 1, 0))
    for _ in range(draw(st.integers(1, 12))):
        number += draw(st.sampled_from((0, 0, 1, 3, 2 * spec.durations[-1] // first)))
        for _ in range(draw(st.sampled_from((1, 3, 20, 40)))):
            for key in "ab":
                rows += [(key, number * first + draw(st.integers(0, first - 1)))
                         for _ in range(draw(many))]  # fmt: skip
            number += 1
    end = number * first
    begin = min((t for _, t in rows), default=end)
    watermarks = draw(st.lists(st.integers(begin, end), min_size=1, max_size=30))
    return spec, rows, sorted(watermarks)


@pytest.mark.slow
@shown(100)
@given(arrivals())
def test_no_arrivals_exceed_the_bounds(drawn):
    spec, rows, watermarks = drawn
    levels = levels_of(spec)
    for operator, pages in released(spec, rows, watermarks):
        assert kept_at_most(operator) <= most_kept_rows(levels, spec.max_rows)
        for page in pages:
            for level, count in zip(page.windows.levels, page.windows.lengths, strict=True):
                assert count <= most_window_rows(levels[int(level)], spec.max_rows)


@pytest.mark.slow
def test_state_is_as_large_after_a_long_time_as_after_a_short_one():
    spec = ProgressiveWidening(1, max_duration=64, max_rows=5)
    operator, sizes = Grouped(query(spec)), []
    for at in range(400):
        operator.feed(table_of_rows([fed(("a", at, "x", at))], operator.query.schema))
        operator.release(at)
        sizes.append(operator.size)
    assert max(sizes[200:]) <= max(sizes[:200])


def test_keys_that_fall_silent_leave_nothing_behind():
    spec = ProgressiveWidening(1, max_duration=64, max_rows=5)
    operator = Grouped(query(spec))
    operator.feed(
        table_of_rows([fed((f"k{at}", 0, "x", at)) for at in range(100)], operator.query.schema)
    )
    due = []
    while operator.next_time is not None:
        operator.release(operator.next_time if due else 0)
        due += [time for time in [operator.next_time] if time is not None]
        assert len(due) < 20, "it wakes up again and again for nothing"
    assert operator.opened().rows.num_rows == 0
    assert max(due) == 2 * 64 - 1


def test_a_long_silence_is_cheap_and_no_window_is_invented():
    spec = ProgressiveWidening(1, max_duration=64, max_rows=5)
    operator = Grouped(query(spec))
    operator.feed(table_of_rows([fed(("a", 0, "x", 1))], operator.query.schema))
    first = pages_in([operator.release(10**15)])
    assert sum(len(page.windows) for page in first) == 1
    operator.feed(table_of_rows([fed(("a", 10**15 + 5, "x", 2))], operator.query.schema))
    second = pages_in([operator.finish()])
    assert [rows_of(page, 0) for page in second] == [{2}]


def test_a_first_batch_that_is_too_long_is_cut_once_it_has_been_searched():
    spec = ProgressiveWidening(10, max_duration=40, max_rows=2)
    operator = Grouped(query(spec))
    operator.feed(
        table_of_rows([fed(("a", at % 10, "x", at)) for at in range(1000)], operator.query.schema)
    )
    (page,) = pages_in([operator.release(9)])
    assert len(rows_of(page, 0)) == 1000
    assert operator.opened().rows.num_rows == 4


def test_large_groups_leave_in_several_pages(monkeypatch):
    from fanlight.engine.operators import widening as room

    rows = [(f"k{n % 7}", n // 3, "x", n) for n in range(600)]
    spec = ProgressiveWidening(1, max_duration=30, max_rows=4)
    alone = run(spec, rows, 10_000)
    monkeypatch.setattr(room, "WORK", 50)
    several = run(spec, rows, 10_000)
    assert len(several) > 10 * len(alone)
    assert windows_in(spec, several) == windows_in(spec, alone) == expected(spec, rows)


def test_a_page_of_another_format_is_refused():
    (page,) = run(SPECS[0], [("a", 0, "x", 1)], 1)
    data = bytearray(page.pack())
    data[0] = 77
    with pytest.raises(ValueError, match="format 77"):
        Page.unpack(bytes(data))


KEYS = pa.schema([("k0", pa.float64()), ("k1", pa.list_(pa.int64())), ("v", pa.int64())])


def test_keys_are_told_apart_as_spark_does():
    nan = float("nan")
    table = pa.table(
        [[nan, nan, None, None, 1.0, 1.0], [[1], [1], [1], None, [1, 2], [1, 2]], range(6)],
        schema=KEYS,
    )
    keys = table.select(["k0", "k1"])
    codes, fresh = encode_keys(keys.slice(0, 0), keys)
    assert fresh.tolist() == [0, 2, 3, 4]
    assert [codes[i] == codes[j] for i, j in [(0, 1), (1, 2), (2, 3), (4, 5)]] == [
        True, False, False, True
    ]  # fmt: skip


def test_a_page_says_which_rows_do_not_follow_the_one_before():
    rows = pa.table({"v": range(10)})
    new_keys = np.array([True] + [False] * 7 + [True, False])
    ranges = np.array([[0, 2], [4, 6], [5, 7], [8, 10]])
    one = np.arange(3)
    windows = Windows(one // 2, one, one, np.array([2, 3, 4]), ranges)
    (page,) = pages_of(rows, new_keys, windows)
    assert page.rows["v"].to_pylist() == [0, 1, 4, 5, 6, 8, 9]
    assert page.rows["gap"].to_pylist() == [True, False, True, False, False, True, False]
    assert page.windows.ranges.tolist() == [[0, 2], [2, 4], [3, 5], [5, 7]]


def test_a_new_key_does_not_follow_the_row_before():
    page = run(SPECS[0], [("a", 0, "x", 1), ("b", 0, "x", 2), ("b", 1, "x", 3)], 9)[0]
    assert sorted(page.rows["k0"].to_pylist()) == ["a", "b"]
    assert page.rows["gap"].to_pylist() == [True, True]
