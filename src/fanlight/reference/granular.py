"""Multi-granular windows by brute force: at each report every level scans every row."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fanlight.reference import aggregates as functions
from fanlight.reference.sliding import MICROSECONDS, Row, Window, windows
from fanlight.reference.sliding import sliding as one_query
from fanlight.reference.values import instant, rank, tallies, total

if TYPE_CHECKING:
    from fanlight.spec import MultiGranular, Sliding

CLOSE = 1e-9


def queries(rows: Iterable[Row], specs: Sequence[Sliding], **request: Any) -> list[dict[str, Any]]:
    """What ``fl.over(rows, [spec, …], …).agg(…)`` must return: each query for itself."""
    kept, by = list(rows), request.get("by", ())
    found = []
    for number, spec in enumerate(specs):
        for row in one_query(kept, spec, **request):
            head = {name: row[name] for name in (*by, "window")}
            found.append({**head, "query": number, **row})
    return found


def granular(
    rows: Iterable[Row],
    spec: MultiGranular,
    *,
    time: str,
    by: Sequence[str] = (),
    tiebreak: Sequence[str] = (),
    aggregates: Mapping[str, Any],
    unfinished: bool = True,
) -> list[dict[str, Any]]:
    """What ``fl.over(rows, spec, …).agg(…)`` must return; arguments as for ``sliding``.

    >>> from fanlight.spec import MultiGranular
    >>> rows = [{"x": 1, "v": 10}, {"x": 3, "v": 20}]
    >>> spec = MultiGranular([2, 4], [2, 4])
    >>> for row in granular(rows, spec, time="x", aggregates={"s": ("sum", "v")}):
    ...     print(row)
    {'window': {'start': 0, 'end': 2}, 'level': 0, 's': 10}
    {'window': {'start': 2, 'end': 4}, 'level': 0, 's': 20}
    {'window': {'start': 0, 'end': 4}, 'level': 1, 's': 30}
    """
    requests = {name: functions.split(request) for name, request in aggregates.items()}
    values = [column for _, names, _ in requests.values() for column in names]
    found = []
    for level in spec.levels:
        seen = windows(
            rows := _since(list(rows), spec, time), level.windows,
            time=time, by=by, tiebreak=tiebreak, values=values, unfinished=unfinished,
        )  # fmt: skip
        before: dict[Any, Any] = {}
        for window in seen:
            members, start = _begun(window, spec)
            if not members:
                continue
            result: dict[str, Any] = dict(zip(by, window.key, strict=True))
            result["window"] = {"start": start, "end": window.end}
            result["level"] = level.number
            weights = _weights(window, members, spec, time)
            for name, (function, names, options) in requests.items():
                if weights is not None:
                    result[name] = _aged(function, members, names, weights)
                    continue
                view = functions.Rows(
                    columns=[tuple(row[column] for column in names) for row in members],
                    places=[_place(row, time, tiebreak) for row in members],
                    times=[instant(row[time]) for row in members],
                    start=instant(members[0][time]) if spec.measure == "rows" else start,
                    unit=1 if spec.measure == "number" else MICROSECONDS,
                )
                result[name] = functions.evaluate(function, view, options)
            key = tuple(rank(part) for part in window.key)
            end, seen_last = before.get(key, (None, None))
            before[key] = (window.end, [result[name] for name in requests])
            step = level.windows.slide.value
            stays = end is not None and Fraction(end) + step == Fraction(window.end)
            if not (spec.changes_only and stays and alike(seen_last, before[key][1])):
                found.append(result)
    return found


def _since(rows: list[Row], spec: MultiGranular, time: str) -> list[Row]:
    """The rows from the initiation time on."""
    if spec.offset is None or spec.measure == "rows":
        return rows
    first = spec.offset.value
    return [row for row in rows if not _number(row[time]) or instant(row[time]) >= first]


def _number(time: Any) -> bool:
    value = instant(time)
    return value is not None and not (isinstance(value, float) and not math.isfinite(value))


def _begun(window: Window, spec: MultiGranular) -> tuple[tuple[Row, ...], Any]:
    """The rows that count, and the start, not before the initiation time."""
    if spec.offset is None:
        return window.rows, window.start
    first: Any = spec.offset.value
    first = float(first) if isinstance(window.start, float) else int(first)
    if window.start >= first:
        return window.rows, window.start
    if spec.measure != "rows":
        return window.rows, first
    # rows of a key are numbered from 0: those before the offset are not in any window
    here = window.rows[max(first - max(window.start, 0), 0) :]
    return here, first


def _place(row: Row, time: str, more: Sequence[str]) -> tuple[Any, ...]:
    return (instant(row[time]), *(rank(row[name]) for name in more))


def rear(spec: MultiGranular, k: int, now: Any) -> Fraction:
    """The paper's t_k: where subwindow k begins at the instant ``now`` (III.A)."""
    level = spec.levels[k].windows
    lag = (Fraction(now) - level.offset.value) % level.slide.value
    return Fraction(now) - lag - level.range.value


