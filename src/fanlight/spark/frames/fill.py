"""Frames of one DataFrame filled from another: its rows, or aggregates of them, in each frame.

Frames are bounds alone; what lies within may come from elsewhere (Grossniklaus et al., section 2
and FILLFRAME in 5.2). A batch walks over frames and rows in one order; a stream is Spark's own
interval join, whose state the watermarks bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame

from fanlight.plan.coordinate import Coordinate
from fanlight.spark import result
from fanlight.spark.bound import Bound
from fanlight.spark.coordinates import coordinate, restored
from fanlight.spark.fields import collect_calls, fields_of, selected
from fanlight.spark.frames.binding import OUTPUTS, FrameBound
from fanlight.spark.slices import lifted
from fanlight.spark.source import Source, check_stream, column_of, source_of
from fanlight.spark.sql import event_time, over, quote, sql
from fanlight.spec.errors import refuse
from fanlight.spec.units import Extent, extent

_BOUNDS = "named_struct('s', s, 'e', e, 'frame', frame)"


def check_other(bound: FrameBound, other: Any, time: Any, by: Any, longest: Any) -> Source:
    """The other DataFrame, checked: as many keys as the frames have, and a time of their kind."""
    source = source_of(other, time, bound.names if by is None else by, ())
    if len(source.names) != len(bound.names):
        raise refuse(
            f"fill(by={list(source.names)})",
            f"does not pair up with the frames' keys {list(bound.names)}",
            "name as many columns, in the same order",
        )
    if source.time_type.split("(")[0] != bound.time_type.split("(")[0]:
        raise refuse(
            f"fill(time={time!r})",
            f"is of type {source.time_type}, but frames are cut over {bound.time_type}",
            "cast one of the two",
        )
    if other.isStreaming != bound.df.isStreaming:
        raise refuse(
            "fill of a stream and a batch",
            "would never know when a frame is full",
            "read both as batches or both as streams",
        )
    check_stream(source)
    if other.isStreaming and longest is None:
        raise refuse(
            "fill(…) in a stream",
            "must keep the other stream's rows for as long as a frame may last, and does not know "
            "how long that is",
            "say longest='1 hour': rows further back than that from a frame's end are left out",
        )
    for name in other.columns:
        if name.casefold() in ("window", "frame_id"):
            raise refuse(
                f"fill: the column {name!r}",
                "clashes with an output column of the same name",
                f"rename it first: other.withColumnRenamed({name!r}, …)",
            )
    return source


def filled(
    bound: FrameBound,
    frames: DataFrame,
    source: Source,
    calls: Sequence[Any],
    named: Mapping[str, Any],
    longest: Any,
) -> DataFrame:
    """Rows of ``source`` in each of ``frames`` (keys, ``frame``, ``s``, ``e``), or aggregates."""
    other = Bound(**vars(source), coordinate=Coordinate(bound.coordinate.kind))
    limit = None if longest is None else extent("longest", longest)
    rows = _rows(other)
    inside = _joined(bound, frames, rows, limit) if _joins(bound) else _walked(bound, frames, rows)
    if not calls and not named:
        columns = [sql(inside, f"row.{quote(name)}") for name in other.df.columns]
        keys = zip(bound.keys, bound.names, strict=True)
        own = [sql(inside, k).alias(n) for k, n in keys if n not in other.df.columns]
        window = result.window(bound, inside, *_bounds(bound))
        return inside.select(*own, *columns, window, sql(inside, "frame").alias("frame_id"))
    return _aggregated(bound, inside, other, calls, named)


def _joins(bound: FrameBound) -> bool:
    return bound.df.isStreaming or bound.scheme.overlapping


def _rows(other: Bound) -> DataFrame:
    """Keys ``o0``…, the time as a number ``t`` and as it is ``at``, the row as a struct."""
    df = other.df
    columns = ", ".join(quote(name) for name in df.columns)
    texts = [sql(df, f"{coordinate(other.coordinate, other.time_sql)} as t")]
    texts += [sql(df, f"{other.time_sql} as at")]
    texts += [sql(df, f"struct({columns}) as row")]
    texts += [column_of(df, key).alias(f"o{at}") for at, key in enumerate(other.by)]
    return df.select(*texts).filter("t is not null")


def _walked(bound: FrameBound, frames: DataFrame, rows: DataFrame) -> DataFrame:
    """Each row takes the last frame that began before it, if that one has not ended."""
    keys = bound.keys
    first = frames.selectExpr(*keys, "s as u", "0 as kind", f"{_BOUNDS} as own", "null as t")
    kind = rows.schema["row"].dataType.simpleString()
    first = first.withColumn("row", sql(first, f"cast(null as {kind})"))
    names = [f"o{at} as {key}" for at, key in enumerate(keys)]
    second = rows.selectExpr(
        *names, "t as u", "1 as kind",
        "cast(null as struct<s:bigint,e:bigint,frame:bigint>) as own", "t", "row",
    )  # fmt: skip
    both = first.unionByName(second)
    walk = over(keys, "u, kind, own.frame", "rows unbounded preceding")
    found = both.selectExpr("*", f"last(own, true) {walk} as f")
    found = found.filter("kind = 1 and f is not null and t < f.e")
    return found.selectExpr(*keys, "f.s as s", "f.e as e", "f.frame as frame", "t", "row")


def _joined(
    bound: FrameBound, frames: DataFrame, rows: DataFrame, limit: Extent | None
) -> DataFrame:
    """Spark's interval join; in a stream the watermarks bound what it keeps of both sides."""
    if bound.df.isStreaming:
        end = event_time(frames, restored(bound.coordinate, "e"), "end", bound.delay)
        frames = frames.select("*", end)
    equal = [f"{key} <=> o{at}" for at, key in enumerate(bound.keys)] or ["true"]
    within = [*equal, "t >= s", "t < e"]
    if bound.df.isStreaming and limit is not None:
        micros = int(limit.value)
        within += ["at < end", f"at >= end - interval '{micros / 1_000_000!r}' second"]
    condition = " and ".join(within)
    return frames.join(rows, sql(frames, condition), "inner")


def _bounds(bound: FrameBound) -> tuple[str, str]:
    """SQL: the times of a frame; in a stream its end carries the watermark."""
    start, end = result.times(bound, "s", "e")
    return start, "end" if bound.df.isStreaming else end


def _aggregated(
    bound: FrameBound,
    inside: DataFrame,
    other: Bound,
    calls: Sequence[Any],
    named: Mapping[str, Any],
) -> DataFrame:
    keys = [*bound.keys, "s", "frame", *(["end"] if bound.df.isStreaming else ["e"])]
    columns = [sql(inside, name) for name in keys]
    columns += [sql(inside, f"row.{quote(name)}") for name in other.df.columns]
    flat = inside.select(*columns)
    source = source_of(flat, other.time, keys, ())
    at = Bound(**{**vars(source), "delay": other.delay}, coordinate=other.coordinate)
    asked = collect_calls(at, calls, named, (*OUTPUTS, *(n.casefold() for n in bound.names)))
    fields = fields_of(at, asked)
    values = list(fields.values.values())
    rows = selected(at, fields).selectExpr(
        *(f"{inner} as {name}" for inner, name in zip(at.keys, keys, strict=True)), *values
    )
    found = lifted(rows, keys, fields.all)
    outputs = [("frame", "frame_id"), *result.lowered(fields, "s")]
    return result.finished(bound, found, *_bounds(bound), outputs)
