"""Docstrings and signatures as the reference shows them.

Roles, such as ``:func:`fanlight.over```, become links, tables those of Markdown, and names that
only the source has are spelt out.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from importlib import import_module
from typing import Any

import griffe

from fanlight import types
from scripts.site.reference import identifiers

ROLE = re.compile(r":(?:class|func|meth|mod|data|attr):`~?([\w.]+)`")
HOMES = ("fanlight.plots", "fanlight.agg", "fanlight.algebra", "fanlight.types", "fanlight")
RULE = re.compile(r"=+(?: +=+)+")
AGGREGATES = "fanlight.engine.algebra.library."
WINDOWS = "fanlight.engine.spark.windows."


class Roles(griffe.Extension):
    """Turns roles into links where the reference has the name, and into code elsewhere."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Rewrite the docstring and the signature of whatever has been read."""
        del kwargs
        if obj.docstring:
            if obj.path == f"{obj.module.path}.{obj.name}" and obj.path.startswith(AGGREGATES):
                made = getattr(import_module(obj.module.path), obj.name)
                obj.docstring.value = made.__doc__ or ""  # which says more than its source
            obj.docstring.value = linked(tabled(obj.docstring.value), obj.path)
        if isinstance(obj, griffe.Function):
            for one in obj.parameters:
                one.annotation, one.default = spelt(one.annotation), spelt(one.default)
            obj.returns = spelt(obj.returns)
        elif isinstance(obj, griffe.Attribute) and obj.parent.is_class:
            obj.annotation, obj.value = spelt(obj.annotation), spelt(obj.value)

    def on_module_members(self, *, mod: griffe.Module, **kwargs: Any) -> None:
        """Read aggregates that are made by a call, of which the source has no signature."""
        del kwargs
        for name, one in list(mod.members.items()):
            called = isinstance(one, griffe.Attribute) and isinstance(one.value, griffe.ExprCall)
            if called and f"fanlight.agg.{name}" in identifiers():
                mod.set_member(name, _read_made(name, mod.path) or one)

    def on_class(self, *, cls: griffe.Class, **kwargs: Any) -> None:
        """Show windows without what makes them, since ``fl.over`` alone does that."""
        del kwargs
        if cls.path.startswith(WINDOWS):
            cls.members.pop("__init__", None)


def _read_made(name: str, module: str) -> griffe.Function | None:
    """The function of a module that a call has made, such as ``agg.corr``; None if it is none."""
    made = getattr(import_module(module), name)
    if not inspect.isfunction(made):
        return None
    parameters = [
        griffe.Parameter(
            one.name,
            annotation=griffe.ExprName(one.annotation, parent="fanlight.types")
            if one.annotation in types.__all__
            else one.annotation,
            kind=griffe.ParameterKind(one.kind.description),
        )
        for one in inspect.signature(made).parameters.values()
    ]
    return griffe.Function(
        name, parameters=griffe.Parameters(*parameters),
        returns=griffe.ExprName(made.__annotations__["return"], parent="fanlight.algebra"),
        docstring=griffe.Docstring(inspect.cleandoc(made.__doc__ or "")),
    )  # fmt: skip


def spelt(expression: Any) -> Any:
    """An expression with the value of each name that stands for one, such as ``Keys``."""
    if isinstance(expression, list | tuple):
        return type(expression)(map(spelt, expression))
    if not isinstance(expression, griffe.Expr):
        return expression
    if isinstance(expression, griffe.ExprName):
        named = _find(expression)
        return spelt(named.value) if named else expression
    parts = {part.name: getattr(expression, part.name) for part in dataclasses.fields(expression)}
    return dataclasses.replace(expression, **{name: spelt(part) for name, part in parts.items()})


def _find(name: griffe.ExprName) -> griffe.Attribute | None:
    """The value in the source that a name stands for, if the reference has no place for it."""
    path = name.canonical_path
    if not path.startswith("fanlight.") or not isinstance(name.parent, griffe.Object):
        return None
    if path in identifiers():
        return None
    try:
        found = name.parent.modules_collection[path]
    except KeyError:
        return None
    found = found.final_target if found.is_alias else found
    return found if found.is_attribute and found.parent.is_module and found.value else None


def tabled(text: str) -> str:
    """The text of a docstring with its tables as those of Markdown."""
    lines, columns, rules = [], [], 0
    for line in text.split("\n"):
        if RULE.fullmatch(line):
            rules = (rules + 1) % 3
            columns = [found.start() for found in re.finditer("=+", line)]
            if rules == 2:
                lines.append("|---" * len(columns) + "|")
        elif rules:
            ends = [*columns[1:], None]
            cells = [line[slice(*ends)].strip() for ends in zip(columns, ends, strict=True)]
            lines.append(f"| {' | '.join(cells)} |")
        else:
            lines.append(line)
    return "\n".join(lines)


def linked(text: str, path: str) -> str:
    """The text of a docstring, whose object is at ``path``, without roles."""
    known = identifiers()
    homes = HOMES if path.startswith("fanlight.plots") else HOMES[1:]

    def link(match: re.Match[str]) -> str:
        name = match[1]
        for one in (name, *(f"{home}.{name}" for home in homes)):
            if one in known:
                return f"[`{name}`][{one}]"
        return f"`{name}`"

    return ROLE.sub(link, text)
