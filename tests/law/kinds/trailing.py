"""Trailing windows: each row with what there was up to it."""

from __future__ import annotations

import fanlight as fl
from tests.helpers import events
from tests.helpers.aggregates import EACH, EVERYTHING
from tests.law import oracle
from tests.law.ask import Arrivals, asks, thorough
from tests.law.data import NO_ROW, TODAY, derived, keyless, points, recent
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
NEW_YORK = "America/New_York"
BY_CALENDAR = (
    fl.Trailing("1 month", zone=NEW_YORK),
    fl.Trailing("1 month", zone="Europe/Berlin", closed="both", delay="1 hour"),
    fl.Trailing("1 day", zone="Australia/Lord_Howe", closed="left"),
    fl.Trailing("1 week", zone=NEW_YORK, include_self=False),
    fl.Trailing("1 quarter", zone="+05:30", closed="neither"),
)
DATES = {"month": BY_CALENDAR[0], "day": BY_CALENDAR[2], "30d": fl.Trailing("30 days")}
END_OF_MARCH = 1_743_292_800_000_000  # 2025-03-30 00:00 UTC: Berlin loses an hour
HOUR, LAST_DAYS = 3_600_000_000, (0, 28, 29, 30, 31, 1, 7)
BY_AN_HOUR = (0, 0, HOUR, -HOUR, 1, -1)


def a_month_before(rows):
    """The rows, and some of them about a month or a day earlier, or as long by the clock."""
    earlier = [
        {**row, "ts": row["ts"] - LAST_DAYS[at % 7] * 24 * HOUR + BY_AN_HOUR[at % 6]}
        for at, row in enumerate(rows)
        if row["ts"] is not None
    ]
    return [*rows, *earlier]


ORIGINS = (TODAY, events.SPRING, events.AUTUMN, END_OF_MARCH)
LONG = fl.Sliding("36 hours", "6 hours")
AGO = derived(points(LONG, 16, ORIGINS), "and a month before", a_month_before)
BRIEF = {"1m": SPANS[0], "later": SPANS[1], "others": SPANS[5]}
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
    strategies=("auto", "arrow", "native", "chunks"),
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
        *trailing("in chunks", [*SPANS, BRIEF], ROWS, NUMBERS, strategies=("chunks",)),
        *trailing("in chunks, every aggregate", [SPANS[1], SPANS[5]], ROWS, EVERY,
                  strategies=("chunks",)),
        *trailing("in chunks, without keys", [BRIEF], keyless(ROWS, 60), ORDERED, by=(),
                  strategies=("chunks",)),
        *trailing("in chunks, by the calendar", [DATES], AGO, NUMBERS, strategies=("chunks",)),
        *trailing("in chunks, others", [BRIEF, DATES], AGO, ORDERED, action="attach_to",
                  strategies=("chunks",)),
        *trailing("in order", [SPANS[5], WHOLE[0], *COUNTED], ROWS, ORDERED),
        *trailing("several", [SEVERAL], ROWS, NUMBERS, strategies=("auto", "arrow")),
        *trailing("every aggregate", [SPANS[1], SPANS[5]], ROWS, EVERY),
        *trailing("every aggregate, of all rows", [WHOLE[1], COUNTED[1]], ROWS, LASTING),
        *trailing("without keys", [SPANS[1], WHOLE[1], COUNTED[0]], keyless(ROWS, 60), NUMBERS,
                  by=()),
        *trailing("by the calendar", [*BY_CALENDAR, DATES], AGO, NUMBERS,
                  strategies=("auto", "arrow")),
        *trailing("by the calendar, every aggregate", BY_CALENDAR[:1], AGO, EVERY),
        *trailing("by the calendar, others", [DATES], AGO, ORDERED, action="attach_to"),
        *trailing("no row", [SEVERAL], NO_ROW, NUMBERS),
        *trailing("others", [SEVERAL], ROWS, ORDERED, action="attach_to"),
        *trailing("others, every aggregate", [SPANS[1]], ROWS, EVERY, action="attach_to"),
    ),
    stream=(
        *arriving("stream", [SEVERAL], 3),
        *thorough(arriving("stream", SPECS, 3)),
        *arriving("every aggregate", [SPANS[1]], 2, EVERY),
        *arriving("restarted", [SEVERAL], 2, restarts="half"),
        *arriving("by the calendar", [DATES], 2, data=recent(LONG, 6), restarts="half"),
        *arriving("without keys", [SPANS[1]], 3, NUMBERS, keyless(RECENT), by=()),
        *arriving("others", [SEVERAL], 3, action="attach_to"),
        *arriving("others, restarted", [SPANS[1]], 2, EVERY, restarts="half", action="attach_to"),
    ),
    connect=(
        *trailing("connect", [SEVERAL], ROWS, NUMBERS),
        *trailing("in chunks", [BRIEF], ROWS, NUMBERS, strategies=("chunks",)),
        *trailing("the latest, natively", [SPANS[3], ONE[0]], ROWS, LATEST, action="attach_to",
                  strategies=("native",)),
        *arriving("stream", [SPANS[1]], 0),
        *arriving("others", [SPANS[1]], 0, action="attach_to"),
    ),
    sample=trailing("sample", [SEVERAL], ROWS, ORDERED),
    stream_sample=arriving("stream", [SEVERAL], 1),
)  # fmt: skip
