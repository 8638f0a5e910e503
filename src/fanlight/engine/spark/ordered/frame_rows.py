"""The rows that frame operators take: keys, time, order, and the inputs of the scheme."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType

from fanlight.engine.algebra.aggregate import contains_type
from fanlight.engine.algebra.monoids import Count, Max, Min
from fanlight.engine.plan.frames import MOST, InputColumn
from fanlight.engine.plan.request import FieldFacts
from fanlight.engine.spark.binding.frames import UNTIL, FrameBound
from fanlight.engine.spark.equality import (
    INSTEAD,
    WHY_NOT,
    has_collation,
    has_normal_form,
    normal_form,
)
from fanlight.engine.spark.fields import Field, Fields, types_of
from fanlight.engine.spark.lift import select_placeable
from fanlight.engine.spark.ordered.encoding import encode_sql
from fanlight.engine.spark.result import time_column
from fanlight.engine.spark.sql import expr_as, group_rows, project, type_text, types_in
from fanlight.engine.spec.errors import refuse

UNORDERED = ("map<", "variant", "interval")
# The kinds of schemes that ask whether values are equal, as errors name them.
TOLD_APART = {"distinct": "a limit on distinct values", "states": "a state"}
EVERY_ROW = Count("1")  # frames have their rows counted anyway
_LIMIT_DIGITS = 19  # of a limit: times those of 64 bits, it fits the longest decimal
FACTS = FieldFacts("frame", running=True, invertible=False)


@dataclass(frozen=True)
class Prepared:
    """Rows with the columns of keys, ``t``, tiebreaks and arguments (``x0``, …).

    ``inputs`` are the inputs of the scheme, as SQL over these, so that no value is shuffled twice.
    """

    df: DataFrame
    order: tuple[str, ...]  # orders rows of the same time
    inputs: tuple[str, ...]

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the inputs; an input that is a plain column keeps its name."""
        pairs = enumerate(self.inputs)
        return tuple(text if text.isidentifier() else f"input{at}" for at, text in pairs)

    @property
    def named_inputs(self) -> list[str]:
        """SQL: each input under its name."""
        pairs = zip(self.inputs, self.input_names, strict=True)
        return [text if text == name else f"{text} as {name}" for text, name in pairs]


def prepare_rows(bound: FrameBound, fields: Fields) -> Prepared:
    """The rows that can be placed, with the inputs of the scheme.

    Rows of one time are ordered by the tiebreaks, the framed columns and the other arguments. The
    order of rows that are equal in all of these makes no difference.
    """
    asked = [None if column is None else fields.add_argument(column) for column in bound.framed]
    arguments = list(fields.arguments.values())
    rows = select_placeable(bound, fields)
    types = {field.name: field.dataType for field in rows.schema.fields}
    about = TOLD_APART.get(bound.scheme.kind, "")
    inputs = tuple(
        _input_sql(read, name, types[name] if name else None, told_apart=about)
        for read, name in zip(bound.scheme.marked_inputs, asked, strict=True)
    )
    if bound.scheme.has_own_deadlines:
        inputs = (*inputs, UNTIL)
    framed = [name for name in asked if name is not None]
    order = dict.fromkeys([*bound.tie_keys, *framed, *arguments])
    ordered = [n for n in order if not contains_type(type_text(types[n]), UNORDERED)]
    # Arguments stay as they are; where Python orders rows by them, their normal form is beside.
    forms = {n: normal_form(n, types[n]) for n in ordered if has_collation(types[n])}
    forms = {n: form for n, form in forms.items() if n not in bound.tie_keys and form != n}
    beside = [f"{form} as o{n}" for n, form in forms.items()]
    df = rows.selectExpr(*bound.keys, *bound.place_columns, *bound.tie_keys, *arguments, *beside)
    return Prepared(df, tuple(f"o{n}" if n in forms else n for n in ordered), inputs)


