"""Rows that wait for the watermark, in a log that is appended to and read when they are due.

Each piece of the log stays as it was written. If the watermark has passed a piece in part, the rows
left in it are rewritten only once they are the smaller half, so that a row is written only a few
times, however long the watermark's delay is.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from fanlight.engine.operators.arrow_tables import Ints, filter_rows, ints
from fanlight.engine.operators.protocol import COMPLETE
from fanlight.engine.operators.store import WAITING, Store
from fanlight.engine.operators.table_bytes import pack, unpack
from fanlight.engine.spec.errors import FanlightError

WIDTH = 4  # numbers in a group's head for each piece: see WaitingRows.pieces


class WaitingRows:
    """The rows of one group of keys that the watermark has not passed."""

    def __init__(self, schema: pa.Schema, store: Store, pieces: Ints) -> None:
        self.schema = schema
        self.store = store
        self.pieces = pieces.reshape(-1, WIDTH)  # number, earliest time, latest time, rows written

    @property
    def next_time(self) -> int:
        """The earliest time of a waiting row; ``COMPLETE`` if no row waits."""
        return int(self.pieces[:, 1].min(initial=COMPLETE))

    def append(self, rows: pa.Table) -> None:
        """Append rows that the watermark has not passed."""
        if not len(rows):
            return
        times = ints(rows["t"])
        number = int(self.pieces[:, 0].max(initial=-1)) + 1
        self.store.put(WAITING, number, pack([rows]))
        piece = (number, int(times.min()), int(times.max()), len(rows))
        self.pieces = np.append(self.pieces, np.array([piece], np.int64), axis=0)

    def pop_due(self, released: int, watermark: int) -> list[pa.Table]:
        """Remove and return the rows whose times are in (released, watermark]."""
        reached = self.pieces[:, 1] <= watermark
        due, left = [], []
        for number, _, latest, written in self.pieces[reached].tolist():
            rows = self._read_piece(number)
            times = ints(rows["t"])
            due.append(filter_rows(rows, (times > released) & (times <= watermark)))
            if latest > watermark:
                left.append((number, latest, written, filter_rows(rows, times > watermark)))
            else:
                self.store.remove(WAITING, number)
        self.pieces = self.pieces[~reached]
        if 2 * sum(len(rows) for *_, rows in left) > sum(written for _, _, written, _ in left):
            still = [(n, int(ints(rows["t"]).min()), last, size) for n, last, size, rows in left]
            self.pieces = np.concatenate([self.pieces, np.array(still, np.int64)])
        elif left:
            for number, *_ in left:
                self.store.remove(WAITING, number)
            self.append(pa.concat_tables([rows for *_, rows in left]))
        return due

    def _read_piece(self, number: int) -> pa.Table:
        data = self.store.get(WAITING, number)
        if data is None:
            raise FanlightError(
                "rows that wait for the watermark are missing from the checkpoint: it is damaged; "
                "start the query anew with another checkpointLocation"
            )
        return unpack(data, [self.schema])[0]
