"""The data source of replays: offsets count rows in the order of their arrival.

Spark makes one reader per stream in a Python process next to the driver, asks it for offsets and
partitions, and sends copies of a reader without the index to where partitions are read.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from fanlight.engine.spark.ordered.encoding import arrow_schema
from fanlight.engine.spec.errors import refuse
from fanlight.io.replay.files import File, list_files, make_file, reorder_rows

NAME = "fanlight_replay"
TOGETHER = 50_000  # rows of a partition at most
ARROW_ROWS = 10_000  # rows of one Arrow batch

try:
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadLimit,
        ReadMaxRows,
        SupportsTriggerAvailableNow,
    )
except ModuleNotFoundError:  # PySpark 4.0 and 4.1, which tells a source neither limits nor triggers
    LIMITS = False
else:
    LIMITS = True


@dataclass(frozen=True)
class ReplayOptions:
    """The arguments of a replay, which reach the data source as text in an option."""

    paths: tuple[str, ...]
    format: str
    time: str
    speedup: float | None
    disorder: Disorder
    max_rows: int
    header: bool
    sep: str

    def to_text(self) -> str:
        """The options as JSON."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_text(text: str) -> ReplayOptions:
        """The options that :meth:`to_text` wrote."""
        options = json.loads(text)
        paths, disorder = tuple(options.pop("paths")), Disorder(**options.pop("disorder"))
        return ReplayOptions(paths=paths, disorder=disorder, **options)

    def build_index(self, kinds: pa.Schema) -> Index:
        """List the files, and order their rows by arrival."""
        how: dict[str, Any] = {"header": self.header, "sep": self.sep}
        files = [
            make_file(path, self.format, kinds.names, **how) for path in list_files(self.paths)
        ]
        return build_index(files, kinds.field(self.time), self.disorder)


