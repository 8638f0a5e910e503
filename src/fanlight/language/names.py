"""Names of columns and values as the query language writes them."""

from __future__ import annotations

import re

from fanlight.engine.algebra.text import parts, quoted

_PLAIN = re.compile(r"[^\W\d]\w*")
# After one of these, or in place of a name, a word means something else.
_BARE = re.compile(r"[^.`]+")


def told(name: str) -> str:
    """A column's name as it is given to the API, in the language: ``Lane No`` in backticks."""
    return ".".join(part if _PLAIN.fullmatch(part) else quoted(part) for part in parts(name))


def bare(word: str) -> str:
    """A name as it is, which may stand in backticks."""
    return word[1:-1].replace("``", "`") if word[:1] == "`" else word


def given(path: tuple[str, ...]) -> str:
    """The parts of a name as it is given to the API."""
    return ".".join(part if _BARE.fullmatch(part) else quoted(part) for part in path)
