"""What the oracle says to an ask: the rows that must come, and how far a number may be off."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import fanlight as fl
from tests import oracle as reference
from tests.helpers.compare import CLOSE, tolerance
from tests.helpers.frames import HOLDS
from tests.helpers.widened import oracle as detector
from tests.law import late
from tests.law.ask import microseconds
from tests.law.lives import answer_by_lives
from tests.oracle.aggregates import split
from tests.oracle.frames import framed, frames
from tests.oracle.reports import horizons, reported
from tests.oracle.trailing import features, seen_from
from tests.oracle.values import rank
from tests.oracle.widening import detected

POINTS = fl.Sliding("1 minute")  # what a tolerance asks of a spec: approximate, or exact
EXACTLY = fl.Sliding(fl.Rows(1))
VALUES = ("v", "n", "d", "s", "w", "ok", "c")


@dataclass(frozen=True)
class Wanted:
    """A row of the answer. ``slack`` is by column; one that is not there identifies the row.

    An ``optional`` row may be missing: a stream may hold it back.
    """

    row: dict[str, Any]
    slack: dict[str, Any] = field(default_factory=dict)
    optional: bool = False


def where(ask):
    return {"time": ask.time, "by": list(ask.by), "tiebreak": list(ask.tiebreak)}


def columns(ask):
    return [name for request in ask.requests.values() for name in split(request)[1]]


def slacks(ask, window, spec, stop):
    return {name: tolerance(asked, window, spec, stop) for name, asked in ask.requests.items()}


def sliding(ask, rows):
    how = {**where(ask), "unfinished": not ask.streamed}
    found = reference.sliding(rows, ask.spec, aggregates=ask.requests, **how)
    seen = reference.windows(rows, ask.spec, values=columns(ask), **how)
    return [
        Wanted(row, slacks(ask, window, ask.spec, ask.time))
        for row, window in zip(found, seen, strict=True)
    ]


def spans(ask, rows):
    found = reference.spanning(rows, ask.spec, aggregates=ask.requests, **where(ask))
    seen = reference.spans(rows, ask.spec, time=ask.time, by=ask.by)
    return [
        Wanted(row, slacks(ask, window, ask.spec, ask.time))
        for row, window in zip(found, seen, strict=True)
    ]


def snapshots(ask, rows):
    found = reference.snapshots(rows, ask.spec, aggregates=ask.requests, **where(ask))
    if ask.spec.merge_equal or ask.spec.min_duration:
        return [Wanted(row) for row in found]
    seen = reference.unchanged(rows, time=ask.time, by=ask.by)
    return [
        Wanted(row, slacks(ask, window, POINTS, ask.time[1]))
        for row, window in zip(found, seen, strict=True)
    ]


def place(row, label, by):
    window = row["window"]
    return tuple(rank(row[name]) for name in by), row[label], window["start"], window["end"]


def several(ask, rows):
    """Levels, or a list of windows."""
    levels = isinstance(ask.spec, fl.MultiGranular)
    label = "level" if levels else "query"
    oracle = reference.granular if levels else reference.queries
    how = {**where(ask), "unfinished": not ask.streamed}
    found = oracle(rows, ask.spec, aggregates=ask.requests, **how)
    slack = {}
    for number, window in _levels(ask, rows) if levels else _queries(ask, rows, how):
        key = tuple(rank(part) for part in window.key), number, window.start, window.end
        slack[key] = slacks(ask, window, measured(ask), ask.time)
        if levels and ask.spec.weights is not None:
            slack[key] = _aged(ask, window.rows, slack[key])
    return [Wanted(row, slack[place(row, label, ask.by)]) for row in found]


def measured(ask):
    """A kind of windows that is measured as those of the ask."""
    return ask.spec.subwindows[0] if isinstance(ask.spec, fl.MultiGranular) else ask.spec[0]


def _queries(ask, rows, how):
    for number, one in enumerate(ask.spec):
        for window in reference.windows(rows, one, values=columns(ask), **how):
            yield number, window


def _levels(ask, rows):
    how = {"time": ask.time, "by": ask.by, "unfinished": not ask.streamed}
    for one in horizons(ask.spec):
        order = [*ask.tiebreak, *columns(ask)]
        for report in reported(rows, ask.spec, one, order=order, **how):
            yield one.level, report.window


def _aged(ask, members, slack):
    """With weights all numbers are doubles, whatever was added."""
    made = {}
    for name, request in ask.requests.items():
        values = [1.0 if len(request) == 1 else row[request[1]] for row in members]
        numbers = [1.0 if request[0] == "count" else float(v) for v in values if v]
        made[name] = max(slack[name], CLOSE * sum(map(abs, numbers)))
    return made


def several_spans(ask, rows):
    label = "level" if isinstance(ask.spec, fl.MultiGranular) else "query"
    found = reference.spanning_several(rows, ask.spec, aggregates=ask.requests, **where(ask))
    slack = {}
    for number, _, seen in reference.spans_of_several(rows, ask.spec, time=ask.time, by=ask.by):
        for window in seen:
            key = tuple(rank(part) for part in window.key), number, window.start, window.end
            slack[key] = slacks(ask, window, measured(ask), ask.time)
    return [Wanted(row, slack[place(row, label, ask.by)]) for row in found]


def fit(ask, rows):
    """Trend lines: to a share of the size of the values."""
    how = {"time": ask.time, "by": list(ask.by), "filled": ask.options.get("filled", False)}
    column = ask.options["column"]
    found = reference.fit(
        rows, ask.spec, column, instant_length=ask.options.get("microseconds", 1_000_000), **how
    )
    close = 1e-9 if how["filled"] else 1e-6
    largest = max((abs(float(row[column])) for row in rows if row[column] is not None), default=1)
    slack = {"slope": close * largest, "intercept": close * largest, "r2": close}
    slack["slope_error"] = (
        1e-6 * largest
    )  # a square root: of a line without an error half the digits
    return [Wanted(row, slack) for row in found]


def recurring(ask, rows):
    how = {"time": ask.time, "by": list(ask.by), "counts": ask.options.get("counts", False)}
    return [
        Wanted(row) for row in reference.recurring(rows, ask.spec, ask.options["column"], **how)
    ]


def framing(ask, rows):
    """Frames with aggregates, or their bounds alone."""
    how = {**where(ask), "holds": HOLDS}
    unfinished = not ask.streamed
    found = frames(rows, ask.spec, aggregates=ask.requests, unfinished=unfinished, **how)
    seen = [
        one for one in framed(rows, ask.spec, values=columns(ask), **how)
        if unfinished or one.closed
    ]  # fmt: skip
    # Sketches are made where rows are grouped by frame: in a batch of frames that do not overlap.
    sketched = not (ask.streamed or getattr(ask.spec, "overlapping", False))
    spec = POINTS if sketched else EXACTLY
    return [
        Wanted(row, slacks(ask, frame, spec, ask.time))
        for row, frame in zip(found, seen, strict=True)
    ]


def numbered(ask, rows):
    """The rows of frames, and those that are in none; a stream may hold the last ones back.

    Rows that cannot be placed are left out: those without a time, or without a gap of their own.
    """
    timed = [row for row in rows if row[ask.time] is not None]
    if isinstance(ask.spec, fl.Session) and ask.spec.gap is None:
        gap = HOLDS[ask.spec.own_gap]
        timed = [row for row in timed if (gap(row) or 0) > 0]
    every = framed(timed, ask.spec, values=VALUES, holds=HOLDS, **where(ask))
    if isinstance(ask.spec, fl.PatternFrame):
        return _classified(ask, timed, every)
    outside = Counter(_named(ask, row) for row in timed)
    made = []
    for frame in every:
        for row in frame.rows:
            outside[_named(ask, row)] -= 1
            made.append((_named(ask, row), frame.number, ask.streamed and not frame.closed))
    made += [(row, None, ask.streamed) for row in outside.elements()]
    names = (*ask.by, "at", "frame_id")
    return [
        Wanted(dict(zip(names, (*row, number), strict=True)), optional=optional)
        for row, number, optional in made
    ]


def _classified(ask, rows, every):
    """The rows of matches, each with its variable; those that are left out are in none."""
    outside = Counter(_named(ask, row) for row in rows)
    made = []
    for frame in every:
        for row, (name, shown) in zip(frame.rows, frame.labels, strict=True):
            if shown:
                outside[_named(ask, row)] -= 1
                held_back = ask.streamed and not frame.closed
                made.append((_named(ask, row), frame.number, name, held_back))
    made += [(row, None, None, ask.streamed) for row in outside.elements()]
    names = (*ask.by, "at", "frame_id", "classifier")
    return [
        Wanted(dict(zip(names, (*row, *told), strict=True)), optional=optional)
        for row, *told, optional in made
    ]


def _named(ask, row):
    return (*(row[name] for name in ask.by), row[ask.time])


def attached_to(ask, rows):
    """Each row, with what a copy of it sees of all of them."""
    return attached(ask, rows, [dict(row) for row in rows])


def attached(ask, rows, asking=None):
    """Each row, with what it sees of those before it; nothing if it has no time."""
    specs = ask.spec if isinstance(ask.spec, dict) else {"": ask.spec}
    how = {"time": ask.time, "by": ask.by, "tiebreak": ask.tiebreak, "values": columns(ask)}
    made = []
    for row in rows if asking is None else asking:
        answer, slack = {}, {}
        for label, spec in specs.items():
            found = dict.fromkeys(ask.requests)
            if row[ask.time] is not None:
                seen = seen_from(row, rows, spec, **how)
                found = features(seen, ask.requests, ask.time, ask.tiebreak)
                slack |= _labelled(slacks(ask, seen, EXACTLY, ask.time), label)
            answer |= _labelled(found, label)
        answer = {name: answer[name] for name in _named_outputs(ask.requests, specs)}
        known = {name: row[name] for name in (*ask.by, "seq", "n", "v")}
        made.append(Wanted({**known, "at": row[ask.time], **answer}, slack))
    return made


def _labelled(values, label):
    return {f"{name}_{label}" if label else name: value for name, value in values.items()}


def _named_outputs(requests, specs):
    return [f"{name}_{label}" if label else name for name in requests for label in specs]


def widening(ask, rows):
    """What the detector of the tests finds."""
    how = {**where(ask), "across_cuts": ask.options.get("across_cuts", False)}
    found = detected(rows, ask.spec, lambda window: detector(window, "n"), **how)
    return [
        Wanted(
            {
                **{name: row[name] for name in ask.by},
                "window": row["window"],
                "level": row["level"],
                "found_at": row["found_at"],
                "what": row["match"],
            }
        )
        for row in found
    ]


def placed_anyhow(ask, rows):
    """Windows of a calendar, or that begin together: of points, of events, one kind or several."""
    lasting, listed = isinstance(ask.time, tuple), isinstance(ask.spec, list)
    if lasting:
        return (several_spans if listed else spans)(ask, rows)
    return (several if listed else sliding)(ask, rows)


def carried(ask, rows):
    """Windows into which readings are carried."""
    label = {dict: "query", list: "query", fl.MultiGranular: "level"}.get(type(ask.spec))
    found = reference.carried(
        rows, ask.spec, aggregates=ask.requests, carry=ask.options["microseconds"], **where(ask)
    )
    made = []
    for one in found:
        named = dict(zip(ask.by, one.key, strict=True))
        window = {"window": {"start": one.start, "end": one.end}}
        labelled = {label: one.label} if label else {}
        made.append(Wanted({**named, **window, **labelled, **one.results}, dict(one.slack)))
    return made


PLACED = {
    "calendar": placed_anyhow,
    "sliding": sliding,
    "levels": several,
    "spanning": spans,
    "several": several_spans,
}


def ends(ask, row):
    """The ends of the windows that a row is in; for data-driven windows, its own time."""
    if not ask.is_placed and isinstance(ask.time, tuple):  # an event that began before it is late
        began, stopped = (row[name] for name in ask.time)
        return [] if None in (began, stopped) or began >= stopped else [began + 1]
    if not ask.is_placed:
        return [] if row[ask.time] is None else [row[ask.time]]
    alone = ask.again(requests={"n": ("count",)}, action="agg")
    return [one.row["window"]["end"] for one in PLACED[ask.kind](alone, [row])]


_known: dict[Any, list[Wanted]] = {}


def wanted(ask, oracle):
    """The oracle's answer, asked once for all strategies, sessions and splits."""
    key = (
        ask.kind, ask.action, repr(ask.spec), ask.data, repr(ask.requests), ask.time, ask.by,
        ask.tiebreak, repr(ask.options), ask.streamed, ask.late, ask.forget_after,
    )  # fmt: skip
    if key not in _known:
        if ask.forget_after is not None:
            _known[key] = answer_by_lives(ask, oracle)
        elif ask.streamed and ask.arrivals.pieces is not None:
            _known[key] = late.answer(ask, oracle, ends, microseconds(ask.arrivals.delay))
        else:
            _known[key] = oracle(ask, ask.data.rows)
    return _known[key]
