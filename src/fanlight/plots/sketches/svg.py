"""Sketches as SVG: small, readable in light and dark notebooks, with an alt text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from typing import Any

from fanlight.engine.kinds import kind_of
from fanlight.engine.kinds.kind import FRAMED, LEVELLED, PLACED, SNAPPED, TRAILED, WIDENED, Family
from fanlight.engine.spec.frames import Frame
from fanlight.engine.spec.pictures import Picture
from fanlight.engine.spec.trailing import Labelled
from fanlight.plots.sketches.kinds import (
    add_plan,
    sketch_frames,
    sketch_horizons,
    sketch_levels,
    sketch_queries,
    sketch_sliding,
    sketch_snapshot,
    sketch_trailing,
    sketch_widening,
)
from fanlight.plots.sketches.model import Lane, Mark, Sketch

WIDTH, LEFT, RIGHT, LANE, CURVE, AXIS = 640, 92, 12, 17, 64, 22
WINDOW, SLICE = "#3a83c0", "#d1762f"
FONT = "system-ui,-apple-system,'Segoe UI',Roboto,sans-serif"
Across = Callable[[float], float]
LONGEST = 300  # characters of a text, of which the rest is cut off


def to_html(sketch: Sketch, *about: str) -> str:
    """A sketch as HTML: heading, drawing, the lines ``about`` it, and its notes."""
    lines = "".join(
        f'<div style="font-size:12px;opacity:.75">{_escape(line)}</div>'
        for line in (*about, *sketch.notes)
    )
    return (
        f'<div style="max-width:{WIDTH}px;font-family:{FONT}">'
        f'<code style="font-size:13px">{_escape(sketch.heading)}</code>'
        f"{to_svg(sketch)}{lines}</div>"
    )


def to_svg(sketch: Sketch) -> str:
    """A sketch as SVG, in the colour of the text around it and two that suit light and dark."""
    low, high = sketch.span
    scale = (WIDTH - LEFT - RIGHT) / ((high - low) or 1)

    def across(place: float) -> float:
        return LEFT + (place - low) * scale

    parts, top = [], 4.0
    for lane in sketch.lanes:
        tall = CURVE if lane.curve else LANE
        parts += _lane_svg(lane, across, top, tall)
        top += tall
    if sketch.ticks:
        parts.append(f'<path d="M{LEFT} {top + 2:.0f}H{WIDTH - RIGHT}" stroke="currentColor" '
                     'stroke-opacity=".35"/>')  # fmt: skip
        parts += [_tick_svg(across(place), top + 2, text) for place, text in sketch.ticks]
        top += AXIS
    label = escape(_shorten(f"{sketch.heading}. {sketch.alt}"), quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top + 4:.0f}" '
        f'width="100%" role="img" aria-label="{label}" font-family="{escape(FONT)}" '
        f'font-size="11" fill="currentColor" style="display:block"><title>{label}</title>'
        + "".join(parts)
        + "</svg>"
    )


def _lane_svg(lane: Lane, across: Across, top: float, tall: float) -> list[str]:
    middle = top + tall / 2
    name, y = _escape(lane.name), middle + 4
    parts = [f'<text x="{LEFT - 8}" y="{y:.1f}" text-anchor="end" fill-opacity=".75">{name}</text>']
    for height in lane.rules:
        y = top + tall - 4 - height * (tall - 8)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="{SLICE}" '
                     'stroke-dasharray="4 3"/>')  # fmt: skip
    if lane.curve:
        path = " ".join(f"{across(x):.1f},{top + tall - 4 - y * (tall - 8):.1f}"
                        for x, y in lane.curve)  # fmt: skip
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="currentColor" stroke-opacity=".8"/>'
        )
    return parts + [_mark_svg(mark, tint, across(mark.start), across(mark.end), middle, tall)
                    for mark, tint in zip(lane.marks, lane.tints, strict=True)]  # fmt: skip


def _mark_svg(mark: Mark, tint: float, start: float, end: float, middle: float, tall: float) -> str:
    if mark.kind == "row":
        return f'<circle cx="{start:.1f}" cy="{middle:.1f}" r="2.4"/>'
    y, high, wide = middle - tall / 2 + 2.5, tall - 5, max(end - start, 1)
    if mark.kind == "slice":
        return f'<path d="M{end:.1f} {y + high:.1f}v3.5" stroke="{SLICE}"/>'
    dashed = ' stroke-dasharray="3 3"' if mark.kind == "gap" else ""
    full = f"{tint:.2g}".removeprefix("0") or "0"
    shade = SLICE if mark.kind == "piece" else WINDOW
    box = (
        f'<rect x="{start:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high}" rx="2" '
        f'fill="{shade}" fill-opacity="{full}" stroke="{shade}"{dashed}/>'
    )
    if not mark.text or len(mark.text) * 6.2 > wide:
        return box
    return box + f'<text x="{start + 6:.1f}" y="{middle + 4:.1f}">{_escape(mark.text)}</text>'


def _tick_svg(x: float, y: float, text: str) -> str:
    anchor = "end" if x > WIDTH - 50 else "middle"
    x = min(x, WIDTH - RIGHT)
    return (
        f'<path d="M{x:.1f} {y:.0f}v4" stroke="currentColor" stroke-opacity=".35"/>'
        f'<text x="{x:.1f}" y="{y + 16:.0f}" text-anchor="{anchor}">{_escape(text)}</text>'
    )


def _escape(given: str) -> str:
    return escape(_shorten(given), quote=False)


def _shorten(text: str) -> str:
    """A text of ``LONGEST`` characters at most."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


_SKETCHES: dict[Family, Callable[[Any], Sketch]] = {
    PLACED: sketch_sliding,
    LEVELLED: sketch_levels,
    FRAMED: sketch_frames,
    WIDENED: sketch_widening,
    TRAILED: sketch_trailing,
    SNAPPED: sketch_snapshot,
}


def sketch_spec(spec: object) -> Sketch:
    """The sketch of a spec, or of a list of sliding windows."""
    kind = kind_of(spec)
    if isinstance(spec, Labelled):
        return sketch_horizons(dict(zip(spec.labels, spec.windows, strict=True)))
    if kind is not None and isinstance(spec, Sequence):
        return sketch_queries(spec)
    if kind is not None:
        return _SKETCHES[kind.family](spec)
    if isinstance(spec, Frame):  # a kind of frame that a user wrote
        return sketch_frames(spec)
    msg = f"a {type(spec).__name__} has no windows to draw"
    raise TypeError(msg)


def sketch_picture(picture: Picture) -> Sketch:
    """The sketch of a picture; if the picture has a plan, with its slices."""
    spec = picture.spec
    sketch = sketch_spec(list(spec) if isinstance(spec, tuple) else spec)
    if picture.strategy:
        sketch = add_plan(sketch, picture)
    return replace(sketch, heading=picture.heading) if picture.heading else sketch


def html(picture: Picture) -> str:
    """A picture as HTML that needs no package: the sketch, and the picture's text below it."""
    drawing = to_html(sketch_picture(picture), *([picture.note] if picture.note else []))
    if not picture.text:
        return drawing
    text = escape(picture.text, quote=False)
    return f'{drawing}<pre style="font-size:12px;overflow-x:auto">{text}</pre>'
