"""Which asks ``make test`` answers, of those that may be left out; ``make law`` answers all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.law.ask import Ask


def sampled(
    asks: list[Ask], in_python: Callable[[Ask], bool], wanted: Sequence[str] = ()
) -> list[Ask]:
    """The same asks, thorough unless they are among the few that show all that any of them shows.

    Those that are thorough by themselves show nothing. Of the asks that have the words that are
    ``wanted``, as ``pytest -k`` takes them, one at least is not thorough.
    """
    left = [ask for ask in asks if not ask.thorough]
    kept = covering({id(ask): shows(ask, in_python(ask)) for ask in left})
    for words in wanted:
        fitting = [ask for ask in left if has_words(ask, words)] or [
            ask for ask in asks if has_words(ask, words)
        ]
        if fitting and not any(id(ask) in kept for ask in fitting):
            kept.add(id(fitting[0]))
    return [ask.again(thorough=id(ask) not in kept) for ask in asks]


def has_words(ask: Ask, words: str) -> bool:
    """Whether ``pytest -k`` would pick the ask; it looks at names and marks."""
    marked = f"{ask.name} {'streaming' if ask.streamed else ''}".lower()
    return all(
        (term.removeprefix("not ") in marked) != term.startswith("not ")
        for term in words.lower().split(" and ")
    )


def shows(ask: Ask, in_python: bool) -> set[tuple[Any, ...]]:
    """What an ask shows.

    Of its kind, in batches and streams each by itself. What a stream is about, and its setting, one
    kind shows for all; its session, lateness and keys each engine, as it shows settings of batches:
    streams take longest, and then what Spark compiles.
    """
    kind, subject = (ask.kind, ask.streamed), ask.about.partition(",")[0]
    here = ("streams",) if ask.streamed else kind
    engine = ("streams", in_python) if ask.streamed else kind
    return {
        (*here, "about", subject),
        ("streams" if ask.streamed else in_python, "setting", ask.setting),
        (*kind, "strategy", ask.strategy, in_python),
        (*kind, "action", ask.action),
        (*engine, "session", ask.session),
        (*engine, "late", ask.late),
        (*engine, "without keys", not ask.by, in_python),
        (ask.kind, "spec", type(ask.spec)),
    }


def covering(found: dict[int, set[Any]]) -> set[int]:
    """A few of the sets whose union is that of all; the widest first."""
    missing = set().union(*found.values())
    kept = set()
    while missing:
        widest = max(found, key=lambda key: len(found[key] & missing))
        kept.add(widest)
        missing -= found[widest]
    return kept
