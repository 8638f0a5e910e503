"""What a plan takes however little there is to do. Not in the papers.

It decides about little data, and only where it is known to be little: what a query takes once is
spread over its SLIDEs, or its rows, and is nothing where nobody knows how many there are.
"""

from __future__ import annotations

from fanlight.engine.plan.cost.constants import MADE, STARTED, STEP
from fanlight.engine.plan.request import Workload


def plan_overhead(work: Workload, *, native: bool, shuffled: bool) -> float:
    """What a plan of Spark SQL takes once, a SLIDE.

    ``native`` says that it is that of Spark's own windows, ``shuffled`` that it has a further
    shuffle.
    """
    return (MADE * (not native) + STEP * shuffled) / work.slides


def worker_overhead(rows: float | None) -> float:
    """What Python workers take once, a row of so many; nothing if that is not known."""
    return 0.0 if rows is None else STARTED / max(rows, 1.0)
