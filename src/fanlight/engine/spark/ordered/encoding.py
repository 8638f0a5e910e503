"""Rows encoded in plain types and decoded: times become whole numbers, free of time zones.

Fields of structs go under names made here: their own may be anything, even twice the same, and are
neither Python's nor SQL's business. Structs are cast, which goes by place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import Column, DataFrame
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
    UserDefinedType,
)

from fanlight.engine.algebra.sql_text import fill, struct
from fanlight.engine.operators.arrow_tables import (
    Ints,
    ints,
    join_batches,
    pack,
    starts_of_runs,
    unpack,
)
from fanlight.engine.operators.buckets import HASH, balanced_group_numbers
from fanlight.engine.spark.coordinates import (
    EPOCH_NTZ,
    microseconds,
    microseconds_since_epoch,
)
from fanlight.engine.spark.equality import with_nulls, with_places
from fanlight.engine.spark.fingerprint import PARTITIONS, tasks_of_setting
from fanlight.engine.spark.sql import expr, type_text
from fanlight.engine.spec.errors import refuse

_NUMBER = {
    TimestampType: ("unix_micros({v})", "timestamp_micros({v})"),
    TimestampNTZType: (
        microseconds_since_epoch("{v}"),
        f"({EPOCH_NTZ} + {{v}} * interval '0.000001' second)",
    ),
    DateType: ("cast(unix_date({v}) as bigint)", "date_from_unix_date(cast({v} as int))"),
    DayTimeIntervalType: (
        microseconds("{v}"),
        "cast({v} * interval '0.000001' second as {kind})",
    ),
}


Out = Sequence[tuple[str, DataType]]  # the columns of a result, with their types in Spark


def plain_schema(out: Out) -> StructType:
    """The schema of columns as they leave Python."""
    return StructType([StructField(name, plain_type(kind)) for name, kind in out])


def to_plain(rows: DataFrame, types: Mapping[str, DataType]) -> DataFrame:
    """Encode columns for Python."""
    texts = [(encode_sql(name, kind), name) for name, kind in types.items()]
    if all(text == name for text, name in texts):
        return rows
    return rows.selectExpr(*(f"{text} as {name}" for text, name in texts))


def from_plain(encoded: DataFrame, out: Out, more: Sequence[str] = ()) -> DataFrame:
    """Decode columns that have left Python to their own types; add ``more`` (SQL over them)."""
    columns: list[Column] = []
    for name, kind in out:
        own, text = with_places(kind), decode_sql(name, kind)
        # The names of a user's fields go to Spark as a type, never as text.
        column = expr(encoded, text) if own is kind else expr(encoded, text).cast(with_nulls(kind))
        columns.append(column.alias(name))
    if not more and all(decode_sql(n, k) == n and with_places(k) is k for n, k in out):
        return encoded
    return encoded.select(*columns, *[expr(encoded, text) for text in more])


def plain_type(kind: DataType) -> DataType:
    """The plain type for a type: times as whole numbers, fields named by their place."""
    return _numbers(with_places(kind))


def _numbers(kind: DataType) -> DataType:
    if type(kind) in _NUMBER:
        return LongType()
    if isinstance(kind, StructType):
        return StructType([StructField(f.name, _numbers(f.dataType)) for f in kind.fields])
    if isinstance(kind, ArrayType):
        return ArrayType(_numbers(kind.elementType))
    if isinstance(kind, MapType):
        return MapType(_numbers(kind.keyType), _numbers(kind.valueType))
    return kind


def encode_sql(text: str, kind: DataType) -> str:
    """SQL: a value encoded in its plain type."""
    own = with_places(kind)
    return _convert(text if own is kind else f"cast({text} as {type_text(own)})", own, 0)


def decode_sql(text: str, kind: DataType) -> str:
    """SQL: a plain value decoded, except for the names of struct fields."""
    return _convert(text, with_places(kind), 1)


def _convert(text: str, kind: DataType, way: int, depth: int = 0) -> str:
    """SQL: a value encoded (``way`` 0) or decoded (1), at a depth of nested lambdas."""
    if type_text(_numbers(kind)) == type_text(kind):
        return text
    if type(kind) in _NUMBER:
        return fill(_NUMBER[type(kind)][way], v=text, kind=type_text(kind))
    if isinstance(kind, StructType):
        parts = [
            (one.name, _convert(f"{text}.{one.name}", one.dataType, way, depth))
            for one in kind.fields
        ]
        return f"if({text} is null, null, {struct(parts)})"
    if isinstance(kind, ArrayType):
        inner = _convert(f"item{depth}", kind.elementType, way, depth + 1)
        return f"transform({text}, item{depth} -> {inner})"
    if isinstance(kind, MapType):
        pair = f"(key{depth}, item{depth})"
        key = _convert(f"key{depth}", kind.keyType, way, depth + 1)
        item = _convert(f"item{depth}", kind.valueType, way, depth + 1)
        return f"transform_keys(transform_values({text}, {pair} -> {item}), {pair} -> {key})"
    return text


_SIMPLE = {
    BooleanType: pa.bool_(),
    ByteType: pa.int8(),
    ShortType: pa.int16(),
    IntegerType: pa.int32(),
    LongType: pa.int64(),
    FloatType: pa.float32(),
    DoubleType: pa.float64(),
    BinaryType: pa.binary(),
    DateType: pa.date32(),
    TimestampType: pa.timestamp("us", tz="UTC"),
    TimestampNTZType: pa.timestamp("us"),
    DayTimeIntervalType: pa.duration("us"),
    NullType: pa.null(),
}
_VARIANT = pa.struct(
    [
        pa.field("value", pa.binary(), nullable=False),
        pa.field("metadata", pa.binary(), nullable=False, metadata={b"variant": b"true"}),
    ]
)


def arrow_type(kind: DataType) -> pa.DataType:
    """The Arrow type of a Spark type; an error says which type has none."""
    if isinstance(kind, UserDefinedType):
        kind = kind.sqlType()
    arrow = _SIMPLE.get(type(kind)) or _nested_type(kind) or _types_by_name(kind)
    if arrow is None:
        raise refuse(
            f"a column of type {type_text(kind)}",
            "cannot go through Python, because Arrow has no such type",
            "leave it out, or cast it to a string",
        )
    return arrow


def arrow_schema(kind: StructType) -> pa.Schema:
    """The Arrow schema of a Spark schema."""
    return pa.schema(_arrow_fields(kind))


def _arrow_fields(kind: StructType) -> list[pa.Field]:
    return [pa.field(f.name, arrow_type(f.dataType), nullable=f.nullable) for f in kind.fields]


def _nested_type(kind: DataType) -> pa.DataType | None:
    if isinstance(kind, ArrayType):
        inner = arrow_type(kind.elementType)
        return pa.list_(pa.field("element", inner, nullable=kind.containsNull))
    if isinstance(kind, MapType):
        value = pa.field("value", arrow_type(kind.valueType), nullable=kind.valueContainsNull)
        return pa.map_(pa.field("key", arrow_type(kind.keyType), nullable=False), value)
    return pa.struct(_arrow_fields(kind)) if isinstance(kind, StructType) else None


def _types_by_name(kind: DataType) -> pa.DataType | None:
    """Types with parameters, and types that the oldest supported PySpark lacks."""
    name = kind.typeName()
    if isinstance(kind, StringType):
        return pa.string()
    if isinstance(kind, DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    if name == "variant":
        return _VARIANT
    if name == "time":
        return pa.time64("ns")
    if name in ("geometry", "geography"):
        metadata = {name.encode(): b"true", b"srid": str(getattr(kind, "srid", 0)).encode()}
        srid = pa.field("srid", pa.int32(), nullable=False)
        return pa.struct([srid, pa.field("wkb", pa.binary(), nullable=False, metadata=metadata)])
    return None


# Types, not text: a word of SQL, such as `group`, may be reserved in this session.
PACKED = StructType([
    StructField("group", IntegerType()),
    StructField("groups", IntegerType()),
    StructField("rows", BinaryType()),
])  # fmt: skip
MOST = 1_000_000  # rows that are packed at a time
BATCH = "streaming.sql.batchId"  # the task property with the number of the micro-batch
_SCHEMA = pa.schema([("group", pa.int32()), ("groups", pa.int32()), ("rows", pa.binary())])


@dataclass(frozen=True)
class Pack:
    """Packs rows, those of each group of keys into values of their own.

    There are as many groups as tasks, unless ``groups`` says otherwise. The first micro-batch has
    something for each of them: a group that exists goes with the watermark, so that a row of it is
    late, too, if it is the first.

    ``number`` is that of the operator: where plans are equal up to a shuffle, Spark would reuse
    that of the first, and give the other operator no watermark.
    """

    schema: pa.Schema
    groups: int | None = None
    number: int = 0

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Packed rows, one or more for each group that has rows."""
        task: Any = TaskContext.get()
        # The number of partitions in the checkpoint, which later settings do not change.
        tasks = tasks_of_setting(task.getLocalProperty(PARTITIONS))
        if task.getLocalProperty(BATCH) == "0" and task.partitionId() == 0:
            yield self._begin_groups(tasks)
        for rows in join_batches(batches, lambda: MOST):
            yield self._pack_rows(rows.cast(self.schema), tasks)

    def _begin_groups(self, tasks: int) -> pa.RecordBatch:
        """An empty value for each group, which begins it."""
        count = self.groups or tasks
        numbers = balanced_group_numbers(count, tasks)
        if HASH not in self.schema.names:
            numbers = numbers[:1]
        none = pack([self.schema.empty_table()])
        return _record_batch(numbers, count, [none] * len(numbers))

    def _pack_rows(self, rows: pa.Table, tasks: int) -> pa.RecordBatch:
        count = self.groups or tasks
        numbers = balanced_group_numbers(count, tasks)
        if HASH not in rows.column_names:
            which, starts = np.zeros(1, np.int64), np.zeros(1, np.int64)
        else:
            group = (ints(rows[HASH]) & 0xFFFF_FFFF) % count
            order = np.argsort(group.astype(np.int32), kind="stable")
            rows, group = rows.take(pa.array(order)).combine_chunks(), group[order]
            starts = starts_of_runs(group)
            which = group[starts]
        lengths = np.diff(np.append(starts, len(rows)))
        pieces = zip(starts.tolist(), lengths.tolist(), strict=True)
        values = [pack([rows.slice(*piece)]) for piece in pieces]
        return _record_batch(numbers[which], count, values)


def _record_batch(numbers: Ints, count: int, values: Sequence[bytes]) -> pa.RecordBatch:
    columns = [
        pa.array(numbers, pa.int32()),
        pa.array(np.full(len(numbers), count), pa.int32()),
        pa.array(values, pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_SCHEMA)


@dataclass(frozen=True)
class Unpack:
    """Unpacks results to rows."""

    schema: pa.Schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of all packed values."""
        for batch in batches:
            for value in batch.column("found"):
                if value.is_valid:
                    (rows,) = unpack(value.as_buffer(), [self.schema])
                    yield from rows.to_batches()
