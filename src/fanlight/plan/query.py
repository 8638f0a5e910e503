"""What is asked: one grid of windows, or several at once, each result with its label."""

from __future__ import annotations

from dataclasses import dataclass

from fanlight.plan.grid import Grid


@dataclass(frozen=True)
class Query:
    """Windows on one grid, and the number their results are labelled with."""

    label: int
    grid: Grid


@dataclass(frozen=True)
class Queries:
    """The windows of a request: one sliding window is a set of one, levels and lists of several.

    ``name`` is the output column that holds the labels; empty for a set of one, which needs none.
    """

    queries: tuple[Query, ...]
    name: str = ""

    @property
    def grids(self) -> tuple[Grid, ...]:
        """The grid of each."""
        return tuple(query.grid for query in self.queries)

    @property
    def labels(self) -> tuple[int, ...]:
        """The label of each."""
        return tuple(query.label for query in self.queries)

    @property
    def several(self) -> bool:
        """Whether results are told apart by a label."""
        return bool(self.name)
