"""Loads a job file: checks all of it, and makes it a ``Job``."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fanlight as fl
from fanlight.cli.jobs.document import Document, Table, read_document, read_path
from fanlight.cli.jobs.sink import (
    SINK_KEYS,
    Sink,
    check_early,
    check_key,
    note_output_mode,
    read_sink,
)
from fanlight.cli.jobs.source import SOURCE_KEYS, Source, read_source
from fanlight.cli.sessions import explain_sql, list_windows, require_sql, run_sql, sql_columns
from fanlight.engine.spec.errors import guess

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from fanlight.language.query import AskedWindows


_TABLES = ("name", "spark", "source", "query", "sink", "stream")
OUTPUT_MODES = ("mode", "output_mode", "outputMode")  # as one may call it
AVAILABLE_NOW, ONCE = "available now", "once"


@dataclass(frozen=True)
class Stream:
    """How a stream runs: its trigger, as arguments of Spark's ``trigger``, and its checkpoint."""

    trigger: Mapping[str, Any]
    checkpoint: str


@dataclass(frozen=True)
class Job:
    """The content of a valid job file."""

    name: str
    settings: Mapping[str, str]
    sources: Mapping[str, Source]
    query: Query
    sink: Sink | None
    stream: Stream | None

    @property
    def output_mode(self) -> str:
        """The output mode of a stream: ``update`` if windows are given also while they are open."""
        return "update" if self.query.is_early else "append"

    def read_tables(self, spark: SparkSession, *, stream: bool) -> dict[str, DataFrame]:
        """Read the sources: DataFrames by name."""
        return {name: one.read(spark, stream=stream) for name, one in self.sources.items()}

    def result(self, spark: SparkSession, *, stream: bool) -> DataFrame:
        """The result of its query."""
        return self.query.result(self.read_tables(spark, stream=stream))

    def explain(self, spark: SparkSession, *, verbose: bool = False) -> str:
        """How it will run, and why, as text; ``verbose`` adds every candidate."""
        # Spark cannot explain a stream: of a query without windows, tables are read as batches.
        stream = self.stream is not None and bool(self.query.windows)
        return self.query.explain(self.read_tables(spark, stream=stream), verbose=verbose)


def load(path: Path, *, to_run: bool = True) -> Job:
    """Read a job file and check all of it; without ``to_run`` it needs no sink.

    All problems that can be found without Spark are raised together, as an
    :class:`InvalidJobError`.
    """
    document = read_document(path)
    top = Table(document, (), document.values, _TABLES)
    name = top.text("name", '"busy"') or path.stem
    settings = {_full_setting_name(key): text for key, text in top.settings("spark").items()}
    stream = _read_stream(top)
    streaming = "stream" in top.values
    sources = _read_sources(top, streaming=streaming)
    query_table = _required_table(top, "query", 'sql = "SELECT …"', ("sql",))
    query = read_query(query_table, tuple(sources)) if query_table else None
    sink_table = top.table("sink", SINK_KEYS)
    if sink_table is None and to_run and "sink" not in top.values:
        top.note_missing('has no table [sink]; write for example format = "console" in it')
    sink = read_sink(sink_table, name, stream=streaming) if sink_table else None
    if sink_table and query:
        check_key(sink_table, query.columns)
    if query_table and query and query.is_early:
        _check_early(query_table, sink_table, query, streaming=streaming)
    top.note_unknown()
    if query_table and query and streaming:
        _check_empty(query_table, query, sources)
        _check_watermarks(document, query, sources)
    _check_speedup(document, sources, stream)
    document.raise_problems()
    if query is None:
        msg = "a missing query was not recorded as a problem"
        raise AssertionError(msg)
    return Job(name, settings, sources, query, sink, stream)


