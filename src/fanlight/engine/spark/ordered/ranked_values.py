"""Ranks and frequencies in the windows of a batch: Spark ranks values, one pass reads windows.

Spark gives each value of a key its rank, by its own order; so the pass handles numbers alone, and
takes values of any type from the rows that they came with.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, DataType, IntegerType, LongType, StructField, StructType

from fanlight.engine.algebra.ordering import Distinct, Reading
from fanlight.engine.operators.ranked_windows import RankedPass, RankedQuery
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.binding.source import schema_of
from fanlight.engine.spark.equality import normal_form
from fanlight.engine.spark.fields import Argument, Fields
from fanlight.engine.spark.lift import column_number, select_points
from fanlight.engine.spark.ordered.encoding import arrow_schema
from fanlight.engine.spark.ordered.host import run_over_partitions
from fanlight.engine.spark.result import value_columns
from fanlight.engine.spark.sql import over_clause
from fanlight.engine.spec.errors import FanlightError


def refusal(bound: Placed, fields: Fields) -> str:
    """Explain why keys or values cannot be sent through Python. Empty if they can."""
    try:
        arrow_schema(_value_types(bound, fields))
    except FanlightError as error:
        return str(error)
    return ""


def read_windows(bound: Placed, fields: Fields) -> DataFrame:
    """Windows (keys, ``query``, ``start``) with what each digest reads off their values."""
    kept, columns = fields.all, value_columns(fields.all)
    rows = _select_values(bound, fields)
    # One step a column, the last of which leaves rows in the order that the pass needs.
    for n, column in enumerate(columns):
        order = over_clause(bound.keys, column)
        ranks = [f"if({column} is null, null, dense_rank() {order} - 1) as r{n}"]
        if column == columns[-1]:
            ranks.append(f"row_number() {order} = 1 as first")
        rows = rows.selectExpr("*", *ranks)
    asked = {
        name: (column_number(next(f for f in kept if f.name == field), kept), reading)
        for (field, reading), name in fields.digests.items()
    }
    types = {field.name: field.dataType for field in rows.schema.fields}
    out = [(key, types[key]) for key in bound.keys]
    out += [(name, IntegerType()) for name in bound.query_columns]
    out += [("start", LongType())]
    out += [
        (name, type_of_reading(types[f"c{n}"], reading)) for name, (n, reading) in asked.items()
    ]
    query = RankedQuery(tuple(bound.keys), bound.grids, bool(bound.query_columns), asked)
    return run_over_partitions(rows, types, RankedPass(query), out)


def _select_values(bound: Placed, fields: Fields) -> DataFrame:
    """Select keys, ``t``, and the columns whose values are ranked."""
    values = list(dict.fromkeys(field.value for field in fields.all))
    rows = select_points(bound, fields).selectExpr(*bound.keys, "t", *fields.lifting)
    kinds = {field.name: field.dataType for field in rows.schema.fields}
    named = zip(values, value_columns(fields.all), strict=True)
    plain = [f"{normal_form(value, kinds[value])} as {name}" for value, name in named]
    return rows.selectExpr(*bound.keys, "t", *plain)


def _value_types(bound: Placed, fields: Fields) -> StructType:
    """The types of keys and values; Spark is asked for those of computed values only."""
    given = {name: column for column, name in fields.arguments.items()}
    ranked = {field.value for field in fields.all}
    texts = [text for text, name in fields.values.items() if name in ranked]
    if not set(texts) <= set(given):
        return _select_values(bound, fields).schema
    arguments = [given[text] for text in texts]
    plain = [one.column if isinstance(one, Argument) else one for one in arguments]
    columns = schema_of(bound.df, [("by", column) for column in (*bound.by, *plain)], "by")
    return StructType([StructField(one.name, one.dataType) for one in columns])


def type_of_reading(kind: DataType, reading: Reading) -> DataType:
    """The type of a reading of values of this type."""
    if isinstance(reading, Distinct):
        return LongType()
    return ArrayType(StructType([StructField("v", kind), StructField("n", LongType())]))
