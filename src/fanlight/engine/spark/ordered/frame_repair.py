"""Frames that late rows change: cut anew from a frame that ended before them, and compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import contains_type
from fanlight.engine.algebra.sql_text import quote
from fanlight.engine.arrow import is_of_spark
from fanlight.engine.spark.binding.frames import FrameBound
from fanlight.engine.spark.binding.source import UNGROUPED, check_not_output, column_of
from fanlight.engine.spark.coordinates import coordinate
from fanlight.engine.spark.lift import drop_rejected
from fanlight.engine.spark.sql import (
    add_columns,
    expr,
    free_name,
    over_clause,
    project,
    type_text,
    types_in,
)
from fanlight.engine.spark.stored_results import ENDS, WINDOW, check_results
from fanlight.engine.spec.errors import refuse

GONE = "gone"  # whether a stored frame is no frame any more
WRITE = "write the frames into it once: fl.over(rows, …).agg(…), then repair it"
Frames = Callable[[FrameBound], DataFrame]


def repair_frames(bound: FrameBound, late: Any, results: Any, frames: Frames) -> DataFrame:
    """The stored frames that change with ``late`` rows, as they are then, and a column ``gone``.

    ``frames`` makes the result of a bound: keys, ``window``, ``frame_id`` and what else is asked.
    """
    _check_rows(bound, late)
    shape = frames(bound)
    for name in shape.columns:
        check_not_output(shape, f"the output name {name!r}", name, (GONE,))
    check_results(results, shape, WRITE)
    stored = _with_windows(results)
    names = _Names.of(bound, [*bound.df.columns, *shape.columns, f"late_{GONE}"])
    starts = _starts(bound, names, late, stored)
    rows = _rows_from(bound, names, starts, bound.df.unionByName(late))
    found = frames(bound.with_source(df=rows))
    return _compare(bound, names, starts, (stored, found), shape)


@dataclass(frozen=True)
class _Names:
    """Names of columns unlike those of the rows and of the results."""

    keys: dict[str, str]  # by the output names of the keys
    at: str
    begin: str
    base: str

    @classmethod
    def of(cls, bound: FrameBound, taken: list[str]) -> _Names:
        """The names for a bound."""
        keys = {name: free_name(f"late_{key}", taken) for name, key in zip(
            bound.names, bound.keys, strict=True)}  # fmt: skip
        return cls(keys, *(free_name(f"late_{name}", taken) for name in ("at", "begin", "base")))


def _check_rows(bound: FrameBound, late: Any) -> None:
    """Refuse streams, and late rows of another shape than those of the frames."""
    if bound.df.isStreaming:
        raise refuse(
            "repair(late_rows, results, …)",
            "compares with frames that are stored, and these are of a stream",
            "pass the rows as they are stored: fl.over(spark.read.parquet(…), …).repair(…)",
        )
    if not is_of_spark(late):
        raise refuse(
            f"late_rows={late!r}", "is not a DataFrame", "pass the rows that came too late"
        )
    if late.isStreaming:
        raise refuse(
            "late_rows",
            "is a stream",
            "write repair(…) in foreachBatch, for each micro-batch of it",
        )
    same = "pass rows with the columns of those of the frames: late_rows.select(*rows.columns)"
    wanted, given = types_in(bound.df), types_in(late)
    for name in dict.fromkeys((*wanted, *given)):
        if name not in given or name not in wanted:
            why = "lacks" if name in wanted else "has more than the rows of the frames:"
            raise refuse("late_rows", f"{why} the column {name!r}", same)
        if given[name] != wanted[name]:
            why = f"has {name!r} of type {given[name]}, the rows of the frames of {wanted[name]}"
            raise refuse("late_rows", why, "cast one of them")


def _with_windows(results: DataFrame) -> DataFrame:
    """Results whose windows are structs, also where ``fl.upsert`` has made two columns of each."""
    if WINDOW in results.columns:
        return results
    ends = ", ".join(f"{quote(name)} as {end}" for name, end in ENDS.items())
    return results.withColumn(WINDOW, expr(results, f"struct({ends})")).drop(*ENDS)


def _starts(bound: FrameBound, names: _Names, late: DataFrame, stored: DataFrame) -> DataFrame:
    """For each key with a late row: where cutting begins again, and the number of the first frame.

    That is where the last frame begins that begins before the late rows, and after the end of all
    frames before it. Rows of one instant may belong to two frames, so where one begins just as
    another ends, or frames are not stored because they are too small, or share rows or a life of
    the key, it is at the first row.
    """
    placed = drop_rejected(bound.with_source(df=late))
    keys = [quote(name) for name in names.keys.values()]
    times = _with_keys(bound, names, placed).select(*map(quote, [*names.keys.values(), names.at]))
    touched = times.groupBy(*keys).agg(expr(times, f"min({quote(names.at)})").alias(names.at))
    if not _starts_afresh(bound):
        return touched.selectExpr(
            *keys, f"cast(null as bigint) as {names.begin}", f"0L as {names.base}"
        )
    begin, end = (coordinate(bound.coordinate, f"{WINDOW}.{edge}") for edge in ("start", "end"))
    frames = project(stored, [
        *((quote(name), f"{own}_") for name, own in names.keys.items()),
        ("frame_id", "number"), (begin, "begin"), (end, "ending"),
    ])  # fmt: skip
    own = [quote(f"{name}_") for name in names.keys.values()]
    before = over_clause(own, "number", "rows between unbounded preceding and 1 preceding")
    frames = frames.selectExpr("*", f"max(ending) {before} as before")
    same = [f"{key} <=> {other}" for key, other in zip(keys, own, strict=True)]
    whole = ["number is not null", f"begin <= {names.at}", "(before is null or before < begin)"]
    met = touched.join(frames, expr(touched, " and ".join([*same, *whole])), "left")
    return met.groupBy(*keys).agg(
        expr(met, "max_by(begin, number)").alias(names.begin),
        expr(met, "coalesce(max(number), 0L)").alias(names.base),
    )


def _starts_afresh(bound: FrameBound) -> bool:
    """Whether frames are the same if the rows before one of them are left out."""
    scheme = bound.scheme
    # A limit may be calculated from the frames before; a function may remember them, and a state
    # may be carried from there.
    recalls = bool(scheme.functions) or any(limit is not None for limit in scheme.limits)
    recalls = recalls or scheme.nulls == "carry"
    depends = scheme.is_unnumbered or scheme.drops_small_frames or recalls
    return not depends and bound.forget_after is None


def _with_keys(bound: FrameBound, names: _Names, rows: DataFrame) -> DataFrame:
    """The rows with their keys and time under the names of those of late rows."""
    given = [column_of(rows, key) for key in bound.by]
    at = coordinate(bound.coordinate, bound.time_sql)
    return add_columns(rows, [*zip(given, names.keys.values(), strict=True), (at, names.at)])


def _rows_from(bound: FrameBound, names: _Names, starts: DataFrame, rows: DataFrame) -> DataFrame:
    """The rows of keys with a late row, from when on their frames are cut anew."""
    own = {name: f"{name}_" for name in names.keys.values()}
    from_when = starts.withColumnsRenamed(own)
    placed = _with_keys(bound, names, rows)
    same = [f"{quote(name)} <=> {quote(other)}" for name, other in own.items()]
    since = f"({names.begin} is null or {names.at} >= {names.begin})"
    near = placed.join(from_when, expr(placed, " and ".join([*same, since])), "left_semi")
    return near.drop(*names.keys.values(), names.at)


def _compare(
    bound: FrameBound,
    names: _Names,
    starts: DataFrame,
    frames: tuple[DataFrame, DataFrame],
    shape: DataFrame,
) -> DataFrame:
    """Compare stored frames with those found now: added, changed and removed.

    Both meet by their key and number; those found are numbered from the first that was cut anew.
    """
    kinds = {field.name: field.dataType for field in shape.schema.fields}
    keys, number = [quote(name) for name in names.keys.values()], "number"
    # Numbers begin at 0 again and again where a key may be forgotten.
    places = [f"{WINDOW}.start as begin"] if bound.forget_after is not None else []
    sides = []
    for is_new, df in enumerate(frames):
        inner = ", ".join(f"{quote(name)} as c{n}" for n, name in enumerate(kinds))
        own = [f"{quote(name)} as {quote(f'{key}_')}" for name, key in names.keys.items()]
        places_of = [f"frame_id as {number}", *places, f"{is_new} as is_new"]
        sides.append(df.selectExpr(*own, *places_of, f"struct({inner}) as frame"))
    both = sides[0].unionAll(sides[1])
    same = [f"{quote(key)} <=> {quote(f'{key}_')}" for key in names.keys.values()]
    met = both.join(starts, expr(both, " and ".join(["true", *same])), "inner")
    met = met.where(expr(met, f"is_new = 1 or {number} >= {names.base}"))
    met = met.withColumn(number, expr(met, f"{number} + is_new * {names.base}"))
    by = [*keys, number, *(["begin"] if places else [])]
    pairs = met.groupBy(*by).agg(*(
        expr(met, f"first(if(is_new = {is_new}, frame, null), true)").alias(name)
        for is_new, name in enumerate(("before", "after"))
    ))  # fmt: skip
    told = {name: f"c{n}" for n, name in enumerate(kinds) if name != "frame_id"}
    alike = [
        f"before.{column} <=> after.{column}"
        for name, column in told.items()
        if not contains_type(type_text(kinds[name]), UNGROUPED)
    ]
    unequal = "true" if len(alike) < len(told) else f"not ({' and '.join(alike)})"
    changed = pairs.where(expr(pairs, unequal))  # of a frame that is not there all is null
    columns = {name: f"coalesce(after, before).{column}" for name, column in told.items()}
    shown = [(columns.get(name, number), name) for name in kinds]
    return project(changed, [*shown, ("after is null", GONE)])
