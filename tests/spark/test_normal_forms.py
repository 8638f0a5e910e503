"""The normal form of a value: equal exactly where Spark calls the values equal."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    DoubleType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from fanlight.engine.spark.equality import has_normal_form, needs_normal_form, normal_form

COLLATIONS = ("UTF8_LCASE", "UTF8_BINARY_RTRIM", "UTF8_LCASE_RTRIM")
# What stands around a code point: whether a sigma is the last of its word, what a dot is above.
AROUND = (("", ""), ("a", ""), ("a", "b"), ("I", "\u0307"), ("", "  "), ("\u03a3", "\u03a3"))
SURROGATES = range(0xD800, 0xE000)


@pytest.mark.thorough
def test_over_all_code_points_forms_are_equal_where_strings_are(classic):
    texts = [chr(point) for point in range(0x110000) if point not in SURROGATES]
    assert_alike(classic, texts, "UTF8_LCASE")


@pytest.mark.parametrize("collation", COLLATIONS)
def test_of_letters_with_others_around_forms_are_equal_where_strings_are(classic, collation):
    letters = [chr(point) for point in range(0x110000) if chr(point).swapcase() != chr(point)]
    texts = [f"{before}{letter}{after}" for letter in letters for before, after in AROUND]
    assert_alike(classic, texts, collation)
    assert_ordered(classic, texts, collation)


def with_forms(spark, texts, collation):
    rows = spark.createDataFrame(pa.table({"s": texts}))
    rows = rows.selectExpr(f"collate(s, '{collation}') as s")
    return rows.selectExpr("s", f"{normal_form('s', rows.schema['s'].dataType, bare=True)} as form")


def assert_alike(spark, texts, collation):
    """Strings that are equal have one form, and no two that are not have the same."""
    strings = with_forms(spark, texts, collation).groupBy("s")
    strings = strings.agg(F.min("form").alias("form"), F.max("form").alias("other"))
    forms = strings.groupBy("form").agg(F.count("*").alias("n"), F.max("other").alias("other"))
    assert forms.filter("n > 1 or other <> form").count() == 0
    assert forms.count() > len(texts) / len(AROUND) / 3


def assert_ordered(spark, texts, collation):
    """Forms have the order of the strings."""
    placed = with_forms(spark, texts, collation).selectExpr(
        "rank() over (order by s) as here", "rank() over (order by form) as there"
    )
    assert placed.filter("here <> there").count() == 0


def test_types_that_need_no_form_have_their_text_unchanged():
    plain = StructType([StructField("a", LongType()), StructField("b", StringType())])
    for kind in (LongType(), StringType(), ArrayType(plain), MapType(StringType(), plain)):
        assert normal_form("k0", kind) == "k0"
        assert not needs_normal_form(kind)
    assert needs_normal_form(MapType(StringType(), ArrayType(DoubleType())))
    assert not has_normal_form(ArrayType(StringType("UNICODE_CI")))


def test_a_form_has_the_type_and_the_names_of_the_value(classic):
    low = "collate('A', 'UTF8_LCASE')"
    nested = f"map(array(-0.0D), named_struct('a b', {low}, 'a b', array(null, {low})))"
    df = classic.sql(f"select {nested} as m, named_struct('x', null, 'y', {low}) as s")
    for field in df.schema.fields:
        form = df.selectExpr(f"{normal_form(field.name, field.dataType)} as form")
        assert form.schema["form"].dataType.simpleString() == field.dataType.simpleString()
    texts = [normal_form(field.name, field.dataType) for field in df.schema.fields]
    row = df.selectExpr(*(f"{text} as {name}" for text, name in zip(texts, "ms", strict=True)))
    key, value, struct = row.selectExpr(
        "cast(map_keys(m)[0] as string)", "map_values(m)[0]", "s"
    ).first()  # fmt: skip
    assert (key, tuple(value), tuple(struct)) == ("[0.0]", ("a", [None, "a"]), (None, "a"))
