"""Fixed costs: what a plan takes however few rows there are. Not in the papers.

They decide for little data, and only where it is known to be little: what a query takes once is
spread over its SLIDEs, or its rows, and counts as nothing where their number is not known.
"""

from __future__ import annotations

from fanlight.engine.plan.cost.constants import MADE, STARTED, STEP
from fanlight.engine.plan.request import Workload


def plan_overhead(work: Workload, *, native: bool, shuffled: bool) -> float:
    """The fixed cost of a plan of Spark SQL, spread over its SLIDEs.

    ``native`` says that it is the plan of Spark's own windows, ``shuffled`` that it has a further
    shuffle.
    """
    return (MADE * (not native) + STEP * shuffled) / work.slides


def worker_overhead(rows: float | None) -> float:
    """The fixed cost of Python workers, spread over ``rows``; 0 if their number is not known."""
    return 0.0 if rows is None else STARTED / max(rows, 1.0)