def _check_empty(table: Table, query: Query, sources: Collection[str]) -> None:
    """Note what a stream cannot give of windows without rows."""
    known = {name.casefold() for name in sources}
    for given in [one.empty for one in query.windows if one.empty and one.table in known]:
        asked = f"EMPTY {given['values'].upper()}"
        if "between" in given:
            why = "has BETWEEN, which is for a batch: a stream gives windows as time goes on"
            table.note_wrong("sql", f"{asked} {why}; write {asked} MAX 60")
        elif "most" not in given:
            why = "says how many windows without rows may follow one with rows"
            needed = f"has no MAX, which {why}, as a stream needs"
            table.note_wrong("sql", f"{asked} {needed}; write {asked} MAX 60")


def _full_setting_name(setting: str) -> str:
    """The full name of a Spark setting; in the table [spark] its ``spark.`` may be left out.

    >>> [_full_setting_name(name) for name in ("sql.shuffle.partitions", "spark.master")]
    ['spark.sql.shuffle.partitions', 'spark.master']
    """
    return setting if setting.startswith("spark.") else f"spark.{setting}"


def _required_table(top: Table, name: str, holds: str, names: Collection[str] = ()) -> Table | None:
    table = top.table(name, names)
    if table is None and name not in top.values:
        top.note_missing(f"has no table [{name}], with {holds}")
    return table


def _read_sources(top: Table, *, streaming: bool) -> dict[str, Source]:
    """The sources by name; problems are recorded."""
    outer = _required_table(top, "source", "a table for each source: [source.bids]")
    if outer and not all(isinstance(value, dict) for value in outer.values.values()):
        outer.note_missing("names no source; write [source.calls], if the query reads calls")
        return {}
    sources = {}
    for name in outer.values if outer else ():
        inner = outer.table(name, SOURCE_KEYS) if outer else None
        if inner:
            sources[name] = read_source(inner, stream=streaming)
    if outer is not None and not outer.values:
        outer.note_missing("has no source; write [source.bids]")
    return sources


def _read_stream(top: Table) -> Stream | None:
    """The table [stream]; None if there is none. Problems are recorded."""
    table = top.table("stream", ("trigger", "checkpoint"))
    if table is None:
        return None
    text = table.text("trigger", f'"{AVAILABLE_NOW}"', required=True)
    trigger: dict[str, Any] = {}
    if text == AVAILABLE_NOW:
        trigger = {"availableNow": True}
    elif text == ONCE:
        trigger = {"once": True}
    elif near := guess(text or "", (AVAILABLE_NOW, ONCE), 0.7):
        table.note_wrong("trigger", f'{text!r} is not a trigger; write "{near}"')
    elif text is not None and (every := table.duration("trigger")):
        trigger = {"processingTime": every}
    checkpoint = read_path(table, "checkpoint", "checkpoints/busy")
    note_output_mode(table, *OUTPUT_MODES)
    table.note_unknown()
    return Stream(trigger, checkpoint or "")


def _check_early(table: Table, sink: Table | None, query: Query, *, streaming: bool) -> None:
    """Windows are given while they are open by a stream alone, to a sink that can have them."""
    if streaming and sink:
        check_early(sink, framed=query.is_framed)
    if not streaming:
        why = "asks for windows EARLY, which is for a stream, and this is a batch, with all rows"
        table.note_wrong("sql", f"{why}; leave it out, or write a table [stream]")


def _check_watermarks(document: Document, query: Query, sources: Mapping[str, Source]) -> None:
    """A stream's watermark must be on the time column of its windows: of a pair, on the stop."""
    for name, source in sources.items():
        times = [one.time for one in query.windows if one.time and one.table == name.casefold()]
        column = source.watermark[0] if source.watermark else ""
        if column and times and column.casefold() not in map(str.casefold, times):
            document.add_problem(
                ("source", name, "watermark", "column"),
                f"{column!r} is not the time of the query; write column = {times[0]!r}",
            )


def _check_speedup(
    document: Document, sources: Mapping[str, Source], stream: Stream | None
) -> None:
    """A stream that ends by itself plays its files at once, so it takes no ``speedup``."""
    if stream is None or not stream.trigger or "processingTime" in stream.trigger:
        return
    for name, one in sources.items():
        if one.replay is not None and "speedup" in one.replay.arguments:
            document.add_problem(
                ("source", name, "speedup"),
                'needs a stream that does not end; write for example trigger = "1 second", or '
                "leave it out to play the files as fast as possible",
            )


