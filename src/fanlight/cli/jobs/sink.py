"""The sink of a job: files, tables, Kafka, databases, memory or the console."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import fanlight as fl
from fanlight.cli.jobs.document import Table, read_path
from fanlight.cli.jobs.source import FILES, SERVERS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DATABASES = ("sqlite", "postgresql")
FORMATS = (*FILES, "delta", "kafka", *DATABASES, "console", "table", "memory")
MODES = ("error", "append", "overwrite", "ignore")
UPSERT = "upsert"
SINK_KEYS = ("format", "path", "table", "key", "mode", "options", "url", "stream")
UPDATED = ("kafka", "console", "memory")  # streams in update mode, without a key
CONSOLE_ROWS = 20
ENDS = ("start", "end")


@dataclass(frozen=True)
class Sink:
    """Where results are written; ``name`` is the job's, and the view's of the format memory."""

    name: str
    format: str
    path: str | None
    table: str | None
    key: str | None
    mode: str
    options: Mapping[str, str]
    upsert: Mapping[str, Any] | None = None

    def fit_columns(self, result: DataFrame) -> DataFrame:
        """The result in columns that the format can hold; it must have the key's columns."""
        keys = self.upsert["key"] if self.upsert else (self.key,) if self.key else ()
        for name in keys:
            if name not in result.columns:
                raise fl.FanlightError(f"sink.key: {missing_column(name, result.columns)}")
        if self.format == "csv":
            return _flatten_structs(result)
        return self._to_messages(result) if self.format == "kafka" else result

    def write(self, result: DataFrame) -> None:
        """Write a batch."""
        if self.upsert is not None:
            fl.upsert(**self.upsert)(result)
        elif self.format == "console":
            result.show(int(self.options.get("numRows", CONSOLE_ROWS)), truncate=False)
        elif self.format == "memory":
            result.createOrReplaceTempView(self.name)
        else:
            writer = result.write.mode(self.mode).options(**self.options)
            if self.table:
                writer.saveAsTable(self.table)
            else:
                writer.format(self.format).save(self.path)

    def start(
        self, result: DataFrame, mode: str, trigger: Mapping[str, Any], checkpoint: str
    ) -> Any:
        """Start a stream in an output mode."""
        writer = (
            result.writeStream.outputMode(mode)
            .queryName(self.name)
            .option("checkpointLocation", checkpoint)
            .trigger(**trigger)
            .options(**self.options)
        )
        if self.upsert is not None:
            return writer.foreachBatch(fl.upsert(**self.upsert)).start()
        if self.table:
            return writer.toTable(self.table)
        return writer.format(self.format).start(self.path)

    def make_reader(self, spark: SparkSession, result: DataFrame) -> Callable[[], DataFrame] | None:
        """A function that reads back what a stream has written here; None if nothing can."""
        if self.table or self.format == "memory":
            return lambda: spark.table(self.table or _quote(self.name))
        if self.path is None:
            return None
        reader, fitted = spark.read.format(self.format), self.fit_columns(result).schema
        if self.format != "delta":  # Delta stores its schema
            reader = reader.schema(fitted).options(**self.options)
        wide = result.columns if self.format == "csv" else []
        return lambda: _rebuild_window(reader.load(self.path), wide)

    def _to_messages(self, result: DataFrame) -> DataFrame:
        """One Kafka message per window: the window as JSON, and its key, if there is one."""
        from pyspark.sql import functions as F

        columns = [F.to_json(F.struct("*")).alias("value")]
        if self.key:
            columns.insert(0, result[_quote(self.key)].cast("string").alias("key"))
        return result.select(*columns)


def missing_column(name: str, columns: Sequence[str]) -> str:
    """The message about a key column that the result does not have."""
    existing = ", ".join(columns)
    return (
        f"{name!r} is not a column of the query's result, which has {existing}; "
        "select it in the query, or leave it out of the key"
    )


def check_key(table: Table, columns: Sequence[str] | None) -> None:
    """Record the columns of the key that the query's result certainly does not have."""
    format, key = table.values.get("format"), table.values.get("key")
    keyed = format in (*DATABASES, "kafka") or table.values.get("mode") == UPSERT
    if columns is None or not keyed:
        return
    known = {one.casefold() for one in columns}
    for name in key if isinstance(key, list) else [key]:
        if not isinstance(name, str) or not re.fullmatch(r"\w+", name):
            continue  # recorded already, or a name that only Spark can resolve
        if name.casefold() not in known:
            table.note_wrong("key", missing_column(name, columns))


