"""What Spark shows of a Column, read as a text: its brackets, its commas, and its operators."""

from __future__ import annotations

import re

_PREFIX = re.compile(r"(?<![\w)\]])(<=>|<=|>=|!=|[-+*/%=<>!]|and|or|in)\(")


def infix(text: str) -> str:
    """SQL of what Spark 4 shows of an expression: ``*(a, 2)`` is ``(a * 2)``.

    >>> infix("sum(*(price, +(a, 1)))"), infix("count_if(and(>(a, 3), !(ok)))")
    ('sum((price * (a + 1)))', 'count_if(((a > 3) and (not ok)))')
    """
    found = _PREFIX.search(text)
    while found:
        close = closing(text, found.end() - 1)
        if close is None:
            return text
        sign, inner = found[1], [infix(one) for one in split_outside(text[found.end() : close])]
        if sign == "!":
            written = f"(not {inner[0]})"
        elif sign == "in":
            written = f"({inner[0]} in ({', '.join(inner[1:])}))"
        else:
            written = f"({f' {sign} '.join(inner)})"
        before = text[: found.start()] + written
        text = before + text[close + 1 :]
        found = _PREFIX.search(text, len(before))
    return text


def closing(text: str, at: int) -> int | None:
    """Where the bracket that opens at a place closes."""
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if depth == 0:
            return place
    return None


def is_balanced(text: str) -> bool:
    """Whether no bracket of a text closes one that is before it."""
    return closing(f"({text})", 0) == len(text) + 1


def split_outside(text: str, sign: str = ", ") -> list[str]:
    """A text cut at the commas, or at another sign, that are in no brackets."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and text.startswith(sign, at):
            parts.append(text[begin:at])
            begin = at + len(sign)
    return [*parts, text[begin:]]
