"""Rows encoded in plain types and decoded: times become whole numbers, free of time zones.

Fields of structs go under names made here: their own may be anything, even twice the same, and are
neither Python's nor SQL's business. Structs are cast, which goes by place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DateType,
    DayTimeIntervalType,
    LongType,
    MapType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from fanlight.engine.algebra.sql_text import struct
from fanlight.engine.algebra.template import fill
from fanlight.engine.spark.equality import with_nulls, with_places
from fanlight.engine.spark.sql import expr, type_text

_EPOCH = "timestamp_ntz'1970-01-01 00:00:00'"
_NUMBER = {
    TimestampType: ("unix_micros({v})", "timestamp_micros({v})"),
    TimestampNTZType: (
        f"cast(cast({{v}} - {_EPOCH} as decimal(20,6)) * 1000000 as bigint)",
        f"({_EPOCH} + {{v}} * interval '0.000001' second)",
    ),
    DateType: ("cast(unix_date({v}) as bigint)", "date_from_unix_date(cast({v} as int))"),
    # Of an INTERVAL DAY alone, a cast to a number would count days.
    DayTimeIntervalType: (
        "cast(cast(cast({v} as interval day to second) as decimal(20,6)) * 1000000 as bigint)",
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
