"""Our own mapping of types to Arrow, beside the one that PySpark keeps to itself."""

from __future__ import annotations

import inspect

import pyarrow as pa
import pytest
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from fanlight import FanlightError
from fanlight.engine.spark.ordered.encoding import arrow_schema, arrow_type

SIMPLE = [
    *(T.BooleanType(), T.ByteType(), T.ShortType(), T.IntegerType(), T.LongType()),
    *(T.FloatType(), T.DoubleType(), T.DecimalType(10, 2), T.DecimalType(38, 0)),
    *(T.StringType(), T.BinaryType(), T.DateType(), T.TimestampType(), T.TimestampNTZType()),
    *(T.DayTimeIntervalType(), T.DayTimeIntervalType(0, 0), T.NullType(), T.VariantType()),
]
NESTED = [
    T.ArrayType(T.TimestampType()),
    T.ArrayType(T.IntegerType(), containsNull=False),
    T.MapType(T.StringType(), T.DateType()),
    T.MapType(T.StringType(), T.DoubleType(), valueContainsNull=False),
    T.StructType([
        T.StructField("a b", T.LongType(), nullable=False),
        T.StructField("", T.ArrayType(T.StructType([T.StructField("`", T.TimestampNTZType())]))),
    ]),
]  # fmt: skip
NEW = [
    getattr(T, name)(*given)
    for name, given in [("TimeType", (6,)), ("GeometryType", (4326,)), ("GeographyType", (4326,))]
    if hasattr(T, name)
]


def theirs(kind: T.DataType) -> pa.DataType:
    """PySpark's mapping, times in UTC: how to say so has changed."""
    known = inspect.signature(to_arrow_type).parameters
    return to_arrow_type(kind, **({"timezone": "UTC"} if "timezone" in known else {}))


@pytest.mark.parametrize("kind", [*SIMPLE, *NESTED, *NEW], ids=lambda kind: kind.simpleString())
def test_types_are_mapped_as_pyspark_maps_them(kind):
    assert arrow_type(kind).equals(theirs(kind), check_metadata=True)


def test_a_user_defined_type_is_what_it_is_stored_as():
    class Point(T.UserDefinedType):
        @classmethod
        def sqlType(cls):  # noqa: N802 - Spark's interface
            return T.ArrayType(T.DoubleType(), containsNull=False)

    assert arrow_type(Point()) == theirs(Point()) != arrow_type(T.ArrayType(T.FloatType()))


def test_a_schema_keeps_names_and_what_may_be_null():
    schema = T.StructType().add("k", "string", nullable=False).add("t", "timestamp")
    assert arrow_schema(schema) == pa.schema([
        pa.field("k", pa.string(), nullable=False),
        pa.field("t", pa.timestamp("us", tz="UTC")),
    ])  # fmt: skip


def test_a_type_that_arrow_does_not_have_is_refused():
    with pytest.raises(FanlightError, match=r"interval year to month.*cast it to a string"):
        arrow_type(T.YearMonthIntervalType())
