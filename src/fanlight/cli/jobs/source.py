"""The tables that a job reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fanlight.cli.jobs.places import place
from fanlight.cli.jobs.played import KEYS, Played, played
from fanlight.cli.jobs.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FILES = ("parquet", "csv", "json")
FORMATS = (*FILES, "delta", "kafka", "replay", "table")
SOURCE = ("format", "path", "table", "schema", "watermark", "options", *KEYS)
_TOPICS = ("subscribe", "subscribePattern", "assign")
SERVERS = "kafka.bootstrap.servers"


@dataclass(frozen=True)
class Source:
    """One table: where it is, and of a stream how late its rows may be."""

    format: str
    path: str | None
    table: str | None
    schema: str | None
    watermark: tuple[str, str] | None
    options: Mapping[str, str]
    played: Played | None = field(default=None)

    def read(self, spark: SparkSession, *, stream: bool) -> DataFrame:
        """The table as a batch, or as a stream with its watermark."""
        reader: Any = spark.readStream if stream else spark.read
        if self.played is not None and self.path is not None:
            found = self.played.read(spark, self.path, self.schema, stream=stream)
        elif self.format == "table":
            found = reader.options(**self.options).table(self.table)
        else:
            reader = reader.format(self.format).options(**self.options)
            if self.schema and self.format != "kafka":
                reader = reader.schema(self.schema)
            found = reader.load(self.path) if self.path else reader.load()
        if self.schema and self.format == "kafka":
            found = _parsed(found, self.schema)
        made: DataFrame = (
            found.withWatermark(*self.watermark) if stream and self.watermark else found
        )
        return made


def _parsed(messages: Any, schema: str) -> Any:
    """The values of messages, which are JSON, as columns."""
    from pyspark.sql import functions as F

    value = F.from_json(messages["value"].cast("string"), schema)
    return messages.select(value.alias("value")).select("value.*")


def source(table: Table, *, stream: bool) -> Source:
    """The source that a table of a job describes, as far as it is right."""
    format = table.one_of("format", FORMATS, required=True)
    schema = table.text("schema", '"ts timestamp, item long, price double"')
    options = {} if format == "replay" else table.settings("options")
    mark = _watermark(table)
    path = name = None
    if format is None:  # said already, and nobody knows which keys it would have
        table.known |= {"path", "table", *KEYS}
    if format in (*FILES, "delta", "replay") or (format is None and "path" in table.values):
        path = place(table, "path", "bids", there=True)
    if format == "table":
        name = table.text("table", '"catalog.schema.bids"', required=True)
    if format == "kafka":
        _kafka(table, options)
    how = played(table, path, schema) if format == "replay" else None
    if format in FILES and stream and schema is None:
        table.lacks(
            f"has no schema, which a stream of {format} files needs; "
            'write schema = "ts timestamp, item long, price double"'
        )
    if stream and mark is None and "watermark" not in table.values:
        table.lacks(
            'has no watermark, which a stream needs; write watermark = { column = "ts", '
            'delay = "10 minutes" }'
        )
    table.finish()
    return Source(format or "", path, name, schema, mark, options, how)


def _watermark(table: Table) -> tuple[str, str] | None:
    inner = table.table("watermark", ("column", "delay"))
    if inner is None:
        return None
    column, delay = (
        inner.text("column", '"ts"', required=True),
        inner.duration("delay", required=True),
    )
    inner.finish()
    return column or "", delay or ""  # what is missing has been noted


def _kafka(table: Table, options: Mapping[str, str]) -> None:
    """Kafka's source has options without which it does not begin."""
    if SERVERS not in options:
        table.lacks(f'has no option for the servers; write options."{SERVERS}" = "host:9092"')
    if not set(_TOPICS) & set(options):
        table.lacks('has no option for the topic; write options.subscribe = "bids"')
