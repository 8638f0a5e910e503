"""Progressive widening bound to a DataFrame: rows in the form that the operator takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql.types import StructType

from fanlight.engine.algebra.aggregate import contains_type
from fanlight.engine.plan.coordinate import Coordinate, check_kind, check_length
from fanlight.engine.plan.widening import levels_of
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.binding.source import bind_source, check_not_output, check_stream
from fanlight.engine.spark.sql import is_taken, type_text
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.widening import ProgressiveWidening

RESERVED = ("window", "level", "found_at")
REFUSED = ("map<", "variant", "interval year", "interval month", "void", "geometry", "geography")


@dataclass(frozen=True)
class WideningBound(Bound):
    """A source whose time is a whole number, with the spec of the windows over it."""

    spec: ProgressiveWidening

    @property
    def window_lags(self) -> tuple[int | None, int | None]:
        """A window is two batches of its level; it is searched when the second is complete."""
        return 2 * levels_of(self.spec)[-1].duration, 0


def bind_widening(
    df: Any, spec: ProgressiveWidening, time: Any, by: Any, tiebreak: Any
) -> WideningBound:
    """Check the request against the DataFrame before anything is built."""
    source = bind_source(df, time, by, tiebreak)
    for name in source.names:
        check_not_output(df, f"by={name!r}", name, RESERVED)
    kind = check_kind(source.time, source.time_type, "over which windows cannot widen")
    told = f"time={source.time!r}"
    check_length("first", spec.first[0], kind, time=told, time_type=source.time_type)
    check_stream(source)
    return WideningBound(source, Coordinate(kind), spec)


def check_result(bound: WideningBound, schema: StructType, *, recorded: bool) -> None:
    """Refuse columns of a match with a name or of a type that the result cannot have."""
    taken = [*bound.names, *RESERVED, *(["error"] if recorded else [])]
    for place, field in enumerate(schema.fields):
        name, kind = field.name, type_text(field.dataType)
        if is_taken(bound.df, name, [*taken, *schema.names[:place]]):
            raise refuse(
                f"schema {type_text(schema)}",
                f"names {name!r}, which already exists in the output",
                "choose another name",
            )
        if contains_type(kind, REFUSED):
            raise refuse(
                f"schema: {name!r}",
                f"is of type {kind}, which a match cannot have",
                "use another type",
            )
