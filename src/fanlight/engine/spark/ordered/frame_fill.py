"""Frames of one DataFrame filled from another: its rows, or aggregates of them, in each frame.

A frame is its bounds; the rows in it may come from elsewhere (Grossniklaus et al., section 2 and
FILLFRAME in 5.2). A batch goes through frames and rows in one order where a row is in one frame at
most. Otherwise they are joined; in a stream by Spark's interval join, whose state is bounded by the
watermarks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import StringType

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.monoids import Monoid
from fanlight.engine.algebra.sql_text import literal, quote, struct
from fanlight.engine.kinds.kind import HOWS
from fanlight.engine.kinds.options import FILL
from fanlight.engine.plan.coordinate import Coordinate
from fanlight.engine.spark import result
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.binding.frames import OUTPUTS, FrameBound
from fanlight.engine.spark.binding.source import (
    Source,
    bind_source,
    check_not_output,
    check_stream,
    column_of,
    name_other,
)
from fanlight.engine.spark.coordinates import coordinate
from fanlight.engine.spark.equality import collations_of, normal_form
from fanlight.engine.spark.fields import Field, Fields, build_fields
from fanlight.engine.spark.lift import lift_rows, select_rows
from fanlight.engine.spark.ordered.frames import FACTS
from fanlight.engine.spark.requested_aggregates import collect_calls
from fanlight.engine.spark.result import Relation
from fanlight.engine.spark.sql import (
    expr,
    free_name,
    is_same_name,
    is_taken,
    over_clause,
    project,
    type_text,
    with_event_time,
    without_event_time,
)
from fanlight.engine.spec.arguments import check_choice
from fanlight.engine.spec.errors import FanlightError, refuse
from fanlight.engine.spec.units import Extent, read_extent

_PLACE = ("start", "ending", "frame")
_OTHER = "fill(other, …)"
# A join by time alone goes by stretches of time, whose lengths are these powers of two: a row is in
# one of each length, and a frame in one or two of the least length for which two are enough.
_STRETCHES = (*range(4, 60, 4), 63)
_SHORTEST = 20  # of timestamps: about a second


@dataclass(frozen=True)
class _Alike(Monoid):
    """A value that is the same in all rows; null in rows that lack it."""

    running: ClassVar[bool] = False
    _lift = "first({v}, true)"
    _combine_all = "first({p}, true){over}"


@dataclass(frozen=True)
class Fill:
    """What frames are filled with: the rows of a source.

    ``limit``: how far back from a frame's end they are kept in a stream. ``own``: the aggregates of
    the frames' own rows. ``left``: frames without a row of the source are given, too.
    """

    source: Source
    limit: Extent | None
    own: tuple[Call, ...]
    left: bool


def read_fill(bound: FrameBound) -> Fill | None:
    """The arguments of ``fill``, checked; None if frames are not filled."""
    given = bound.options.get(FILL)
    if given is None:
        return None
    limit = given["max_duration"]
    source = _check_other(bound, given["other"], given["time"], given["by"], limit)
    length = None if limit is None else read_extent("max_duration", limit)
    if length is not None:
        bound.check_length("max_duration", length)
    left = check_choice("how", given["how"], HOWS, "a way to fill frames") == "left"
    return Fill(source, length, tuple(_collect_own(bound, given["own"])), left)


def _collect_own(bound: FrameBound, own: Any) -> list[Call]:
    """Check the aggregates of the frames' own rows: one, a list, or a mapping by output name."""
    if own is None:
        return []
    named = own if isinstance(own, Mapping) else {}
    given = () if named is own else own if isinstance(own, (list, tuple)) else (own,)
    with errors_about("fill(own=…)"):
        return collect_calls(bound, given, named, OUTPUTS)


def _check_other(bound: FrameBound, other: Any, time: Any, by: Any, max_duration: Any) -> Source:
    """Check the other DataFrame: keys that pair up with the frames', and a time of their kind."""
    with errors_about(_OTHER):
        source = bind_source(other, time, bound.names if by is None else by, ())
    types = [bound.source.key_types[place] for place in _pair_keys(bound, source)]
    for name, own, given in zip(source.names, types, source.key_types, strict=True):
        if collations_of(own) != collations_of(given):
            texts = isinstance(own, StringType) and isinstance(given, StringType)
            raise refuse(
                f"fill(by={name!r})",
                f"is of type {type_text(given)}, but the frames' key is of type {type_text(own)}",
                "give both the same collation: collate(…, 'UTF8_LCASE')"
                if texts
                else "cast one of them",
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
            "could not tell when a frame is complete",
            "read both as batches or both as streams",
        )
    with errors_about(_OTHER):
        check_stream(source)
    if other.isStreaming and max_duration is None:
        raise refuse(
            "fill(…) in a stream",
            "must keep the other stream's rows for as long as a frame may last, and cannot know "
            "how long that is",
            "write max_duration='1 hour': rows further back than that from a frame's end "
            "are left out",
        )
    for name in other.columns:
        check_not_output(other, f"fill: the column {name!r}", name, ("window", "frame_id"))
    return source


