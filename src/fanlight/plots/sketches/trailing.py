"""A sketch of trailing windows: what a row looks back at."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from fanlight.engine.spec.trailing import Trailing
from fanlight.plots.sketches.lengths import spell_length
from fanlight.plots.sketches.model import Lane, Mark, Sketch

ROWS = (0.06, 0.16, 0.29, 0.44, 0.58, 0.63, 0.81, 0.94, 1.0)  # example rows, the last one asks
GONE = 0.05  # where a window without a beginning begins


def sketch_trailing(spec: Trailing) -> Sketch:
    """What one trailing window holds of a few rows."""
    return sketch_horizons({"window": spec})


def sketch_horizons(named: Mapping[str, Trailing]) -> Sketch:
    """What trailing windows hold of a few rows, as of the last one."""
    lengths = [_reach(spec) for spec in named.values()]
    longest = max(filter(None, lengths), default=Fraction(1)) * Fraction(5, 4)
    lanes = [Lane("rows", tuple(Mark("row", place, place) for place in ROWS))]
    for (name, spec), reach in zip(named.items(), lengths, strict=True):
        delay = float(spec.delay.value / longest) if spec.delay else 0.0
        begin = GONE if reach is None else 1 - float(reach / longest)
        lanes.append(Lane(name or "window", (Mark("window", begin, 1 - delay, _spell(spec)),)))
    shown = [repr(spec) for spec in named.values()]
    heading = shown[0] if len(shown) == 1 else ", ".join(shown)
    notes = ("rows are drawn as an example; the last one looks back",)
    return Sketch(heading, tuple(lanes), ((1.0, "the row"),), _alt(named), notes)


def _reach(spec: Trailing) -> Fraction | None:
    """How far back a window reaches; None if that is not a time."""
    if spec.range is None or spec.range.measure == "rows":
        return None
    return spec.range.value + (spec.delay.value if spec.delay else 0)


def _spell(spec: Trailing) -> str:
    return "all rows" if spec.range is None else spell_length(spec.range.value, spec.range.measure)


def _alt(named: Mapping[str, Trailing]) -> str:
    parts = []
    for spec in named.values():
        delay = spec.delay and spell_length(spec.delay.value, spec.delay.measure)
        parts.append(_spell(spec) + (f", known after {delay}" if delay else ""))
    return f"What a row looks back at: {'; '.join(parts)}."
