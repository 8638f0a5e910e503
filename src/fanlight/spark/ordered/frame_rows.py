"""The rows that frame operators take: keys, time, order, and the inputs of the scheme."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType

from fanlight.algebra.monoids import Count, Max, Min
from fanlight.plan.frames import InputColumn
from fanlight.plan.request import FieldFacts
from fanlight.spark.binding.frames import UNTIL, FrameBound
from fanlight.spark.fields import Field, Fields, selected, types_of
from fanlight.spark.ordered.encoding import encoded, one_zero
from fanlight.spark.sql import grouped, sql

UNORDERED = ("map<", "variant", "interval")
EVERY_ROW = Count("1")  # frames have their rows counted anyway
FACTS = FieldFacts("frame", running=True, invertible=False)


@dataclass(frozen=True)
class Prepared:
    """Rows with the columns of keys, ``t``, tiebreaks and arguments (``x0``, …).

    ``inputs`` are the inputs of the scheme, as SQL over these, so that no value is shuffled twice.
    """

    df: DataFrame
    order: tuple[str, ...]  # what orders rows of one time
    inputs: tuple[str, ...]

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the inputs: one that is just a column keeps its name."""
        pairs = enumerate(self.inputs)
        return tuple(text if text.isidentifier() else f"input{at}" for at, text in pairs)

    @property
    def named_inputs(self) -> list[str]:
        """SQL: the inputs under their names."""
        pairs = zip(self.inputs, self.input_names, strict=True)
        return [text if text == name else f"{text} as {name}" for text, name in pairs]


def prepared(bound: FrameBound, fields: Fields) -> Prepared:
    """The rows that can be placed.

    Rows of one time are ordered by the tiebreaks, the framed columns and the other arguments. The
    order of rows that are equal in all of these makes no difference.
    """
    asked = [None if column is None else fields.ask(column) for column in bound.framed]
    arguments = list(fields.arguments.values())
    rows = selected(bound, fields, arguments)
    types = {field.name: field.dataType for field in rows.schema.fields}
    inputs = tuple(
        _input(read, name, types[name] if name else None)
        for read, name in zip(bound.scheme.marked, asked, strict=True)
    )
    if bound.scheme.own_deadlines:
        inputs = (*inputs, UNTIL)
    framed = [name for name in asked if name is not None]
    order = dict.fromkeys([*bound.breaks, *framed, *arguments])
    ordered = [n for n in order if not any(w in types[n].simpleString() for w in UNORDERED)]
    keys = [f"{one_zero(key, types[key])} as {key}" for key in bound.keys]
    df = rows.selectExpr(*keys, *bound.placed, *bound.breaks, *arguments)
    return Prepared(df, tuple(ordered), inputs)


def _input(read: InputColumn, name: str | None, kind: DataType | None) -> str:
    if name is None or kind is None:
        return "(true)"
    if read.type == "flag":
        return f"coalesce({name}, false)"
    if read.type == "there":
        return f"{name} is not null"
    if read.type == "real":
        return _cast(name, kind, "double")
    if read.type == "whole":
        return _cast(f"{name} * {10**read.scale}" if read.scale else name, kind, "bigint")
    return encoded(name, kind)


def _cast(text: str, kind: DataType, wanted: str) -> str:
    """SQL: a value as another type; unchanged if it is of that type, so that equal texts match."""
    same = text.isidentifier() and kind.simpleString() == wanted
    return text if same else f"cast({text} as {wanted})"


def units(bound: FrameBound, fields: Fields) -> list[str]:
    """SQL over the arguments: each field's partial of one row, in the type that partials have."""
    for column in bound.framed:  # they are arguments too; all are selected in one pass
        if column is not None:
            fields.ask(column)
    rows = selected(bound, fields, list(fields.arguments.values()))
    lifts = [(field.name, field.monoid.lift(field.value)) for field in fields.all]
    kinds = types_of(grouped(rows, [], lifts), fields.all) if lifts else {}
    own = dict(rows.dtypes)
    texts = []
    for field in fields.all:
        (value,) = (text for text, name in fields.values.items() if name == field.value)
        plain = value.isidentifier()
        text = field.monoid.unit(value if plain else f"({value})")
        kind = kinds[field.name]
        same = "<" in kind or (text in own and own[text] == kind)
        texts.append(text if same else f"cast({text} as {kind})")
    return texts


def bounds(closing: str) -> list[Field]:
    """Fields for the bounds of a frame; ``closing`` is the column with the row after each row."""
    return [
        Field("first_row", "t", Min(), FACTS),
        Field("last_row", "t", Max(), FACTS),
        Field("rows", "t", Count(), FACTS),
        Field("closing_row", closing, Max(), FACTS),
    ]


def payload_of(bound: FrameBound, fields: Fields) -> tuple[str, ...]:
    """All columns of the DataFrame, asked for as arguments."""
    return tuple(dict.fromkeys(fields.ask(name) for name in bound.df.columns))


def named_again(bound: FrameBound, payload: Sequence[str], numbered: DataFrame) -> DataFrame:
    """The columns of the DataFrame under their own names, and ``frame_id``."""
    pairs = zip(payload, bound.df.columns, strict=True)
    columns = [sql(numbered, name).alias(own) for name, own in pairs]
    return numbered.select(*columns, sql(numbered, "frame").alias("frame_id"))
