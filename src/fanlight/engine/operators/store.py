"""Where a group of keys keeps its state: values by variable and number."""

from __future__ import annotations

from typing import Protocol

HEAD, WAITING, KEYS = "head", "waiting", "keys"  # the variables


class Store(Protocol):
    """What a host keeps between micro-batches."""

    def get(self, variable: str, number: int) -> bytes | None:
        """The value, if there is one."""

    def put(self, variable: str, number: int, value: bytes) -> None:
        """Keep a value, instead of the one before."""

    def remove(self, variable: str, number: int) -> None:
        """Forget a value that is there."""


class InMemory:
    """A store for one process."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, int], bytes] = {}

    def get(self, variable: str, number: int) -> bytes | None:
        """The value, if there is one."""
        return self.values.get((variable, number))

    def put(self, variable: str, number: int, value: bytes) -> None:
        """Keep a value, instead of the one before."""
        self.values[variable, number] = value

    def remove(self, variable: str, number: int) -> None:
        """Forget a value that is there."""
        del self.values[variable, number]
