"""Levels against the next coarser one: windows that end at one instant, compared."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from typing import Any

from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.facts import adds_up
from fanlight.engine.algebra.sql_text import double_literal
from fanlight.engine.spark.asked import check_labels
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.binding.source import bind_calls
from fanlight.engine.spark.coordinates import exact
from fanlight.engine.spark.placed.wide import check_at_instants, group_by_end
from fanlight.engine.spark.placed.window_sets import is_number
from fanlight.engine.spark.sql import expr, expr_as, is_taken, type_text
from fanlight.engine.spec.errors import refuse

_INSTEAD = "give a count or a sum, for example agg.count()"


def read_thresholds(given: Any, levels: int) -> list[float]:
    """How many times the coarser level's rate a burst has, for each level but the coarsest."""
    fine = levels - 1
    several = isinstance(given, (list, tuple))
    if several and len(given) != fine:
        raise refuse(
            f"threshold={given!r}",
            f"has {len(given)} numbers for {fine} of {levels} levels: the coarsest has none",
            f"write for example bursts({[2.0] * fine}, …), or one number for all levels",
        )
    for one in given if several else [given]:
        number = isinstance(one, (int, float)) and not isinstance(one, bool)
        if not number or not 1 < one <= sys.float_info.max:
            raise refuse(
                f"threshold={given!r}",
                "is not a number above 1: how many times the rate of the next coarser level",
                "write for example bursts(2, …), or a list with a number for each level but the "
                "coarsest",
            )
    return [float(one) for one in (given if several else [given] * fine)]


def check_compared(bound: Placed, method: str) -> None:
    """Refuse levels that cannot be compared at an instant."""
    check_at_instants(bound, method)
    if bound.changes_only:
        raise refuse(
            f"{method} with changes_only=True",
            "would miss windows whose coarser level is not reported, as it did not change",
            "leave changes_only out",
        )
    if bound.weights is not None:
        raise refuse(
            f"{method} with weights",
            "would compare levels whose rows count differently",
            "leave weights out",
        )


def check_single(aggregates: int) -> None:
    """Refuse any other number of aggregates than one."""
    if aggregates != 1:
        raise refuse(
            f"bursts of {aggregates} aggregates",
            "compares the rate of one",
            "write for example bursts(2, agg.count())",
        )


def find_bursts(
    bound: Placed,
    results: DataFrame,
    calls: Sequence[Call],
    named: Collection[str],
    thresholds: list[float],
) -> DataFrame:
    """The windows of one aggregate's results that are bursts; see ``LevelWindows.bursts``.

    ``named`` is the name that it was given as, if it was.
    """
    check_single(len(results.columns) - len(bound.names) - 2)  # one may be named complete
    field = results.schema[-1]
    label, kind = field.name, type_text(field.dataType)
    check_labels(bound, [label], ("expected", "ratio"), named)
    if not is_number(kind):
        raise refuse(
            f"bursts of {label!r}",
            f"is of type {kind}, which has no rate",
            _INSTEAD,
        )
    for call, (_, kinds) in zip(calls, bind_calls(bound.df, calls), strict=True):
        if not adds_up(call.aggregate.partials(tuple(kinds))):
            raise refuse(
                f"bursts of {label!r}",
                "is not known to add up over the parts of a window, so a longer window says "
                "nothing of how much to expect in a shorter one",
                _INSTEAD,
            )
    length = f"({exact(bound.coordinate, 'w.end')} - {exact(bound.coordinate, 'w.start')})"
    value, size = "cast(r as double)", f"cast({length} as double)"
    inner = results.toDF(*bound.keys, "window", "level", "r")
    # Multiplied first: products of whole numbers are exact, so a ratio is not rounded past a
    # threshold that it meets.
    fine, coarse = (f"{one}.value" for one in ("fine", "coarse"))
    expected = f"{coarse} * fine.size / coarse.size"
    ratio = f"{fine} * coarse.size / nullif({coarse} * fine.size, 0D)"
    limits = ", ".join(map(double_literal, thresholds))
    wanted = f"{coarse} > 0D and o2 >= array({limits})[level] and not isnan(o2)"
    return _compare(
        bound,
        inner,
        {"r": "r", "value": value, "size": size},
        [("fine.r", label), (expected, "expected"), (ratio, "ratio")],
        wanted,
    )


def find_reversals(bound: Placed, lines: DataFrame) -> DataFrame:
    """The windows whose line goes the other way; see ``LevelWindows.reversals``."""
    inner = lines.toDF(*bound.keys, "window", "level", *lines.columns[len(bound.keys) + 2 :])
    outputs = [("fine.slope", "slope"), ("coarse.slope", "coarser_slope")]
    wanted = "signum(fine.slope) * signum(coarse.slope) < 0D"
    return _compare(bound, inner, {"slope": "slope"}, outputs, wanted)


def _compare(
    bound: Placed,
    inner: DataFrame,
    parts: dict[str, str],
    outputs: list[tuple[str, str]],
    wanted: str,
) -> DataFrame:
    """Pairs of a level's window and the next coarser one's that ends then, where ``wanted``.

    ``inner`` has the keys, ``window``, ``level`` and what ``parts`` (name, SQL over it and the
    window ``w``) are made of; ``outputs`` and ``wanted`` are SQL over ``fine``, ``coarse``,
    ``level`` and, as ``o0``, ``o1``, …, the outputs.
    """
    _check_names(bound, [name for _, name in outputs])
    # A struct made anew, since an instant and a window may not both carry the watermark.
    told = inner.withColumn("w", expr(inner, "struct(window.start, window.end)"))
    made = ", ".join(["w", *(f"{text} as {name}" for name, text in parts.items())])
    told = told.withColumn("told", expr(told, f"struct({made})"))
    count = len(bound.levels.ranges)
    ended = group_by_end(bound, told, [("told", k, f"l{k}") for k in range(count)])
    pairs = ", ".join(
        f"struct({k} as level, l{k} as fine, l{k + 1} as coarse)" for k in range(count - 1)
    )
    both = "fine is not null and coarse is not null"
    found = ended.selectExpr(*bound.keys, f"inline(array({pairs}))").filter(both)
    names = [f"o{n}" for n, _ in enumerate(outputs)]
    computed = [f"{text} as {name}" for name, (text, _) in zip(names, outputs, strict=True)]
    found = found.selectExpr(*bound.keys, "level", "fine", "coarse", *computed)
    found = found.filter(wanted)
    metadata = inner.schema["window"].metadata
    keys = zip(bound.keys, bound.names, strict=True)
    return found.select(
        *(expr_as(found, own, name) for own, name in keys),
        expr(found, "fine.w").alias("window", metadata=metadata),
        expr(found, "level"),
        *(expr_as(found, name, label) for name, (_, label) in zip(names, outputs, strict=True)),
    )


def _check_names(bound: Placed, outputs: list[str]) -> None:
    """Refuse a key that has the name of an output."""
    for key in bound.names:
        if is_taken(bound.df, key, outputs):
            raise refuse(
                f"levels compared by {key!r}",
                "clashes with an output column of the same name",
                f"rename it first: df.withColumnRenamed({key!r}, …)",
            )
