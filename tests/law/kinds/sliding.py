"""Windows of one length over time, numbers or rows, and at every row."""

from __future__ import annotations

import math
from functools import partial

import fanlight as fl
from tests.helpers import events
from tests.helpers.aggregates import (
    BY_SPARK,
    DISTINCT,
    EACH,
    EXACT,
    FEW,
    NATIVE,
    READ,
    TIMELESS,
)
from tests.helpers.events import MINUTE, NAN
from tests.law import oracle
from tests.law.ask import Arrivals, asks, thorough
from tests.law.carried import ALONE, carried
from tests.law.data import (
    DIVIDED,
    EXACT_SHARES,
    LATE_POINTS,
    NO_ROW,
    SHARES,
    SIZES,
    SPREAD,
    given,
    keyless,
    minute,
    points,
    recent,
    written,
)
from tests.law.kinds.kind import Kind
from tests.law.limits import MIDDLES

GRIDS = (*events.TIME_SPECS, *events.WHOLE_SPECS, *events.REAL_SPECS)
UNEVEN = (events.TIME_SPECS[1], events.WHOLE_SPECS[1])  # each strategy cuts them otherwise
EVEN = tuple(spec for spec in GRIDS if spec not in UNEVEN)
EVERY = (*GRIDS, *events.ROW_SPECS, *events.TUPLE_SPECS)
MIXED = (*events.BY_ROWS[:2], *events.LAST_ROWS[:2])
OVERLAPPING = [spec for spec in (*GRIDS, *events.ROW_SPECS) if spec.overlap > 1]
TAKEN = (*OVERLAPPING, *events.TUPLE_SPECS)
STORED = {name: asked for name, asked in EACH.items() if name != "minus"}  # pieces have no ratios
STRATEGIES = ("panes", "pairs", "expand", "auto")
SHARED = ("panes",)  # of little data auto makes no panes
MANY = (fl.Sliding("20 minutes", "1 minute"), fl.Sliding("61 minutes", "3 minutes"),
        fl.Sliding(50, 2, offset=3))  # fmt: skip
NUMBERS = {"s": ("sum", "v"), "a": ("avg", "v"), "m": ("var_samp", "v"), "n": ("count", "v")}
ONE_EACH = (GRIDS[0], events.WHOLE_SPECS[1], events.REAL_SPECS[1], events.ROW_SPECS[2],
            events.TUPLE_SPECS[0])  # fmt: skip


def axis(spec):
    if spec in (*events.WHOLE_SPECS, events.BY_ROWS[2], events.LAST_ROWS[2], MANY[2]):
        return "i"
    return "x" if spec in events.REAL_SPECS else "ts"


held = partial(carried, "sliding")


def sliding(about, specs, data, requests, **more):
    return asks("sliding", about, specs, data, requests, **{"time": axis, **more})


EDGES = written(
    "edges",
    [
        {"k": None, "ts": -1, "i": -1, "x": -0.1, "v": -2.0},  # one row before 1970
        *({"case": 1, "k": k, "v": v} for k, v in (("a", 1.0), ("b", 2.0))),  # none has a time
        *(
            {"case": 2, "k": "a", "ts": at * MINUTE, "i": at, "x": at / 10, "v": float(at),
             "seq": at % 3}
            for at in (5, 3, 3, 8, -2, 0, 13, 4, 9, 2, 2, 2)  # one key has all rows
        ),
        {"case": 3, "k": "a", "ts": 5, "i": 5, "x": 0.3, "v": 1.5, "s": "x", "seq": 0},  # one row
    ],
)  # fmt: skip
NO_TIME = written(
    "no row has a time", [{"case": 0, "k": k, "v": v} for k, v in (("a", 1.0), ("b", 2.0))]
)
BIG_AMONG_SMALL = written(
    "sizes, row by row",
    [
        {"case": 0, "k": "a", "ts": at, "v": 1e15 if at % 10 == 0 else 1e-3, "seq": 0}
        for at in range(50)
    ],
)
HUNDRED = fl.Sliding("100 microseconds", fl.Rows(1))
NO_INSTANTS = written(
    "times that are no instants",
    [{"case": 0, "k": "a", "ts": 5, "x": x, "v": 1.5, "seq": 0}
     for x in (NAN, None, math.inf, -math.inf, 0.05)],
)  # fmt: skip

