"""The aggregates that ``agg`` was given: fanlight's own, expressions, and Spark's Columns."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import ARGUMENTS, Call
from fanlight.engine.algebra.arithmetic import Arithmetic
from fanlight.engine.algebra.expression import (
    Expression,
    SqlExpression,
    Transformed,
    combine_calls,
    join_sql,
    write_number,
)
from fanlight.engine.kinds.kind import FINAL
from fanlight.engine.spark import translation
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.binding.frames import FrameBound
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.binding.source import are_same, bind_calls, condition
from fanlight.engine.spark.carried import settled_fields, walk_windows
from fanlight.engine.spark.fields import BEGINS, ENDS_AT, build_fields
from fanlight.engine.spark.lift import select_placeable
from fanlight.engine.spark.quiet import quietly
from fanlight.engine.spark.sql import (
    expr,
    expr_as,
    group_rows,
    is_same_name,
    is_taken,
    say_reason,
)
from fanlight.engine.spec.errors import describe_type, is_column, refuse, show

# Stands for an aggregate's result while a function of it is read; no text of the user's has it.
_RESULT = f"fanlight_{secrets.token_hex(8)}"


def collect_calls(
    bound: Bound,
    given: Sequence[Any],
    named: Mapping[str, Any],
    outputs: Sequence[str] = ("window",),
) -> list[Call]:
    """Check the aggregates of ``agg(*given, **named)``; return them with their output names.

    ``outputs`` are the output columns that describe a window, besides the keys.
    """
    asked = [_read_call(bound, call) for call in given]
    asked += [_read_call(bound, call, name).alias(name) for name, call in named.items()]
    calls = [call if isinstance(call, Call) else _as_call(bound.df, call) for call in asked]
    if not calls:
        raise refuse("agg()", "names no aggregate", "write an aggregate, for example agg.count()")
    bindings = bind_calls(bound.df, calls)
    labels = [call.label_of(names) for call, (names, _) in zip(calls, bindings, strict=True)]
    check_labels(bound, labels, outputs, named)
    return [call.alias(label) for call, label in zip(calls, labels, strict=True)]


def rename(*named: str) -> str:
    """The advice to give an aggregate another name, which it may have by ``name=…``."""
    return f"write another name: {named[0]}_2=…" if named else "rename it with .alias(…)"


def check_labels(
    bound: Bound, labels: Sequence[str], outputs: Sequence[str], named: Collection[str]
) -> None:
    """Refuse an output name that is taken, by one of ``outputs``, by a key or by another."""
    for place, label in enumerate(labels):
        own_name = [label] if label in named else []
        own = next((name for name in outputs if is_same_name(bound.df, label, name)), "")
        if own or is_taken(bound.df, label, bound.names):
            what = f"the output column {own!r}" if own else "a key of the same name"
            raise refuse(
                f"the output name {label!r}",
                f"clashes with {what}",
                rename(*own_name),
            )
        other = next((one for one in labels[:place] if is_same_name(bound.df, label, one)), None)
        if other is not None:
            raise refuse(
                f"the output name {label!r}",
                "is asked for twice" if other == label else f"is to Spark the same as {other!r}",
                rename(*own_name) if own_name else f"name one of them: .alias({label + '_2'!r})",
            )


def _read_call(bound: Bound, given: Any, name: str = "") -> Call | Expression | SqlExpression:
    """An aggregate of fanlight, or an aggregate of Spark's that fanlight has, too."""
    own: Call | Expression | SqlExpression | None
    if isinstance(given, (Transformed, Expression)):
        asked = given.of_events if bound.divides else given
        if isinstance(asked, Expression) and _is_plain(asked):
            return asked
        return _write_functions(bound, asked)
    ours = isinstance(given, (Call, SqlExpression))
    own = given if ours else translation.read_aggregate(bound.df, given)
    if own is not None:
        return own.of_events if bound.divides else own
    why, write = translation.advise_aggregate(given, bound.df.columns)
    if isinstance(given, (list, tuple)) and given:
        write = f"agg(*{given!r})" if all(isinstance(one, Arithmetic) for one in given) else write
    what = f"is {describe_type(given)}, not an aggregate of fanlight{why and f', as {why}'}"
    raise refuse(
        f"agg({name and f'{name}='}{show(given)})",
        what if write else f"{what}, nor one that is known to mean the same",
        "write explain(verbose=True)"
        if given is True
        else f"write {write or 'one of fanlight.agg, such as agg.max(…)'} after 'from fanlight "
        "import agg'",
    )


def _is_plain(given: Any) -> bool:
    """Whether no function is in an aggregate or an expression."""
    if isinstance(given, Transformed):
        return False
    return not isinstance(given, Expression) or all(map(_is_plain, given.calls))


