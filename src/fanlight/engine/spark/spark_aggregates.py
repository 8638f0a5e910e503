"""Aggregates that only Spark has: handed to Spark as they are, with the rows of each window.

Nothing is known of such an aggregate that would let it be made of parts, so a row is copied into
each of its windows, as Spark's own windows do it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.plan.explain import About, Explained
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.binding.frames import FrameBound
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.binding.source import bind_calls, column_of
from fanlight.engine.spark.cuts import starts_of_row
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.lift import drop_rejected
from fanlight.engine.spark.placed.spark_windows import group_in_windows, has_spark_windows
from fanlight.engine.spark.quiet import quietly
from fanlight.engine.spark.requested_aggregates import check_labels
from fanlight.engine.spark.result import finish_windows, name_by_number
from fanlight.engine.spark.sql import expr_as, free_name, group_rows, name_columns, project
from fanlight.engine.spark.translation import read_aggregate
from fanlight.engine.spec.errors import FanlightError, is_column, refuse

if TYPE_CHECKING:
    from pyspark.sql import Column

    from fanlight.engine.spark.translation import Computed

WHY = "fanlight has no such aggregate of these types, and knows no parts that it could be made of"
Handed = Mapping[str, "Column"]  # aggregates by their output names


def find_handed(
    bound: Bound, given: Sequence[Any], named: Mapping[str, Any], outputs: Sequence[str]
) -> tuple[Handed | None, Sequence[Any], Mapping[str, Any]]:
    """All aggregates, for Spark to compute, if some are Spark's and fanlight has none for them.

    And the same aggregates, those of Spark's read, as to read one takes Spark a few plans.
    ``outputs`` are the output columns that describe a window, besides the keys.
    """
    asked = [*((None, one) for one in given), *named.items()]
    read = [read_aggregate(bound.df, one) if is_column(one) else one for _, one in asked]
    foreign = [
        one
        for (_, one), own in zip(asked, read, strict=True)
        if is_column(one) and not _is_ours(bound.df, own) and _label_of(bound.df, one) is not None
    ]
    if not foreign:
        # One that is none stays as it is, to be refused.
        kept = [one if own is None else own for (_, one), own in zip(asked, read, strict=True)]
        return None, kept[: len(given)], dict(zip(named, kept[len(given) :], strict=True))
    own = next((one for _, one in asked if not is_column(one)), None)
    if own is not None:
        raise refuse(
            f"agg({getattr(own, 'label', own)}, {_label_of(bound.df, foreign[0])})",
            "is of fanlight and of Spark alone, which computes all of its aggregates in one query",
            "ask for each in a query of its own",
        )
    labels = [name or _label_of(bound.df, one) or "" for name, one in asked]
    check_labels(bound, labels, outputs, named)
    return dict(zip(labels, (one for _, one in asked), strict=True)), given, named


def aggregate_placed(bound: Placed, asked: Handed) -> DataFrame:
    """Windows that time places: Spark's own, or rows that are copied to theirs."""
    if has_spark_windows(bound):
        return group_in_windows(bound, [one.alias(name) for name, one in asked.items()])
    rows = drop_rejected(bound)
    own = (*bound.keys, *bound.query_columns, "start")
    free = {name: free_name(name, rows.columns) for name in own}
    columns = [*Fields().columns(bound, rows), ("struct(*)", "row")]
    starts = (
        f"transform({starts_of_row(bound.grids, n, lasting=bound.lasting)}, "
        f"w -> named_struct('query', {n}, 'start', w))"
        for n in range(len(bound.grids))
    )
    placed = project(rows, columns).selectExpr("*", *bound.instants)
    placed = placed.selectExpr(*bound.keys, "row", f"inline(concat({', '.join(starts)}))")
    placed = placed.selectExpr(*(f"{name} as {other}" for name, other in free.items()), "row.*")
    found = placed.groupBy(*free.values()).agg(*_by_number(asked))
    found = found.selectExpr(
        *(f"{other} as {name}" for name, other in free.items()),
        *(f"r{n}" for n in range(len(asked))),
    )
    return finish_windows(bound, found, name_by_number([*asked]))


def aggregate_frames(
    bound: FrameBound, frames: DataFrame, rows: DataFrame, asked: Handed
) -> DataFrame:
    """Frames, with what Spark computes of their rows, which have the number of theirs."""
    names = [f"c{n}" for n in range(len(frames.columns))]
    place = [*names[: len(bound.by)], names[frames.columns.index("frame_id")]]
    taken = rows.filter("frame_id is not null")
    keys = [(column_of(taken, given), name) for given, name in zip(bound.by, place, strict=False)]
    by = name_columns(taken, [*keys, ("frame_id", place[-1])])
    theirs = taken.groupBy(*by).agg(*_by_number(asked))
    both = frames.toDF(*names).unionByName(theirs, allowMissingColumns=True)
    # Added up rather than joined, so keys that are null or NaN need no care.
    rest = [name for name in both.columns if name not in place]
    found = group_rows(both, place, [(name, f"first({name}, true)") for name in rest])
    labels = zip(rest[-len(asked) :], asked, strict=True)
    return found.select(
        *(expr_as(found, *one) for one in zip(names, frames.columns, strict=True)),
        *(expr_as(found, *one) for one in labels),
    )


def explain_handed(bound: Placed | FrameBound, asked: Handed) -> Explained:
    """The page of what Spark computes."""
    if not isinstance(bound, Placed):
        how = "rows get the number of their frame, and Spark groups them by it"
    elif has_spark_windows(bound):
        how = "by Spark, which has these windows: groupBy(window(…)).agg(…)"
    else:
        how = "rows are copied into each of their windows, and Spark groups the copies"
    facts = [("computes", ", ".join(asked)), ("how", how), ("why", WHY)]
    about = About(bound.spec, bound.times, bound.names, bound.df.isStreaming)
    return about.page(facts, rule="")


def _by_number(asked: Handed) -> list[Column]:
    return [one.alias(f"r{n}") for n, one in enumerate(asked.values())]


def _is_ours(df: DataFrame, own: Computed | None) -> bool:
    """Whether fanlight has an aggregate, and for the types of these columns."""
    if own is None:
        return False
    try:
        bind_calls(df, [own] if isinstance(own, Call) else own.calls)
    except FanlightError:
        return False
    return True


@quietly()
def _label_of(df: DataFrame, column: Column) -> str | None:
    """The name that Spark has for an aggregate; None if it is none."""
    try:
        return df.groupBy().agg(column).columns[0]
    except PySparkException:
        return None
