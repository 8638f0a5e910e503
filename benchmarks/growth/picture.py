"""The series of `growth` as log-log panels: time on the left, memory on the right."""

from __future__ import annotations

from experiments import charts

UNITS = ("seconds", "MB")


@charts.drawn
def svg(rows):
    """A row of panels for each series: (axis, what stays, lines of seconds, lines of MB).

    Panels of a column have one scale of values, so that they can be compared.
    """
    figure, axes = charts.panels(len(UNITS), len(rows), wide=5.6, tall=3)
    for column, unit in enumerate(UNITS):
        scale = [y for row in rows for line in row[2 + column] for y in line.known()[1]]
        for ax, (axis, stays, *both) in zip(axes[column :: len(UNITS)], rows, strict=True):
            charts.plot(ax, f"{unit} by {axis}", f"{axis}\n{stays}", unit, both[column], log="xy")
            ax.xaxis.set_major_formatter(charts.short)
            charts.powers(ax, scale)
            guide(ax, both[column])
            charts.beside(ax)
    return figure


def guide(ax, lines):
    """From the first point on as steep as the sizes, as far as the panel goes."""
    xs, ys = lines[0].known()
    most = min(max(x for line in lines for x in line.known()[0]) / xs[0], ax.get_ylim()[1] / ys[0])
    ax.plot((xs[0], xs[0] * most), (ys[0], ys[0] * most), color=charts.SOFT, linestyle=":",
            linewidth=1, label="slope 1")  # fmt: skip
