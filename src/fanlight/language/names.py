"""Names of columns: in the query language, and as the API takes them."""

from __future__ import annotations

import re

from fanlight.engine.algebra.sql_text import in_backticks, split_path

_PLAIN = re.compile(r"[^\W\d]\w*")
# A part of a name that the API takes without backticks.
_BARE = re.compile(r"[^.`]+")


def quote_name(name: str) -> str:
    """A name of the API in the query language: parts that are not plain words get backticks."""
    return ".".join(
        part if _PLAIN.fullmatch(part) else in_backticks(part) for part in split_path(name)
    )


def unquote(word: str) -> str:
    """A name without the backticks that it may stand in."""
    return word[1:-1].replace("``", "`") if word[:1] == "`" else word


def join_name(path: tuple[str, ...]) -> str:
    """The parts of a name, joined as the API takes it: ``a.b``."""
    return ".".join(part if _BARE.fullmatch(part) else in_backticks(part) for part in path)
