"""The sources of a job: the tables that it reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast, get_args

import fanlight as fl
from fanlight.cli.jobs.document import Table, read_path
from fanlight.types import Format

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


REPLAY_KEYS = (
    "files", "time", "speedup", "disorder", "late_share", "lateness", "seed",
    "max_rows_per_batch", "header", "sep",
)  # fmt: skip


@dataclass(frozen=True)
class Replay:
    """How files are replayed; ``arguments`` are those of ``fl.replay``."""

    files: Format
    arguments: Mapping[str, Any]

    def read(
        self, spark: SparkSession, path: str, schema: str | None, *, stream: bool
    ) -> DataFrame:
        """The files replayed as a stream, or as a batch of the same rows with the same times."""
        if stream:
            return fl.replay(spark, path, format=self.files, schema=schema, **self.arguments)
        reader = spark.read.format(self.files).option("timeZone", "UTC")
        if self.files == "csv":
            reader = reader.option("header", str(self.arguments.get("header", True)).lower())
            reader = reader.option("sep", self.arguments.get("sep", ",")).option(
                "enforceSchema", "false"
            )
        return (reader.schema(schema) if schema else reader).load(path)


def read_replay(table: Table, path: str | None, schema: str | None) -> Replay | None:
    """Read the keys of a replayed source; None if they are wrong. Problems are recorded."""
    files = table.one_of("files", FILES)
    suffix = (path or "").rpartition(".")[2].replace("jsonl", "json")
    if files is None and "files" not in table.values and suffix in FILES:
        files = suffix
    elif files is None and "files" not in table.values and path is not None:
        table.note_missing('has no files, the format of what it plays; write files = "parquet"')
    if files not in (None, "parquet") and schema is None:
        table.note_missing(
            f"has no schema, which {files} needs; "
            'write schema = "ts timestamp, item long, price double"'
        )
    options: dict[str, Any] = {
        "time": table.text("time", '"ts"', required=True),
        "speedup": _read_number(table, "speedup", "60", least=0, open=True),
        "disorder": table.duration("disorder"),
        "late_share": _read_number(
            table, "late_share", "0.01, a share of the rows", least=0, most=1
        ),
        "lateness": table.duration("lateness"),
        "seed": table.take("seed", int, "a whole number such as 7"),
        "max_rows_per_batch": _read_number(
            table, "max_rows_per_batch", "100_000", least=1, kind=int
        ),
        "header": table.take("header", bool, "true or false"),
        "sep": table.text("sep", '";"'),
    }
    if options["sep"] is not None and len(options["sep"]) != 1:
        table.note_wrong("sep", f"{options['sep']!r} is not one character")
    if bool(options["late_share"]) != (options["lateness"] is not None) and not _has_problem(
        table, "late_share", "lateness"
    ):
        table.note_missing(
            "has only one of late_share and lateness; write late_share = 0.01 and "
            'lateness = "10 minutes"'
        )
    arguments = {name: value for name, value in options.items() if value is not None}
    return Replay(cast("Format", files), arguments) if files and "time" in arguments else None


def _has_problem(table: Table, *names: str) -> bool:
    """Whether a problem with one of these keys is already recorded."""
    return any((*table.where, name) in dict(table.document.problems) for name in names)


def _read_number(
    table: Table,
    name: str,
    example: str,
    *,
    least: float,
    most: float | None = None,
    open: bool = False,
    kind: Any = (int, float),
) -> Any:
    """A number within bounds, or None; with ``open`` it must exceed ``least``."""
    value = table.take(name, kind, f"a number; write {name} = {example}")
    if value is None:
        return None
    inside = (value > least if open else value >= least) and (most is None or value <= most)
    if not inside:  # as NaN never is
        table.note_wrong(name, f"{value!r} is out of bounds; write for example {name} = {example}")
        return None
    return value


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
