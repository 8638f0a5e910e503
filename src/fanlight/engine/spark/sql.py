"""The one place that turns SQL text into Columns.

``pyspark.sql.functions`` builds classic or Connect columns by a process-wide flag; a Connect
DataFrame in a process of classic mode would get the wrong kind. Only :func:`expr` and
:func:`window_of_spark` make Columns, and they look at the DataFrame.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from fanlight.engine.algebra.sql_text import has_substitution, in_backticks, quote, split_path
from fanlight.engine.spec.errors import find_python_error

WATERMARK = "spark.watermarkDelayMs"  # metadata that marks a column as event time
_FIRST = 1  # the first microsecond after the watermark that a stream begins with
TIME_WINDOW = "spark.timeWindow"  # metadata that marks a struct as a window

_MINDS_CASE = "spark.sql.caseSensitive"


def is_connect(df: DataFrame) -> bool:
    """Whether the DataFrame lives on a Spark Connect session."""
    return type(df).__module__.startswith("pyspark.sql.connect")


def expr(df: DataFrame, text: str) -> Column:
    """The Column of an SQL expression, classic or Connect as the DataFrame is."""
    column: Column = _function(df, "expr")(text)
    return column


def window_of_spark(df: DataFrame, name: str, time: str, lengths: Iterable[str]) -> Column:
    """Spark's ``window`` or ``session_window`` over the time that an SQL text gives."""
    column: Column = _function(df, name)(expr(df, time), *lengths)
    return column


def _function(df: DataFrame, name: str) -> Any:
    """A function of ``pyspark.sql.functions``, classic or Connect as the DataFrame is."""
    if is_connect(df):
        return getattr(import_module("pyspark.sql.connect.functions"), name)
    function = getattr(F, name)
    return getattr(function, "__wrapped__", function)


def say_reason(error: Exception) -> str:
    """The line of Spark's message that says why: of a Python worker its error, or the first."""
    lines = (line.strip().removeprefix(": ") for line in str(error).splitlines())
    told = (line for line in lines if line and not line.startswith("An error occurred while "))
    return find_python_error(str(error)) or next(told, "no reason given")


def expr_as(df: DataFrame, text: str, name: str) -> Column:
    """The Column of an SQL expression, with a name."""
    if has_substitution(name):
        return expr(df, text).alias(name)
    return expr(df, f"{text} as {quote(name)}")  # saves two calls into the JVM


def narrow_decimal(text: str, kind: str) -> str:
    """SQL: a decimal cast back to this type, which Spark's sums widen; other types unchanged."""
    return f"cast({text} as {kind})" if kind.startswith("decimal") else text


def type_text(kind: DataType) -> str:
    """A type as text, with the names of its fields quoted.

    For messages, and for SQL if no field has a name of the user's: see ``quote``.
    """
    if isinstance(kind, StructType):
        fields = (f"{in_backticks(f.name)}: {type_text(f.dataType)}" for f in kind.fields)
        return f"struct<{', '.join(fields)}>"
    if isinstance(kind, ArrayType):
        return f"array<{type_text(kind.elementType)}>"
    if isinstance(kind, MapType):
        return f"map<{type_text(kind.keyType)}, {type_text(kind.valueType)}>"
    return kind.simpleString()


def types_in(df: DataFrame) -> dict[str, str]:
    """The type of each column, as text; no two columns may have one name."""
    return {field.name: type_text(field.dataType) for field in df.schema.fields}


def is_same_name(df: DataFrame, one: str, other: str) -> bool:
    """Whether two names are the same column to this session, which may ignore case."""
    if one == other or one.lower() != other.lower():
        return one == other
    return str(df.sparkSession.conf.get(_MINDS_CASE, "false")).lower() != "true"


def is_taken(df: DataFrame, name: str, taken: Iterable[str]) -> bool:
    """Whether a name is among those taken, by the session's rule on case."""
    return any(is_same_name(df, name, other) for other in taken)


def free_name(name: str, taken: Iterable[str]) -> str:
    """The name, with underscores added until it is not taken."""
    known = {other.lower() for other in taken}
    while name.lower() in known:
        name += "_"
    return name


def quote_column(df: DataFrame, name: str) -> str:
    """SQL text for a column given by name: a column of that name, or a path into a struct."""
    if name in df.columns:
        return quote(name)
    return quote(*split_path(name))


def project(df: DataFrame, columns: Iterable[tuple[str | Column, str]]) -> DataFrame:
    """Select SQL texts and Columns under names; texts alone take one call into the JVM."""
    pairs = list(columns)
    if all(isinstance(given, str) and not has_substitution(name) for given, name in pairs):
        return df.selectExpr(*(f"{given} as {quote(name)}" for given, name in pairs))
    return df.select(*name_columns(df, pairs))


def add_columns(df: DataFrame, columns: Iterable[tuple[str | Column, str]]) -> DataFrame:
    """All columns, and SQL texts and Columns under names after them."""
    return df.select(expr(df, "*"), *name_columns(df, columns))


def name_columns(df: DataFrame, columns: Iterable[tuple[str | Column, str]]) -> list[Column]:
    """SQL texts and Columns as Columns with names."""
    return [
        expr_as(df, given, name) if isinstance(given, str) else given.alias(name)
        for given, name in columns
    ]


def group_rows(
    df: DataFrame, keys: Iterable[str], aggregates: Iterable[tuple[str, str]]
) -> DataFrame:
    """Group by ``keys`` and compute (name, SQL text) aggregates."""
    return df.groupBy(*keys).agg(*[expr_as(df, text, name) for name, text in aggregates])


def over_clause(keys: Iterable[str], order: str, frame: str = "") -> str:
    """An ``OVER (…)`` clause."""
    partition = ", ".join(keys)
    by = f"partition by {partition} " if partition else ""
    return f"over ({by}order by {order}{frame and ' ' + frame})"


def with_event_time(
    df: DataFrame, kept: Iterable[str], microseconds: str, name: str, delay: Any
) -> DataFrame:
    """Select ``kept`` (SQL) and a computed time that Spark treats as event time.

    Spark's watermark begins at 1970, and what is not after it is late: an earlier time is the first
    one after it, and waits until the watermark moves.
    """
    text = f"timestamp_micros(greatest({microseconds}, {_FIRST}L))"
    column = expr(df, text).alias(name, metadata={WATERMARK: delay})
    return df.select(*[expr(df, other) for other in kept], column)


def without_event_time(kind: StructType) -> StructType:
    """The type without event-time metadata; a cast to it removes the metadata."""
    fields = []
    for field in kind.fields:
        nested, told = field.dataType, field.metadata or {}
        own = without_event_time(nested) if isinstance(nested, StructType) else nested
        kept = {name: value for name, value in told.items() if name != WATERMARK}
        fields.append(StructField(field.name, own, field.nullable, kept))
    return StructType(fields)
