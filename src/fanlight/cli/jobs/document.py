"""A TOML file, what is wrong with it, and the line of each key."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

Where = tuple[str, ...]


class InvalidJobError(Exception):
    """A job file that cannot be run; the message has a line for each problem."""


@dataclass
class Document:
    """The file as text and as values, and the problems that were found so far."""

    path: Path
    text: str
    values: dict[str, Any]
    problems: list[tuple[Where, str]] = field(default_factory=list)

    def problem(self, where: Where, message: str) -> None:
        """Note what is wrong with a key, or with the table that lacks one."""
        self.problems.append((where, message))

    def check(self) -> None:
        """Raise all problems together, in the order of the lines."""
        told = sorted((self.line(where), where, message) for where, message in self.problems)
        if told:
            lines = [
                f"{self.path}:{line}: {'.'.join(where)}: {message}" if where else
                f"{self.path}: {message}"
                for line, where, message in told
            ]  # fmt: skip
            raise InvalidJobError("\n".join(lines))

    def line(self, where: Where) -> int:
        """The line on which a key or a table begins; that of what it would be in, if it is not.

        A key is in the beginning of the file, up to some line, and not before: the TOML reader
        itself says so, and no other notion of TOML is needed.
        """
        begin = 1
        for end, values in self._beginnings:
            if _has(values, where):
                return begin
            begin = end + 1
        return self.line(where[:-1]) if where else 1

    @cached_property
    def _beginnings(self) -> list[tuple[int, dict[str, Any]]]:
        """(lines, values) of each beginning of the file that is TOML in itself."""
        lines = self.text.splitlines(keepends=True)
        found = []
        for end in range(1, len(lines) + 1):
            try:
                found.append((end, tomllib.loads("".join(lines[:end]))))
            except tomllib.TOMLDecodeError:
                continue  # within a value of several lines
        return found


def _has(values: Any, where: Where) -> bool:
    for name in where:
        if not isinstance(values, dict) or name not in values:
            return False
        values = values[name]
    return True


def read(path: Path) -> Document:
    """Read a job file; it is an error if it is not there or not TOML."""
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
