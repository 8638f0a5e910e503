"""The operator of events that may be running, against what its rows say of each instant."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from fanlight.engine.algebra.monoids import Count
from fanlight.engine.operators.early_windows import RUNNING, UnendedQuery
from fanlight.engine.operators.protocol import BEGINNING
from fanlight.engine.plan.grid import Grid

GRIDS = [(Grid(10, 5),), (Grid(10, 10),), (Grid(7, 3), Grid(20, 10)), (Grid(5, 12),)]
SCHEMA = pa.schema(
    [*((name, pa.int64()) for name in ("k", "t", "known", "place", "last")),
     ("id", pa.string()), ("n", pa.int64())]
)  # fmt: skip


def newest(log):
    """Of each event, its key, start and stop: of its rows the one with a stop, if there is one."""
    events = {}
    for number, (key, name, start, stop) in enumerate(log):
        which = (key, number if name is None else name)
        if which not in events or stop is not None:
            events[which] = (key, start, stop)
    return events.values()


def expected(log, watermark, grids):
    """How many events each window has, by what is known at a watermark: each instant is asked."""
    found = {}
    for key, start, stop in newest(log):
        upto = max(start + 1, watermark if stop is None else stop)
        for query, grid in enumerate(grids):
            first = (start - grid.range) // grid.slide * grid.slide
            for begin in range(first, upto, grid.slide):
                if any(start <= at < upto for at in range(begin, begin + grid.range)):
                    found[key, query, begin] = found.get((key, query, begin), 0) + 1
    return found


def row_of(key, name, start, stop, grids):
    """A row as the operator gets it: known until the first window ends that can have it."""
    ends = [(start - grid.range) // grid.slide * grid.slide + grid.slide + grid.range
            for grid in grids]  # fmt: skip
    last = RUNNING if stop is None else max(start, stop - 1)
    return (key, RUNNING, min(ends), start, last, name, 1)


def given(rows):
    columns = zip(*rows, strict=True) if rows else [[]] * len(SCHEMA)
    arrays = [pa.array([*one], kind.type) for one, kind in zip(columns, SCHEMA, strict=True)]
    return pa.table(arrays, schema=SCHEMA)


def rows_in_order(rnd, delay):
    """Starts and stops of events, some events of no name, each row up to ``delay`` too late."""
    rows = []
    for number in range(12):
        start = rnd.randrange(60)
        stop, key = start + rnd.randrange(50), rnd.randrange(2)
        rows += [(start, (key, str(number), start, None)), (stop, (key, str(number), start, stop))]
        if number < 3:
            rows.append((stop, (key, None, stop - 1, stop)))
    return sorted(
        ((at + rnd.randrange(delay + 1), row) for at, row in rows), key=lambda one: one[0]
    )


@pytest.mark.sampled(19)
@pytest.mark.parametrize("seed", range(200))
def test_windows_are_exact_when_the_watermark_passes_them(seed):
    rnd = random.Random(seed)
    grids, early = GRIDS[seed % len(GRIDS)], bool(seed // 4 % 2)
    every = rnd.choice([0, 7]) if early else 0
    query = UnendedQuery(SCHEMA, 1, (Count("1"),), grids, early, every)
    operator, watermark, log, shown, finals = query.start(), BEGINNING, [], {}, {}
    delay, size = rnd.randrange(8), rnd.randrange(1, 6)
    rows = rows_in_order(rnd, delay)
    for at in range(0, len(rows), size):
        part = [row for _, row in rows[at : at + size]]
        late = [row for row in part if row[1] is None and row_of(*row, grids)[2] <= watermark]
        log += [row for row in part if row not in late]
        for table in (given([row_of(*row, grids) for row in part]), given([])):
            if not table.num_rows:
                watermark = max(watermark, rows[min(at + size, len(rows)) - 1][0] - delay)
            due = operator.keys.filter(pa.array(operator.deadlines <= watermark))
            unread = not table.num_rows and operator.released > BEGINNING
            result = operator.take(table, watermark)
            if unread:  # Spark then reads those keys alone that are due
                assert {*result["k"].to_pylist()} <= {*due["k"].to_pylist()}
            assert operator.late == (len(late) if table.num_rows else 0)
            operator = query.resume(operator.snapshot())
            for one in result.to_pylist():
                window = (one["k"], one["query"], one["start"])
                assert early or one["final"]
                assert window not in finals
                shown[window] = one["n"]
                if one["final"]:
                    finals[window] = one["n"]
            wanted = expected(log, watermark, grids)
            ended = {w: n for w, n in wanted.items() if w[2] + grids[w[1]].range <= watermark}
            assert {w: n for w, n in finals.items() if n} == ended
            if early and not every:
                assert {w: n for w, n in shown.items() if n} == wanted
            assert (operator.deadlines > watermark).all()
    assert finals


def test_an_event_is_forgotten_after_its_longest_time():
    query = UnendedQuery(SCHEMA, 1, (Count("1"),), (Grid(10, 10),), longest=27)
    operator = query.start()
    operator.take(given([row_of(0, "a", 3, None, query.grids)]), BEGINNING)
    found = operator.take(given([]), 100)
    assert [one["start"] for one in found.to_pylist()] == [0, 10, 20]
    assert operator.slices.num_rows == operator.keys.num_rows == 0
    operator.take(given([row_of(0, "a", 3, 40, query.grids)]), 100)
    assert operator.late == 1


def test_a_window_that_lost_its_events_is_given_again():
    query = UnendedQuery(SCHEMA, 1, (Count("1"),), (Grid(10, 10),), early=True)
    operator = query.start()
    operator.take(given([row_of(0, "a", 3, 35, query.grids)]), BEGINNING)
    found = operator.take(given([row_of(0, "a", 25, 38, query.grids)]), 5)
    assert [(one["start"], one["n"]) for one in found.to_pylist()] == [
        (0, None), (10, None), (20, 1), (30, 1),
    ]  # fmt: skip
    found = operator.take(given([]), 40)
    assert [(one["start"], one["n"], one["final"]) for one in found.to_pylist()] == [
        (0, None, 1), (10, None, 1), (20, 1, 1), (30, 1, 1),
    ]  # fmt: skip
    assert operator.slices.num_rows == 0


def test_an_earlier_row_of_an_event_changes_nothing():
    query = UnendedQuery(SCHEMA, 1, (Count("1"),), (Grid(10, 10),))
    operator = query.start()
    operator.take(given([row_of(0, "a", 3, 15, query.grids)]), BEGINNING)
    operator.take(given([row_of(0, "a", 3, None, query.grids)]), 4)
    found = operator.take(given([]), 100)
    assert [(one["start"], one["n"]) for one in found.to_pylist()] == [(0, 1), (10, 1)]
    assert np.array_equal(operator.deadlines, np.empty(0))


@pytest.mark.parametrize("at_once", [False, True])
def test_a_late_correction_counts_if_the_event_is_known_without_it(at_once):
    query = UnendedQuery(SCHEMA, 1, (Count("1"),), (Grid(10, 10),))
    operator = query.start()
    rows = [row_of(0, "a", 25, None, query.grids), row_of(0, "a", 3, 35, query.grids)]
    operator.take(given([]), 20)
    for part in [rows] if at_once else [[row] for row in rows]:
        operator.take(given(part), 20)
        assert operator.late == 0
    found = operator.take(given([]), 100)
    assert [(one["start"], one["n"]) for one in found.to_pylist()] == [(20, 1), (30, 1)]
