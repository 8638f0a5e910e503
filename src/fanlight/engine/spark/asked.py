"""The aggregates that ``agg`` was given: fanlight's own, expressions, and Spark's Columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import ARGUMENTS, Call
from fanlight.engine.algebra.arithmetic import Arithmetic
from fanlight.engine.algebra.expression import Expression, SqlExpression, combine_calls
from fanlight.engine.spark import translation
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.binding.source import are_same, bind_calls, condition
from fanlight.engine.spark.sql import is_same_name, is_taken
from fanlight.engine.spec.errors import refuse, show


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
        if is_taken(bound.df, label, labels[:place]):
            raise refuse(
                f"the output name {label!r}",
                "is asked for twice",
                rename(*own_name) if own_name else f"name one of them: .alias({label + '_2'!r})",
            )


def _read_call(bound: Bound, given: Any, name: str = "") -> Call | Expression | SqlExpression:
    """An aggregate of fanlight, or one of Spark's that means the same as one."""
    own: Call | Expression | SqlExpression | None
    ours = isinstance(given, (Call, Expression, SqlExpression))
    own = given if ours else translation.read_aggregate(bound.df, given)
    if own is not None:
        return own.of_events if bound.divides else own
    why, write = translation.advise_aggregate(given)
    if isinstance(given, (list, tuple)) and given:
        write = f"agg(*{given!r})" if all(isinstance(one, Arithmetic) for one in given) else write
    what = f"is a {type(given).__name__}, not an aggregate of fanlight{why and f', as {why}'}"
    raise refuse(
        f"agg({name and f'{name}='}{show(given)})",
        what if write else f"{what}, nor one that is known to mean the same",
        "write explain(verbose=True)"
        if given is True
        else f"write {write or 'one of fanlight.agg, such as agg.max(…)'} after 'from fanlight "
        "import agg'",
    )


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
    label = expression.write(
        [call.label_of(names) for call, (names, _) in zip(calls, bindings, strict=True)]
    )
    taken = [
        condition(df, one) if any(are_same(one, test) for test in tests) else one[0]
        for one in columns
    ]
    return replace(combine_calls(expression, taken, letters), usual=label)
