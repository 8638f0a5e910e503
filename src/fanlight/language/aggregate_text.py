"""Reads a single aggregate from text, as in Python or SQL: ``percentile(price, 0.9)``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.registry import AGGREGATES
from fanlight.engine.algebra.suggestions import advise_otherwise, suggest_aggregate
from fanlight.engine.spec.errors import FanlightError, refuse
from fanlight.language.calls import CallReader, Column, ParsedCall, parse_string
from fanlight.language.errors import message_of
from fanlight.language.names import join_name
from fanlight.language.tokens import Place, tokenize

_HOW = "write for example sum(price) or percentile(price, 0.9)"


def parse_aggregate(text: str) -> Call:
    """The aggregate that a text calls. The text is only parsed, never evaluated.

    >>> parse_aggregate("max_by(item, price)").label
    'max_by(item, price)'
    >>> parse_aggregate("count(*)").label, parse_aggregate("count()").label
    ('count(1)', 'count(1)')
    >>> parse_aggregate("percentile(price, percentage=0.9)").label
    'percentile(price, 0.9, 1)'
    """
    try:
        tokens = tokenize(text)
        call = _read_call(_PythonCallReader(text, tokens, {}), len(tokens) - 1)
    except FanlightError as error:
        raise FanlightError(f"{text!r}: {message_of(error)}") from error
    if call is None:
        raise refuse(repr(text), "is not an aggregate of columns", _HOW)
    return call


def _read_call(reader: _PythonCallReader, end: int) -> Call | None:
    """The aggregate that the whole text calls; None if it is anything else."""
    first = reader.tokens[0]
    if first.is_name and reader.tokens[1].partner == end - 1 and first.folded not in reader.names:
        meant = suggest_aggregate(first.name, list(AGGREGATES))
        why, otherwise = advise_otherwise(first.name) or ("", "")
        write = otherwise.removeprefix("agg.") or meant
        known = f"there are {', '.join(AGGREGATES)}"
        asked = f"is not an aggregate{why and f', as {why}'}"
        raise refuse(first.name, asked, f"write {write}" if write else known)
    parsed = next(reader.find_calls(0, end), None)
    if parsed is None or (parsed.at, parsed.end) != (0, end):
        return None
    return reader.build(parsed, _column_name)


def _column_name(text: str, parts: tuple[str, ...]) -> str:
    """A column's name; expressions are refused, as only Spark could compute them."""
    if not parts:
        raise refuse(text or "an argument", "is not a column", "name one, or compute one before")
    return join_name(parts)


class _PythonCallReader(CallReader):
    """Also reads calls as Python writes them: ``name=value``, quoted columns, ``[0.5, 0.9]``."""

    @property
    def names(self) -> Mapping[str, str]:
        """The names of ``fanlight.agg``, besides those in SQL."""
        return {**super().names, **{name: name for name in AGGREGATES}}

    def _split_arguments(self, at: int, end: int) -> list[Place]:
        """As in SQL, and a comma may follow the last argument."""
        tokens = super()._split_arguments(at, end)
        return tokens[:-1] if tokens and tokens[-1] == (end, end) else tokens

    def _counts_rows(self, parsed: ParsedCall) -> bool:
        """As in SQL, but a quoted text is the name of a column."""
        quoted = bool(parsed.arguments) and self.tokens[parsed.arguments[0][0]].kind == "string"
        return not quoted and super()._counts_rows(parsed)

    def _build_column(self, at: int, end: int, column: Column) -> Any:
        at, end = self._without_brackets(at, end)
        if end - at == 1 and self.tokens[at].kind == "string":
            return parse_string(self.tokens[at].text)
        return super()._build_column(at, end, column)

    def _without_brackets(self, at: int, end: int) -> Place:
        """A range of tokens without brackets around all of it."""
        while end - at > 2 and self.tokens[at].text == "(" and self.tokens[at].partner == end - 1:
            at, end = at + 1, end - 1
        return at, end

    def _parse_option(self, at: int, end: int) -> tuple[str, int]:
        equals = end - at > 2 and self.tokens[at].is_name and self.tokens[at + 1].is_symbol("=")
        if equals and not self.tokens[at + 2].is_symbol("=", ">"):
            return self.tokens[at].name, at + 2
        return super()._parse_option(at, end)

    def parse_literal(self, at: int, end: int) -> Any:
        """As in SQL, and numbers as Python writes them, None, and lists."""
        one = self.tokens[at]
        if one.kind == "open" and one.partner == end - 1:
            parts = self._split_arguments(at + 1, end - 1)
            listed = one.text == "[" or len(parts) != 1 or self.tokens[end - 2].is_symbol(",")
            return (
                [self.parse_literal(*part) for part in parts]
                if listed
                else self.parse_literal(*parts[0])
            )
        if end - at == 2 and one.is_symbol("+"):
            return self.parse_literal(at + 1, end)
        if end - at == 1 and one.is_word("NONE"):
            return None
        if end - at == 1 and one.kind == "word" and one.text[0].isdigit():
            try:
                return int(one.text, 0)  # 10_000
            except ValueError:
                pass
        return super().parse_literal(at, end)
