"""The frame operators against the definitions: sorted batches and streams, however they are cut."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fanlight as fl
from fanlight import agg
from fanlight.engine.algebra.ordering import spark_key
from fanlight.engine.operators import protocol
from fanlight.engine.operators.arrow_tables import encode_keys, table_of_rows
from fanlight.engine.operators.protocol import BatchOperator
from fanlight.engine.plan.frames import Timing
from tests.helpers.frames import (
    CALCULATED,
    DISTINCT,
    DWELLING,
    HOLDS,
    OVERLAPPING,
    SESSIONS,
    SEVERAL,
    SPECS,
    lifted,
    opens,
    query,
    update,
)
from tests.helpers.grouped import Grouped
from tests.helpers.shown import shown
from tests.operators.framed import (
    PIECES,
    ROWS,
    arrow,
    expected,
    got,
    in_order,
    releases,
    streamed,
)
from tests.oracle.frames import framed

NAN = float("nan")


EVERY_SPEC = (*SPECS, *CALCULATED, *DISTINCT, *OVERLAPPING, *SEVERAL, *DWELLING)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("size", PIECES)
@pytest.mark.parametrize("spec", EVERY_SPEC, ids=repr)
def test_a_batch_is_framed_as_defined(monkeypatch, spec, size):
    monkeypatch.setattr(protocol, "PART", 1)
    seen = 0
    for rows in PIECES[size]:
        asked, made = query(rows, spec, batch=True)
        made = in_order(asked, made)
        pieces = [arrow(asked, made[at : at + size]) for at in range(0, len(made), size)]
        found = got(BatchOperator(asked, None).results(pieces))
        assert found == expected(rows, spec)
        seen += len(found)
    assert seen >= 0.4 * len(PIECES[size])  # there was something to see


@pytest.mark.sampled(4)
@pytest.mark.parametrize("spec", EVERY_SPEC, ids=repr)
def test_a_stream_gives_the_closed_frames(spec):
    @shown(25)
    @given(st.data())
    def check(data):
        rows = data.draw(st.sampled_from(ROWS))
        asked, made = query(rows, spec)
        _, found = streamed(asked, data.draw(releases(made)))
        assert got(found) == expected(rows, spec, unfinished=False)

    check()


def expected_numbers(rows, spec):
    """How many rows each frame has, and how many are in none."""
    found = framed(rows, spec, time="ts", by=["k"], values=["n", "v", "s"], holds=HOLDS)
    inside = sorted(
        (spark_key(f.key[0]), f.number, sorted(spark_key(r["ts"]) for r in f.rows)) for f in found
    )
    return inside, len(lifted(rows, spec)[2]) - sum(len(f.rows) for f in found)


def numbered(tables):
    frames_, outside = {}, 0
    for table in tables:
        for row in table.to_pylist():
            if row["frame"] is None:
                outside += 1
            else:
                frames_.setdefault((spark_key(row["k0"]), row["frame"]), []).append(row["t"])
    return sorted((*at, sorted(map(spark_key, ts))) for at, ts in frames_.items()), outside


@pytest.mark.sampled(7)  # every size of pieces, and every spec: what it finds is asked above
@pytest.mark.parametrize("size", PIECES)
@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_rows_carry_the_numbers_of_their_frames(monkeypatch, spec, size):
    monkeypatch.setattr(protocol, "PART", 1)
    for rows in PIECES[size]:
        asked, made = query(rows, spec, batch=True, numbered=True, payload=("k0", "t"))
        made = in_order(asked, made)
        pieces = [arrow(asked, made[at : at + size]) for at in range(0, len(made), size)]
        assert numbered(BatchOperator(asked, None).results(pieces)) == expected_numbers(rows, spec)


def test_the_last_instant_of_a_batch_may_make_a_frame_large_enough():
    spec = fl.ThresholdFrame("v > 1", min_duration="1 second")
    for last, numbers in ((999_998, [None, None]), (999_999, [0, 0])):
        rows = [{"k": "a", "ts": t, "v": 2.0, "n": 1, "s": ""} for t in (0, last)]
        asked, made = query(rows, spec, batch=True, numbered=True, payload=("t",))
        found = BatchOperator(asked, None).results([arrow(asked, made)])
        assert [n for out in found for n in out["frame"].to_pylist()] == numbers
        asked, made = query(rows, spec, batch=True)
        assert got(BatchOperator(asked, None).results([arrow(asked, made)])) == expected(rows, spec)


@pytest.mark.parametrize("closings", [False, True])
def test_all_batches_have_one_schema(monkeypatch, closings):
    """As Arrow wants it: where times come in a session's zone, and columns may not be null."""
    monkeypatch.setattr(protocol, "PART", 1)
    spec = fl.ThresholdFrame("v > 1", min_rows=2)
    values = [2.0, 2.0, 0.0, 2.0, 2.0, 2.0]
    rows = [{"k": "a", "ts": t, "v": v, "n": 1, "s": ""} for t, v in enumerate(values)]
    asked, made = query(rows, spec, batch=True, numbered=True, closings=closings)
    columns = [*asked.schema, pa.field("z", pa.timestamp("us", "UTC"))]
    asked = replace(asked, schema=pa.schema(columns), payload=("k0", "t", "z"))
    columns[-1] = pa.field("z", pa.timestamp("us", "Europe/Athens"))
    strict = pa.schema([one.with_nullable(one.name not in "tz") for one in columns])
    given = [arrow(replace(asked, schema=strict), [(*row, 0)]) for row in made]
    ends = [pa.field(name, pa.int64()) for name in ("frame", *(["ending"] if closings else []))]
    out = pa.schema([*(asked.schema.field(name) for name in asked.payload), *ends])
    found = list(BatchOperator(asked, out)(given))
    assert len(found) > 3
    assert {str(one.schema) for one in found} == {str(out)}
    assert sum(n is not None for one in found for n in one["frame"].to_pylist()) == 5 + closings


