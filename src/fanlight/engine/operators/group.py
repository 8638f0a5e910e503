"""One group of keys in a stream: rows wait for the watermark, then update the state of their keys.

The state has three parts: a head, read and written in every micro-batch; waiting rows, which are
appended; and the keys, in buckets that are read and written only if rows or deadlines touch them.

A piece of the log of waiting rows stays as it was written. If the watermark has passed a piece in
part, the rows left in it are rewritten only once they are the smaller half, so that a row is
written only a few times, however long the watermark's delay is.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from fanlight.engine.operators.arrow_tables import Ints, filter_rows, ints, pack, unpack
from fanlight.engine.operators.buckets import Buckets
from fanlight.engine.operators.protocol import BEGINNING, COMPLETE, Query
from fanlight.engine.operators.snapshots import Snapshot
from fanlight.engine.operators.stored_state import (
    HEAD,
    WAITING,
    Fingerprint,
    Store,
    add_header,
    check_header,
)
from fanlight.engine.spec.errors import FanlightError, refuse

NO_ALARM = -(2**63)  # in the head if no timer is set
WIDTH = 4  # numbers in the head for each piece of waiting rows: see WaitingRows.pieces
# Groups, watermark, alarm, pieces of waiting rows; bytes and rows of all buckets.
_NUMBERS = struct.Struct("<6q")


class Group:
    """The state of one group of keys, read from ``store``.

    ``fingerprint`` is that of the query. ``groups`` is the number of groups that the keys are
    divided into; None if there is no row to tell it.
    """

    def __init__(
        self, query: Query, store: Store, fingerprint: Fingerprint, groups: int | None = None
    ) -> None:
        self.query, self.store, self.fingerprint = query, store, fingerprint
        self.groups, self.released = groups or 1, BEGINNING
        self.alarm: int | None = None  # the timer that has been set, in milliseconds
        size: Sequence[int] = (0, 0)
        pieces, deadlines = np.zeros(0, np.int64), np.full(1, COMPLETE)
        stored = store.get(HEAD, 0)
        self.has_state = stored is not None
        if stored is not None:
            head = check_header(stored, fingerprint)
            self.groups, self.released, alarm, waiting, *size = _NUMBERS.unpack_from(head)
            self.alarm = None if alarm == NO_ALARM else alarm
            if groups not in (None, self.groups):
                raise _regrouping_error(groups, self.groups)
            numbers = np.frombuffer(head, np.int64, offset=_NUMBERS.size).copy()
            pieces, deadlines = np.split(numbers, [WIDTH * waiting])
        self.waiting = WaitingRows(query.schema, store, pieces)
        self.buckets = Buckets(query, store, self.groups, size, deadlines)

    @property
    def next_time(self) -> int | None:
        """The earliest time, in microseconds, at which the watermark makes something due."""
        earliest = min(self.waiting.next_time, self.buckets.next_time)
        return None if earliest == COMPLETE else earliest

    def feed(self, packed: Sequence[bytes], watermark: int | None) -> tuple[pa.Table | None, int]:
        """Take rows in any order; return completed results and the number of late rows.

        A row is late if its time is not after the watermark up to which the group has released
        results. ``watermark`` is in microseconds: None if there is none yet, ``COMPLETE`` if no
        row will follow.
        """
        schema, watermark = self.query.schema, self._highest_watermark(watermark)
        rows = pa.concat_tables([unpack(data, [schema])[0] for data in packed]).combine_chunks()
        late = ints(rows["t"]) <= (BEGINNING if self.query.has_no_late_rows else self.released)
        if isinstance(self.query, LateQuery):
            self.released = watermark
            return filter_rows(rows, late), int(late.sum())
        rows = filter_rows(rows, ~late)
        if not self.query.eager:
            due = ints(rows["t"]) <= watermark
            self.waiting.append(filter_rows(rows, ~due))
            rows = filter_rows(rows, due)
        return self._advance([rows], watermark), int(late.sum()) + self.late

    def release(self, watermark: int | None) -> pa.Table | None:
        """Return the results that a new watermark completes without new rows."""
        return self._advance([], self._highest_watermark(watermark))

    def _highest_watermark(self, watermark: int | None) -> int:
        return self.released if watermark is None else max(watermark, self.released)

    def _advance(self, parts: list[pa.Table], watermark: int) -> pa.Table | None:
        parts = [*parts, *self.waiting.pop_due(self.released, watermark)]
        rows = pa.concat_tables([self.query.schema.empty_table(), *parts]).combine_chunks()
        result, self.late = None, 0  # some operators tell by what they know which rows are late
        if len(rows) or self.buckets.next_time <= watermark:
            operator = self.buckets.load(rows, watermark, self.released)
            result = operator.take(rows, watermark)
            self.late = getattr(operator, "late", 0)
            self.buckets.save(operator)
        self.released = watermark
        return result

    def save(self) -> None:
        """Write the head; waiting rows and buckets have been written already."""
        pieces, deadlines = self.waiting.pieces, self.buckets.deadlines
        alarm = NO_ALARM if self.alarm is None else self.alarm
        size = (self.buckets.size, self.buckets.rows)
        numbers = _NUMBERS.pack(self.groups, self.released, alarm, len(pieces), *size)
        head = b"".join([numbers, pieces.tobytes(), deadlines.tobytes()])
        self.store.put(HEAD, 0, add_header(head, self.fingerprint))


def _regrouping_error(now: int | None, stored: int) -> FanlightError:
    return refuse(
        f"{now} partitions of keys",
        f"cannot go on from this checkpoint, which was begun with {stored}",
        f"write .using(partitions={stored}), or give the query a checkpointLocation of its own",
    )


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


@dataclass(frozen=True)
class LateQuery:
    """Late rows, collected: a query of no keys, and its own operator, as it has no state.

    A row has a hash of its key, ``t`` (from when on it is late), and more. Those that are late are
    given by the group, as it tells for every operator which they are.
    """

    schema: pa.Schema
    eager: ClassVar[bool] = True
    has_no_late_rows: ClassVar[bool] = False

    def start(self) -> LateQuery:
        """Return the query itself, which has no state."""
        return self

    def resume(self, snapshot: Snapshot) -> LateQuery:
        """Return the query itself, which has no state."""
        del snapshot
        return self

    def take(self, rows: pa.Table, watermark: int) -> None:
        """Rows that are not late go nowhere."""

    @property
    def deadlines(self) -> Ints:
        """No key waits."""
        return np.zeros(0, np.int64)

    def snapshot(self) -> Snapshot:
        """A table without rows."""
        return Snapshot((pa.table({"code": pa.array([], pa.int64())}),), BEGINNING)
