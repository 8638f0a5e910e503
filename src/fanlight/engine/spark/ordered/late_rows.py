"""Late rows beside the windows that they missed, in one result.

The windows stay as they are, native or in an operator. Beside them the same rows go, packed,
through an operator that gives those which the windows leave out: both know the watermark of the
micro-batch before, and which row is late is one SQL text for both: ``late_after`` of the request.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, IntegerType, StructField, StructType

from fanlight.engine.operators.group import LateQuery
from fanlight.engine.plan.late_rows import COLLECTING, LATE
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.binding.snapshot import SnapshotBound
from fanlight.engine.spark.cuts import shown_bounds, starts_of_row
from fanlight.engine.spark.equality import with_nulls
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.fingerprint import Windows
from fanlight.engine.spark.lift import select_placeable
from fanlight.engine.spark.ordered.host import Hosted, alike, numbers, run_operator
from fanlight.engine.spark.result import key_column, window_times
from fanlight.engine.spark.selected_events import ENDS
from fanlight.engine.spark.sql import expr, is_taken, without_event_time
from fanlight.engine.spec.errors import refuse


def add_late_rows(bound: Windows, result: DataFrame, kept: Collection[str]) -> DataFrame:
    """The result with the column ``late``, and the late rows, if they are asked for.

    A late row has its keys, and the columns ``kept``; all else is null but ``late``. A batch has no
    late rows: the column is null.
    """
    if not bound.collects:
        return result
    if is_taken(result, LATE, result.columns):
        raise refuse(
            "late='collect'",
            f"adds a column {LATE!r}, and the result has one of that name",
            f"give it another name: df.withColumnRenamed({LATE!r}, …), or name the aggregate",
        )
    kind = _type_of_late(bound)
    windows = result.select("*", expr(result, "null").cast(kind).alias(LATE))
    if not bound.df.isStreaming:
        return windows
    return windows.union(_late_rows(bound, result.schema, kind, kept))


def _type_of_late(bound: Windows) -> StructType:
    """The type of the column ``late``: the row, and where time places windows those it missed."""
    fields = [StructField("row", without_event_time(bound.df.schema))]
    placed = _placed_by_time(bound)
    if placed is not None:
        (time,) = placed.df.selectExpr(placed.time_sql).schema
        window = [StructField(end, time.dataType) for end in ("start", "end")]
        if placed.query_columns:
            window.insert(0, StructField(placed.queries.name, IntegerType()))
        fields.append(StructField("windows", ArrayType(StructType(window))))
    return StructType([StructField(f.name, with_nulls(f.dataType)) for f in fields])


def _placed_by_time(bound: Windows) -> Placed | None:
    """The request, if its windows are placed by time; None if rows decide where they are."""
    if not isinstance(bound, Placed) or isinstance(bound, SnapshotBound):
        return None
    return None if bound.event.ordered else bound


def _late_rows(
    bound: Windows, result: StructType, kind: StructType, kept: Collection[str]
) -> DataFrame:
    """The late rows of a stream, in the columns of the result and ``late``."""
    fields, placed = Fields(), _placed_by_time(bound)
    payload = fields.add_columns(bound.df)
    rows = select_placeable(bound, fields)
    if isinstance(bound, Placed):
        rows = rows.selectExpr("*", *bound.instants)
    instants, missed = ([], []) if placed is None else (ENDS, [_missed_windows(placed)])
    late = f"{bound.late_after} as t"
    rows = rows.selectExpr(*bound.keys, late, *instants, *dict.fromkeys(payload))
    given = alike(*rows.columns) | numbers(*instants)
    del given["t"]
    found = run_operator(
        replace(bound, collects=False),
        fields,
        rows.filter("t is not null"),
        lambda schema, _: LateQuery(schema),
        given,
        Hosted(COLLECTING),
    )
    named = {name: (key, name) for key, name in zip(bound.keys, bound.names, strict=True)}
    texts = dict(zip(bound.df.columns, payload, strict=True))
    named |= {name: (texts[name], name) for name in kept if name not in named}
    columns = [
        key_column(bound, found, named[field.name])
        if field.name in named
        else expr(found, "null").cast(field.dataType).alias(field.name)
        for field in result.fields
    ]
    told = expr(found, _struct([_struct(payload), *missed])).cast(kind).alias(LATE)
    return found.select(*columns, told)


def _missed_windows(bound: Placed) -> str:
    """SQL: the windows of each query that a row would be in: label, start and end."""
    found = []
    for number, query in enumerate(bound.queries.queries):
        starts = starts_of_row(bound.grids, number, lasting=bound.lasting)
        begin, end = shown_bounds(query.grid, "s")
        if bound.since is not None:
            begin = f"greatest(s, {bound.since}L)"
        ends = window_times(bound, begin, end)
        label = [f"{query.label}"] if bound.query_columns else []
        found.append(f"transform({starts}, s -> {_struct([*label, *ends])})")
    return f"concat({', '.join(found)})"


def _struct(texts: Sequence[str]) -> str:
    """SQL: a struct of these; its fields get their names by a cast."""
    return f"struct({', '.join(texts)})"
