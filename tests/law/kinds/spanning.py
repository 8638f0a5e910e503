"""Windows over events that last: one length, levels, and lists."""

from __future__ import annotations

import fanlight as fl
from tests.helpers import events, spans
from tests.helpers.aggregates import EVERYTHING, EXACT, FEW, OF_EVENTS, OF_PARTS
from tests.helpers.dataframes import FAR
from tests.helpers.events import MINUTE
from tests.helpers.granular_cases import (
    BEGUN,
    CHANGES,
    CONTINUOUS,
    ENDING,
    ENDING_REAL,
    LEVELS,
    QUERIES,
    REAL,
    SINCE,
    WHOLE,
)
from tests.helpers.spans import PAIRS
from tests.law import oracle
from tests.law.ask import Arrivals, asks, thorough
from tests.law.data import (
    EXACT_SHARES,
    LATE_EVENTS,
    SHARES,
    SPREAD,
    TODAY,
    derived,
    event,
    given,
    lasting,
    written,
)
from tests.law.kinds.kind import Kind

MONTH = 30 * 24 * 60 * MINUTE
LONG = spans.LONG
GRIDS = (*spans.TIME_SPECS, LONG, *events.WHOLE_SPECS, *events.REAL_SPECS)
NATIVE = ("levels", "cells", "aggregate-buckets", "auto")
RUNNING = {name: FEW[name] for name in ("rows", "sum_v", "sum_d", "min_s", "max_v", "first")}
CHOSEN = {name: EVERYTHING[name] for name in ("min_v", "max_v", "max_s", "max_by", "first")}
SHORT = {name: FEW[name] for name in ("rows", "sum_v", "min_s", "max_v", "list_v")}
FOUND = {name: FEW[name] for name in ("rows", "sum_v", "max_v", "list_v")}
SUMS = {"n": ("count",), "s": ("sum", "n"), "m": ("max", "n")}
# Of the part of an event in a window, beside what is of all of it, and one of them of some rows.
PARTS = OF_PARTS | {
    "rows": ("count",), "list_v": FEW["list_v"], "some": ("where", "integral", "v"),
}  # fmt: skip
OTHERS = ("peak", "covered", "count", "collect_list")
SUMS_OF_PARTS = {name: one for name, one in PARTS.items() if one[0] not in OTHERS}
TIMES = {
    "overlap": ("overlap",), "mean": ("mean_running",), "some": ("where", "overlap"),
}  # fmt: skip
MOST = {"peak": ("peak",), "some": ("where", "peak")}
COVERED = {"all": ("covered",), "some": ("where", "covered")}
IN_ORDER = COVERED | {name: one for name, one in OF_PARTS.items() if one[0] == "peak"}
TIMES_OF_PARTS = [spec for spec in GRIDS if spec not in events.REAL_SPECS]
SIZED = {"s": ("sum", "v"), "a": ("avg", "v")}
TECHNIQUES = {
    "tuple-buckets": FEW,
    "cumulative-sweeping": EXACT,
    "selective-sweeping": CHOSEN,
    "se-slicing": FEW,
    "se-ml-slicing": FEW,
}


def axis(spec):
    if spec in events.WHOLE_SPECS:
        return PAIRS["i"]
    return PAIRS["x"] if spec in events.REAL_SPECS else PAIRS["ts"]


def spanning(about, specs, data, requests, **more):
    return asks("spanning", about, specs, data, requests, **{"time": axis, **more})


def instants(spec):
    """Events that are points: stop is start."""
    began, ended = axis(spec)
    return derived(
        lasting(spec), "stop = start", lambda rows: [{**r, began: r[ended]} for r in rows]
    )


