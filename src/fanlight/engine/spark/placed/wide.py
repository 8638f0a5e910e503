"""Levels side by side: one row for a key and the instant at which windows end."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.equality import has_collation
from fanlight.engine.spark.sql import WATERMARK, expr, expr_as, group_rows, is_taken
from fanlight.engine.spec.errors import refuse

AT = "at"  # the column of the instant at which windows end


def check_wide(bound: Placed) -> None:
    """Refuse levels that cannot be one row for an instant."""
    streaming, kinds = bound.df.isStreaming, bound.source.key_types
    for wrong, asked, why, instead in (
        (bool(bound.levels.horizons), "wide with horizons",
         "would have several windows of one level in a row", "make them levels"),
        (bound.early is not None, "early().wide(…)", "is about windows that are complete",
         "write early().agg(…), or leave early() out"),
        (streaming and bound.coordinate.counted, "wide of levels counted in rows in a stream",
         "would wait for rows that may never come: no watermark passes a number of rows",
         "write agg(…), or give the levels as durations"),
        (streaming and any(map(has_collation, kinds)), "wide by strings with a collation",
         "is a second aggregation, whose state in a stream cannot compare them",
         "use lower(…) as the key, or write agg(…)"),
    ):  # fmt: skip
        if wrong:
            raise refuse(asked, why, instead)


def put_levels_beside(bound: Placed, results: DataFrame) -> DataFrame:
    """The results of ``agg``, those of a key whose windows end at one instant in one row.

    An aggregate has a column for each level, null where no window of the level is reported.
    """
    labels = results.columns[len(bound.names) + 2 :]
    inner = results.toDF(*bound.keys, "window", "level", *(f"r{n}" for n, _ in enumerate(labels)))
    levels = range(len(bound.levels.ranges))
    named = [(f"r{n}", k, f"{label}_{k}") for n, label in enumerate(labels) for k in levels]
    outputs = [AT, *(name for *_, name in named)]
    for key in bound.names:
        if is_taken(bound.df, key, outputs):
            raise refuse(
                f"wide by {key!r}",
                "clashes with an output column of the same name",
                f"rename it first: df.withColumnRenamed({key!r}, …), or name the aggregate",
            )
    # A struct's field does not carry the watermark that the window has.
    streaming = bound.df.isStreaming
    metadata: dict[str, Any] = {WATERMARK: bound.delay} if streaming else {}
    at = expr(inner, "window.end").alias(AT, metadata=metadata)
    rows = inner.select(*map(inner.__getitem__, bound.keys), at, "level",
                        *(f"r{n}" for n, _ in enumerate(labels)))  # fmt: skip
    # A key has one window of a level that ends at an instant.
    firsts = [
        (f"c{n}", f"first({result}) filter (where level = {k})")
        for n, (result, k, _) in enumerate(named)
    ]
    wide = group_rows(rows, [*bound.keys, AT], firsts)
    keys = zip(bound.keys, bound.names, strict=True)
    return wide.select(
        *(expr_as(wide, inner_name, name) for inner_name, name in keys),
        expr(wide, AT),
        *(expr_as(wide, f"c{n}", name) for n, (*_, name) in enumerate(named)),
    )
