"""The sources of a job: the tables that it reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

import fanlight as fl
from fanlight.cli.jobs.document import Table, read_path
from fanlight.cli.jobs.replay import REPLAY_KEYS, Replay, read_replay
from fanlight.types import Format

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FILES = get_args(Format)
FORMATS = (*FILES, "delta", "kafka", "replay", "table")
SOURCE_KEYS = (
    "format", "path", "table", "schema", "watermark", "heartbeat", "options", *REPLAY_KEYS,
)  # fmt: skip
BEATS = ("every", "lag")
_TOPICS = ("subscribe", "subscribePattern", "assign")
SERVERS = "kafka.bootstrap.servers"


@dataclass(frozen=True)
class Source:
    """A table to read: its format and place, and for a stream its watermark and heartbeat."""

    format: str
    path: str | None
    table: str | None
    schema: str | None
    watermark: tuple[str, str] | None
    options: Mapping[str, str]
    replay: Replay | None = field(default=None)
    heartbeat: Mapping[str, str] | None = None

    def read(self, spark: SparkSession, *, stream: bool) -> DataFrame:
        """The table as a batch, or as a stream with its watermark."""
        reader: Any = spark.readStream if stream else spark.read
        if self.replay is not None and self.path is not None:
            table = self.replay.read(spark, self.path, self.schema, stream=stream)
        elif self.format == "table":
            table = reader.options(**self.options).table(self.table)
        else:
            reader = reader.format(self.format).options(**self.options)
            if self.schema and self.format != "kafka":
                reader = reader.schema(self.schema)
            table = reader.load(self.path) if self.path else reader.load()
        if self.schema and self.format == "kafka":
            table = _parse_messages(table, self.schema)
        return self._mark_time(table) if stream and self.watermark else table

    def _mark_time(self, table: Any) -> DataFrame:
        """The stream with its watermark, which goes on by itself if it has a heartbeat."""
        column, delay = self.watermark or ("", "")
        if self.heartbeat is not None:
            return fl.heartbeat(table, column, delay=delay, **self.heartbeat)
        df: DataFrame = table.withWatermark(column, delay)
        return df


def _parse_messages(messages: Any, schema: str) -> Any:
    """The columns of Kafka messages whose values are JSON."""
    from pyspark.sql import functions as F

    value = F.from_json(messages["value"].cast("string"), schema)
    return messages.select(value.alias("value")).select("value.*")


def read_source(table: Table, *, stream: bool) -> Source:
    """Read a table [source.…], as far as it is right. Problems are recorded."""
    format = table.one_of("format", FORMATS, required=True)
    schema = table.text("schema", '"ts timestamp, item long, price double"')
    options = {} if format == "replay" else table.settings("options")
    watermark, heartbeat = _read_watermark(table), _read_heartbeat(table)
    path = name = None
    if format is None:  # recorded already; its keys are unknown, so all are accepted
        table.known |= {"path", "table", *REPLAY_KEYS}
    if format in (*FILES, "delta", "replay") or (format is None and "path" in table.values):
        path = read_path(table, "path", "bids", must_exist=True)
    if format == "table":
        name = table.text("table", '"catalog.schema.bids"', required=True)
    if format == "kafka":
        _check_kafka_options(table, options)
    how = read_replay(table, path, schema) if format == "replay" else None
    if format in FILES and stream and schema is None:
        table.note_missing(
            f"has no schema, which a stream of {format} files needs; "
            'write schema = "ts timestamp, item long, price double"'
        )
    if stream and watermark is None and "watermark" not in table.values:
        table.note_missing(
            'has no watermark, which a stream needs; write watermark = { column = "ts", '
            'delay = "10 minutes" }'
        )
    table.note_unknown()
    return Source(format or "", path, name, schema, watermark, options, how, heartbeat)


def _read_watermark(table: Table) -> tuple[str, str] | None:
    inner = table.table("watermark", ("column", "delay"))
    if inner is None:
        return None
    column, delay = (
        inner.text("column", '"ts"', required=True),
        inner.duration("delay", required=True),
    )
    inner.note_unknown()
    return column or "", delay or ""  # what is missing has been recorded


def _read_heartbeat(table: Table) -> dict[str, str] | None:
    inner = table.table("heartbeat", BEATS)
    if inner is None:
        return None
    given = {name: inner.duration(name) for name in BEATS}
    inner.note_unknown()
    return {name: text for name, text in given.items() if text is not None}


def _check_kafka_options(table: Table, options: Mapping[str, str]) -> None:
    """Record the options that Kafka's source cannot start without."""
    if SERVERS not in options:
        table.note_missing(
            f'has no option for the servers; write options."{SERVERS}" = "host:9092"'
        )
    if not set(_TOPICS) & set(options):
        table.note_missing('has no option for the topic; write options.subscribe = "bids"')
