"""Lines in small panels, as SVG."""

from __future__ import annotations

import math

COLOURS = ("#08519c", "#e6550d", "#31a354", "#756bb1", "#636363")
WIDTH, HEIGHT, LEFT, TOP = 400, 230, 62, 34
TEXT = 'font-family="sans-serif" fill="#333"'


def text(x, y, what, anchor="middle", size=11, weight="normal"):
    style = f'text-anchor="{anchor}" font-size="{size}" font-weight="{weight}" {TEXT}'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{what}</text>'


def line(points, colour, *, dashed=False):
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    dots = (
        ""
        if dashed
        else "".join(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{colour}"/>' for x, y in points
        )
    )
    return (
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8"{dash}/>{dots}'
    )


def scale(values, low, high, *, log):
    """A function from values to places, and ticks."""
    least, most = min(values), max(values)
    if log:
        least, most = math.log10(least), math.log10(most)
        ticks = [10**n for n in range(math.ceil(least - 1e-9), math.floor(most + 1e-9) + 1)]
        if len(ticks) < 2:
            ticks = sorted(set(values))
    else:
        least = 0
        step = 10 ** math.floor(math.log10(most))
        step = next(s for s in (step / 5, step / 2, step, step * 2) if most / s <= 6)
        ticks = [n * step for n in range(int(most / step) + 1)]
    room = (most - least) or 1

    def place(value):
        at = math.log10(value) if log else value
        return low + (at - least) / room * (high - low)

    return place, ticks


def panel(x, y, title, xname, yname, lines, *, logx=False, logy=False):
    """``lines``: (name, points, dashed)."""
    xs = [p[0] for _, points, _ in lines for p in points]
    ys = [p[1] for _, points, _ in lines for p in points]
    across, xticks = scale(xs, x + LEFT, x + WIDTH - 12, log=logx)
    up, yticks = scale(ys, y + TOP + HEIGHT - 30, y + TOP + 8, log=logy)
    floor = y + TOP + HEIGHT - 30
    parts = [text(x + WIDTH / 2, y + 18, title, size=13, weight="bold")]
    for tick in yticks:
        parts.append(
            f'<line x1="{x + LEFT}" x2="{x + WIDTH - 12}" y1="{up(tick):.1f}" '
            f'y2="{up(tick):.1f}" stroke="#e4e4e4"/>'
        )
        parts.append(text(x + LEFT - 6, up(tick) + 4, f"{tick:g}", "end"))
    parts += [text(across(t), floor + 16, f"{t:g}") for t in (xticks if logx else sorted(set(xs)))]
    parts.append(text(x + WIDTH / 2 + 20, floor + 33, xname))
    middle = y + TOP + HEIGHT / 2
    parts.append(
        text(x + 13, middle, yname).replace(
            "<text ", f'<text transform="rotate(-90 {x + 13} {middle})" '
        )
    )
    names = list(dict.fromkeys(name for name, _, _ in lines))
    for name, points, dashed in lines:
        placed = [(across(a), up(b)) for a, b in points]
        parts.append(line(placed, COLOURS[names.index(name)], dashed=dashed))
    for n, name in enumerate(names):
        at = x + LEFT + (n % 3) * 112
        low = floor + 52 + n // 3 * 16
        parts.append(f'<rect x="{at}" y="{low - 8}" width="12" height="4" fill="{COLOURS[n]}"/>')
        parts.append(text(at + 17, low - 2, name, "start"))
    return parts


def svg(panels, note):
    """Panels two by two."""
    step = TOP + HEIGHT + 64
    height = step * -(-len(panels) // 2) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH + 20} {height}">',
        f'<rect width="{2 * WIDTH + 20}" height="{height}" fill="#fff"/>',
    ]
    for n, (given, options) in enumerate(panels):
        parts += panel(n % 2 * (WIDTH + 20), n // 2 * step, *given, **options)
    parts.append(text(WIDTH, height - 10, note))
    return "\n".join([*parts, "</svg>"]) + "\n"
