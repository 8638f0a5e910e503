"""Events that are still running in a batch, and rows that replace earlier ones of an event."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, TypeVar

from pyspark.sql import DataFrame
from pyspark.sql.types import IntegralType, StringType

from fanlight.engine.kinds.options import RUNNING
from fanlight.engine.spark.binding.placed import Lasting, Unended
from fanlight.engine.spark.binding.snapshot import SnapshotBound
from fanlight.engine.spark.binding.source import schema_of
from fanlight.engine.spark.placed.instants import read_instant
from fanlight.engine.spark.sql import add_columns, free_name, quote_column, type_text
from fanlight.engine.spec.arguments import check_text
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.frames.base import read_length

B = TypeVar("B", bound=Lasting)
_EXAMPLE = "write for example as_of='2025-03-01T00:00:00Z'"


def read_running(bound: B) -> B:
    """The request with events that have no stop yet, and with one row an event."""
    given = bound.options[RUNNING]
    as_of, id, max_duration = (given[name] for name in ("as_of", "id", "max_duration"))
    asked = f"running(as_of={as_of!r}, id={id!r})"
    if bound.df.isStreaming:
        return _with_running_in_stream(bound, as_of, id, max_duration)
    if max_duration is not None:
        raise refuse(
            f"running(max_duration={max_duration!r}) of a batch",
            "is of streams, which would wait for a stop that never comes",
            "leave it out: as_of says until when events are running",
        )
    if as_of is None and id is None:
        raise refuse(asked, "says neither when nor which", f"{_EXAMPLE}, or id='call'")
    if id is not None:
        bound = bound.with_source(df=_keep_newest(bound, check_text("id", id, "id='call'")))
    if as_of is None:
        return bound
    _, instant = read_instant(bound.coordinate, as_of, f"as_of={as_of!r}", _EXAMPLE)
    return bound.with_source(time_sql=f"coalesce({bound.time_sql}, {instant})")


def _with_running_in_stream(bound: B, as_of: Any, id: Any, max_duration: Any) -> B:
    """The same of a stream, in which an event is running at least up to the watermark."""
    if isinstance(bound, SnapshotBound):
        raise refuse(
            f"running(as_of={as_of!r}, id={id!r}) of snapshots in a stream",
            "would need the stops, which cut them",
            "leave it out, with the watermark on the stop: an event is then known when it ends",
        )
    if as_of is not None or id is None:
        raise refuse(
            f"running(as_of={as_of!r}, id={id!r}) of a stream",
            "says no time, which is the watermark's, and which event a row is of",
            "write running(id='call')",
        )
    name = check_text("id", id, "id='call'")
    (column,) = schema_of(bound.df, [("id", name)], "id")
    if not isinstance(column.dataType, (StringType, IntegralType)):
        raise refuse(
            f"id={name!r}",
            f"is of type {type_text(column.dataType)}, by which a stream cannot tell events apart",
            "cast it to string",
        )
    most, length = None, read_length("max_duration", max_duration)
    if length is not None:
        bound.check_length("max_duration", length)
        most = max(1, math.ceil(length.value / bound.coordinate.unit))
    unended = Unended(name, quote_column(bound.df, name), bound.time_sql, most)
    bound = replace(bound, unended=unended)
    return bound.with_source(time_sql=f"coalesce({bound.time_sql}, {bound.start_sql})")


def _keep_newest(bound: Lasting, name: str) -> DataFrame:
    """Keep one row per event: the row with the latest stop, then the latest start."""
    df = bound.df
    schema_of(df, [("id", name)], "id")
    place = free_name("place", df.columns)
    order = f"{bound.time_sql} desc nulls last, {bound.start_sql} desc nulls last"
    number = f"row_number() over (partition by {quote_column(df, name)} order by {order})"
    numbered = add_columns(df, [(f"if({quote_column(df, name)} is null, 1, {number})", place)])
    return numbered.filter(f"{place} = 1").drop(place)