def read_sink(table: Table, name: str, *, stream: bool) -> Sink | None:
    """Read the table [sink]; None if it is wrong. Problems are recorded."""
    format = table.one_of("format", FORMATS, required=True)
    path = target = key = None
    if format is None:  # recorded already; its keys are unknown, so all are accepted
        table.known |= {"path", "table", "key", "url", "stream"}
    if format in DATABASES or (format == "delta" and table.values.get("mode") == UPSERT):
        return _read_upsert(table, name, format, stream=stream)
    if format in (*FILES, "delta"):
        path = read_path(table, "path", "windows")
    if format == "table":
        target = table.text("table", '"catalog.schema.windows"', required=True)
    options = table.settings("options")
    if format == "kafka":
        key = table.text("key", '"item"')
        for needed, example in ((SERVERS, "host:9092"), ("topic", "windows")):
            if needed not in options:
                table.note_missing(
                    f'has no option {needed}; write options."{needed}" = "{example}"'
                )
    mode = None
    if stream:
        note_output_mode(table, "mode")
    else:
        mode = table.one_of("mode", MODES if format != "delta" else (*MODES, UPSERT))
    table.note_unknown()
    if format is None:
        return None
    return Sink(name, format, path, target, key, mode or MODES[0], options)


def note_output_mode(table: Table, *names: str) -> None:
    """Record the keys of these names: the output mode of a stream leaves no choice."""
    for name in names:
        if name in table.values:
            table.known.add(name)
            why = "a stream appends each window once, when it is final, and gives none earlier in"
            instead = "EARLY in the brackets of the query gives windows while they are open"
            table.note_wrong(name, f"{why} another mode: leave it out; {instead}")


def check_early(table: Table, *, framed: bool) -> None:
    """Record a sink that cannot have windows that are given again, in place of what they were."""
    format, key = table.values.get("format"), table.values.get("key")
    keyed = format in DATABASES or (format == "delta" and table.values.get("mode") == UPSERT)
    if format in FORMATS and not keyed and format not in UPDATED:
        table.note_wrong(
            "format",
            f"{format!r} only appends, and EARLY gives a window again each time it has changed; "
            f'write format = "delta" with mode = "{UPSERT}", or one of '
            f"{', '.join((*DATABASES, *UPDATED))}, or leave EARLY out",
        )
    if keyed and framed and isinstance(key, list) and "window" in key:
        table.note_wrong(
            "key",
            "has window, which changes while a frame is open, so that EARLY would leave a row of "
            'each end; write "frame_id" instead',
        )


def _read_upsert(table: Table, name: str, format: str, *, stream: bool) -> Sink | None:
    """Read a sink that upserts: a row replaces the one with the same key."""
    before = len(table.document.problems)
    table.one_of("mode", (UPSERT,))
    if format == "postgresql":
        to = table.text("url", '"postgresql://user@host/database"', required=True)
        if to is not None and not to.startswith("postgresql://"):
            table.note_wrong(
                "url", 'is not one of PostgreSQL; write "postgresql://user@host/database"'
            )
    else:
        path = read_path(table, "path", "busy.db" if format == "sqlite" else "busy")
        plain = None if path is None else path.removeprefix("file://")
        to = f"sqlite:///{plain}" if format == "sqlite" else f"delta:{plain}"
    arguments: dict[str, Any] = {"to": to}
    if format != "delta":
        arguments["table"] = table.text("table", '"busy"', required=True)
    arguments["key"] = table.texts("key", 'a list of columns such as ["antenna", "window"]')
    if "key" not in table.values:
        table.note_missing(
            'has no key; write the columns that identify a row: key = ["item", "window"]'
        )
    elif table.values["key"] in ([], ""):
        table.note_wrong("key", 'is empty; write for example ["item", "window"]')
    elif len(set(arguments["key"])) < len(arguments["key"]):
        table.note_wrong("key", "names a column twice; name each once")
    arguments["stream"] = table.text("stream", '"busy-1"')
    if not stream and "stream" in table.values:
        table.note_wrong("stream", "is for a stream, and this is a batch: leave it out")
    table.note_unknown()
    if len(table.document.problems) > before:
        return None
    return Sink(name, format, None, None, None, UPSERT, {}, arguments)


def _flatten_structs(result: DataFrame) -> DataFrame:
    """Structs as separate columns: ``window_start``, ``window_end``."""
    from pyspark.sql.types import StructType

    columns = []
    for one in result.schema.fields:
        if isinstance(one.dataType, StructType):
            inner = one.dataType.names
            columns += [
                result[_quote(one.name)][name].alias(f"{one.name}_{name}") for name in inner
            ]
        else:
            columns.append(result[_quote(one.name)])
    return result.select(*columns)


def _rebuild_window(flat: DataFrame, names: Sequence[str]) -> DataFrame:
    """The inverse of :func:`_flatten_structs` for ``window``: a struct of its two ends again."""
    from pyspark.sql import functions as F

    ends = [flat[f"window_{end}"].alias(end) for end in ENDS if f"window_{end}" in flat.columns]
    if "window" not in names or len(ends) != len(ENDS):
        return flat
    window = F.struct(*ends).alias("window")
    return flat.select(*(window if one == "window" else flat[_quote(one)] for one in names))


def _quote(name: str) -> str:
    """A column's name in backticks, as it may contain dots."""
    return "`" + name.replace("`", "``") + "`"
