"""Rows into pages of windows, pages shared out and searched: batch and stream.

A stream's rows are widened by a stateful operator, a batch's by the same operator over sorted rows.
Either way windows leave as pages, which Spark then shares out among its tasks, whatever key or
level they are of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from fanlight.operators.pages import Page
from fanlight.operators.search import Frame
from fanlight.operators.widening import WideningQuery, from_sorted
from fanlight.plan.widening import levels_of
from fanlight.spark import result
from fanlight.spark.codec import decoded, encoded, plain
from fanlight.spark.coordinates import restored
from fanlight.spark.host import Hosting
from fanlight.spark.widening.binding import Units, WideningBound, arrow_types

PAGES = [("part", IntegerType()), ("page", BinaryType())]
_PARTITIONS = "spark.sql.shuffle.partitions"
Search = Callable[[Page], list[pa.Table]]


def frame_of(bound: WideningBound, units: Units, matches: StructType, *, recorded: bool) -> Frame:
    """How pages are read, and results written."""
    key_types = [units.types[key] for key in bound.keys]
    bare = StructType([StructField(f.name, plain(f.dataType)) for f in matches.fields])
    return Frame(
        levels=levels_of(bound.spec),
        max_rows=bound.spec.max_rows,
        keys=tuple(zip(bound.names, bound.keys, arrow_types(key_types), strict=True)),
        columns=tuple(
            (name, home, kind)
            for (name, home), kind in zip(units.sources, arrow_types(units.seen), strict=True)
        ),
        result=to_arrow_schema(matches, timezone="UTC"),
        plain=to_arrow_schema(bare, timezone="UTC"),
        out=to_arrow_schema(_out(bound, units, matches, recorded=recorded), timezone="UTC"),
        recorded=recorded,
        timed=bound.spec.measure == "time",
    )


def _out(bound: WideningBound, units: Units, matches: StructType, *, recorded: bool) -> StructType:
    """An output row of the search, with times as whole numbers."""
    fields = [(key, plain(units.types[key])) for key in bound.keys]
    fields += [("start", LongType()), ("end", LongType())]
    fields += [("level", IntegerType()), ("found", LongType())]
    fields += [(f"m{i}", plain(field.dataType)) for i, field in enumerate(matches.fields)]
    fields += [("error", StringType())] if recorded else []
    return StructType([StructField(name, kind) for name, kind in fields])


def detected(
    bound: WideningBound, units: Units, matches: StructType, search: Search, *, recorded: bool
) -> DataFrame:
    """The matches: keys, ``window``, ``level``, ``found_at``, and what the detector reports."""
    pages = _pages(bound, units)
    asked = str(bound.df.sparkSession.conf.get(_PARTITIONS, "200"))
    tasks = int(asked) if asked.isdigit() else 200  # some platforms say "auto"
    out = _out(bound, units, matches, recorded=recorded)
    found = pages.repartition(tasks, "part").mapInArrow(searching(search), out)
    return _finished(bound, units, matches, found, recorded=recorded)


def _pages(bound: WideningBound, units: Units) -> DataFrame:
    hosting = Hosting(units.rows, bound.keys, units.order(bound))
    query = WideningQuery(
        hosting.schema,
        len(bound.keys),
        len(bound.breaks),
        levels_of(bound.spec),
        bound.spec.max_rows,
    )
    if bound.df.isStreaming:
        return hosting.run(
            query, PAGES, name="widening", delay=bound.delay, what="progressively widened windows"
        )
    order = [*bound.keys, "t", *bound.breaks, "h"]
    rows = units.rows.repartition(*bound.keys) if bound.keys else units.rows.repartition(1)
    rows = rows.sortWithinPartitions(*order)
    texts = [f"{encoded(name, units.types[name])} as {name}" for name in units.order(bound)]
    schema = StructType([StructField(name, kind) for name, kind in PAGES])
    return rows.selectExpr(*texts).mapInArrow(widening(query), schema)


def widening(query: WideningQuery) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Sorted rows to pages, for ``mapInArrow``."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in from_sorted(query, batches):
            yield from table.to_batches()

    return run


def searching(search: Search) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Pages to matches, for ``mapInArrow``."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for page in batch.column("page"):
                for table in search(Page.unpack(page.as_py())):
                    yield from table.combine_chunks().to_batches()

    return run


def _finished(
    bound: WideningBound, units: Units, matches: StructType, found: DataFrame, *, recorded: bool
) -> DataFrame:
    """Times as times again, and everything under its own name."""
    pairs = zip(bound.keys, bound.names, strict=True)
    keys = [(decoded(key, units.types[key]), name) for key, name in pairs]
    columns = [("level", "level"), (_time(bound, "found"), "found_at")]
    columns += [(decoded(f"m{i}", f.dataType), f.name) for i, f in enumerate(matches.fields)]
    columns += [("error", "error")] if recorded else []
    window = _time(bound, "start"), _time(bound, "end")
    return result.finished(bound, found, *window, columns, keys)


def _time(bound: WideningBound, number: str) -> str:
    text = restored(bound.coordinate, number)
    return text if bound.spec.measure == "time" else f"cast({text} as {bound.time_type})"
