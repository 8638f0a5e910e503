"""Errors that point at the word of a text that they are about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from fanlight.engine.spec.errors import FanlightError

_POINTS = re.compile(r"line \d+, column \d+: ")
_SHOWN = 100  # of a line that is longer, what is around the word


def mistake(text: str, start: int, end: int, said: str) -> FanlightError:
    """An error that says where it is: line, column, the line itself, and carets below the word."""
    start = min(start, len(text))
    begin = text.rfind("\n", 0, start) + 1
    line = text[begin:].split("\n", 1)[0].replace("\t", " ").rstrip("\r")
    column = start - begin
    width = max(min(end - start, len(line) - column), 1)
    cut = max(0, column - _SHOWN // 2)
    shown, dots = line[cut : cut + _SHOWN], "…" if cut else ""
    width = max(min(width, len(shown) - (column - cut)), 1)
    number = text.count("\n", 0, start) + 1
    carets = " " * (column - cut + len(dots)) + "^" * width
    return FanlightError(
        f"line {number}, column {column + 1}: {said}\n    {dots}{shown}\n    {carets}"
    )


def points(error: FanlightError) -> bool:
    """Whether an error says already where it is."""
    return _POINTS.match(str(error)) is not None


def said(error: FanlightError) -> str:
    """What an error says, without where it is."""
    if not points(error):
        return str(error)
    return _POINTS.sub("", str(error).rsplit("\n", 2)[0], count=1)


@contextmanager
def pointing(text: str, start: int, end: int) -> Iterator[None]:
    """Point at a part of the text if what is done here is refused, unless the error does."""
    try:
        yield
    except FanlightError as error:
        if points(error):
            raise
        raise mistake(text, start, end, str(error)) from error


def wrong(text: str, start: int, end: int, asked: str, why: str, instead: str) -> FanlightError:
    """An error from what was asked, why it cannot be, and what to write instead."""
    return mistake(text, start, end, f"{asked} {why}; {instead}")
