"""Levels, and lists of windows, over points: aggregates, trend lines, recurring items."""

from __future__ import annotations

import math

import fanlight as fl
from tests.helpers.aggregates import DISTINCT, EACH, FEW, READ
from tests.helpers.events import MINUTE
from tests.helpers.granular_cases import (
    AGED,
    BEGUN,
    CHANGES,
    CONTINUOUS,
    ENDING,
    ENDING_REAL,
    ENDING_ROWS,
    ENDING_WHOLE,
    LEVELS,
    LINEAR,
    QUERIES,
    REAL,
    ROW_QUERIES,
    ROWS,
    STEADY,
    WHOLE,
)
from tests.law import oracle
from tests.law.ask import Arrivals, asks, thorough
from tests.law.carried import carried
from tests.law.data import (
    EXACT_SHARES,
    LATE_POINTS,
    NO_ROW,
    SHARES,
    SIZES,
    SPREAD,
    TODAY,
    derived,
    finite,
    given,
    keyless,
    minute,
    points,
    recent,
    where,
    written,
)
from tests.law.kinds.kind import Kind

DRAWN = fl.Sliding("9 minutes", "3 minutes")
EVENTS = points(DRAWN, 10)
RECENT = points(DRAWN, 10, (TODAY,))
WHOLES = points(fl.Sliding(12, 4, offset=-3), 10)
REALS = points(fl.Sliding(1.2, 0.4), 10)
FINITE = finite(EVENTS)
AGED_CHANGES = fl.MultiGranular(
    ["4 minutes", "9 minutes"], ["1 minute", "3 minutes"], weights=[1, 0.5], changes_only=True
)
UNCHANGED = fl.MultiGranular(["4 minutes", "9 minutes"], ["1 minute", "3 minutes"])
# What is complete first need not be first in time: a short window within a long one.
LATE_LIST = [fl.Sliding("7 minutes", "5 minutes"), fl.Sliding("1 minute", "4 minutes")]
TUMBLING = fl.MultiGranular(["1 minute", "9 minutes"], ["1 minute", "9 minutes"])
WEIGHTLESS = [
    fl.MultiGranular(["4 minutes", "9 minutes"], ["1 minute", "3 minutes"], weights=weights)
    for weights in ([0, 1], [0, 0])
]
SUMS = {"n": ("count",), "s": ("sum", "n")}
EDGES = written(
    "edges of levels",
    [{"ts": 5}, {"ts": -1}, {"v": 1.0}, *({"case": 3, "ts": ts, "v": 1.0} for ts in (0, 10**14))],
)
ONE_ROW = written("one row of levels", [{"k": "a", "ts": 0, "v": 1.0}])
# A silence between windows, one within, equal values, a single one.
STANDING = written(
    "values that stand",
    [
        {"case": 0, "k": k, "ts": TODAY + n * MINUTE, "v": 0.1 if k == "b" else 0.1 * n}
        for k, minutes in {"a": (0, 1, 40, 47, 60), "b": (7, 8, 9), "c": (3,)}.items()
        for n in minutes
    ],
)
FIT = {"column": "v", "filled": True, "instant": "30 seconds", "microseconds": 30_000_000}
MINUTELY = {"column": "v", "filled": True, "instant": "1 minute", "microseconds": MINUTE}
UNTIED = {"tiebreak": (), "requests": {}}


def dense(data):
    """All rows of one case within 25 minutes, so that items recur."""

    def change(rows):
        times = [None if row["ts"] is None else TODAY + row["ts"] % (25 * MINUTE) for row in rows]
        return [{**row, "case": 0, "ts": ts} for row, ts in zip(rows, times, strict=True)]

    return derived(data, "within 25 minutes", change)


def levels(about, specs, data, requests=FEW, **more):
    return asks("levels", about, specs, data, requests, **more)


def lines(about, specs, data, options, **more):
    return levels(about, specs, data, {}, action="fit", options=options, **more)


def items(about, specs, data, by, *, counts, **more):
    options = {"column": "s", "counts": counts}
    return levels(about, specs, data, {}, action="recurring", options=options, by=by, **more)