_LENGTH, _PLAIN = re.compile(r"(\d+) (\w+)"), re.compile(r"\w+", re.ASCII)


@dataclass(frozen=True)
class Query:
    """A query as text for ``fl.sql``, with what can be told of it without Spark."""

    text: str
    columns: tuple[str, ...] | None
    windows: tuple[AskedWindows, ...]

    @property
    def is_early(self) -> bool:
        """Whether windows are given also while they are open."""
        return any(one.early for one in self.windows)

    @property
    def is_framed(self) -> bool:
        """Whether frames are given while they are open."""
        return any(one.early and one.are_frames for one in self.windows)

    def _text_for(self, tables: Mapping[str, DataFrame]) -> str:
        """The text; a batch, which has no open windows, is not asked for them."""
        text = self.text
        streaming = any(df.isStreaming for df in tables.values())
        for one in () if streaming else self.windows:
            if one.early:
                start, end = one.early
                text = text[:start] + " " * (end - start) + text[end:]
        return text

    def result(self, tables: Mapping[str, DataFrame]) -> DataFrame:
        """The result of the text over these tables."""
        return run_sql(self._text_for(tables), tables)

    def explain(self, tables: Mapping[str, DataFrame], *, verbose: bool) -> str:
        """How it will run, and why, as text; ``verbose`` adds every candidate."""
        return explain_sql(self._text_for(tables), tables, verbose=verbose)


def read_query(table: Table, sources: Sequence[str]) -> Query | None:
    """Read the query of a job; None if its SQL cannot be read. Problems are recorded.

    It is parsed here, so that its errors are reported with all others.
    """
    others = [name for name in table.values if name != "sql"]
    for name in others[:1]:
        example = f'write for example sql = "{_write_example(table.values, sources)}"'
        instead = "say it in the text of sql" if "sql" in table.values else example
        table.note_wrong(name, f"is not a key here: all that is asked is said in SQL; {instead}")
    if others and "sql" not in table.values:
        return None
    text = table.text("sql", '"SELECT …"', required=True)
    try:
        require_sql()
        return Query(text, sql_columns(text), list_windows(text)) if text else None
    except fl.FanlightError as error:
        table.note_wrong("sql", str(error))
        return None


def _write_example(given: Mapping[str, Any], sources: Sequence[str]) -> str:
    """A query of what keys said before queries were SQL, as far as that makes one."""
    source = str(given.get("source", next(iter(sources), "calls")))
    source = source if _PLAIN.fullmatch(source) else f"`{source}`"
    by, time = _list_names(given.get("by")), _list_names(given.get("time")) or ["ts"]
    clause = [f"{'SPAN' if len(time) > 1 else 'WATTR'} {', '.join(map(str, time))}"]
    clause += [f"PARTITION BY {', '.join(map(str, by))}"] if by else []
    for word, default in (("range", "1 hour"), ("slide", "1 minute")):
        length = _LENGTH.fullmatch(str(given.get(word, default))) or _LENGTH.fullmatch(default)
        clause += [f"{word} {length[0]}".upper()] if length else []
    named = given.get("aggregates")
    calls = dict(named) if isinstance(named, dict) and named else {"calls": "count()"}
    counted = [f"{str(call).replace('count()', 'count(*)')} AS {n}" for n, call in calls.items()]
    selected = ", ".join([*map(str, by), "window", *counted])
    text = f"SELECT {selected} FROM {source} [{' '.join(clause)}]"
    try:
        readable = '"' not in text and list_windows(text)
    except (fl.FanlightError, ModuleNotFoundError):
        readable = False
    return text if readable or not given else _write_example({}, sources)


def _list_names(given: Any) -> list[Any]:
    """Names of columns: one as a text, or several."""
    return [given] if isinstance(given, str) else given if isinstance(given, list) else []
