"""Sliding windows over events that last, by brute force: every window scans every event."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tests.oracle import aggregates as functions
from tests.oracle.calendars import bounds_near
from tests.oracle.granular import alike
from tests.oracle.reports import Horizon, horizons, shown
from tests.oracle.sliding import MICROSECONDS, Request, Row, Window, is_within
from tests.oracle.values import instant, is_finite, is_nan, rank

if TYPE_CHECKING:
    from fanlight.engine.spec import MultiGranular, Sliding, Snapshot

Near = Callable[[Fraction, Fraction], Iterator[tuple[Any, Any]]]


def spanning(
    rows: Iterable[Row],
    spec: Sliding,
    *,
    time: tuple[str, str],
    by: Sequence[str] = (),
    tiebreak: Sequence[str] = (),
    aggregates: Mapping[str, Request],
) -> list[dict[str, Any]]:
    """What ``fl.over(rows, spec, time=(start, stop), …).agg(…)`` must return.

    As :func:`tests.oracle.sliding`, but a row is in every window that shares an instant with
    it. Rows stand in the order of their stop, then start; a line is fitted over the stop.

    >>> from fanlight.engine.spec import Sliding
    >>> rows = [{"a": 1, "b": 3, "v": 10}, {"a": 2, "b": 2, "v": 20}]
    >>> found = spanning(rows, Sliding(2), time=("a", "b"), aggregates={"s": ("sum", "v")})
    >>> for row in found:
    ...     print(row)
    {'window': {'start': 0, 'end': 2}, 's': 10}
    {'window': {'start': 2, 'end': 4}, 's': 30}
    """
    requests = {name: functions.split(request) for name, request in aggregates.items()}
    results = []
    for window in spans(rows, spec, time=time, by=by):
        result: dict[str, Any] = dict(zip(by, window.key, strict=True))
        result["window"] = {"start": window.start, "end": window.end}
        results.append(result | _evaluated(window, spec.measure, requests, time, tiebreak))
    return results


def _evaluated(
    window: Window,
    measure: str,
    requests: Mapping[str, Any],
    time: tuple[str, str],
    tiebreak: Sequence[str],
) -> dict[str, Any]:
    """Each aggregate of a window's events."""
    found = {}
    for name, (function, names, options) in requests.items():
        view = functions.Rows(
            columns=[tuple(row[column] for column in names) for row in window.rows],
            places=[_place(row, time, tiebreak) for row in window.rows],
            times=[instant(row[time[1]]) for row in window.rows],
            start=window.origin,
            unit=1 if measure == "number" else MICROSECONDS,
            parts=[_part(row, window, time) for row in window.rows],
            end=window.end,
        )
        found[name] = functions.evaluate(function, view, options)
    return found


def _part(row: Row, window: Window, time: tuple[str, str]) -> tuple[Any, Any]:
    """From when to when an event lies in a window."""
    began, stopped = (instant(row[name]) for name in time)
    return max(began, window.start), min(stopped, window.end)


def spanning_several(
    rows: Iterable[Row],
    spec: MultiGranular | Sequence[Sliding],
    *,
    time: tuple[str, str],
    by: Sequence[str] = (),
    tiebreak: Sequence[str] = (),
    aggregates: Mapping[str, Request],
) -> list[dict[str, Any]]:
    """What ``fl.over(rows, spec, time=(start, stop), …).agg(…)`` must return for several windows.

    >>> from fanlight.engine.spec import Sliding
    >>> rows = [{"a": 1, "b": 3}]
    >>> several = [Sliding(2), Sliding(4)]
    >>> spanning_several(rows, several, time=("a", "b"), aggregates={"n": ("count",)})[1:]
    [{'window': {'start': 2, 'end': 4}, 'query': 0, 'n': 1}, \
{'window': {'start': 0, 'end': 4}, 'query': 1, 'n': 1}]
    """
    requests = {name: functions.split(request) for name, request in aggregates.items()}
    label = "query" if isinstance(spec, (list, tuple)) else "level"
    changes = label == "level" and spec.changes_only  # type: ignore[union-attr]
    measure = (spec[0] if isinstance(spec, (list, tuple)) else spec).measure  # type: ignore[union-attr]
    found = []
    for number, every, seen in spans_of_several(rows, spec, time=time, by=by):
        before: dict[Any, Any] = {}
        for window in seen:
            result: dict[str, Any] = dict(zip(by, window.key, strict=True))
            result |= {"window": {"start": window.start, "end": window.end}, label: number}
            values = _evaluated(window, measure, requests, time, tiebreak)
            key = tuple(rank(part) for part in window.key)
            end, last = before.get(key, (None, None))
            before[key] = (window.end, list(values.values()))
            stays = end is not None and Fraction(end) + every == Fraction(window.end)
            if not (changes and stays and alike(last, before[key][1])):
                found.append(result | values)
    return found


