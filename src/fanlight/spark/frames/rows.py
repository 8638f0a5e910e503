"""Rows on their way into the frame operators: keys, time, order, framed lanes."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType

from fanlight.plan.frames import Lane
from fanlight.spark.codec import encoded
from fanlight.spark.fields import Fields, selected, types_of
from fanlight.spark.frames.binding import FrameBound
from fanlight.spark.sql import grouped

UNORDERED = ("map<", "variant", "interval")


@dataclass(frozen=True)
class Prepared:
    """Rows with the columns of keys, ``t``, tiebreaks and arguments (``x0``, …).

    ``lanes`` are SQL texts over these, so that no value is shuffled twice.
    """

    df: DataFrame
    order: tuple[str, ...]  # what orders rows of one time
    lanes: tuple[str, ...]

    @property
    def lane_names(self) -> tuple[str, ...]:
        """What lanes are called: an argument that is one as it stands keeps its name."""
        pairs = enumerate(self.lanes)
        return tuple(text if text.isidentifier() else f"a{at}" for at, text in pairs)

    @property
    def named_lanes(self) -> list[str]:
        """The lanes' texts under their names."""
        pairs = zip(self.lanes, self.lane_names, strict=True)
        return [text if text == name else f"{text} as {name}" for text, name in pairs]


def prepared(bound: FrameBound, fields: Fields) -> Prepared:
    """The rows that can be placed.

    Rows of one time are ordered by the tiebreaks, the framed columns and the other arguments: rows
    that are equal in all of these are alike, so their order cannot show.
    """
    asked = [None if column is None else fields.ask(column) for column in bound.framed]
    arguments = list(fields.arguments.values())
    rows = selected(bound, fields, arguments)
    types = {field.name: field.dataType for field in rows.schema.fields}
    lanes = tuple(
        _lane(lane, name, types[name] if name else None)
        for lane, name in zip(bound.scheme.lanes, asked, strict=True)
    )
    framed = [name for name in asked if name is not None]
    order = dict.fromkeys([*bound.breaks, *framed, *arguments])
    ordered = [n for n in order if not any(w in types[n].simpleString() for w in UNORDERED)]
    keys = [f"{_key(key, types[key])} as {key}" for key in bound.keys]
    df = rows.selectExpr(*keys, "t", *bound.breaks, *arguments)
    return Prepared(df, tuple(ordered), lanes)


def _key(name: str, kind: DataType) -> str:
    """-0.0 and 0.0 are one key."""
    if kind.simpleString() in ("float", "double"):
        return f"if({name} = 0, cast(0 as {kind.simpleString()}), {name})"
    return name


def _lane(lane: Lane, name: str | None, kind: DataType | None) -> str:
    if name is None or kind is None:
        return "(true)"
    if lane.type == "flag":
        return f"coalesce({name}, false)"
    if lane.type == "there":
        return f"{name} is not null"
    if lane.type == "real":
        return _cast(name, kind, "double")
    if lane.type == "whole":
        return _cast(f"{name} * {10**lane.scale}" if lane.scale else name, kind, "bigint")
    return encoded(name, kind)


def _cast(text: str, kind: DataType, wanted: str) -> str:
    """A value as another type, or as it stands: so that what is the same is seen to be."""
    same = text.isidentifier() and kind.simpleString() == wanted
    return text if same else f"cast({text} as {wanted})"


def units(bound: FrameBound, fields: Fields) -> list[str]:
    """SQL over the arguments: each field's partial of one row, in the type that partials have."""
    for column in bound.framed:  # they are arguments, too, and all are asked for at once
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