def _weights(
    window: Window, members: Sequence[Row], spec: MultiGranular, time: str
) -> list[float] | None:
    """For each row the weight of the finest level that holds it when the window is reported."""
    if spec.weights is None:
        return None
    if spec.measure == "rows":
        first = window.end - len(window.rows) if window.start >= 0 else 0
        number = {id(row): first + at for at, row in enumerate(window.rows)}
        places = [Fraction(number[id(row)]) for row in members]
    else:
        places = [Fraction(instant(row[time])) for row in members]
    rears = [rear(spec, k, window.end) for k in range(len(spec.ranges))]
    return [
        spec.weights[next(k for k, start in enumerate(rears) if place >= start)] for place in places
    ]


def _aged(
    function: str, rows: Sequence[Row], names: Sequence[str], weights: Sequence[float]
) -> float | None:
    """Counts, sums and means of weighted rows (IV.A)."""
    kept = [
        (float(row[names[0]]) if names else 1.0, weight)
        for row, weight in zip(rows, weights, strict=True)
        if not names or row[names[0]] is not None
    ]
    if function == "count":
        return math.fsum(weight for _, weight in kept)
    if not kept:
        return None
    whole: float = total([value * weight for value, weight in kept])
    if function == "sum":
        return whole
    share = math.fsum(weight for _, weight in kept)
    return whole / share if share else None


def alike(before: Any, now: Any) -> bool:
    """Whether results are the same; doubles up to the order of their additions."""
    if isinstance(now, (list, tuple)) and isinstance(before, (list, tuple)):
        return len(before) == len(now) and all(map(alike, before, now))
    doubles = isinstance(now, float) and isinstance(before, float)
    if doubles and math.isfinite(now) and math.isfinite(before):
        return bool(abs(now - before) <= CLOSE * max(abs(now), abs(before)))
    return rank(before) == rank(now)


def fit(
    rows: Iterable[Row],
    spec: MultiGranular,
    column: str,
    *,
    time: str,
    by: Sequence[str] = (),
    per_row: bool = False,
    instant_length: int = 1,
) -> list[dict[str, Any]]:
    """What ``.fit(column)`` must return: a least-squares line a level, by its definition.

    Rows of an instant are averaged, instants without a row have the latest value before them
    (IV.B); ``per_row`` takes the rows as they are.
    """
    kept = [row for row in _since(list(rows), spec, time) if row[column] is not None]
    series: dict[Any, dict[int, Any]] = {}
    origin = int(spec.offset.value) if spec.offset is not None else 0
    unit = 1 if spec.measure == "number" else MICROSECONDS
    for row in kept:
        if _number(row[time]):
            key = tuple(rank(row[name]) for name in by)
            at = (instant(row[time]) - origin) // instant_length
            series.setdefault(key, {}).setdefault(at, []).append(Fraction(row[column]))
    found = []
    for level in spec.levels:
        for window in windows(kept, level.windows, time=time, by=by, values=[column]):
            members, start = _begun(window, spec)
            if not members:
                continue
            if per_row:
                base = instant(members[0][time]) if spec.measure == "rows" else start
                points = [
                    (Fraction(instant(row[time]) - base) / unit, Fraction(row[column]))
                    for row in members
                ]
            else:
                mine = series[tuple(rank(part) for part in window.key)]
                points = _filled(mine, start, window.end, origin, instant_length, unit)
            result: dict[str, Any] = dict(zip(by, window.key, strict=True))
            result["window"] = {"start": start, "end": window.end}
            result["level"] = level.number
            line = _line(points)
            found.append({**result, **dict(zip(("slope", "intercept", "r2"), line, strict=True))})
    return found