NO_EVENT = written("no event", [])
AN_INSTANT = written("an instant", [{"began": 5 * MINUTE, "ts": 5 * MINUTE, "v": 1.5}])
EDGES = written(
    "edges of events",
    [
        {"v": 1.5, **row}
        for row in (
            {"began": 4 * MINUTE, "ts": 5 * MINUTE},  # ends where a window starts
            {"began": -7 * MINUTE - 1, "ts": 3 * MINUTE},
            {"began": -70 * MINUTE, "ts": -1},
            {"case": 3, "began": 0, "ts": 1440 * MINUTE},
            {"case": 3, "began": 3, "ts": 4},
            {},
            {"ts": 5},
            {"began": 5},
        )
    ],
)
TIMELESS = written("no time at all", [{"v": 1.5}, {"ts": 5, "v": 1.5}, {"began": 5, "v": 1.5}])
SIZES = written(
    "sizes of events",
    [
        {
            "case": 0,
            "began": at * MINUTE,
            "ts": at * MINUTE + (at % 5) * 30_000_000,
            "v": 1e15 if at % 10 == 0 else 1e-3 * (1 + at % 7),
        }
        for at in range(60)
    ],
)
BATCH = (
    *spanning("running", GRIDS, lasting, RUNNING, strategies=NATIVE),
    *spanning("exact", GRIDS, lasting, EXACT, strategies=NATIVE[:1]),
    *spanning("exact points", [GRIDS[1], events.WHOLE_SPECS[1]], instants, EXACT,
              strategies=NATIVE[:1]),
    *(one for data in (NO_EVENT, AN_INSTANT, EDGES, TIMELESS)
      for one in spanning(f"{data.name}, exact", [LONG], data, EXACT, strategies=NATIVE[:1])),
    *spanning("in few windows", GRIDS[1:2], lasting, RUNNING, strategies=NATIVE[:2]),
    *spanning("nodes", [GRIDS[1], LONG, events.REAL_SPECS[2]], lasting, FEW, strategies=NATIVE),
    *spanning("every aggregate", [LONG], lasting, OF_EVENTS, strategies=("levels", "cells")),
    *spanning("every aggregate", [GRIDS[0]], lasting, OF_EVENTS, strategies=("se-slicing",)),
    *spanning("parts", TIMES_OF_PARTS, lasting, PARTS),
    *spanning("added up", TIMES_OF_PARTS, lasting, SUMS_OF_PARTS, strategies=("panes",)),
    *spanning("whole times", TIMES_OF_PARTS, lasting, TIMES, strategies=("panes",)),
    *spanning("most at once", TIMES_OF_PARTS, lasting, MOST, strategies=("panes",)),
    *(one for data in (AN_INSTANT, EDGES)
      for one in spanning("most at once", [LONG], data, MOST, strategies=("panes",))),
    *spanning("most of points", [GRIDS[1], events.WHOLE_SPECS[1]], instants, MOST,
              strategies=("panes",)),
    *spanning("covered", TIMES_OF_PARTS, lasting, COVERED, strategies=("panes",)),
    *(one for data in (AN_INSTANT, EDGES)
      for one in spanning("covered", [LONG], data, COVERED, strategies=("panes",))),
    *spanning("covered points", [GRIDS[1], events.WHOLE_SPECS[1]], instants, COVERED,
              strategies=("panes",)),
    *spanning("sums at once", [LONG], SIZES, IN_ORDER),
    *spanning("sums at once", TIMES_OF_PARTS[:2], lasting, IN_ORDER,
              strategies=("aggregate-buckets",)),
    *(one for data in (AN_INSTANT, EDGES) for one in spanning("in order", [LONG], data, IN_ORDER)),
    *spanning("apart", [GRIDS[1]], lasting, PARTS | RUNNING),
    *(one for data in (AN_INSTANT, EDGES) for how in ("auto", "panes")
      for one in spanning("parts", [LONG], data, SUMS_OF_PARTS, strategies=(how,))),
    *spanning("sizes of parts", [LONG], SIZES, SUMS_OF_PARTS, strategies=("panes",)),
    *spanning("parts of points", [GRIDS[1], events.WHOLE_SPECS[1]], instants, PARTS),
    *spanning("shares", [GRIDS[1]], SHARES, EXACT_SHARES,
              strategies=("levels", "cells", "aggregate-buckets")),
    *spanning("points", [GRIDS[1], events.WHOLE_SPECS[1]], instants, FEW),
    *(one for data in (NO_EVENT, AN_INSTANT, EDGES, TIMELESS)
      for one in spanning(data.name, [LONG], data, FEW, strategies=NATIVE[:3])),
    *spanning("sizes", [LONG], SIZES, SIZED, strategies=("levels", "cells")),
    *(one for strategy, requests in TECHNIQUES.items()
      for one in spanning("technique", [GRIDS[1]], lasting, requests, strategies=(strategy,))),
    *spanning("gaps and doubles", [GRIDS[3], events.REAL_SPECS[1]], lasting, CHOSEN,
              strategies=("se-slicing", "selective-sweeping")),
)  # fmt: skip

