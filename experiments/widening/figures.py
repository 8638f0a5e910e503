"""Figures 5 and 6 as small SVGs: lines in panels, linear or logarithmic."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

WIDTH, HEIGHT, TOP, FLOOR = 430, 330, 44, 66
LEFT, RIGHT = 66, 34
STYLE = 'font-family="sans-serif" fill="#333"'


@dataclass
class Panel:
    """Series (name, colour, points, dashed) over two axes."""

    title: str
    across: str
    up: str
    series: list = field(default_factory=list)
    logarithmic: bool = False

    def add(self, name, colour, points, *, dashed=False):
        self.series.append((name, colour, [p for p in points if not math.isnan(p[1])], dashed))


def text(x, y, what, anchor="middle", *, size=12, weight="normal", turn=""):
    style = f'text-anchor="{anchor}" font-size="{size}" font-weight="{weight}" {STYLE}'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style} {turn}>{what}</text>'


def line(x1, y1, x2, y2, style):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}/>'


def ticks(low, high, logarithmic):
    if logarithmic:
        return [
            10.0**n for n in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
        ]
    step = 10 ** math.floor(math.log10(high / 4))
    step = next(step * m for m in (1, 2, 2.5, 5, 10) if high / (step * m) <= 6)
    return [step * n for n in range(int(high / step) + 1)]


def bounds(values, logarithmic):
    if logarithmic:
        return min(values) / 1.3, max(values) * 1.3
    return 0.0, max(values) * 1.05


def told(value):
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:g}"


def drawn(panel, left):
    flat = [p for _, _, points, _ in panel.series for p in points]
    edges = [bounds([p[i] for p in flat], panel.logarithmic) for i in (0, 1)]

    def place(point):
        scale = math.log if panel.logarithmic else float
        shares = [
            (scale(value) - scale(low)) / (scale(high) - scale(low))
            for value, (low, high) in zip(point, edges, strict=True)
        ]
        wide, tall = WIDTH - LEFT - RIGHT, HEIGHT - TOP - FLOOR
        return left + LEFT + wide * shares[0], TOP + tall * (1 - shares[1])

    x0, y0 = place((edges[0][0], edges[1][0]))
    x1, y1 = place((edges[0][1], edges[1][1]))
    parts = [text((x0 + x1) / 2, TOP - 16, panel.title, weight="bold")]
    for value in ticks(*edges[1], panel.logarithmic):
        _, y = place((edges[0][0], value))
        parts += [line(x0, y, x1, y, 'stroke="#e8e8e8"'), text(x0 - 6, y + 4, told(value), "end")]
    for value in ticks(*edges[0], panel.logarithmic):
        x, _ = place((value, edges[1][0]))
        parts += [line(x, y0, x, y0 + 4, 'stroke="#333"'), text(x, y0 + 17, told(value))]
    parts += [line(x0, y0, x1, y0, 'stroke="#333"'), line(x0, y0, x0, y1, 'stroke="#333"')]
    parts.append(text((x0 + x1) / 2, y0 + 36, panel.across))
    middle = (y0 + y1) / 2
    parts.append(
        text(left + 14, middle, panel.up, turn=f'transform="rotate(-90 {left + 14} {middle:.0f})"')
    )
    for number, (name, colour, points, dashed) in enumerate(panel.series):
        placed = [place(point) for point in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'
        )
        if not dashed:
            parts += [
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in placed
            ]
        y = HEIGHT + 4 + 18 * number
        parts.append(line(x0, y - 4, x0 + 22, y - 4, f'stroke="{colour}" stroke-width="2"{dash}'))
        parts.append(text(x0 + 28, y, name, "start"))
    return parts


def svg(panels):
    rows = max(len(panel.series) for panel in panels)
    wide, tall = WIDTH * len(panels), HEIGHT + 18 * rows + 4
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}">',
        f'<rect width="{wide}" height="{tall}" fill="#fff"/>',
    ]
    for number, panel in enumerate(panels):
        parts += drawn(panel, WIDTH * number)
    return "\n".join([*parts, "</svg>"]) + "\n"
