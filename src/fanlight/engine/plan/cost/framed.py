"""Frames and progressive widening, where rows decide about windows. Not in the papers.

A cost is that of a row, since all candidates read the same; for widening, that of a unit of time.
"""

from __future__ import annotations

from fanlight.engine.plan.cost.constants import (
    CALLED,
    COMPARED,
    FOLDED,
    PASSED,
    RETURNED,
    SORTED,
)


def row_pass(*, by_python: bool, returned: bool) -> float:
    """Rows in order through a loop, compiled or ``by_python``.

    ``returned`` says that they leave Python with the numbers of their frames, to be grouped.
    """
    return SORTED + (CALLED if by_python else PASSED) + RETURNED * returned


def comparison() -> float:
    """Rows in order, each compared with its neighbours in Spark SQL."""
    return SORTED + COMPARED


def folding(rows: float, partials: int) -> float:
    """Rows in order, for each of which Spark adds up so many partials of so many rows."""
    return SORTED + FOLDED * partials * rows


def search(rows: float) -> float:
    """So many rows of windows in a unit of time, each through a compiled loop."""
    return PASSED * rows