# By spec: how long events last at most, in slides; how late they come; the watermark's delay (TTP).
SPECS = {
    fl.Sliding("4 minutes", "1 minute"): (9, "5 minutes", "16 minutes"),
    fl.Sliding("9 minutes", "6 minutes"): (3, "4 minutes", "40 minutes"),
    fl.Sliding("1 minute", "4 minutes"): (2, "2 minutes", "15 minutes"),
    fl.Sliding("10 seconds", "3 seconds", offset="-2 seconds"): (40, "8 seconds", "150 seconds"),
}
FIRST, *LIKE_OTHERS, LAST = SPECS
HANDED = fl.Sliding("4 minutes", "2 minutes")
ROLLUPS = {"copies": "1 second", "nodes": "100 days"}
UNTIMED = (
    {**event(0, 1, 1), "ts": None},
    {**event(0, 1, 1), "began": None},
    event(2, 1, 1),
)


def arriving(about, specs, requests, which, restarts="none", closed=FAR, **more):
    return tuple(
        one
        for spec in specs
        for one in spanning(
            about,
            [spec],
            lasting(spec, 5, (TODAY,), longest=SPECS[spec][0]),
            requests,
            arrivals=Arrivals(
                which, SPECS[spec][2], SPECS[spec][1], restarts=restarts, closed=closed
            ),
            **more,
        )
    )


def late(about, spec, kind="spanning", **more):
    """Some events are longer than the watermark's delay, or later."""
    hints = {"duration": ROLLUPS[about], "rate": 1e6, "groups": 1} if about in ROLLUPS else {}
    return asks(
        kind, f"late events, {about}", [spec], given("late events", LATE_EVENTS), SUMS,
        hints=hints, time=PAIRS["ts"], arrivals=Arrivals(pieces=LATE_EVENTS, delay="20 minutes"),
        **more,
    )  # fmt: skip


