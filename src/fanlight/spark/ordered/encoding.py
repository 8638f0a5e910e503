"""Rows to plain types and back: times go as whole numbers, which no time zone can change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DoubleType,
    FloatType,
    LongType,
    MapType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from fanlight.algebra.template import fill
from fanlight.spark.sql import field, literal, type_text

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
    """Columns as they leave Python."""
    return StructType([StructField(name, plain(kind)) for name, kind in out])


def encoded_columns(names: Iterable[str], types: Mapping[str, DataType]) -> list[str]:
    """SQL: columns of a DataFrame as Python takes them."""
    return [f"{encoded(name, types[name])} as {name}" for name in names]


def as_python(rows: DataFrame, types: Mapping[str, DataType]) -> DataFrame:
    """Columns as Python takes them."""
    texts = [(encoded(name, kind), name) for name, kind in types.items()]
    if all(text == name for text, name in texts):
        return rows
    return rows.selectExpr(*(f"{text} as {name}" for text, name in texts))


def as_spark(found: DataFrame, out: Out, more: Sequence[str] = ()) -> DataFrame:
    """Columns that have left Python, in their own types again, and ``more`` (SQL over them)."""
    texts = [(decoded(name, kind), name) for name, kind in out]
    if not more and all(text == name for text, name in texts):
        return found
    return found.selectExpr(*(f"{text} as {name}" for text, name in texts), *more)


def plain(kind: DataType) -> DataType:
    """The type without times: what Python is given."""
    if type(kind) in _NUMBER:
        return LongType()
    if isinstance(kind, StructType):
        return StructType([StructField(f.name, plain(f.dataType)) for f in kind.fields])
    if isinstance(kind, ArrayType):
        return ArrayType(plain(kind.elementType))
    if isinstance(kind, MapType):
        return MapType(plain(kind.keyType), plain(kind.valueType))
    return kind


def encoded(text: str, kind: DataType, depth: int = 0) -> str:
    """SQL: a value with its times as whole numbers."""
    return _through(text, kind, 0, depth)


def decoded(text: str, kind: DataType, depth: int = 0) -> str:
    """SQL: the value again, of type ``kind``."""
    return _through(text, kind, 1, depth)


def _through(text: str, kind: DataType, way: int, depth: int) -> str:
    """SQL: a value encoded (``way`` 0) or decoded (1), at a depth of nested lambdas."""
    if plain(kind).simpleString() == kind.simpleString():
        return text
    if type(kind) in _NUMBER:
        return fill(_NUMBER[type(kind)][way], v=text, kind=type_text(kind))
    if isinstance(kind, StructType):
        parts = ", ".join(
            f"{literal(f.name)}, {_through(field(text, f.name), f.dataType, way, depth)}"
            for f in kind.fields
        )
        return f"if({text} is null, null, named_struct({parts}))"
    if isinstance(kind, ArrayType):
        inner = _through(f"item{depth}", kind.elementType, way, depth + 1)
        return f"transform({text}, item{depth} -> {inner})"
    if isinstance(kind, MapType):
        pair = f"(key{depth}, item{depth})"
        key = _through(f"key{depth}", kind.keyType, way, depth + 1)
        item = _through(f"item{depth}", kind.valueType, way, depth + 1)
        return f"transform_keys(transform_values({text}, {pair} -> {item}), {pair} -> {key})"
    return text


def one_zero(key: str, kind: DataType) -> str:
    """SQL: a key with 0.0 for -0.0 and one NaN, which Spark groups together."""
    if isinstance(kind, (DoubleType, FloatType)):
        name = kind.simpleString()
        return f"if(isnan({key}), cast('NaN' as {name}), {key} + cast(0 as {name}))"
    return key
