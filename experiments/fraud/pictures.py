"""Seconds of each engine, from the tables of the pages."""

from __future__ import annotations

from experiments import charts
from experiments.claims import column


def figures(results):
    """One picture for each page."""
    return {f"{page}.svg": seconds(tables["Time"]) for page, tables in results.items()}


@charts.drawn
def seconds(rows):
    figure, (ax,) = charts.panels(wide=8.4, tall=3.2)
    charts.name(ax, "Twelve features of card payments", "", "seconds")
    names = [row["engine"].replace(", ", "\n") for row in rows]
    charts.columns(ax, names, {"the least of some runs": column(rows, "seconds")})
    charts.legend(figure)
    return figure
