"""Trailing windows by the operator: however rows are cut into chunks, the same answer."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fanlight as fl
from fanlight.engine.algebra.monoids import Max, Sum
from fanlight.engine.operators import protocol as parts
from fanlight.engine.operators import trailing
from fanlight.engine.operators.protocol import COMPLETE, BatchOperator
from fanlight.engine.operators.trailing import BEFORE, TrailingQuery
from fanlight.engine.plan.trailing import horizon_of
from tests.helpers.shown import shown
from tests.oracle.trailing import seen_from

SPECS = (
    fl.Trailing(3),
    fl.Trailing(3, delay=2),
    fl.Trailing(2, closed="left"),
    fl.Trailing(2, closed="both", delay=1),
    fl.Trailing(1, closed="neither"),
    fl.Trailing(4, include_self=False),
    fl.Trailing(),
    fl.Trailing(include_self=False, delay=2),
    fl.Trailing(closed="neither"),
    fl.Trailing(fl.Rows(2)),
    fl.Trailing(fl.Rows(2), include_self=False),
    fl.Trailing(fl.Rows(3), delay=1),
)
SCHEMA = pa.schema([(name, pa.int64()) for name in ("k0", "t", "x0", "x1")])
ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(-5, 9), st.integers(-9, 9)), max_size=25)


def query(specs, **more):
    horizons = tuple(horizon_of(spec, "integer") for spec in specs)
    return TrailingQuery(
        SCHEMA, 1, (Sum(), Max(), Sum()), horizons, ("x0",), ("x1",),
        partials=("f0", "f1", "f2"), sources=("x0", "x0", ""), **more,
    )  # fmt: skip


def named(rows):
    """Rows in order, each with a number of its own."""
    ordered = sorted(rows, key=lambda row: (row[1], row[2]))
    return [dict(zip(SCHEMA.names, (*row, at), strict=True)) for at, row in enumerate(ordered)]


def expected(asks, specs, rows=None):
    rows, made = asks if rows is None else rows, {}
    for row in asks:
        answer = []
        for spec in specs:
            seen = seen_from(row, rows, spec, time="t", by=["k0"], values=["x0"])
            values = [one["x0"] for one in seen.rows]
            answer += [sum(values), max(values), len(values)] if values else [None] * 3
        made[row["x1"]] = answer
    return made


def found(tables, specs):
    names = [f"f{field}_{number}" for number in range(len(specs)) for field in range(3)]
    return {
        row["x1"]: [row[name] for name in names] for table in tables for row in table.to_pylist()
    }


@pytest.mark.parametrize("specs", [*((spec,) for spec in SPECS), SPECS], ids=repr)
def test_a_batch_is_as_defined(monkeypatch, specs):
    @shown(60)
    @given(ROWS, st.integers(1, 4), st.integers(1, 9))
    def check(rows, size, chunk):
        monkeypatch.setattr(parts, "PART", chunk)
        rows = named(rows)
        pieces = [
            pa.RecordBatch.from_pylist(rows[at : at + size], SCHEMA)
            for at in range(0, len(rows), size)
        ]
        run = BatchOperator(query(specs, sorted=True), None, "t")
        assert found(run.results(pieces), specs) == expected(rows, specs)

    check()


@pytest.mark.parametrize("specs", [*((spec,) for spec in SPECS), SPECS], ids=repr)
def test_a_stream_is_as_a_batch(specs):
    """Rows come up to a watermark, in any order, and the state is stored in between."""

    @shown(60)
    @given(ROWS, st.lists(st.integers(-5, 9), max_size=4), st.randoms())
    def check(rows, marks, random):
        rows, tables = named(rows), []
        asked = query(specs)
        operator, before = asked.start(), -99
        for mark in [*sorted(marks), COMPLETE]:
            part = [row for row in rows if before < row["t"] <= mark]
            random.shuffle(part)
            taken = operator.take(pa.Table.from_pylist(part, SCHEMA), mark)
            tables += [] if taken is None else [taken]
            operator, before = asked.resume(operator.snapshot()), mark
        assert found(tables, specs) == expected(rows, specs)

    check()


ASKING = SCHEMA.append(pa.field("asked", pa.bool_()))
SILENCE = 3


def as_of(ask, rows, specs, forget_after):
    """What a row that asks sees of its key, of the rows since the last silence before it."""
    of_key = sorted(row["t"] for row in rows if row["k0"] == ask["k0"] and row["t"] <= ask["t"])
    since = ask["t"]
    while forget_after is not None and of_key and since - of_key[-1] <= forget_after:
        since = of_key.pop()
    life = [row for row in rows if forget_after is None or row["t"] >= since]
    return expected([ask], specs, life)[ask["x1"]]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("forget_after", [None, SILENCE])
def test_who_asks_changes_no_answer(streamed, forget_after):
    """Others' questions do not count, nor do they break a silence."""

    @shown(150)
    @given(ROWS, ROWS, st.lists(st.integers(-5, 9), max_size=4), st.randoms())
    def check(rows, asks, marks, random):
        rows, asks = named(rows), [{**row, "x0": None} for row in named(asks)]
        asked = replace(query(SPECS, asking=True, forget_after=forget_after), schema=ASKING)
        both = [{**row, "asked": False} for row in rows] + [{**row, "asked": True} for row in asks]
        random.shuffle(both)
        tables, operator, before = [], asked.start(), -99
        if not streamed:
            both.sort(key=lambda row: (row["t"], row["x0"] is not None, row["x0"]))  # as Spark does
            run = BatchOperator(replace(asked, sorted=True), None, "t")
            pieces = [pa.RecordBatch.from_pylist([row], ASKING) for row in both]
            tables, marks = list(run.results(pieces)), []
        for mark in [*sorted(marks), COMPLETE] if streamed else ():
            part = [row for row in both if before < row["t"] <= mark]
            taken = operator.take(pa.Table.from_pylist(part, ASKING), mark)
            tables += [] if taken is None else [taken]
            operator, before = asked.resume(operator.snapshot()), mark
            keys = [row["k0"] for row in operator.keys.to_pylist()]
            assert mark == COMPLETE or set(keys) <= {row["k0"] for row in rows}
        assert found(tables, SPECS) == {
            ask["x1"]: as_of(ask, rows, SPECS, forget_after) for ask in asks
        }

    check()


