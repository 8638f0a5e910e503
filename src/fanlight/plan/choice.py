"""What all plans share: a strategy by its name, and the cheapest candidate that fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from fanlight.spec.errors import FanlightError, refuse


class Priced(Protocol):
    """One way to compute windows, with its estimated cost, or why it does not fit."""

    @property
    def strategy(self) -> str:
        """The name it is asked for by."""

    @property
    def cost(self) -> float:
        """Estimated; only ratios matter."""

    @property
    def refused(self) -> str:
        """Why it does not fit; empty where it does."""


Name = TypeVar("Name", bound=str)
Way = TypeVar("Way", bound=Priced)


def known(strategy: object, strategies: Sequence[Name], *, of: str = "") -> Name:
    """The strategy by its name; an error lists the names, of windows that are named so."""
    for name in strategies:
        if strategy == name:
            return name
    raise refuse(
        f"using({strategy!r})",
        f"is no strategy{of}",
        f"use one of {', '.join(map(repr, strategies))}",
    )


def cheapest(candidates: Sequence[Way], strategy: str) -> Way:
    """The cheapest candidate of the strategy that fits; an error says why none does."""
    return min(fitting(candidates, strategy), key=lambda candidate: candidate.cost)


def fitting(candidates: Sequence[Way], strategy: str) -> list[Way]:
    """The candidates of the strategy that fit; an error says why none does."""
    wanted = [c for c in candidates if strategy in ("auto", c.strategy)]
    found = [c for c in wanted if not c.refused]
    if not found:
        raise cannot(strategy, wanted[0].refused)
    return found


def cannot(strategy: str, why: str) -> FanlightError:
    """The error where the strategy that is asked for does not fit."""
    return FanlightError(f"using({strategy!r}) cannot compute this: {why}; use 'auto'")
