"""Frames of every kind: aggregates, bounds, and the rows of each."""

from __future__ import annotations

import fanlight as fl
from tests.helpers.aggregates import EACH, EVERYTHING
from tests.helpers.frames import (
    AGGREGATES,
    BOUNDARIES,
    CALCULATED,
    DELTAS,
    DWELLING,
    OVERLAPPING,
    PATTERNS,
    SEVERAL,
    SIZED,
    STATES,
    THRESHOLDS,
)
from tests.law import oracle
from tests.law.ask import Arrivals, asks, thorough
from tests.law.data import (
    DIVIDED,
    EXACT_SHARES,
    LATE_POINTS,
    NO_ROW,
    SHARES,
    given,
    keyless,
    points,
    recent,
    where,
    written,
)
from tests.law.kinds.kind import Kind

TIMES = fl.Sliding("4 minutes", "1 minute")
ROWS = points(TIMES)
# Frames have a column ``rows`` of their own.
ALL, EVERY = (
    {"every" if name == "rows" else name: asked for name, asked in which.items()}
    for which in (EVERYTHING, EACH)
)
NUMBERS = {n: ALL[n] for n in ("every", "n_v", "sum_v", "sum_n", "max_v", "avg_n")}
OTHERS = {n: ALL[n] for n in ("every", "sum_d", "min_s", "var_pop", "first", "list_v", "fit")}
NATIVELY = {n: ALL[n] for n in ("every", "sum_v", "sum_d", "min_s", "first", "list_v", "median")}
STREAMED = {n: ALL[n] for n in ("every", "n_v", "sum_v", "max_v", "avg_n", "min_s", "list_v")}
FRAMED = {n: ALL[n] for n in ("listagg", "median", "min_by", *OTHERS)}
COUNT = {"n": ("count",)}
SPECS = (*THRESHOLDS, *BOUNDARIES, *DELTAS, *AGGREGATES, *SIZED, *STATES)
SOME = (THRESHOLDS[2], BOUNDARIES[4], DELTAS[0], DELTAS[6])
NATIVE = (
    *THRESHOLDS[:3], fl.ThresholdFrame("v > 1", min_duration="1 minute"), *BOUNDARIES, *STATES[:4],
    *STATES[6:8],
)  # fmt: skip
DIVISIBLE = (
    *NATIVE[:4], *BOUNDARIES[:3], *STATES[:1], fl.ThresholdFrame("v > 1", max_gap="1 minute"),
    fl.ThresholdFrame("v > 1", min_rows=3, min_duration="1 minute"),
    fl.BoundaryFrame({"v": 2.5}, max_gap="90 seconds"),
)  # fmt: skip
ALIKE = (
    fl.ThresholdFrame("v > 1", min_rows=8),
    fl.ThresholdFrame("v < 1", min_duration="2 minutes"),
)
EDGES = written("edges of frames", [{"k": "a"}, {"k": None, "ts": -1, "v": 2.0, "s": "x"}])
UNTIMED = written("no time of frames", [{"case": 0, "k": "a"}])
# Many rows of one time and value, which no order tells apart.
TIES = written(
    "rows that are alike",
    [{"case": None, "ts": at // 4 * 60_000_000, "v": float(at // 8 % 3)} for at in range(96)],
)


def frames(about, specs, data, requests, **more):
    """By the pass in Python, if no strategy is named: of so few rows ``auto`` takes no other."""
    more.setdefault("strategies", ("arrow",))
    return asks("frames", about, specs, data, requests, **more)


def values_of(column, values, pattern):
    """One case a value: at a boundary, or far from it."""
    rows = [
        {"case": number, "ts": at * 1_000_000, column: value if one is None else one}
        for number, value in enumerate(values)
        for at, one in enumerate(pattern)
    ]
    return written(f"{column} about {values}", rows)


REAL_EDGES = values_of(
    "v", [3e15, -4.6, 4.2, 8.4, 12.600000000000001, 0.0, -0.0], [1.0, None, 1.0, None, None]
)
WHOLE_EDGES = values_of(
    "n", [-(2**63) + 1, 2**63 - 1, 2**60, -3, -2, 3, 4], [1, None, None, 0, None]
)
FAR = 10**400
BEYOND = {
    "n": [fl.BoundaryFrame({"n": [-(2**70), 2, 2**70]}), fl.BoundaryFrame({"n": [2**63, 2**64]})],
    "v": [fl.BoundaryFrame({"v": [-FAR, 4.2, FAR]}), fl.BoundaryFrame({"v": FAR})],
}
BATCH = (
    *frames("every scheme", [*SPECS, *OVERLAPPING], ROWS, NUMBERS),
    *frames("others", [*SOME, *OVERLAPPING], ROWS, OTHERS),
    *frames("calculated limits", CALCULATED, ROWS, NUMBERS),
    *frames("several at once", SEVERAL, ROWS, NUMBERS),
    *frames("several at once, others", [SEVERAL[0]], ROWS, OTHERS),
    *frames("dwelling", DWELLING, ROWS, NUMBERS),
    *frames("repaired", [*SPECS, *OVERLAPPING, *CALCULATED, *DWELLING], ROWS, NUMBERS,
            action="frames repaired"),
    *frames("repaired, others", SOME, ROWS, OTHERS, action="frames repaired"),
    *frames("repaired without keys", SOME, keyless(ROWS, 60), NUMBERS, by=(),
            action="frames repaired"),
    *frames("dwelling, others", [*DWELLING[1:3], DWELLING[6]], ROWS, OTHERS),
    *frames("every aggregate", [SOME[0], SOME[2], OVERLAPPING[0]], ROWS, EVERY),
    *frames("patterns", PATTERNS, ROWS, NUMBERS),
    *frames("patterns, others", [PATTERNS[0], PATTERNS[2]], ROWS, OTHERS),
    *frames("rows of patterns", [PATTERNS[0], *PATTERNS[5:]], ROWS, {}, action="rows"),
    *frames("patterns without keys", PATTERNS[1:3], keyless(ROWS, 30), NUMBERS, by=()),
    *frames("bounds", SOME, ROWS, {}, action="frames"),
    *frames("rows", SOME, ROWS, {}, action="rows"),
    *frames("rows of frames cut short", [SIZED[1], SIZED[6], STATES[8]], ROWS, {}, action="rows"),
    *(one for data in (NO_ROW, UNTIMED, EDGES)
      for one in frames(data.name, [SOME[2], BOUNDARIES[0], OVERLAPPING[0]], data,
                        {"n": ("count",), "s": ("max", "s")})),
    *frames("shares", [fl.ThresholdFrame("n >= 1")], SHARES, EXACT_SHARES,
            strategies=("arrow", "native")),
    *frames("without keys", SOME, keyless(ROWS, 60), NUMBERS, by=()),
    *frames("one key", SOME, keyless(ROWS, 60), NUMBERS, by=("case",)),
    *frames("natively", NATIVE, ROWS, NATIVELY, strategies=("native",)),
    *frames("rows", [THRESHOLDS[0], THRESHOLDS[2], BOUNDARIES[4]], ROWS, {}, action="rows",
            strategies=("native",)),
    *frames("rows", [*STATES[1:3], *STATES[6:8]], ROWS, {}, action="rows",
            strategies=("arrow", "native")),
    *frames("in chunks", DIVISIBLE, ROWS, NUMBERS, strategies=("chunks",)),
    *frames("in chunks, others", [DIVISIBLE[0], STATES[0]], ROWS, OTHERS, strategies=("chunks",)),
    *frames("in chunks, without keys", DIVISIBLE, keyless(ROWS, 60), NUMBERS, by=(),
            strategies=("chunks",)),
    *frames("rows in chunks", [DIVISIBLE[0], *DIVISIBLE[4:9]], ROWS, {}, action="rows",
            strategies=("chunks",)),
    *frames("rows in chunks, without keys", [DIVISIBLE[0], DIVISIBLE[10]], keyless(ROWS, 60), {},
            action="rows", by=(), strategies=("chunks",)),
    *frames("in chunks, alike", ALIKE, TIES, COUNT, by=(), strategies=("chunks",)),
    *(one for data in (NO_ROW, UNTIMED, EDGES)
      for one in frames(f"{data.name} in chunks", DIVISIBLE[:1], data, COUNT,
                        strategies=("chunks",))),
    *(one for data in (NO_ROW, UNTIMED, EDGES)
      for one in frames(f"{data.name}, rows in chunks", DIVISIBLE[:1], data, {}, action="rows",
                        strategies=("chunks",))),
    *frames("alike", ALIKE, TIES, COUNT, by=(), strategies=("native",)),
    *frames("alike, by k", ALIKE, TIES, COUNT, by=("k",), strategies=("native",)),
    *frames("boundaries", [fl.BoundaryFrame({"v": 4.2}), fl.BoundaryFrame({"v": [-4.6, 4.2, 8.4]})],
            REAL_EDGES, COUNT, by=("case",), strategies=("native", "arrow")),
    *frames("boundaries", [fl.BoundaryFrame({"n": 2}), fl.BoundaryFrame({"n": [-2, 1, 3]})],
            WHOLE_EDGES, COUNT, by=("case",), strategies=("native", "arrow")),
    *frames("boundaries beyond the type", BEYOND["n"], WHOLE_EDGES, COUNT, by=("case",),
            strategies=("native", "arrow")),
    *frames("boundaries beyond the type", BEYOND["v"], REAL_EDGES, COUNT, by=("case",),
            strategies=("native", "arrow")),
    *(one for data in (NO_ROW, UNTIMED, EDGES)
      for one in frames(data.name, NATIVE[:1], data, {}, by=(), action="frames",
                        strategies=("native",))),
)  # fmt: skip

ARRIVING = recent(TIMES, 8)
LATE, IN_PIECES = given("late rows", LATE_POINTS), Arrivals(pieces=LATE_POINTS, delay="1 minute")
SUMS = {"n": ("count",), "s": ("sum", "v")}
TIMED = where(ARRIVING, "timed", lambda row: row["ts"] is not None)


def arriving(about, specs, which, requests=STREAMED, data=ARRIVING, **more):
    how = Arrivals(which, restarts=more.pop("restarts", "none"))
    return frames(about, specs, data, requests, arrivals=how, **more)


STREAM = (
    *arriving(
        "stream",
        [THRESHOLDS[1], BOUNDARIES[4], DELTAS[6], AGGREGATES[2], OVERLAPPING[0]],
        3,
    ),
    *arriving("states", [STATES[4], STATES[8]], 3),
    *arriving("patterns", [PATTERNS[3], PATTERNS[4]], 3),
    *arriving("rows of patterns", [PATTERNS[5]], 5, {}, TIMED, action="rows"),
    *arriving("patterns, early", [PATTERNS[0]], 3, action="early"),
    *thorough(arriving("patterns", [*PATTERNS[:3], *PATTERNS[5:]], 3)),
    *thorough(arriving("patterns, restarted", PATTERNS[1:5], 2, restarts="half")),
    *arriving("several at once", SEVERAL[3:4], 3),
    *thorough(arriving("several at once", [*SEVERAL[:3], *SEVERAL[4:]], 3)),
    *thorough(arriving("restarted", SEVERAL[:1], 2, restarts="half")),
    *arriving("dwelling", [DWELLING[1], DWELLING[7]], 3),
    *arriving("double boundaries cut short", OVERLAPPING[5:], 3),
    *arriving("calculated limits", [CALCULATED[8], CALCULATED[14]], 3),
    *thorough(arriving("every calculated limit", CALCULATED, 3)),
    *arriving("restarted", [CALCULATED[15]], 2, restarts="half"),
    *thorough(arriving("dwelling", [DWELLING[0], *DWELLING[2:7], DWELLING[8]], 3)),
    *thorough(arriving("double boundaries cut short", OVERLAPPING[2:5], 3)),
    *thorough(arriving("restarted", [DWELLING[1], DWELLING[7]], 2, restarts="half")),
    *thorough(arriving("restarted", OVERLAPPING[5:], 2, restarts="half")),
    *thorough(arriving("states", [*STATES[:4], *STATES[5:8], STATES[9]], 3)),
    *arriving("frames cut short", [SIZED[3], SIZED[8]], 3),
    *thorough(arriving("frames cut short", [one for one in SIZED if one not in SIZED[3:9:5]], 3)),
    *arriving("rows of frames cut short", [SIZED[6]], 5, {}, TIMED, action="rows"),
    *thorough(
        arriving("stream", [THRESHOLDS[5], BOUNDARIES[0], DELTAS[0], AGGREGATES[10]], 3)
    ),
    *arriving("every aggregate", [DELTAS[0]], 4, EVERY),
    *arriving("any split", [AGGREGATES[7]], 0, {"list": ("collect_list", "n")}),
    *thorough(one for which in (1, 2)
              for one in arriving("any split", [AGGREGATES[7]], which,
                                  {"list": ("collect_list", "n")})),
    *frames("late rows", [fl.DeltaFrame({"v": 2})], LATE, SUMS, arrivals=IN_PIECES,
            hints=DIVIDED),
    *frames("late rows, early", [fl.DeltaFrame({"v": 2})], LATE, SUMS, arrivals=IN_PIECES,
            hints=DIVIDED, action="early", late="collect"),
    *arriving("rows", [DELTAS[6]], 5, {}, TIMED, action="rows"),
    *arriving("without keys", [DELTAS[0]], 3, COUNT, keyless(ARRIVING), by=()),
    *thorough(arriving("without keys", OVERLAPPING[:1], 3, COUNT, keyless(ARRIVING), by=())),
    *arriving("without keys", [DELTAS[6]], 5, {}, keyless(TIMED), action="rows", by=()),
    *thorough(arriving("rows", [THRESHOLDS[1], STATES[8]], 5, {}, TIMED, action="rows")),
    *arriving("restarted", [DELTAS[0]], 2, restarts="half"),
    *arriving("early", [THRESHOLDS[1], DELTAS[6], OVERLAPPING[0], SEVERAL[3]], 3, action="early"),
    *thorough(arriving("early", [AGGREGATES[2], DWELLING[1], STATES[4], SIZED[3], STATES[8]], 3,
                       action="early")),
    *arriving("early, every aggregate", [BOUNDARIES[4]], 4, EVERY, action="early"),
    *arriving("early, restarted", [DELTAS[0]], 2, restarts="half", action="early"),
    *arriving("restarted", [SIZED[9], STATES[9]], 2, restarts="half"),
)  # fmt: skip
KIND = Kind(
    "frames",
    {
        "agg": oracle.framing,
        "frames repaired": oracle.framing,
        "early": oracle.framing,
        "frames": oracle.framing,
        "rows": oracle.numbered,
    },
    strategies=("auto", "arrow", "native", "chunks"),
    example=(THRESHOLDS[0], "ts"),
    in_python=lambda _: True,
    batch=BATCH,
    stream=STREAM,
    connect=(
        *frames("connect", [*SOME, PATTERNS[1]], ROWS, NUMBERS),
        *frames("connect, others", [SOME[2]], ROWS, OTHERS),
        *frames("connect", [NATIVE[2]], ROWS, NATIVELY, strategies=("native",)),
        *arriving("stream", [DELTAS[6]], 2),
        *arriving("early", [DELTAS[6]], 2, action="early"),
    ),
    sample=(
        *frames(
            "sample", [THRESHOLDS[2], DELTAS[6], OVERLAPPING[0]], ROWS, FRAMED, strategies=("auto",)
        ),
        *frames("sample", [NATIVE[2], BOUNDARIES[4]], ROWS, FRAMED, strategies=("native", "arrow")),
    ),
    stream_sample=arriving("stream", [DELTAS[0]], 3),
)
