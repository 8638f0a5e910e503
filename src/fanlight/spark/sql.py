"""SQL text and Columns: the one place that quotes names, strings and types.

``pyspark.sql.functions`` builds classic or Connect columns by a process-wide flag; a Connect
DataFrame in a process of classic mode would get the wrong kind. Only :func:`sql` makes
Columns, and it looks at the DataFrame.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

WATERMARK = "spark.watermarkDelayMs"  # metadata that marks a column as event time
TIME_WINDOW = "spark.timeWindow"  # metadata that marks a struct as a window

_PLAIN = re.compile(r"[\w .,:;=()<>/+-]*\Z", re.ASCII)


def is_connect(df: DataFrame) -> bool:
    """Whether the DataFrame lives on a Spark Connect session."""
    return type(df).__module__.startswith("pyspark.sql.connect")


def sql(df: DataFrame, text: str) -> Column:
    """The Column of an SQL expression, of the DataFrame's own kind."""
    if is_connect(df):
        from pyspark.sql.connect.functions import expr

        return expr(text)
    classic: Any = getattr(F.expr, "__wrapped__", F.expr)
    column: Column = classic(text)
    return column


def quote(name: str) -> str:
    """A name as an SQL identifier."""
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    """A string as an SQL literal that no setting of the Spark session changes.

    How backslashes are read is such a setting, and so is whether ``${…}`` is replaced.
    """
    if _PLAIN.match(text):
        return f"'{text}'"
    return f"cast(X'{text.encode().hex()}' as string)"


def named(text: str, name: str) -> str:
    """SQL: an expression under a name, which saves a Column two calls into the JVM."""
    return f"{text} as {quote(name)}"


def field(struct: str, name: str) -> str:
    """SQL: a field of a struct."""
    return f"{struct}.{quote(name)}"


def type_text(kind: DataType) -> str:
    """A type as SQL text, with the names of its fields quoted."""
    if isinstance(kind, StructType):
        fields = (f"{quote(f.name)}: {type_text(f.dataType)}" for f in kind.fields)
        return f"struct<{', '.join(fields)}>"
    if isinstance(kind, ArrayType):
        return f"array<{type_text(kind.elementType)}>"
    if isinstance(kind, MapType):
        return f"map<{type_text(kind.keyType)}, {type_text(kind.valueType)}>"
    return kind.simpleString()


def reference(df: DataFrame, name: str) -> str:
    """SQL text for a column given by name: a column of that name, or a path into a struct."""
    if name in df.columns:
        return quote(name)
    return ".".join(quote(part) for part in name.replace("`", "").split("."))


def projected(df: DataFrame, columns: Iterable[tuple[str | Column, str]]) -> DataFrame:
    """``select`` of SQL texts and Columns under names; texts alone are one call into the JVM."""
    pairs = list(columns)
    texts = [named(given, name) for given, name in pairs if isinstance(given, str)]
    if len(texts) == len(pairs):
        return df.selectExpr(*texts)
    return df.select(*[
        sql(df, named(given, name)) if isinstance(given, str) else given.alias(name)
        for given, name in pairs
    ])  # fmt: skip


def grouped(df: DataFrame, keys: Iterable[str], aggregates: Iterable[tuple[str, str]]) -> DataFrame:
    """``groupBy(keys)`` with (name, SQL text) aggregates."""
    return df.groupBy(*keys).agg(*[sql(df, named(text, name)) for name, text in aggregates])


def over(keys: Iterable[str], order: str, frame: str = "") -> str:
    """An ``OVER (…)`` clause."""
    partition = ", ".join(keys)
    by = f"partition by {partition} " if partition else ""
    return f"over ({by}order by {order}{frame and ' ' + frame})"


def with_event_time(
    df: DataFrame, kept: Iterable[str], text: str, name: str, delay: Any
) -> DataFrame:
    """``kept`` (SQL), and a column that Spark goes on to treat as event time, though computed."""
    column = sql(df, text).alias(name, metadata={WATERMARK: delay})
    return df.select(*[sql(df, other) for other in kept], column)