OWN = [one for one in events.TIME_SPECS if one.range.value >= one.slide.value]
INFINITE = written(
    "values infinitely far apart",
    [
        {"case": case, "k": "a", "ts": at * MINUTE, "v": v}
        for case, values in enumerate(
            [(-math.inf, 0.0), (-math.inf, math.inf), (0.0, math.inf), (1e308, -1e308), (1.0, NAN)]
        )
        for at, v in enumerate(values)
    ],
)
INFINITE_IN = [fl.Sliding("4 minutes", "2 minutes"), fl.Sliding("2 minutes")]
SIDE_BY_SIDE = [one for one in GRIDS if one.range.value <= one.slide.value]
BATCH = (
    *sliding("every strategy", UNEVEN, points, FEW, strategies=STRATEGIES),
    *sliding("every strategy", EVEN + events.ROW_SPECS, points, FEW, strategies=STRATEGIES),
    *sliding("every strategy", events.TUPLE_SPECS, points, FEW, strategies=("expand", "auto")),
    *sliding("slid by rows", events.BY_ROWS, points, FEW, strategies=("expand", "auto")),
    *sliding("slid by rows, taken back", events.BY_ROWS[:2], points, EXACT,
             strategies=("differential",)),
    *sliding("last rows", events.LAST_ROWS, points, FEW, strategies=("expand", "auto")),
    *sliding("rows and time, every aggregate", MIXED[::2], points, EACH),
    *sliding("rows and time, without keys", MIXED[1:3], keyless(points(GRIDS[0])), FEW, by=()),
    *sliding("taken back", TAKEN, points, EXACT, strategies=("differential",)),
    *sliding(
        "every aggregate", [GRIDS[1]], points(GRIDS[1]), EACH, strategies=STRATEGIES
    ),
    *sliding(
        "every aggregate", [GRIDS[0], GRIDS[4], GRIDS[5], GRIDS[7], events.WHOLE_SPECS[1]],
        points, EACH, strategies=SHARED,
    ),
    *sliding("every aggregate", [events.REAL_SPECS[2]], points, TIMELESS, strategies=SHARED),
    *sliding("every aggregate", events.ROW_SPECS + events.TUPLE_SPECS, points, EACH),
    *sliding("many slices", MANY, points, FEW, strategies=("panes", "pairs")),
    *sliding("many slices, every aggregate", MANY[1:2], points, EACH, strategies=SHARED),
    *sliding("distinct values", GRIDS, points, DISTINCT, strategies=("lifetimes",)),
    *sliding(
        "distinct values beside others", GRIDS[1:2], points, EACH, strategies=("lifetimes",)
    ),
    *sliding("values in order", GRIDS, points, READ, strategies=("ranks",)),
    *sliding("values in order beside others", GRIDS[1:2], points, EACH,
             strategies=("ranks",)),
    *sliding("stored", GRIDS, points, FEW, action="pieces"),
    *sliding("stored, every aggregate", [GRIDS[1], events.WHOLE_SPECS[1]], points, STORED,
             action="pieces"),
    *sliding("stored, every aggregate", [events.REAL_SPECS[2]], points, TIMELESS, action="pieces"),
    *sliding("stored, taken back", GRIDS[1:2], points, EXACT, action="pieces"),
    *sliding("stored without keys", GRIDS[:1], keyless(points(GRIDS[0])), FEW, by=(),
             action="pieces"),
    *sliding("stored sizes", [fl.Sliding("5 minutes", "1 minute")], SIZES, NUMBERS,
             action="pieces"),
    *(one for data in (NO_ROW, EDGES)
      for one in sliding(f"{data.name}, stored", ONE_EACH[:3], data, FEW, action="pieces")),
    *sliding("repaired", GRIDS, points, FEW, action="repair"),
    *sliding("repaired, every aggregate", [GRIDS[1], events.WHOLE_SPECS[1]], points, STORED,
             action="repair"),
    *sliding("repaired, every aggregate", [events.REAL_SPECS[2]], points, TIMELESS,
             action="repair"),
    *sliding("repaired without keys", GRIDS[:1], keyless(points(GRIDS[0])), FEW, by=(),
             action="repair"),
    *(one for data in (NO_ROW, EDGES)
      for one in sliding(f"{data.name}, repaired", ONE_EACH[:3], data, FEW, action="repair")),
    *sliding("values by Spark", SIDE_BY_SIDE, points, BY_SPARK),
    *sliding("values by Spark beside others", SIDE_BY_SIDE[:2], points, {**FEW, **BY_SPARK}),
    *sliding("Spark's own windows", OWN, points, NATIVE, strategies=("expand",)),
    *sliding("infinite distances", INFINITE_IN, INFINITE, MIDDLES, strategies=STRATEGIES),
    *sliding("infinite distances", INFINITE_IN[:1], INFINITE, MIDDLES,
                    strategies=("ranks",)),
    *sliding("values in order without keys", GRIDS[:1], keyless(points(GRIDS[0])), READ,
             strategies=("ranks",), by=()),
    *sliding("distinct values without keys", GRIDS[:1], keyless(points(GRIDS[0])), DISTINCT,
             strategies=("lifetimes",), by=()),
    *sliding("values and numbers together", GRIDS[1:2], points, SPREAD,
             strategies=("panes", "expand")),
    *sliding("by case", GRIDS[:1], points, FEW, by=("case",), strategies=SHARED),
    *sliding("by key", GRIDS[:1], points, FEW, by=("k",), strategies=SHARED),
    *(
        one
        for spec in (GRIDS[0], events.ROW_SPECS[0])
        for one in sliding("without keys", [spec], keyless(points(spec)), FEW, by=(),
                           strategies=SHARED)
    ),
    *(one for data in (NO_ROW, EDGES)
      for one in (*sliding(data.name, ONE_EACH[:-1], data, FEW, strategies=("panes", "auto")),
                  *sliding(data.name, ONE_EACH[-1:], data, FEW))),
    *sliding(NO_TIME.name, ONE_EACH[::2], NO_TIME, FEW),
    *sliding(
        "sizes", [fl.Sliding("5 minutes", "1 minute")], SIZES, NUMBERS, strategies=STRATEGIES
    ),
    *sliding(
        "sizes", [fl.Sliding(fl.Rows(4), fl.Rows(1)), fl.Sliding("4 microseconds", fl.Rows(1))],
        BIG_AMONG_SMALL, {"s": ("sum", "v"), "a": ("avg", "v")},
    ),
    *sliding(
        "shares", [fl.Sliding("4 minutes", "2 minutes")], SHARES, EXACT_SHARES,
        strategies=STRATEGIES,
    ),
    *sliding("shares", [fl.Sliding(fl.Rows(100)), HUNDRED], SHARES, EXACT_SHARES),
    *sliding("times apart", [fl.Sliding(0.1)], NO_INSTANTS, FEW, time="x"),
    *held("held", events.TIME_SPECS, points),
    *held("held by numbers", events.WHOLE_SPECS, points, time="i"),
    *held("held alone", GRIDS[:1], points, requests=ALONE),
    *held("held without keys", GRIDS[:1], keyless(points(GRIDS[0])), by=()),
    *(one for data in (NO_ROW, EDGES) for one in held(f"{data.name}, held", GRIDS[:1], data)),
)  # fmt: skip