BATCH = (
    *carried("levels", "held", [*LEVELS[:2], CONTINUOUS, *QUERIES], EVENTS),
    *carried("levels", "held, initiation time", [LEVELS[2], BEGUN], RECENT),
    *carried("levels", "held, each", [LEVELS[0]], EVENTS, strategies=("separate",)),
    *levels("strategies", LEVELS[:2], EVENTS, strategies=("granules", "separate")),
    *levels("distinct values", [*LEVELS[:2], CONTINUOUS, *QUERIES], EVENTS, DISTINCT,
                   strategies=("lifetimes",)),
    *levels("distinct values, initiation time", [LEVELS[2], BEGUN], RECENT, DISTINCT,
            strategies=("lifetimes",)),
    *levels("distinct values of numbers", [WHOLE], WHOLES, DISTINCT, time="i",
            strategies=("lifetimes",)),
    *levels("distinct values of numbers", [REAL], REALS, DISTINCT, time="x",
            strategies=("lifetimes",)),
    *levels("values in order", [*LEVELS[:2], CONTINUOUS, *QUERIES], EVENTS, READ,
            strategies=("ranks",)),
    *levels("values in order, initiation time", [BEGUN], RECENT, READ, strategies=("ranks",)),
    *levels("values in order of numbers", [REAL], REALS, READ, time="x", strategies=("ranks",)),
    *levels("stored", [*LEVELS[:2], CONTINUOUS, *QUERIES], EVENTS, action="pieces"),
    *levels("stored, initiation time", [LEVELS[2], BEGUN], RECENT, action="pieces"),
    *levels("stored, aging", [AGED], FINITE, LINEAR, action="pieces"),
    *levels("stored, changes", [CHANGES], EVENTS, action="pieces"),
    *levels("stored, numbers", [WHOLE], WHOLES, time="i", action="pieces"),
    *levels("stored, numbers", [REAL], REALS, time="x", action="pieces"),
    *levels("repaired", [*LEVELS[:2], CONTINUOUS, *QUERIES], EVENTS, action="repair"),
    *levels("repaired, initiation time", [LEVELS[2], BEGUN], RECENT, action="repair"),
    *levels("repaired, aging", [AGED, *WEIGHTLESS], FINITE, LINEAR, action="repair"),
    *levels("repaired, numbers", [WHOLE], WHOLES, time="i", action="repair"),
    *levels("repaired, numbers", [REAL], REALS, time="x", action="repair"),
    *levels("initiation time", [LEVELS[2], BEGUN], RECENT),
    *levels("otherwise", [CONTINUOUS, *ROWS], EVENTS),
    *levels("numbers", [WHOLE, ENDING_WHOLE], WHOLES, time="i"),
    *levels("numbers", [REAL, ENDING_REAL], REALS, time="x"),
    *levels("ends", [ENDING], RECENT),
    *levels("ends", [ENDING_ROWS], EVENTS),
    *levels("ends, each by itself", [CONTINUOUS], EVENTS, strategies=("separate",)),
    *levels("list", [*QUERIES, ROW_QUERIES], EVENTS),
    *levels("list", [QUERIES[0]], EVENTS, strategies=("separate",)),
    *levels("every aggregate", [LEVELS[0], ROWS[0]], EVENTS, EACH),
    *levels(
        "aging", [AGED],
        where(EVENTS, "finite", lambda row: row["v"] is None or math.isfinite(row["v"])), LINEAR,
    ),
    *levels("aging, weights of nothing", WEIGHTLESS, FINITE, LINEAR),
    *levels("shares", [TUMBLING], SHARES, EXACT_SHARES, strategies=("granules", "separate")),
    *levels("changes only", [CHANGES], EVENTS, STEADY),
    *levels("changes only", [AGED_CHANGES], EVENTS, SUMS),
    *levels("one row, changes only", [CHANGES, UNCHANGED], ONE_ROW, STEADY),
    *levels("tumbling", [TUMBLING], RECENT, {"n": ("count",)}),
    *(one for data in (NO_ROW, ONE_ROW, EDGES)
      for one in levels(data.name, [LEVELS[0], QUERIES[1]], data)),
    *levels("without keys", [LEVELS[0]], keyless(EVENTS), by=()),
    *levels("sizes", [LEVELS[0]], SIZES, {"s": ("sum", "v"), "a": ("avg", "v")}),
    *lines("fit", [LEVELS[0], BEGUN, CONTINUOUS], FINITE, FIT),
    *lines("fit of ends", [ENDING], finite(RECENT), FIT),
    *lines("fit by row", [LEVELS[0], BEGUN, CONTINUOUS], FINITE, {"column": "v"}),
    *lines("fit without keys", [LEVELS[0]],
           where(FINITE, "two cases", lambda row: row["case"] in (3, 5)), MINUTELY, by=()),
    *lines("fit of values that stand", [LEVELS[0]], STANDING,
           {"column": "v", "filled": True, "instant": "20 seconds",
            "microseconds": MINUTE // 3}),
    *items("recurring", [LEVELS[0], LEVELS[1], BEGUN, CONTINUOUS], dense(EVENTS), ("k",),
           counts=False),
    *items("recurring, counted", [LEVELS[0], LEVELS[1], BEGUN, CONTINUOUS], dense(EVENTS), ("k",),
           counts=True),
)  # fmt: skip

DELAY = "5 minutes"
STREAMED = recent(DRAWN)
SILENCE = ((minute(0),), (), ({**minute(40), "k": "b"},), ())


def arriving(about, specs, which, requests=FEW, data=STREAMED, **more):
    how = Arrivals(which, DELAY, restarts=more.pop("restarts", "none"))
    return levels(about, specs, data, requests, arrivals=how, **more)


def late(about, specs, requests=SUMS, **more):
    how = Arrivals(pieces=LATE_POINTS, delay="1 minute")
    return levels(about, specs, given("late rows", LATE_POINTS), requests, arrivals=how, **more)


def in_the_chain(ask):
    """Natively there is no order of rows, and nothing from before a window."""
    fitted = ask.action == "fit" and ask.options.get("filled", False)
    early = ask.action == "early"
    return (
        ask.strategy == "chain" or fitted or early or ask.spec in (*ROWS, ENDING_ROWS, ROW_QUERIES)
    )


LISTED = {"n": ("count",), "most": ("max", "v"), "list": ("collect_list", "n")}
STREAM = (
    *carried("levels", "held", [LEVELS[1], BEGUN, QUERIES[0]], RECENT,
             arrivals=Arrivals(3, "12 minutes")),
    *arriving("stream", [LEVELS[1], BEGUN, QUERIES[0]], 3),
    *arriving("stream, continuous", [CONTINUOUS], 3),
    *arriving("stream", [LEVELS[0], ROWS[0], ROW_QUERIES], 2, strategies=("chain",)),
    *thorough(arriving("stream", [QUERIES[0], *ROWS[1:]], 2, strategies=("chain",))),
    *arriving("ends", [ENDING], 2, strategies=("chain",)),
    *thorough(arriving("ends", [ENDING_ROWS], 2, strategies=("chain",))),
    *arriving("stream", [LEVELS[0]], 4, {"n": ("count",)}, strategies=("separate",)),
    *arriving("early", [LEVELS[0], BEGUN, CONTINUOUS, QUERIES[0]], 3, action="early"),
    *late("early, late rows", [LATE_LIST], action="early"),
    *arriving("early, restarted", [LEVELS[0]], 2, LISTED, recent(DRAWN, 4), action="early",
              restarts="half"),
    *late("late rows", [LATE_LIST], strategies=("granules", "separate")),
    *late("late rows", [LATE_LIST], strategies=("chain",), late="collect"),
    *thorough(late("late rows, collected", [LATE_LIST], strategies=("granules", "separate"),
                   late="collect")),
    *late("late rows, open", [LATE_LIST], late="open"),
    *thorough(late("late rows", [CONTINUOUS], strategies=("granules", "chain", "separate"))),
    *late("late rows", [CHANGES]),
    *late("late rows", ROWS[1:]),
    *late("late rows, fit", LEVELS[1:2], {}, action="fit", options=FIT),
    *thorough(late("late rows, recurring", LEVELS[1:2], {}, action="recurring",
                   options={"column": "s", "counts": True})),
    *arriving("every aggregate", [LEVELS[1]], 1, EACH, strategies=("granules", "chain")),
    *arriving("aging", [AGED], 3, LINEAR, finite(STREAMED)),
    *arriving("changes only", [CHANGES], 3, STEADY),
    *thorough(arriving("changes only", [AGED_CHANGES], 3, SUMS)),
    *arriving("fit", [BEGUN], 2, {}, finite(STREAMED), action="fit", options=FIT),
    *thorough(arriving("fit", [LEVELS[0]], 2, {}, finite(STREAMED), action="fit", options=FIT)),
    *thorough(arriving("fit of ends", [CONTINUOUS], 2, {}, finite(STREAMED), action="fit",
                       options=FIT)),
    *arriving("recurring", [CONTINUOUS], 2, {}, dense(STREAMED), action="recurring",
              options={"column": "s", "counts": True}),
    *thorough(arriving("recurring", [LEVELS[0]], 2, {}, dense(STREAMED), action="recurring",
                       options={"column": "s", "counts": True})),
    *levels("silence", [LEVELS[0]], written("silence", [r for part in SILENCE for r in part]),
            {"n": ("count",)}, strategies=("chain",),
            arrivals=Arrivals(pieces=SILENCE, delay="1 minute")),
    *arriving("without keys", [LEVELS[0]], 2, LISTED, keyless(STREAMED), by=(),
              strategies=("granules", "chain")),
    *thorough(arriving("without keys", [ROWS[0]], 2, LISTED, keyless(STREAMED), by=(),
                       strategies=("chain",))),
    *arriving("without keys", [LEVELS[0]], 2, {}, keyless(finite(STREAMED)), by=(), action="fit",
              options=FIT, tiebreak=()),
    *arriving("without keys", [LEVELS[0]], 2, {}, dense(STREAMED), by=(), action="recurring",
              options={"column": "s", "counts": True}),
    *arriving("restarted", [LEVELS[0]], 2, LISTED, recent(DRAWN, 4),
              strategies=("granules", "chain"), restarts="half"),
    *thorough(arriving("restarted", [ROWS[0]], 2, LISTED, recent(DRAWN, 4), strategies=("chain",),
                       restarts="half")),
    *arriving("fit, restarted", [LEVELS[0]], 2, {}, finite(recent(DRAWN, 4)), action="fit",
              options=FIT, restarts="half"),
)  # fmt: skip
CONNECT = (
    *levels("connect", [LEVELS[0], CONTINUOUS, QUERIES[0], ROWS[0]], EVENTS),
    *levels("aging", [AGED], FINITE, LINEAR),
    *levels("changes only", [CHANGES], EVENTS, STEADY),
    *levels("without keys", [LEVELS[0]], keyless(EVENTS), by=()),
    *lines("fit", [LEVELS[1]], FINITE, MINUTELY),
    *items("recurring", [LEVELS[0], BEGUN], dense(EVENTS), ("k",), counts=True),
    *arriving("stream", [LEVELS[0]], 0, strategies=("granules", "chain")),
    *arriving("early", [LEVELS[0]], 0, action="early"),
)
KIND = Kind(
    "levels",
    {
        "agg": oracle.several,
        "carried": oracle.carried,
        "early": oracle.several,
        "pieces": oracle.several,
        "repair": oracle.several,
        "fit": oracle.fit,
        "recurring": oracle.recurring,
    },
    strategies=("auto", "granules", "chain", "separate", "lifetimes", "ranks"),
    example=(LEVELS[0], "ts"),
    in_python=in_the_chain,
    batch=BATCH,
    stream=STREAM,
    connect=CONNECT,
    sample=(
        *levels("sample", [LEVELS[0], QUERIES[0], ROWS[0]], EVENTS, SPREAD),
        *lines("fit", [LEVELS[0]], FINITE, FIT),
        *items("recurring", [LEVELS[0]], dense(EVENTS), ("k",), counts=True),
    ),
    stream_sample=arriving("stream", [LEVELS[0]], 2, LISTED, strategies=("granules",)),
)
