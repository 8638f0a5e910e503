"""Sliding windows over events that last, by brute force: every window scans every event."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fanlight.reference import aggregates as functions
from fanlight.reference.sliding import MICROSECONDS, Request, Row, Window
from fanlight.reference.values import instant, is_finite, is_nan, rank

if TYPE_CHECKING:
    from fanlight.spec import Sliding


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

    As :func:`fanlight.reference.sliding`, but a row is in every window that shares an instant with
    it. Rows stand in the order of their stop, then start; a line is fitted over the stop.

    >>> from fanlight.spec import Sliding
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
        for name, (function, names, options) in requests.items():
            view = functions.Rows(
                columns=[tuple(row[column] for column in names) for row in window.rows],
                places=[_place(row, time, tiebreak) for row in window.rows],
                times=[instant(row[time[1]]) for row in window.rows],
                start=window.origin,
                unit=1 if spec.measure == "number" else MICROSECONDS,
            )
            result[name] = functions.evaluate(function, view, options)
        results.append(result)
    return results


def spans(
    rows: Iterable[Row], spec: Sliding, *, time: tuple[str, str], by: Sequence[str] = ()
) -> list[Window]:
    """Every window that shares an instant with a row, with its rows; sorted by key and window."""
    keyed: dict[Any, list[Row]] = {}
    for row in rows:
        if _why_rejected(row, time) is None:
            keyed.setdefault(tuple(rank(row[name]) for name in by), []).append(row)
    found = []
    for _, members in sorted(keyed.items()):
        key = tuple(members[0][name] for name in by)
        doubles = any(isinstance(instant(row[name]), float) for row in members for name in time)
        for number in sorted({m for row in members for m in _near(row, spec, time)}):
            start, end = _bounds(spec, number, doubles=doubles)
            inside = tuple(row for row in members if _shares(row, time, start, end))
            if inside:
                found.append(Window(key, start, end, inside, start))
    return found


def rejected_spans(rows: Iterable[Row], *, time: tuple[str, str]) -> list[dict[str, Any]]:
    """What ``fl.rejected`` must return for a pair of times."""
    reasons = [(row, _why_rejected(row, time)) for row in rows]
    return [{**row, "reason": why} for row, why in reasons if why is not None]


def _shares(row: Row, time: tuple[str, str], start: Any, end: Any) -> bool:
    """Whether an event and a window have an instant in common; an empty event is its instant."""
    began, stopped = (instant(row[name]) for name in time)
    if began == stopped:
        return bool(start <= began < end)
    return bool(began < end and start < stopped)


def _near(row: Row, spec: Sliding, time: tuple[str, str]) -> range:
    """The numbers of all windows that might share an instant with a row (and some that do not)."""
    began, stopped = (Fraction(instant(row[name])) for name in time)
    first = math.floor((began - spec.offset.value - spec.range.value) / spec.slide.value)
    return range(first - 1, math.floor((stopped - spec.offset.value) / spec.slide.value) + 2)


def _bounds(spec: Sliding, number: int, *, doubles: bool) -> tuple[Any, Any]:
    start = spec.offset.value + number * spec.slide.value
    end = start + spec.range.value
    if doubles:
        return float(start), float(end)
    whole = start.denominator == end.denominator == 1
    return (int(start), int(end)) if whole else (start, end)


def _why_rejected(row: Row, time: tuple[str, str]) -> str | None:
    for name in time:
        value = row[name]
        if value is None:
            return f"{name} is null"
        if is_nan(value):
            return f"{name} is NaN"
        if not is_finite(value):
            return f"{name} is infinite"
    began, stopped = (instant(row[name]) for name in time)
    return f"{time[1]} is before {time[0]}" if stopped < began else None


def _place(row: Row, time: tuple[str, str], more: Sequence[str]) -> tuple[Any, ...]:
    return (instant(row[time[1]]), instant(row[time[0]]), *(rank(row[name]) for name in more))
