"""What every operator can do, and how it is made: all that a host knows of it."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

COMPLETE = 2**62  # the watermark that follows the last row


class Operator(Protocol):
    """The running state of one group of keys."""

    @property
    def next_time(self) -> int | None:
        """The earliest time that waits for the watermark, in microseconds."""

    def feed(self, rows: pa.Table) -> None:
        """Take rows, in any order; none may be older than the last watermark."""

    def release(self, watermark: int) -> pa.Table | None:
        """What the watermark (microseconds) completes; ``COMPLETE`` if no row will follow."""

    def snapshot(self) -> bytes:
        """The state as bytes, which begin with a format version."""


class Query(Protocol):
    """The fixed setup of an operator: it can be pickled, and makes operators."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of a row as they are fed."""

    def start(self) -> Operator:
        """An operator without state."""

    def resume(self, state: bytes) -> Operator:
        """The operator as it was at a snapshot."""
