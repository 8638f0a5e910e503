"""reference == batch: for every spec, strategy and aggregate, classic and Connect."""

from __future__ import annotations

import math

import pytest

import fanlight as fl
from tests import events
from tests.compare import EVERYTHING, EXACT, FEW, check
from tests.dataframes import calls, collected, frame, over
from tests.events import MINUTE, NAN

PLACE = {"by": ["case", "k"], "tiebreak": ["seq"]}
GRID_STRATEGIES = ("panes", "pairs", "expand", "auto")
CASES = 12


def agree(spark, rows, spec, requests, *, strategy="auto", time="ts", by=("case", "k")):
    where = {"time": time, "by": list(by), "tiebreak": ["seq"]}
    got = collected(over(frame(spark, rows), spec, requests, strategy=strategy, **where))
    check(got, rows, spec, requests, **where)


def axis(spec):
    if spec in events.WHOLE_SPECS:
        return "i"
    return "x" if spec in events.REAL_SPECS else "ts"


GRIDS = (*events.TIME_SPECS, *events.WHOLE_SPECS, *events.REAL_SPECS)
ROWS = {
    spec: events.packed(spec, CASES) for spec in (*GRIDS, *events.ROW_SPECS, *events.TUPLE_SPECS)
}


@pytest.mark.parametrize("strategy", GRID_STRATEGIES)
@pytest.mark.parametrize("spec", [*GRIDS, *events.ROW_SPECS], ids=repr)
def test_every_strategy(classic, spec, strategy):
    agree(classic, ROWS[spec], spec, FEW, strategy=strategy, time=axis(spec))


@pytest.mark.parametrize("strategy", ["expand", "auto"])
@pytest.mark.parametrize("spec", events.TUPLE_SPECS, ids=repr)
def test_every_strategy_for_windows_at_every_row(classic, spec, strategy):
    agree(classic, ROWS[spec], spec, FEW, strategy=strategy)


@pytest.mark.connect
@pytest.mark.parametrize(
    "spec",
    [GRIDS[1], GRIDS[3], events.REAL_SPECS[0], events.ROW_SPECS[2], events.TUPLE_SPECS[0]],
    ids=repr,
)
def test_windows_over_connect(sessions, spec):
    agree(sessions["connect"], ROWS[spec], spec, FEW, time=axis(spec))


OVERLAPPING = [spec for spec in (*GRIDS, *events.ROW_SPECS) if spec.overlap > 1]


@pytest.mark.parametrize("spec", [*OVERLAPPING, *events.TUPLE_SPECS], ids=repr)
def test_taking_rows_back(spark, spec):
    agree(spark, ROWS[spec], spec, EXACT, strategy="differential", time=axis(spec))


@pytest.mark.parametrize("spec", [spec for spec in GRIDS if spec.overlap <= 1], ids=repr)
def test_nothing_to_take_back_where_windows_do_not_overlap(classic, spec):
    windowed = fl.over(frame(classic, []), spec, time=axis(spec)).using("differential")
    with pytest.raises(fl.FanlightError, match=r"differential.*do not overlap"):
        windowed.agg(**calls(EXACT))


@pytest.mark.slow
@pytest.mark.parametrize("strategy", GRID_STRATEGIES)
def test_every_aggregate_with_every_strategy(classic, strategy):
    spec = events.TIME_SPECS[1]
    agree(classic, ROWS[spec], spec, EVERYTHING, strategy=strategy)


@pytest.mark.slow
@pytest.mark.parametrize(
    "spec",
    [
        *(events.TIME_SPECS[0], events.TIME_SPECS[4], events.TIME_SPECS[5], events.TIME_SPECS[7]),
        events.WHOLE_SPECS[1],
    ],
    ids=repr,
)
def test_every_aggregate_on_a_grid(classic, spec):
    agree(classic, ROWS[spec], spec, EVERYTHING, time=axis(spec))


@pytest.mark.slow
def test_every_aggregate_on_a_grid_of_fractions(classic):
    spec = events.REAL_SPECS[2]
    requests = {name: request for name, request in EVERYTHING.items() if name != "fit"}
    agree(classic, ROWS[spec], spec, requests, time="x")


