"""The data of a sketch: lanes with marks over one axis."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from fanlight.engine.spec.sliding import Sliding
from fanlight.engine.spec.units import HOURS, Measure, write_duration, write_units

Kind = Literal["window", "slice", "piece", "gap", "row"]
TINTS = (0.22, 0.5)


@dataclass(frozen=True)
class Mark:
    """One thing on a lane, from ``start`` to ``end`` on the axis.

    A ``slice`` is a tick within a window, one at each slide; a ``piece`` is a slice of the plan, as
    a box on the lane of slices.
    """

    kind: Kind
    start: float
    end: float
    text: str = ""


@dataclass(frozen=True)
class Lane:
    """A row of a sketch: marks with a name before them, or a curve with heights from 0 to 1.

    ``rules`` are heights of the dashed lines across the curve, such as thresholds.
    """

    name: str
    marks: tuple[Mark, ...] = ()
    curve: tuple[tuple[float, float], ...] = ()
    rules: tuple[float, ...] = ()

    @property
    def tints(self) -> tuple[float, ...]:
        """The opacity of each mark; windows that touch alternate, or they would look like one."""
        tints: list[float] = []
        for place, mark in enumerate(self.marks):
            before = self.marks[place - 1] if place else None
            after = before is not None and before.kind == mark.kind and before.end == mark.start
            turn = after and tints[-1] == TINTS[0]
            tints.append(0.0 if mark.kind == "gap" else TINTS[1 if turn else 0])
        return tuple(tints)


@dataclass(frozen=True)
class Sketch:
    """A drawing of windows: heading, lanes from top to bottom, an axis, and notes below it.

    ``ticks`` are positions on the axis with their texts; ``alt`` is the alt text, which says in
    words what is drawn.
    """

    heading: str
    lanes: tuple[Lane, ...]
    ticks: tuple[tuple[float, str], ...]
    alt: str
    notes: tuple[str, ...] = ()

    @property
    def span(self) -> tuple[float, float]:
        """The first and the last position at which anything is drawn."""
        places = [place for lane in self.lanes for mark in lane.marks
                  for place in (mark.start, mark.end)]  # fmt: skip
        places += [x for lane in self.lanes for x, _ in lane.curve]
        return min(places, default=0.0), max(places, default=1.0)


def select_ticks(
    ticks: Iterable[tuple[float, str]], span: tuple[float, float], room: int
) -> tuple[tuple[float, str], ...]:
    """The ticks whose texts do not overlap on an axis that has room for so many characters.

    The last tick has precedence, then the first one, then those between from left to right.

    >>> select_ticks([(0, "0"), (1, "one"), (10, "ten")], (0, 10), 20)
    ((0, '0'), (10, 'ten'))
    """
    scale = room / ((span[1] - span[0]) or 1)
    places = sorted(ticks)
    kept: list[tuple[float, str]] = []
    for place, text in places[-1:] + places[:-1]:
        wide = [abs(place - at) * scale - (len(text) + len(other)) / 2 for at, other in kept]
        if min(wide, default=2) >= 2:
            kept.append((place, text))
    return tuple(sorted(kept))


def spell_length(value: Fraction, measure: Measure) -> str:
    """A length, or a position on an axis, in words.

    >>> spell_length(Fraction(60_000_000), "time"), spell_length(Fraction(1, 2), "number")
    ('1 minute', '0.5')
    >>> spell_length(Fraction(1), "rows"), spell_length(Fraction(0), "time")
    ('1 row', '0')
    >>> spell_length(Fraction(3), "months"), spell_length(Fraction(48), "hours")
    ('3 months', '2 days')
    """
    if value == 0:
        return "0"
    if measure == "time":
        return write_duration(int(value))
    if measure == "months" and value % 12:  # not in quarters, between months on an axis
        return f"{int(value)} month" + ("" if abs(value) == 1 else "s")
    if measure in ("months", "hours"):
        return write_units(int(value), in_months=measure == "months")
    plain = f"{int(value):,}" if value.denominator == 1 else f"{float(value):g}"
    if measure == "rows":
        return f"{plain} row" + ("" if abs(value) == 1 else "s")
    return plain


def drawn_length(spec: Sliding) -> Fraction:
    """RANGE in the measure of SLIDE: of months that slide by days, of 30 days each."""
    months = spec.measure == "months" and spec.slide.measure == "hours"
    return spec.range.value * 30 * HOURS["day"] if months else spec.range.value
