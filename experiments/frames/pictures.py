"""The figures as small SVG: columns, lines, points."""

from __future__ import annotations

import numpy as np

INK, GRID = "#22303c", "#e6eaee"
COLOURS = ("#1f5f99", "#d1662a", "#3a8f6b", "#8a4f9e", "#b8902b", "#5b6f80")
W, H, LEFT, RIGHT, TOP, BOTTOM = 760, 360, 70, 150, 40, 50


def _opening(width, height):
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}">'
    )


class Picture:
    """A figure with axes from ``x`` to ``y``; ``parts`` are drawn in order."""

    def __init__(self, title, x, y, xlabel="", ylabel="", *, log=False, height=H):
        self.x, self.y, self.height, self.log = x, y, height, log
        self.parts = [
            _opening(W, height),
            f'<rect width="{W}" height="{height}" fill="#fff"/>',
            f'<text x="{LEFT}" y="22" font-size="14" font-weight="bold">{title}</text>',
        ]
        self.label((LEFT + W - RIGHT) / 2, height - 8, xlabel, "middle")
        middle = (TOP + height - BOTTOM) / 2
        self.parts.append(
            f'<text x="14" y="{middle}" text-anchor="middle" '
            f'transform="rotate(-90 14 {middle})">{ylabel}</text>'
        )
        self._legend = 0

    def px(self, x):
        return LEFT + (x - self.x[0]) / (self.x[1] - self.x[0]) * (W - LEFT - RIGHT)

    def py(self, y):
        low, high = self.y
        if self.log:
            y, low, high = (np.log10(max(v, 1e-12)) for v in (y, low, high))
        return self.height - BOTTOM - (y - low) / (high - low) * (self.height - TOP - BOTTOM)

    def label(self, x, y, what, anchor="start", colour=INK):
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{what}</text>'
        )

    def yticks(self, ticks):
        for tick in ticks:
            y = self.py(tick)
            self.parts.append(f'<path d="M{LEFT} {y:.1f}H{W - RIGHT}" stroke="{GRID}"/>')
            self.label(LEFT - 6, y + 4, f"{tick:,.0f}" if tick >= 1000 else f"{tick:g}", "end")

    def xticks(self, ticks):
        for at, what in ticks:
            self.label(self.px(at), self.height - BOTTOM + 18, what, "middle")

    def line(self, xs, ys, colour, wide=1.5):
        points = " ".join(f"{self.px(x):.1f},{self.py(y):.1f}" for x, y in zip(xs, ys, strict=True))
        self.parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{wide}"/>'
        )

    def points(self, xs, ys, colour, size=2.2):
        self.parts += [
            f'<circle cx="{self.px(x):.1f}" cy="{self.py(y):.1f}" r="{size}" fill="{colour}"/>'
            for x, y in zip(xs, ys, strict=True)
        ]

    def bar(self, left, right, low, high, colour):
        x, y = self.px(left), self.py(high)
        wide, tall = max(self.px(right) - x, 0.7), max(self.py(low) - y, 0.3)
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{tall:.1f}" '
            f'fill="{colour}"/>'
        )

    def legend(self, what, colour):
        y = TOP + 10 + 20 * self._legend
        self._legend += 1
        self.parts.append(
            f'<rect x="{W - RIGHT + 14}" y="{y - 9}" width="10" height="10" fill="{colour}"/>'
        )
        self.label(W - RIGHT + 30, y, what)

    def save(self, path):
        path.write_text("\n".join([*self.parts, "</svg>"]) + "\n", "utf-8")


def episodes(path, readings, found):
    """Figure 3: some days of readings, and below them the episodes of each variant."""
    lo = int(found["frames"][0][20]) - 150
    hi = lo + 1_500
    days = (np.arange(lo, hi) - lo) / 288
    picture = Picture("Episodes by frames and by windows", (0, days[-1]), (-190, 420),
                      "days", "glucose, mg/dL", height=440)  # fmt: skip
    picture.yticks([0, 100, 200, 300, 400])
    picture.xticks([(d, f"{d}") for d in range(int(days[-1]) + 1)])
    picture.line(days[::3], readings.value[lo:hi:3], COLOURS[0], 1)
    picture.line([0, days[-1]], [180, 180], "#999", 1)
    for at, (name, stretches) in enumerate(found.items()):
        y = -40 - 40 * at
        for a, b in zip(*stretches, strict=True):
            if b > lo and a < hi:
                picture.bar(
                    (max(a, lo) - lo) / 288, (min(b, hi) - lo) / 288, y, y + 24, COLOURS[at]
                )
        picture.label(W - RIGHT + 6, picture.py(y + 6), name, colour=COLOURS[at])
    picture.save(path)