def _pair_keys(bound: FrameBound, other: Source) -> list[int]:
    """Which of the frames' keys each key of the other DataFrame is: by place, or some by name."""
    if len(other.names) == len(bound.names):
        return list(range(len(bound.names)))
    alike = [
        [place for place, name in enumerate(bound.names) if is_same_name(other.df, name, own)]
        for own in other.names
    ]
    if len(other.names) > len(bound.names) or not all(alike):
        as_many = "name as many columns, in the same order, some of them by their names, or by=() "
        raise refuse(
            f"fill(by={list(other.names)})",
            f"does not pair up with the frames' keys {list(bound.names)}",
            f"{as_many}for rows of all keys" if bound.names else "write by=()",
        )
    return [places[0] for places in alike]


@contextmanager
def errors_about(argument: str) -> Iterator[None]:
    """Context manager: errors raised inside begin with the argument, and say ``other`` for it."""
    try:
        yield
    except FanlightError as error:
        said = str(error)
        if argument == _OTHER:
            said = name_other(said.replace("of the DataFrame", "of the other DataFrame"), "other")
        raise FanlightError(f"{argument}: {said}") from error


def fill_frames(
    bound: FrameBound,
    frames: DataFrame,
    fill: Fill,
    calls: Sequence[Any],
    named: Mapping[str, Any],
    own: Fields,
) -> DataFrame:
    """Rows of a source in each of ``frames`` (keys, ``frame``, bounds), or their aggregates.

    ``own``: what ``frames`` have partials of, as further columns.
    """
    source, limit, left = fill.source, fill.limit, fill.left
    asked = find_filling(bound, fill, calls, named) if calls or named else None
    other = _bind_other(bound, fill)
    bound = replace(bound, postponed=max(bound.postponement, other.postponement))
    rows = _select_other(other, bound.later)
    frames = _lower_own(bound, frames, own)
    labels = [output.label for output in own.outputs]
    shown = [(f"kept.r{n}", label) for n, label in enumerate(labels)]
    pairs = _pair_keys(bound, source)
    several = bound.scheme.is_unnumbered or len(pairs) < len(bound.keys)  # frames that have a row
    back = None if limit is None else math.ceil(limit.value / bound.coordinate.unit)
    if bound.df.isStreaming:
        inside = _join_streams(bound, frames, rows, pairs, back, left=left)
    elif several:
        inside = _fill_by_join(bound, frames, rows, pairs, back, left=left)
    else:
        inside = _fill_in_order(bound, frames, rows, back, left=left)
    if asked is None:
        for name in other.df.columns:
            check_not_output(other.df, f"fill: the column {name!r}", name, labels)
        columns = _key_and_row_columns(bound, other, left=left)
        times = result.window_times(bound, "start", "ending")
        return result.finish_result(bound, inside, *times, [("frame", "frame_id"), *shown], columns)
    return _aggregate(bound, inside, other, asked, shown)


def find_filling(
    bound: FrameBound, fill: Fill, calls: Sequence[Any], named: Mapping[str, Any]
) -> Fields:
    """The aggregates of the other DataFrame, over its columns, checked."""
    other = _bind_other(bound, fill)
    outputs = (*OUTPUTS, *(one.label for one in fill.own))
    with errors_about(_OTHER):
        asked = collect_calls(other.with_source(names=bound.names), calls, named, outputs)
    return build_fields(other, asked)


def _bind_other(bound: FrameBound, fill: Fill) -> Bound:
    return Bound(fill.source, Coordinate(bound.coordinate.kind))


def _lower_own(bound: FrameBound, frames: DataFrame, own: Fields) -> DataFrame:
    """The frames' keys and bounds, and their own aggregates in a struct ``kept``, if any."""
    texts = [(f"r{n}", text) for n, (text, _) in enumerate(result.lower_outputs(own, "start"))]
    kept = [f"{struct(texts)} as kept"] if texts else []
    # Spark's checkpoint of a join depends on the order of the columns.
    return frames.selectExpr(*bound.keys, "frame", "start", "ending", *kept)


