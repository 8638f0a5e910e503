"""Late rows, collected: an operator that keeps nothing, and gives the rows that come too late.

Which rows are late is told for every operator alike, so these are the rows that windows leave out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from fanlight.engine.operators.arrow_tables import Ints
from fanlight.engine.operators.protocol import BEGINNING
from fanlight.engine.operators.snapshots import Snapshot


@dataclass(frozen=True)
class LateQuery:
    """The fixed setup: a row has a hash of its key, ``t`` (from when on it is late), and more."""

    schema: pa.Schema
    eager: ClassVar[bool] = True
    has_no_late_rows: ClassVar[bool] = False

    def start(self) -> NoKeys:
        """An operator without keys."""
        return NoKeys()

    def resume(self, snapshot: Snapshot) -> NoKeys:
        """The same: there is no state."""
        del snapshot
        return self.start()


class NoKeys:
    """The state of no keys: rows that are not late go nowhere."""

    def take(self, rows: pa.Table, watermark: int) -> None:
        """Take rows."""

    @property
    def deadlines(self) -> Ints:
        """No key waits."""
        return np.zeros(0, np.int64)

    def snapshot(self) -> Snapshot:
        """A table without rows."""
        return Snapshot((pa.table({"code": pa.array([], pa.int64())}),), BEGINNING)
