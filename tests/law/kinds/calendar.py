"""Windows that a calendar places, and windows that begin together."""

from __future__ import annotations

import fanlight as fl
from tests.helpers import events
from tests.helpers.aggregates import DISTINCT, EACH, EXACT, FEW, READ, TIMELESS
from tests.law import oracle
from tests.law.ask import Arrivals, asks, thorough
from tests.law.carried import carried
from tests.law.data import NO_ROW, keyless, lasting, points, recent
from tests.law.data import TODAY as NOW
from tests.law.kinds.kind import Kind

NEW_YORK, HOWE = "America/New_York", "Australia/Lord_Howe"
# Rows are drawn as for these, close to where they begin and end.
DAYS, MINUTES = fl.Sliding("36 hours", "6 hours"), fl.Sliding("4 minutes", "1 minute")
ROWS, FINE, TODAY = points(DAYS), points(MINUTES), recent(DAYS)
LOCAL = (
    fl.Calendar("1 day", zone=NEW_YORK),
    fl.Calendar("1 day", "1 hour", zone=HOWE),
    fl.Calendar("3 days", "2 days", zone="Asia/Kathmandu", offset="6 hours"),
    fl.Calendar("2 weeks", "1 week", zone="Africa/Casablanca", week_starts="sunday"),
    fl.Calendar("3 months", "1 month", zone="America/Sao_Paulo"),
    fl.Calendar("1 year", "1 quarter", zone="Europe/Athens", offset="1 month 2 days"),
    fl.Calendar("1 hour", zone="+05:30"),
    fl.Calendar("2 months", "1 day", zone=NEW_YORK, offset="3 hours"),
)
FIXED = (
    fl.Cumulative("4 minutes", "1 minute"),
    fl.Cumulative("10 seconds", "2 seconds", offset="-3 seconds"),
    fl.Cumulative("2 minutes", "2 minutes"),
)
BY_ZONE = (
    fl.Cumulative("1 day", "1 hour", zone=NEW_YORK),
    fl.Cumulative("1 month", "1 day", zone=HOWE),
    fl.Cumulative("1 year", "1 month", zone="America/Sao_Paulo", offset="3 months 5 hours"),
    fl.Cumulative("1 quarter", "12 hours", zone="Europe/Athens", offset="1 month"),
    fl.Cumulative("1 week", "1 day", zone="UTC", week_starts="sunday"),
)
WHOLE, REAL = fl.Cumulative(9, 3, offset=1), fl.Cumulative(0.3, 0.1)
LISTS = (
    [fl.Cumulative("4 minutes", "1 minute"), fl.Sliding("6 minutes", "2 minutes"),
     fl.Cumulative("6 minutes", "3 minutes", offset="1 minute")],
    [fl.Cumulative("1 month", "1 day", zone=NEW_YORK),
     fl.Cumulative("1 day", "6 hours", zone=NEW_YORK),
     fl.Calendar("1 month", "1 day", zone=NEW_YORK),
     fl.Calendar("2 days", "1 day", zone=NEW_YORK)],
)  # fmt: skip
ENDS = ("right", "both", "neither")
CLOSED = [fl.Sliding("4 minutes", "1 minute", closed=ends) for ends in ENDS]
CLOSED += [
    fl.Sliding("2 minutes", closed="right"),
    fl.Sliding("1 minute", closed="both"),
    fl.Sliding("1 minute", "4 minutes", closed="both"),
    fl.Sliding("9 minutes", "6 minutes", offset="1 minute", closed="both"),
]
WHOLES = [fl.Sliding(4, 2, offset=-3, closed=ends) for ends in ENDS]
REALS = [fl.Sliding(0.3, 0.1, offset=0.05, closed=ends) for ends in ENDS]
NUMBERED = [fl.Sliding(fl.Rows(4), fl.Rows(2), closed=ends) for ends in ENDS]
MIXED = [CLOSED[0], fl.Sliding("2 minutes"), CLOSED[1]]
STRATEGIES = ("panes", "expand", "auto")
EVENTS = lasting(MINUTES, 8)
LONG = lasting(DAYS, 8)
PAIR = ("began", "ts")
LIST = {"n": ("count",), "list": ("collect_list", "n")}
UNTIL_NEXT = {"area": ("integral", "v"), "mean": ("time_weighted_avg", "d"), "pace": ("rate", "c"),
              "more": ("increase", "c"), "on": ("duration", "ok")}  # fmt: skip


