"""A job file as TOML: its values, the line of each key, and the problems found in it."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

Where = tuple[str, ...]  # the path of a key: ("query", "window")


class InvalidJobError(Exception):
    """A job file is invalid; the message has a line for each problem."""


@dataclass
class Document:
    """The file as text and as values, and the problems found so far."""

    path: Path
    text: str
    values: dict[str, Any]
    problems: list[tuple[Where, str]] = field(default_factory=list)

    def add_problem(self, where: Where, message: str) -> None:
        """Record a problem with a key, or with a table that lacks one."""
        self.problems.append((where, message))

    def raise_problems(self) -> None:
        """Raise one error with all problems, in the order of their lines."""
        problems = sorted((self.line_of(where), where, message) for where, message in self.problems)
        if problems:
            lines = [
                f"{self.path}:{line}: {'.'.join(where)}: {message}" if where else
                f"{self.path}: {message}"
                for line, where, message in problems
            ]  # fmt: skip
            raise InvalidJobError("\n".join(lines))

    def line_of(self, where: Where) -> int:
        """The line of a key or table; of one that the file lacks, the line of its parent table.

        It is found by parsing ever longer beginnings of the file until one has the key, so that
        nothing but the TOML parser has to know TOML.
        """
        begin = 1
        for end, values in self._valid_prefixes:
            if _has_path(values, where):
                return begin
            begin = end + 1
        return self.line_of(where[:-1]) if where else 1

    @cached_property
    def _valid_prefixes(self) -> list[tuple[int, dict[str, Any]]]:
        """(number of lines, values) of each beginning of the file that is valid TOML."""
        lines = self.text.splitlines(keepends=True)
        prefixes = []
        for end in range(1, len(lines) + 1):
            try:
                prefixes.append((end, tomllib.loads("".join(lines[:end]))))
            except tomllib.TOMLDecodeError:
                continue  # it ends within a value of several lines
        return prefixes


def _has_path(values: Any, where: Where) -> bool:
    for name in where:
        if not isinstance(values, dict) or name not in values:
            return False
        values = values[name]
    return True


def read_document(path: Path) -> Document:
    """Read a job file; a missing file or invalid TOML is an :class:`InvalidJobError`."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidJobError(f"{path}: cannot be read: {error}") from error
    try:
        return Document(path, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        at = f"{path}:{line[1]}" if line else f"{path}"
        raise InvalidJobError(f"{at}: is not TOML: {error}") from error
