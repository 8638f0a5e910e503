"""Roles of docstrings, such as ``:func:`fanlight.over```, as links of the reference."""

from __future__ import annotations

import re
from typing import Any

import griffe

from scripts.site.reference import identifiers

ROLE = re.compile(r":(?:class|func|meth|mod|data|attr):`~?([\w.]+)`")
HOMES = ("fanlight.plots", "fanlight.agg", "fanlight")


class Roles(griffe.Extension):
    """Turns roles into links where the reference has the name, and into code elsewhere."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Rewrite the docstring of whatever has been read."""
        del kwargs
        if obj.docstring:
            obj.docstring.value = linked(obj.docstring.value, obj.path)


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
