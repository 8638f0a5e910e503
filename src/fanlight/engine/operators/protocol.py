"""What every operator can do, and how it is made: all that a host knows of it."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

from fanlight.engine.operators.snapshots import Snapshot
from fanlight.engine.operators.tables import Ints

BEGINNING = -(2**62)  # the watermark before the first row
COMPLETE = 2**62  # the watermark that follows the last row


class Operator(Protocol):
    """The running state of some keys."""

    def take(self, rows: pa.Table, watermark: int) -> pa.Table | None:
        """Take rows, in any order; return what the watermark (microseconds) completes.

        Rows are all that have come up to the watermark, or, if the query is ``eager``, all that
        have come at all. ``COMPLETE`` says that no row will follow.
        """

    @property
    def deadlines(self) -> Ints:
        """For each row of the snapshot's first table, the watermark that it waits for."""

    def snapshot(self) -> Snapshot:
        """The state as tables."""


class Query(Protocol):
    """The fixed setup of an operator: it can be pickled, and makes operators."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of a row: ``t``, microseconds, among them."""

    @property
    def eager(self) -> bool:
        """Whether rows are taken as they come, rather than once the watermark has passed them."""

    @property
    def has_no_late_rows(self) -> bool:
        """Whether no row is late: whatever makes the rows has left late ones out."""

    def start(self) -> Operator:
        """An operator without state."""

    def resume(self, snapshot: Snapshot) -> Operator:
        """The operator as it was at a snapshot."""
