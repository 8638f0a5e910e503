"""Names and values as SQL text: the one file that quotes them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from fanlight.engine.spec.errors import describe_type, refuse

_PLAIN = re.compile(r"[^'\\$]*\Z")
_QUOTED = re.compile("`(?:[^`]|``)*`")
_PART = r"`((?:[^`]|``)*)`|([^.`]+)"
_PARTS = re.compile(_PART)
_PATH = re.compile(rf"(?:{_PART})(?:\.(?:{_PART}))*")


def in_backticks(name: str) -> str:
    """A name in backticks, to be read by people; :func:`quote` makes one that is safe in SQL."""
    return "`" + name.replace("`", "``") + "`"


def in_quotes(text: str) -> str:
    """A text in quotes, for ``fl.sql`` to read; :func:`literal` makes one that is safe in SQL."""
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def quote(*parts: str) -> str:
    """The name of a column, or a path into one, as an SQL identifier."""
    path = ".".join(map(in_backticks, parts))
    return f"identifier({literal(path)})" if has_substitution(path) else path


def has_substitution(text: str) -> bool:
    """Whether Spark would substitute a setting's value for a part of this text in SQL.

    It does so for ``${name}``, even within quotes and backticks.
    """
    return "${" in text


def split_path(path: str) -> list[str]:
    """The names of a path such as ``a.b`` or ```a b`.c``, as Spark reads it."""
    if not _PATH.fullmatch(path):
        return [path]
    return [quoted.replace("``", "`") or bare for quoted, bare in _PARTS.findall(path)]


def literal(text: str) -> str:
    """A string as an SQL literal that no setting for escapes changes."""
    if _PLAIN.match(text):
        return f"'{text}'"
    return f"cast(X'{text.encode().hex()}' as string)"


def double_literal(value: float) -> str:
    """A double as an SQL literal."""
    return f"{value!r}D" if math.isfinite(value) else f"double({literal(str(value))})"


def struct(fields: Iterable[tuple[str, str]]) -> str:
    """SQL: a struct of fields (name, SQL text)."""
    return f"named_struct({', '.join(f'{literal(name)}, {text}' for name, text in fields)})"


def without_field_names(spark_type: str) -> str:
    """A type as text, without the names of its fields."""
    return _QUOTED.sub("", spark_type)


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
        raise refuse(about, f"is {describe_type(template)}, not SQL text", "write a string")
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