def test_slots_of_keys():
    """-0.0 is 0.0, NaN is NaN, null is null; known keys keep their slots, new ones follow."""
    known = pa.table({"a": [0.0, NAN], "b": ["x", None]})
    rows = pa.table({"a": [-0.0, NAN, None, 0.0, None], "b": ["x", None, "x", "y", "x"]})
    codes, fresh = encode_keys(known, rows)
    assert codes.tolist() == [0, 1, 2, 3, 2]
    assert fresh.tolist() == [2, 3]
    lists = pa.table({"a": [[1, 2], [1], [1, 2]]})
    assert encode_keys(lists.slice(0, 0), lists)[0].tolist() == [0, 1, 0]


@pytest.mark.parametrize("spec", [*SPECS[:10], *SESSIONS], ids=repr)
def test_rows_of_a_stream_carry_them_too(spec):
    @shown(20)
    @given(st.data())
    def check(data):
        rows = data.draw(st.sampled_from(ROWS))
        asked, made = query(rows, spec, numbered=True, payload=("k0", "t"))
        operator, found = streamed(asked, data.draw(releases(made)))
        inside, outside = expected_numbers(rows, spec)
        have, none = numbered(found)
        # What is still held belongs to frames that may yet turn out too small.
        undecided = len(operator.opened().waiting)
        assert undecided == 0 or operator.opened().assembly.scheme.drops_small_frames
        missing = sum(len(ts) for *_, ts in inside) + outside - sum(len(t) for *_, t in have) - none
        assert missing == undecided
        if not undecided:
            assert (have, none) == (inside, outside)

    check()


NEVER_ENDING = (
    fl.ThresholdFrame("v < 1", min_rows=3, min_duration="1 second"),
    fl.PredicateFrame(open="n >= 1", close="n < 0"),
    fl.PredicateFrame(opens, lambda _, state: state["seen"] < 0, columns=["n"], update=update),
    fl.BoundaryFrame({"v": 1e6, "n": [0]}),
    fl.BoundaryFrame({"v": 0.5}, overlapping=True),
    fl.DeltaFrame({"v": 1e9}),
    fl.DeltaFrame({"v": 1e9, "n": 10**9}, against="first", include_crossing=True),
    fl.AggregateFrame(agg.sum("v"), 1e9),
    fl.AggregateFrame([agg.max("v"), agg.avg("n")], [1e9, 1e9], may_fall=True),
    fl.AggregateFrame([agg.count_distinct("s"), agg.count()], [100, 10**9]),
    fl.Session("1 second", max_duration="1 day"),
)  # fmt: skip


@pytest.mark.parametrize("spec", NEVER_ENDING, ids=repr)
def test_memory_of_a_frame_that_never_ends_is_bounded(spec):
    """What is kept does not grow with the rows of an open frame."""
    sizes = []
    rows = [
        {"k": "a", "ts": t, "v": (1 + t % 7) / 8, "n": 1 + t % 5, "s": "x" * (t % 3)}
        for t in range(4000)
    ]
    asked, made = query(rows, spec)
    operator = Grouped(asked)
    for at in range(0, 4000, 500):
        operator.feed(table_of_rows(made[at : at + 500], operator.query.schema))
        assert operator.release(made[at + 499][1]) is None
        sizes.append(operator.size)
        operator = operator.restarted()
    assert max(sizes) <= sizes[0] + 64
    assert operator.opened().assembly.rows.tolist() == [4000]