def _columns_of_frame(frames: DataFrame) -> list[str]:
    """The columns that a row is given of its frame, besides the keys."""
    return [*_PLACE, *(name for name in frames.columns if name == "kept")]


def _key_and_row_columns(bound: FrameBound, other: Bound, *, left: bool) -> list[Any]:
    """The keys that the other DataFrame has no column for, and all its columns.

    A frame without a row has its keys all the same, where the two are called alike.
    """
    keys, taken = list(zip(bound.keys, bound.names, strict=True)), other.df.columns
    paired = [keys[place] for place in _pair_keys(bound, other.source)]
    for key in keys:
        if key not in paired and is_taken(other.df, key[1], taken):
            raise refuse(
                f"fill(by={list(other.names)})",
                f"gives rows of all {key[1]!r}, which is a column of the other DataFrame and a key "
                "of the frames",
                f"rename one: other.withColumnRenamed({key[1]!r}, …)",
            )
    own: list[Any] = [(key, name) for key, name in keys if not is_taken(other.df, name, taken)]
    if not left:
        return [*own, "row.*"]
    alike = {
        theirs: key for (key, _), theirs in zip(paired, other.names, strict=True)
        if any(is_same_name(other.df, theirs, name) for _, name in keys)
    }  # fmt: skip
    return [*own, *((alike.get(n, quote("row", n)), n) for n in taken)]


def _select_other(other: Bound, later: Callable[[str], str]) -> DataFrame:
    """Keys ``other0``…, the time as a number ``t``, the row as a struct.

    In a stream ``stamp`` is the event time of these rows, and Spark takes only one. Whatever is
    read from the row later on may be read before the join, so nothing in it is marked as another.
    Both sides of the join have an event time that is as much ``later``.
    """
    df = other.df
    time = coordinate(other.coordinate, other.time_sql)
    row = expr(df, "struct(*)")
    columns: list[tuple[str | Column, str]] = [(time, "t")]
    columns += [(row.cast(without_event_time(df.schema)) if df.isStreaming else row, "row")]
    keys = [(column_of(df, key), f"other{n}") for n, key in enumerate(other.by)]
    rows = project(df, [*columns, *keys]).filter("t is not null")
    if df.isStreaming:
        rows = with_event_time(rows, rows.columns, later("t"), "stamp", other.delay)
    kinds = {f"other{n}": kind for n, kind in enumerate(other.source.key_types)}
    forms = {n: normal_form(n, kind, bare=df.isStreaming) for n, kind in kinds.items()}
    # Spark's checkpoint of a join depends on the order of the columns.
    own = ["t", *(["stamp"] if df.isStreaming else []), "row"]
    return rows.selectExpr(*own, *(f"{form} as {n}" for n, form in forms.items()))


def _fill_in_order(
    bound: FrameBound, frames: DataFrame, rows: DataFrame, back: int | None, *, left: bool
) -> DataFrame:
    """Give each row, in a pass in order, the last frame that began before it and goes on.

    ``left``: a frame without a row has one whose ``t`` and ``row`` are null.
    """
    keys, given = bound.keys, _columns_of_frame(frames)
    own = f"struct({', '.join(given)}) as own"
    begun = frames.selectExpr(*keys, "start as moment", "0 as step", own)
    named = [f"other{n} as {key}" for n, key in enumerate(keys)]
    seen = rows.selectExpr(*named, "t as moment", "1 as step", "t", "row")
    walk = over_clause(keys, "moment, step, own.frame", "rows unbounded preceding")
    both = begun.unionByName(seen, allowMissingColumns=True)
    inside = both.selectExpr("*", f"last(own, true) {walk} as latest")
    inside = inside.filter("step = 1 and latest is not null and t < latest.ending")
    if back is not None:
        inside = inside.filter(f"t >= latest.ending - {back}L")
    inside = inside.selectExpr(*keys, *(f"latest.{n} as {n}" for n in given), "t", "row")
    return _with_empty(bound, inside, frames) if left else inside


def _with_empty(bound: FrameBound, inside: DataFrame, frames: DataFrame) -> DataFrame:
    """Rows in frames, and the frames without one, whose ``t`` and ``row`` are null."""
    every = inside.unionByName(frames, allowMissingColumns=True)
    of_frame = f"over (partition by {', '.join([*bound.keys, *_PLACE])})"
    counted = every.selectExpr("*", f"count(t) {of_frame} as rows_within")
    return counted.filter("t is not null or rows_within = 0").drop("rows_within")


