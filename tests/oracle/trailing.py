"""Trailing windows by brute force: of each row all others are asked whether they count."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from tests.oracle import aggregates as functions
from tests.oracle import calendars
from tests.oracle.values import instant, is_finite, rank

Row = Mapping[str, Any]
UNIT = 1_000_000


@dataclass(frozen=True)
class Seen:
    """The rows that a trailing window holds, and where it begins, if that is anywhere."""

    rows: tuple[Row, ...]
    start: int
    origin: int


def _begin(spec: Any, at: int) -> int:
    """When the window begins whose last instant is given: so long before, or by a calendar."""
    if not spec.by_calendar:
        return int(at - spec.range.value)
    shown, count = calendars.clock(at, spec.zone), int(spec.range.value)
    if spec.range.measure == "hours":
        return calendars.instant(shown - timedelta(hours=count), spec.zone)
    month = shown.year * 12 + shown.month - 1 - count
    year, month = month // 12, month % 12 + 1
    day = min(shown.day, monthrange(year, month)[1])
    return calendars.instant(shown.replace(year=year, month=month, day=day), spec.zone)


def seen_from(
    row: Row,
    rows: Sequence[Row],
    spec: Any,
    *,
    time: str,
    by: Sequence[str] = (),
    tiebreak: Sequence[str] = (),
    values: Sequence[str] = (),
) -> Seen:
    """The rows of its key that a row looks back at; ``row`` need not be one of ``rows``."""
    now = instant(row[time])
    delay = spec.delay.value if spec.delay else 0
    counted = spec.range is not None and spec.range.measure == "rows"
    begin = None if spec.range is None or counted else _begin(spec, int(now - delay))

    def counts(other: Row) -> bool:
        if other[time] is None or not is_finite(other[time]):
            return False
        if any(rank(other[name]) != rank(row[name]) for name in by):
            return False
        if other is row and not spec.include_self:
            return False
        t, end = instant(other[time]), now - delay
        if t > end or (t == end and spec.closed in ("left", "neither")):
            return False
        return begin is None or t > begin or (t == begin and spec.closed in ("left", "both"))

    def place(other: Row) -> Any:
        parts = [rank(other[name]) for name in (*tiebreak, *values)]
        return (instant(other[time]), *parts)

    held = sorted(filter(counts, rows), key=place)
    if counted:
        held = held[-int(spec.range.value) :]
    start = now if begin is None else int(begin)
    return Seen(tuple(held), start, start)


def features(seen: Seen, aggregates: Mapping[str, Any], time: str, tiebreak: Sequence[str]) -> Any:
    """The aggregates of what a row sees."""
    found = {}
    for name, request in aggregates.items():
        function, names, options = functions.split(request)
        view = functions.Rows(
            columns=[tuple(row[column] for column in names) for row in seen.rows],
            places=[(instant(row[time]), *(rank(row[n]) for n in tiebreak)) for row in seen.rows],
            times=[instant(row[time]) for row in seen.rows],
            start=seen.start,
            unit=UNIT,
        )
        found[name] = functions.evaluate(function, view, options)
    return found