def columns(path, title, groups, series, ylabel, ticks, *, log=False):
    """Groups of columns: ``series`` maps a name to a value a group."""
    low = ticks[0]
    picture = Picture(title, (0, len(groups)), (low, ticks[-1]), "", ylabel, log=log)
    picture.yticks(ticks)
    picture.xticks([(at + 0.5, name) for at, name in enumerate(groups)])
    wide = 0.8 / len(series)
    for number, (name, values) in enumerate(series.items()):
        for at, value in enumerate(values):
            left = at + 0.1 + number * wide
            floor = max(low, 0) if not log else low
            bottom, top = sorted((floor, max(value, low)))
            picture.bar(left, left + wide * 0.92, bottom, top, COLOURS[number])
        picture.legend(name, COLOURS[number])
    picture.save(path)


def scatters(path, x, y, points):
    """Figure 1: the data as it is, and by frames, samples and windows."""
    scale = lambda v, of: (np.asarray(v) - of.min()) / np.ptp(of)  # noqa: E731
    parts, wide = [], 330
    shown = {"original": (x, y), **points}
    for at, (name, (xs, ys)) in enumerate(shown.items()):
        places = np.unique(np.round(np.stack([scale(xs, x), scale(ys, y)]) * 260) / 260, axis=1)
        left, top = (at % 2) * (wide + 40) + 20, (at // 2) * (wide + 40) + 30
        path_d = "".join(
            f"M{left + a * wide:.0f} {top + wide - b * wide:.0f}h1.6" for a, b in places.T
        )
        parts.append(
            f'<rect x="{left}" y="{top}" width="{wide}" height="{wide}" '
            f'fill="none" stroke="{GRID}"/>'
        )
        parts.append(f'<text x="{left}" y="{top - 8}">{name}, {len(xs):,} points</text>')
        parts.append(f'<path d="{path_d}" stroke="{COLOURS[at]}" stroke-width="1.6"/>')
    body = "\n".join(parts)
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * wide + 90} {2 * wide + 110}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}"><rect width="100%" height="100%" '
        f'fill="#fff"/>\n{body}\n</svg>\n',
        "utf-8",
    )


def profiles(path, title, found):
    """Figure 4: histograms over density bins, one above the other."""
    top = max(h.max() for h in found.values()) * 1.05
    bins = len(found["baseline"])
    picture = Picture(title, (0, bins), (0, 3 * top), "density bin", "dye mass")
    for at, (name, values) in enumerate(found.items()):
        base = (2 - at) * top
        for b, value in enumerate(values):
            picture.bar(b, b + 0.9, base, base + value, COLOURS[at])
        picture.legend(name, COLOURS[at])
    picture.save(path)


def lines(path, title, series, xlabel, ylabel, ticks, xticks, *, flat=()):
    """Lines of (x, y); those named in ``flat`` are one value."""
    xs = [x for name, pairs in series.items() if name not in flat for x, _ in pairs]
    picture = Picture(title, (min(xs), max(xs)), (ticks[0], ticks[-1]), xlabel, ylabel)
    picture.yticks(ticks)
    picture.xticks(xticks)
    for at, (name, pairs) in enumerate(series.items()):
        if name in flat:
            picture.line([min(xs), max(xs)], [pairs, pairs], COLOURS[at], 2)
        else:
            picture.line(*zip(*pairs, strict=True), COLOURS[at])
            picture.points(*zip(*pairs, strict=True), COLOURS[at], 3)
        picture.legend(name, COLOURS[at])
    picture.save(path)


def trade(path, title, found, yticks, xticks):
    """Figure 11: run time over error, a point a variant."""
    picture = Picture(title, (xticks[0], xticks[-1]), (yticks[0], yticks[-1]),
                      "total RMS error", "seconds")  # fmt: skip
    picture.yticks(yticks)
    picture.xticks([(x, f"{x:g}") for x in xticks])
    for at, (name, (error, seconds)) in enumerate(found.items()):
        picture.points([error], [seconds], COLOURS[at], 6)
        picture.legend(name, COLOURS[at])
    picture.save(path)
