"""Types that would pass through a time zone on their way into Python, as whole numbers instead."""

from __future__ import annotations

from pyspark.sql.types import (
    ArrayType,
    DataType,
    DateType,
    DayTimeIntervalType,
    LongType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

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


def plain(kind: DataType) -> DataType:
    """The type without times: what Python gets to see."""
    if type(kind) in _NUMBER:
        return LongType()
    if isinstance(kind, StructType):
        return StructType([StructField(f.name, plain(f.dataType)) for f in kind.fields])
    if isinstance(kind, ArrayType):
        return ArrayType(plain(kind.elementType))
    return kind


def encoded(text: str, kind: DataType, depth: int = 0) -> str:
    """SQL: a value with its times as whole numbers."""
    return _through(text, kind, 0, depth)


def decoded(text: str, kind: DataType, depth: int = 0) -> str:
    """SQL: the value again, of type ``kind``."""
    return _through(text, kind, 1, depth)


def _through(text: str, kind: DataType, way: int, depth: int) -> str:
    if plain(kind).simpleString() == kind.simpleString():
        return text
    if type(kind) in _NUMBER:
        return _NUMBER[type(kind)][way].format(v=text, kind=kind.simpleString())
    if isinstance(kind, StructType):
        parts = ", ".join(
            f"'{f.name}', {_through(f'{text}.`{f.name}`', f.dataType, way, depth)}"
            for f in kind.fields
        )
        return f"if({text} is null, null, named_struct({parts}))"
    if isinstance(kind, ArrayType):
        inner = _through(f"p{depth}", kind.elementType, way, depth + 1)
        return f"transform({text}, p{depth} -> {inner})"
    return text
