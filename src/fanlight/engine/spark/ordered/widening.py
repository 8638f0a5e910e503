"""Progressive widening: rows to pages of windows, which Spark's tasks search: batch and stream.

In a stream a stateful operator makes the pages, in a batch the same code over sorted rows. Pages
are then distributed over the tasks, whatever key or level they are of; but those of a batch that
are searched for an episode are searched where they are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

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

from fanlight.engine.algebra.aggregate import contains_type
from fanlight.engine.operators.episodes import EpisodeSearch
from fanlight.engine.operators.search import FunctionSearch, PageFormat
from fanlight.engine.operators.widening import Page, WideningQuery
from fanlight.engine.plan.widening import Level
from fanlight.engine.spark import result
from fanlight.engine.spark.binding.source import schema_of
from fanlight.engine.spark.binding.widening import REFUSED, WideningBound
from fanlight.engine.spark.coordinates import restore_sql
from fanlight.engine.spark.equality import needs_normal_form
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.fingerprint import PARTITIONS, tasks_of_setting
from fanlight.engine.spark.lift import select_placeable
from fanlight.engine.spark.lives import divide_into_lives
from fanlight.engine.spark.ordered.encoding import Out, arrow_schema, arrow_type, plain_schema
from fanlight.engine.spark.ordered.host import (
    Given,
    Hosted,
    run_operator,
    run_over_partitions,
)
from fanlight.engine.spark.ordered.workers import Function
from fanlight.engine.spark.sql import type_text
from fanlight.engine.spec.errors import refuse

PAGES: Given = {"part": IntegerType(), "page": BinaryType()}
Search = FunctionSearch | EpisodeSearch
Levels = tuple[Level, ...]


@dataclass(frozen=True)
class Units:
    """Rows for the operator: keys, ``t``, tiebreaks, ``hash``, payload."""

    rows: DataFrame
    payload: tuple[str, ...]
    sources: tuple[tuple[str, str], ...]  # a column that the detector sees, and where it is
    seen: tuple[DataType, ...]  # the types that the detector sees


def select_rows(bound: WideningBound, columns: Sequence[str]) -> Units:
    """The rows that can be placed, with the columns that the detector reads."""
    bound.source.check_comparable()
    df = bound.df
    found = schema_of(df, [("columns", name) for name in columns], "columns")
    for field in found:
        kind = type_text(field.dataType)
        if contains_type(kind, REFUSED):
            raise refuse(
                f"column {field.name!r}",
                f"is of type {kind}, which a detector cannot be given",
                "leave it out: detect(…, columns=[…])",
            )
    homes = {} if bound.source.read_from else {bound.time: "t"}
    keys = schema_of(df, [("by", key) for key in bound.by], "by")
    for given, name, key in zip(bound.by, bound.keys, keys, strict=True):
        # A key is in its normal form there: a detector sees the column as it is.
        if isinstance(given, str) and not needs_normal_form(key.dataType):
            homes.setdefault(given, name)
    fields = Fields()
    sources: list[tuple[str, str]] = []
    for field in found:
        home = homes.get(field.name)
        if home is None or contains_type(type_text(field.dataType), ["float"]):
            home = fields.add_argument(field.name)
        sources.append((field.name, home))
    payload = tuple(fields.arguments.values())
    rows = select_placeable(bound, fields)
    # Rows with equal payload are the same to a detector, so their order makes no difference.
    hashed = f"xxhash64({', '.join(payload)})" if payload else "0L"
    rows = rows.selectExpr(*bound.keys, "t", *bound.tie_keys, f"{hashed} as hash", *payload)
    return Units(rows, payload, tuple(sources), tuple(field.dataType for field in found))


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
    out = _out_columns(bound, units, matches, recorded=recorded)
    if isinstance(search, EpisodeSearch) and not bound.df.isStreaming:
        # It takes less than to pass pages on.
        matched = _run_pages(bound, levels, units, dict(out), search_pages(search))
    else:
        tasks = tasks_of_setting(bound.df.sparkSession.conf.get(PARTITIONS, None))
        pages = _run_pages(bound, levels, units, PAGES).repartition(tasks, "part")
        matched = run_over_partitions(pages, {"page": BinaryType()}, search_pages(search), out)
    columns = [("level", "level"), (_time(bound, "found"), "found_at")]
    columns += [(f"match{n}", field.name) for n, field in enumerate(matches.fields)]
    columns += [("error", "error")] if recorded else []
    return result.finish_result(
        bound, matched, _time(bound, "start"), _time(bound, "ending"), columns
    )


def _run_pages(
    bound: WideningBound,
    levels: Levels,
    units: Units,
    given: Given,
    then: Function | None = None,
) -> DataFrame:
    """Pages of windows, each with the number that decides which task searches it.

    ``then`` searches them where they are made, and returns the columns ``given``.
    """
    bound = divide_into_lives(bound)

    def query(schema: pa.Schema, keys: int) -> Any:
        ties, most = len(bound.tie_keys), bound.spec.max_rows
        pages = WideningQuery(schema, keys, ties, levels, most, bound.forget_after)
        return pages if then is None else _compose(pages, then)

    hosted = Hosted(
        "progressively widened windows",
        order=[*bound.keys, "t", *bound.tie_keys, "hash"],
        columns=[*bound.keys, "t", *bound.tie_keys, "hash", *units.payload],
    )
    return run_operator(bound, Fields(dict(units.sources)), units.rows, query, given, hosted)


def _compose(first: Function, then: Function) -> Function:
    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return then(first(batches))

    return run


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