def _filled(
    series: Mapping[int, Sequence[Fraction]],
    start: int,
    end: int,
    origin: int,
    step: int,
    unit: int,
) -> list[tuple[Fraction, Fraction]]:
    first, last = (start - origin) // step, (end - origin) // step
    before = [at for at in series if at <= first]
    value = None
    if before:
        held = series[max(before)]
        value = sum(held, Fraction(0)) / len(held)
    points = []
    for at in range(first, last):
        if at in series:
            value = sum(series[at], Fraction(0)) / len(series[at])
        if value is not None:
            points.append((Fraction((at - first) * step) / unit, value))
    return points


def _line(
    points: Sequence[tuple[Fraction, Fraction]],
) -> tuple[float | None, float | None, float | None]:
    if len({x for x, _ in points}) < 2:
        return None, None, None
    mean_x = sum((x for x, _ in points), Fraction(0)) / len(points)
    mean_y = sum((y for _, y in points), Fraction(0)) / len(points)
    sxx = sum(((x - mean_x) ** 2 for x, _ in points), Fraction(0))
    sxy = sum(((x - mean_x) * (y - mean_y) for x, y in points), Fraction(0))
    syy = sum(((y - mean_y) ** 2 for _, y in points), Fraction(0))
    slope = sxy / sxx
    r2 = sxy**2 / (sxx * syy) if syy else Fraction(1)
    return float(slope), float(mean_y - slope * mean_x), float(r2)


def recurring(
    rows: Iterable[Row],
    spec: MultiGranular,
    column: str,
    *,
    time: str,
    by: Sequence[str] = (),
    counts: bool = False,
) -> list[dict[str, Any]]:
    """What ``.recurring(column)`` must return: items in every interval [t_k, t_{k-1}) (IV.C)."""
    kept = [row for row in _since(list(rows), spec, time) if row[column] is not None]
    widest = spec.levels[len(spec.ranges) - 1].windows
    found = []
    for window in windows(kept, widest, time=time, by=by, values=[column]):
        now = window.end
        rears = [rear(spec, k, now) for k in range(len(spec.ranges))]
        fronts = [Fraction(now), *rears[:-1]]
        for item, _ in tallies(row[column] for row in window.rows):
            mine = [
                Fraction(instant(row[time]))
                for row in window.rows
                if row[column] is not None and rank(row[column]) == rank(item)
            ]
            pieces = zip(rears, fronts, strict=True)
            if not all(any(low <= at < high for at in mine) for low, high in pieces):
                continue
            for k, start in enumerate(rears):
                if not counts and k < len(rears) - 1:
                    continue
                begun = start if spec.offset is None else max(start, spec.offset.value)
                result: dict[str, Any] = dict(zip(by, window.key, strict=True))
                shown = float(begun) if isinstance(window.start, float) else int(begun)
                result["window"] = {"start": shown, "end": now}
                result["level"] = k
                result[column] = item
                if counts:
                    result["count"] = sum(1 for at in mine if at >= start)
                found.append(result)
    return found
