"""What a breakage changes in a definition: a piece of code, or a piece of a string."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import partial

# What is not compared: types, and whether a name is read or assigned.
UNTOLD = {"annotation", "ctx", "kind", "returns", "type_comment"}


def text_of(part):
    """What a part of a tree says, wherever it stands and whatever its types are."""
    if isinstance(part, ast.AnnAssign) and part.value is not None:
        part = ast.Assign([part.target], part.value)
    if isinstance(part, ast.AST):
        return f"{type(part).__name__}({', '.join(text_of(value) for _, value in fields(part))})"
    if isinstance(part, list):
        return f"[{', '.join(map(text_of, part))}]"
    return repr(part)


def fields(node):
    """The fields of a node that are compared."""
    return [(name, value) for name, value in ast.iter_fields(node) if name not in UNTOLD]


def walked(node):
    """A node and all below it, each before what it holds."""
    yield node
    for _, value in fields(node):
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                yield from walked(part)


def single(holder, name, parts):
    """Put the only part in a field of a node."""
    (part,) = parts
    setattr(holder, name, part)


def several(among, at, parts):
    """Put parts in a list in place of those at a slice."""
    among[at] = parts


def runs(scope, long):
    """All runs of so many parts in a scope: the parts, and what puts others in their place."""
    for holder in walked(scope):
        for name, value in fields(holder):
            if isinstance(value, list):
                for first in range(len(value) - long + 1):
                    at = slice(first, first + long)
                    yield value[at], partial(several, value, at)
            elif long == 1 and isinstance(value, ast.AST):
                yield [value], partial(single, holder, name)


def strings(scope):
    """The string constants of a scope, pieces of f-strings included; not its docstrings."""
    nodes = list(walked(scope))
    unread = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in unread
        ):
            yield node


@dataclass(frozen=True)
class Code:
    """Python for Python: an expression, or one or several statements in a row.

    It stands once in the definition; ``nth`` says which one is meant where it stands more often.
    """

    old: str
    new: str
    nth: int | None = None

    def parsed(self):
        """The old parts and the new ones: statements, unless both are expressions."""
        both = [ast.parse(text).body for text in (self.old, self.new)]
        if all(len(body) == 1 and isinstance(body[0], ast.Expr) for body in both):
            return [[body[0].value] for body in both]
        return both

    def ways(self, scopes):
        """What makes the change, for each place of the scopes where it can be made."""
        old, new = self.parsed()
        wanted = text_of(old)
        found = [
            partial(put, new)
            for scope in scopes
            for parts, put in runs(scope, len(old))
            if text_of(parts) == wanted
        ]
        return among(found, self.nth)


@dataclass(frozen=True)
class InText:
    """Text for text within one string of the definition, SQL for instance; ``nth`` as above.

    An f-string is as many strings as there are pieces between its fields.
    """

    old: str
    new: str
    nth: int | None = None

    def ways(self, scopes):
        """What makes the change, for each place of the scopes where it can be made."""
        found = [
            partial(setattr, string, "value", string.value[:begin] + self.new + string.value[end:])
            for scope in scopes
            for string in strings(scope)
            for begin, end in (one.span() for one in re.finditer(re.escape(self.old), string.value))
        ]
        return among(found, self.nth)


def among(ways, nth):
    """All ways, or only the n-th."""
    return ways if nth is None else ways[nth - 1 : nth]
