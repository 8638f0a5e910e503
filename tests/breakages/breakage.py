"""One way in which the source can be wrong."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Breakage:
    """``old`` stands once in ``file`` (below ``src/fanlight``); with ``new``, ``tests`` fail.

    ``tests`` are arguments of pytest: the fewest and quickest that see it.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def within(file, *tests):
    """A maker of breakages of one file that the same tests see."""

    def make(name, old, new, *others):
        return Breakage(name, file, old, new, others or tests)

    return make