LISTED = {"rows": ("count",), "m": ("max", "v"), "list": ("collect_list", "n")}
EXTREMES = {"min_s": FEW["min_s"], "max_v": FEW["max_v"]}
STREAM = (
    *arriving("stream", [FIRST, LAST], FEW, 3),
    *thorough(arriving("stream", LIKE_OTHERS, FEW, 3)),
    *arriving("stream", [FIRST], SHORT, 4, strategies=("cells",)),
    *arriving("stream", [FIRST], SHORT, 4, strategies=("aggregate-buckets",), late="open"),
    *arriving("stream", [FIRST], EXTREMES | SHORT, 3, strategies=("levels", "se-ml-slicing")),
    *arriving("stream", [FIRST], EXTREMES, 3, strategies=("selective-sweeping",)),
    *arriving("every aggregate", [FIRST], OF_EVENTS, 2),
    *arriving("parts", [FIRST, LAST], PARTS, 3),
    *arriving("parts, late", [FIRST], PARTS, 3, late="open"),
    *arriving("parts, early", [FIRST], PARTS, 3, action="early"),
    *arriving("parts, without keys", [FIRST], PARTS, 3, by=(), closed=TODAY + MONTH),
    *arriving("any split", [LAST], {"n": ("count",), "m": ("median", "n")}, 0),
    *thorough(arriving("any split", [LAST], {"n": ("count",), "m": ("median", "n")}, 2)),
    *arriving("early", [FIRST], FEW, 3, action="early"),
    *arriving("early without keys", [FIRST], SHORT, 3, by=(), action="early",
              closed=TODAY + MONTH),
    *late("early", HANDED, action="early"),
    *late("copies", HANDED, strategies=("cells",)),
    *late("nodes", HANDED, strategies=("cells",), late="collect"),
    *late("operator", HANDED, strategies=("levels",), late="collect"),
    *thorough(late("operator", HANDED, strategies=("se-slicing",))),
    *late("open", HANDED, late="open"),
    # The row that closes all is of the same key: an operator goes through the windows until then.
    *arriving("without keys", [FIRST], SHORT, 3, by=(), strategies=("cells", "se-slicing"),
              closed=TODAY + MONTH),
    *arriving("restarted", [FIRST], LISTED, 4, "half", strategies=("cells", "se-slicing")),
    *spanning("no event", [FIRST], NO_EVENT, SHORT,
              arrivals=Arrivals(pieces=((),), delay="1 minute")),
    *spanning("no time", [FIRST], given("untimed events", [UNTIMED]), SHORT,
              arrivals=Arrivals(pieces=(UNTIMED,), delay="1 minute")),
)  # fmt: skip
KIND = Kind(
    "spanning",
    {"agg": oracle.spans, "early": oracle.spans},
    strategies=("auto", "levels", "cells", "panes", "aggregate-buckets", *TECHNIQUES),
    example=(LONG, PAIRS["ts"]),
    in_python=lambda ask: ask.action == "early" or ask.strategy in ("levels", *TECHNIQUES),
    batch=BATCH,
    stream=STREAM,
    connect=(
        *spanning("connect", [GRIDS[0], events.REAL_SPECS[1]], lasting, FEW),
        *spanning("connect", [GRIDS[0]], lasting, FEW, strategies=("se-ml-slicing",)),
        *arriving("stream", [FIRST], SHORT, 1),
    ),
    sample=(
        *spanning("sample", [GRIDS[2]], lasting, SPREAD),
        *spanning("sample", [GRIDS[1]], lasting, CHOSEN, strategies=("se-slicing",)),
    ),
    stream_sample=arriving("stream", [FIRST], SHORT, 4),
)

SEVERAL = lasting(LONG, 6, longest=30)
RECENT = lasting(LONG, 6, (TODAY,), longest=30)
WHOLES = lasting(fl.Sliding(12, 4, offset=-3), 6, longest=20)
REALS = lasting(fl.Sliding(1.2, 0.4), 6)
POINTS = derived(SEVERAL, "stop = start", lambda rows: [{**r, "began": r["ts"]} for r in rows])
ARRIVING = lasting(LONG, 3, (TODAY,), longest=9, most=8)
# An event counts from the initiation time on; one that ends there does not.
ACROSS = written(
    "across the initiation time",
    [
        {"case": 0, "k": "a", "began": SINCE - 9 * MINUTE, "ts": SINCE, "v": 1.0},
        {"case": 0, "k": "a", "began": SINCE - 9 * MINUTE, "ts": SINCE + 1, "v": 2.0},
        {"case": 0, "k": "a", "began": SINCE, "ts": SINCE, "v": 4.0},
    ],
)


def several(about, specs, data, requests=FEW, **more):
    return asks("several", about, specs, data, requests, **{"time": PAIRS["ts"], **more})


def several_arriving(spec, requests, about="stream", **more):
    how = Arrivals(3, "14 minutes", "4 minutes")
    return several(about, [spec], ARRIVING, requests, arrivals=how, **more)


