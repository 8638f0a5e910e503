"""Aggregates planned in parts, by what they need, where that is cheaper than together."""

from __future__ import annotations

from collections.abc import Sequence

from fanlight.engine.plan import ways
from fanlight.engine.plan.candidate import Plan
from fanlight.engine.plan.cost import points
from fanlight.engine.plan.granules import Pieces
from fanlight.engine.plan.placed import plan_placed
from fanlight.engine.plan.request import Request
from fanlight.engine.spec.errors import FanlightError


def plan_in_parts(
    whole: Request, parts: Sequence[Request], strategy: ways.Strategy = ways.AUTO
) -> list[Plan[Pieces]] | None:
    """A plan for each part of the aggregates; None if all of them are better computed together."""
    if strategy.of_values:
        return _plan_for_values(parts, strategy)
    together = plan_placed(whole, strategy)
    if together.chosen.strategy == ways.SEPARATE:
        return None  # each query by itself plans its own aggregates
    plans = [plan_placed(part, strategy) for part in parts]
    joined = points.joined_results(whole.work) + points.plan_overhead(
        whole.work, native=True, shuffled=True
    )
    apart = sum(plan.chosen.cost for plan in plans) + joined * len(parts)
    return plans if apart < together.chosen.cost else None


def _plan_for_values(
    parts: Sequence[Request], strategy: ways.Strategy
) -> list[Plan[Pieces]] | None:
    """A plan for each part, by the strategy where it fits; None if it fits no part."""
    plans, fits = [], False
    for part in parts:
        try:
            plans.append(plan_placed(part, strategy))
            fits = True
        except FanlightError:
            plans.append(plan_placed(part))
    return plans if fits else None
