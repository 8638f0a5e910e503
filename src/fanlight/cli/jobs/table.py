"""One table of a job file, whose keys are taken one by one, each with what was expected."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from fanlight import FanlightError
from fanlight.cli.jobs.document import Document, Where
from fanlight.engine.spec.units import parse_duration, spell


@dataclass
class Table:
    """The values of a table, and which keys were asked for.

    A key that is misspelt is noted, and its value is looked at under the name that is meant:
    ``names`` are those that such a table may have, and ``written`` says how they are spelled.
    """

    document: Document
    where: Where
    values: dict[str, Any]
    names: Collection[str] = ()
    known: set[str] = field(default_factory=set)
    written: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give values the names that are meant."""
        for key in [one for one in self.values if one not in self.names]:
            free = [one for one in self.names if one not in self.values]
            near = get_close_matches(key, free, 1)
            if near:
                self.document.problem((*self.where, key), f"is not a key here; write {near[0]}")
                self.written[near[0]] = key
                self.values = {near[0] if k == key else k: v for k, v in self.values.items()}

    def at(self, name: str) -> Where:
        """Where a key is in the file."""
        return *self.where, self.written.get(name, name)

    def wrong(self, name: str, message: str) -> None:
        """Note what is wrong with a key."""
        self.document.problem(self.at(name), message)

    def lacks(self, message: str) -> None:
        """Note what the table as a whole is missing."""
        self.document.problem(self.where, message)

    def take(self, name: str, kind: type | tuple[type, ...], expected: str) -> Any:
        """A value of such a kind, or nothing."""
        self.known.add(name)
        if name not in self.values:
            return None
        value = self.values[name]
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, kind) or (isinstance(value, bool) and bool not in kinds):
            self.wrong(name, f"{value!r} is not {expected}")
            return None
        return value

    def text(self, name: str, expected: str, *, required: bool = False) -> str | None:
        """A text that is not empty, or nothing."""
        value: str | None = self.take(name, str, expected)
        if value is not None and not value.strip():
            self.wrong(name, f"is empty; expected {expected}")
            return None
        if value is None and required and name not in self.values:
            self.lacks(f"has no {name}; write {name} = {expected}")
        return value

    def one_of(self, name: str, words: Iterable[str], *, required: bool = False) -> str | None:
        """One of some words, or nothing."""
        listed = list(words)
        value = self.text(name, f'"{listed[0]}"', required=required)
        if value is not None and value not in listed:
            near = get_close_matches(value, listed, 1)
            hint = f'write "{near[0]}"' if near else "write one of " + ", ".join(listed)
            self.wrong(name, f"{value!r} is not known here; {hint}")
            return None
        return value

    def texts(self, name: str, expected: str) -> tuple[str, ...]:
        """A list of texts; one text alone is a list of one."""
        self.known.add(name)
        value = self.values.get(name, [])
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
            self.wrong(name, f"{value!r} is not {expected}")
            return ()
        return tuple(listed)

    def duration(self, name: str, *, required: bool = False) -> str | None:
        """A duration as Spark reads it, or nothing."""
        value = self.text(name, '"10 minutes"', required=required)
        if value is None:
            return None
        try:
            micros = parse_duration(name, value)
        except FanlightError as error:
            self.wrong(name, str(error))
            return None
        if micros < 0:
            self.wrong(name, f"{name}={value!r} is negative; write for example '10 minutes'")
            return None
        return spell(micros)

    def table(self, name: str, names: Collection[str] = ()) -> Table | None:
        """A table within, with keys of these names, or nothing."""
        value = self.take(name, dict, "a table")
        return None if value is None else Table(self.document, self.at(name), value, names)

    def settings(self, name: str) -> dict[str, str]:
        """Settings by their names with dots, each a text, a number or a yes or no, as texts."""
        inner = self.table(name)
        return inner.flat() if inner else {}

    def flat(self) -> dict[str, str]:
        """The values within, however deep: TOML takes a dot in a name for a table."""
        found: dict[str, str] = {}
        for name, value in self.values.items():
            if isinstance(value, dict):
                inner = Table(self.document, self.at(name), value).flat()
                found |= {f"{name}.{key}": text for key, text in inner.items()}
            elif isinstance(value, bool):
                found[name] = str(value).lower()
            elif isinstance(value, (str, int, float)):
                found[name] = str(value)
            else:
                self.wrong(name, f"{value!r} is not a text, a number or true or false")
        return found

    def finish(self) -> None:
        """Note the keys that nothing asked for."""
        for name in self.values:
            if name not in self.known:
                near = get_close_matches(name, self.known, 1)
                known = "known are " + ", ".join(sorted(self.known))
                self.wrong(name, "is not a key here; " + (f"write {near[0]}" if near else known))
