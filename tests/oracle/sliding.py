"""Sliding windows by brute force: every window scans every row."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tests.oracle import aggregates as functions
from tests.oracle.calendars import bounds_near
from tests.oracle.values import instant, is_finite, is_nan, rank

if TYPE_CHECKING:
    from fanlight.engine.spec import Sliding

Row = Mapping[str, Any]
Request = Sequence[Any]

MICROSECONDS = 1_000_000


@dataclass(frozen=True)
class Window:
    """One window of one key: its bounds, its rows in order, and where a fit over time starts."""

    key: tuple[Any, ...]
    start: Any
    end: Any
    rows: tuple[Row, ...]
    origin: Any


def sliding(
    rows: Iterable[Row],
    spec: Sliding,
    *,
    time: str,
    by: Sequence[str] = (),
    tiebreak: Sequence[str] = (),
    aggregates: Mapping[str, Request],
    unfinished: bool = True,
) -> list[dict[str, Any]]:
    """What ``fl.over(rows, spec, …).agg(…)`` must return, sorted by key and window.

    Parameters
    ----------
    rows
        Dicts. Times are datetimes, or integers in microseconds; for a numeric time any number.
    spec
        The windows.
    time, by, tiebreak
        Column names, as in ``fl.over``.
    aggregates
        Output names and what stands there: the function's name, its columns, then its options, as
        in ``{"p90": ("percentile", "price", 0.9), "n": ("count",)}``.
    unfinished
        Whether tuple-based windows are reported that wait for rows at the end of their key: true
        for complete input, false for a stream.

    Gives dicts of the ``by`` columns, ``window`` as ``{"start": …, "end": …}`` (microseconds,
    the numeric time's own units, or row numbers), and the aggregates. Structs are tuples.

    >>> from fanlight.engine.spec import Sliding
    >>> rows = [{"x": 1, "v": 10}, {"x": 3, "v": 20}]
    >>> for row in sliding(rows, Sliding(4, 2), time="x", aggregates={"s": ("sum", "v")}):
    ...     print(row)
    {'window': {'start': -2, 'end': 2}, 's': 10}
    {'window': {'start': 0, 'end': 4}, 's': 30}
    {'window': {'start': 2, 'end': 6}, 's': 20}
    """
    requests = {name: functions.split(request) for name, request in aggregates.items()}
    columns = [column for _, names, _ in requests.values() for column in names]
    found = windows(
        rows, spec, time=time, by=by, tiebreak=(*tiebreak,), values=columns, unfinished=unfinished
    )
    results = []
    for window in found:
        result: dict[str, Any] = dict(zip(by, window.key, strict=True))
        result["window"] = {"start": window.start, "end": window.end}
        for name, (function, names, options) in requests.items():
            view = functions.Rows(
                columns=[tuple(row[column] for column in names) for row in window.rows],
                places=[_place(row, time, tiebreak) for row in window.rows],
                times=[instant(row[time]) for row in window.rows],
                start=window.origin,
                unit=1 if "number" in (spec.measure, spec.slide.measure) else MICROSECONDS,
            )
            result[name] = functions.evaluate(function, view, options)
        results.append(result)
    return results


def windows(
    rows: Iterable[Row],
    spec: Sliding,
    *,
    time: str,
    by: Sequence[str] = (),
    tiebreak: Sequence[str] = (),
    values: Sequence[str] = (),
    unfinished: bool = True,
) -> list[Window]:
    """Every window that has a row, with its rows; sorted by key and window.

    ``values`` are the arguments of the aggregates: they decide between rows of one time and
    ``tiebreak`` where rows are numbered.
    """
    keyed: dict[Any, list[Row]] = {}
    for row in rows:
        if _why_rejected(row[time]) is None:
            keyed.setdefault(tuple(rank(row[name]) for name in by), []).append(row)
    found: list[Window] = []
    for _, members in sorted(keyed.items()):
        ordered = sorted(members, key=lambda row: _place(row, time, (*tiebreak, *values)))
        key = tuple(ordered[0][name] for name in by)
        if spec.slide_by_tuple:
            found += _ending_at_rows(key, ordered, spec, time)
        elif spec.range_of_tuples:
            found += _last_rows(key, ordered, spec, time)
        elif spec.measure == "rows":
            limit = None if unfinished else len(ordered)
            found += _over_rows(key, ordered, spec, time, limit)
        else:
            found += _over_time(key, ordered, spec, time)
    return found


def rejected(rows: Iterable[Row], *, time: str) -> list[dict[str, Any]]:
    """What ``fl.rejected`` must return: the rows that are in no window, each with a reason."""
    reasons = [(row, _why_rejected(row[time])) for row in rows]
    return [{**row, "reason": f"{time} {why}"} for row, why in reasons if why is not None]


def _why_rejected(time: Any) -> str | None:
    if time is None:
        return "is null"
    if is_nan(time):
        return "is NaN"
    return None if is_finite(time) else "is infinite"


def _place(row: Row, time: str, more: Sequence[str]) -> tuple[Any, ...]:
    return (instant(row[time]), *(rank(row[name]) for name in more))


def _near(spec: Sliding, places: Iterable[Any], *, doubles: bool) -> list[tuple[Any, Any]]:
    """The bounds of all windows that might hold one of the places: exact, or nearest doubles."""
    found = {
        one for place in {Fraction(p) for p in places} for one in bounds_near(spec, place, place)
    }
    return [(_shown(start, doubles), _shown(end, doubles)) for start, end in sorted(found)]


def is_within(place: Any, start: Any, end: Any, closed: str) -> bool:
    """Whether a place is in a window to which these of its ends belong."""
    if place in (start, end):
        return (place == start and closed in ("left", "both")) or (
            place == end and closed in ("right", "both")
        )
    return bool(start < place < end)


def _shown(edge: Any, doubles: bool) -> Any:
    if doubles:
        return float(edge)
    return int(edge) if edge.denominator == 1 else edge


def _numbers(spec: Sliding, places: Iterable[Any]) -> list[int]:
    """The numbers m of all windows that might hold one of the places (and some that do not)."""
    found: set[int] = set()
    for place in {Fraction(place) for place in places}:
        first = math.floor((place - spec.offset.value - spec.range.value) / spec.slide.value)
        last = math.floor((place - spec.offset.value) / spec.slide.value)
        found.update(range(first - 1, last + 2))
    return sorted(found)


def _over_time(key: tuple[Any, ...], rows: list[Row], spec: Sliding, time: str) -> list[Window]:
    places = [instant(row[time]) for row in rows]
    doubles = any(isinstance(place, float) for place in places)
    found = []
    for start, end in _near(spec, places, doubles=doubles):
        members = tuple(
            row
            for row, place in zip(rows, places, strict=True)
            if is_within(place, start, end, spec.closed)
        )
        if members:
            found.append(Window(key, start, end, members, start))
    return found


def _over_rows(
    key: tuple[Any, ...], rows: list[Row], spec: Sliding, time: str, limit: int | None
) -> list[Window]:
    found = []
    for m in _numbers(spec, range(len(rows))):
        start = int(spec.offset.value + m * spec.slide.value)
        end = int(start + spec.range.value)
        members = tuple(
            row for number, row in enumerate(rows) if is_within(number, start, end, spec.closed)
        )
        last = end if spec.closed in ("right", "both") else end - 1
        if members and (limit is None or last < limit):
            found.append(Window(key, start, end, members, instant(members[0][time])))
    return found


def _ending_at_rows(
    key: tuple[Any, ...], rows: list[Row], spec: Sliding, time: str
) -> list[Window]:
    found = []
    length = int(spec.range.value)
    ends = {
        instant(row[time]) + 1
        for number, row in enumerate(rows, 1)
        if (number - spec.offset.value) % spec.slide.value == 0
    }
    for end in sorted(ends):
        start = end - length
        members = tuple(row for row in rows if start <= instant(row[time]) < end)
        found.append(Window(key, start, end, members, start))
    return found


def _last_rows(key: tuple[Any, ...], rows: list[Row], spec: Sliding, time: str) -> list[Window]:
    """At the end of each slide in which there is a row, so many rows before that end."""
    found = []
    slides = {
        math.floor((instant(row[time]) - spec.offset.value) / spec.slide.value) for row in rows
    }
    for number in sorted(slides):
        end = int(spec.offset.value + (number + 1) * spec.slide.value)
        before = [row for row in rows if instant(row[time]) < end]
        members = tuple(before[-int(spec.range.value) :])
        start = instant(members[0][time])
        found.append(Window(key, start, end, members, start))
    return found
