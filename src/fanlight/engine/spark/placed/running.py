"""Events that are still running in a batch, and rows that replace earlier ones of an event."""

from __future__ import annotations

from typing import Any, TypeVar

from pyspark.sql import DataFrame

from fanlight.engine.spark.binding.placed import Lasting
from fanlight.engine.spark.binding.source import schema_of
from fanlight.engine.spark.placed.instants import read_instant
from fanlight.engine.spark.sql import add_columns, free_name, quote_column
from fanlight.engine.spec.arguments import check_text
from fanlight.engine.spec.errors import refuse

B = TypeVar("B", bound=Lasting)
_EXAMPLE = "write for example as_of='2025-03-01T00:00:00Z'"


def with_running(bound: B, as_of: Any, id: Any) -> B:
    """The request with events that have no stop yet, and with one row an event."""
    asked = f"running(as_of={as_of!r}, id={id!r})"
    if bound.df.isStreaming:
        raise refuse(
            asked,
            "is of a batch: in a stream an event is known when it ends",
            "leave it out, with the watermark on the stop",
        )
    if as_of is None and id is None:
        raise refuse(asked, "says neither when nor which", f"{_EXAMPLE}, or id='call'")
    if id is not None:
        bound = bound.with_source(df=_keep_newest(bound, check_text("id", id, "id='call'")))
    if as_of is None:
        return bound
    _, instant = read_instant(bound.coordinate, as_of, f"as_of={as_of!r}", _EXAMPLE)
    return bound.with_source(time_sql=f"coalesce({bound.time_sql}, {instant})")


def _keep_newest(bound: Lasting, name: str) -> DataFrame:
    """The rows, one an event: the one with the latest stop, if one has it, and then start."""
    df = bound.df
    schema_of(df, [("id", name)], "id")
    place = free_name("place", df.columns)
    order = f"{bound.time_sql} desc nulls last, {bound.start_sql} desc nulls last"
    number = f"row_number() over (partition by {quote_column(df, name)} order by {order})"
    numbered = add_columns(df, [(f"if({quote_column(df, name)} is null, 1, {number})", place)])
    return numbered.filter(f"{place} = 1").drop(place)
