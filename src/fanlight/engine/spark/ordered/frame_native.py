"""Threshold, boundary and state frames, and sessions, of a batch in Spark SQL alone.

Whether a row goes on with the frame before it follows from the rows alone. So a running count of
the rows that begin a frame numbers the frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame

from fanlight.engine.algebra.monoids import Count
from fanlight.engine.algebra.sql_text import double_literal
from fanlight.engine.plan.frames import InputColumn, Scheme
from fanlight.engine.spark.binding.frames import FrameBound
from fanlight.engine.spark.fields import Field, Fields
from fanlight.engine.spark.lift import lift_rows
from fanlight.engine.spark.lives import divide_into_lives
from fanlight.engine.spark.ordered.frames import (
    FACTS,
    Prepared,
    bound_fields,
    prepare_rows,
    restore_names,
)
from fanlight.engine.spark.result import Relation
from fanlight.engine.spark.sql import over_clause

FOLLOWED = Field(
    "followed", "following", Count(), FACTS
)  # counts the rows with another row after them


def frames(bound: FrameBound, fields: Fields) -> DataFrame:
    """Frames: keys, ``frame``, ``start``, ``ending``, ``rows``, ``closed``, partials."""
    bound = divide_into_lives(bound)
    keys, scheme = bound.keys, bound.scheme
    numbered = _find_runs(bound, _prepare(bound, fields))
    ending, closed = "if(followed = rows, closing_row, last_row + 1L)", "followed = rows"
    if scheme.timing:
        ending, closed = "closing_row", "true"
    else:
        numbered = numbered.filter("cell is not null")
    values = fields.lifting
    inside = numbered.selectExpr(*keys, "number - 1L as frame", *values, "t", "following")
    kept = [*fields.all, *bound_fields("following"), FOLLOWED]
    framed = lift_rows(Relation.of_rows(inside, keys, ["frame"]), ["frame"], kept).df
    names = fields.names
    framed = framed.selectExpr(
        *keys, "frame", "first_row as start", f"{ending} as ending", "rows",
        f"{closed} as closed", *names,
    )  # fmt: skip
    return drop_small_frames(bound, framed, names)


def drop_small_frames(bound: FrameBound, framed: DataFrame, names: Sequence[str]) -> DataFrame:
    """Frames without those that are too small, numbered anew; ``names`` are their partials."""
    keys, scheme = bound.keys, bound.scheme
    if not scheme.drops_small_frames:
        return framed
    framed = framed.filter(_is_large_enough(scheme, "rows", "ending - start"))
    again = f"count(1) {over_clause(keys, 'frame', 'rows unbounded preceding')} - 1L as frame"
    return framed.selectExpr(*keys, again, "start", "ending", "rows", "closed", *names)


def rows(bound: FrameBound) -> DataFrame:
    """The rows unchanged, with the number of their frame."""
    fields = Fields()
    payload = fields.add_columns(bound.df)
    divided = divide_into_lives(bound)
    numbered = _number_rows(divided, _prepare(divided, fields))
    return restore_names(bound, payload, numbered.selectExpr(*payload, "frame"))


def _prepare(bound: FrameBound, fields: Fields) -> Prepared:
    """See :func:`prepare_rows`; a null that is carried is the last value before it.

    What orders rows stays as it was.
    """
    rows = prepare_rows(bound, fields)
    if not rows.carried:
        return rows
    order = tuple(f"o{name}" if name in rows.carried else name for name in rows.order)
    before = over_clause(bound.keys, ", ".join(["t", *rows.order]), "rows unbounded preceding")
    texts = [
        f"last_value({name}) ignore nulls {before} as {name}" if name in rows.carried else name
        for name in rows.df.columns
    ]
    asides = [f"{name} as o{name}" for name in rows.carried if name in rows.order]
    return replace(rows, df=rows.df.selectExpr(*texts, *asides), order=order)


def _find_runs(bound: FrameBound, rows: Prepared) -> DataFrame:
    """Add to each row its ``cell``, the ``number`` of its run in one cell, and ``following``.

    That is the time of the following row or, if time closes frames, until when the row keeps its
    frame open. A run whose ``cell`` is null is not a frame.
    """
    keys, scheme = bound.keys, bound.scheme
    order = ", ".join(["t", *rows.order])
    in_order = over_clause(keys, order)
    if scheme.timing:
        until = bound.open_until
        before = over_clause(keys, order, "rows between unbounded preceding and 1 preceding")
        begins = f"coalesce(t > max({until}) {before}, true) as begins"
        df = rows.df.selectExpr("*", "1 as cell", f"{until} as following", begins)
    else:
        up_to_here = over_clause(keys, order, "rows unbounded preceding")
        df = rows.df.selectExpr("*", f"{cell_sql(scheme, rows.inputs, up_to_here)} as cell")
        begins = f"cell is not null and not (cell <=> lag(cell) {in_order})"
        df = df.selectExpr("*", f"{begins} as begins", f"lead(t) {in_order} as following")
    running = over_clause(keys, order, "rows unbounded preceding")
    return df.selectExpr("*", f"count_if(begins) {running} as number")


def _is_large_enough(scheme: Scheme, rows: str, length: str) -> str:
    """SQL: whether a frame has the least rows and duration that are asked for."""
    return f"{rows} >= {scheme.min_rows} and {length} >= {scheme.min_duration}L"


def _number_rows(bound: FrameBound, rows: Prepared) -> DataFrame:
    """Add to each row the number ``frame`` of its frame, null if it is in none."""
    keys, scheme = bound.keys, bound.scheme
    order = ", ".join(["t", *rows.order])
    df = _find_runs(bound, rows)
    if not scheme.drops_small_frames:
        return df.selectExpr("*", "if(cell is not null, number - 1L, null) as frame")
    whole = f"over (partition by {', '.join([*keys, 'number', 'cell is null'])})"
    end = f"max(following) {whole}"
    if not scheme.timing:
        end = f"if(count(following) {whole} = count(1) {whole}, {end}, max(t) {whole} + 1L)"
    large = _is_large_enough(scheme, f"count(1) {whole}", f"{end} - min(t) {whole}")
    df = df.selectExpr("*", f"cell is not null and {large} as reported")
    # Among equal rows the one that begins the frame comes first, as in the kernels.
    running = over_clause(keys, f"{order}, number, not begins", "rows unbounded preceding")
    kept = f"count_if(begins and reported) {running}"
    return df.selectExpr("*", f"if(reported, {kept} - 1L, null) as frame")


def cell_sql(scheme: Scheme, inputs: tuple[str, ...], up_to_here: str) -> str:
    """SQL: a value that all rows of a frame share. Null for a row without a frame.

    ``up_to_here`` is a window of the rows of a key up to each.
    """
    if scheme.kind == "flags":
        return f"if({inputs[0]}, 1, null)"
    if scheme.kind == "states":
        state = f"struct({', '.join(inputs)})"
        if scheme.nulls == "state":
            return state
        known = " and ".join(f"{text} is not null" for text in inputs)
        state = f"if({known}, {state}, null)"
        return f"last_value({state}) ignore nulls {up_to_here}" if scheme.nulls == "skip" else state
    parts = zip(inputs, scheme.inputs, scheme.cells, scheme.widths, strict=True)
    texts = [_cell_number(text, read, given, width) for text, read, given, width in parts]
    if len(texts) == 1:
        return texts[0]
    there = " and ".join(f"{text} is not null" for text in texts)
    return f"if({there}, struct({', '.join(texts)}), null)"


MOST = 2**63 - 1  # cells beyond it, or below its negative, count as the last one within


def _cell_number(text: str, read: InputColumn, given: Any, width: tuple[int, int]) -> str:
    """SQL: the number of the cell ``(lo, hi]`` that holds a value, as in kernels; or null."""
    real = read.type == "real"
    if isinstance(given, tuple):
        edges = ", ".join(double_literal(edge) if real else f"{edge}L" for edge in given)
        known = f"{text} is not null" + (f" and not isnan({text})" if real else "")
        return f"if({known}, size(filter(array({edges}), edge -> edge < {text})), null)"
    if real:
        step, quotient = double_literal(given), f"ceil({text} / {double_literal(given)})"
        placed = (
            f"case when {text} <= ({quotient} - 1L) * {step} then {quotient} - 1L "
            f"when {text} > {quotient} * {step} then {quotient} + 1L else {quotient} end"
        )
        return f"if(abs({text}) < {double_literal(4.5e15 * given)}, {placed}, null)"
    numerator, denominator = width
    value, by = text, f"{numerator}L"
    if denominator > 1:  # the product may exceed 64 bits
        value = f"(cast({text} as decimal(19,0)) * cast({denominator} as decimal(7,0)))"
        by = f"cast({numerator} as decimal(19,0))"
    cell = f"({value} div {by} + if({value} % {by} > 0, 1, 0))"
    if denominator == 1:
        return f"if({cell} < -{MOST}L, -{MOST}L, {cell})" if numerator == 1 else cell
    last = f"cast({by} * {MOST}BD as decimal(38,0))"
    low, high = f"{value} <= -{last} then -{MOST}L", f"{value} > {last} then {MOST}L"
    return f"case when {high} when {low} else {cell} end"
