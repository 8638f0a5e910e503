"""Spark's types as Arrow's, times in UTC.

PySpark has such a mapping, but it is not public, and its arguments differ between versions.
"""

from __future__ import annotations

import pyarrow as pa
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
    StructType,
    TimestampNTZType,
    TimestampType,
    UserDefinedType,
)

from fanlight.engine.spark.sql import type_text
from fanlight.engine.spec.errors import refuse

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
