"""Events that last: reference == batch, for every spec, strategy and aggregate."""

from __future__ import annotations

import math

import pytest

import fanlight as fl
from fanlight.reference import rejected_spans
from tests import events, spans
from tests.compare import EVERYTHING, FEW, check
from tests.dataframes import collected, frame, over
from tests.events import MINUTE
from tests.spans import PAIRS

NATIVE = ("levels", "cells", "aggregate-buckets", "auto")
RUNNING = {name: FEW[name] for name in ("rows", "sum_v", "sum_d", "min_s", "max_v", "first")}
GRIDS = (*spans.TIME_SPECS, spans.LONG, *events.WHOLE_SPECS, *events.REAL_SPECS)
ROWS = {spec: spans.packed(spec, 10) for spec in GRIDS}


def axis(spec):
    if spec in events.WHOLE_SPECS:
        return "i"
    return "x" if spec in events.REAL_SPECS else "ts"


def agree(spark, rows, spec, requests, *, strategy="auto", time="ts", by=("case", "k")):
    where = {"time": PAIRS[time], "by": list(by), "tiebreak": ["seq"]}
    got = collected(over(frame(spark, rows), spec, requests, strategy=strategy, **where))
    check(got, rows, spec, requests, **where)


@pytest.mark.parametrize("strategy", NATIVE)
@pytest.mark.parametrize("spec", GRIDS, ids=repr)
def test_along_the_levels(classic, spec, strategy):
    agree(classic, ROWS[spec], spec, RUNNING, strategy=strategy, time=axis(spec))


@pytest.mark.parametrize("strategy", NATIVE)
@pytest.mark.parametrize("spec", [GRIDS[1], spans.LONG, events.REAL_SPECS[2]], ids=repr)
def test_down_through_the_nodes(classic, spec, strategy):
    agree(classic, ROWS[spec], spec, FEW, strategy=strategy, time=axis(spec))


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["levels", "cells"])
def test_every_aggregate(classic, strategy):
    agree(classic, ROWS[spans.LONG], spans.LONG, EVERYTHING, strategy=strategy)


@pytest.mark.connect
@pytest.mark.parametrize("spec", [GRIDS[0], events.REAL_SPECS[1]], ids=repr)
def test_over_connect(sessions, spec):
    agree(sessions["connect"], ROWS[spec], spec, FEW, time=axis(spec))


@pytest.mark.parametrize("spec", [GRIDS[1], events.WHOLE_SPECS[1]], ids=repr)
def test_points_are_the_special_case(classic, spec):
    """stop = start: the same rows as windows over points."""
    time = axis(spec)
    pair = PAIRS[time]
    rows = [{**row, pair[0]: row[pair[1]]} for row in ROWS[spec]]
    place = {"by": ["case", "k"], "tiebreak": ["seq"]}
    lasting = collected(over(frame(classic, rows), spec, FEW, time=pair, **place))
    points = collected(over(frame(classic, rows), spec, FEW, time=time, **place))
    check(lasting, rows, spec, FEW, time=time, **place)
    assert len(lasting) == len(points)


@pytest.mark.parametrize("time", ["ts", "i", "x"])
def test_rejected_events(spark, time):
    spec = {"ts": GRIDS[0], "i": events.WHOLE_SPECS[0], "x": events.REAL_SPECS[0]}[time]
    rows = ROWS[spec] + [{**ROWS[spec][0], "x": x, "x0": 0.0} for x in (math.nan, -1.0)]
    found = fl.rejected(frame(spark, rows), spec, time=PAIRS[time]).toArrow().to_pylist()
    wanted = rejected_spans(rows, time=PAIRS[time])
    assert sorted(row["reason"] for row in found) == sorted(row["reason"] for row in wanted)
    assert wanted


EDGES = {
    "no event": [],
    "an instant": [{"began": 5 * MINUTE, "ts": 5 * MINUTE}],
    "ends where a window starts": [{"began": 4 * MINUTE, "ts": 5 * MINUTE}],
    "across 1970": [{"began": -7 * MINUTE - 1, "ts": 3 * MINUTE}],
    "all before 1970": [{"began": -70 * MINUTE, "ts": -1}],
    "one for a day": [{"began": 0, "ts": 1440 * MINUTE}, {"began": 3, "ts": 4}],
    "no time at all": [{}, {"ts": 5}, {"began": 5}],
}


@pytest.mark.parametrize("strategy", ["levels", "cells", "aggregate-buckets"])
@pytest.mark.parametrize("rows", EDGES.values(), ids=EDGES.keys())
def test_edges(classic, rows, strategy):
    blank = dict.fromkeys(("k", "ts", "began", "seq", *"vndsw"))
    rows = [{"case": 0, **blank, "v": 1.5, "d": None, **row} for row in rows]
    agree(classic, rows, spans.LONG, FEW, strategy=strategy)


@pytest.mark.parametrize("strategy", ["levels", "cells"])
def test_sizes_do_not_drown_each_other(classic, strategy):
    """1e15 in one event, 1e-3 in the next: a running difference would lose the small ones."""
    rows = [
        {
            **dict.fromkeys(("k", "seq", *"ndsw")),
            "case": 0,
            "began": at * MINUTE,
            "ts": at * MINUTE + (at % 5) * 30_000_000,
            "v": 1e15 if at % 10 == 0 else 1e-3 * (1 + at % 7),
        }
        for at in range(60)
    ]
    requests = {"s": ("sum", "v"), "a": ("avg", "v")}
    agree(classic, rows, spans.LONG, requests, strategy=strategy)


def test_the_time_zone_does_not_matter(classic, time_zone):
    spec = GRIDS[2]
    answers = []
    for zone in ("UTC", "Asia/Kathmandu"):
        time_zone(zone)
        df = over(frame(classic, ROWS[spec]), spec, FEW, time=PAIRS["ts"])
        answers.append(sorted(map(repr, collected(df))))
    assert answers[0] == answers[1]


TAKEN = {name: EVERYTHING[name] for name in ("rows", "n_v", "sum_n", "sum_d", "avg_d")}
CHOSEN = {name: EVERYTHING[name] for name in ("min_v", "max_v", "max_s", "max_by", "first")}
OPERATORS = {
    "tuple-buckets": FEW,
    "cumulative-sweeping": TAKEN,
    "selective-sweeping": CHOSEN,
    "se-slicing": FEW,
    "se-ml-slicing": FEW,
}


@pytest.mark.parametrize("strategy", OPERATORS)
def test_the_techniques_of_the_paper(classic, strategy):
    spec = GRIDS[1]  # RANGE 9, SLIDE 6: two slices a slide
    agree(classic, ROWS[spec], spec, OPERATORS[strategy], strategy=strategy)


@pytest.mark.slow
def test_every_aggregate_in_slices(classic):
    agree(classic, ROWS[GRIDS[0]], GRIDS[0], EVERYTHING, strategy="se-slicing")


@pytest.mark.parametrize("strategy", ["se-slicing", "selective-sweeping"])
def test_the_techniques_over_gaps_and_doubles(classic, strategy):
    for spec in (GRIDS[3], events.REAL_SPECS[1]):
        agree(classic, ROWS[spec], spec, CHOSEN, strategy=strategy, time=axis(spec))


@pytest.mark.connect
def test_a_technique_over_connect(sessions):
    agree(sessions["connect"], ROWS[GRIDS[0]], GRIDS[0], FEW, strategy="se-ml-slicing")
