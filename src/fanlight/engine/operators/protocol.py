"""The interface between operators and the hosts that run them."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

from fanlight.engine.operators.arrow_tables import Ints
from fanlight.engine.operators.snapshots import Snapshot

BEGINNING = -(2**62)  # the watermark before the first row
COMPLETE = 2**62  # the watermark that follows the last row


class Operator(Protocol):
    """The running state of some keys."""

    def take(self, rows: pa.Table, watermark: int) -> pa.Table | None:
        """Take rows, in any order; return the results that the watermark completes.

        Rows are those up to the watermark, in microseconds, that have not been taken yet; if the
        query is ``eager``, later ones too. The watermark ``COMPLETE`` says that no row will follow.
        """

    @property
    def deadlines(self) -> Ints:
        """For each row of the snapshot's first table, the watermark at which it is due."""

    def snapshot(self) -> Snapshot:
        """The state as tables."""


class Query(Protocol):
    """The fixed setup of an operator: it can be pickled, and creates operators."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of a row; one is ``t``, its time in microseconds."""

    @property
    def eager(self) -> bool:
        """Whether the operator takes rows on arrival, not only once the watermark passes them."""

    @property
    def has_no_late_rows(self) -> bool:
        """Whether late rows have been left out before rows come here."""

    def start(self) -> Operator:
        """An operator without state."""

    def resume(self, snapshot: Snapshot) -> Operator:
        """The operator with the state of a snapshot."""
