"""``WITHIN GROUP (ORDER BY …)`` after an aggregate: what it asks of the library's aggregates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fanlight.language.tokens import Place, Token, split_at_commas

_NULLS = ("FIRST", "LAST")


@dataclass(frozen=True)
class OrderItem:
    """An item of ORDER BY: its expression, and what is written of its direction and its nulls."""

    at: int
    end: int
    falls: bool = False
    nulls: str = ""

    @property
    def place(self) -> Place:
        """The tokens of the expression."""
        return self.at, self.end

    @property
    def is_usual(self) -> bool:
        """Whether nulls come where Spark puts them: first, or last in falling order."""
        return self.nulls in ("", "LAST" if self.falls else "FIRST")


def read_ordering(tokens: Sequence[Token], at: int) -> tuple[tuple[OrderItem, ...], int]:
    """The items of a WITHIN GROUP at a token, and where it ends; no items if it has no ORDER BY."""
    words = [one.text.upper() for one in tokens[at : at + 5]]
    if words[:3] != ["WITHIN", "GROUP", "("]:
        return (), at
    close = tokens[at + 2].partner
    places = split_at_commas(tokens, at + 5, close) if words[3:] == ["ORDER", "BY"] else []
    items = tuple(_read_item(tokens, *one) for one in places)
    return items if all(first < end for first, end in places) else (), close + 1


def _read_item(tokens: Sequence[Token], at: int, end: int) -> OrderItem:
    nulls, falls = "", False
    if end - at > 2 and tokens[end - 2].is_word("NULLS") and tokens[end - 1].is_word(*_NULLS):
        nulls, end = tokens[end - 1].text.upper(), end - 2
    if end - at > 1 and tokens[end - 1].is_word("ASC", "DESC"):
        falls, end = tokens[end - 1].is_word("DESC"), end - 1
    return OrderItem(at, end, falls, nulls)


def write_sorted(
    text: str, between: str, ordering: Sequence[OrderItem], keys: Sequence[str], *, distinct: bool
) -> str:
    """SQL that joins texts in the order of keys, or of themselves; or an empty text."""
    falls = {one.falls for one in ordering}
    if len(falls) > 1 or not all(one.is_usual for one in ordering):
        return ""
    falling = ", false" if True in falls else ""
    if distinct or [*keys] == [text]:
        values = f"{'collect_set' if distinct else 'collect_list'}({text})"
        return f"array_join(sort_array({values}{falling}), {between})"
    values = f"collect_list(struct({', '.join(keys)}, {text} AS text))"
    return f"array_join(transform(sort_array({values}{falling}), e -> e.text), {between})"
