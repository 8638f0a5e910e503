"""A job file as TOML: its values, the line of each key, and the problems found in it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from fanlight import FanlightError
from fanlight.engine.spec.errors import assign_names, guess
from fanlight.engine.spec.units import parse_duration, write_duration

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


MOST_SHOWN = 3  # keys that the form of a table has in a message
MOST_KEYS = 6  # unknown keys of a table whose meanings are guessed together


@dataclass
class Table:
    """The values of a table, and the keys that have been read.

    ``names`` are the keys that such a table may have. A misspelt key is recorded as a problem, and
    its value is read under the right name; ``spelled`` has the spelling in the file.
    """

    document: Document
    where: Where
    values: dict[str, Any]
    names: Collection[str] = ()
    known: set[str] = field(default_factory=set)
    spelled: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Put the values of misspelt keys under their right names."""
        unknown = [one for one in self.values if one not in self.names][:MOST_KEYS]
        free = sorted({*self.names} - {*self.values})
        for key, near in assign_names(unknown, free).items():
            if near and near not in self.values:
                self.document.add_problem((*self.where, key), f"is not a key here; write {near}")
                self.spelled[near] = key
                self.values = {near if k == key else k: v for k, v in self.values.items()}

    def path_of(self, name: str) -> Where:
        """The path of a key, as it is spelled in the file."""
        return *self.where, self.spelled.get(name, name)

    def note_wrong(self, name: str, message: str) -> None:
        """Record a problem with a key."""
        self.document.add_problem(self.path_of(name), message)

    def note_missing(self, message: str) -> None:
        """Record that the table lacks something."""
        self.document.add_problem(self.where, message)

    def take(self, name: str, kind: type | tuple[type, ...], expected: str) -> Any:
        """The value of a key; None if it is missing, or of a wrong type, which is recorded."""
        self.known.add(name)
        if name not in self.values:
            return None
        value = self.values[name]
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, kind) or (isinstance(value, bool) and bool not in kinds):
            self.note_wrong(name, f"{value!r} is not {expected}")
            return None
        return value

    def text(self, name: str, expected: str, *, required: bool = False) -> str | None:
        """A non-empty text, or None."""
        value: str | None = self.take(name, str, expected)
        if value is not None and not value.strip():
            self.note_wrong(name, f"is empty; expected {expected}")
            return None
        if value is None and required and name not in self.values:
            self.note_missing(f"has no {name}; write {name} = {expected}")
        return value

    def one_of(self, name: str, words: Iterable[str], *, required: bool = False) -> str | None:
        """One of these words, or None."""
        listed = list(words)
        value = self.text(name, f'"{listed[0]}"', required=required)
        if value is not None and value not in listed:
            near = guess(value, listed)
            hint = f'write "{near}"' if near else f"write one of {', '.join(listed)}"
            self.note_wrong(name, f"{value!r} is not known here; {hint}")
            return None
        return value

    def texts(self, name: str, expected: str) -> tuple[str, ...]:
        """A list of texts; a single text counts as a list of one."""
        self.known.add(name)
        value = self.values.get(name, [])
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
            self.note_wrong(name, f"{value!r} is not {expected}")
            return ()
        return tuple(listed)

    def duration(self, name: str, *, required: bool = False) -> str | None:
        """A duration as Spark reads it, or None."""
        value = self.text(name, '"10 minutes"', required=required)
        if value is None:
            return None
        try:
            micros = parse_duration(name, value)
        except FanlightError as error:
            self.note_wrong(name, str(error))
            return None
        if micros < 0:
            self.note_wrong(name, f"{name}={value!r} is negative; write for example '10 minutes'")
            return None
        return write_duration(micros)

    def table(self, name: str, names: Collection[str] = ()) -> Table | None:
        """The inner table under a key, which may have keys of these names; or None."""
        form = f"{name} = {{ {', '.join(f'{one} = …' for one in names)} }}"
        expected = f"a table; write {form}" if 0 < len(names) <= MOST_SHOWN else "a table"
        value = self.take(name, dict, expected)
        return None if value is None else Table(self.document, self.path_of(name), value, names)

    def settings(self, name: str) -> dict[str, str]:
        """Settings by their dotted names, as texts: each is a text, a number or a boolean."""
        inner = self.table(name)
        return inner.flatten() if inner else {}

    def flatten(self) -> dict[str, str]:
        """All values by dotted names: TOML reads a dot in a key as an inner table."""
        settings: dict[str, str] = {}
        for name, value in self.values.items():
            if isinstance(value, dict):
                inner = Table(self.document, self.path_of(name), value).flatten()
                settings |= {f"{name}.{key}": text for key, text in inner.items()}
            elif isinstance(value, bool):
                settings[name] = str(value).lower()
            elif isinstance(value, (str, int, float)):
                settings[name] = str(value)
            else:
                self.note_wrong(name, f"{value!r} is not a text, a number or true or false")
        return settings

    def note_unknown(self) -> None:
        """Record the keys that were never read: such a table does not have them."""
        for name in self.values:
            if name not in self.known:
                near = guess(name, sorted(self.known))
                write = f"write {near}" if near else f"known are {', '.join(sorted(self.known))}"
                self.note_wrong(name, f"is not a key here; {write}")


_PATTERN = re.compile(r"[*?\[{]")


def read_path(table: Table, name: str, example: str, *, must_exist: bool = False) -> str | None:
    """A path as Spark takes it; with ``must_exist`` a relative path must exist.

    A path with a scheme or a leading slash is not checked: it may be on another machine.
    """
    value = table.text(name, f'"{example}"', required=True)
    if value is None or ":/" in value or value.startswith("/"):
        return value
    path = (table.document.path.parent / value).absolute()
    if must_exist and not _PATTERN.search(value) and not path.exists():
        table.note_wrong(name, f"{path} does not exist")
        return None
    return f"file://{Path(path).as_posix()}"