COARSE = fl.MultiGranular(["4 minutes", "24 minutes"], ["2 minutes", "8 minutes"])
SEVERAL_KIND = Kind(
    "several",
    {"agg": oracle.several_spans, "early": oracle.several_spans},
    strategies=("auto", *NATIVE[:3], "panes", "separate"),
    example=(LEVELS[0], PAIRS["ts"]),
    in_python=lambda ask: ask.action == "early",
    batch=(
        *several("strategies", [LEVELS[1], QUERIES[0]], SEVERAL, RUNNING,
                 strategies=(*NATIVE[:3], "separate")),
        *several("values", [LEVELS[0]], SEVERAL, {**FEW, "median": EVERYTHING["median"]},
                 strategies=NATIVE[:3]),
        *several("every aggregate", [LEVELS[1]], SEVERAL, OF_EVENTS, strategies=("cells",)),
        *several("parts", [LEVELS[1], LEVELS[2], BEGUN, QUERIES[0], CONTINUOUS], RECENT, PARTS),
        *several("added up", [LEVELS[1], LEVELS[2], BEGUN, QUERIES[0], CONTINUOUS], RECENT,
                 SUMS_OF_PARTS, strategies=("panes",)),
        *several("most at once", [LEVELS[1], LEVELS[2], BEGUN, QUERIES[0], CONTINUOUS], RECENT,
                 MOST, strategies=("panes",)),
        *several("covered", [LEVELS[1], LEVELS[2], BEGUN, QUERIES[0], CONTINUOUS], RECENT,
                 COVERED, strategies=("panes",)),
        *several("whole times", [LEVELS[1], LEVELS[2], BEGUN, QUERIES[0], CONTINUOUS], RECENT,
                 TIMES, strategies=("panes",)),
        *several("parts", [WHOLE], WHOLES, PARTS, time=PAIRS["i"]),
        *several("initiation time", [LEVELS[2], BEGUN], RECENT, strategies=("levels", "cells")),
        *several("ends", [ENDING], RECENT),
        *several("across the initiation time", [BEGUN], ACROSS, {"s": ("sum", "v")}),
        *several("otherwise", [CONTINUOUS, CHANGES, QUERIES[2]], SEVERAL, RUNNING),
        *several("numbers", [WHOLE], WHOLES, RUNNING, time=PAIRS["i"], strategies=NATIVE[:3]),
        *several("numbers", [ENDING_REAL], REALS, RUNNING, time=PAIRS["x"]),
        *several("numbers", [REAL], REALS, RUNNING, time=PAIRS["x"], strategies=NATIVE[:3]),
        *several("points", [LEVELS[0], QUERIES[0]], POINTS, RUNNING),
    ),
    stream=(
        *several_arriving(LEVELS[0], {**FOUND, "median": ("median", "n")}),
        *several_arriving(BEGUN, FOUND),
        *several_arriving(BEGUN, PARTS, about="parts"),
        *several_arriving(BEGUN, PARTS, about="parts, early", action="early"),
        *several_arriving(LEVELS[0], FOUND, about="without keys", by=()),
        *several_arriving(BEGUN, FOUND, about="early", action="early"),
        *several_arriving(LEVELS[0], FOUND, about="early without keys", by=(), action="early"),
        *several_arriving(QUERIES[0], FOUND, about="early", action="early"),
        *several_arriving(CONTINUOUS, EXTREMES | {"rows": ("count",)}),
        *several_arriving(QUERIES[0], FOUND),
        *several_arriving(LEVELS[1], {"rows": ("count",), "max_v": FEW["max_v"]},
                          strategies=("aggregate-buckets",), late="open"),
        *late("copies", COARSE, "several", strategies=("cells",), late="collect"),
        *thorough(late("nodes", COARSE, "several", strategies=("cells",))),
        *late("apart", COARSE, "several", strategies=("separate",)),
        *thorough(late("open", COARSE, "several", strategies=("auto", "separate"), late="open")),
    ),
    connect=several("connect", [LEVELS[0], QUERIES[1]], SEVERAL),
    sample=several("sample", [LEVELS[0], QUERIES[0]], SEVERAL, SPREAD),
    stream_sample=several_arriving(LEVELS[0], FOUND),
)  # fmt: skip
