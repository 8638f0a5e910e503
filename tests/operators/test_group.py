"""A group of keys: whatever its buckets and pieces, and however it is cut, it answers the same."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fanlight as fl
from fanlight.engine.algebra.collections import Values
from fanlight.engine.algebra.monoids import Max, Sum
from fanlight.engine.kinds import scheme_of
from fanlight.engine.operators import buckets
from fanlight.engine.operators.arrow_tables import argsort_rows, pack, table_of_rows, unpack
from fanlight.engine.operators.buckets import HASH, balanced_group_numbers, bucket_of, murmur3
from fanlight.engine.operators.chain import ChainQuery
from fanlight.engine.operators.frames.operator import FrameQuery
from fanlight.engine.operators.group import WaitingRows
from fanlight.engine.operators.snapshots import Snapshot, concatenate_snapshots, split_snapshot
from fanlight.engine.operators.spanning_events import SpanningQuery
from fanlight.engine.operators.stored_state import WAITING
from fanlight.engine.operators.tuple_windows import TupleQuery
from fanlight.engine.operators.widening import WideningQuery
from fanlight.engine.plan.granules import EveryRows, LastRows, cut_into_panes
from fanlight.engine.plan.grid import Grid
from fanlight.engine.plan.widening import levels_of
from tests.helpers.grouped import Grouped, InMemory
from tests.helpers.shown import shown

ENTRY = pa.list_(pa.struct([("v", pa.int64()), ("n", pa.int64())]))
KEY = [(HASH, pa.int32()), ("k0", pa.string()), ("t", pa.int64())]
SPAN = [("first_at", pa.int64()), ("last_at", pa.int64())]
F0 = ("f0", pa.int64())
WIDE = fl.ProgressiveWidening(2, max_duration=16, max_rows=2)
MONOIDS = (Sum(), Values())


def partials(*more):
    return pa.schema([*KEY, *more, F0, ("f1", ENTRY)])


def framed(spec, types, **more):
    schema = pa.schema([*KEY, F0])
    scheme = scheme_of(spec, types, "timestamp")
    inputs = ("f0",) if types else ()
    roles = {"partials": ("p",), "monoids": (Max(),), "sources": ("f0",)} | more
    return FrameQuery(scheme, schema, (HASH, "k0"), ("f0",), inputs, **roles)


QUERIES = {
    "rows": TupleQuery(partials(), 2, MONOIDS, cut_into_panes(Grid(4, 3)), Grid(4, 3)),
    "at every row": TupleQuery(partials(), 2, MONOIDS, EveryRows(), Grid(9, 1)),
    "at every third row": TupleQuery(partials(), 2, MONOIDS, EveryRows(3, 1), Grid(9, 1)),
    "last rows": TupleQuery(partials(), 2, MONOIDS, LastRows(4), Grid(7, 7, 2)),
    "chain": ChainQuery(partials(), 2, MONOIDS, (Grid(4, 2, 0), Grid(12, 4, 0))),
    "chain of rows": ChainQuery(partials(), 2, MONOIDS, (Grid(2, 1), Grid(4, 2)), counts_rows=True),
    "frames": framed(fl.DeltaFrame({"v": 2}), ["bigint"]),
    "sessions": framed(fl.Session("5 microseconds"), []),
    "rows of sessions": framed(
        fl.Session("5 microseconds", min_rows=3), [],
        payload=("k0", "t", "f0"), numbered=True, partials=(), monoids=(), sources=(),
    ),
    "events": SpanningQuery(partials(*SPAN), 2, MONOIDS, cut_into_panes(Grid(6, 3)), "se-slicing"),
    "widening": WideningQuery(
        pa.schema([*KEY, ("hash", pa.int64()), F0]), 2, 0, levels_of(WIDE), WIDE.max_rows
    ),
}  # fmt: skip
HASHES = {key: number * 1_640_531_527 % 2**32 - 2**31 for number, key in enumerate("abcdefghijkl")}


def row(query, key, time, value):
    time += 30 * ("first_at" in query.schema.names)  # events are known by their stop, in time
    values = {HASH: HASHES[key], "k0": key, "t": time, "f0": value, "f1": [{"v": value, "n": 1}]}
    values |= {"hash": value, "first_at": time - 9, "last_at": time - 4}
    if "first_at" in query.schema.names:  # its first window ends after that
        values["t"] = time - 8
    return tuple(values[name] for name in query.schema.names)


def counted(tables):
    """What is found, each row with how often; pages as what is in them, value counts unordered."""
    found = Counter()
    for table in tables:
        for one in [] if table is None else table.to_pylist():
            found[repr({n: unordered(v) for n, v in one.items() if n != HASH})] += 1
    return found


def unordered(value):
    """Value counts are a table: which value it has first says nothing."""
    table = isinstance(value, list) and all(
        isinstance(v, dict) and {*v} == {"v", "n"} for v in value
    )
    return sorted(value, key=repr) if table else value


@st.composite
def arrivals(draw):
    """Micro-batches of rows with the watermark after each; no row comes late."""
    keys = st.sampled_from(sorted(HASHES)[: draw(st.integers(1, 12))])
    rows = draw(st.lists(st.tuples(keys, st.integers(0, 60), st.integers(0, 9)), max_size=60))
    rows.sort(key=lambda one: one[1])
    batches, at = [], 0
    while at < len(rows):
        size = draw(st.integers(1, 25))
        batches.append(draw(st.permutations(rows[at : at + size])))
        at += size
    delay = draw(st.sampled_from((1, 4, 20)))
    marks = [min(one[1] for one in later) - delay for later in batches[1:]]
    return list(zip(batches, [*marks, 61], strict=False))


@pytest.mark.parametrize("name", QUERIES)
@shown(40)
@given(arrived=arrivals(), size=st.sampled_from((64, 400, 10**6)), groups=st.integers(1, 3))
def test_buckets_and_restarts_change_nothing(name, arrived, size, groups):
    """Against one group without buckets that takes all rows at once."""
    query = QUERIES[name]
    if name == "widening":
        return _widened(query, arrived, size, groups)
    rows = [row(query, *one) for batch, _ in arrived for one in batch]
    alone = Grouped(query)
    alone.feed(rows)
    expected = counted([alone.finish()])
    found = list(_in_groups(query, arrived, size, groups))
    assert counted(found) == expected
    return None


def _in_groups(query, arrived, size, groups):
    running = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buckets, "BUCKET_BYTES", size)
        for batch, watermark in arrived:
            parts = {}
            for one in batch:
                parts.setdefault(HASHES[one[0]] % 2**32 % groups, []).append(row(query, *one))
            for number in {*parts, *running}:
                if number not in running:
                    running[number] = Grouped(query, groups=groups)
                yield running[number].feed(parts.get(number, []))
                yield running[number].release(watermark)
                running[number] = running[number].restarted(groups)
        for one in running.values():
            yield one.finish()
            assert one.next_time is None


def _widened(query, arrived, size, groups):
    """Of widening, pages depend on what is released together; what stays in the end does not."""
    from tests.helpers.widened import pages_in

    pages = pages_in(_in_groups(query, arrived, size, groups))
    seen = {
        (key, value) for page in pages
        for key, value in zip(page.rows["k0"].to_pylist(), page.rows["f0"].to_pylist(), strict=True)
    }  # fmt: skip
    assert seen == {(key, value) for batch, _ in arrived for key, _, value in batch}


def test_rows_are_in_order_of_key_time_and_ties():
    rows = pa.table({"t": [1, 0, 1, 1], "tie": [2, 0, 1, 0]})
    assert argsort_rows(rows, np.array([0, 0, 0, 1]), ("tie",)).tolist() == [1, 2, 0, 3]


def test_each_row_that_waits_is_due_once():
    rows = pa.table({"t": [1, 2, 3, 4]})
    waiting = WaitingRows(rows.schema, InMemory(), np.zeros(0, np.int64))
    waiting.append(rows)
    for released, watermark, due in [(0, 1, [1]), (1, 3, [2, 3]), (3, 4, [4])]:
        tables = waiting.pop_due(released, watermark)
        assert [t for table in tables for t in table["t"].to_pylist()] == due


@pytest.mark.parametrize(
    ("name", "due"),
    [("rows", 5), ("at every row", 5), ("chain", 5), ("chain of rows", 5), ("frames", 5),
     ("sessions", 5), ("rows of sessions", 5), ("events", 5)],
)  # fmt: skip
def test_only_the_buckets_of_rows_are_written(name, due, monkeypatch):
    monkeypatch.setattr(buckets, "BUCKET_BYTES", 300)
    query = QUERIES[name]
    group = Grouped(query)
    for at, keys in enumerate([HASHES, HASHES, "a", "b"]):
        assert len(group.group.buckets.deadlines) == 1 or at > 1
        group.feed([row(query, key, at, 1) for key in keys])
        group.release(at)
    assert len(group.group.buckets.deadlines) >= 3
    monkeypatch.setattr(buckets, "BUCKET_BYTES", 10**6)  # none is split any more
    before = dict(group.store.values)
    group.feed([row(query, "a", due, 2)])
    group.release(due)
    changed = {place for place, data in group.store.values.items() if before.get(place) != data}
    assert len([place for place in changed if place[0] == "keys"]) == 1


def test_a_row_behind_what_its_group_has_released_is_late_and_counted():
    query = QUERIES["frames"]
    group = Grouped(query)
    group.feed([row(query, "a", 10, 1), row(query, "b", 30, 1)])
    group.release(20)
    group.feed([row(query, "a", 20, 9), row(query, "c", 3, 9), row(query, "a", 21, 5)])
    assert group.late == 2
    group = group.restarted()
    group.feed([row(query, "a", 20, 9)])
    assert group.late == 1
    assert [one["rows"] for one in group.release(100).to_pylist()] == [1]


def test_granules_are_never_late():
    """Spark has dropped what was."""
    query = QUERIES["chain"]
    group = Grouped(query)
    group.feed([row(query, "a", 10, 1)])
    group.release(40)
    found = group.feed([row(query, "a", 39, 1)], 42)
    assert group.late == 0
    assert found.to_pylist()[0]["f0"] == 1


def test_rows_that_wait_are_written_a_few_times(monkeypatch):
    """However slowly the watermark passes them."""
    query = QUERIES["frames"]
    group, written = Grouped(query), Counter()
    put = group.store.put

    def counting(variable, number, value):
        if variable == WAITING:
            written["rows"] += len(unpack(value, [query.schema])[0])
        put(variable, number, value)

    monkeypatch.setattr(group.store, "put", counting)
    for at in range(0, 2000, 10):
        group.feed([row(query, "a", at + n, n) for n in range(10)])
        group.release(at - 500)
        assert len(group.group.waiting.pieces) <= 60
    group.finish()
    assert written["rows"] <= 2 * 2000
    assert not [place for place in group.store.values if place[0] == WAITING]


def test_a_piece_that_is_missing_is_no_wrong_answer():
    group = Grouped(QUERIES["frames"])
    group.feed([row(group.query, "a", 10, 1)])
    group.store.remove(WAITING, 0)
    with pytest.raises(fl.FanlightError, match="checkpoint"):
        group.release(20)


def test_bytes_that_are_no_rows_are_refused():
    group = Grouped(QUERIES["frames"])
    for data in (
        b"",
        b"\x09" * 40,
        pack([table_of_rows([row(group.query, "a", 1, 1)], group.query.schema)])[:-9],
    ):
        with pytest.raises(fl.FanlightError, match="cannot be read"):
            group.group.feed([data], None)


@given(st.integers(1, 300), st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=50))
def test_a_bucket_more_splits_one(count, hashes):
    """Linear hashing: of all keys, only some of one bucket go to the new one."""
    before = bucket_of(np.array(hashes), count)
    after = bucket_of(np.array(hashes), count + 1)
    assert before.max() < count
    moved = before != after
    assert (after[moved] == count).all()
    assert len(set(before[moved].tolist())) <= 1


@given(st.integers(1, 300), st.integers(1, 64))
def test_each_task_has_as_many_groups(groups, tasks):
    numbers = balanced_group_numbers(groups, tasks)
    assert len(set(numbers.tolist())) == groups
    share = np.bincount(murmur3(numbers) % tasks, minlength=tasks)
    assert share.max() - share.min() <= 1


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=20))
def test_what_is_split_can_be_joined(keys):
    first = pa.table({"k": pa.array([k for k, _ in keys], pa.int64())})
    codes = np.arange(len(keys))[::-1]
    second = pa.table({"code": pa.array(codes, pa.int64()), "v": pa.array(codes * 7, pa.int64())})
    places = np.array([place for _, place in keys], np.int64)
    whole = Snapshot((first, second), 5)
    parts = split_snapshot(whole, places)
    assert sorted(parts) == sorted(set(places.tolist()))
    empty = Snapshot((first.schema.empty_table(), second.schema.empty_table()), 5)
    again = concatenate_snapshots([parts[place] for place in sorted(parts)], empty, 5)
    pairs = zip(again.tables[1]["code"].to_pylist(), again.tables[1]["v"].to_pylist(), strict=True)
    told = sorted((again.tables[0]["k"][code].as_py(), v) for code, v in pairs)
    assert told == sorted((k, n * 7) for n, (k, _) in enumerate(keys))


@pytest.mark.parametrize("piece", [0, 3])
def test_slices_are_packed_alone(piece):
    """A slice of a large table takes no more bytes than its own rows."""
    rows = table_of_rows(
        [row(QUERIES["rows"], "a", at, at) for at in range(5000)], QUERIES["rows"].schema
    )
    data = pack([rows.slice(piece, 10)])
    assert len(data) < 2000
    assert unpack(data, [rows.schema])[0].equals(rows.slice(piece, 10))
