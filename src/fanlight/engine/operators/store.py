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
