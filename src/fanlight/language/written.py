"""Reads a single aggregate from text, as in Python or SQL: ``percentile(price, 0.9)``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.registry import AGGREGATES
from fanlight.engine.algebra.unknown import instead
from fanlight.engine.spec.errors import FanlightError, refuse
from fanlight.language.calls import Asked, Column, Reader, string
from fanlight.language.mistake import said
from fanlight.language.names import given
from fanlight.language.tokens import Place, tokens

_HOW = "write for example sum(price) or percentile(price, 0.9)"


def aggregate(text: str) -> Call:
    """The aggregate that a text calls. The text is only parsed, never evaluated.

    >>> aggregate("max_by(item, price)").label
    'max_by(item, price)'
    >>> aggregate("count(*)").label, aggregate("count()").label
    ('count(1)', 'count(1)')
    >>> aggregate("percentile(price, percentage=0.9)").label
    'percentile(price, 0.9, 1)'
    """
    try:
        found = tokens(text)
        made = _read(_Written(text, found, {}), len(found) - 1)
    except FanlightError as error:
        raise FanlightError(f"{text!r}: {said(error)}") from error
    if made is None:
        raise refuse(repr(text), "is not an aggregate of columns", _HOW)
    return made


def _read(reader: _Written, end: int) -> Call | None:
    """The aggregate that the whole text calls; None if it is anything else."""
    first = reader.found[0]
    if first.named and reader.found[1].partner == end - 1 and first.plain not in reader.names:
        meant, known = instead(first.name, list(AGGREGATES)), f"there are {', '.join(AGGREGATES)}"
        raise refuse(first.name, "is not an aggregate", f"write {meant}" if meant else known)
    asked = next(reader.aggregates(0, end), None)
    if asked is None or (asked.at, asked.end) != (0, end):
        return None
    if asked.filtered:
        raise refuse("FILTER", "has a condition, which only SQL can have", "write sql = 'SELECT …'")
    return reader.made(asked, _column)


def _column(text: str, parts: tuple[str, ...]) -> str:
    """A column's name; expressions are refused, as only Spark could compute them."""
    if not parts:
        raise refuse(text or "an argument", "is not a column", "name one, or compute one before")
    return given(parts)


class _Written(Reader):
    """Also reads calls as Python writes them: ``name=value``, quoted columns, ``[0.5, 0.9]``."""

    @property
    def names(self) -> Mapping[str, str]:
        """The names of ``fanlight.agg``, besides those in SQL."""
        return {**super().names, **{name: name for name in AGGREGATES}}

    def _parts(self, at: int, end: int) -> list[Place]:
        """As in SQL, and a comma may follow the last argument."""
        found = super()._parts(at, end)
        return found[:-1] if found and found[-1] == (end, end) else found

    def _all_rows(self, asked: Asked) -> bool:
        """As in SQL, but a quoted text is the name of a column."""
        quoted = bool(asked.arguments) and self.found[asked.arguments[0][0]].kind == "string"
        return not quoted and super()._all_rows(asked)

    def _column(self, asked: Asked, place: Place, column: Column) -> Any:
        at, end = self._bare(*place)
        if end - at == 1 and self.found[at].kind == "string":
            return string(self.found[at].text)
        return super()._column(asked, (at, end), column)

    def _bare(self, at: int, end: int) -> Place:
        """A range of tokens without brackets around all of it."""
        while end - at > 2 and self.found[at].text == "(" and self.found[at].partner == end - 1:
            at, end = at + 1, end - 1
        return at, end

    def _option(self, at: int, end: int) -> tuple[str, int]:
        equals = end - at > 2 and self.found[at].named and self.found[at + 1].is_mark("=")
        if equals and not self.found[at + 2].is_mark("=", ">"):
            return self.found[at].name, at + 2
        return super()._option(at, end)

    def value(self, at: int, end: int) -> Any:
        """As in SQL, and numbers as Python writes them, None, and lists."""
        one = self.found[at]
        if one.kind == "open" and one.partner == end - 1:
            parts = self._parts(at + 1, end - 1)
            listed = one.text == "[" or len(parts) != 1 or self.found[end - 2].is_mark(",")
            return [self.value(*part) for part in parts] if listed else self.value(*parts[0])
        if end - at == 2 and one.is_mark("+"):
            return self.value(at + 1, end)
        if end - at == 1 and one.is_word("NONE"):
            return None
        if end - at == 1 and one.kind == "word" and one.text[0].isdigit():
            try:
                return int(one.text, 0)  # 10_000
            except ValueError:
                pass
        return super().value(at, end)
