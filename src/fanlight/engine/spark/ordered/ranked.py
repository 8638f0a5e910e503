"""What is read off values, of windows in a batch: Spark ranks the values, one pass reads windows.

Spark gives each value of a key its rank, by its own order; so the pass handles numbers alone, and
takes values of any type from the rows that they came with.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, DataType, IntegerType, LongType, StructField, StructType

from fanlight.engine.algebra.readings import Distinct, Reading
from fanlight.engine.operators.ranked_windows import RankedPass, RankedQuery
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.binding.source import schema_of
from fanlight.engine.spark.fields import Argument, Fields
from fanlight.engine.spark.lift import column_number, select_points
from fanlight.engine.spark.ordered.arrow_types import arrow_schema
from fanlight.engine.spark.ordered.batch import through
from fanlight.engine.spark.ordered.encoding import one_zero
from fanlight.engine.spark.relation import places
from fanlight.engine.spark.sql import over
from fanlight.engine.spec.errors import FanlightError


def why_not(bound: Placed, fields: Fields) -> str:
    """Why keys or values cannot go through Python; empty where they can."""
    try:
        arrow_schema(_types(bound, fields))
    except FanlightError as error:
        return str(error)
    return ""


def read_windows(bound: Placed, fields: Fields) -> DataFrame:
    """Keys, ``query``, ``start``, and for each digest what is read off the values of a window."""
    kept, columns = fields.all, places(fields.all)
    rows = _values(bound, fields)
    # One step a column, so that rows leave in the order that the last of them needs.
    for n, column in enumerate(columns):
        order = over(bound.keys, column)
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
    out += [(name, IntegerType()) for name in bound.which]
    out += [("start", LongType())]
    out += [(name, _read(types[f"c{n}"], reading)) for name, (n, reading) in asked.items()]
    query = RankedQuery(tuple(bound.keys), bound.grids, bool(bound.which), asked)
    return through(rows, types, RankedPass(query), out)


def _values(bound: Placed, fields: Fields) -> DataFrame:
    """Keys, ``t``, and the columns whose values are ranked."""
    values = list(dict.fromkeys(field.value for field in fields.all))
    rows = select_points(bound, fields).selectExpr(*bound.keys, "t", *fields.lifting)
    kinds = {field.name: field.dataType for field in rows.schema.fields}
    named = zip(values, places(fields.all), strict=True)
    plain = [f"{one_zero(value, kinds[value])} as {name}" for value, name in named]
    return rows.selectExpr(*bound.keys, "t", *plain)


def _types(bound: Placed, fields: Fields) -> StructType:
    """The types of keys and values; Spark is asked for those of values that are computed."""
    given = {name: column for column, name in fields.arguments.items()}
    ranked = {field.value for field in fields.all}
    texts = [text for text, name in fields.values.items() if name in ranked]
    if not set(texts) <= set(given):
        return _values(bound, fields).schema
    arguments = [given[text] for text in texts]
    plain = [one.column if isinstance(one, Argument) else one for one in arguments]
    found = schema_of(bound.df, [("by", column) for column in (*bound.by, *plain)], "by")
    return StructType([StructField(one.name, one.dataType) for one in found])


def _read(kind: DataType, reading: Reading) -> DataType:
    """The type of what is read off values of a type."""
    if isinstance(reading, Distinct):
        return LongType()
    return ArrayType(StructType([StructField("v", kind), StructField("n", LongType())]))
