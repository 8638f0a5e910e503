"""The interface to the store of a group's state: values by variable and number."""

from __future__ import annotations

from typing import Protocol

HEAD, WAITING, KEYS = "head", "waiting", "keys"  # the variables


class Store(Protocol):
    """Values that a host stores between micro-batches."""

    def get(self, variable: str, number: int) -> bytes | None:
        """The value, if there is one."""

    def put(self, variable: str, number: int, value: bytes) -> None:
        """Store a value, replacing the one before."""

    def remove(self, variable: str, number: int) -> None:
        """Remove a value that exists."""
