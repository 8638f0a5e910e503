"""Figures 5 and 6 from the tables of the page."""

from __future__ import annotations

from experiments import charts
from experiments.claims import points

ONE = "Figure 5: one stream, a call a second"
MANY = "Figure 5 by process: from ten seconds to a day"
WORK = "Figure 6: work against the first batch's duration"
WAYS = ("progressive widening", "bound (2)", "fixed windows, patterns up to 500 units")


def figures(results):
    """The delay by Figure 5, in both settings, and the work by Figure 6."""
    tables = results["results"]
    return {"figure5.svg": figure_5(tables[ONE], tables[MANY]),
            "figure6.svg": figure_6(tables[WORK])}  # fmt: skip


@charts.drawn
def figure_5(one, many):
    figure, axes = charts.panels(2, tall=3.4)
    for ax, title, rows, log in zip(
        axes, ("One stream, a call a second", "By process, up to a day"), (one, many), ("", "xy"),
        strict=True,
    ):  # fmt: skip
        delays = points(rows, "mean duration, s", "mean delay, s")
        half = [(x, x / 2) for x, _ in delays]
        charts.plot(
            ax, title, "duration of the episode, s", "mean delay, s",
            [charts.Line("detection delay", delays),
             charts.Line("0.5 · duration", half, 1, dashed=True)],
            log=log,
        )  # fmt: skip
    charts.legend(figure)
    return figure


@charts.drawn
def figure_6(rows):
    figure, axes = charts.panels(2, tall=3.4)
    for ax, (columns, work, unit) in zip(axes, (
        (("R(n)=n", "bound", "fixed"), "R(n) = n", "rows"),
        (("R(n)=n²", "bound (2)", "fixed (2)"), "R(n) = n²", "squares of rows"),
    ), strict=True):  # fmt: skip
        lines = [
            charts.Line(name, points(rows, "t", column), at, dashed=at > 0)
            for at, (name, column) in enumerate(zip(WAYS, columns, strict=True))
        ]
        charts.plot(ax, f"Work where {work}", "duration of the first batch t, units",
                    f"{unit} a unit of time", lines, log="xy")  # fmt: skip
    charts.legend(figure)
    return figure
