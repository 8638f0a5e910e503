"""The plan of windows that time places, over points or over events with a duration."""

from __future__ import annotations

from typing import Any

from fanlight.plan import events, points
from fanlight.plan.candidate import Candidate, Plan, choose, known
from fanlight.plan.request import Request


def check_strategy(strategy: object, *, lasting: bool, several: bool) -> str:
    """The strategy of this name; an error lists the names."""
    if lasting:
        return events.check_strategy(strategy, several=several)
    return known(strategy, points.SEVERAL if several else points.ONE)


def plan_placed(request: Request, strategy: str = "auto") -> Plan[Any]:
    """The candidate with the lowest estimated cost, or the one that is asked for."""
    candidates: list[Candidate[Any]] = []
    candidates += events.candidates(request) if request.lasting else points.candidates(request)
    return choose(candidates, strategy)