def _write_functions(bound: Bound, given: Any) -> SqlExpression:
    """An aggregate, with the functions of results that are in it, as SQL."""
    if isinstance(given, Call):
        return SqlExpression(("", ""), (replace(given, output=None),))
    if isinstance(given, Expression):
        inner = [_write_functions(bound, one) for one in given.calls]
        places = [_RESULT] * len(inner)
        written, shown, kind = given.write(places, write_number), given.write(places), ""
    else:
        part = _write_functions(bound, given.part)
        written, shown, kind = _read_function(bound, given, part)
        written = re.sub(rf"{_RESULT}(?=[.\[])", f"({_RESULT})", written)
        inner = [part] * written.count(_RESULT)
    first, *rest = zip(written.split(_RESULT), shown.split(_RESULT), strict=True)
    pieces = [first, *(one for pair in zip(inner, rest, strict=True) for one in pair)]
    cast = [("cast(", ""), *pieces, (f" as {kind})", "")] if kind else pieces
    return replace(join_sql(cast), output=given.output)


def _read_function(bound: Bound, given: Transformed, part: SqlExpression) -> tuple[str, str, str]:
    """What a function makes of the result of a part, as :func:`translation.read_function` does."""
    instead = "compute it from the result, as in windows.agg(x=…).withColumn('x', …)"
    result = _result_of(bound, part)
    column = given.function(expr(result, _RESULT))
    if not is_column(column):
        raise refuse(
            repr(given), f"gives a {type(column).__name__}, not a Column",
            "write for example transform(lambda average: F.round(average, 2))",
        )  # fmt: skip
    about = "result".join(f"{given!r}, which gives {column}".split(_RESULT))
    try:
        with quietly():
            result.where(column.isNull()).schema  # noqa: B018 - where no aggregate may be
    except PySparkException as error:
        why = "result".join(f"cannot be computed of one result: {say_reason(error)}".split(_RESULT))
        raise refuse(about, why, instead) from error
    found = translation.read_function(result, column)
    if (
        found is None
        or _RESULT not in found[0]
        or found[0].count(_RESULT) != found[1].count(_RESULT)
    ):
        raise refuse(
            about,
            "cannot be read as SQL of the result, as functions in Python cannot, nor an alias, "
            "dates and times of Python, nor texts before Spark 4",
            "name it after the function, transform(…).alias('y'); write a date as SQL, "
            f"F.expr(\"date'2025-03-01'\"); or {instead}",
        )
    return found


def _result_of(bound: Bound, part: SqlExpression) -> DataFrame:
    """A DataFrame of one column, of the type that the result of a part has."""
    fields = build_fields(bound, [_as_call(bound.df, part)])
    rows = select_placeable(bound, fields)
    if fields.divided:
        rows = rows.selectExpr("*", f"0L as {BEGINS}", f"0L as {ENDS_AT}")
    rows = rows.selectExpr("*", *fields.lifting)
    lifts = [(field.name, field.monoid.lift(field.value)) for field in fields.all]
    grouped = group_rows(rows, [], lifts)
    if fields.carries and isinstance(bound, Placed):
        grouped = walk_windows(bound, fields, grouped.selectExpr("*", "0L as start", "0 as query"))
        fields = settled_fields(fields)
    if isinstance(bound, FrameBound):
        known = ("ending", "0L"), ("rows", "0L"), ("closed", "true"), (FINAL, "true")
        grouped = grouped.selectExpr("*", *(f"{text} as {name}" for name, text in known))
    kind = grouped.select(expr_as(grouped, fields.outputs[0].sql("0L"), _RESULT)).schema
    return bound.df.sparkSession.createDataFrame([], kind)


def _as_call(df: DataFrame, expression: Expression | SqlExpression) -> Call:
    """An expression of aggregates as one aggregate of all their columns, then their conditions."""
    calls = expression.calls
    bindings = bind_calls(df, calls)
    columns: list[tuple[Any, ...]] = []
    for given in (
        *([one] for call in calls for one in call.columns),
        *(c.conditions for c in calls),
    ):
        if given and not any(are_same(given, other) for other in columns):
            columns.append(tuple(given))
    if len(columns) > len(ARGUMENTS):
        raise refuse(
            expression.label,
            f"is computed of {len(columns)} columns and conditions, of at most {len(ARGUMENTS)}",
            "ask for some of its aggregates, and compute the rest from their columns",
        )

    def letter_of(given: Sequence[Any]) -> str:
        found = (
            letter for letter, one in zip(ARGUMENTS, columns, strict=False) if are_same(one, given)
        )
        return next(found)

    letters = [
        (tuple(letter_of([one]) for one in call.columns),
         letter_of(call.conditions) if call.conditions else "")
        for call in calls
    ]  # fmt: skip
    tests = [call.conditions for call in calls]
    label = expression.show(
        [call.label_of(names) for call, (names, _) in zip(calls, bindings, strict=True)]
    )
    taken = [
        condition(df, one) if any(are_same(one, test) for test in tests) else one[0]
        for one in columns
    ]
    return replace(combine_calls(expression, taken, letters), usual=label)
