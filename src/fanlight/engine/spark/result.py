"""The columns of every result: keys under their own names, ``window``, then the others.

Only Spark's own windows end otherwise: they have these columns already (``spark_windows.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import DataType, StructField, StructType, TimestampType

from fanlight.engine.algebra.sql_text import quote
from fanlight.engine.kinds.kind import FINAL
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.binding.lag import Lag
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.coordinates import restore_sql
from fanlight.engine.spark.cuts import by_query, window_start_by
from fanlight.engine.spark.equality import collated, has_collation
from fanlight.engine.spark.fields import Field, Fields, combine_sql, types_of
from fanlight.engine.spark.sql import TIME_WINDOW, expr, expr_as, group_rows

Named = tuple[str, str]  # SQL text, and the column's name
# Spark's error shows it, in the second line of the plan, where it refuses another output mode.
MODES = (
    "fanlight: if Spark refuses the output mode, write outputMode('append'), or fl.over(…).early() "
    "for outputMode('update'); with Spark's check switched off, windows would be wrong"
)


def finish_result(
    bound: Bound,
    windows: DataFrame,
    start: str,
    end: str,
    columns: Iterable[Named],
    keys: Sequence[Named | str] | None = None,
) -> DataFrame:
    """The result made of a DataFrame; ``start`` and ``end`` are SQL for the times of its windows.

    ``keys`` names them if they are not the columns ``k0``, ``k1``, …; a plain text keeps its name.
    """
    own = zip(bound.keys, bound.names, strict=True) if keys is None else keys
    return windows.select(
        *[key_column(bound, windows, one) for one in own],
        window_column(bound, windows, start, end),
        *[expr_as(windows, text, name) for text, name in columns],
    )


def key_column(bound: Bound, windows: DataFrame, key: Named | str) -> Column:
    """A key under its name, and of its own type: in a stream it has been without collation."""
    if isinstance(key, str):
        return expr(windows, key)
    types = dict(zip(bound.keys, bound.source.key_types, strict=False))
    kind = types.get(key[0])
    if kind is None or not bound.df.isStreaming or not has_collation(kind):
        return expr_as(windows, *key)
    return collated(windows, key[0], kind).alias(key[1])


def window_column(bound: Bound, windows: DataFrame, start: str, end: str) -> Column:
    """The column ``window``, with the metadata that ``F.window_time`` needs.

    In a stream it also carries the watermark, so that aggregations can follow. Where its end is in
    a window it does neither: Spark would take the instant before the end for its time.
    """
    column = expr(windows, f"named_struct('start', {start}, 'end', {end})")
    ends_within = isinstance(bound, Placed) and any(grid.closed for grid in bound.grids)
    if not bound.coordinate.is_timestamp or bound.coordinate.counted or ends_within:
        return column.alias("window")
    if not bound.df.isStreaming:
        return column.alias("window", metadata={TIME_WINDOW: True})
    return _with_lags(bound, column)


def with_lags(bound: Bound, windows: DataFrame) -> DataFrame:
    """Windows that Spark has made; in a stream with the lags of their times."""
    if not bound.df.isStreaming:
        return windows
    others = [quote(name) for name in windows.columns]
    return windows.select(
        *(
            _with_lags(bound, expr(windows, one)) if one == quote("window") else expr(windows, one)
            for one in others
        )
    )


def _with_lags(bound: Bound, window: Column) -> Column:
    """A window of a stream, with the watermark and the lags of its times in its metadata."""
    first, last = bound.lags
    ends = [
        StructField(
            name,
            TimestampType(),
            metadata=Lag(lag, bound.delay, bounds=True, marked=False).metadata,
        )
        for name, lag in (("start", first), ("end", last))
    ]
    metadata = {TIME_WINDOW: True, **Lag(last, bound.delay, bounds=True).metadata}
    return window.cast(StructType(ends)).alias("window", metadata=metadata)


def time_column(bound: Bound, df: DataFrame, text: str, name: str, late: int | None) -> Column:
    """The time of rows that a stream passes on, with the watermark; ``late`` is its lag."""
    return expr(df, text).alias(name, metadata=Lag(late, bound.delay).metadata)


def window_times(bound: Bound, start: str, end: str) -> tuple[str, str]:
    """SQL: the start and end of a window, as times made of two coordinates."""
    return restore_sql(bound.coordinate, start), restore_sql(bound.coordinate, end)


def lower_outputs(fields: Fields, start: str) -> list[Named]:
    """Partials lowered to aggregates, for windows that begin at the coordinate ``start``."""
    return [(output.sql(start), output.label) for output in fields.outputs]


def name_by_number(labels: Sequence[str]) -> list[Named]:
    """Columns that give the results ``r0``, ``r1``, … their output names ``labels``."""
    return [(f"r{n}", label) for n, label in enumerate(labels)]


def finish_windows(bound: Placed, windows: DataFrame, columns: Sequence[Named]) -> DataFrame:
    """Keys, ``window``, the label of the query where there are several, then ``columns``."""
    start, end = window_times(bound, bound.shown_start, bound.shown_end)
    labels = []
    if bound.query_columns:
        labels.append((f"cast({by_query(bound.queries.labels)} as int)", bound.queries.name))
    if bound.early is not None:
        labels.append(("final = 1L", FINAL))
    windows = bound.keep_existing(windows)
    if bound.df.isStreaming and bound.early is None:
        windows = windows.alias(MODES)
    return finish_result(bound, windows, start, end, [*labels, *columns])


def finish_items(bound: Placed, items: DataFrame, name: str, *, counts: bool) -> DataFrame:
    """Recurring items (keys, ``level``, ``start``, ``upto``, ``item``, ``n``) as reported."""
    start, end = window_times(bound, "start", "upto")
    columns = [("cast(query as int)", "level"), ("item", name)]
    columns += [("n", "count")] if counts else []
    items = bound.keep_existing(
        items.withColumnRenamed("level", "query"), window_start_by(bound.grids, "upto")
    )
    marked = items.alias(MODES) if bound.df.isStreaming else items
    return finish_result(bound, marked, start, end, columns)


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
