"""Progressively widened windows: a detector's matches, each by the first window that has it."""

from __future__ import annotations

from hypothesis import strategies as st

import fanlight as fl
from tests.helpers.dataframes import BLANK
from tests.helpers.events import KEYS, SPRING, examples
from tests.law import oracle
from tests.law.ask import Arrivals, Data, asks, thorough
from tests.law.data import TODAY, derived, given, keyless
from tests.law.kinds.kind import Kind

SECOND = 1_000_000
DELAY = "20 seconds"
DOUBLING = fl.ProgressiveWidening("1 second", max_duration="20 seconds", max_rows=3)
SPECS = (
    DOUBLING,
    fl.ProgressiveWidening("2 seconds", max_duration="1 minute", max_rows=2, factor=3),
    fl.ProgressiveWidening(
        ["1 second", "4 seconds", "40 seconds"], max_duration="40 seconds", max_rows=4
    ),
)
WHOLE = fl.ProgressiveWidening(2, max_duration=30, max_rows=3)
STEPS = (0, 0, 1, 400_000, SECOND, SECOND, 3 * SECOND, 11 * SECOND, 100 * SECOND)
ORIGINS = {"today": TODAY, "1970": -5 * SECOND, "spring": SPRING}


@st.composite
def case(draw, origin):
    """Rows of some keys in bursts; ties in time are broken by ``seq``."""
    rows, at = [], origin
    keys = draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=3, unique=True))
    for n, step in enumerate(draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=30))):
        at += step
        rows.append({**BLANK, "k": draw(st.sampled_from(keys)), "ts": at, "n": n, "seq": -n})
    return rows


def bursts(count, origin=TODAY):
    def draw():
        cases = examples(case(origin), count)
        return [{**row, "case": number} for number, rows in enumerate(cases) for row in rows]

    return Data(f"{count} cases of bursts at {origin}", draw)


def widening(about, specs, data, **more):
    return asks("widening", about, specs, data, {}, **{"action": "detect", **more})


def second(at, n, **more):
    return {**BLANK, "case": 0, "k": "a", "ts": TODAY + at * SECOND, "seq": n, "n": n, **more}


# Spark, too, asks of a row whether it is before the watermark of the batch before.
LATE = (
    ({**second(0, 5, case=1), "ts": -SECOND}, {**second(0, 10, case=1), "ts": 0}),
    ({**second(0, 15, case=1), "ts": -2 * SECOND},),
    (second(0, 5), second(1, 10), second(2, 15)),
    (second(500, 20),),
    (second(500, 25),),
    (second(0, 1000), second(501, 30), second(-50, 1000)),
    (second(502, 35), second(1, 1000), second(497, 40), {**second(0, 1000), "ts": None}),
)


def arriving(about, specs, which, data, *, restarts="none", **more):
    how = Arrivals(which, DELAY, restarts=restarts)
    return widening(about, specs, data, arrivals=how, **more)


BATCH = (
    *(one for name, origin in ORIGINS.items() for span in (False, True)
      for one in widening(f"{name}, by {'span' if span else 'value'}", SPECS, bursts(12, origin),
                          options={"span": span})),
    *widening("across cuts", SPECS[1:], bursts(12), options={"across_cuts": True}),
    *widening("without keys", SPECS[:1], keyless(bursts(12)), by=()),
    *widening("whole numbers", [WHOLE],
              derived(bursts(6), "whole", lambda rows: [{**r, "i": r["n"] * 3} for r in rows]),
              time="i"),
)  # fmt: skip
STREAM = (
    *arriving("stream", SPECS[:1], 0, bursts(8)),
    *thorough(arriving("stream", SPECS[:1], 4, bursts(8))),
    *thorough(arriving("stream", SPECS[1:2], 3, bursts(8))),
    *arriving("stream", SPECS[2:], 2, bursts(8)),
    *arriving("stream by span", SPECS[:1], 5, bursts(8), options={"span": True}),
    *arriving("without keys", SPECS[:1], 3, keyless(bursts(8)), by=()),
    *arriving("restarted", SPECS[:1], 8, bursts(8), restarts="each"),
    *widening("late rows", SPECS[:1], given("late rows in seconds", LATE),
              arrivals=Arrivals(pieces=LATE, delay=DELAY), late="collect"),
)  # fmt: skip
KIND = Kind(
    "widening",
    {"detect": oracle.widening},
    strategies=("auto",),
    example=(DOUBLING, "ts"),
    in_python=lambda _: True,
    batch=BATCH,
    stream=STREAM,
    connect=(
        *widening("connect", SPECS[:2], bursts(12)),
        *widening("connect", SPECS[:1], bursts(12, SPRING), options={"span": True}),
        *arriving("stream", SPECS[:1], 1, bursts(6)),
    ),
    sample=widening("sample", SPECS[:1], bursts(12)),
    stream_sample=arriving("stream", SPECS[:1], 4, bursts(8)),
)
