"""Queries: one grid of windows or several at once, with the label of their results."""

from __future__ import annotations

from dataclasses import dataclass

from fanlight.engine.plan.grid import Grid


@dataclass(frozen=True)
class Query:
    """Windows on one grid, and the number their results are labelled with."""

    label: int
    grid: Grid


@dataclass(frozen=True)
class Queries:
    """The windows of a request: one query for a sliding window, several for levels and lists.

    ``name`` is the output column that holds the labels; empty for a sliding window, which has none.
    ``asked`` are the grids of all queries of the request where one of them is taken by itself.
    """

    queries: tuple[Query, ...]
    name: str = ""
    asked: tuple[Grid, ...] = ()

    @property
    def grids(self) -> tuple[Grid, ...]:
        """The grid of each query."""
        return tuple(query.grid for query in self.queries)

    @property
    def deciding_grids(self) -> tuple[Grid, ...]:
        """The grids whose windows decide whether a row is late."""
        return self.asked or self.grids

    @property
    def labels(self) -> tuple[int, ...]:
        """The label of each query."""
        return tuple(query.label for query in self.queries)

    @property
    def several(self) -> bool:
        """Whether results have a label."""
        return bool(self.name)
