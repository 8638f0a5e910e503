"""Writes the small drawings of the pages in docs, one for each kind of windows.

    python -m scripts.pictures

They are the drawings that a notebook shows of the same specs.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from fanlight.engine.kinds import list_kinds
from fanlight.engine.spec.pictures import Pictured
from fanlight.plots.sketches.model import Lane, Mark, Sketch
from fanlight.plots.sketches.svg import sketch_spec, to_svg

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
# Where a picture stands by itself, its text has the colour of its reader's system.
STYLE = "<style>svg{color:#24292f}@media (prefers-color-scheme:dark){svg{color:#dfe6ec}}</style>"
# What no spec alone shows: the windows that events are in, by the events' starts and stops.
EVENTS = {"call 1": (1, 4), "call 2": (7, 17), "call 3": (12, 22)}
STARTS = range(0, 25, 5)
SHARED = tuple(
    Mark(
        "window",
        at,
        at + 5,
        str(sum(start < at + 5 and stop > at for start, stop in EVENTS.values())),
    )
    for at in STARTS
)
TICKS = tuple((at, "0" if not at else f"{at} minutes") for at in range(0, 30, 5))
WATERMARK = 14
COUNTS = (2, 2, 3, 2, 2, 2, 3, 2, 2, 3, 2, 2, 9, 10, 8, 3, 2, 2, 2, 2)
QUOTES, TRADES = (4, 9, 19), (3.5, 8, 15, 25)
FILES = {"granular": "multi_granular"}
SPANNING = Sketch(
    "Sliding('5 minutes') over events that last",
    (
        *(Lane(name, (Mark("piece", *event),)) for name, event in EVENTS.items()),
        Lane("windows", SHARED),
    ),
    TICKS,
    "Each window counts every call that goes on in it.",
)


def sketch_parts() -> Sketch:
    """The same events cut at the ends of windows, and what windows have of these parts."""
    running = [sum(start <= at < stop for start, stop in EVENTS.values()) for at in range(25)]
    steps = [(float(at + end), n / 2) for at, n in enumerate(running) for end in (0, 1)]
    windows = [(at, running[at : at + 5]) for at in STARTS]
    told = {
        "overlap": [f"{sum(own)} minutes" for _, own in windows],
        "mean_running": [f"{sum(own) / 5:g}" for _, own in windows],
        "peak": [f"{max(own)} at minute {at + own.index(max(own))}" for at, own in windows],
    }
    lanes = [
        *(Lane(name, tuple(_cut(*event))) for name, event in EVENTS.items()),
        Lane("running", curve=tuple(steps)),
    ]
    for name, texts in told.items():
        marks = [Mark("window", at, at + 5, text) for at, text in zip(STARTS, texts, strict=True)]
        lanes.append(Lane(name, tuple(marks)))
    alt = "Calls cut at the ends of windows; a window has what its parts add up to."
    return Sketch("overlap, mean_running and peak", tuple(lanes), TICKS, alt)


def _cut(start: int, stop: int) -> Iterator[Mark]:
    """The parts of an event in windows, with how many minutes each has."""
    for at in STARTS:
        first, last = max(start, at), min(stop, at + 5)
        if first < last:
            yield Mark("piece", first, last, str(last - first))


def sketch_running() -> Sketch:
    """The same events as a stream knows them at a watermark: what has not ended goes on."""
    lanes = []
    for name, (start, stop) in EVENTS.items():
        known = [Mark("piece", start, min(stop, WATERMARK))]
        rest = [Mark("gap", WATERMARK, stop, "not ended")] if stop > WATERMARK else []
        lanes.append(Lane(name, (*known, *rest)))
    lanes.append(Lane("watermark", (Mark("row", WATERMARK, WATERMARK),)))
    windows = []
    for at in STARTS:
        if at < WATERMARK:
            found = sum(
                start < min(at + 5, WATERMARK) and stop > at for start, stop in EVENTS.values()
            )
            said = "final" if at + 5 <= WATERMARK else "so far"
            windows.append(Mark("window", at, at + 5, f"{found} {said}"))
    lanes.append(Lane("windows", tuple(windows)))
    alt = "Calls that are running at the watermark count in windows up to it."
    return Sketch("running events in a stream", tuple(lanes), TICKS[:-1], alt)


def sketch_bursts() -> Sketch:
    """Counts of minutes, and at each level what a window has beside its share of the longest."""
    lanes = [Lane("a minute", curve=tuple(
        (float(at + end), n / max(COUNTS)) for at, n in enumerate(COUNTS) for end in (0, 1)
    ))]  # fmt: skip
    whole = sum(COUNTS)
    for length in (5, 10, 20):
        marks = []
        for at in range(0, 20, length):
            found, wanted = sum(COUNTS[at : at + length]), whole * length / 20
            burst = length < 20 and found >= 1.5 * wanted
            text = f"{found}, {found / wanted:.1f} times {wanted:g}" if burst else str(found)
            marks.append(Mark("window", at, at + length, text))
        lanes.append(Lane(f"{length} minutes", tuple(marks)))
    ticks = tuple((at, "0" if not at else f"{at} minutes") for at in range(0, 25, 5))
    alt = "A window of a level has a burst where it has more than its share of the longest."
    return Sketch("bursts", tuple(lanes), ticks, alt)


READINGS = {40: 20.0, 90: 21.0}  # minutes after eleven
CARRY = 60


def sketch_held() -> Sketch:
    """Readings, for how long each holds, and the mean of each hour over the time of it."""
    instants = [*READINGS, max(READINGS) + CARRY]
    holds = [
        Mark("piece", at, min(after, at + CARRY), f"{READINGS[at]:g}")
        for at, after in pairwise(instants)
    ]
    hours = []
    for start in range(0, 180, 60):
        parts = [(min(one.end, start + 60) - max(one.start, start), one.text) for one in holds]
        area = sum(length * float(value) for length, value in parts if length > 0)
        mean = area / sum(length for length, _ in parts if length > 0)
        hours.append(Mark("window", start, start + 60, f"{mean:g}"))
    lanes = (
        Lane("readings", tuple(Mark("row", at, at) for at in READINGS)),
        Lane("holds", tuple(holds)),
        Lane("mean", tuple(hours)),
    )
    ticks = tuple((60 * hour, f"{11 + hour}:00") for hour in range(4))
    alt = "A reading holds until the next one, at most an hour; an hour begins with what holds."
    return Sketch("time_weighted_avg(carry='1 hour')", lanes, ticks, alt)


def sketch_as_of() -> Sketch:
    """Rows of two tables, and of each row that asks the time back to the row that it is given."""
    found = [max((at for at in QUOTES if at <= trade), default=None) for trade in TRADES]
    lanes = [Lane("quotes", tuple(Mark("row", at, at) for at in QUOTES))]
    lanes.append(Lane("trades", tuple(Mark("row", at, at) for at in TRADES)))
    for number, (trade, quote) in enumerate(zip(TRADES, found, strict=True), 1):
        if quote is not None:
            text = f"{_spell_minutes(trade - quote)} old"
            lanes.append(Lane(f"trade {number}", (Mark("window", quote, trade, text),)))
        else:
            lanes.append(Lane(f"trade {number}", (Mark("gap", 0, trade, "no quote"),)))
    alt = "Each trade is given the latest quote before it; the first has none."
    return Sketch("an as-of join", tuple(lanes), TICKS, alt)


def _spell_minutes(number: float) -> str:
    return f"{number:g} minute{'s' * (number != 1)}"


KINDS: dict[str, Pictured | Sketch] = {
    "held": sketch_held(),
    "spanning": SPANNING,
    "parts": sketch_parts(),
    "running": sketch_running(),
    "bursts": sketch_bursts(),
    "as_of": sketch_as_of(),
    **{FILES.get(kind.words.rule, kind.words.rule): kind.example for kind in list_kinds()},
}


def drawn(spec: Pictured | Sketch) -> str:
    """The drawing of a spec as a file."""
    shown = spec if isinstance(spec, Sketch) else sketch_spec(spec)
    head, _, rest = to_svg(shown).partition(">")
    return f"{head}>{STYLE}{rest}\n"


if __name__ == "__main__":
    for name, spec in KINDS.items():
        (IMAGES / f"{name}.svg").write_text(drawn(spec), "utf-8")
