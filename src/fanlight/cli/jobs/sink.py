"""Where the windows of a job go."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import fanlight as fl
from fanlight.cli.jobs.places import place
from fanlight.cli.jobs.source import FILES, SERVERS
from fanlight.cli.jobs.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BASES = ("sqlite", "postgresql")
FORMATS = (*FILES, "delta", "kafka", *BASES, "console", "table", "memory")
MODES = ("error", "append", "overwrite", "ignore")
UPSERT = "upsert"
SINK = ("format", "path", "table", "key", "mode", "options", "url", "stream")
SHOWN = 20
ENDS = ("start", "end")


@dataclass(frozen=True)
class Sink:
    """Where results go; ``name`` is the job's, under which memory keeps them."""

    name: str
    format: str
    path: str | None
    table: str | None
    key: str | None
    mode: str
    options: Mapping[str, str]
    upsert: Mapping[str, Any] | None = None

    def fitted(self, found: DataFrame) -> DataFrame:
        """The result in columns that the format can hold; it must have those of the key."""
        keys = self.upsert["key"] if self.upsert else (self.key,) if self.key else ()
        for name in keys:
            if name not in found.columns:
                raise fl.FanlightError(f"sink.key: {lacking(name, found.columns)}")
        if self.format == "csv":
            return _flat(found)
        return self._messages(found) if self.format == "kafka" else found

    def write(self, found: DataFrame) -> None:
        """Write a batch."""
        if self.upsert is not None:
            fl.upsert(**self.upsert)(found)
        elif self.format == "console":
            found.show(int(self.options.get("numRows", SHOWN)), truncate=False)
        elif self.format == "memory":
            found.createOrReplaceTempView(self.name)
        else:
            writer = found.write.mode(self.mode).options(**self.options)
            if self.table:
                writer.saveAsTable(self.table)
            else:
                writer.format(self.format).save(self.path)

    def start(self, found: DataFrame, trigger: Mapping[str, Any], checkpoint: str) -> Any:
        """Start a stream."""
        writer = (
            found.writeStream.outputMode("append")
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

    def written(self, spark: SparkSession, found: DataFrame) -> Callable[[], DataFrame] | None:
        """What reads the windows ``found`` that a stream has written here; None if nothing can."""
        if self.table or self.format == "memory":
            return lambda: spark.table(self.table or _quoted(self.name))
        if self.path is None:
            return None
        reader, fitted = spark.read.format(self.format), self.fitted(found).schema
        if self.format != "delta":  # which knows its own
            reader = reader.schema(fitted).options(**self.options)
        wide = found.columns if self.format == "csv" else []
        return lambda: _deep(reader.load(self.path), wide)

    def _messages(self, found: DataFrame) -> DataFrame:
        """A message a window: all of it as JSON, and its key, if it has one."""
        from pyspark.sql import functions as F

        columns = [F.to_json(F.struct("*")).alias("value")]
        if self.key:
            columns.insert(0, found[_quoted(self.key)].cast("string").alias("key"))
        return found.select(*columns)


def lacking(name: str, columns: Sequence[str]) -> str:
    """What is said of a key that the result does not have."""
    there = ", ".join(columns)
    return (
        f"{name!r} is not a column of the query's result, which has {there}; "
        "have the query give it, or leave it out of the key"
    )


def check_key(table: Table, columns: Sequence[str] | None) -> None:
    """Note the columns of the key that the result of the query is known not to have."""
    format, given = table.values.get("format"), table.values.get("key")
    keyed = format in (*BASES, "kafka") or table.values.get("mode") == UPSERT
    if columns is None or not keyed:
        return
    known = {one.casefold() for one in columns}
    for name in given if isinstance(given, list) else [given]:
        if not isinstance(name, str) or not re.fullmatch(r"\w+", name):
            continue  # noted already, or a name that the text alone does not tell
        if name.casefold() not in known:
            table.wrong("key", lacking(name, columns))


def sink(table: Table, name: str, *, stream: bool) -> Sink | None:
    """The sink that a table of a job describes, or nothing where it is wrong."""
    format = table.one_of("format", FORMATS, required=True)
    path = target = key = None
    if format is None:  # said already, and nobody knows which keys it would have
        table.known |= {"path", "table", "key", "url", "stream"}
    if format in BASES or (format == "delta" and table.values.get("mode") == UPSERT):
        return _upsert(table, name, format, stream=stream)
    if format in (*FILES, "delta"):
        path = place(table, "path", "windows")
    if format == "table":
        target = table.text("table", '"catalog.schema.windows"', required=True)
    options = table.settings("options")
    if format == "kafka":
        key = table.text("key", '"item"')
        for needed, example in ((SERVERS, "host:9092"), ("topic", "windows")):
            if needed not in options:
                table.lacks(f'has no option {needed}; write options."{needed}" = "{example}"')
    mode = table.one_of("mode", MODES if format != "delta" else (*MODES, UPSERT))
    if stream and "mode" in table.values:
        advice = "a stream appends each window once, when it is final: leave it out"
        table.wrong("mode", f"is for a batch; {advice}")
    table.finish()
    if format is None:
        return None
    return Sink(name, format, path, target, key, mode or MODES[0], options)


def _upsert(table: Table, name: str, format: str, *, stream: bool) -> Sink | None:
    """A sink in which a row takes the place of the one with its key."""
    before = len(table.document.problems)
    table.one_of("mode", (UPSERT,))
    if format == "postgresql":
        to = table.text("url", '"postgresql://user@host/database"', required=True)
        if to is not None and not to.startswith("postgresql://"):
            table.wrong("url", 'is none; write "postgresql://user@host/database"')
    else:
        path = place(table, "path", "busy.db" if format == "sqlite" else "busy")
        plain = None if path is None else path.removeprefix("file://")
        to = f"sqlite:///{plain}" if format == "sqlite" else f"delta:{plain}"
    given: dict[str, Any] = {"to": to}
    if format != "delta":
        given["table"] = table.text("table", '"busy"', required=True)
    given["key"] = table.texts("key", 'a list of columns such as ["antenna", "window"]')
    if "key" not in table.values:
        table.lacks('has no key; write the columns that tell rows apart: key = ["item", "window"]')
    elif table.values["key"] in ([], ""):
        table.wrong("key", 'is empty; write for example ["item", "window"]')
    elif len(set(given["key"])) < len(given["key"]):
        table.wrong("key", "names a column twice; name each once")
    given["stream"] = table.text("stream", '"busy-1"')
    if not stream and "stream" in table.values:
        table.wrong("stream", "is for a stream, and this is a batch: leave it out")
    table.finish()
    if len(table.document.problems) > before:
        return None
    return Sink(name, format, None, None, None, UPSERT, {}, given)


def _flat(found: DataFrame) -> DataFrame:
    """Structs as columns of their own: ``window_start``, ``window_end``."""
    from pyspark.sql.types import StructType

    columns = []
    for one in found.schema.fields:
        if isinstance(one.dataType, StructType):
            inner = one.dataType.names
            columns += [
                found[_quoted(one.name)][name].alias(f"{one.name}_{name}") for name in inner
            ]
        else:
            columns.append(found[_quoted(one.name)])
    return found.select(*columns)


def _deep(flat: DataFrame, names: Sequence[str]) -> DataFrame:
    """What :func:`_flat` has made of the columns ``names``, with their windows again."""
    from pyspark.sql import functions as F

    ends = [flat[f"window_{end}"].alias(end) for end in ENDS if f"window_{end}" in flat.columns]
    if "window" not in names or len(ends) != len(ENDS):
        return flat
    window = F.struct(*ends).alias("window")
    return flat.select(*(window if one == "window" else flat[_quoted(one)] for one in names))


def _quoted(name: str) -> str:
    """A column's name, which may have dots."""
    return "`" + name.replace("`", "``") + "`"
