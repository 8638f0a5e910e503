"""Spark's total order of values, in Python: nulls first, NaN last, structs field by field."""

from __future__ import annotations

from typing import Any

Key = tuple[Any, ...]


def spark_key(value: Any) -> Key:
    """A key that sorts values the way Spark's ``ORDER BY`` does.

    >>> nan = float("nan")
    >>> sorted([nan, 2.0, None, -1.0], key=spark_key)
    [None, -1.0, 2.0, nan]
    """
    if value is None:
        return (0,)
    if isinstance(value, (tuple, list)):
        return (1, tuple(spark_key(part) for part in value))
    if isinstance(value, float) and value != value:  # noqa: PLR0124 - NaN, without importing math
        return (2,)
    if isinstance(value, str):
        return (1, value.encode())  # Spark compares UTF-8 bytes
    return (1, value)


def least(a: Any, b: Any) -> Any:
    """The smaller of two values in Spark's order."""
    return b if spark_key(b) < spark_key(a) else a


def greatest(a: Any, b: Any) -> Any:
    """The greater of two values in Spark's order."""
    return b if spark_key(b) > spark_key(a) else a
