"""Figures 5 to 8 from the tables of the page, in one picture."""

from __future__ import annotations

from experiments import charts
from experiments.claims import points
from experiments.multi_granular.figures import OPERATIONS

HELD = ("SUM", "regression", "recurring 10", "recurring 128", "recurring 1,000")
NOTE = "whole lines: multi-granular; dashed: a sliding window for each level"


def figures(results):
    """All four in one file."""
    page = {key.partition(":")[0]: rows for key, rows in results["results"].items()}
    return {"figures.svg": four(page)}


def costs(rows, x):
    """Milliseconds of each operation: ours whole, separate windows dashed."""
    return [
        line
        for at, name in enumerate(OPERATIONS)
        for line in (
            charts.Line(name, points(rows, x, f"{name} (ms)"), at),
            charts.Line(name, points(rows, x, f"{name}, apart"), at, dashed=True),
        )
    ]


@charts.drawn
def four(page):
    figure, (five, six, seven, eight) = charts.panels(2, 2, tall=3.1)
    cost = "CPU time, ms a timestamp"
    charts.plot(five, "Figure 5: arrival rate", "records a timestamp", cost,
                costs(page["Figure 5"], "rate"), log="xy")  # fmt: skip
    charts.plot(six, "Figure 6: levels, extent 40", "levels", cost,
                costs(page["Figure 6"], "levels"))  # fmt: skip
    charts.plot(seven, "Figure 7: extent, 5 levels", "extent, timestamps", cost,
                costs(page["Figure 7"], "extent"), log="x")  # fmt: skip
    held = [charts.Line(name, points(page["Figure 8"], "levels", name), min(at, 2) + max(at - 2, 0))
            for at, name in enumerate(HELD)]  # fmt: skip
    charts.plot(eight, "Figure 8: memory, extent 40", "levels", "bytes of the nodes", held, log="y")
    charts.legend(figure, NOTE)
    return figure
