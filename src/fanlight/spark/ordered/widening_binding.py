"""Progressive widening bound to a DataFrame: the rows as the operator takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, StructType

from fanlight.plan.coordinate import Coordinate, Kind
from fanlight.spark.bound import Bound
from fanlight.spark.fields import Fields, selected
from fanlight.spark.ordered.encoding import one_zero
from fanlight.spark.source import check_stream, schema_of, source_of
from fanlight.spec.errors import refuse
from fanlight.spec.widening import ProgressiveWidening

RESERVED = ("window", "level", "found_at")
_WHOLE = {"tinyint", "smallint", "int", "bigint"}
_REFUSED = ("map<", "variant", "interval year", "interval month", "void", "geometry", "geography")


@dataclass(frozen=True)
class WideningBound(Bound):
    """A source whose time is a whole number, and the windows over it."""

    spec: ProgressiveWidening


@dataclass(frozen=True)
class Units:
    """Rows as the operator takes them: keys, ``t``, tiebreaks, ``hash``, payload."""

    rows: DataFrame
    payload: tuple[str, ...]
    sources: tuple[tuple[str, str], ...]  # a column that the detector sees, and where it is
    seen: tuple[DataType, ...]  # the types that the detector sees

    def order(self, bound: WideningBound) -> list[str]:
        """The columns in the order of the operator's schema."""
        return [*bound.keys, "t", *bound.breaks, "hash", *self.payload]


def bind_widening(
    df: Any, spec: ProgressiveWidening, time: Any, by: Any, tiebreak: Any
) -> WideningBound:
    """Check the request against the DataFrame before anything is built."""
    if isinstance(time, (tuple, list)):
        raise refuse(
            f"time={time!r}",
            "is a pair, which means events that last; progressive widening is over points in time",
            "write time='ts'",
        )
    source = source_of(df, time, by, tiebreak)
    for name in source.names:
        if name.casefold() in RESERVED:
            raise refuse(
                f"by={name!r}",
                f"clashes with the output column {name!r}",
                f"rename it first: df.withColumnRenamed({name!r}, …)",
            )
    base = source.time_type.split("(", 1)[0]
    wanted = "timestamp" if spec.measure == "time" else "integer"
    if (spec.measure == "time") != (base in ("timestamp", "timestamp_ntz")) or (
        spec.measure == "number" and base not in _WHOLE
    ):
        raise refuse(
            f"time={time!r}",
            f"is of type {source.time_type}, but first={spec.first[0]} is over a {wanted}",
            "give durations for a timestamp and whole numbers for an integer, or cast the column",
        )
    check_stream(source)
    kind = cast("Kind", base if spec.measure == "time" else "integer")
    return WideningBound(**vars(source), coordinate=Coordinate(kind), spec=spec)


def units(bound: WideningBound, columns: Sequence[str]) -> Units:
    """The rows that can be placed, with what the detector asks to see."""
    df = bound.df
    found = schema_of(df, [("columns", name) for name in columns], "columns")
    for field in found:
        kind = field.dataType.simpleString()
        if any(word in kind for word in _REFUSED):
            raise refuse(
                f"column {field.name!r}",
                f"is of type {kind}, which a detector cannot be given",
                "leave it out: detect(…, columns=[…])",
            )
    homes = {bound.time: "t"}
    keys = schema_of(df, [("by", key) for key in bound.by], "by")
    for given, name, key in zip(bound.by, bound.keys, keys, strict=True):
        # A key that is a double has been made one with its like: -0.0 is 0.0 there.
        if isinstance(given, str) and "double" not in str(key.dataType.simpleString()):
            homes.setdefault(given, name)
    fields = Fields()
    sources: list[tuple[str, str]] = []
    for field in found:
        home = homes.get(field.name)
        if home is None or "float" in field.dataType.simpleString():
            home = fields.ask(field.name)
        sources.append((field.name, home))
    payload = tuple(fields.arguments.values())
    rows = selected(bound, fields, payload)
    types = {field.name: field.dataType for field in rows.schema.fields}
    # Rows that are equal in all that is hashed are alike to the detector: their order cannot show.
    hashed = f"xxhash64({', '.join(payload)})" if payload else "0L"
    keyed = [f"{one_zero(key, types[key])} as {key}" for key in bound.keys]
    rows = rows.selectExpr(*keyed, "t", *bound.breaks, f"{hashed} as hash", *payload)
    return Units(rows, payload, tuple(sources), tuple(field.dataType for field in found))


def check_result(bound: WideningBound, schema: StructType, *, recorded: bool) -> None:
    """The detector's columns beside those that are always there."""
    taken = [*bound.names, *RESERVED, *(["error"] if recorded else [])]
    lower = [name.casefold() for name in taken]
    names = [field.name for field in schema.fields]
    for field in schema.fields:
        name, kind = field.name, field.dataType.simpleString()
        if name.casefold() in lower or names.count(name) > 1:
            raise refuse(
                f"schema {schema.simpleString()}",
                f"names {name!r}, which the output has already",
                "choose another name",
            )
        if any(word in kind for word in _REFUSED):
            raise refuse(f"schema: {name!r}", f"is of type {kind}", "use another type")
