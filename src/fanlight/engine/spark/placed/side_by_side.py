"""Several windows side by side: one row for a key and the instant at which they end."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame

from fanlight.engine.spark.binding.lag import Lag
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.equality import has_collation
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.sql import (
    expr,
    expr_as,
    group_rows,
    is_taken,
    with_event_time,
)
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.granular import MultiGranular

AT = "at"  # the column of the instant at which windows end


def check_several(bound: Placed, method: str) -> None:
    """Refuse one kind of windows."""
    if not bound.queries.several:
        raise refuse(
            f"{method} of {bound.spec!r} alone",
            "has nothing to put side by side",
            "write agg(…), or give levels, fl.MultiGranular(…), or a list of windows",
        )


def check_at_instants(bound: Placed, method: str) -> None:
    """Refuse windows that a method cannot bring together by the instant at which they end."""
    streaming, kinds = bound.df.isStreaming, bound.source.key_types
    levelled = isinstance(bound.spec, MultiGranular)
    those, them = ("levels", "the levels") if levelled else ("windows", "them")
    for wrong, asked, why, instead in (
        (levelled and bool(bound.levels.horizons), f"{method} with horizons",
         "would have several windows of one level at an instant", "make them levels"),
        (streaming and bound.coordinate.counted, f"{method} of {those} counted in rows in a stream",
         "would wait for rows that may never come: no watermark passes a number of rows",
         f"write agg(…), or give {them} as durations"),
        (streaming and any(grid.closed for grid in bound.grids),
         f"{method} of windows whose ends are in them, in a stream",
         "would have a row at an instant for windows that are complete only after it",
         "write agg(…), or leave closed out"),
        (streaming and any(map(has_collation, kinds)), f"{method} by strings with a collation",
         "is a second aggregation, whose state in a stream cannot compare them",
         "use collate(lower(…), 'UTF8_BINARY') as the key, or write agg(…)"),
    ):  # fmt: skip
        if wrong:
            raise refuse(asked, why, instead)


def put_beside_by_end(bound: Placed, results: DataFrame) -> DataFrame:
    """Pivot the results of ``agg``: one row per key and instant at which windows end.

    An aggregate has a column for each level, or window of a list; null where none is reported.
    """
    labels = results.columns[len(bound.names) + 2 :]
    inner = results.toDF(*bound.keys, "window", "level", *(f"r{n}" for n, _ in enumerate(labels)))
    levels = bound.queries.labels
    named = [(f"r{n}", k, f"{label}_{k}") for n, label in enumerate(labels) for k in levels]
    outputs = [AT, *(name for *_, name in named)]
    check_names(bound, outputs, "wide", ", or name the aggregate")
    wide = group_by_end(bound, inner, [(r, k, f"c{n}") for n, (r, k, _) in enumerate(named)])
    keys = zip(bound.keys, bound.names, strict=True)
    return wide.select(
        *(expr_as(wide, inner_name, name) for inner_name, name in keys),
        expr(wide, AT),
        *(expr_as(wide, f"c{n}", name) for n, (*_, name) in enumerate(named)),
    )


def group_by_end(
    bound: Placed, inner: DataFrame, columns: Sequence[tuple[str, int, str]]
) -> DataFrame:
    """The keys ``k0``, …, ``at``, and a column of ``inner`` for a level, each under a name.

    ``inner`` has the keys, ``window`` and ``level``. Null where no window of the level ends.
    """
    calendar = bound.coordinate.calendar
    kept = [*bound.keys, "window.end as at", "level", *dict.fromkeys(one for one, *_ in columns)]
    first, more = "first(", ")"  # A key has one window of a level that ends at an instant;
    if calendar is not None and calendar.together:  # or, where a clock skips some time, more.
        kept, first, more = [*kept, "window.start as begins"], "min_by(", ", begins)"
    firsts = [
        (name, f"{first}{column}{more} filter (where level = {k})") for column, k, name in columns
    ]
    if not bound.df.isStreaming:
        return group_rows(inner.selectExpr(*kept), [*bound.keys, AT], firsts)
    # A struct's field does not carry the watermark that the window has.
    end = bound.later("unix_micros(window.end)")
    rows = with_event_time(inner, kept, end, "ending", bound.delay)
    found = group_rows(rows, [*bound.keys, AT, "ending"], firsts)
    told = [expr(found, name) for name in found.columns if name not in (AT, "ending")]
    lag = Lag(bound.lags[1], bound.delay, bounds=True)
    return found.select(*told, expr(found, AT).alias(AT, metadata=lag.metadata))


def lower_by_number(
    bound: Placed, windows: DataFrame, fields: Fields, numbers: Sequence[int]
) -> DataFrame:
    """Lower partials to results: keys, ``query``, ``start``, and ``r0``, ``r1``, … by number."""
    place = [*bound.keys, *bound.query_columns, "start"]
    texts = [output.sql(bound.shown_start) for output in fields.outputs]
    results = [expr_as(windows, text, f"r{n}") for text, n in zip(texts, numbers, strict=True)]
    return windows.select(*place, *results)


def put_beside(bound: Placed, parts: Sequence[DataFrame]) -> DataFrame:
    """Join parts into one row per key and window. Each part has at most one such row.

    Parts are added up rather than joined, so keys that are null or NaN need no care.
    """
    place = [*bound.keys, *bound.query_columns, "start"]
    rows = reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), parts)
    results = [name for name in rows.columns if name not in place]
    return group_rows(rows, place, [(name, f"first({name}, true)") for name in results])


def check_names(bound: Placed, outputs: Sequence[str], asked: str, instead: str = "") -> None:
    """Refuse a key that has the name of an output."""
    for key in bound.names:
        if is_taken(bound.df, key, outputs):
            raise refuse(
                f"{asked} by {key!r}",
                "clashes with an output column of the same name",
                f"rename it first: df.withColumnRenamed({key!r}, …){instead}",
            )
