"""The series of `growth` as small log-log panels: time on the left, memory on the right."""

from __future__ import annotations

import math
from dataclasses import dataclass

from experiments.multi_granular.draw import COLOURS, line, text

WIDTH, HEIGHT, LEFT, TOP, LEGEND = 250, 190, 56, 58, 176
ACROSS, DOWN = LEFT + WIDTH + LEGEND, TOP + HEIGHT + 44
PALETTE = (*COLOURS, "#b8902b")
GRID, GUIDE = 'stroke="#e4e4e4"', 'stroke="#999" stroke-dasharray="2 3"'


@dataclass(frozen=True)
class Line:
    """Points of a size and a value, above 0; the number of its colour."""

    name: str
    points: list[tuple[float, float]]
    colour: int
    dashed: bool = False


def svg(rows):
    """A row of panels for each series: (axis, what stays, lines of seconds, lines of MB).

    Panels of a column have one scale of values, so that they can be compared.
    """
    parts = []
    for column, unit in enumerate(("seconds", "MB")):
        lines = [row[2 + column] for row in rows]
        scale = decades([y for each in lines for one in each for _, y in one.points])
        for number, (axis, stays, *_) in enumerate(rows):
            place = (column * ACROSS, number * DOWN)
            parts += panel(place, (axis, stays, unit), lines[number], scale)
    width, height = 2 * ACROSS, len(rows) * DOWN + 20
    note = "dotted: slope 1, through the first point"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>', *parts,
        text(width / 2, height - 8, note), "</svg>",
    ]) + "\n"  # fmt: skip


def decades(values):
    """The powers of ten around values: the exponents of the lowest and of the highest."""
    low, high = (round_(math.log10(of(values))) for round_, of in (
        (math.floor, min), (math.ceil, max)
    ))  # fmt: skip
    return low, max(high, low + 1)


def panel(place, names, lines, scale):
    """Lines over one size, each with its name on the right."""
    axis, stays, unit = names
    left, top = place[0] + LEFT, place[1] + TOP
    sizes = sorted({x for one in lines for x, _ in one.points})
    across = decades(sizes)

    def at(x, y):
        return (
            left + WIDTH * (math.log10(x) - across[0]) / (across[1] - across[0]),
            top + HEIGHT * (scale[1] - math.log10(y)) / (scale[1] - scale[0]),
        )

    parts = [
        text(place[0] + 8, top - 38, f"{unit} by {axis}", "start", size=12, weight="bold"),
        text(place[0] + 8, top - 23, stays, "start", size=10),
    ]
    for power in range(scale[0], scale[1] + 1):
        _, y = at(sizes[0], 10.0**power)
        parts.append(f'<path d="M{left} {y:.1f}h{WIDTH}" {GRID}/>')
        parts.append(text(left - 6, y + 4, f"{10.0**power:,g}", "end", size=10))
    for power in range(across[0], across[1] + 1):
        x, _ = at(10.0**power, 10.0 ** scale[0])
        parts.append(f'<path d="M{x:.1f} {top}v{HEIGHT}" {GRID}/>')
        parts.append(text(x, top + HEIGHT + 14, _short(10**power), size=10))
    parts.append(text(left + WIDTH / 2, top + HEIGHT + 29, axis))
    parts += _guide(at, lines[0].points, across[1], scale[1])
    for number, one in enumerate(lines):
        colour = PALETTE[one.colour]
        parts.append(line([at(*point) for point in one.points], colour, dashed=one.dashed))
        x, y = left + WIDTH + 12, top + 8 + 17 * number
        dash = ' stroke-dasharray="5 4"' if one.dashed else ""
        parts.append(f'<path d="M{x} {y - 4}h14" stroke="{colour}" stroke-width="3"{dash}/>')
        parts.append(text(x + 19, y, one.name, "start", size=10))
    return parts


def _guide(at, points, last, highest):
    """From the first point on as steep as the sizes, as far as the panel goes."""
    (x, y), *_ = points
    steps = min(last - math.log10(x), highest - math.log10(y))
    (x1, y1), (x2, y2) = at(x, y), at(x * 10**steps, y * 10**steps)
    return [f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" {GUIDE}/>']


def _short(size):
    """1,000 as 1k, a million as 1M."""
    for unit, letter in ((10**6, "M"), (10**3, "k")):
        if size >= unit:
            return f"{size // unit}{letter}"
    return f"{size:g}"
