"""Multi-granular windows by brute force: at each report every level scans every row."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tests.oracle import aggregates as functions
from tests.oracle.reports import Report, horizons, reported, shown
from tests.oracle.sliding import MICROSECONDS, Row
from tests.oracle.sliding import sliding as one_query
from tests.oracle.values import instant, is_finite, rank, tallies, total

if TYPE_CHECKING:
    from fanlight.engine.spec import MultiGranular, Sliding

CLOSE = 1e-9
LINE = ("slope", "intercept", "r2", "slope_error")


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

    >>> from fanlight.engine.spec import MultiGranular
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
    kept, order = list(rows), [*tiebreak, *values]
    found = []
    for horizon in horizons(spec):
        before: dict[Any, Any] = {}
        for report in reported(
            kept, spec, horizon, time=time, by=by, order=order, unfinished=unfinished
        ):
            window = report.window
            result: dict[str, Any] = dict(zip(by, window.key, strict=True))
            result["window"] = {"start": window.start, "end": window.end}
            result["level"] = horizon.level
            weights = _weights(report, spec, time)
            for name, (function, names, options) in requests.items():
                if weights is not None:
                    result[name] = _aged(function, window.rows, names, weights)
                    continue
                view = functions.Rows(
                    columns=[tuple(row[column] for column in names) for row in window.rows],
                    places=[_place(row, time, tiebreak) for row in window.rows],
                    times=[instant(row[time]) for row in window.rows],
                    start=window.origin,
                    unit=1 if spec.measure == "number" else MICROSECONDS,
                )
                result[name] = functions.evaluate(function, view, options)
            key = tuple(rank(part) for part in window.key)
            at, seen_last = before.get(key, (None, None))
            before[key] = (report.at, [result[name] for name in requests])
            stays = at is not None and at + horizon.every == report.at
            if not (spec.changes_only and stays and alike(seen_last, before[key][1])):
                found.append(result)
    return found


def _counts(time: Any, spec: MultiGranular) -> bool:
    """Whether a time is one, and not before the initiation time."""
    value = instant(time)
    if value is None or not is_finite(value):
        return False
    return spec.measure == "rows" or spec.offset is None or value >= spec.offset.value


def _place(row: Row, time: str, more: Sequence[str]) -> tuple[Any, ...]:
    return (instant(row[time]), *(rank(row[name]) for name in more))


def _weights(report: Report, spec: MultiGranular, time: str) -> list[float] | None:
    """For each row the weight of the finest level that holds it when the window is reported."""
    if spec.weights is None:
        return None
    window = report.window
    places = [Fraction(instant(row[time])) for row in window.rows]
    if spec.measure == "rows":  # the rows of a window follow one another
        places = [Fraction(max(window.start, 0) + at) for at in range(len(window.rows))]
    rears = [level.rear(report.at) for level in horizons(spec)]
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
    filled: bool = True,
    instant_length: int = 1,
) -> list[dict[str, Any]]:
    """What ``.fit(column)`` must return: a least-squares line a level, by its definition.

    Rows of an instant are averaged, instants without a row have the latest value before them
    (IV.B); of a series with a value each instant; not ``filled`` it takes the rows as they are.
    """
    kept = [row for row in rows if row[column] is not None and _counts(row[time], spec)]
    series: dict[Any, dict[int, Any]] = {}
    origin = int(spec.offset.value) if spec.offset is not None else 0
    unit = 1 if spec.measure == "number" else MICROSECONDS
    for row in kept:
        key = tuple(rank(row[name]) for name in by)
        at = (instant(row[time]) - origin) // instant_length
        series.setdefault(key, {}).setdefault(at, []).append(Fraction(row[column]))
    found = []
    for horizon in horizons(spec):
        for report in reported(kept, spec, horizon, time=time, by=by, order=[column]):
            window = report.window
            if not filled:
                points = [
                    (Fraction(instant(row[time]) - window.origin) / unit, Fraction(row[column]))
                    for row in window.rows
                ]
            else:
                mine = series[tuple(rank(part) for part in window.key)]
                points = _filled(mine, window.start, window.end, origin, instant_length, unit)
            result: dict[str, Any] = dict(zip(by, window.key, strict=True))
            result["window"] = {"start": window.start, "end": window.end}
            result["level"] = horizon.level
            line = _line(points)
            found.append({**result, **dict(zip(LINE, line, strict=True))})
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
) -> tuple[float | None, ...]:
    if len({x for x, _ in points}) < 2:
        return (None,) * len(LINE)
    mean_x = sum((x for x, _ in points), Fraction(0)) / len(points)
    mean_y = sum((y for _, y in points), Fraction(0)) / len(points)
    sxx = sum(((x - mean_x) ** 2 for x, _ in points), Fraction(0))
    sxy = sum(((x - mean_x) * (y - mean_y) for x, y in points), Fraction(0))
    syy = sum(((y - mean_y) ** 2 for _, y in points), Fraction(0))
    slope = sxy / sxx
    r2 = sxy**2 / (sxx * syy) if syy else Fraction(1)
    error = None
    if len(points) > 2:
        misses = sum(((y - mean_y - slope * (x - mean_x)) ** 2 for x, y in points), Fraction(0))
        error = math.sqrt(misses / (len(points) - 2) / sxx)
    return float(slope), float(mean_y - slope * mean_x), float(r2), error


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
    kept = [row for row in rows if row[column] is not None and _counts(row[time], spec)]
    levels = horizons(spec)[: len(spec.ranges)]
    found = []
    for report in reported(kept, spec, levels[-1], time=time, by=by, order=[column]):
        window, doubles = report.window, isinstance(report.window.end, float)
        rears = [level.rear(report.at) for level in levels]
        fronts = [report.at, *rears[:-1]]
        for item, _ in tallies(row[column] for row in window.rows):
            mine = [
                Fraction(instant(row[time]))
                for row in window.rows
                if rank(row[column]) == rank(item)
            ]
            pieces = zip(rears, fronts, strict=True)
            if not all(any(low <= at < high for at in mine) for low, high in pieces):
                continue
            for k, start in enumerate(rears):
                if not counts and k < len(rears) - 1:
                    continue
                begun = start if spec.offset is None else max(start, spec.offset.value)
                result: dict[str, Any] = dict(zip(by, window.key, strict=True))
                result["window"] = {"start": shown(begun, doubles=doubles), "end": window.end}
                result["level"] = k
                result[column] = item
                if counts:
                    result["count"] = sum(1 for at in mine if at >= start)
                found.append(result)
    return found
