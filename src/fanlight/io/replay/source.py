"""The data source of replays: offsets count rows in the order of their arrival.

Spark makes one reader per stream in a Python process next to the driver, asks it for offsets and
partitions, and sends copies of a reader without the index to where partitions are read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from fanlight.engine.spark.ordered.encoding import arrow_schema
from fanlight.engine.spec.errors import refuse
from fanlight.io.replay.arrivals import Clock, Disorder, Index, Part, build_index
from fanlight.io.replay.files import list_files, make_file

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
