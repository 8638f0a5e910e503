"""Figure 3 from the tables of the pages: groups of columns as in the paper."""

from __future__ import annotations

import math
import re

from experiments import charts
from experiments.claims import number

KEY = "Figure 3: max, no groups"
PLACES = {
    "results": ("figure3.svg", "in the kernel"),
    "on_spark": ("figure3_spark.svg", "on Spark"),
}


def figures(results):
    """One picture for each place where it was measured."""
    return {
        file: figure_3(where, results[page][KEY])
        for page, (file, where) in PLACES.items()
        if KEY in results.get(page, ())
    }


def cells(cell):
    """Of ``1.30 (2.00)`` both: measured, and told by the formulas."""
    measured, formula = re.fullmatch(r"(.+) \((.+)\)", cell).groups()
    found = number(measured)
    return math.nan if found is None else found, float(formula)  # too short a time for a ratio


@charts.drawn
def figure_3(where, rows):
    groups = [row["tuples a pane"] for row in rows]
    series = {
        name: [cells(row[name]) for row in rows] for name in rows[0] if name.startswith("P/W")
    }
    figure, (ax,) = charts.panels(wide=8.4, tall=4.2)
    charts.name(ax, f"Figure 3: max without groups, {where}", "tuples a pane",
                "time paned / time windowed")  # fmt: skip
    measured = {name: [one for one, _ in pairs] for name, pairs in series.items()}
    charts.columns(ax, groups, measured, charts.shades(len(series)))
    formulas = [formula for pairs in series.values() for _, formula in pairs]
    columns = [column for container in ax.containers for column in container]
    middles = [column.get_x() + column.get_width() / 2 for column in columns]
    half = columns[0].get_width() / 2
    ax.hlines(formulas, [x - half for x in middles], [x + half for x in middles], lw=2,
              color=charts.colour(1), label="formulas 3.1 / 3.3")  # fmt: skip
    ax.axhline(1, color=charts.colour(6), linestyle="--", lw=1, label="paned = windowed")
    ax.set_ylim(bottom=0)
    charts.legend(figure, "P/W: panes a window; the formulas have equal constants")
    return figure
