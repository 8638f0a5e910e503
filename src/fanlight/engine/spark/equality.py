"""The normal form of a value: the same bytes wherever Spark calls two values equal.

Spark takes -0.0 for 0.0, and one NaN for the other, also inside of arrays and structs; and strings
by their collation, under which ``A`` may be ``a``. Python, hashes and Spark's state store compare
bytes. So keys and whatever is compared go by their normal form, at the one place where rows get
their internal columns, and every way finds the same keys and the same values.

Under ``UTF8_LCASE`` strings are equal if their lower-cased code points are, with one form of the
Greek sigma; ``…_RTRIM`` leaves spaces at the end aside. The order under these collations is that of
the normal forms. Other collations have tables of their own, which no SQL function shows.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DoubleType,
    FloatType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from fanlight.engine.algebra.sql_text import fill, literal, struct
from fanlight.engine.spark.sql import expr, type_text

BINARY = "UTF8_BINARY"
_FORMS = {
    BINARY: "{v}",
    f"{BINARY}_RTRIM": "rtrim({v})",
    "UTF8_LCASE": "translate(lower({v}), '\u03c2', '\u03c3')",
    "UTF8_LCASE_RTRIM": "translate(lower(rtrim({v})), '\u03c2', '\u03c3')",
}
WHY_NOT = "which only Spark's own SQL can compare"
INSTEAD = "use collate(…, 'UTF8_LCASE') of it, or collate(lower(…), 'UTF8_BINARY')"


def with_places(kind: DataType) -> DataType:
    """The type with its struct fields named by their place; unchanged if it has none."""
    if isinstance(kind, StructType):
        parts = enumerate(kind.fields)
        return StructType([StructField(f"f{at}", with_places(one.dataType)) for at, one in parts])
    if isinstance(kind, ArrayType):
        inner = with_places(kind.elementType)
        return kind if inner is kind.elementType else ArrayType(inner)
    if isinstance(kind, MapType):
        key, value = with_places(kind.keyType), with_places(kind.valueType)
        unchanged = key is kind.keyType and value is kind.valueType
        return kind if unchanged else MapType(key, value)
    return kind


def with_nulls(kind: DataType) -> DataType:
    """The type with nulls allowed everywhere, as values are that Python or a lambda gives."""
    if isinstance(kind, StructType):
        return StructType([StructField(f.name, with_nulls(f.dataType)) for f in kind.fields])
    if isinstance(kind, ArrayType):
        return ArrayType(with_nulls(kind.elementType))
    if isinstance(kind, MapType):
        return MapType(with_nulls(kind.keyType), with_nulls(kind.valueType))
    return kind


def normal_form(text: str, kind: DataType, *, bare: bool = False, depth: int = 0) -> str:
    """SQL: a value in its normal form; the text unchanged if its type needs none, or has none.

    The form has the type of the value; ``bare``: its strings have no collation, as Spark's state
    store wants keys. ``depth`` is that of nested lambdas.
    """
    if isinstance(kind, (DoubleType, FloatType)):
        name = type_text(kind)
        return f"if(isnan({text}), cast('NaN' as {name}), {text} + cast(0 as {name}))"
    if isinstance(kind, StringType):
        return _string_form(text, collation_of(kind), bare=bare)
    if isinstance(kind, ArrayType):
        inner = normal_form(f"part{depth}", kind.elementType, bare=bare, depth=depth + 1)
        return text if inner == f"part{depth}" else f"transform({text}, part{depth} -> {inner})"
    if isinstance(kind, MapType):
        key = normal_form(f"name{depth}", kind.keyType, bare=bare, depth=depth + 1)
        inner = normal_form(f"part{depth}", kind.valueType, bare=bare, depth=depth + 1)
        if (key, inner) == (f"name{depth}", f"part{depth}"):
            return text
        pair = f"(name{depth}, part{depth})"
        return f"transform_keys(transform_values({text}, {pair} -> {inner}), {pair} -> {key})"
    return _struct_form(text, kind, bare, depth) if isinstance(kind, StructType) else text


def _string_form(text: str, collation: str, *, bare: bool) -> str:
    if collation == BINARY or collation not in _FORMS:
        return text
    form = fill(_FORMS[collation], v=f"collate({text}, {literal(BINARY)})")
    return form if bare else f"collate({form}, {literal(collation)})"


def _struct_form(text: str, kind: StructType, bare: bool, depth: int) -> str:
    # Fields are read by their place: two may have one name.
    places = with_places(kind)
    whole = f"cast({text} as {type_text(places)})"
    parts = [f"{whole}.f{place}" for place in range(len(kind.fields))]
    forms = [
        normal_form(part, one.dataType, bare=bare, depth=depth)
        for part, one in zip(parts, kind.fields, strict=True)
    ]
    if forms == parts:
        return text
    return f"if({text} is null, null, {struct(zip(kind.names, forms, strict=True))})"


def collated(df: DataFrame, name: str, kind: DataType) -> Column:
    """A column of bare normal forms, of the type that its values had before."""
    return expr(df, name).cast(with_nulls(kind))


def has_collation(kind: DataType) -> bool:
    """Whether strings in the type are compared by a collation, not by their bytes."""
    return any(collation != BINARY for collation in collations_of(kind))


def has_normal_form(kind: DataType) -> bool:
    """Whether SQL can compute the normal form of every value of the type."""
    return all(collation in _FORMS for collation in collations_of(kind))


def needs_normal_form(kind: DataType) -> bool:
    """Whether equal values of the type may differ in their bytes."""
    return normal_form("v", kind) != "v"


def collation_of(kind: StringType) -> str:
    """The name of a string type's collation."""
    return str(getattr(kind, "collation", BINARY)).upper()


def collations_of(kind: DataType) -> list[str]:
    """The collations of the strings in a type, in order."""
    if isinstance(kind, StringType):
        return [collation_of(kind)]
    if isinstance(kind, ArrayType):
        return collations_of(kind.elementType)
    if isinstance(kind, MapType):
        return collations_of(kind.keyType) + collations_of(kind.valueType)
    parts = kind.fields if isinstance(kind, StructType) else []
    return [one for part in parts for one in collations_of(part.dataType)]