def spans_of_several(
    rows: Iterable[Row],
    spec: MultiGranular | Sequence[Sliding],
    *,
    time: tuple[str, str],
    by: Sequence[str] = (),
) -> list[tuple[int, Fraction, list[Window]]]:
    """Each level or query: its number, how often it is reported, its windows.

    Those of levels do not begin before the initiation time.
    """
    kept = list(rows)
    if isinstance(spec, (list, tuple)):
        return [
            (n, one.slide.value, spans(kept, one, time=time, by=by)) for n, one in enumerate(spec)
        ]
    levels: MultiGranular = spec  # type: ignore[assignment]
    since = None if levels.offset is None else levels.offset.value

    def bounds(began: Fraction, stopped: Fraction, one: Horizon) -> Iterator[tuple[Any, Any]]:
        for at in one.reports(began, stopped):
            first = at - one.length if since is None else max(at - one.length, since)
            if first < at:
                yield first, at

    return [
        (one.level, one.every, _spans(kept, partial(bounds, one=one), time, by))
        for one in horizons(levels)
    ]


def spans(
    rows: Iterable[Row], spec: Sliding, *, time: tuple[str, str], by: Sequence[str] = ()
) -> list[Window]:
    """Every window that shares an instant with a row, with its rows; sorted by key and window."""
    return _spans(rows, partial(bounds_near, spec), time, by, spec.closed)


def _spans(
    rows: Iterable[Row],
    near: Near,
    time: tuple[str, str],
    by: Sequence[str],
    closed: str = "left",
) -> list[Window]:
    """``near``: the windows that might share an instant with a row (and some that do not)."""
    keyed: dict[Any, list[Row]] = {}
    for row in rows:
        if _why_rejected(row, time) is None:
            keyed.setdefault(tuple(rank(row[name]) for name in by), []).append(row)
    found = []
    for _, members in sorted(keyed.items()):
        key = tuple(members[0][name] for name in by)
        doubles = any(isinstance(instant(row[name]), float) for row in members for name in time)
        ends = [tuple(Fraction(instant(row[name])) for name in time) for row in members]
        for edges in sorted({one for began, stopped in ends for one in near(began, stopped)}):
            start, end = (shown(edge, doubles=doubles) for edge in edges)
            inside = tuple(row for row in members if _shares(row, time, start, end, closed))
            if inside:
                found.append(Window(key, start, end, inside, start))
    return found


def rejected_spans(
    rows: Iterable[Row], *, time: tuple[str, str], since: Fraction | None = None
) -> list[dict[str, Any]]:
    """What ``fl.rejected`` must return for a pair of times; ``since`` is the initiation time."""
    reasons = [(row, _why_rejected(row, time, since)) for row in rows]
    return [{**row, "reason": why} for row, why in reasons if why is not None]


def _shares(row: Row, time: tuple[str, str], start: Any, end: Any, closed: str) -> bool:
    """Whether an event and a window have an instant in common; an empty event is its instant.

    Whole times have no instant between two that follow each other.
    """
    began, stopped = (instant(row[name]) for name in time)
    if began == stopped:
        return is_within(began, start, end, closed)
    after_start = start < stopped
    if closed in ("right", "neither") and not isinstance(stopped, float):
        after_start = start < stopped - 1
    return bool(after_start and (began < end or (began == end and closed in ("right", "both"))))


