"""The lift: rows that can be placed, to one partial a key and piece; each row is touched once."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import contains
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.binding.source import UNGROUPED
from fanlight.engine.spark.fields import Field, Fields, types_of
from fanlight.engine.spark.grids import holds
from fanlight.engine.spark.relation import Relation, by_value, columns_of, places, plain_of
from fanlight.engine.spark.sql import grouped, projected, types_in


def points(bound: Placed, fields: Fields) -> DataFrame:
    """The rows that lie in some window, with the columns of :func:`placeable`."""
    rows = placeable(bound, fields)
    if bound.since is not None:
        rows = rows.filter(f"t >= {bound.since}L")
    return inside(bound, rows)


def inside(bound: Placed, rows: DataFrame) -> DataFrame:
    """Without the rows that lie in no window of any query."""
    tests = [holds(grid, "t") for grid in bound.grids]
    if any(test is None for test in tests):
        return rows
    return rows.filter(" or ".join(f"({test})" for test in tests))


def without_rejected(bound: Bound) -> DataFrame:
    """The rows that can be placed, as they are."""
    bad = " or ".join(f"({test})" for test, _ in bound.rejections)
    return bound.rows.filter(f"not ({bad})")


def placeable(bound: Bound, fields: Fields) -> DataFrame:
    """The rows that can be placed: coordinates, keys, tiebreaks and arguments, by these names."""
    return projected(without_rejected(bound), fields.columns(bound, bound.rows))


def selected(bound: Bound, fields: Fields, columns: Sequence[str]) -> DataFrame:
    """The rows that can be placed: keys, ``columns`` (SQL over their columns), lifted values."""
    return placeable(bound, fields).selectExpr(*bound.keys, *columns, *fields.lifting)


def lifted(
    rows: Relation, place: Sequence[str], fields: Sequence[Field], origin: str = ""
) -> Relation:
    """Partials of rows (``f0``, ``f1``, …) by their keys and the columns ``place``."""
    return first(rows, place, fields, origin).settled()


def first(
    rows: Relation, place: Sequence[str], fields: Sequence[Field], origin: str = ""
) -> Relation:
    """Rows lifted to partials, or to value counts if a field needs them."""
    if by_value(fields):
        return counted(rows, place, fields, origin)
    texts = [(field.name, field.monoid.lift(field.value, origin=origin)) for field in fields]
    found = grouped(rows.df, [*rows.keys, *place], texts)
    return Relation.of_partials(found, rows.keys, place, fields)


def unit_partials(rows: DataFrame, fields: Sequence[Field]) -> list[str]:
    """SQL: each row as a partial of one row, of the type that combined partials have."""
    lifts = [(field.name, field.monoid.lift(field.value)) for field in fields]
    kinds = types_of(grouped(rows, [], lifts), fields)
    partials = []
    for field in fields:
        text, kind = field.monoid.unit(field.value), kinds[field.name]
        text = text if "<" in kind else f"cast({text} as {kind})"
        partials.append(f"{text} as {field.name}")
    return partials


def counted(
    rows: Relation, place: Sequence[str], fields: Sequence[Field], origin: str = ""
) -> Relation:
    """Rows counted by value (the paper's hash table a pane): keys, place, number, values, ``n``.

    ``column_number`` says which column's values a row counts. If several columns are counted, a row
    is copied for each of them, as Spark does for several distinct aggregates; the other fields are
    lifted from the copies of column 0.
    """
    texts = [("n", "count(1)")]
    texts += [(f.name, f.monoid.lift(f.value, origin=origin)) for f in plain_of(fields)]
    group = [*rows.keys, *place]
    copies = by_column(rows.df, group, fields)
    found = grouped(copies, [*group, "column_number", *places(fields)], texts)
    return Relation.of_counts(found, rows.keys, place, fields)


def by_column(rows: DataFrame, group: Sequence[str], fields: Sequence[Field]) -> DataFrame:
    """Each row once for each column that is counted: ``group``, number, values, what is lifted."""
    columns, plain = columns_of(fields), plain_of(fields)
    lifting = list(dict.fromkeys(field.value for field in plain))
    if len(columns) > 1:
        numbers = ", ".join(str(number) for number in range(len(columns)))
        rows = rows.selectExpr("*", f"explode(array({numbers})) as column_number")
        values = [
            f"if(column_number = {number}, {v}, null) as c{number}"
            for number, v in enumerate(columns)
        ]
        values += [f"if(column_number = 0, {v}, null) as {v}" for v in lifting]
    else:
        rows = rows.selectExpr("*", "0 as column_number")
        values = [f"{columns[0]} as c0", *lifting]
    return rows.selectExpr(*group, "column_number", *values)


def place_of(field: Field, fields: Sequence[Field]) -> int:
    """The number of the column that a field counts."""
    return columns_of(fields).index(field.value)


def units(bound: Bound, fields: Fields) -> tuple[DataFrame, list[str], list[str]]:
    """The rows, SQL of their partials of one row each, and the columns that order them in a key.

    Rows are ordered by time, tiebreaks, and the aggregates' arguments. Rows that are equal in all
    of these have equal partials, so their order makes no difference.
    """
    arguments = list(fields.arguments.values())
    rows = selected(bound, fields, [*bound.placed, *bound.breaks, *arguments])
    types = types_in(rows)
    order = ["t", *bound.breaks, *arguments]
    order = [name for name in order if not contains(types[name], UNGROUPED)]
    return rows, unit_partials(rows, fields.all), order
