"""Selects the rows for the widening operator: keys, time, order, and what the detector reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType

from fanlight.engine.algebra.aggregate import contains_type
from fanlight.engine.spark.binding.source import schema_of
from fanlight.engine.spark.binding.widening import REFUSED, WideningBound
from fanlight.engine.spark.equality import needs_normal_form
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.lift import select_placeable
from fanlight.engine.spark.sql import type_text
from fanlight.engine.spec.errors import refuse


@dataclass(frozen=True)
class Units:
    """Rows for the operator: keys, ``t``, tiebreaks, ``hash``, payload."""

    rows: DataFrame
    payload: tuple[str, ...]
    sources: tuple[tuple[str, str], ...]  # a column that the detector sees, and where it is
    seen: tuple[DataType, ...]  # the types that the detector sees

    def order(self, bound: WideningBound) -> list[str]:
        """The columns, ordered as in the operator's schema."""
        return [*bound.keys, "t", *bound.tie_keys, "hash", *self.payload]


def select_rows(bound: WideningBound, columns: Sequence[str]) -> Units:
    """The rows that can be placed, with the columns that the detector reads."""
    bound.source.check_comparable()
    df = bound.df
    found = schema_of(df, [("columns", name) for name in columns], "columns")
    for field in found:
        kind = type_text(field.dataType)
        if contains_type(kind, REFUSED):
            raise refuse(
                f"column {field.name!r}",
                f"is of type {kind}, which a detector cannot be given",
                "leave it out: detect(…, columns=[…])",
            )
    homes = {} if bound.source.read_from else {bound.time: "t"}
    keys = schema_of(df, [("by", key) for key in bound.by], "by")
    for given, name, key in zip(bound.by, bound.keys, keys, strict=True):
        # A key is in its normal form there: a detector sees the column as it is.
        if isinstance(given, str) and not needs_normal_form(key.dataType):
            homes.setdefault(given, name)
    fields = Fields()
    sources: list[tuple[str, str]] = []
    for field in found:
        home = homes.get(field.name)
        if home is None or contains_type(type_text(field.dataType), ["float"]):
            home = fields.add_argument(field.name)
        sources.append((field.name, home))
    payload = tuple(fields.arguments.values())
    rows = select_placeable(bound, fields)
    # Rows with equal payload are the same to a detector, so their order makes no difference.
    hashed = f"xxhash64({', '.join(payload)})" if payload else "0L"
    rows = rows.selectExpr(*bound.keys, "t", *bound.tie_keys, f"{hashed} as hash", *payload)
    return Units(rows, payload, tuple(sources), tuple(field.dataType for field in found))
