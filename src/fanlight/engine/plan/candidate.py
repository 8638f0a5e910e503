"""Candidates: the ways to compute windows, each with its cost, and the choice between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from fanlight.engine.spec.errors import FanlightError, refuse

Cut = TypeVar("Cut")


@dataclass(frozen=True)
class Candidate(Generic[Cut]):
    """One way to compute windows: a cut, a lift and a roll-up, with an estimated cost.

    ``strategy`` is the name that ``using(...)`` takes, ``cut`` what time (or the rows in order) is
    cut into, ``lift`` what rows become there, ``rollup`` how pieces become windows. ``refused``
    says why it cannot be used, and is empty if it can. One that is ``forced`` is never chosen by
    ``"auto"``: it runs only if it is asked for.
    """

    strategy: str
    cut: Cut
    lift: str = ""
    rollup: str = ""
    cost: float = 0.0  # estimated, in nanoseconds of one core; only ratios matter
    refused: str = ""
    forced: bool = False

    @property
    def name(self) -> str:
        """The strategy and its roll-up."""
        return f"{self.strategy} ({self.rollup})" if self.rollup else self.strategy


@dataclass(frozen=True)
class Plan(Generic[Cut]):
    """All candidates, and the one that runs; ``forced`` if it was asked for."""

    candidates: tuple[Candidate[Cut], ...]
    chosen: Candidate[Cut]
    forced: bool


def known(strategy: object, strategies: Sequence[str], *, of: str = "") -> str:
    """The strategy of this name; an error lists the names. ``of`` says which windows have them."""
    if isinstance(strategy, str) and strategy in strategies:
        return strategy
    raise refuse(
        f"using({strategy!r})",
        f"is not a strategy{of}",
        f"use one of {', '.join(map(repr, strategies))}",
    )


def choose(candidates: Sequence[Candidate[Cut]], strategy: str = "auto") -> Plan[Cut]:
    """The cheapest candidate of the strategy that fits; an error says why none does."""
    auto = strategy == "auto"
    wanted = [c for c in candidates if c.strategy == strategy or (auto and not c.forced)]
    fitting = [c for c in wanted if not c.refused]
    if not fitting:
        raise cannot(strategy, wanted[0].refused)
    chosen = min(fitting, key=lambda candidate: candidate.cost)
    return Plan(tuple(candidates), chosen, not auto)


def cannot(strategy: str, why: str) -> FanlightError:
    """The error for a strategy that was asked for and cannot be used."""
    instead = "" if strategy == "auto" else "; use 'auto'"
    return FanlightError(f"using({strategy!r}) cannot compute this: {why}{instead}")
