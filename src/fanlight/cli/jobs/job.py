"""A job file as a value."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fanlight.cli.jobs.document import Document, read
from fanlight.cli.jobs.places import place
from fanlight.cli.jobs.query import Fields, Sql, entries, query
from fanlight.cli.jobs.sink import SINK, Sink, check_key, sink
from fanlight.cli.jobs.source import SOURCE, Source, source
from fanlight.cli.jobs.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TABLES = ("name", "spark", "source", "query", "sink", "stream")
AVAILABLE_NOW, ONCE = "available now", "once"


@dataclass(frozen=True)
class Stream:
    """How a stream runs: its trigger as Spark takes it, and its checkpoint."""

    trigger: Mapping[str, Any]
    checkpoint: str


@dataclass(frozen=True)
class Job:
    """What a job file says, checked."""

    name: str
    settings: Mapping[str, str]
    sources: Mapping[str, Source]
    query: Fields | Sql
    sink: Sink | None
    stream: Stream | None

    def tables(self, spark: SparkSession, *, stream: bool) -> dict[str, DataFrame]:
        """The tables that it reads, by name."""
        return {name: one.read(spark, stream=stream) for name, one in self.sources.items()}

    def result(self, spark: SparkSession, *, stream: bool) -> DataFrame:
        """The windows that it asks for."""
        return self.query.result(self.tables(spark, stream=stream))

    def explain(self, spark: SparkSession) -> str:
        """How it will run, and why."""
        # Spark explains no SQL over a stream.
        stream = self.stream is not None and isinstance(self.query, Fields)
        return self.query.explain(self.tables(spark, stream=stream))


def load(path: Path, *, to_run: bool = True) -> Job:
    """Read a job file and check all of it; without ``to_run`` it may lack a sink.

    It is an :class:`InvalidJobError` with every problem that can be seen without Spark.
    """
    document = read(path)
    top = Table(document, (), document.values, _TABLES)
    name = top.text("name", '"busy"') or path.stem
    settings = {_full(key): text for key, text in top.settings("spark").items()}
    stream = _stream(top)
    streaming = "stream" in top.values
    sources = _sources(top, streaming=streaming)
    asked = _inner(top, "query", "sql or window", entries())
    found = query(asked, list(sources)) if asked else None
    out = top.table("sink", SINK)
    if out is None and to_run and "sink" not in top.values:
        top.lacks('has no table [sink]; write for example format = "console" in it')
    written = sink(out, name, stream=streaming) if out else None
    if out and found:
        check_key(out, found.columns)
    top.finish()
    _check_watermark(document, sources, found, streaming=streaming)
    _check_speedup(document, sources, stream)
    document.check()
    if found is None:  # nothing was noted against it, which cannot be
        msg = "a query that is missing was not noted"
        raise AssertionError(msg)
    return Job(name, settings, sources, found, written, stream)


def _full(setting: str) -> str:
    """The name of a setting of Spark's; in a table [spark] its beginning may be left out.

    >>> _full("sql.shuffle.partitions"), _full("spark.master")
    ('spark.sql.shuffle.partitions', 'spark.master')
    """
    return setting if setting.startswith("spark.") else f"spark.{setting}"


def _inner(top: Table, name: str, holds: str, names: Collection[str] = ()) -> Table | None:
    found = top.table(name, names)
    if found is None and name not in top.values:
        top.lacks(f"has no table [{name}], with {holds}")
    return found


def _sources(top: Table, *, streaming: bool) -> dict[str, Source]:
    """The sources by name, as far as they are right."""
    outer = _inner(top, "source", "a table for each source: [source.bids]")
    found = {}
    for name in outer.values if outer else ():
        inner = outer.table(name, SOURCE) if outer else None
        if inner:
            found[name] = source(inner, stream=streaming)
    if outer is not None and not outer.values:
        outer.lacks("has no source; write [source.bids]")
    return found


def _stream(top: Table) -> Stream | None:
    """How it runs, if it is a stream."""
    table = top.table("stream", ("trigger", "checkpoint"))
    if table is None:
        return None
    text = table.text("trigger", f'"{AVAILABLE_NOW}"', required=True)
    trigger: dict[str, Any] = {}
    if text == AVAILABLE_NOW:
        trigger = {"availableNow": True}
    elif text == ONCE:
        trigger = {"once": True}
    elif text is not None and (every := table.duration("trigger")):
        trigger = {"processingTime": every}
    checkpoint = place(table, "checkpoint", "checkpoints/busy")
    table.finish()
    return Stream(trigger, checkpoint or "")


def _check_watermark(
    document: Document, sources: Mapping[str, Source], asked: Any, *, streaming: bool
) -> None:
    """The watermark must be on the time of the windows: of a pair, on the stop."""
    if not streaming or not isinstance(asked, Fields) or asked.source not in sources:
        return
    mark = sources[asked.source].watermark
    time = asked.time if isinstance(asked.time, str) else "".join(asked.time[-1:])
    if mark and time and mark[0] != time:
        document.problem(
            ("source", asked.source, "watermark", "column"),
            f"{mark[0]!r} is not the time of the query; write column = {time!r}",
        )


def _check_speedup(
    document: Document, sources: Mapping[str, Source], stream: Stream | None
) -> None:
    """What ends by itself waits for no clock."""
    if stream is None or not stream.trigger or "processingTime" in stream.trigger:
        return
    for name, one in sources.items():
        if one.played is not None and "speedup" in one.played.how:
            document.problem(
                ("source", name, "speedup"),
                'needs a stream that goes on; write for example trigger = "1 second", or leave '
                "it out: all is played as fast as can be",
            )
