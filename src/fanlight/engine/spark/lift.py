"""The lift: makes of the rows of each key and piece one partial; each row is touched once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, LongType

from fanlight.engine.algebra.aggregate import contains_type
from fanlight.engine.algebra.monoids import Count, Max, Min
from fanlight.engine.plan.request import FieldFacts
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.binding.placed import SINCE, Placed
from fanlight.engine.spark.binding.source import UNGROUPED
from fanlight.engine.spark.cuts import has_window
from fanlight.engine.spark.equality import has_collation, normal_form
from fanlight.engine.spark.fields import Field, Fields, types_of
from fanlight.engine.spark.result import (
    Relation,
    fields_without_counts,
    needs_counts,
    types_of_counted,
    value_columns,
    values_to_count,
)
from fanlight.engine.spark.sql import group_rows, project, types_in

EVERY_ROW = Count("1")  # where rows are counted anyway, or count as one each
_TIMES = FieldFacts("window", running=True, invertible=False)
# When the first and the last of some rows are.
FIRST = Field(SINCE, "t", Min("{time}"), _TIMES)
LAST = Field("latest", "t", Max("{time}"), _TIMES)


def select_points(bound: Placed, fields: Fields) -> DataFrame:
    """The rows that lie in some window, with the columns of :func:`select_placeable`."""
    rows = select_placeable(bound, fields)
    if bound.since is not None:
        rows = rows.filter(f"t >= {bound.since}L")
    if fields.carries:  # what lies in a gap may be carried into the next window
        return rows
    return drop_rows_in_gaps(bound, rows)


def drop_rows_in_gaps(bound: Placed, rows: DataFrame, at: str = "t") -> DataFrame:
    """Drop the rows that lie in no window of any query, by their coordinate."""
    tests = [has_window(grid, at) for grid in bound.grids]
    if any(test is None for test in tests):
        return rows
    return rows.filter(" or ".join(f"({test})" for test in tests))


def drop_rejected(bound: Bound) -> DataFrame:
    """The rows that can be placed, unchanged."""
    return bound.rows.filter(f"not ({is_rejected(bound)})")


def is_rejected(bound: Bound) -> str:
    """SQL: whether no window can hold a row."""
    return " or ".join(f"({test})" for test, _ in bound.rejections)


def select_placeable(bound: Bound, fields: Fields) -> DataFrame:
    """The rows that can be placed: coordinates, keys, tiebreaks and arguments by internal names.

    Keys and tiebreaks are in their normal form, so that everything after may compare bytes.
    """
    return select_rows(bound, fields, drop_rejected(bound))


def select_rows(bound: Bound, fields: Fields, rows: DataFrame) -> DataFrame:
    """Add the columns of :func:`select_placeable` to rows."""
    columns = fields.columns(bound, bound.rows)
    rows, forms = project(rows, columns), bound.normal_forms
    if not forms:
        return rows
    return rows.selectExpr(*(f"{forms[n]} as {n}" if n in forms else n for _, n in columns))


def select_values(bound: Bound, fields: Fields, columns: Sequence[str]) -> DataFrame:
    """The rows that can be placed: keys, ``columns`` (SQL over their columns), lifted values."""
    return select_placeable(bound, fields).selectExpr(*bound.keys, *columns, *fields.lifting)


def lift_rows(
    rows: Relation, place: Sequence[str], fields: Sequence[Field], origin: str = ""
) -> Relation:
    """Partials of rows (``f0``, ``f1``, …) by their keys and the columns ``place``."""
    return lift_or_count(rows, place, fields, origin).lift_counts()


def lift_or_count(
    rows: Relation, place: Sequence[str], fields: Sequence[Field], origin: str = ""
) -> Relation:
    """Rows lifted to partials, or to value counts if a field needs them."""
    if needs_counts(fields):
        return count_values(rows, place, fields, origin)
    texts = [(field.name, field.monoid.lift(field.value, origin=origin)) for field in fields]
    found = group_rows(rows.df, [*rows.keys, *place], texts)
    return Relation.of_partials(found, rows.keys, place, fields)


def condense(pieces: Relation) -> Relation:
    """Whole pieces of time, of each field with what matters of it to windows that hold them.

    No other partial may be of the same time: those of late rows are combined before.
    """
    texts = {field.name: field.monoid.condense(field.name) for field in pieces.fields}
    if all(text == name for name, text in texts.items()):
        return pieces
    kept = [*pieces.keys, *pieces.place, *(f"{text} as {name}" for name, text in texts.items())]
    return pieces.with_df(pieces.df.selectExpr(*kept), *pieces.place)


@dataclass(frozen=True)
class Unit:
    """The partial of one row: SQL over the rows' columns, and the type that partials have."""

    text: str
    kind: str


def lift_units(
    rows: DataFrame, fields: Sequence[Field], values: Mapping[str, str] | None = None
) -> dict[str, Unit]:
    """The partial of one row, of the type that combined partials have, by the field's name.

    ``values`` is SQL over the columns of rows, by the names of values that are not columns of rows.
    """
    value_of = {field.name: field.value for field in fields}
    if values is not None:
        value_of = {name: _bracket(values[value]) for name, value in value_of.items()}
    lifts = [(field.name, field.monoid.lift(value_of[field.name])) for field in fields]
    kinds = types_of(group_rows(rows, [], lifts), fields) if fields else {}
    own, units = types_in(rows), {}
    for field in fields:
        text, kind = field.monoid.unit(value_of[field.name]), kinds[field.name]
        text = text if "<" in kind or own.get(text) == kind else f"cast({text} as {kind})"
        units[field.name] = Unit(text, kind)
    return units


