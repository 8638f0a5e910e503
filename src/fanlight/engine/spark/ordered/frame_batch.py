"""Frames over a batch: the rows of a key in order, cut by kernels in one pass.

Partials that are numbers are combined in the same pass, and only frames leave Python. Other
aggregates are computed by Spark over rows that have the number of their frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql.types import BooleanType, DataType, LongType

from fanlight.engine.operators.frames.batches import FrameBatches
from fanlight.engine.operators.frames.query import FrameQuery
from fanlight.engine.spark.binding.frames import FrameBound
from fanlight.engine.spark.fields import Field, Fields
from fanlight.engine.spark.lift import lift_rows
from fanlight.engine.spark.lives import divide_into_lives
from fanlight.engine.spark.ordered.arrow_pass import Passing
from fanlight.engine.spark.ordered.frame_rows import (
    EVERY_ROW,
    Prepared,
    Unit,
    bound_fields,
    prepare_rows,
    restore_names,
    row_partials,
)
from fanlight.engine.spark.relation import Relation

NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")


def frames(bound: FrameBound, fields: Fields, *, every: int | None = None) -> DataFrame:
    """Frames: keys, ``frame``, ``start``, ``ending``, ``rows``, ``closed``, partials.

    With ``every``, parts of frames that end at its multiples, each with what its frame has so far.
    """
    kept = [field for field in fields.all if field.monoid != EVERY_ROW]
    rows = prepare_rows(bound, fields)
    in_python = bound.scheme.is_unnumbered or every is not None
    if in_python or _can_combine(kept):
        partials = row_partials(rows, fields, kept)
        if in_python or _are_numbers(partials):
            fields.check_comparable()
            counts = [f"rows as {f.name}" for f in fields.all if f.monoid == EVERY_ROW]
            return _cut_frames(bound, rows, kept, partials, counts, every)
    # The frames of a life are numbered from 0, so Spark has to tell lives apart.
    divided = divide_into_lives(bound)
    rows = rows if divided is bound else prepare_rows(divided, fields)
    return _group_in_spark(divided, fields, rows)


def in_one_pass(bound: FrameBound, fields: Fields) -> bool:
    """Whether partials are combined in the pass that cuts the frames."""
    kept = [field for field in fields.all if field.monoid != EVERY_ROW]
    if bound.scheme.is_unnumbered or not _can_combine(kept):
        return bound.scheme.is_unnumbered
    return _are_numbers(row_partials(prepare_rows(bound, fields), fields, kept))


def _can_combine(fields: Sequence[Field]) -> bool:
    """Whether kernels can combine these fields, provided that their partials are numbers."""
    return all(field.monoid.combining for field in fields)


def _are_numbers(partials: Mapping[str, Unit]) -> bool:
    """Whether all partials are numbers, the only ones that kernels combine."""
    return all(unit.kind in NUMBERS for unit in partials.values())


def _cut_frames(
    bound: FrameBound,
    rows: Prepared,
    fields: Sequence[Field],
    units: Mapping[str, Unit],
    more: Sequence[str],
    every: int | None,
) -> DataFrame:
    """Frames with partials combined in the pass that cuts them, by kernels if they are numbers.

    ``more`` are further columns, as SQL over those of frames.
    """
    # Inputs and partials that are the same value are sent to Python once.
    columns = dict(zip(rows.inputs, rows.input_names, strict=True))
    for field in fields:
        columns.setdefault(units[field.name].text, field.name)
    named = [f"{text} as {name}" for text, name in columns.items()]
    passing = _pass_over(bound, rows, [*bound.keys, "t", *named])
    partials = tuple(field.name for field in fields)
    sources = tuple(columns[units[name].text] for name in partials)
    query = FrameQuery(
        bound.scheme, passing.schema, tuple(bound.keys), (),
        tuple(columns[text] for text in rows.inputs), partials,
        tuple(field.monoid for field in fields), sources=sources, forget_after=bound.forget_after,
        every=every,
    )  # fmt: skip
    kinds = passing.types
    out: list[tuple[str, DataType]] = [(key, kinds[key]) for key in bound.keys]
    out += [(name, LongType()) for name in ("frame", "start", "ending", "rows")]
    out += [("closed", BooleanType())]
    out += [(name, kinds[source]) for name, source in zip(partials, sources, strict=True)]
    return passing.run(FrameBatches(query), out, more)


def rows(bound: FrameBound) -> DataFrame:
    """The rows unchanged, with the number of their frame."""
    fields = Fields()
    payload = fields.add_columns(bound.df)
    rows = prepare_rows(bound, fields)
    passing = _pass_over(bound, rows, [*bound.keys, "t", *payload, *rows.named_inputs])
    query = FrameQuery(
        bound.scheme, passing.schema, tuple(bound.keys), (), rows.input_names,
        payload=payload, numbered=True, forget_after=bound.forget_after,
    )  # fmt: skip
    out = [*((name, passing.types[name]) for name in payload), ("frame", LongType())]
    return restore_names(bound, payload, passing.run(FrameBatches(query), out))


def _group_in_spark(bound: FrameBound, fields: Fields, rows: Prepared) -> DataFrame:
    """Frames with partials of any type: Spark groups rows by the number of their frame."""
    payload = (*bound.keys, "t", *bound.tie_keys, *fields.arguments.values())
    passing = _pass_over(bound, rows, [*payload, *rows.named_inputs])
    query = FrameQuery(
        bound.scheme, passing.schema, tuple(bound.keys), (), rows.input_names,
        payload=payload, numbered=True, closings=True,
    )  # fmt: skip
    out = [(name, passing.types[name]) for name in payload]
    out += [("frame", LongType()), ("ending", LongType())]
    numbered = passing.run(FrameBatches(query), out)
    # A row that only marks where a frame is closed has neither time nor values.
    values = [f"if(t is null, null, {text}) as {name}" for text, name in fields.values.items()]
    by_frame = numbered.selectExpr(*bound.keys, "frame", *values, "t", "ending")
    rows_of = Relation.of_rows(by_frame, bound.keys, ["frame"])
    frames = lift_rows(rows_of, ["frame"], [*fields.all, *bound_fields("ending")]).df
    names = fields.names
    return frames.selectExpr(
        *bound.keys, "frame", "first_row as start",
        "coalesce(closing_row, last_row + 1L) as ending", "rows",
        "closing_row is not null as closed", *names,
    )  # fmt: skip


def _pass_over(bound: FrameBound, rows: Prepared, texts: Sequence[str]) -> Passing:
    """Prepare the pass: rows sorted by time, ties by all other columns; Python groups by key."""
    return Passing(rows.df, bound.keys, ["t", *rows.order], list(dict.fromkeys(texts)))
