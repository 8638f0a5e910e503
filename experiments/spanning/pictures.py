"""Figures 10 to 15 from the tables of the page: rates by size, and a map of who is best."""

from __future__ import annotations

from experiments import charts
from experiments.claims import number

OURS = "levels"
# Each technique has the colour and mark of a number, in every figure.
TECHNIQUES = (
    "se-slicing", OURS, "sweeping", "tuple-buckets", "se-ml-slicing", "aggregate-buckets"
)  # fmt: skip
ACROSS = {12: 4}  # panels beside each other, if not three
WIDE = {1: 4.2, 2: 4.2, 3: 3.3, 4: 2.9}
BEST = "Figure 15: who is best"
HEIGHT = "d="


def figures(results):
    """A picture for each figure that the page has."""
    found = {}
    for key, rows in results["results"].items():
        title, _, panel = key.partition(" / ")
        if title.startswith("Figure 1") and panel and not panel.endswith("(2)"):
            found.setdefault(title, []).append((panel, rows))
    drawn = {}
    for title, panels in found.items():
        figure = int(title.split()[1].rstrip(":"))
        drawn[f"figure{figure}.svg"] = rates(title, panels, ACROSS.get(figure, 3))
    return drawn | {"figure15.svg": best(results["results"][BEST])}


@charts.drawn
def rates(title, panels, across):
    """Million events a second by size: panels of rows, the first column names techniques."""
    across = min(across, len(panels))
    figure, axes = charts.panels(across, -(-len(panels) // across), wide=WIDE[across],
                                 title=title, sharey=True)  # fmt: skip
    heights = sorted({int(row[0][2:]) for row in _rows(panels) if row[0].startswith(HEIGHT)})
    shades = dict(zip(heights, charts.shades(len(heights)), strict=True))
    for spare in axes[len(panels) :]:
        spare.remove()
    for at, (ax, (panel, rows)) in enumerate(zip(axes, panels, strict=False)):
        axis = next(iter(rows[0]))
        lines = [_line(row.pop(axis), row, shades) for row in map(dict, rows)]
        charts.plot(ax, panel, axis, "" if at % across else "million events/s", lines, log="xy")
    charts.powers(axes[0], [y for row in _rows(panels) for y in map(number, row[1:]) if y])
    charts.legend(figure)
    return figure


def _rows(panels):
    return [list(row.values()) for _, rows in panels for row in rows]


def _line(name, row, shades):
    points = [(number(x), number(rate)) for x, rate in row.items()]
    if name.startswith(HEIGHT):
        place = list(shades).index(int(name[2:]))
        return charts.Line(name, points, place, colour=shades[int(name[2:])], wide=1.3)
    return charts.Line(name, points, TECHNIQUES.index(name), wide=2.6 if name == OURS else 1.3)


@charts.drawn
def best(rows):
    """Who of the paper's is best by size and window, and how often ours is as fast."""
    across = sorted({number(row["μ"]) for row in rows})
    down = sorted({(number(row["ω/β"]), number(row["ω"])) for row in rows})
    figure, (ax,) = charts.panels(wide=1.75 * len(across) + 1.6, tall=0.46 * len(down) + 1)
    charts.name(ax, "Figure 15: the best of the paper's techniques, and ours beside it",
                "mean event size μ, chronons", "window: ω/β, ω in chronons")  # fmt: skip
    for row in rows:
        x = across.index(number(row["μ"]))
        y = down.index((number(row["ω/β"]), number(row["ω"])))
        name, _, height = row["best of the paper's"].partition(" ")
        paint = charts.colour(TECHNIQUES.index(name))
        ax.broken_barh([(x - 0.49, 0.98)], (y - 0.46, 0.92), color=paint, alpha=0.22)
        ax.text(x, y, f"{name} {height}\n{OURS} × {row['levels / best']}", ha="center",
                va="center", fontsize=8)  # fmt: skip
    ax.set_xticks(range(len(across)), map(charts.told, across))
    ax.set_yticks(range(len(down)), [f"{ratio:g}, {charts.told(size)}" for ratio, size in down])
    ax.grid(visible=False)
    ax.margins(0)
    return figure