DELAYS = {  # how late rows come, by spec: about as long as a window
    events.TIME_SPECS[0]: "5 minutes",
    events.TIME_SPECS[1]: "7 minutes",
    events.TIME_SPECS[3]: "2 minutes",
    events.TIME_SPECS[4]: "8 seconds",
    events.TIME_SPECS[7]: "1 minute",
    events.ROW_SPECS[0]: "3 minutes",
    events.ROW_SPECS[2]: "10 minutes",
    events.ROW_SPECS[3]: "1 minute",
    events.ROW_SPECS[4]: "3 minutes",
    events.TUPLE_SPECS[0]: "5 minutes",
    MIXED[0]: "5 minutes",
    MIXED[1]: "1 minute",
    MIXED[2]: "3 minutes",
    MIXED[3]: "8 seconds",
}
LIKE_OTHERS = (
    *(events.TIME_SPECS[at] for at in (1, 4, 7)), events.ROW_SPECS[2], events.ROW_SPECS[4],
    MIXED[0], MIXED[3],
)  # fmt: skip
LIST = {"n": ("count",), "list": ("collect_list", "n")}
SUMS = {"n": ("count",), "s": ("sum", "n")}
UNEVEN = fl.Sliding("7 minutes", "5 minutes")  # panes are shorter than pairs
FEW_ROWS = (fl.Sliding("4 minutes", "1 minute"), fl.Sliding(fl.Rows(2)))
BEYOND = 256_524_364_799_999_999  # Python knows no such year
UNTIMED = ({**minute(0, n=1), "ts": None}, {**minute(0, n=2), "ts": None})


