"""Errors with a position: line, column, and carets below the word that they are about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from fanlight.engine.spec.errors import FanlightError

_POINTS = re.compile(r"line \d+, column \d+: ")
_SHOWN = 100  # characters around the word that are printed of a longer line


def error_at(text: str, start: int, end: int, message: str) -> FanlightError:
    """An error about ``text[start:end]``: line, column, the line, and carets below the word."""
    start = min(start, len(text))
    begin = text.rfind("\n", 0, start) + 1
    line = text[begin:].split("\n", 1)[0].replace("\t", " ").rstrip("\r")
    column = start - begin
    width = max(min(end - start, len(line) - column), 1)
    cut = max(0, column - _SHOWN // 2)
    excerpt, dots = line[cut : cut + _SHOWN], "…" if cut else ""
    width = max(min(width, len(excerpt) - (column - cut)), 1)
    number = text.count("\n", 0, start) + 1
    carets = " " * (column - cut + len(dots)) + "^" * width
    return FanlightError(
        f"line {number}, column {column + 1}: {message}\n    {dots}{excerpt}\n    {carets}"
    )


def has_position(error: FanlightError) -> bool:
    """Whether the message of an error already names a line and column."""
    return _POINTS.match(str(error)) is not None


@contextmanager
def point_at(text: str, start: int, end: int) -> Iterator[None]:
    """An error raised inside points at ``text[start:end]``, unless it already has a position."""
    try:
        yield
    except FanlightError as error:
        if has_position(error):
            raise
        raise error_at(text, start, end, str(error)) from error


def refusal_at(
    text: str, start: int, end: int, asked: str, why: str, instead: str
) -> FanlightError:
    """An error with a position: what was asked, why it cannot be, and what to write instead."""
    return error_at(text, start, end, f"{asked} {why}; {instead}")