@pytest.mark.slow
@pytest.mark.parametrize("spec", [*events.ROW_SPECS, *events.TUPLE_SPECS], ids=repr)
def test_every_aggregate_over_rows(classic, spec):
    agree(classic, ROWS[spec], spec, EVERYTHING)


@pytest.mark.parametrize("name", ["case", "k"])
def test_keys_of_any_type(spark, name):
    agree(spark, ROWS[GRIDS[0]], GRIDS[0], FEW, by=[name])


EDGES = {
    "no row": [],
    "one row": [{"k": "a", "ts": 5, "i": 5, "x": 0.3, "v": 1.5, "s": "x", "seq": 0}],
    "one row before 1970": [{"k": None, "ts": -1, "i": -1, "x": -0.1, "v": -2.0}],
    "no row has a time": [{"k": "a", "v": 1.0}, {"k": "b", "v": 2.0}],
    "one key has all rows": [
        {"k": "a", "ts": at * MINUTE, "i": at, "x": at / 10, "v": float(at), "seq": at % 3}
        for at in (5, 3, 3, 8, -2, 0, 13, 4, 9, 2, 2, 2)
    ],
}
EDGES = {
    name: [
        {"case": 0, **dict.fromkeys(("k", "ts", "i", "x", "seq", *"vndsw")), **row} for row in rows
    ]
    for name, rows in EDGES.items()
}


@pytest.mark.parametrize(
    "spec",
    [
        GRIDS[0],
        events.WHOLE_SPECS[1],
        events.REAL_SPECS[1],
        events.ROW_SPECS[2],
        events.TUPLE_SPECS[0],
    ],
    ids=repr,
)
@pytest.mark.parametrize("rows", EDGES.values(), ids=EDGES.keys())
def test_edges(classic, rows, spec):
    agree(classic, rows, spec, FEW, time=axis(spec))


@pytest.mark.parametrize("spec", [GRIDS[0], events.ROW_SPECS[0]], ids=repr)
def test_without_keys(spark, spec):
    rows = [{**row, "case": 0, "k": None} for row in ROWS[spec][:40]]
    where = {"time": "ts", "by": [], "tiebreak": ["seq"]}
    got = collected(over(frame(spark, rows), spec, FEW, **where))
    check(got, rows, spec, FEW, **where)


@pytest.mark.parametrize("strategy", GRID_STRATEGIES)
def test_sizes_do_not_drown_each_other(classic, strategy):
    """1e15 in one pane and 1e-3 in the next: a running difference would lose the small ones."""
    rows = []
    for at in range(60):
        big = 1e15 if at % 10 == 0 else 1e-3 * (1 + at % 7)
        rows += [{"ts": at * MINUTE + step, "v": big} for step in (0, 20_000_000)]
    rows = [{**EDGES["one row"][0], "case": 0, "k": "a", "n": None, **row} for row in rows]
    spec = fl.Sliding("5 minutes", "1 minute")
    requests = {"s": ("sum", "v"), "a": ("avg", "v"), "m": ("var_samp", "v"), "n": ("count", "v")}
    got = collected(over(frame(classic, rows), spec, requests, strategy=strategy))
    check(got, rows, spec, requests, time="ts", **PLACE)
    small = next(row for row in got if row["window"]["start"] == 3 * MINUTE)
    inside = [row["v"] for row in rows if 3 * MINUTE <= row["ts"] < 8 * MINUTE]
    assert max(inside) < 1
    assert math.isclose(small["s"], math.fsum(inside), rel_tol=1e-9)


def test_rows_over_rows_keep_their_sizes(spark):
    rows = [
        {**EDGES["one row"][0], "ts": at, "v": 1e15 if at % 10 == 0 else 1e-3, "seq": 0}
        for at in range(50)
    ]
    requests = {"s": ("sum", "v"), "a": ("avg", "v")}
    for spec in (fl.Sliding(fl.rows(4), fl.rows(1)), fl.Sliding("4 microseconds", fl.rows(1))):
        agree(spark, rows, spec, requests)


def test_times_that_are_no_instants_are_left_out(spark):
    rows = [{**EDGES["one row"][0], "x": x} for x in (NAN, None, math.inf, -math.inf, 0.05)]
    agree(spark, rows, fl.Sliding(0.1), FEW, time="x")
