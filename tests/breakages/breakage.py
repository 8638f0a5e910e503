"""One way in which the source can be wrong."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tests.breakages.change import Code, InText
from tests.breakages.source import OURS, definitions


@dataclass(frozen=True)
class Breakage:
    """The definition ``where`` has a ``change``, with which ``tests`` fail.

    ``where`` is its qualified name, after as much of the end of its module's name as tells it from
    others: ``Cut.slice_start``, or ``cost.points:scan``. The ``tests`` are arguments of pytest: the
    fewest and quickest that see it.
    """

    name: str
    where: str
    change: Code | InText
    tests: tuple[str, ...]

    def path(self, sources=OURS):
        """The path of the only file with the definition."""
        (path,) = sources.paths(self.where)
        return path

    def misplaced(self, sources=OURS):
        """Why it cannot be applied; empty where it can."""
        paths = sources.paths(self.where)
        if len(paths) != 1:
            return f"{self.where} is defined in {', '.join(paths) or 'no file'}"
        count = len(self.ways(ast.parse(sources.text(paths[0]))))
        return "" if count == 1 else f"{self.where} has its old code {count} times"

    def ways(self, tree):
        """What makes the change in the tree of a file, for each place where it can be made."""
        wanted = self.where.rpartition(":")[-1]
        # A property may have a setter of its name, and a function has overloads.
        return self.change.ways([node for name, node in definitions(tree.body) if name == wanted])

    def applied(self, text):
        """The broken text of a file, written as ``ast.unparse`` does."""
        tree = ast.parse(text)
        (change,) = self.ways(tree)
        change()
        return ast.unparse(tree)


def seen_by(*tests):
    """A maker of breakages that these tests see, where no others are given."""

    def make(name, where, change, *others):
        return Breakage(name, where, change, others or tests)

    return make