def test_memory_of_several_frames_is_that_of_the_open_ones():
    """Three frames that never end while others come and go: what is kept does not grow."""
    spec = fl.PredicateFrame(
        lambda row, states: len(states) < 3 or row.n == 1,
        lambda row, state: state["first"] == 1 and row.n == 2,
        columns=["n"],
        update=lambda row, state: state or {"first": row.n},
        overlapping=True,
    )
    rows = [{"k": "a", "ts": t, "v": 1.0, "n": t % 4, "s": "x" * (t % 3)} for t in range(4000)]
    asked, made = query(rows, spec)
    operator, sizes, numbers = Grouped(asked), [], []
    for at in range(0, 4000, 400):
        operator.feed(table_of_rows(made[at : at + 400], operator.query.schema))
        numbers += operator.release(made[at + 399][1])["frame"].to_pylist()
        sizes.append(operator.size)
        operator = operator.restarted()
    assert numbers == list(range(1000))
    assert max(sizes) <= sizes[0] + 64
    (frames,) = operator.opened().assembly.tables
    assert frames["rows"].to_pylist() == [4000, 3998, 3997]


@pytest.mark.parametrize("state", [{"a": (1, 2)}, {1: "a"}, {"a": {"b": {3}}}, [1], None])
def test_a_state_that_would_not_come_back_is_refused(state):
    """At once, and not only where a micro-batch happens to end."""
    spec = fl.PredicateFrame(
        lambda *_: True, lambda *_: False, columns=["n"], update=lambda *_: state
    )
    asked, made = query([{"k": "a", "ts": 0, "v": 0.0, "n": 1, "s": ""}], spec)
    operator = Grouped(asked)
    operator.feed(table_of_rows(made, operator.query.schema))
    with pytest.raises(fl.FanlightError, match="checkpoint"):
        operator.release(1)


def test_keys_without_frames_are_forgotten():
    spec = fl.ThresholdFrame("v > 1")
    rows = [{"k": f"key{t}", "ts": t, "v": 0.0, "n": 1, "s": "x"} for t in range(100)]
    asked, made = query(rows, spec)
    operator = Grouped(asked)
    operator.feed(table_of_rows(made, operator.query.schema))
    assert operator.release(1_000) is None
    assert len(operator.opened().keys) == 0
    assert operator.next_time is None


ROW = {"v": 1.5, "n": 1, "s": "x" * 1000}


def session(gap, *rows, **more):
    asked, made = query([{"k": k, "ts": t, **ROW} for k, t in rows], fl.Session(gap), **more)
    operator = Grouped(asked)
    operator.feed(table_of_rows(made, operator.query.schema))
    return asked, operator


def test_a_session_is_released_without_a_further_row():
    """As soon as the watermark has come to its end, and what it held goes with it."""
    asked, operator = session("10 microseconds", ("a", 0), ("a", 10), ("b", 3))
    assert operator.next_time == 0
    assert operator.release(12) is None
    assert operator.next_time == 13
    operator = operator.restarted()
    held = operator.size
    assert operator.release(12) is None
    assert operator.release(13)["ending"].to_pylist() == [13]
    assert operator.next_time == 20
    assert operator.release(20).select(["k0", "frame", "start", "ending", "rows"]).to_pylist() == [
        {"k0": "a", "frame": 0, "start": 0, "ending": 20, "rows": 2}
    ]
    assert operator.next_time is None
    assert operator.size < held - 1900  # of each key its number is left, and no value
    assert not operator.opened().assembly.opened.any()
    assert [part.null_count for part in operator.opened().assembly.parts] == [2, 2, 2]
    assert operator.release(30) is None
    _, made = query([{"k": "a", "ts": 31, **ROW}], fl.Session("10 microseconds"))
    operator.feed(table_of_rows(made, asked.schema))
    assert operator.release(41)["frame"].to_pylist() == [1]


def test_sessions_left_out_leave_nothing_behind():
    spec = fl.Session("10 microseconds", min_rows=2)
    asked, made = query([{"k": f"key{t}", "ts": t, **ROW} for t in range(100)], spec)
    operator = Grouped(asked)
    operator.feed(table_of_rows(made, asked.schema))
    assert operator.release(200) is None
    assert len(operator.opened().keys) == 0
    assert operator.next_time is None


def test_rows_of_small_sessions_are_let_go_by_the_watermark():
    """In no session after all: it is certain once no row can come to it any more."""
    spec = fl.Session("10 microseconds", min_rows=2)
    rows = [{"k": k, "ts": t, **ROW} for k, t in (("a", 0), ("b", 1), ("b", 5))]
    asked, made = query(rows, spec, numbered=True, payload=("k0", "t"))
    operator = Grouped(asked)
    operator.feed(table_of_rows(made, asked.schema))
    assert operator.release(9)["frame"].to_pylist() == [0, 0]
    assert operator.release(9) is None
    operator = operator.restarted()
    assert operator.release(10).to_pylist() == [{"k0": "a", "t": 0, "frame": None}]
    assert len(operator.opened().waiting) == 0