def _bracket(text: str) -> str:
    return text if text.isidentifier() else f"({text})"


def partials_of_rows(rows: DataFrame, fields: Sequence[Field]) -> list[str]:
    """SQL: each row as a partial of one row, of the type that combined partials have."""
    return [f"{unit.text} as {name}" for name, unit in lift_units(rows, fields).items()]


class Columns:
    """Columns of rows for an operator: each costs time in Python, so equal ones are sent once."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = {name: name for name in names}

    def add(self, text: str, name: str) -> str:
        """Send what ``text`` (SQL) says under this name, and return the name that it has."""
        return self._names.setdefault(text, name)

    @property
    def texts(self) -> list[str]:
        """SQL for all columns."""
        return [text if text == name else f"{text} as {name}" for text, name in self._names.items()]


@dataclass(frozen=True)
class Sent:
    """Columns of rows for an operator (SQL), and the column with each partial.

    The partial of a count of rows is 1, so no column has it.
    """

    columns: list[str]
    partials: tuple[str, ...]
    sources: tuple[str, ...]

    @property
    def given(self) -> dict[str, str | DataType]:
        """The types of combined partials: those of the columns that have the ones of rows."""
        pairs = zip(self.partials, self.sources, strict=True)
        return {name: source or LongType() for name, source in pairs}


def send_once(order: Sequence[str], partials: Sequence[str], fields: Sequence[Field]) -> Sent:
    """Send what orders rows, and their partials (SQL, as :func:`lift_each_row` returns both)."""
    columns, sources = Columns(order), []
    for field, partial in zip(fields, partials, strict=True):
        text = partial.removesuffix(f" as {field.name}")
        sources.append("" if field.monoid == EVERY_ROW else columns.add(text, field.name))
    return Sent(columns.texts, tuple(field.name for field in fields), tuple(sources))


def count_values(
    rows: Relation, place: Sequence[str], fields: Sequence[Field], origin: str = ""
) -> Relation:
    """Rows counted by value (the paper's hash table a pane): keys, place, number, values, ``n``.

    ``column_number`` says which column's values a row counts. If several columns are counted, a row
    is copied for each of them, as Spark does for several distinct aggregates; the other fields are
    lifted from the copies of column 0.
    """
    texts = [("n", "count(1)")]
    texts += [
        (f.name, f.monoid.lift(f.value, origin=origin)) for f in fields_without_counts(fields)
    ]
    group = [*rows.keys, *place]
    copies = copy_for_columns(rows.df, group, fields)
    counts = group_rows(copies, [*group, "column_number", *value_columns(fields)], texts)
    return Relation.of_counts(counts, rows.keys, place, fields)


def copy_for_columns(rows: DataFrame, group: Sequence[str], fields: Sequence[Field]) -> DataFrame:
    """A copy of each row for each counted column: ``group``, number, values, lifted values."""
    columns, plain = values_to_count(fields), fields_without_counts(fields)
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
    copies = rows.selectExpr(*group, "column_number", *values)
    kinds = types_of_counted(fields) if rows.isStreaming else {}
    if not kinds:
        return copies
    # Spark's state store refuses keys that have a collation.
    bare = {name: normal_form(name, kind, bare=True) for name, kind in kinds.items()}
    return copies.selectExpr(*(f"{bare[n]} as {n}" if n in bare else n for n in copies.columns))


def column_number(field: Field, fields: Sequence[Field]) -> int:
    """The number of the column whose values a field counts."""
    return values_to_count(fields).index(field.value)


def lift_each_row(bound: Bound, fields: Fields) -> tuple[DataFrame, list[str], list[str]]:
    """The rows, SQL for the partial of each, and the columns that order the rows of a key.

    Rows are ordered by time, tiebreaks, and the aggregates' arguments. Rows that are equal in all
    of these have equal partials, so their order makes no difference.
    """
    arguments = list(fields.arguments.values())
    placeable = select_placeable(bound, fields)
    kinds = {field.name: field.dataType for field in placeable.schema.fields}
    # Rows are ordered in Python, too: there arguments are in their normal form.
    forms = [normal_form(n, kinds[n]) if has_collation(kinds[n]) else n for n in arguments]
    texts = [t if t == n else f"{t} as {n}" for t, n in zip(forms, arguments, strict=True)]
    columns = [*bound.keys, *bound.place_columns, *bound.tie_keys, *texts]
    rows = placeable.selectExpr(*columns, *fields.lifting)
    types = types_in(rows)
    order = ["t", *bound.tie_keys, *arguments]
    order = [name for name in order if not contains_type(types[name], UNGROUPED)]
    # A value that is an argument as it is keeps the argument's name, so that it is known as equal.
    same = {n for n, form in zip(arguments, forms, strict=True) if n == form}
    plain = {name: value for value, name in fields.values.items() if value in same}
    lifted = [replace(one, value=plain.get(one.value, one.value)) for one in fields.all]
    return rows, partials_of_rows(rows, lifted), order
