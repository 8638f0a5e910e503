"""Relations: rows on their way from the lift to the result, and what is known of their columns.

A DataFrame knows the names and types of its columns, but has to be analysed to tell, by Spark
Connect with a call each time; and it does not know which of its columns are what. A relation does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType

from fanlight.engine.spark.equality import collated
from fanlight.engine.spark.fields import Field, combine_sql, types_of
from fanlight.engine.spark.sql import group_rows

Types = Callable[[], Mapping[str, str]]


@dataclass(frozen=True, eq=False)
class Relation:
    """Rows or partials, each of a key and a place.

    ``df`` has the columns ``keys``, ``place`` and ``parts``. Of rows, the parts are lifted values.
    Of partials they are a column for each of ``fields``, and keys and place tell them apart once
    they are combined. While values are ``counted``, a row is a value of its place with how often it
    is there (:func:`fanlight.engine.spark.lift.count_values`), and only fields that need no counts
    have a column. ``types`` gives those of the fields' columns, which are analysed once.
    """

    df: DataFrame
    keys: tuple[str, ...]
    place: tuple[str, ...]
    parts: tuple[str, ...]
    fields: tuple[Field, ...] = ()
    counted: bool = False
    types: Types = dict

    @classmethod
    def of_rows(
        cls, df: DataFrame, keys: Iterable[str], place: Iterable[str], values: Iterable[str] = ()
    ) -> Relation:
        """Rows with their lifted values."""
        return cls(df, tuple(keys), tuple(place), tuple(values))

    @classmethod
    def of_partials(
        cls, df: DataFrame, keys: Iterable[str], place: Iterable[str], fields: Iterable[Field]
    ) -> Relation:
        """Partials of all fields."""
        kept = tuple(fields)
        names, types = (field.name for field in kept), cache(lambda: types_of(df, kept))
        return cls(df, tuple(keys), tuple(place), tuple(names), kept, types=types)

    @classmethod
    def of_counts(
        cls, df: DataFrame, keys: Iterable[str], place: Iterable[str], fields: Iterable[Field]
    ) -> Relation:
        """Value counts, and partials of the fields that need none."""
        kept = tuple(fields)
        plain = fields_without_counts(kept)
        parts = ("column_number", *value_columns(kept), "n", *(field.name for field in plain))
        types = cache(lambda: types_of(df, plain))
        return cls(df, tuple(keys), tuple(place), parts, kept, counted=True, types=types)

    @property
    def names(self) -> list[str]:
        """The columns of the fields, of partials."""
        return [field.name for field in self.fields]

    def with_df(self, df: DataFrame, *place: str) -> Relation:
        """The same parts in another DataFrame, made of this one, that has them at other places."""
        return replace(self, df=df, place=place)

    def with_places(self, *texts: str, place: Sequence[str]) -> Relation:
        """The same parts at the places that SQL computes, one row for each place."""
        return self.with_df(self.df.selectExpr(*self.keys, *texts, *self.parts), *place)

    def combine(self, *place: str) -> Relation:
        """Combine the parts of equal keys and places."""
        if self.counted:
            group = [*self.keys, *place, "column_number", *value_columns(self.fields)]
            texts = [("n", "sum(n)"), *self.combining_sql(fields_without_counts(self.fields))]
            return self.with_df(group_rows(self.df, group, texts), *place)
        return self.with_df(
            group_rows(self.df, [*self.keys, *place], self.combining_sql(self.fields)), *place
        )

    def combining_sql(self, fields: Iterable[Field]) -> list[tuple[str, str]]:
        """The name of each field with SQL that combines its parts to one of the same type."""
        return [(field.name, combine_sql(field, self.types()[field.name])) for field in fields]

    def lift_counts(self) -> Relation:
        """Partials, where rows were counted by value: the counts of each place are lifted."""
        if not self.counted:
            return self
        columns = values_to_count(self.fields)
        texts = []
        for field in self.fields:
            if field.monoid.by_value:
                number = columns.index(field.value)
                own = f"if(column_number = {number}, c{number}, null)"
                texts.append((field.name, field.monoid.lift(own, n="n")))
            else:
                texts += self.combining_sql([field])
        df = self.df
        for name, kind in (types_of_counted(self.fields) if df.isStreaming else {}).items():
            df = df.withColumn(name, collated(df, name, kind))
        partials = group_rows(df, [*self.keys, *self.place], texts)
        return Relation.of_partials(partials, self.keys, self.place, self.fields)


def values_to_count(fields: Iterable[Field]) -> list[str]:
    """The lifted values that are counted."""
    return list(dict.fromkeys(field.value for field in fields if field.monoid.by_value))


def value_columns(fields: Iterable[Field]) -> list[str]:
    """The columns of the counted values, one for each column that is counted."""
    return [f"c{number}" for number in range(len(values_to_count(fields)))]


def types_of_counted(fields: Iterable[Field]) -> dict[str, DataType]:
    """The types of counted values that have a collation, by their columns."""
    counted = [field for field in fields if field.monoid.by_value]
    columns = values_to_count(counted)
    return {f"c{columns.index(f.value)}": f.counted for f in counted if f.counted is not None}


def fields_without_counts(fields: Iterable[Field]) -> list[Field]:
    """The fields that need no value counts."""
    return [field for field in fields if not field.monoid.by_value]


def needs_counts(fields: Iterable[Field]) -> bool:
    """Whether rows have to be counted by value first."""
    return any(field.monoid.by_value for field in fields)
