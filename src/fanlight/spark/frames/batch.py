"""Frames over a batch: rows shuffled by key, sorted, and cut by kernels in one pass.

Where partials are numbers they are put together in the same pass, and only frames leave Python.
Other aggregates are computed by Spark over rows that carry the number of their frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import BooleanType, DataType, LongType, StructField, StructType

from fanlight.algebra.monoids import Count, Max, Min, Sum
from fanlight.operators.frames.batches import FrameBatches
from fanlight.operators.frames.query import FrameQuery
from fanlight.plan.sliding import FieldFacts
from fanlight.spark import result
from fanlight.spark.codec import decoded, encoded, plain
from fanlight.spark.fields import Field, Fields
from fanlight.spark.frames.binding import FrameBound
from fanlight.spark.frames.rows import Prepared, prepared, units
from fanlight.spark.slices import lifted
from fanlight.spark.sql import quote, sql

NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")
EVERY_ROW = Count("1")
FACTS = FieldFacts("frame", running=True, invertible=False)
BOUNDS = [
    Field("b0", "u", Min(), FACTS),  # the first row's time
    Field("b1", "u", Max(), FACTS),  # the last row's
    Field("b2", "u", Count(), FACTS),
    Field("b3", "w", Max(), FACTS),  # the time of the row that closes it
]


def frames(bound: FrameBound, fields: Fields) -> DataFrame:
    """One row a frame: keys, ``frame``, ``s``, ``e``, ``rows``, ``closed``, partials."""
    kept = [field for field in fields.all if field.monoid != EVERY_ROW]
    if bound.scheme.overlapping or _mergeable(kept):
        texts = dict(zip((f.name for f in fields.all), units(bound, fields), strict=True))
        rows = prepared(bound, fields)
        kinds = _kinds(rows, [f"{texts[f.name]} as {f.name}" for f in kept])
        if bound.scheme.overlapping or _numbers(kinds):
            found = _cut(bound, rows, kept, texts, kinds)
            counts = [f"rows as {f.name}" for f in fields.all if f.monoid == EVERY_ROW]
            return found.selectExpr("*", *counts)
    return _by_spark(bound, fields)


def in_one_pass(bound: FrameBound, fields: Fields) -> bool:
    """Whether partials are put together in the pass that cuts the frames."""
    kept = [field for field in fields.all if field.monoid != EVERY_ROW]
    if bound.scheme.overlapping or not _mergeable(kept):
        return bound.scheme.overlapping
    texts = zip(units(bound, fields), fields.all, strict=True)
    return _numbers(_kinds(prepared(bound, fields), [f"{t} as {f.name}" for t, f in texts]))


def _mergeable(fields: Sequence[Field]) -> bool:
    return all(type(field.monoid) in (Count, Sum, Min, Max) for field in fields)


def _kinds(rows: Prepared, texts: Sequence[str]) -> dict[str, DataType]:
    return {f.name: f.dataType for f in rows.df.selectExpr(*texts).schema.fields} if texts else {}


def _numbers(kinds: Mapping[str, DataType]) -> bool:
    return all(kind.simpleString() in NUMBERS for kind in kinds.values())


def _cut(
    bound: FrameBound,
    rows: Prepared,
    fields: Sequence[Field],
    texts: Mapping[str, str],
    kinds: Mapping[str, DataType],
) -> DataFrame:
    """Frames whose partials are put together in Python, at best by kernels."""
    # A value that several lanes and partials are made of goes into Python once.
    columns = dict(zip(rows.lanes, rows.lane_names, strict=True))
    for field in fields:
        columns.setdefault(encoded(texts[field.name], kinds[field.name]), field.name)
    placed = in_order(bound, rows).selectExpr(
        *bound.keys, "t", *(f"{text} as {name}" for text, name in columns.items())
    )
    sources = tuple(columns[encoded(texts[f.name], kinds[f.name])] for f in fields)
    lanes = tuple(columns[text] for text in rows.lanes)
    partials = tuple(field.name for field in fields)
    query = FrameQuery(
        bound.scheme, arrow(placed), tuple(bound.keys), (), lanes, partials,
        tuple(field.monoid for field in fields), sources=sources,
    )  # fmt: skip
    own = {f.name: f.dataType for f in placed.schema.fields}
    out = [StructField(key, own[key]) for key in bound.keys]
    out += [StructField(name, LongType()) for name in ("frame", "s", "e", "rows")]
    out += [StructField("closed", BooleanType())]
    out += [StructField(name, plain(kinds[name])) for name in partials]
    found = placed.mapInArrow(FrameBatches(query), StructType(out))
    others = [*bound.keys, "frame", "s", "e", "rows", "closed"]
    return found.selectExpr(*others, *(f"{decoded(n, kinds[n])} as {n}" for n in partials))


def rows(bound: FrameBound) -> DataFrame:
    """Each row as it is, with the number of its frame."""
    fields, df = Fields(), bound.df
    payload = tuple(dict.fromkeys(fields.ask(name) for name in df.columns))
    rows = prepared(bound, fields)
    named = dict.fromkeys([*bound.keys, "t", *payload, *rows.named_lanes])
    placed = in_order(bound, rows).selectExpr(*named)
    query = FrameQuery(
        bound.scheme, arrow(placed), tuple(bound.keys), (), rows.lane_names,
        payload=payload, tagged=True,
    )  # fmt: skip
    kinds = {f.name: f.dataType for f in placed.schema.fields}
    out = [StructField(name, kinds[name]) for name in payload]
    out += [StructField("frame", LongType())]
    return named_again(df, payload, placed.mapInArrow(FrameBatches(query), StructType(out)))


def named_again(df: DataFrame, payload: Sequence[str], tagged: DataFrame) -> DataFrame:
    """The columns of the DataFrame under their own names, and ``frame_id``."""
    texts = [f"{name} as {quote(own)}" for name, own in zip(payload, df.columns, strict=True)]
    return tagged.select(*[sql(tagged, text) for text in [*texts, "frame as frame_id"]])


def _by_spark(bound: FrameBound, fields: Fields) -> DataFrame:
    """Frames with any partials: Spark groups the rows by the number of their frame."""
    rows = prepared(bound, fields)
    payload = (*bound.keys, "t", *bound.breaks, *fields.arguments.values())
    placed = in_order(bound, rows).selectExpr(*dict.fromkeys([*payload, *rows.named_lanes]))
    query = FrameQuery(
        bound.scheme, arrow(placed), tuple(bound.keys), (), rows.lane_names,
        payload=payload, tagged=True, closings=True,
    )  # fmt: skip
    kinds = {f.name: f.dataType for f in placed.schema.fields}
    out = [StructField(name, kinds[name]) for name in payload]
    out += [StructField("frame", LongType()), StructField("e", LongType())]
    tagged = placed.mapInArrow(FrameBatches(query), StructType(out))
    # A row that says where a frame is closed has no time, and nothing of it counts.
    values = [f"if(t is null, null, {text}) as {name}" for text, name in fields.values.items()]
    rows_by_frame = tagged.selectExpr(*bound.keys, "frame", *values, "t as u", "e as w")
    found = lifted(rows_by_frame, [*bound.keys, "frame"], [*fields.all, *BOUNDS])
    names = [field.name for field in fields.all]
    return found.selectExpr(
        *bound.keys, "frame", "b0 as s", "coalesce(b3, b1 + 1L) as e", "b2 as rows",
        "b3 is not null as closed", *names,
    )  # fmt: skip


def in_order(bound: FrameBound, rows: Prepared) -> DataFrame:
    """All rows of a key in one place, and by time."""
    keys = bound.keys
    placed = rows.df.repartition(*keys) if keys else rows.df.repartition(1)
    return placed.sortWithinPartitions("t", *rows.order)


def arrow(df: DataFrame) -> pa.Schema:
    """The Arrow schema of a DataFrame's columns."""
    return to_arrow_schema(df.schema, timezone="UTC")


def finished(bound: FrameBound, fields: Fields, frames: DataFrame) -> DataFrame:
    """Frames as they are reported."""
    columns = [("frame", "frame_id"), ("rows", "rows"), ("closed", "closed")]
    columns += result.lowered(fields, "s")
    return result.finished(bound, frames, *result.times(bound, "s", "e"), columns)
