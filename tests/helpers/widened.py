"""Rows, specs and detectors for the tests of progressive widening.

Detectors stand here because Spark's workers import them by name.
"""

from __future__ import annotations

import pyarrow as pa
from hypothesis import strategies as st

from fanlight.engine.operators.arrow_tables import table_of_rows
from fanlight.engine.operators.widening import Page, WideningQuery
from fanlight.engine.plan.widening import levels_of
from fanlight.engine.spec.widening import ProgressiveWidening
from tests.helpers.grouped import Grouped

SCHEMA = pa.schema(
    [
        ("k0", pa.string()),
        ("t", pa.int64()),
        ("b0", pa.string()),
        ("hash", pa.int64()),
        ("v", pa.int64()),
    ]
)


SPECS = (
    ProgressiveWidening(1, max_duration=32, max_rows=2),
    ProgressiveWidening(2, max_duration=20, max_rows=3),
    ProgressiveWidening(1, max_duration=30, max_rows=1),
    ProgressiveWidening(1, max_duration=27, max_rows=2, factor=3),
    ProgressiveWidening([1, 4, 8, 40], max_duration=40, max_rows=2),
    ProgressiveWidening([3, 15, 30], max_duration=30, max_rows=4),
    ProgressiveWidening(5, max_duration=5, max_rows=2),
)


def owner(levels, first, last):
    """Level and later batch of the window that reports these instants; None if there is none.

    As it is defined: of all windows that hold both, the first to end, of the lowest level.
    """
    holding = [
        (end, level.number, batch)
        for level in levels
        for batch in (last // level.duration, last // level.duration + 1)
        for start, end in [level.window_of_batch(batch)]
        if start <= first and last < end
    ]
    return min(holding)[1:] if holding else None


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
    operator, found = Grouped(query(spec)), []
    ordered = sorted(rows, key=lambda row: row[1])
    for at in range(0, len(ordered), size):
        part, rest = ordered[at : at + size], ordered[at + size :]
        operator.feed(table_of_rows([fed(row) for row in part[::-1]], operator.query.schema))
        found.append(operator.release(rest[0][1] - 1 if rest else part[-1][1] - 1))
        if state is not None:
            state(operator.opened())
        if restart:
            operator = operator.restarted()
    found.append(operator.finish())
    assert operator.opened().rows.num_rows == 0
    return pages_in(found)


def pairs(values):
    """Pairs of rows whose values have a sum divisible by 5, and single rows by 7."""
    for i, one in enumerate(values):
        if one % 7 == 0:
            yield i, i
        for j in range(i + 1, len(values)):
            if (one + values[j]) % 5 == 0:
                yield i, j


def oracle(window, name="v"):
    """What the reference's detector gives: what to report, and the rows."""
    for i, j in pairs([row[name] for row in window]):
        yield window[i][name] % 2, (window[i], window[j])


# On Spark, over the column n.


def by_value(rows):
    values = rows["n"].to_pylist()
    return [{"what": values[i] % 2} for i, _ in pairs(values)]


def by_span(rows):
    values, times = rows["n"].to_pylist(), rows["ts"].to_pylist()
    for i, j in pairs(values):
        yield {"what": values[i] % 2, "began": times[i], "ended": times[j]}


def every_row(rows):
    return [{"n": n} for n in rows["n"].to_pylist()]


def pair_of_rows(rows):
    """Each row with the one behind it, named by the first."""
    values = rows["n"].to_pylist()
    return [{"n": one} for one in values[:-1]]


def same_row(rows):
    (row,) = rows.to_pylist()
    return [{f"{name}2": value for name, value in row.items()}]


def nothing(rows):
    del rows
    return []


def returns_none(rows):
    del rows


def fails(rows):
    if 3 in rows["n"].to_pylist():
        raise KeyError("no such thing")
    return [{"what": n} for n in rows["n"].to_pylist()]
