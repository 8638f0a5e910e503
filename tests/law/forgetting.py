"""Every kind that keeps something of a key, asked to forget silent keys."""

from __future__ import annotations

import fanlight as fl
from tests.helpers import events
from tests.helpers.frames import (
    AGGREGATES,
    BOUNDARIES,
    DELTAS,
    DWELLING,
    OVERLAPPING,
    SESSIONS,
    SIZED,
    STATES,
    THRESHOLDS,
)
from tests.helpers.granular_cases import LEVELS, ROW_QUERIES, ROWS
from tests.law.ask import Arrivals, asks, thorough
from tests.law.data import derived, keyless
from tests.law.kinds import frames, levels, sliding, trailing, widening

MINUTE = {"forget_after": "1 minute"}
SECONDS = {"forget_after": "5 seconds"}
LONG = {"forget_after": "18 minutes"}
SHORT = {"forget_after": "20 seconds"}
FRAMES = (
    THRESHOLDS[2], BOUNDARIES[4], DELTAS[6], AGGREGATES[2], SIZED[3], SIZED[8], STATES[1],
    STATES[7], DWELLING[1], OVERLAPPING[0], SESSIONS[0], SESSIONS[1],
)  # fmt: skip
NUMBERED = (DELTAS[6], THRESHOLDS[1], SIZED[6])


def _kind(spec):
    return "sessions" if isinstance(spec, fl.Session) else "frames"


def _frames(about, specs, data, requests, **more):
    return [
        one for spec in specs
        for one in asks(_kind(spec), f"forgetting, {about}", [spec], data, requests,
                        **{"strategies": ("arrow",), **MINUTE, **more})
    ]  # fmt: skip


def _in_streams(specs, which, requests, data, restarts="none", **more):
    how = Arrivals(which, restarts=restarts)
    return _frames("stream", specs, data, requests, arrivals=how, **more)


def _looked_back(about, specs, data, requests=trailing.NUMBERS, **more):
    return trailing.trailing(f"forgetting, {about}", specs, data, requests, **MINUTE, **more)


def forgetting():
    """The asks: in batches by every way, and in streams."""
    rows = [*events.ROW_SPECS[1:4], events.TUPLE_SPECS[0], *events.BY_ROWS[:2],
            fl.Sliding(fl.Rows(3), "1 minute")]  # fmt: skip
    lists = [ROW_QUERIES, ROWS[0]]
    recent = {"arrivals": Arrivals(3)}
    some = {"n": ("count",), "s": ("sum", "n"), "first": ("first", "n")}
    whole = derived(
        widening.bursts(6), "whole", lambda rows: [{**r, "i": r["n"] * 3} for r in rows]
    )
    return [
        *_frames("batch", FRAMES, frames.ROWS, frames.NUMBERS),
        *_frames("natively", [THRESHOLDS[2], BOUNDARIES[4], STATES[1], STATES[7], SESSIONS[1]],
                        frames.ROWS, frames.NATIVELY, strategies=("native", "arrow")),
        *_frames("rows", [THRESHOLDS[2], SESSIONS[1]], frames.ROWS, {}, action="rows",
                 strategies=("native", "arrow")),
        *_frames("without keys", [DELTAS[6], THRESHOLDS[2]], keyless(frames.ROWS, 60),
                 frames.NUMBERS, by=(), strategies=("arrow",)),
        *_frames("connect", [DELTAS[6]], frames.ROWS, frames.NUMBERS, session="connect"),
        *_in_streams([DELTAS[6], DWELLING[1], OVERLAPPING[0], SESSIONS[1]], 3, frames.STREAMED,
                     frames.ARRIVING),
        *thorough(_in_streams([*FRAMES[:2], *FRAMES[3:8], SESSIONS[0]], 2, frames.STREAMED,
                              frames.ARRIVING)),
        *_in_streams([DELTAS[0]], 2, some, frames.ARRIVING, restarts="half"),
        *_in_streams(NUMBERED[:1], 5, {}, frames.TIMED, action="rows"),
        *thorough(_in_streams(NUMBERED[1:], 5, {}, frames.TIMED, action="rows")),
        *_in_streams([DELTAS[6]], 3, some, keyless(frames.ARRIVING), by=(), **SHORT),
        *asks("sliding", "forgetting", rows, sliding.points, some, **MINUTE),
        *asks("sliding", "forgetting, stream", rows, sliding.recent, some, **recent, **MINUTE),
        *asks("levels", "forgetting", lists, levels.EVENTS, some, **MINUTE),
        *asks("levels", "forgetting, stream", lists, levels.RECENT, some, **recent, **MINUTE),
        *asks("levels", "forgetting, lines", LEVELS[:1], levels.STANDING, {}, action="fit",
              options=levels.MINUTELY, **LONG),
        *asks("levels", "forgetting, lines, stream", LEVELS[:1], levels.STANDING, {}, action="fit",
              options=levels.MINUTELY, arrivals=Arrivals(1), **LONG),
        *_looked_back("batch", [*trailing.WHOLE[:2], *trailing.COUNTED[:2]], trailing.ROWS),
        *_looked_back("several", [trailing.SEVERAL], trailing.ROWS,
                      trailing.ORDERED),
        *_looked_back("others", [trailing.SEVERAL], trailing.ROWS, action="attach_to"),
        *_looked_back("stream", [trailing.SEVERAL], trailing.RECENT, **recent),
        *_looked_back("others, stream", [trailing.SEVERAL], trailing.RECENT,
                      action="attach_to", arrivals=Arrivals(2, restarts="half")),
        *asks("widening", "forgetting", widening.SPECS, widening.bursts(12), {}, action="detect",
              **SECONDS),
        *asks("widening", "forgetting, numbers", [widening.WHOLE], whole, {}, action="detect",
              time="i", forget_after=5),
        *asks("widening", "forgetting, stream", widening.SPECS[:1], widening.bursts(8), {},
              action="detect", arrivals=Arrivals(0, widening.DELAY), **SECONDS),
        *thorough(asks("widening", "forgetting, stream", widening.SPECS[1:], widening.bursts(8), {},
                       action="detect", arrivals=Arrivals(8, widening.DELAY, restarts="half"),
                       **SECONDS)),
    ]  # fmt: skip
