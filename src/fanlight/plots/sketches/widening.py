"""Sketches of progressive widening: windows of two batches, one level above the other."""

from __future__ import annotations

from fractions import Fraction

from fanlight.engine.spec.widening import ProgressiveWidening
from fanlight.plots.sketches.lengths import spell_length
from fanlight.plots.sketches.model import Lane, Mark, Sketch, select_ticks

LEVELS = 3
LONGEST = 8  # times the duration of level 0: levels with longer ones are not drawn
ROOM = 74


def sketch_widening(spec: ProgressiveWidening) -> Sketch:
    """The windows of the first levels; those of one level overlap by a batch, as stairs."""
    durations = [one for one in spec.durations[:LEVELS] if one <= LONGEST * spec.durations[0]]
    whole = 2 * durations[-1]
    lanes = []
    for number in range(len(durations) - 1, -1, -1):
        batch = durations[number]
        text = f"2 × {spell_length(Fraction(batch), spec.measure)}"
        starts = range(0, whole - 2 * batch + 1, batch)
        for odd in (0, 1):
            marks = [Mark("window", float(at), float(at + 2 * batch), "" if at else text)
                     for at in starts if (at // batch) % 2 == odd]  # fmt: skip
            if marks:
                lanes.append(Lane("" if odd else f"level {number}", tuple(marks)))
    ticks = [(float(d), spell_length(Fraction(d), spec.measure)) for d in (0, *durations, whole)]
    count = len(spec.durations)
    last = spell_length(Fraction(2 * spec.durations[-1]), spec.measure)
    first = spell_length(Fraction(2 * spec.durations[0]), spec.measure)
    alt = (
        f"{count} levels of windows, each of two batches and starting every batch: from {first} "
        f"up to {last}. Every pattern of at most {spec.max_duration} is in one of them."
    )
    shown = len(durations)
    notes = (f"{shown} of {count} levels are drawn",) if count > shown else ()
    return Sketch(
        repr(spec), tuple(lanes), select_ticks(set(ticks), (0, float(whole)), ROOM), alt, notes
    )
