"""The operator behind progressive widening: Theorems 1 and 2, any split, and little is kept."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from fanlight.operators import widening
from fanlight.operators.pages import Page
from fanlight.operators.widening import DONE, Widening, WideningQuery, from_sorted
from fanlight.plan.widening import levels_of, owner
from fanlight.reference.widening import widened
from fanlight.spec.widening import ProgressiveWidening

SCHEMA = pa.schema(
    [
        ("k0", pa.string()),
        ("t", pa.int64()),
        ("b0", pa.string()),
        ("h", pa.int64()),
        ("v", pa.int64()),
    ]
)

SPECS = (
    ProgressiveWidening(1, longest=32, max_rows=2),
    ProgressiveWidening(2, longest=20, max_rows=3),
    ProgressiveWidening(1, longest=30, max_rows=1),
    ProgressiveWidening(1, longest=27, max_rows=2, factor=3),
    ProgressiveWidening([1, 4, 8, 40], longest=40, max_rows=2),
    ProgressiveWidening([3, 15, 30], longest=30, max_rows=4),
    ProgressiveWidening(5, longest=5, max_rows=2),
)


def query(spec):
    return WideningQuery(SCHEMA, 1, 1, levels_of(spec), spec.max_rows)


@st.composite
def streams(draw):
    """Rows (key, time, tiebreak, value), in bursts and with long silences."""
    times, at = [], draw(st.integers(-40, 5))
    for step in draw(st.lists(st.sampled_from((0, 0, 1, 1, 2, 3, 7, 40, 90)), max_size=50)):
        at += step
        times.append(at)
    keys = st.sampled_from(("a", "a", "b", None))
    return [(draw(keys), t, draw(st.sampled_from("xyz")), n) for n, t in enumerate(times)]


def dicts(rows):
    return [{"k": k, "t": t, "b": b, "v": v} for k, t, b, v in rows]


def expected(spec, rows):
    """Windows of the reference that can hold something new, by the ids of their rows."""
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
            found[window.key, window.level, window.start, *(row["v"] for row in window.rows)] += 1
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
            level = levels[int(windows.levels[at])]
            start, _ = level.window(int(windows.batches[at]))
            (key,) = {keys[row] for row in places}
            found[(key,), level.number, start, *(values[row] for row in places)] += 1
    return found


def pages_in(tables):
    return [
        Page.unpack(page)
        for table in tables
        if table is not None
        for page in table["page"].to_pylist()
    ]


def fed(row):
    key, time, tie, value = row
    return key, time, tie, value, value


def run(spec, rows, size, *, restart=False, state=None):
    """Rows in order of time in batches of ``size``, the watermark behind each."""
    operator, found = Widening(query(spec)), []
    ordered = sorted(rows, key=lambda row: row[1])
    for at in range(0, len(ordered), size):
        part, rest = ordered[at : at + size], ordered[at + size :]
        operator.feed([fed(row) for row in part[::-1]])
        found.append(operator.release(rest[0][1] - 1 if rest else part[-1][1] - 1))
        if state is not None:
            state(operator)
        if restart:
            operator = Widening.restore(query(spec), operator.snapshot())
    found.append(operator.release(DONE))
    assert operator.rows.num_rows == 0
    return pages_in(found)


@settings(max_examples=250, deadline=None)
@given(st.sampled_from(SPECS), streams(), st.integers(1, 30), st.booleans())
def test_windows_are_those_of_the_papers_recursion(spec, rows, size, restart):
    assert windows_in(spec, run(spec, rows, size, restart=restart)) == expected(spec, rows)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(SPECS), streams(), st.integers(1, 30))
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
        tables = list(from_sorted(query(spec), iter(table.to_batches(max_chunksize=3))))
    finally:
        widening.CHUNK = chunk
    assert windows_in(spec, pages_in(tables)) == expected(spec, rows)
