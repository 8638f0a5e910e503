"""Which asks ``make test`` answers, of those that may be left out; ``make law`` answers all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tests.law.ask import Ask


def sampled(asks: list[Ask], in_python: Callable[[Ask], bool]) -> list[Ask]:
    """The same asks, each of them thorough or not, where that was left open.

    Kept are asks that together show all that any of them shows.
    """
    shown = {id(ask): shows(ask, in_python(ask)) for ask in asks if ask.thorough is not True}
    always = [shown[id(ask)] for ask in asks if ask.thorough is False]
    open_ = {id(ask): shown[id(ask)] for ask in asks if ask.thorough is None}
    kept = covering(open_, set().union(*always))
    return [
        ask.again(thorough=id(ask) not in kept) if ask.thorough is None else ask for ask in asks
    ]


def shows(ask: Ask, in_python: bool) -> set[tuple[Any, ...]]:
    """What an ask shows of its kind, in batches and streams, in SQL and Python each by itself."""
    where = ask.kind, ask.streamed, in_python
    parts = {
        "about": ask.about,
        "strategy": ask.strategy,
        "setting": ask.setting,
        "session": ask.session,
        "late": ask.late,
    }
    return {(*where, *part) for part in parts.items()} | {(ask.kind, "spec", repr(ask.spec))}


def covering(found: dict[int, set[Any]], covered: Iterable[Any]) -> set[int]:
    """A few of the sets whose union, with what is covered, is that of all; the widest first."""
    missing = set().union(*found.values()) - set(covered)
    kept = set()
    while missing:
        widest = max(found, key=lambda key: len(found[key] & missing))
        kept.add(widest)
        missing -= found[widest]
    return kept
