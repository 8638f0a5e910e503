"""Trailing windows: each row with what there was up to it."""

from __future__ import annotations

import fanlight as fl
from tests.helpers.aggregates import EACH, EVERYTHING
from tests.law import oracle
from tests.law.ask import Arrivals, asks, thorough
from tests.law.data import NO_ROW, keyless, points, recent
from tests.law.kinds.kind import Kind

TIMES = fl.Sliding("4 minutes", "1 minute")
ROWS = points(TIMES)
RECENT = recent(TIMES, 6)
EVERY = EACH
# A line needs a beginning.
LASTING = {name: asked for name, asked in EVERY.items() if asked[0] != "linear_fit"}
NUMBERS = {n: EVERYTHING[n] for n in ("rows", "n_v", "sum_v", "sum_n", "max_v", "avg_n", "min_s")}
NATIVELY = {n: EVERYTHING[n] for n in (*NUMBERS, "sum_d", "first")}
ORDERED = {n: EVERYTHING[n] for n in ("first", "list_v", "listagg", "min_by", "sum_d", "var_pop")}
LATEST = {n: EVERYTHING[n] for n in ("last_v", "last_n")}
SPANS = (
    fl.Trailing("1 minute"),
    fl.Trailing("4 minutes", delay="30 seconds"),
    fl.Trailing("2 minutes", closed="left"),
    fl.Trailing("90 seconds", closed="both", delay="1 minute"),
    fl.Trailing("1 minute", closed="neither", include_self=False),
    fl.Trailing("3 minutes", include_self=False),
)
WHOLE = (
    fl.Trailing(),
    fl.Trailing(include_self=False),
    fl.Trailing(delay="1 minute"),
    fl.Trailing(closed="neither"),
)
COUNTED = (
    fl.Trailing(fl.Rows(3)),
    fl.Trailing(fl.Rows(2), include_self=False),
    fl.Trailing(fl.Rows(2), delay="1 minute", closed="neither"),
)
ONE = (fl.Trailing(fl.Rows(1)), fl.Trailing(fl.Rows(1), delay="1 minute", closed="neither"))
SPECS = (*SPANS, *WHOLE, *COUNTED)
SEVERAL = {"1m": SPANS[0], "ever": WHOLE[1], "3": COUNTED[1], "4m": SPANS[1]}


def trailing(about, specs, data, requests, **more):
    more = {"action": "attach", "strategies": ("arrow",), **more}
    return asks("trailing", about, specs, data, requests, **more)


def arriving(about, specs, which, requests=NUMBERS, data=RECENT, restarts="none", **more):
    how = Arrivals(which, restarts=restarts)
    return trailing(about, specs, data, requests, arrivals=how, **more)


KIND = Kind(
    "trailing",
    {"attach": oracle.attached, "attach_to": oracle.attached_to},
    strategies=("auto", "arrow", "native"),
    example=(SPANS[0], "ts"),
    in_python=lambda _: True,
    batch=(
        *trailing("every window", SPECS, ROWS, NUMBERS),
        *trailing("natively", [*SPANS[:4], WHOLE[0], *WHOLE[2:]], ROWS, NATIVELY,
                  strategies=("native", "auto")),
        *trailing("natively, without keys", [SPANS[1]], keyless(ROWS, 60), NATIVELY, by=(),
                  strategies=("native",)),
        *trailing("the latest, natively", [*SPANS[:4], WHOLE[0], WHOLE[3], *ONE], ROWS, LATEST,
                  strategies=("native", "auto")),
        *trailing("one row, natively", ONE, ROWS, LASTING, strategies=("native",)),
        *trailing("others, natively", [*SPANS, *WHOLE, *ONE], ROWS, NATIVELY | LATEST,
                  action="attach_to", strategies=("native",)),
        *trailing("others, natively, without keys", [SPANS[1], ONE[0]], keyless(ROWS, 60),
                  LATEST, by=(), action="attach_to", strategies=("native", "auto")),
        *trailing("in order", [SPANS[5], WHOLE[0], *COUNTED], ROWS, ORDERED),
        *trailing("several", [SEVERAL], ROWS, NUMBERS, strategies=("auto", "arrow")),
        *trailing("every aggregate", [SPANS[1], SPANS[5]], ROWS, EVERY),
        *trailing("every aggregate, of all rows", [WHOLE[1], COUNTED[1]], ROWS, LASTING),
        *trailing("without keys", [SPANS[1], WHOLE[1], COUNTED[0]], keyless(ROWS, 60), NUMBERS,
                  by=()),
        *trailing("no row", [SEVERAL], NO_ROW, NUMBERS),
        *trailing("others", [SEVERAL], ROWS, ORDERED, action="attach_to"),
        *trailing("others, every aggregate", [SPANS[1]], ROWS, EVERY, action="attach_to"),
    ),
    stream=(
        *arriving("stream", [SEVERAL], 3),
        *thorough(arriving("stream", SPECS, 3)),
        *arriving("every aggregate", [SPANS[1]], 2, EVERY),
        *arriving("restarted", [SEVERAL], 2, restarts="half"),
        *arriving("without keys", [SPANS[1]], 3, NUMBERS, keyless(RECENT), by=()),
        *arriving("others", [SEVERAL], 3, action="attach_to"),
        *arriving("others, restarted", [SPANS[1]], 2, EVERY, restarts="half", action="attach_to"),
    ),
    connect=(
        *trailing("connect", [SEVERAL], ROWS, NUMBERS),
        *trailing("the latest, natively", [SPANS[3], ONE[0]], ROWS, LATEST, action="attach_to",
                  strategies=("native",)),
        *arriving("stream", [SPANS[1]], 0),
        *arriving("others", [SPANS[1]], 0, action="attach_to"),
    ),
    sample=trailing("sample", [SEVERAL], ROWS, ORDERED),
    stream_sample=arriving("stream", [SEVERAL], 1),
)  # fmt: skip