def _input_sql(
    read: InputColumn, name: str | None, kind: DataType | None, *, told_apart: str
) -> str:
    """SQL: an input of the scheme; values that it tells apart are in their normal form.

    ``told_apart`` names what tells them apart, in errors; empty if nothing does.
    """
    if name is None or kind is None:
        return "(true)"
    if read.type in ("flag", "there"):
        return f"coalesce({name}, false)" if read.type == "flag" else f"{name} is not null"
    if read.type == "real":
        value = _cast(name, kind, "double")
        return f"(-{value})" if read.negated else value
    if read.type == "limit":
        return _limit_sql(read, name, kind)
    if read.type == "whole":
        value = _cast(f"{name} * {10**read.scale}" if read.scale else name, kind, "bigint")
        # The least of all is the only one without a negative.
        return f"if({value} = -{MOST}L - 1L, {MOST}L, -{value})" if read.negated else value
    if told_apart and not has_normal_form(kind):
        raise refuse(told_apart, f"is on values of type {type_text(kind)}, {WHY_NOT}", INSTEAD)
    return encode_sql(normal_form(name, kind) if told_apart else name, kind)


def _limit_sql(read: InputColumn, name: str, kind: DataType) -> str:
    """SQL: the least whole number, in the units of what is watched, that reaches a row's limit."""
    text, sign = type_text(kind), "-" if read.negated else ""
    digits, scale = 19, 0
    if text.startswith("decimal"):
        digits, scale = (int(part) for part in text[8:-1].split(","))
    if text in ("float", "double") or digits > _LIMIT_DIGITS:
        value = f"({sign}cast({name} as double) * {10**read.scale}D)"
        least = f"least(floor({value}), {MOST}L - 1L) + 1L" if read.beyond else f"ceil({value})"
        return f"if(isnan({value}), null, {least})"
    value = (
        f"({sign}cast({name} as decimal({digits},{scale}))"
        f" * cast({10**read.scale} as decimal({read.scale + 1},0)))"
    )
    least = f"floor({value}) + 1" if read.beyond else f"ceil({value})"
    return f"cast(greatest(least({least}, {MOST}BD), -{MOST}BD) as bigint)"


def _cast(text: str, kind: DataType, wanted: str) -> str:
    """SQL: a value cast to a type; unchanged if it has that type, so that equal texts match."""
    same = text.isidentifier() and type_text(kind) == wanted
    return text if same else f"cast({text} as {wanted})"


@dataclass(frozen=True)
class Unit:
    """The partial of one row: SQL over the rows' columns, and the type that partials have."""

    text: str
    kind: str


def row_partials(rows: Prepared, fields: Fields, kept: Sequence[Field]) -> dict[str, Unit]:
    """The partial of one row for each field that is kept, by the field's name."""
    values = {name: value for value, name in fields.values.items()}
    values = {n: value if value.isidentifier() else f"({value})" for n, value in values.items()}
    lifts = [(field.name, field.monoid.lift(values[field.value])) for field in kept]
    kinds = types_of(group_rows(rows.df, [], lifts), kept) if kept else {}
    own = types_in(rows.df)
    partials = {}
    for field in kept:
        text, kind = field.monoid.unit(values[field.value]), kinds[field.name]
        same = "<" in kind or (text in own and own[text] == kind)
        partials[field.name] = Unit(text if same else f"cast({text} as {kind})", kind)
    return partials


def bound_fields(closing: str) -> list[Field]:
    """Fields that give the bounds of a frame; ``closing`` is the time of each row's next row."""
    return [
        Field("first_row", "t", Min(), FACTS),
        Field("last_row", "t", Max(), FACTS),
        Field("rows", "t", Count(), FACTS),
        Field("closing_row", closing, Max(), FACTS),
    ]


def restore_names(bound: FrameBound, payload: Sequence[str], numbered: DataFrame) -> DataFrame:
    """Give the columns of the DataFrame their own names back, and add ``frame_id``.

    In a stream the time has the watermark. A row waits for no more than the watermark, unless its
    frame may be left out for being too small.
    """
    columns = [*zip(payload, bound.df.columns, strict=True), ("frame", "frame_id")]
    if not bound.df.isStreaming:
        return project(numbered, columns)
    waits = 0 if bound.scheme.drops_small_frames else 1
    return numbered.select(
        *(
            time_column(bound, numbered, text, name, late=bound.lags[waits])
            if name == bound.time
            else expr_as(numbered, text, name)
            for text, name in columns
        )
    )
