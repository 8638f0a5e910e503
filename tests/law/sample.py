"""Which asks ``make test`` answers, of those about the same thing; ``make law`` answers all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from tests.law.ask import Ask

EVERY = 6


def sampled(asks: list[Ask], in_python: Callable[[Ask], bool]) -> list[Ask]:
    """The same asks, each of them thorough or not, where that was left open.

    Of asks about one thing, each strategy has every sixth, or every n-th where there are more
    strategies than that, each from another on; and at least one.
    """
    alike = defaultdict(list)
    for ask in asks:
        about = ask.kind, ask.about, ask.session, ask.setting, ask.streamed, in_python(ask)
        alike[about].append(ask)
    kept = {id(ask) for group in alike.values() for ask in _in_turn(group)}
    return [
        ask.again(thorough=id(ask) not in kept) if ask.thorough is None else ask for ask in asks
    ]


def _in_turn(asks: list[Ask]) -> Iterator[Ask]:
    by_strategy = defaultdict(list)
    for ask in asks:
        if ask.thorough is None:
            by_strategy[ask.strategy].append(ask)
    for number, found in enumerate(by_strategy.values()):
        every = min(max(EVERY, len(by_strategy)), len(found))
        yield from found[number % every :: every]
