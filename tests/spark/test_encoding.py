"""Rows into plain types and back: whatever a value's type, and whatever its fields are called."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import types as T

from fanlight.engine.spark.ordered.encoding import (
    arrow_schema,
    decode_sql,
    encode_sql,
    plain_schema,
    plain_type,
)
from fanlight.engine.spark.ordered.host import run_over_partitions
from tests.helpers.sparks import configured

TIMES = (
    "timestamp'2024-03-31 02:30:00.123456 UTC' as a, timestamp'0001-01-01 00:00:00 UTC' as b, "
    "timestamp_ntz'1969-12-31 23:59:59.999999' as c, date'1582-10-04' as d, "
    "interval '-1 02:03:04.000005' day to second as e, interval '3' day as f, null as g, "
    "cast(null as timestamp) as h"
)
NESTED = """
    named_struct('it''s', timestamp_micros(-1), '`', date'2000-01-01', 'a.b', 1, ' ', 'x') as a,
    array(timestamp_micros(5), null) as b,
    map(date'2000-01-01', array(named_struct('t', timestamp_micros(7))), date'2000-01-02', null)
        as c,
    array(map(1, timestamp_micros(9))) as d,
    cast(null as struct<`a``b`: timestamp>) as e,
    named_struct('none', cast(null as timestamp)) as f,
    array(array(interval '2' hour)) as g
"""


def seen():
    """A function that gives every batch as it comes, and sees that there are no times in it."""

    def unchanged(batches):
        for batch in batches:
            assert not [kind for kind in batch.schema.types if "timestamp" in str(kind)]
            assert not [kind for kind in batch.schema.types if "date" in str(kind)]
            yield batch

    return unchanged


@pytest.mark.parametrize("columns", [TIMES, NESTED], ids=["times", "nested"])
@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_values_come_back_as_they_were(spark, columns, zone):
    with configured(spark, "spark.sql.session.timeZone", zone):
        rows = spark.sql(f"select {columns}")
        types = {one.name: one.dataType for one in rows.schema}
        found = run_over_partitions(rows, types, seen(), list(types.items()))
        assert found.dtypes == rows.dtypes
        text = "to_json(struct(*), map('timestampFormat', \"yyyy-MM-dd HH:mm:ss.SSSSSS\"))"
        assert found.selectExpr(text).collect() == rows.selectExpr(text).collect()
        sent = arrow_schema(plain_schema(list(types.items())))
        assert pa.types.is_int64(sent.field("b").type) == (columns is TIMES)


def test_python_is_given_neither_times_nor_names():
    kind = T.StructType().add("n", "integer").add("m", T.MapType(T.StringType(), T.DateType()))
    twice = T.ArrayType(T.StructType().add("a", kind).add("a", "timestamp"))
    wanted = "array<struct<f0:struct<f0:int,f1:map<string,bigint>>,f1:bigint>>"
    assert plain_type(twice).simpleString() == wanted


def test_what_has_neither_is_left_alone():
    kind = T.MapType(T.StringType(), T.ArrayType(T.DoubleType()))
    assert plain_type(kind) == kind
    assert encode_sql("x", kind) == "x" == decode_sql("x", kind)
