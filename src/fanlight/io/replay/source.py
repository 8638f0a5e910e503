"""A replay as Spark sees it: a data source in Python, with offsets that count rows in their order.

Spark makes one reader for a stream in a process beside the driver, asks it for offsets and
partitions, and sends a copy of a reader, without an index, to where partitions are read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from fanlight.engine.spark.ordered.arrow_types import arrow_schema
from fanlight.engine.spec.errors import refuse
from fanlight.io.replay.arrivals import Disorder
from fanlight.io.replay.clock import Clock
from fanlight.io.replay.files import list_files, make_file
from fanlight.io.replay.index import Index, Part, build_index

NAME = "fanlight_replay"
TOGETHER = 50_000  # rows of one partition, at most
ARROW_ROWS = 10_000  # rows of one Arrow batch

try:
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadLimit,
        ReadMaxRows,
        SupportsTriggerAvailableNow,
    )
except ModuleNotFoundError:  # PySpark 4.1, whose sources learn of no limit and of no trigger
    LIMITS = False
else:
    LIMITS = True


@dataclass(frozen=True)
class ReplayOptions:
    """What a replay was asked for, as it goes through an option of Spark's."""

    paths: tuple[str, ...]
    format: str
    time: str
    speedup: float | None
    disorder: Disorder
    max_rows: int
    header: bool
    sep: str

    def to_text(self) -> str:
        """All of it as text."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_text(text: str) -> ReplayOptions:
        """What :meth:`to_text` wrote."""
        given = json.loads(text)
        paths, disorder = tuple(given.pop("paths")), Disorder(**given.pop("disorder"))
        return ReplayOptions(paths=paths, disorder=disorder, **given)

    def build_index(self, kinds: pa.Schema) -> Index:
        """Look at the files, and put their rows in order."""
        how: dict[str, Any] = {"header": self.header, "sep": self.sep}
        files = [
            make_file(path, self.format, kinds.names, **how) for path in list_files(self.paths)
        ]
        return build_index(files, kinds.field(self.time), self.disorder)


class Reader(DataSourceStreamReader):
    """The part that is the same in all versions of PySpark."""

    def __init__(self, options: ReplayOptions, kinds: pa.Schema) -> None:
        self.options = options
        self.kinds = kinds
        self.to_the_end = options.speedup is None
        self.at = 0  # rows of which Spark knows
        self._index: Index | None = None
        self._clock: Clock | None = None

    @property
    def index(self) -> Index:
        """The order of all rows; made when it is first needed."""
        if self._index is None:
            self._index = self.options.build_index(self.kinds)
        return self._index

    def count_arrived(self, start: int) -> int:
        """How many rows have arrived."""
        if self.to_the_end or self.options.speedup is None:
            return self.index.count
        if self._clock is None:
            self._clock = Clock(self.index.arrivals, self.options.speedup)
        return self._clock.count_arrived(start)

    def make_offset(self, rows: int) -> dict[str, Any]:
        """So many rows, of this order."""
        return {"rows": rows, "order": self.index.fingerprint}

    def read_offset(self, offset: dict[str, Any]) -> int:
        """How many rows an offset is; it must be one of this order."""
        if offset["order"] != self.index.fingerprint:
            raise refuse(
                "this replay",
                "cannot go on from its checkpoint: that is of other files or times, or of another "
                "disorder, late, late_by or seed",
                "write these as they were, or give the stream a new checkpointLocation",
            )
        rows: int = offset["rows"]
        return rows

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's names, here and below
        """No row."""
        return self.make_offset(0)

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """The rows between two offsets, some in each partition, in the order of their arrival."""
        first, last = self.read_offset(start), self.read_offset(end)
        if last < first:
            raise refuse(
                "a replay with a speedup",
                "cannot go on under this trigger: PySpark 4.1 does not say where it stands",
                "write speedup=None, use trigger(processingTime=…), or take PySpark 4.2",
            )
        self.at = last
        begins = range(first, last, TOGETHER)
        return [
            InputPartition(self.index.select_part(begin, min(begin + TOGETHER, last)))
            for begin in begins
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a partition."""
        part: Part = partition.value
        yield from part.read_rows(self.kinds).combine_chunks().to_batches(ARROW_ROWS)


class UnlimitedReader(Reader):
    """PySpark 4.1: where Spark stands is where the last partitions ended."""

    def latestOffset(self) -> dict[str, Any]:  # type: ignore[override]  # noqa: N802
        """As many rows as have arrived.

        As fast as can be means all of them: with trigger(availableNow=True), of which a source
        does not learn here, there is no second micro-batch.
        """
        due = self.count_arrived(self.at)
        if self.to_the_end:
            return self.make_offset(due)
        return self.make_offset(min(due, self.at + self.options.max_rows))


READER: type[Reader] = UnlimitedReader

if LIMITS:

    class LimitedReader(Reader, SupportsTriggerAvailableNow):
        """From PySpark 4.2 on: Spark says where it stands, how many rows it takes, and when."""

        def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
            """So many rows in a micro-batch."""
            return ReadMaxRows(self.options.max_rows)

        def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
            """All of the files are there: they are played to the end, as fast as can be."""
            self.to_the_end = True

        def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
            """As many rows as have arrived, but no more than a micro-batch takes."""
            at = self.read_offset(start)
            if isinstance(limit, ReadAllAvailable):  # trigger(once=True): all in one micro-batch
                return self.make_offset(self.index.count)
            most = limit.max_rows if isinstance(limit, ReadMaxRows) else self.options.max_rows
            return self.make_offset(min(self.count_arrived(at), at + most))

    READER = LimitedReader


class Replay(DataSource):
    """The data source; its one option is what was asked for."""

    @classmethod
    def name(cls) -> str:
        """The format that Spark knows it by."""
        return NAME

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """What plays."""
        return READER(ReplayOptions.from_text(self.options["replay"]), arrow_schema(schema))
