"""Figure 3 as a small SVG: one panel a place of measuring, groups of columns as in the paper."""

from __future__ import annotations

import math

COLOURS = {2: "#c6dbef", 5: "#6baed6", 10: "#2171b5", 20: "#08306b"}
WIDTH, HEIGHT, LEFT, TOP, GAP = 860, 300, 50, 46, 70
TEXT = 'font-family="sans-serif" fill="#333"'


def svg(panels, top):
    """Panels (title, rows with tuples, panes, ratio, predicted) side by side, up to ``top``."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT + 120}">',
        f'<rect width="{WIDTH}" height="{HEIGHT + 120}" fill="#fff"/>',
    ]
    left = LEFT
    bars = [len({r["tuples"] for r in rows}) for _, rows in panels]
    room = WIDTH - LEFT - GAP * (len(panels) - 1) - 10
    for (title, rows), count in zip(panels, bars, strict=True):
        width = room * count / sum(bars)
        parts += panel(title, rows, left, width, top)
        left += width + GAP
    middle = TOP + HEIGHT / 2
    turned = f'transform="rotate(-90 14 {middle})"'
    parts.append(
        text(14, middle, "time paned / time windowed").replace("<text ", f"<text {turned} ")
    )
    parts += legend()
    return "\n".join([*parts, "</svg>"]) + "\n"


def at(ratio, top):
    return TOP + HEIGHT - HEIGHT * 0.82 * min(ratio, top * 1.04) / top - 10


def line(x1, y1, x2, y2, style):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}/>'


def text(x, y, what, anchor="middle", *, size=12, weight="normal"):
    style = f'text-anchor="{anchor}" font-size="{size}" font-weight="{weight}" {TEXT}'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{what}</text>'


def panel(title, rows, left, width, top):
    groups = sorted({r["tuples"] for r in rows})
    kinds = sorted({r["panes"] for r in rows})
    step = width / len(groups)
    bar = step * 0.8 / len(kinds)
    floor = at(0, top)
    parts = [text(left + width / 2, TOP - 20, title, weight="bold")]
    tick = 0.0
    while tick <= top:
        style = 'stroke="#c00" stroke-dasharray="4 3"' if tick == 1 else 'stroke="#e4e4e4"'
        parts.append(line(left, at(tick, top), left + width, at(tick, top), style))
        parts.append(text(left - 6, at(tick, top) + 4, f"{tick:g}", "end"))
        tick += 0.5
    for i, tuples in enumerate(groups):
        middle = left + step * (i + 0.5)
        parts.append(text(middle, floor + 18, f"{tuples:g}"))
        for j, kind in enumerate(kinds):
            row = next(r for r in rows if (r["tuples"], r["panes"]) == (tuples, kind))
            if math.isnan(row["ratio"]):  # too short to say
                continue
            x, y = middle + bar * (j - len(kinds) / 2), at(row["ratio"], top)
            parts.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{bar * 0.92:.1f}" '
                f'height="{floor - y:.1f}" fill="{COLOURS[kind]}"/>'
            )
            model = at(row["predicted"], top)
            parts.append(line(x, model, x + bar * 0.92, model, 'stroke="#e6550d" stroke-width="2"'))
            if row["ratio"] > top * 1.04:
                parts.append(text(x + bar / 2, y - 4, f"{row['ratio']:.1f}", size=9))
    parts.append(line(left, floor, left + width, floor, 'stroke="#333"'))
    parts.append(text(left + width / 2, floor + 38, "tuples a pane"))
    return parts


def legend():
    y, x = HEIGHT + 104, LEFT
    parts = []
    for kind, colour in COLOURS.items():
        parts.append(f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{colour}"/>')
        parts.append(text(x + 18, y, f"P/W {kind}", "start"))
        x += 84
    parts.append(line(x, y - 4, x + 14, y - 4, 'stroke="#e6550d" stroke-width="2"'))
    parts.append(text(x + 20, y, "formulas 3.1 / 3.3 with equal constants", "start"))
    x += 266
    parts.append(line(x, y - 4, x + 20, y - 4, 'stroke="#c00" stroke-dasharray="4 3"'))
    parts.append(text(x + 26, y, "paned = windowed", "start"))
    return parts
