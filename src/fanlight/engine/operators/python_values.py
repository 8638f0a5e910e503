"""Columns of partials as Python values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa


def python_values(column: pa.Array) -> list[Any]:
    """A column as Python values, with structs as tuples."""
    shape = _converter_for(column.type)
    values: list[Any] = column.to_pylist()
    return values if shape is None else [shape(value) for value in values]


def python_rows(table: pa.Table) -> list[tuple[Any, ...]]:
    """The rows of a table as Python values."""
    columns = [python_values(column.combine_chunks()) for column in table.columns]
    return list(zip(*columns, strict=True))


def _converter_for(kind: pa.DataType) -> Callable[[Any], Any] | None:
    if pa.types.is_struct(kind):
        parts = [
            (kind.field(i).name, _converter_for(kind.field(i).type)) for i in range(kind.num_fields)
        ]

        def as_tuple(value: Any) -> Any:
            if value is None:
                return None
            return tuple(shape(value[name]) if shape else value[name] for name, shape in parts)

        return as_tuple
    if pa.types.is_list(kind):
        inner = _converter_for(kind.value_type)
        if inner is None:
            return None
        return lambda value: None if value is None else [inner(part) for part in value]
    return None
