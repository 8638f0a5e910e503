"""Names and values as SQL text: the one file that quotes them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

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
