"""When levels are reported, and what lies in a report, by brute force.

A level of length ω is reported every β, counted from the initiation time τ0 (from 0, if none is
given): at τ0 + n·β, whatever n. The report at t covers [t - ω, t), and nothing before τ0. In a
continuous report β is the finest slide for all lengths. (Patroumpas and Sellis, III.A, III.C.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tests.oracle.sliding import Row, Window
from tests.oracle.values import instant, is_finite, rank

if TYPE_CHECKING:
    from fanlight.engine.spec import MultiGranular


@dataclass(frozen=True)
class Horizon:
    """A length that is reported: the number of its level, how often, counted from where."""

    level: int
    length: Fraction
    every: Fraction
    start: Fraction

    def latest(self, now: Fraction) -> Fraction:
        """The latest report that is not after an instant."""
        return self.start + math.floor((now - self.start) / self.every) * self.every

    def rear(self, now: Fraction) -> Fraction:
        """The paper's t_k: where what was last reported begins, at an instant."""
        return self.latest(now) - self.length

    def reports(self, first: Fraction, last: Fraction) -> Iterator[Fraction]:
        """The reports that cover some of [first, last], and a few around them."""
        at = self.latest(first)
        while at <= last + self.length + self.every:
            yield at
            at += self.every


@dataclass(frozen=True)
class Report:
    """What one key's rows are in a report at ``at``; the window has what the result shows."""

    horizon: Horizon
    at: Fraction
    window: Window


def horizons(spec: MultiGranular) -> list[Horizon]:
    """Every length that is reported: the levels, then the further horizons."""
    start = Fraction(0) if spec.offset is None else spec.offset.value
    lengths = [length.value for length in spec.ranges]
    finest = spec.slides[0].value
    paces = [finest if spec.report == "continuous" else slide.value for slide in spec.slides]
    found = [
        Horizon(k, length, pace, start)
        for k, (length, pace) in enumerate(zip(lengths, paces, strict=True))
    ]
    for horizon in spec.horizons:
        covers = min(k for k, length in enumerate(lengths) if horizon.value <= length)
        found.append(Horizon(covers, horizon.value, finest, start))
    return found


def reported(
    rows: Iterable[Row],
    spec: MultiGranular,
    horizon: Horizon,
    *,
    time: str,
    by: Sequence[str] = (),
    order: Sequence[str] = (),
    unfinished: bool = True,
) -> list[Report]:
    """Every report of a horizon with a row in it; sorted by key and time.

    ``order`` are the columns that decide between rows of one time. Of levels counted in rows the
    last reports of a key may be ``unfinished``: they wait for rows.
    """
    keyed: dict[Any, list[Row]] = {}
    for row in rows:
        if row[time] is not None and is_finite(instant(row[time])):
            keyed.setdefault(tuple(rank(row[name]) for name in by), []).append(row)
    found = []
    for _, members in sorted(keyed.items()):
        members.sort(key=lambda row: (instant(row[time]), *(rank(row[name]) for name in order)))
        counted = spec.measure == "rows"
        places = list(range(len(members))) if counted else [instant(row[time]) for row in members]
        doubles = any(isinstance(place, float) for place in places)
        key = tuple(members[0][name] for name in by)
        for at in sorted({at for place in set(places) for at in _near(horizon, place)}):
            first = at - horizon.length
            if spec.offset is not None:
                first = max(first, spec.offset.value)
            start, end = (shown(edge, doubles=doubles) for edge in (first, at))
            pairs = zip(members, places, strict=True)
            inside = tuple(row for row, place in pairs if start <= place < end)
            if not inside or (counted and not unfinished and at > len(members)):
                continue
            origin = instant(inside[0][time]) if counted else start
            found.append(Report(horizon, at, Window(key, start, end, inside, origin)))
    return found


def _near(horizon: Horizon, place: Any) -> Iterator[Fraction]:
    return horizon.reports(Fraction(place), Fraction(place))


def shown(edge: Fraction, *, doubles: bool) -> Any:
    """An edge of a window: exact, or the double nearest to it."""
    if doubles:
        return float(edge)
    return int(edge) if edge.denominator == 1 else edge