def arriving(about, specs, requests, which, **more):
    return tuple(
        one
        for spec in specs
        for one in sliding(
            about, [spec], recent(spec), requests, arrivals=Arrivals(which, DELAYS[spec]), **more
        )
    )


def late(about, specs, **more):
    how = Arrivals(pieces=LATE_POINTS, delay="1 minute")
    return sliding(about, specs, given("late rows", LATE_POINTS), SUMS, arrivals=how, **more)


STREAM = (
    *(one for spec in (GRIDS[1], GRIDS[3]) for one in held(
        "held", [spec], recent(spec), arrivals=Arrivals(3, DELAYS[spec]))),
    *held("held alone", [GRIDS[1]], recent(GRIDS[1]), requests=ALONE,
          arrivals=Arrivals(5, DELAYS[GRIDS[1]])),
    *arriving("stream", [spec for spec in DELAYS if spec not in LIKE_OTHERS], FEW, 3),
    *thorough(arriving("stream", LIKE_OTHERS, FEW, 3)),
    *arriving("stream", [GRIDS[1]], FEW, 4, strategies=("panes", "pairs")),
    *arriving("early", [GRIDS[1], GRIDS[3]], FEW, 3, action="early"),
    *arriving("early, every aggregate", [GRIDS[1]], EACH, 5, action="early"),
    *arriving("early, any split", [GRIDS[1]], LIST, 0, action="early"),
    *late("early, late rows", [UNEVEN], action="early", late="collect"),
    *sliding("early without keys", [GRIDS[1]], keyless(recent(GRIDS[1])), LIST, by=(),
             arrivals=Arrivals(3, DELAYS[GRIDS[1]]), action="early"),
    *arriving("stream", [GRIDS[1]], FEW, 4, strategies=("expand",), late="open"),
    *arriving(
        "every aggregate",
        [GRIDS[1], events.ROW_SPECS[2], events.TUPLE_SPECS[0], MIXED[2]],
        EACH, 5,
    ),
    *arriving("any split", [GRIDS[1]], LIST, 0),
    *arriving("any split", [events.ROW_SPECS[2], *MIXED[1:3]], LIST, 2),
    *thorough(arriving("any split", [GRIDS[1]], LIST, 2)),
    *thorough(arriving("any split", [events.ROW_SPECS[2]], LIST, 0)),
    *late("late rows", [UNEVEN], strategies=("panes", "pairs")),
    *late("late rows, collected", [UNEVEN], late="collect"),
    *late("late rows", [fl.Sliding(fl.Rows(2), fl.Rows(1)), fl.Sliding(fl.Rows(2), "2 minutes")],
          hints=DIVIDED, late="collect"),
    *late("late rows, open", [UNEVEN], late="open"),
    *(one for spec in (GRIDS[1], events.ROW_SPECS[2], events.TUPLE_SPECS[0])
      for one in sliding("without keys", [spec], keyless(recent(spec)), LIST, by=(),
                         arrivals=Arrivals(3, DELAYS[spec]))),
    *sliding("shares", [fl.Sliding(fl.Rows(100)), GRIDS[0]], SHARES, EXACT_SHARES,
             arrivals=Arrivals()),
    *sliding("a row after the year 9999", [events.ROW_SPECS[2]], recent(events.ROW_SPECS[2]), LIST,
             arrivals=Arrivals(3, closed=BEYOND)),
    *sliding("no row", FEW_ROWS, NO_ROW, FEW, arrivals=Arrivals(pieces=((),), delay="1 minute")),
    *sliding(
        "no time", (FEW_ROWS[0], fl.Sliding(fl.Rows(1))), given("untimed", [UNTIMED]), FEW,
        arrivals=Arrivals(pieces=(UNTIMED,), delay="1 minute"),
    ),
)  # fmt: skip
CONNECT = (
    *held("held", GRIDS[:1], points),
    *sliding(
        "connect",
        [GRIDS[1], GRIDS[3], events.REAL_SPECS[0], events.ROW_SPECS[2], events.TUPLE_SPECS[0],
         *MIXED[1:3]],
        points, FEW,
    ),
    *sliding("taken back", [GRIDS[0]], points, EXACT, strategies=("differential",)),
    *sliding("by key", GRIDS[:1], points, FEW, by=("k",)),
    *sliding("without keys", GRIDS[:1], keyless(points(GRIDS[0])), FEW, by=()),
    *sliding("distinct values", GRIDS[1:2], points, DISTINCT, strategies=("lifetimes",)),
    *sliding("every aggregate", GRIDS[1:2], points, EACH),
    *sliding("stored, every aggregate", GRIDS[1:2], points, STORED, action="pieces"),
    *sliding("repaired", GRIDS[1:2], points, FEW, action="repair"),
    *arriving("stream", [GRIDS[0], events.ROW_SPECS[0]], FEW, 1),
)  # fmt: skip
SAMPLE = (
    *sliding("sample", GRIDS[:1], points, EACH, strategies=SHARED),
    *sliding("stored", GRIDS[:1], points, STORED, action="pieces"),
    *sliding("repaired", GRIDS[:1], points, SPREAD, action="repair"),
    *sliding("sample", (events.ROW_SPECS[2], events.TUPLE_SPECS[0]), points, SPREAD),
    *sliding("sample", [GRIDS[0]], points, EXACT, strategies=("differential",)),
)
KIND = Kind(
    "sliding",
    {
        "agg": oracle.sliding,
        "carried": oracle.carried,
        "early": oracle.sliding,
        "pieces": oracle.sliding,
        "repair": oracle.sliding,
    },
    strategies=("auto", "panes", "pairs", "expand", "differential", "lifetimes", "ranks"),
    example=(GRIDS[0], "ts"),
    in_python=lambda ask: (
        ask.spec.mixed or ask.spec.slide.measure == "rows" or ask.action == "early"
    ),
    batch=BATCH,
    stream=STREAM,
    connect=CONNECT,
    sample=SAMPLE,
    stream_sample=arriving("stream", [GRIDS[1]], LIST, 3),
)
