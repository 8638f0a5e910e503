"""Sketches of sliding windows as a staircase, and of levels and queries as windows up to now."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from fanlight.engine.spec.granular import MultiGranular
from fanlight.engine.spec.sliding import Sliding
from fanlight.plots.sketches.lengths import drawn_length, spell_length
from fanlight.plots.sketches.model import Lane, Mark, Sketch, select_ticks

MOST = 5  # windows that are drawn
CELLS = 40  # slides of a window that can be told apart
ROOM = 90  # characters that fit along the axis
LEAST = 0.32  # share of the width that the shortest window needs, or its text does not fit
SCALE = 8  # if the longest window is longer than so many of the shortest, no scale is kept
ENOUGH = 4  # example rows that stand for more
SOME_ROWS = (0.0, 0.45, 0.7, 1.35, 1.8, 3.15, 3.4, 3.65, 3.9)  # in slides: one has no row
WAITS = (0.0, 0.35, 0.5, 0.9, 1.3)  # between example rows, in ranges of the window


def sketch_sliding(spec: Sliding) -> Sketch:
    """The first few sliding windows as a staircase, each a slide later than the one before."""
    if spec.slide_by_tuple:
        return _sketch_at_rows(spec)
    if spec.range_of_tuples:
        return _sketch_last_rows(spec)
    if spec.anew:
        return _sketch_growing(spec)
    length, step, measure = drawn_length(spec), spec.slide.value, spec.slide.measure
    rows = spec.measure == "rows"
    shown = MOST if step <= length else 3
    lanes = []
    if rows and (shown - 1) * step + length <= CELLS:
        count = int((shown - 1) * step + length)
        lanes.append(Lane("rows", tuple(Mark("row", k + 0.5, k + 0.5) for k in range(count))))
    text = spell_length(spec.range.value, spec.measure)
    for m in range(shown):
        box = Mark("window", float(m * step), float(m * step + length), "" if m else text)
        lanes.append(Lane(f"window {m}", (box, *_mark_a_row(spec, box))))
    if step > length:
        gaps = [Mark("gap", float(m * step + length), float((m + 1) * step), "" if m else "gap")
                for m in range(shown - 1)]  # fmt: skip
        lanes.append(Lane("in no window", tuple(gaps)))
    whole = (shown - 1) * step + length
    places = {Fraction(0), length, whole, *(m * step for m in range(shown))}
    every = spell_length(step, measure)
    overlap = spec.overlap
    share = f"{round(overlap):,}" if overlap >= 1000 else f"{float(overlap):.3g}"
    alt = f"Windows of {text} that start every {every}."
    if spec.tumbling:
        alt = f"Windows of {text} side by side: each row is in one."
    elif step > length:
        alt += " Rows in a gap between windows are in none."
    else:
        alt += f" Each row is in {share} windows{'' if overlap % 1 == 0 else ' on average'}."
    notes = _offset_notes(spec)
    if not spec.tumbling and step < length and overlap > shown:
        notes = (*notes, f"{shown} of the {share} windows that hold a row are drawn")
    ticks = [(float(place), spell_length(place, measure)) for place in places]
    return Sketch(
        repr(spec), tuple(lanes), select_ticks(ticks, (0, float(whole)), ROOM), alt, notes
    )


def _sketch_growing(spec: Sliding) -> Sketch:
    """The first few windows of a size, and its longest, over an axis of steps."""
    size = spell_length(spec.range.value, spec.measure)
    step = spell_length(spec.slide.value, spec.slide.measure)
    alike = spec.slide.measure == spec.measure
    count = int(spec.overlap) if alike else CELLS  # so many days has no month, and they differ
    shown = count if count <= MOST + 1 else MOST
    lengths = [spell_length(n * spec.slide.value, spec.slide.measure) for n in range(1, shown)]
    lanes = [Lane(f"window {n - 1}", (Mark("window", 0, n),)) for n in range(1, shown)]
    last = f"window {count - 1}" if alike else "the last"
    lanes.append(Lane(last, (Mark("window", 0, shown, size),)))
    notes = _offset_notes(spec)
    if shown < count:
        notes = (*notes, f"the first {shown - 1} windows and the last are drawn, not to scale")
    ticks = [(0.0, "0"), *((float(n), text) for n, text in enumerate(lengths, 1))]
    ticks.append((float(shown), size))
    alt = f"Windows from the start of each {size}, one that ends with each {step}."
    return Sketch(
        repr(spec), tuple(lanes), select_ticks(ticks, (0, float(shown)), ROOM), alt, notes
    )


def _mark_a_row(spec: Sliding, window: Mark) -> tuple[Mark, ...]:
    """A dot in a window that holds the row of the example, if all rows are in as many windows."""
    length, step = drawn_length(spec), spec.slide.value
    row = float(length - step / 2)
    if spec.measure == "rows" or spec.tumbling or length % step:
        return ()
    return (Mark("row", row, row),) if window.start <= row < window.end else ()


def _offset_notes(spec: Sliding) -> tuple[str, ...]:
    notes = (f"counted from the offset, {spec.offset}",) if spec.offset.value else ()
    return notes if drawn_length(spec) == spec.range.value else (*notes, "of months of 30 days")


def _sketch_at_rows(spec: Sliding) -> Sketch:
    """Windows that end at every row, or at every so many, over a few example rows."""
    every = int(spec.slide.value)
    near = min(every, ENOUGH)  # rows from one end to the next, as they are drawn
    places, at = [], 1.0
    for number in range(len(WAITS) if every == 1 else 3 * near):
        at += WAITS[number % len(WAITS)]
        places.append(at)
    length = spell_length(spec.range.value, spec.measure)
    lanes = [_example_rows(places)]
    lanes += [
        Lane(f"window {k}", (Mark("window", place - 1, place, "" if k else length),))
        for k, place in enumerate(places[near - 1 :: near])
    ]
    alt = f"A window of {length} ends at every {'row' if every == 1 else f'{every} rows'}."
    return Sketch(repr(spec), tuple(lanes), (), alt, _example_notes(every))


def _sketch_last_rows(spec: Sliding) -> Sketch:
    """The last rows before the end of each SLIDE with a row, over a few example rows."""
    count, slide = int(spec.range.value), spec.slide
    near = min(count, ENOUGH)
    lanes = [_example_rows(SOME_ROWS)]
    ends = sorted({math.floor(place) + 1 for place in SOME_ROWS})
    for number, end in enumerate(ends):
        first = [place for place in SOME_ROWS if place < end][-near:][0]
        text = f"the last {spell_length(spec.range.value, 'rows')}" if number == 1 else ""
        lanes.append(Lane(f"window {number}", (Mark("window", first, end, text),)))
    places = [(float(n), spell_length(n * slide.value, slide.measure)) for n in range(ends[-1] + 1)]
    alt = f"The last {count} rows at the end of each {spell_length(slide.value, slide.measure)}."
    notes = (*_offset_notes(spec), *_example_notes(count))
    ticks = select_ticks(places, (0, float(ends[-1])), ROOM)
    return Sketch(repr(spec), tuple(lanes), ticks, alt, notes)


def _example_rows(places: Sequence[float]) -> Lane:
    return Lane("rows", tuple(Mark("row", place, place) for place in places))


def _example_notes(count: int) -> tuple[str, ...]:
    """What is said of example rows, of which fewer may be drawn than there are."""
    fewer = (f"{ENOUGH} of {count} rows are drawn",) if count > ENOUGH else ()
    return ("rows are drawn as an example", *fewer)


def sketch_levels(spec: MultiGranular) -> Sketch:
    """The newest window of each level, all of which end now, the finest on top."""
    named = [(f"level {level.number}", level.windows) for level in spec.levels]
    notes = () if spec.offset is None else (f"reports are counted from the offset, {spec.offset}",)
    alt = "Horizons that end at the same instant: "
    return _sketch_horizons(repr(spec), named, alt, notes)


def sketch_queries(specs: Sequence[Sliding]) -> Sketch:
    """The newest window of each query of a list, all of which end now."""
    named = [(f"query {number}", spec) for number, spec in enumerate(specs)]
    return _sketch_horizons(repr(list(specs)), named, "Windows of several queries: ", ())


def _sketch_horizons(
    heading: str, named: Sequence[tuple[str, Sliding]], alt: str, notes: tuple[str, ...]
) -> Sketch:
    lengths = [spec.range.value for _, spec in named]
    least, most = min(lengths), max(lengths)
    far = most > SCALE * least
    lanes, parts, ticks = [], [], [(0.0, "now")]
    for name, spec in named:
        length, step = spec.range.value, spec.slide.value
        start = -_share_of_width(length, least, most) if far else -float(length / most)
        what = f"{spell_length(length, spec.measure)}, every {spell_length(step, spec.measure)}"
        marks = [Mark("window", start, 0, what)]
        if step < length and length / step <= CELLS:
            cells = math.floor(length / step)
            width = start / float(length / step)
            marks += [Mark("slice", (k + 1) * width, k * width) for k in range(cells)]
        lanes.append(Lane(name, tuple(marks)))
        parts.append(f"{name}, {what}")
        ticks.append((start, spell_length(-length, spec.measure)))
    if far:
        notes = (*notes, "not to scale")
    shown = select_ticks(ticks, (-1, 0), ROOM)
    return Sketch(heading, tuple(lanes), shown, alt + "; ".join(parts) + ".", notes)


def _share_of_width(length: Fraction, least: Fraction, most: Fraction) -> float:
    """The share of the width for a window where lengths differ too much to be drawn to scale."""
    share = math.log(float(length / least)) / math.log(float(most / least))
    return LEAST + (1 - LEAST) * share
