"""Makes pages of windows from rows, and has Spark's tasks search them: batch and stream.

In a stream a stateful operator makes the pages, in a batch the same code over sorted rows. Pages
are then distributed over the tasks, whatever key or level they are of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import (
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructType,
)

from fanlight.engine.operators.pages import Page
from fanlight.engine.operators.search import PageFormat
from fanlight.engine.operators.widening import WideningBatches, WideningQuery
from fanlight.engine.plan.widening import Level
from fanlight.engine.spark import result
from fanlight.engine.spark.binding.widening import WideningBound
from fanlight.engine.spark.coordinates import restore_sql
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.fingerprint import fingerprint
from fanlight.engine.spark.lives import divide_into_lives
from fanlight.engine.spark.ordered.arrow_pass import Passing
from fanlight.engine.spark.ordered.arrow_types import arrow_schema, arrow_type
from fanlight.engine.spark.ordered.encoding import Out, from_plain, plain_schema
from fanlight.engine.spark.ordered.host import Hosting
from fanlight.engine.spark.ordered.widening_rows import Units
from fanlight.engine.spark.ordered.workers import Function, run_in_workers
from fanlight.engine.spark.state import PARTITIONS, tasks_of_setting

PAGES = [("part", IntegerType()), ("page", BinaryType())]
Search = Callable[[Page], list[pa.Table]]
Levels = tuple[Level, ...]


def page_format(
    bound: WideningBound, levels: Levels, units: Units, matches: StructType, *, recorded: bool
) -> PageFormat:
    """The format in which tasks read pages and write matches."""
    types = {field.name: field.dataType for field in units.rows.schema.fields}
    pairs = zip(bound.names, bound.keys, strict=True)
    seen = zip(units.sources, units.seen, strict=True)
    return PageFormat(
        levels=levels,
        max_rows=bound.spec.max_rows,
        keys=tuple((name, key, arrow_type(types[key])) for name, key in pairs),
        columns=tuple((name, home, arrow_type(kind)) for (name, home), kind in seen),
        result=arrow_schema(matches),
        numeric_result=arrow_schema(plain_schema([(f.name, f.dataType) for f in matches.fields])),
        out=arrow_schema(plain_schema(_out_columns(bound, units, matches, recorded=recorded))),
        records_errors=recorded,
        has_timestamps=bound.spec.measure == "time",
    )


def _out_columns(bound: WideningBound, units: Units, matches: StructType, *, recorded: bool) -> Out:
    """The columns of an output row of the search."""
    types = {field.name: field.dataType for field in units.rows.schema.fields}
    fields: list[tuple[str, DataType]] = [(key, types[key]) for key in bound.keys]
    fields += [("start", LongType()), ("ending", LongType())]
    fields += [("level", IntegerType()), ("found", LongType())]
    fields += [(f"match{n}", field.dataType) for n, field in enumerate(matches.fields)]
    return [*fields, ("error", StringType())] if recorded else fields


def detect_matches(
    bound: WideningBound,
    levels: Levels,
    units: Units,
    matches: StructType,
    search: Search,
    *,
    recorded: bool,
) -> DataFrame:
    """The matches: keys, ``window``, ``level``, ``found_at``, and what the detector reports."""
    tasks = tasks_of_setting(bound.df.sparkSession.conf.get(PARTITIONS, None))
    pages = _make_pages(bound, levels, units).repartition(tasks, "part")
    out = _out_columns(bound, units, matches, recorded=recorded)
    matched = from_plain(run_in_workers(pages, search_pages(search), plain_schema(out)), out)
    columns = [("level", "level"), (_time(bound, "found"), "found_at")]
    columns += [(f"match{n}", field.name) for n, field in enumerate(matches.fields)]
    columns += [("error", "error")] if recorded else []
    return result.finish_result(
        bound, matched, _time(bound, "start"), _time(bound, "ending"), columns
    )


def _make_pages(bound: WideningBound, levels: Levels, units: Units) -> DataFrame:
    """Pages of windows, each with the number that decides which task searches it."""
    forget_after = bound.forget_after if bound.df.isStreaming else None
    bound = divide_into_lives(bound)
    keys, columns = bound.keys, units.order(bound)

    def query(schema: pa.Schema, keys: Sequence[str]) -> WideningQuery:
        ties, most = len(bound.tie_keys), bound.spec.max_rows
        return WideningQuery(schema, len(keys), ties, levels, most, forget_after)

    if bound.df.isStreaming:
        hosting = Hosting(units.rows, bound, columns)
        what = "progressively widened windows"
        asked = fingerprint(what, bound, hosting, Fields(dict(units.sources)))
        return hosting.run(query(hosting.schema, hosting.keys), PAGES, asked, what=what)
    passing = Passing(units.rows, keys, [*keys, "t", *bound.tie_keys, "hash"], columns)
    return passing.run(WideningBatches(query(passing.schema, keys)), PAGES)


def search_pages(search: Search) -> Function:
    """Search pages and return matches."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for page in batch.column("page"):
                for table in search(Page.unpack(page.as_py())):
                    yield from table.combine_chunks().to_batches()

    return run


def _time(bound: WideningBound, number: str) -> str:
    text = restore_sql(bound.coordinate, number)
    return text if bound.spec.measure == "time" else f"cast({text} as {bound.time_type})"
