"""Templates, mostly of SQL. They are filled only here, all places of a template at once.

What fills a place is never read as a template itself: a user's text with braces in it, such as the
name of a field or a separator, stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from fanlight.engine.spec.errors import refuse

_PLACE = re.compile(r"\{\{|\}\}|\{([a-zA-Z_][a-zA-Z_0-9]*)\}|[{}]")


def find_places(template: str) -> frozenset[str]:
    """The names of a template's places.

    >>> sorted(find_places("if({x} > 0, {y}, {x})"))
    ['x', 'y']
    """
    return frozenset(part[1] for part in _PLACE.finditer(template) if part[1])


def fill(template: str, **texts: object) -> str:
    """The template with each ``{name}`` replaced, once; ``{{`` and ``}}`` are plain braces.

    >>> fill("{a} + {b}", a="{b}", b="1")
    '{b} + 1'
    """

    def replace_part(part: re.Match[str]) -> str:
        name = part[1]
        return str(texts[name]) if name else part[0][0]

    return _PLACE.sub(replace_part, template)


def rename(template: str, names: Mapping[str, str], **texts: str) -> str:
    """A template in which some places have other names, and others a template in their place.

    >>> rename("{p} / {n} || '{{'", {"p": "a_p"}, n="{m} + 1")
    "{a_p} / {m} + 1 || '{{'"
    """

    def replace_part(part: re.Match[str]) -> str:
        name = part[1]
        if name in texts:
            return texts[name]
        return f"{{{names[name]}}}" if name in names else part[0]

    return _PLACE.sub(replace_part, template)


def escape(text: str) -> str:
    """A text as a template that stands for it.

    >>> escape("struct<`{`: int>")
    'struct<`{{`: int>'
    """
    return text.replace("{", "{{").replace("}", "}}")


def check_template(about: str, template: object, known: AbstractSet[str]) -> None:
    """Refuse a user's template with a place that is not known, or with a lone brace."""
    if not isinstance(template, str):
        raise refuse(about, f"is a {type(template).__name__}, not SQL text", "write a string")
    names = ", ".join(f"{{{name}}}" for name in sorted(known))
    unknown = sorted(find_places(template) - known)
    if unknown:
        raise refuse(
            about, f"names {{{unknown[0]}}}, which does not exist", f"use {names or 'no place'}"
        )
    if any(part[0] in ("{", "}") for part in _PLACE.finditer(template)):
        raise refuse(
            about,
            "has a brace that belongs to no place",
            f"use {names or 'no place'}, and write {{{{ and }}}} for braces",
        )