class Reader(DataSourceStreamReader):
    """What readers of all versions of PySpark have in common."""

    def __init__(self, options: ReplayOptions, kinds: pa.Schema) -> None:
        self.options = options
        self.kinds = kinds
        self.to_the_end = options.speedup is None
        self.at = 0  # rows that Spark has taken so far
        self._index: Index | None = None
        self._clock: Clock | None = None

    @property
    def index(self) -> Index:
        """The index of all rows, made when it is first needed."""
        if self._index is None:
            self._index = self.options.build_index(self.kinds)
        return self._index

    def count_arrived(self, start: int) -> int:
        """How many rows have arrived by now, at least ``start``."""
        if self.to_the_end or self.options.speedup is None:
            return self.index.count
        if self._clock is None:
            self._clock = Clock(self.index.arrivals, self.options.speedup)
        return self._clock.count_arrived(start)

    def make_offset(self, rows: int) -> dict[str, Any]:
        """The offset after so many rows: their number, and the fingerprint of their order."""
        return {"rows": rows, "order": self.index.fingerprint}

    def read_offset(self, offset: dict[str, Any]) -> int:
        """The number of rows in an offset; refuses an offset of another order."""
        if offset["order"] != self.index.fingerprint:
            raise refuse(
                "this replay",
                "cannot go on from its checkpoint, which is of other files or times, or of another "
                "disorder, late_share, lateness or seed",
                "give these as they were, or give the stream a new checkpointLocation",
            )
        rows: int = offset["rows"]
        return rows

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's names, here and below
        """The offset before the first row."""
        return self.make_offset(0)

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """The rows between two offsets, divided into partitions in the order of their arrival."""
        first, last = self.read_offset(start), self.read_offset(end)
        if last < first:
            raise refuse(
                "a replay with a speedup",
                "cannot go on with this trigger: PySpark before 4.2 does not tell where it stopped",
                "write speedup=None, use trigger(processingTime=…), or install PySpark 4.2",
            )
        self.at = last
        begins = range(first, last, TOGETHER)
        return [
            InputPartition(self.index.select_part(begin, min(begin + TOGETHER, last)))
            for begin in begins
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read the rows of a partition."""
        part: Part = partition.value
        yield from part.read_rows(self.kinds).combine_chunks().to_batches(ARROW_ROWS)


class UnlimitedReader(Reader):
    """For PySpark 4.0 and 4.1, which does not say where it is: where the last partitions ended."""

    def latestOffset(self) -> dict[str, Any]:  # type: ignore[override]  # noqa: N802
        """The offset of the rows that have arrived, ``max_rows`` more than before at most.

        Without a speedup it is the offset of all rows, whatever ``max_rows``: the trigger may be
        availableNow, which a source is not told here, and there would be no second micro-batch.
        """
        due = self.count_arrived(self.at)
        if self.to_the_end:
            return self.make_offset(due)
        return self.make_offset(min(due, self.at + self.options.max_rows))


READER: type[Reader] = UnlimitedReader

if LIMITS:

    class LimitedReader(Reader, SupportsTriggerAvailableNow):
        """For PySpark 4.2 and newer, which says where it is, and how many rows it takes."""

        def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
            """The most rows of a micro-batch."""
            return ReadMaxRows(self.options.max_rows)

        def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
            """Play to the end without waiting: all files are there already."""
            self.to_the_end = True

        def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
            """The offset of the rows that have arrived, no more of them than the limit."""
            at = self.read_offset(start)
            if isinstance(limit, ReadAllAvailable):  # trigger(once=True): all in one micro-batch
                return self.make_offset(self.index.count)
            most = limit.max_rows if isinstance(limit, ReadMaxRows) else self.options.max_rows
            return self.make_offset(min(self.count_arrived(at), at + most))

    READER = LimitedReader


class Replay(DataSource):
    """The data source of replays; its one option are the :class:`ReplayOptions` as text."""

    @classmethod
    def name(cls) -> str:
        """The name of the format in Spark."""
        return NAME

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """The reader for this version of PySpark."""
        return READER(ReplayOptions.from_text(self.options["replay"]), arrow_schema(schema))


_GOLDEN = 0x9E3779B97F4A7C15
_MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_DISORDER, _LATE, _LATE_BY = 1, 2, 3  # what a random number is for


@dataclass(frozen=True)
class Disorder:
    """How long after their times rows arrive, in microseconds, and the share that is late.

    A row arrives ``most`` after its time at most; a late one, up to ``late_by`` later than that.
    """

    most: int = 0
    late: float = 0.0
    late_by: int = 0
    seed: int = 0


def compute_arrivals(times: Any, disorder: Disorder) -> Any:
    """When each row arrives, in microseconds."""
    count = len(times)
    delays = _to_whole_numbers(_draw_numbers(count, disorder.seed, _DISORDER), disorder.most + 1)
    if disorder.late:
        late = _draw_numbers(count, disorder.seed, _LATE) < disorder.late
        beyond = _to_whole_numbers(_draw_numbers(count, disorder.seed, _LATE_BY), disorder.late_by)
        delays = np.where(late, disorder.most + 1 + beyond, delays)
    return times + delays


def _to_whole_numbers(draws: Any, below: int) -> Any:
    """Scale random numbers to whole numbers from 0 to ``below`` - 1."""
    return np.minimum((draws * below).astype(np.int64), below - 1)


def _draw_numbers(count: int, seed: int, use: int) -> Any:
    """Random numbers in [0, 1), one per row: SplitMix64 of row numbers (Steele et al., 2014)."""
    begin = np.array([(seed % 2**64) ^ use * _GOLDEN % 2**64], np.uint64)
    begin = _mix(begin)  # or neighbouring seeds would give the same numbers, only shifted by rows
    states = np.arange(1, count + 1, dtype=np.uint64)
    states *= np.uint64(_GOLDEN)
    states += begin
    return (_mix(states) >> np.uint64(11)) * 2.0**-53


def _mix(values: Any) -> Any:
    for shift, factor in _MIX:
        values ^= values >> np.uint64(shift)
        values *= np.uint64(factor)
    values ^= values >> np.uint64(31)
    return values


@dataclass(frozen=True)
class Part:
    """Some rows in the order of their arrival: the rows of each file, and where they go."""

    pieces: Sequence[tuple[File, Any]]
    places: Any

    def read_rows(self, kinds: pa.Schema) -> pa.Table:
        """Read the rows; in memory at a time are these rows and one row group of a file."""
        read = [file.read_rows(rows, kinds) for file, rows in self.pieces]
        return reorder_rows(pa.concat_tables([kinds.empty_table(), *read]), self.places)


@dataclass(frozen=True)
class Index:
    """All rows in the order of their arrival: 16 bytes per row, 32 if files are text."""

    files: Sequence[File]
    firsts: Any  # the number of each file's first row; last, how many rows there are
    order: Any  # numbers of rows, in the order of their arrival
    arrivals: Any  # when they arrive, in microseconds, ascending
    fingerprint: str = field(default="")  # a hash of order and arrivals, kept in checkpoints

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.order)

    def select_part(self, begin: int, end: int) -> Part:
        """The rows from one position in the order of arrival up to another."""
        numbers = self.order[begin:end]
        by_number = np.argsort(numbers)
        rising = numbers[by_number]
        cuts = np.searchsorted(rising, self.firsts)
        pieces = []
        for n, file in enumerate(self.files):
            rows = rising[cuts[n] : cuts[n + 1]] - self.firsts[n]
            if len(rows):
                pieces.append((file.keep_rows(rows), rows))
        places = np.empty(len(numbers), np.int64)
        places[by_number] = np.arange(len(numbers))
        return Part(pieces, places)


def build_index(files: Sequence[File], time: pa.Field, disorder: Disorder) -> Index:
    """Read all times, and order rows by arrival; at the same instant, in the order of the files."""
    each = [file.read_times(time) for file in files]
    firsts = np.cumsum([0, *map(len, each)])
    arrive = compute_arrivals(np.concatenate([np.zeros(0, np.int64), *each]), disorder)
    del each
    order = np.argsort(arrive, kind="stable")
    arrive = arrive[order]
    digest = hashlib.blake2b(arrive.data, digest_size=8)
    digest.update(order.data)
    return Index(files, firsts, order, arrive, digest.hexdigest())


class Clock:
    """Event time, which begins to run at the first question, from the arrival of the next row.

    So a replay that is started again from a checkpoint goes on where it was: while it was stopped,
    no event time passed.
    """

    def __init__(
        self, arrivals: Any, speedup: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._arrivals = arrivals
        self._speedup = speedup
        self._now = now
        self._begin: tuple[float, int] | None = None

    def count_arrived(self, start: int) -> int:
        """How many rows have arrived by now; ``start`` of them were played before."""
        if start >= len(self._arrivals):
            return start
        if self._begin is None:
            self._begin = self._now(), int(self._arrivals[start])
        began, first = self._begin
        elapsed = (self._now() - began) * self._speedup * 1e6
        left = int(self._arrivals[-1]) - first
        until = first + (left if elapsed >= left else int(elapsed))
        return max(start, int(np.searchsorted(self._arrivals, until, side="right")))
