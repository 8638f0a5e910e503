"""Trailing windows, bound to the rows that they look back at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame

from fanlight.engine.kinds.options import AT
from fanlight.engine.plan.coordinate import Coordinate, Kind, check_kind, check_zone_of_time
from fanlight.engine.plan.trailing import Horizon, horizon_of
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.binding.source import (
    Source,
    bind_source,
    check_stream,
    column_of,
    name_other,
    with_dates_in,
)
from fanlight.engine.spark.calendars import ask_clock
from fanlight.engine.spark.sql import project, type_text
from fanlight.engine.spec.errors import FanlightError, refuse
from fanlight.engine.spec.trailing import Labelled, Trailing, read_labelled


@dataclass(frozen=True)
class TrailingBound(Bound):
    """A source with the horizons of its windows, in the order of their labels."""

    spec: Labelled
    horizons: tuple[Horizon, ...]

    @property
    def coordinates(self) -> list[tuple[str, str]]:
        """(SQL text, internal name) pairs: a row's time, null if it cannot be placed."""
        bad = " or ".join(f"({test})" for test, _ in self.rejections)
        return [(f"if({bad}, null, {text})", name) for text, name in super().coordinates]


def bind_trailing(df: Any, spec: Any, time: Any, by: Any, tiebreak: Any) -> TrailingBound:
    """Check the request against the DataFrame before anything is built."""
    labelled = read_labelled(spec)
    source = bind_source(df, time, by, tiebreak, ())
    source = _with_dates(source, labelled.windows)
    kind = check_kind(source.time, source.time_type, "over which nothing can look back exactly")
    check_stream(source)
    horizons = tuple(_bind_window(source, window, kind) for window in labelled.windows)
    return TrailingBound(source, Coordinate(kind), labelled, horizons)


def _with_dates(source: Source, windows: Sequence[Trailing]) -> Source:
    """The source with dates read by the clock of the calendar, if one says how long windows are."""
    zones = {window.zone for window in windows if window.by_calendar}
    return with_dates_in(source, *zones) if len(zones) == 1 else source


def _bind_window(source: Source, window: Trailing, kind: Kind) -> Horizon:
    """A window over the time column of a source."""
    if not window.by_calendar:
        return horizon_of(window, kind)
    check_zone_of_time(window.zone, kind, source.time, source.time_type, repr(window))
    return horizon_of(window, kind, ask_clock(source.df.sparkSession, window.zone))


def read_at(bound: TrailingBound) -> TrailingBound | None:
    """The rows that ask, as ``at`` says, bound as the windows are; None without it."""
    given = bound.options.get(AT)
    return None if given is None else _bind_spine(bound, **given)


def _bind_spine(bound: TrailingBound, spine: Any, time: Any, by: Any) -> TrailingBound:
    """Check another DataFrame, whose rows ask: its keys and time are of the windows' kinds."""
    try:
        source = bind_source(spine, time, bound.names if by is None else by, (), ())
        source = _with_dates(source, bound.spec.windows)
        if spine.isStreaming == bound.df.isStreaming:
            check_stream(source)
    except FanlightError as error:
        said = name_other(str(error), "spine").replace("fl.over", "at")
        raise FanlightError(f"at(spine, …): {said}") from error
    if spine.isStreaming != bound.df.isStreaming:
        asked, other = ("a stream", "a batch") if spine.isStreaming else ("a batch", "a stream")
        raise refuse(
            f"at(spine) of {asked} to windows over {other}",
            "would have to know when all of the batch has come before a row of the stream",
            "read both as streams, each with a watermark, or both as batches, as which "
            "writeStream.foreachBatch(…) gives a stream",
        )
    asked = f"at(spine, by={list(source.names)!r})"
    if len(source.names) != len(bound.names):
        raise refuse(
            asked,
            f"does not pair up with by={list(bound.names)!r} of the windows",
            "name as many columns, in the same order",
        )
    for name, kind, wanted in zip(
        source.names, source.key_types, bound.source.key_types, strict=True
    ):
        if kind != wanted:
            raise refuse(
                f"at(spine, by={name!r})",
                f"is of type {type_text(kind)}, but the windows' key is of type "
                f"{type_text(wanted)}",
                "cast one of them",
            )
    if source.time_type != bound.time_type:
        raise refuse(
            f"at(spine, time={time!r})",
            f"is of type {source.time_type}, but the windows are over {bound.time_type}",
            "cast one of them",
        )
    asks = TrailingBound(source, bound.coordinate, bound.spec, bound.horizons)
    if not spine.isStreaming or bound.postponed is not None:
        return replace(asks, postponed=bound.postponed)
    return replace(asks, postponed=max(bound.postponement, asks.postponement))


def name_columns(spine: DataFrame) -> list[str]:
    """The internal names of the columns of rows that ask: ``s0``, ``s1``…."""
    return [f"s{n}" for n in range(len(spine.columns))]


def select_asking(asks: TrailingBound) -> DataFrame:
    """The rows that ask: keys, ``t``, and their columns by internal names."""
    spine, forms = asks.df, asks.normal_forms
    own = name_columns(spine)
    (place,) = asks.coordinates
    columns = [
        place,
        *((column_of(spine, key), n) for n, key in zip(asks.keys, asks.by, strict=True)),
        *((column_of(spine, name), n) for n, name in zip(own, spine.columns, strict=True)),
    ]
    keys = [f"{forms[key]} as {key}" if key in forms else key for key in asks.keys]
    return project(spine, columns).selectExpr(*keys, "t", *own)