def calendar(about, specs, data, requests, **more):
    return asks("calendar", about, specs, data, requests, **more)


def arriving(about, specs, data, requests, which=3, **more):
    return calendar(about, specs, data, requests, arrivals=Arrivals(which, "2880 minutes"), **more)


KIND = Kind(
    "calendar",
    {
        "agg": oracle.placed_anyhow,
        "carried": oracle.carried,
        "early": oracle.placed_anyhow,
        "pieces": oracle.placed_anyhow,
        "repair": oracle.placed_anyhow,
    },
    strategies=("auto", "panes", "pairs", "expand", "differential", "lifetimes", "ranks", "levels",
                "cells"),
    example=(LOCAL[0], "ts"),
    in_python=lambda ask: ask.action == "early" or "Rows(" in repr(ask.spec),
    batch=(
        *calendar("local", LOCAL, ROWS, FEW, strategies=("panes", "pairs", "expand")),
        *calendar("taken back", LOCAL[1:6], ROWS, EXACT, strategies=("differential",)),
        *calendar("months back, every aggregate", LOCAL[7:], ROWS, TIMELESS),
        *calendar("values in order", LOCAL[1:3], ROWS, READ, strategies=("ranks",)),
        *calendar("distinct values", LOCAL[1:3], ROWS, DISTINCT, strategies=("lifetimes",)),
        *calendar("every aggregate", LOCAL[3:4], ROWS, TIMELESS),
        *calendar("growing", FIXED, FINE, FEW, strategies=STRATEGIES),
        *calendar("growing by zone", BY_ZONE, ROWS, FEW, strategies=STRATEGIES),
        *calendar("growing, every aggregate", FIXED[:1], FINE, EACH, strategies=STRATEGIES),
        *calendar("growing by zone, every aggregate", BY_ZONE[1:2], ROWS, TIMELESS),
        *calendar("numbers", [WHOLE], points(fl.Sliding(9, 6, offset=1)), FEW, time="i",
                  strategies=STRATEGIES),
        *calendar("numbers", [REAL], points(events.REAL_SPECS[1]), FEW, time="x",
                  strategies=STRATEGIES),
        *calendar("lists", LISTS[:1], FINE, FEW),
        *calendar("lists by zone", LISTS[1:], ROWS, FEW),
        *calendar("lists, every aggregate", LISTS[:1], FINE, EACH),
        *calendar("stored", FIXED[:2], FINE, FEW, action="pieces"),
        *calendar("repaired", FIXED[:2], FINE, FEW, action="repair"),
        *calendar("without keys", [FIXED[0], BY_ZONE[1]], keyless(ROWS), FEW, by=()),
        *calendar("ends", CLOSED, FINE, FEW, strategies=STRATEGIES),
        *calendar("ends, every aggregate", CLOSED[:1], FINE, EACH, strategies=STRATEGIES),
        *calendar("ends", CLOSED[:2], FINE, EXACT, strategies=("differential",)),
        *calendar("ends", CLOSED[:2], FINE, READ, strategies=("ranks",)),
        *calendar("ends", CLOSED[:2], FINE, DISTINCT, strategies=("lifetimes",)),
        *calendar("ends of numbers", WHOLES, points(fl.Sliding(4, 2, offset=-3)), FEW, time="i"),
        *calendar("ends of numbers", REALS, points(fl.Sliding(0.3, 0.1, offset=0.05)), FEW,
                  time="x", strategies=STRATEGIES),
        *calendar("ends of numbers, list", [[REALS[0], fl.Sliding(0.2), REALS[2]]],
                  points(fl.Sliding(0.3, 0.1, offset=0.05)), FEW, time="x"),
        *calendar("ends of rows", NUMBERED, FINE, LIST),
        *calendar("ends, list", [MIXED], FINE, FEW),
        *calendar("ends of events", CLOSED[:4], EVENTS, FEW, time=PAIR),
        *calendar("no row", [FIXED[0], BY_ZONE[1], LISTS[0]], NO_ROW, FEW),
        *calendar("events", [FIXED[0], FIXED[1]], EVENTS, FEW, time=PAIR,
                  strategies=("auto", "levels", "cells")),
        *calendar("events by zone", [LOCAL[1], LOCAL[7], *BY_ZONE[:2]], LONG, FEW, time=PAIR),
        *carried("calendar", "held", LOCAL, ROWS),
        *calendar("until the next row", [LOCAL[1], BY_ZONE[1]], ROWS, UNTIL_NEXT),
        *carried("calendar", "held, growing", FIXED, FINE),
        *carried("calendar", "held, growing by zone", BY_ZONE, ROWS),
        *carried("calendar", "held, ends", [CLOSED[0], CLOSED[3]], FINE),
        *carried("calendar", "held, lists", LISTS[:1], FINE),
        *carried("calendar", "held, lists by zone", LISTS[1:], ROWS),
        *calendar("lists of events", LISTS[:1], EVENTS, FEW, time=PAIR),
    ),
    stream=(
        *arriving("stream", [LOCAL[1], LOCAL[7], FIXED[0], BY_ZONE[1]], TODAY, FEW),
        *thorough(arriving("stream", [LOCAL[3], *BY_ZONE[2:]], TODAY, FEW)),
        *arriving("stream, rows copied", [FIXED[0]], recent(MINUTES), FEW, strategies=("expand",),
                  late="open"),
        *arriving("until the next row", [LOCAL[1]], TODAY, UNTIL_NEXT),
        *arriving("until the next row, early", [LOCAL[1]], TODAY, UNTIL_NEXT, action="early"),
        *carried("calendar", "held", [LOCAL[1], FIXED[0], BY_ZONE[1]], TODAY,
                 arrivals=Arrivals(3, "2880 minutes")),
        *carried("calendar", "held, ends", CLOSED[:1], recent(MINUTES),
                 arrivals=Arrivals(3, "2880 minutes")),
        *arriving("every aggregate", FIXED[:1], recent(MINUTES), EACH),
        *arriving("ends", CLOSED[:2], recent(MINUTES), FEW),
        *arriving("ends, list", [MIXED], recent(MINUTES), LIST),
        *arriving("ends, early", CLOSED[:1], recent(MINUTES), LIST, action="early"),
        *arriving("ends of rows", NUMBERED[:1], recent(MINUTES), LIST),
        *arriving("lists", LISTS[:1], recent(MINUTES), LIST),
        *arriving("early", FIXED[:1], recent(MINUTES), FEW, action="early"),
        *arriving("early by zone", [LOCAL[1], LOCAL[7], BY_ZONE[1]], TODAY, LIST, action="early"),
        *thorough(arriving("early by zone", [*LOCAL[3:6], *BY_ZONE[2:]], TODAY, FEW,
                           action="early")),
        *arriving("early by zone, lists", LISTS[1:], TODAY, LIST, action="early"),
        *arriving("early by zone, events", [LOCAL[1]], lasting(DAYS, 6, (NOW,)), LIST, time=PAIR,
                  action="early"),
        *arriving("early, lists", LISTS[:1], recent(MINUTES), LIST, action="early"),
        *arriving("without keys", [FIXED[0]], keyless(recent(MINUTES)), LIST, by=()),
        *arriving("early without keys", [FIXED[0]], keyless(recent(MINUTES)), LIST, by=(),
                  action="early"),
        *arriving("events", FIXED[:1], lasting(MINUTES, 6, (NOW,)), LIST, time=PAIR),
    ),
    connect=calendar("connect", [FIXED[0], BY_ZONE[1]], ROWS, FEW),
    sample=calendar("sample", [BY_ZONE[1], FIXED[0]], ROWS, TIMELESS),
    stream_sample=arriving("stream", FIXED[:1], recent(MINUTES), LIST),
)  # fmt: skip