def _why_rejected(row: Row, time: tuple[str, str], since: Fraction | None = None) -> str | None:
    for name in time:
        value = row[name]
        if value is None:
            return f"{name} is null"
        if is_nan(value):
            return f"{name} is NaN"
        if not is_finite(value):
            return f"{name} is infinite"
    began, stopped = (instant(row[name]) for name in time)
    if stopped < began:
        return f"{time[1]} is before {time[0]}"
    if since is not None and began < since and stopped <= since:
        return f"{time[1]} is before the initiation time"
    return None


def _place(row: Row, time: tuple[str, str], more: Sequence[str]) -> tuple[Any, ...]:
    return (instant(row[time[1]]), instant(row[time[0]]), *(rank(row[name]) for name in more))


def snapshots(
    rows: Iterable[Row],
    spec: Snapshot,
    *,
    time: tuple[str, str],
    by: Sequence[str] = (),
    tiebreak: Sequence[str] = (),
    aggregates: Mapping[str, Request],
) -> list[dict[str, Any]]:
    """What ``fl.over(rows, fl.Snapshot(…), time=(start, stop), …).agg(…)`` must return.

    >>> from fanlight.engine.spec import Snapshot
    >>> rows = [{"a": 1, "b": 4}, {"a": 2, "b": 3}]
    >>> found = snapshots(rows, Snapshot(), time=("a", "b"), aggregates={"n": ("count",)})
    >>> [(row["window"]["start"], row["window"]["end"], row["n"]) for row in found]
    [(1, 2, 1), (2, 3, 2), (3, 4, 1)]
    """
    requests = {name: functions.split(request) for name, request in aggregates.items()}
    found: list[dict[str, Any]] = []
    for window in unchanged(rows, time=time, by=by):
        result: dict[str, Any] = dict(zip(by, window.key, strict=True))
        result["window"] = {"start": window.start, "end": window.end}
        values = _evaluated(window, "time", requests, time, tiebreak)
        last = found[-1] if found and spec.merge_equal else None
        follows = last is not None and [rank(last[name]) for name in by] == [
            rank(part) for part in window.key
        ]
        touches = last is not None and follows and last["window"]["end"] == window.start
        if touches and all(rank(last[name]) == rank(value) for name, value in values.items()):
            last["window"]["end"] = window.end
        else:
            found.append(result | values)
    if spec.min_duration is None:
        return found
    least = spec.min_duration.value
    return [
        row
        for row in found
        if Fraction(row["window"]["end"]) - Fraction(row["window"]["start"]) >= least
    ]


def unchanged(
    rows: Iterable[Row], *, time: tuple[str, str], by: Sequence[str] = ()
) -> list[Window]:
    """Each longest time in which the running events of a key are the same, and some are.

    An event is running from its start on, and no longer at its stop. Of all times from one start or
    stop to a later one, those count in which nothing changes, and which no longer one holds.
    """
    keyed: dict[Any, list[Row]] = {}
    for row in rows:
        began, stopped = time
        if _why_rejected(row, time) is None and instant(row[began]) < instant(row[stopped]):
            keyed.setdefault(tuple(rank(row[name]) for name in by), []).append(row)
    found = []
    for _, members in sorted(keyed.items()):
        key = tuple(members[0][name] for name in by)
        ends = sorted({instant(row[name]) for row in members for name in time})
        running = {at: [n for n, row in enumerate(members) if _runs(row, time, at)] for at in ends}
        start = ends[0]
        for at, after in pairwise(ends):
            if running[at] != running[start]:
                start = at
            if running[after] != running[start] and running[start]:
                inside = tuple(members[n] for n in running[start])
                found.append(Window(key, start, after, inside, start))
    return found


def _runs(row: Row, time: tuple[str, str], at: Any) -> bool:
    began, stopped = (instant(row[name]) for name in time)
    return bool(began <= at < stopped)