def _fill_by_join(
    bound: FrameBound,
    frames: DataFrame,
    rows: DataFrame,
    pairs: Sequence[int],
    back: int | None,
    *,
    left: bool,
) -> DataFrame:
    """Join rows to all frames that they are in; without a key by stretches of time."""
    within = [f"{bound.keys[place]} <=> other{n}" for n, place in enumerate(pairs)]
    kept = [*frames.columns, "t", "row"]
    sought, by_stretch = frames, not within
    since = "start" if back is None else f"greatest(start, ending - {back}L)"
    if by_stretch:
        shortest = _SHORTEST if bound.coordinate.is_timestamp else 0
        lengths = [bits for bits in _STRETCHES if bits >= shortest]
        cases = (f"when {_ends(bits)[1]} <= {_ends(bits)[0]} + 1 then {bits}" for bits in lengths)
        least, both = " ".join(cases), f"array_distinct(array({', '.join(_ends('bits'))}))"
        sought = frames.selectExpr("*", f"case {least} end as bits")
        sought = sought.selectExpr("*", f"explode({both}) as stretch")
        rows = rows.selectExpr("*", f"explode(array({', '.join(map(str, lengths))})) as length")
        rows = rows.selectExpr("*", "shiftright(t, length) as part")
        within = ["bits = length", "stretch = part"]
    how = "left_outer" if left and not by_stretch else "inner"
    inside = sought.join(
        rows, expr(frames, " and ".join([*within, f"t >= {since}", "t < ending"])), how
    )
    inside = inside.selectExpr(*kept)
    return _with_empty(bound, inside, frames) if left and by_stretch else inside


def _ends(bits: int | str) -> tuple[str, str]:
    """SQL: the first and the last stretch of so many bits that a frame is in."""
    return f"shiftright(start, {bits})", f"shiftright(ending - 1, {bits})"


def _join_streams(
    bound: FrameBound,
    frames: DataFrame,
    rows: DataFrame,
    pairs: Sequence[int],
    back: int | None,
    *,
    left: bool,
) -> DataFrame:
    """Join rows to frames by Spark's interval join, whose state the watermarks bound.

    By the event times, of which those of before 1970 are the same, Spark knows what to keep; which
    rows are in a frame is for the coordinates to say.
    """
    equal = [f"{bound.keys[place]} <=> other{n}" for n, place in enumerate(pairs)]
    equal = equal or ["t % 1 = start % 1"]  # Spark joins no streams without an equality
    within = [*equal, "t >= start", "t < ending"]
    frames = with_event_time(frames, ["*"], bound.later("ending"), "until", bound.delay)
    if back is not None:
        length = f"interval {literal(repr(back / 1_000_000))} second"
        within += [f"t >= ending - {back}L", "stamp <= until", f"stamp >= until - {length}"]
    return frames.join(rows, expr(frames, " and ".join(within)), "left_outer" if left else "inner")


def _aggregate(
    bound: FrameBound,
    inside: DataFrame,
    other: Bound,
    fields: Fields,
    shown: Sequence[result.Named],
) -> DataFrame:
    """Aggregate the other DataFrame's rows by frame; ``shown`` reads what frames have ``kept``."""
    own = [*bound.keys, "start", "frame", *(["until"] if bound.df.isStreaming else []), "ending"]
    keys = [free_name(name, other.df.columns) for name in own]
    renamed = [f"{name} as {key}" for name, key in zip(own, keys, strict=True)]
    kept = free_name("kept", other.df.columns)
    flat = inside.selectExpr(*renamed, *([f"kept as {kept}"] if shown else []), "row.*")
    source = bind_source(flat, other.time, keys, ())
    at = Bound(replace(source, delay=other.delay), other.coordinate)
    own_fields = [Field("kept", "kept", _Alike(), FACTS)] if shown else []
    # A frame without a row has one that has neither time nor values.
    values = [f"if(t is null, null, {text}) as {name}" for text, name in fields.values.items()]
    values += [f"{fields.add_argument(kept)} as kept"] if shown else []
    rows = select_rows(at, fields, at.rows).selectExpr(
        *(f"{inner} as {name}" for inner, name in zip(at.keys, own, strict=True)), *values
    )
    filled = lift_rows(Relation.of_rows(rows, own, []), [], [*fields.all, *own_fields]).df
    columns = [("frame", "frame_id"), *shown, *result.lower_outputs(fields, "start")]
    return result.finish_result(
        bound, filled, *result.window_times(bound, "start", "ending"), columns
    )
