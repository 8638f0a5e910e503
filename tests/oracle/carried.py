"""What was there before a window begins, by the sentence: a reading holds until the next one.

It holds for so long at most, whatever windows there are. So what holds at an instant is known
without windows, and each window looks at it from where it begins to where it ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.oracle import aggregates as functions
from tests.oracle.calendars import bounds_near
from tests.oracle.reports import horizons
from tests.oracle.sliding import is_within
from tests.oracle.values import instant, is_finite, rank

Row = Mapping[str, Any]
CLOSE = 1e-9
CARRIED = ("integral", "time_weighted_avg", "duration", "increase", "rate", "first")


@dataclass(frozen=True)
class Seen:
    """A window of a key: its label, its bounds, its results, and how far they may be off."""

    key: tuple[Any, ...]
    label: int
    start: Any
    end: Any
    results: Mapping[str, Any]
    slack: Mapping[str, float]


def carried(
    rows: Iterable[Row],
    spec: Any,
    *,
    time: str,
    by: Sequence[str],
    tiebreak: Sequence[str],
    aggregates: Mapping[str, Sequence[Any]],
    carry: int,
) -> list[Seen]:
    """Every window that has a row, or in which a reading holds, with all results.

    Aggregates that can carry do, for ``carry`` units of the time; others are of its rows.
    """
    keyed: dict[Any, list[Row]] = {}
    for row in rows:
        if row[time] is not None:
            keyed.setdefault(tuple(rank(row[name]) for name in by), []).append(row)
    unit = 1_000_000 if time == "ts" else 1
    found = []
    begun = getattr(spec, "offset", None) if hasattr(spec, "ranges") else None
    for _, given in sorted(keyed.items()):
        key = tuple(given[0][name] for name in by)
        members = [row for row in given if begun is None or row[time] >= begun.value]
        for label, start, end, closed in sorted(_windows(spec, members, time, carry), key=str):
            inside = tuple(row for row in members if is_within(row[time], start, end, closed))
            results, slack, known = {}, {}, bool(inside)
            for name, request in aggregates.items():
                function, columns, options = functions.split(request)
                if function in CARRIED:
                    readings = _readings(members, columns[0], time, tiebreak, function)
                    window = start, end, closed, carry, unit
                    results[name] = _MADE[function](readings, *window)
                    holds = function not in ("increase", "rate") and _held(
                        readings, start, end, carry
                    )
                    known = known or bool(holds)
                    if function != "first":
                        slack[name] = _slack(function, readings, start, end, carry, unit)
                else:
                    results[name] = _plainly(inside, time, tiebreak, function, columns, options)
            if known:
                found.append(Seen(key, label, start, end, results, slack))
    return found


def _windows(
    spec: Any, rows: Sequence[Row], time: str, carry: int
) -> set[tuple[int, Any, Any, str]]:
    """The windows that some of the rows may reach."""
    found = set()
    for row in rows:
        at = row[time]
        for label, start, end, closed in _near(spec, at, at + carry):
            found.add((label, _plain(start), _plain(end), closed))
    return found


def _near(spec: Any, low: int, high: int) -> Iterator[tuple[int, Any, Any, str]]:
    if hasattr(spec, "ranges"):
        for one in horizons(spec):
            for at in one.reports(Fraction(low), Fraction(high)):
                start = at - one.length
                if spec.offset is not None:
                    start = max(start, spec.offset.value)
                if start < at:
                    yield one.level, start, at, "left"
        return
    for label, one in enumerate(spec if isinstance(spec, list) else [spec]):
        for start, end in bounds_near(one, low, high):
            yield label, start, end, one.closed


def _plain(edge: Any) -> int:
    assert Fraction(edge).denominator == 1
    return int(edge)


def _plainly(rows, time, tiebreak, function, columns, options):
    places = [(instant(row[time]), *(rank(row[name]) for name in tiebreak)) for row in rows]
    view = functions.Rows(
        columns=[tuple(row[column] for column in columns) for row in rows],
        places=places, times=[row[time] for row in rows], start=0, unit=1,
    )  # fmt: skip
    return functions.evaluate(function, view, options)


def _readings(rows, column, time, tiebreak, function) -> list[tuple[int, Any]]:
    """The instants and the values that are there, in order; null is a value of ``first`` alone."""
    found = [
        (row[time], tuple(rank(row[name]) for name in tiebreak), rank(row[column]), row[column])
        for row in rows
        if row[column] is not None or function == "first"
    ]
    return [(at, value) for at, *_, value in sorted(found, key=lambda one: one[:3])]


def _held(readings, start, end, carry) -> list[tuple[Any, int]]:
    """The values that hold in a window, each with how long it does."""
    found = []
    for number, (at, value) in enumerate(readings):
        until = at + carry
        if number + 1 < len(readings):
            until = min(until, readings[number + 1][0])
        time = min(until, end) - max(at, start)
        if time > 0:
            found.append((value, time))
    return found


def _area(readings, start, end, _closed, carry, unit):
    held = _held(readings, start, end, carry)
    if not held:
        return None
    if not all(is_finite(value) for value, _ in held):
        return sum(float(value) * time / unit for value, time in held)
    return float(sum(Fraction(value) * time / unit for value, time in held))


def _mean(readings, start, end, closed, carry, _unit):
    held, area = _held(readings, start, end, carry), _area(readings, start, end, closed, carry, 1)
    return None if area is None else area / sum(time for _, time in held)


def _rises(readings, start, end, closed, carry):
    """What each reading of a window has more than the one before it, and since how long."""
    found = []
    for number, (at, value) in enumerate(readings):
        if not is_within(at, start, end, closed):
            continue
        before = readings[number - 1] if number else None
        if before is None or at - before[0] > carry:
            found.append((0, 0))
        else:
            anew = value < before[1]
            found.append((Fraction(value) - (0 if anew else Fraction(before[1])), at - before[0]))
    return found


def _increase(readings, start, end, closed, carry, _unit):
    rises = _rises(readings, start, end, closed, carry)
    return float(sum(rise for rise, _ in rises)) if rises else None


def _rate(readings, start, end, closed, carry, unit):
    rises = _rises(readings, start, end, closed, carry)
    time = sum(since for _, since in rises)
    return float(sum(rise for rise, _ in rises) / time * unit) if time else None


def _first(readings, start, end, closed, carry, _unit):
    before = [(at, value) for at, value in readings if at <= start]
    if before and before[-1][0] + carry > start:
        return before[-1][1]
    after = [(at, value) for at, value in readings if is_within(at, start, end, closed)]
    return [value for at, value in after if at == after[0][0]][-1] if after else None


_MADE = {
    "integral": _area, "duration": _area, "time_weighted_avg": _mean,
    "increase": _increase, "rate": _rate, "first": _first,
}  # fmt: skip


def _slack(function, readings, start, end, carry, unit):
    """How far rounding may take a number: by the size of all that it is made of."""
    sizes = [
        abs(float(value)) for at, value in readings
        if start - 2 * carry <= at <= end and is_finite(value)
    ]  # fmt: skip
    most, length = max(sizes, default=0.0), (end - start) / unit
    return CLOSE * {
        "integral": most * length, "duration": length, "time_weighted_avg": most,
        "increase": sum(sizes), "rate": sum(sizes) / min(1.0, 1 / unit),
    }[function]  # fmt: skip
