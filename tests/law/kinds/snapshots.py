"""Snapshots: windows in which the same events are running."""

from __future__ import annotations

import fanlight as fl
from tests.helpers import events, spans
from tests.helpers.aggregates import FEW, OF_EVENTS
from tests.helpers.dataframes import FAR
from tests.helpers.events import MINUTE
from tests.helpers.spans import PAIRS
from tests.law import oracle
from tests.law.ask import Arrivals, asks
from tests.law.data import LATE_EVENTS, SPREAD, TODAY, given, lasting, written
from tests.law.kinds.kind import Kind

PLAIN, MERGED = fl.Snapshot(), fl.Snapshot(merge_equal=True)
LEAST = fl.Snapshot(min_duration="90 seconds")
BOTH = fl.Snapshot(min_duration="2 minutes", merge_equal=True)
SHORT = {name: FEW[name] for name in ("rows", "sum_v", "min_s", "max_v", "list_v")}
SUMS = {"n": ("count",), "s": ("sum", "n"), "m": ("max", "n")}
SAME = {"rows": ("count",), "max_n": ("max", "n"), "min_s": ("min", "s"), "sum_n": ("sum", "n")}
# What is known of an event and not of an instant; a sketch is Spark's, and a stream has none of it.
UNTIMED = {name: asked for name, asked in OF_EVENTS.items() if asked[0] != "linear_fit"}
KNOWN = {name: asked for name, asked in SPREAD.items() if asked[0] != "linear_fit"}
EVENTS = lasting(spans.LONG)
EDGES = written(
    "edges of snapshots",
    [
        {"v": 1.5, "n": 1, **row}
        for row in (
            {"began": 0, "ts": 4 * MINUTE},
            {"began": 4 * MINUTE, "ts": 5 * MINUTE},  # begins where the other stops
            {"began": 4 * MINUTE, "ts": 5 * MINUTE},  # the same again
            {"began": 4 * MINUTE, "ts": 4 * MINUTE},  # no duration
            {"began": 9 * MINUTE, "ts": 9 * MINUTE + 1},  # after a gap
            {"case": 2, "began": -7 * MINUTE - 1, "ts": -1},
            {"case": 2, "began": -7 * MINUTE - 1, "ts": 3},
            {},
            {"ts": 5},
            {"began": 5},
        )
    ],
)
NONE = written("no snapshot", [])


def snapshots(about, specs, data, asked, **more):
    return asks("snapshots", about, specs, data, asked, **{"time": PAIRS["ts"], **more})


def arriving(about, specs, which, asked=SHORT, restarts="none", **more):
    data = lasting(spans.LONG, 5, (TODAY,), longest=9)
    how = Arrivals(which, "40 minutes", "5 minutes", restarts=restarts, closed=FAR)
    return snapshots(about, specs, data, asked, arrivals=how, **more)


KIND = Kind(
    "snapshots",
    {"agg": oracle.snapshots},
    strategies=("auto", "native", "arrow"),
    example=(PLAIN, PAIRS["ts"]),
    in_python=lambda _: True,
    batch=(
        *snapshots("every aggregate", [PLAIN], EVENTS, UNTIMED),
        *snapshots("merged", [MERGED, BOTH], EVENTS, SAME, strategies=("native", "arrow")),
        *snapshots("least duration", [LEAST], EVENTS, SAME),
        *snapshots("numbers", [PLAIN], lasting(events.WHOLE_SPECS[1]), FEW, time=PAIRS["i"]),
        *snapshots("doubles", [PLAIN], lasting(events.REAL_SPECS[1]), FEW, time=PAIRS["x"]),
        *snapshots(EDGES.name, [PLAIN, MERGED], EDGES, SAME, strategies=("native", "arrow")),
        *snapshots("no snapshot", [PLAIN], NONE, SAME, strategies=("native", "arrow")),
        *snapshots("without keys", [PLAIN], EVENTS, SAME, by=(), strategies=("native", "arrow")),
    ),
    stream=(
        *arriving("stream", [PLAIN], 3),
        *arriving("every aggregate", [PLAIN], 2, UNTIMED),
        *arriving("merged", [BOTH, MERGED], 4, SAME),
        *arriving("restarted", [MERGED], 3, SAME, restarts="half"),
        *arriving("without keys", [PLAIN], 2, {"rows": ("count",)}, by=()),
        *snapshots(
            "late events",
            [PLAIN],
            given("late events", LATE_EVENTS),
            SUMS,
            late="collect",
            arrivals=Arrivals(pieces=LATE_EVENTS, delay="20 minutes"),
        ),
    ),
    connect=(
        *snapshots("connect", [PLAIN, BOTH], EVENTS, SAME),
        *arriving("stream", [PLAIN], 1),
    ),
    sample=snapshots("sample", [PLAIN], EVENTS, KNOWN),
    stream_sample=arriving("stream", [MERGED], 4, SAME),
)
