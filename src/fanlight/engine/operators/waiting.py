"""Rows that wait for the watermark: what comes is appended, and read when its time has come.

Each piece of the log is kept as it came. Of a piece that the watermark has passed in part, the rows
that are left are written again only once they are the smaller half, so that a row is written a few
times, however long the watermark's delay.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from fanlight.engine.operators.packing import pack, unpack
from fanlight.engine.operators.protocol import COMPLETE
from fanlight.engine.operators.store import WAITING, Store
from fanlight.engine.operators.tables import Ints, ints, only
from fanlight.engine.spec.errors import FanlightError

WIDTH = 4  # numbers that the head of a group keeps of a piece: see Waiting.pieces


class Waiting:
    """The rows of one group of keys that the watermark has not passed."""

    def __init__(self, schema: pa.Schema, store: Store, pieces: Ints) -> None:
        self.schema = schema
        self.store = store
        self.pieces = pieces.reshape(-1, WIDTH)  # number, earliest and latest time, rows as written

    @property
    def next_time(self) -> int:
        """The earliest time that waits; ``COMPLETE`` if none does."""
        return int(self.pieces[:, 1].min(initial=COMPLETE))

    def append(self, rows: pa.Table) -> None:
        """Keep rows until the watermark passes them."""
        if not len(rows):
            return
        times = ints(rows["t"])
        number = int(self.pieces[:, 0].max(initial=-1)) + 1
        self.store.put(WAITING, number, pack([rows]))
        piece = (number, int(times.min()), int(times.max()), len(rows))
        self.pieces = np.append(self.pieces, np.array([piece], np.int64), axis=0)

    def due(self, released: int, watermark: int) -> list[pa.Table]:
        """The rows that have waited between two watermarks, and wait no longer."""
        begun = self.pieces[:, 1] <= watermark
        found, left = [], []
        for number, _, latest, written in self.pieces[begun].tolist():
            rows = self._read_piece(number)
            times = ints(rows["t"])
            found.append(only(rows, (times > released) & (times <= watermark)))
            if latest > watermark:
                left.append((number, latest, written, only(rows, times > watermark)))
            else:
                self.store.remove(WAITING, number)
        self.pieces = self.pieces[~begun]
        if 2 * sum(len(rows) for *_, rows in left) > sum(written for _, _, written, _ in left):
            still = [(n, int(ints(rows["t"]).min()), last, size) for n, last, size, rows in left]
            self.pieces = np.concatenate([self.pieces, np.array(still, np.int64)])
        elif left:
            for number, *_ in left:
                self.store.remove(WAITING, number)
            self.append(pa.concat_tables([rows for *_, rows in left]))
        return found

    def _read_piece(self, number: int) -> pa.Table:
        data = self.store.get(WAITING, number)
        if data is None:
            raise FanlightError(
                "rows that wait for the watermark are missing from the checkpoint: it is damaged; "
                "begin the query anew, with another checkpointLocation"
            )
        return unpack(data, [self.schema])[0]
