"""Spark's own windows and aggregates, where they can say what is asked: its plan, and no other."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from fanlight.engine.algebra.sql_text import literal
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.coordinates import coordinate
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.lift import drop_rejected
from fanlight.engine.spark.sql import expr_as, project


def aggregate_in_windows(bound: Placed, fields: Fields) -> DataFrame:
    """The whole result, by ``groupBy(…, window(…)).agg(…)``."""
    labels = [output.label for output in fields.outputs]
    return _group_in_spark(bound, fields, bound.names, labels)


def aggregate_by_start(bound: Placed, fields: Fields) -> DataFrame:
    """The same in the form of other candidates: keys, ``start``, results under internal names."""
    names = [f"d{number}" for number in range(len(fields.outputs))]
    start = f"{coordinate(bound.coordinate, 'window.start')} as start"
    return _group_in_spark(bound, fields, bound.keys, names).selectExpr(*bound.keys, start, *names)


def _group_in_spark(
    bound: Placed, fields: Fields, keys: Sequence[str], names: Sequence[str]
) -> DataFrame:
    rows = drop_rejected(bound)
    columns = [(bound.time_sql, "at"), *fields.read(bound, rows)]
    texts = {name: text for text, name in columns if isinstance(text, str)}
    if len(texts) < len(columns):  # a Column has no text
        rows = project(rows, columns)
        texts = {name: name for _, name in columns}
    by = zip(bound.keys, keys, strict=True)
    aggregates = [output.by_spark(texts) for output in fields.outputs]
    return rows.groupBy(
        *[expr_as(rows, texts[key], name) for key, name in by],
        expr_as(rows, _window_of(bound, texts["at"]), "window"),
    ).agg(*[expr_as(rows, text, name) for text, name in zip(aggregates, names, strict=True)])


def _window_of(bound: Placed, time: str) -> str:
    grid = bound.grid
    lengths = (grid.range, grid.slide, grid.offset % grid.slide)
    told = ", ".join(literal(f"{length} microseconds") for length in lengths)
    return f"window({time}, {told})"
