"""Small SVG charts: lines over a logarithmic axis, and a map of who was best."""

from __future__ import annotations

import math

COLOURS = {
    "levels": "#d62728",
    "tuple-buckets": "#bcbd22",
    "aggregate-buckets": "#7f7f7f",
    "sweeping": "#2ca02c",
    "se-slicing": "#1f77b4",
    "se-ml-slicing": "#9467bd",
}
SHADES = ("#1f77b4", "#9ecae1", "#c5b0d5", "#9467bd", "#6a3d9a", "#3f007d")
WIDTH, HEIGHT, LEFT, TOP = 250, 170, 46, 40
FONT = 'font-family="sans-serif" fill="#333"'


def colour(name):
    """A technique's colour; heights of se-ml-slicing get darker."""
    if name in COLOURS:
        return COLOURS[name]
    height = int(name.rsplit("=", 1)[1])
    return SHADES[min(height // 4, len(SHADES) - 1)]


def label(x, y, what, anchor="middle", size=11, more=""):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" {more} '
        f"{FONT}>{what}</text>"
    )


def document(width, height, parts):
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">'
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="#fff"/>', *parts,
                      "</svg>"]) + "\n"  # fmt: skip


def lines(panels, x_title, y_title):
    """Panels (title, {name: [(x, y)]}) side by side, three a row; both axes logarithmic."""
    names = list(dict.fromkeys(name for _, series in panels for name in series))
    points = [p for _, series in panels for one in series.values() for p in one if p[1]]
    low = 10 ** math.floor(math.log10(min(y for _, y in points)))
    high = 10 ** math.ceil(math.log10(max(y for _, y in points)))
    parts = []
    for number, (title, series) in enumerate(panels):
        left = LEFT + (number % 3) * (WIDTH + 40)
        top = TOP + (number // 3) * (HEIGHT + 66)
        parts += _panel(title, series, left, top, low, high, x_title)
    rows = (len(panels) + 2) // 3
    bottom = TOP + rows * (HEIGHT + 66)
    wide = LEFT + min(len(panels), 3) * (WIDTH + 40)
    parts.append(label(4, 16, y_title, "start", 12))
    x, y = LEFT, bottom
    for name in names:
        parts.append(f'<rect x="{x}" y="{y - 9}" width="11" height="11" fill="{colour(name)}"/>')
        parts.append(label(x + 16, y, name, "start"))
        x += 26 + 6.6 * len(name)
        if x > wide - 120:
            x, y = LEFT, y + 18
    return document(wide, y + 14, parts)


def _panel(title, series, left, top, low, high, x_title):
    xs = [x for one in series.values() for x, _ in one]
    first, last = math.log10(min(xs)), math.log10(max(xs))

    def at(x, y):
        across = (math.log10(x) - first) / max(last - first, 1e-9)
        up = (math.log10(y) - math.log10(low)) / (math.log10(high) - math.log10(low))
        return left + across * WIDTH, top + HEIGHT - up * HEIGHT

    parts = [label(left + WIDTH / 2, top - 8, title, size=12)]
    tick = low
    while tick <= high * 1.01:
        _, y = at(xs[0], tick)
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{left + WIDTH}" y2="{y:.1f}" '
                     'stroke="#e4e4e4"/>')  # fmt: skip
        parts.append(label(left - 5, y + 4, f"{tick:g}", "end", 10))
        tick *= 10
    ticks = sorted(set(xs))
    shown = [x for x, then in zip(ticks, [*ticks[1:], 0], strict=True) if not x < then < 2.5 * x]
    parts += [label(at(x, low)[0], top + HEIGHT + 14, f"{x:,g}", size=9) for x in shown]
    parts.append(label(left + WIDTH / 2, top + HEIGHT + 30, x_title))
    for name, one in series.items():
        known = [at(x, y) for x, y in one if y]
        width = 2.6 if name == "levels" else 1.4
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in known)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour(name)}" '
                     f'stroke-width="{width}"/>')  # fmt: skip
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" fill="{colour(name)}"/>'
                  for x, y in known]  # fmt: skip
    return parts


def grid(title, cells, x_title, y_title):
    """A map: cells {(x, y): (name, text)}, coloured by name."""
    xs, ys = sorted({x for x, _ in cells}), sorted({y for _, y in cells})
    wide, high, left, top = 92, 34, 120, 44
    parts = [label(left + wide * len(xs) / 2, 20, title, size=13)]
    for i, x in enumerate(xs):
        parts.append(label(left + wide * (i + 0.5), top + high * len(ys) + 16, f"{x:,g}"))
        for j, y in enumerate(reversed(ys)):
            name, text = cells[x, y]
            box = f'x="{left + wide * i}" y="{top + high * j}" width="{wide - 2}"'
            fill = f'fill="{colour(name)}" fill-opacity="0.25"'
            parts.append(f'<rect {box} height="{high - 2}" {fill}/>')
            parts.append(label(left + wide * (i + 0.5), top + high * j + 14, name, size=9))
            parts.append(label(left + wide * (i + 0.5), top + high * j + 26, text, size=9))
    for j, y in enumerate(reversed(ys)):
        parts.append(label(left - 6, top + high * (j + 0.6), y, "end"))
    parts.append(label(left + wide * len(xs) / 2, top + high * len(ys) + 36, x_title))
    parts.append(label(6, top - 10, y_title, "start"))
    return document(left + wide * len(xs) + 10, top + high * len(ys) + 46, parts)
