"""Aggregates planned apart by what they need, or together: whichever is cheaper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fanlight.engine.plan import cost
from fanlight.engine.plan.candidate import Plan
from fanlight.engine.plan.placed import plan_placed
from fanlight.engine.plan.request import Request
from fanlight.engine.spec.errors import FanlightError

# Strategies of some aggregates: others beside them are planned as if nothing was forced.
OF_VALUES = ("lifetimes", "ranks")


def plan_apart(
    whole: Request, parts: Sequence[Request], strategy: str = "auto"
) -> list[Plan[Any]] | None:
    """A plan for each part of the aggregates; None if all of them are better computed together."""
    if strategy in OF_VALUES:
        return _of_values(parts, strategy)
    together = plan_placed(whole, strategy)
    if together.chosen.strategy == "separate":
        return None  # each query by itself plans its own aggregates
    found = [plan_placed(part, strategy) for part in parts]
    joined = cost.JOINED * min(whole.work.groups, whole.work.rows_per_slide) * len(parts)
    joined += cost.fixed(whole.work, native=True, shuffled=True) * len(parts)
    apart = sum(plan.chosen.cost for plan in found) + joined
    return found if apart < together.chosen.cost else None


def _of_values(parts: Sequence[Request], strategy: str) -> list[Plan[Any]] | None:
    """Plans of which one is of the strategy, at least; None if it fits no part."""
    found, fits = [], False
    for part in parts:
        try:
            found.append(plan_placed(part, strategy))
            fits = True
        except FanlightError:
            found.append(plan_placed(part))
    return found if fits else None
