"""The sketch of each kind of window, and the slices of a plan below it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from fanlight.engine.kinds import kind_of
from fanlight.engine.kinds.examples import VALUES
from fanlight.engine.kinds.kind import Example
from fanlight.engine.plan.granules import Cut
from fanlight.engine.spec.frames.base import Frame
from fanlight.engine.spec.granular import MultiGranular
from fanlight.engine.spec.pictures import Picture
from fanlight.engine.spec.sliding import Sliding
from fanlight.engine.spec.snapshot import Snapshot
from fanlight.engine.spec.trailing import Trailing
from fanlight.engine.spec.units import HOURS, MICROSECONDS
from fanlight.engine.spec.widening import ProgressiveWidening
from fanlight.plots.sketches.model import (
    Lane,
    Mark,
    Sketch,
    drawn_length,
    select_ticks,
    spell_length,
)

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
    if spec.restarts:
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


_OWN = Example([(0, 8), (8, 15), (15, 24)], (), VALUES)  # for a kind of frame that has no example


def sketch_frames(spec: Frame) -> Sketch:
    """Example frames below the values, or the rows, that they are cut from."""
    kind = kind_of(spec)
    example = kind.make_example(spec) if kind is not None and kind.make_example else _OWN
    if example.times:
        lanes = [Lane("rows", tuple(Mark("row", at, at) for at in example.times))]
        last = max(end for _, end in example.spans)
    else:
        curve = tuple((float(k), value) for k, value in enumerate(example.curve))
        lanes = [Lane("values", curve=curve, rules=tuple(example.rules))]
        last = len(example.curve) - 1
    lines: list[list[Mark]] = []  # frames that overlap are drawn on different lines
    for start, end in example.spans:
        mark = Mark("window", float(start), float(min(end, last)))
        free = next((lane for lane in lines if lane[-1].end <= mark.start), None)
        if free is None:
            lines.append(free := [])
        free.append(mark)
    for number, row in enumerate(lines):
        lanes.append(Lane("" if number else example.noun, tuple(row)))
    alt = f"A {example.noun.removesuffix('s')} ends {spec.ends}."
    notes = ("an example: your data decides where frames end",)
    return Sketch(repr(spec), tuple(lanes), (), alt, notes)


EVENTS = ((0.02, 0.42), (0.18, 0.62), (0.34, 0.5), (0.74, 0.97))  # as an example


def sketch_snapshot(spec: Snapshot) -> Sketch:
    """Events that overlap, and a window from each start or stop to the next."""
    edges = sorted({at for event in EVENTS for at in event})
    windows = []
    for start, stop in pairwise(edges):
        running = sum(began <= start < ended for began, ended in EVENTS)
        if running:
            windows.append(Mark("window", start, stop, str(running)))
    lanes = [Lane("event", (Mark("piece", *event),)) for event in EVENTS]
    notes = ["events are drawn as an example; a window says how many are running"]
    if spec.min_duration:
        notes.append(f"windows shorter than {spec.min_duration.text} are left out")
    if spec.merge_equal:
        notes.append("windows with the same results that touch are one")
    alt = "Events that overlap, and below them a window from each start or stop to the next one."
    return Sketch(repr(spec), (*lanes, Lane("windows", tuple(windows))), (), alt, tuple(notes))


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
    reach = spec.range.value
    if spec.by_calendar:  # months as of 30 days
        hours = 30 * HOURS["day"] if spec.range.measure == "months" else 1
        reach *= hours * MICROSECONDS["hour"]
    return reach + (spec.delay.value if spec.delay else 0)


def _spell(spec: Trailing) -> str:
    return "all rows" if spec.range is None else spell_length(spec.range.value, spec.range.measure)


def _alt(named: Mapping[str, Trailing]) -> str:
    parts = []
    for spec in named.values():
        delay = spec.delay and spell_length(spec.delay.value, spec.delay.measure)
        parts.append(_spell(spec) + (f", known after {delay}" if delay else ""))
    return f"What a row looks back at: {'; '.join(parts)}."


LEVELS = 3
LONGEST = 8  # times the duration of level 0: levels with longer ones are not drawn
WIDENED_ROOM = 74


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
        repr(spec),
        tuple(lanes),
        select_ticks(set(ticks), (0, float(whole)), WIDENED_ROOM),
        alt,
        notes,
    )


MOST_SLICES = 120  # slices: more could not be told apart


def add_plan(sketch: Sketch, picture: Picture) -> Sketch:
    """Add the strategy of a plan to a sketch, and its slices if it cuts sliding windows."""
    spec, cut = picture.spec, picture.cut
    alt = f"{sketch.alt} The strategy is {picture.strategy}."
    if cut is None or not isinstance(spec, Sliding) or spec.mixed:
        return replace(sketch, alt=alt)
    # What one unit of the coordinate is on the sketch's axis.
    grid = cut.grid
    unit = (1.0 if spec.restarts else float(spec.slide.value)) / grid.slide
    slices = _mark_slices(cut, unit, sketch.span[1])
    if slices is None:
        note = f"a window is made of {cut.span} slices, too many to be drawn"
        return replace(sketch, alt=alt, notes=(*sketch.notes, note))
    lane = Lane("slices", slices)
    more = f" Each window is made of {cut.span} slices." if cut.span > 1 else ""
    return replace(sketch, lanes=(*sketch.lanes, lane), alt=alt + more)


def _mark_slices(cut: Cut, unit: float, end: float) -> tuple[Mark, ...] | None:
    """The slices from 0 to the end of the sketch as marks; None if they are too many to draw."""
    marks: list[Mark] = []
    number = 0
    while True:
        start = (cut.slice_start(number) - cut.grid.offset) * unit
        if start >= end * (1 - 1e-9):
            return tuple(marks)
        if len(marks) == MOST_SLICES:
            return None
        after = (cut.slice_start(number + 1) - cut.grid.offset) * unit
        if cut.span == 1:
            after = start + cut.grid.range * unit
        marks.append(Mark("piece", start, min(after, end)))
        number += 1