def test_state_is_as_long_as_the_longest_window():
    """Of each key the rows that a later one may look back at, and one for all before."""
    rows = [{"k0": at % 2, "t": at, "x0": 1, "x1": at} for at in range(1000)]
    asked = query((fl.Trailing(10), fl.Trailing(5, delay=10)))
    operator = asked.start()
    operator.take(pa.Table.from_pylist(rows, SCHEMA), 999)
    assert operator.slices.num_rows == 15
    assert operator.deadlines.tolist() == [998 + 15, 999 + 15]
    operator.take(pa.Table.from_pylist([], SCHEMA), 2000)
    assert (operator.slices.num_rows, operator.keys.num_rows) == (0, 0)
    whole = query((fl.Trailing(), fl.Trailing(fl.Rows(3)))).start()
    whole.take(pa.Table.from_pylist(rows, SCHEMA), 999)
    assert whole.slices.num_rows == 2 * (1 + 3)
    assert whole.slices["place"].to_pylist()[0] == BEFORE
    assert whole.slices["f2"].to_pylist()[0] == 497


def test_whole_numbers_are_added_exactly_over_any_number_of_chunks():
    big = 2**53 + 1
    rows = [{"k0": 0, "t": at, "x0": big if at % 2 else 1 - big, "x1": at} for at in range(50)]
    operator = query((fl.Trailing(),)).start()
    for row in rows:
        (answer,) = operator.take(pa.Table.from_pylist([row], SCHEMA), row["t"]).to_pylist()
        done = row["t"] + 1
        assert answer["f0_0"] == (done // 2) * big + (done - done // 2) * (1 - big)
    assert trailing.ASKED == "asked"