def micros(count):
    return f"{count} microseconds"


# Rows as (t, n), and the frames by hand, as (start, end, rows).
BY_LIMITS = {
    "a run that is cut enters anew": (
        fl.ThresholdFrame("n >= 1", enter_for=micros(4), max_rows=3),
        [(0, 1), (1, 1), (2, 1), (3, 1), (5, 1), (7, 1), (8, 1)],
        [(3, 8, 3)],
    ),
    "a silence that shows nothing": (
        fl.ThresholdFrame("n >= 1", enter_for=micros(4), max_gap=micros(4)),
        [(0, 1), (2, 1), (7, 1), (11, 1), (12, 0), (20, 1)],
        [(7, 12, 2)],
    ),
    "a frame that is about to be left": (
        fl.ThresholdFrame("n >= 1", leave_for=micros(5), max_duration=micros(9)),
        [(0, 1), (3, 0), (6, 0), (9, 0), (12, 1), (13, 0), (18, 0)],
        [(0, 9, 3), (12, 13, 1)],
    ),
    "a frame of two cells counts from its own first row": (
        fl.BoundaryFrame({"n": 1}, overlapping=True, max_duration=micros(6)),
        [(0, 0), (2, 1), (3, 1), (5, 2), (7, 2), (8, 2)],
        [(0, 5, 3), (2, 8, 4), (8, 14, 1)],
    ),
    "a full frame that is left anyway shares its last run": (
        fl.BoundaryFrame({"n": 1}, overlapping=True, max_rows=3),
        [(0, 0), (1, 1), (2, 1), (3, 2), (4, 2), (5, 3)],
        [(0, 3, 3), (1, 4, 3)],
    ),
}


@pytest.mark.parametrize(("spec", "rows", "told"), BY_LIMITS.values(), ids=BY_LIMITS.keys())
def test_limits_by_hand(spec, rows, told):
    asked, made = query([{"k": "a", "ts": t, **ROW, "n": n} for t, n in rows], spec)
    one_by_one = [([row], row[1] - 1) for row in made] + [([], 2**61)]
    for plan in (one_by_one, [(made, 2**61)]):
        found = [row for out in streamed(asked, plan)[1] for row in out.to_pylist()]
        assert [(row["start"], row["ending"], row["rows"]) for row in found] == told


THRESHOLD = query([], fl.ThresholdFrame("v > 1"))[0].scheme
TIMINGS = (Timing(gap=4), Timing(cap=7), Timing(gap=4, cap=7))


@pytest.mark.parametrize("timing", TIMINGS, ids=repr)
def test_time_and_rows_close_what_comes_first(timing):
    """A threshold frame that time cuts, too: by a plain loop over all rows of one key."""

    def told(rows):
        frames_, now = [], None
        for t, high in rows:
            late = now and (
                (timing.gap and t > now["last"] + timing.gap)
                or (timing.cap and t >= now["s"] + timing.cap)
            )
            if now and (late or not high):
                now["ending"] = min([t, *limits(now)])
                frames_.append(now)
                now = None
            if high and now:
                now |= {"last": t, "rows": now["rows"] + 1}
            elif high:
                now = {"s": t, "last": t, "rows": 1}
        if now:
            now["ending"] = min(limits(now))
            frames_.append(now)
        return [(one["s"], one["ending"], one["rows"]) for one in frames_]

    def limits(now):
        ends = [now["last"] + timing.gap] if timing.gap else []
        return [*ends, *([now["s"] + timing.cap] if timing.cap else [])]

    @shown(60)
    @given(st.data())
    def check(data):
        steps = data.draw(st.lists(st.tuples(st.integers(0, 6), st.booleans()), max_size=14))
        times = list(accumulate(step for step, _ in steps))
        rows = list(zip(times, [high for _, high in steps], strict=True))
        given_ = [{"k": "a", "ts": t, **ROW, "v": 2.0 if high else 0.0} for t, high in rows]
        asked, made = query(given_, fl.ThresholdFrame("v > 1"))
        order = sorted(range(len(made)), key=lambda at: (made[at][1], made[at][2]))
        asked = replace(asked, scheme=replace(THRESHOLD, timing=timing))
        _, found = streamed(asked, data.draw(releases(made)))
        have = [(r["start"], r["ending"], r["rows"]) for out in found for r in out.to_pylist()]
        assert have == told([rows[at] for at in order])

    check()
