"""Instants that a user writes, as values of the time column."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import isnan
from typing import Any

from fanlight.engine.plan.coordinate import Coordinate
from fanlight.engine.spark.coordinates import restore_sql
from fanlight.engine.spec.errors import refuse


def read_instant(of: Coordinate, given: Any, asked: str, instead: str) -> tuple[Any, str]:
    """A value that can be compared with others of its kind, and its SQL.

    Errors say what was ``asked``, and what to write ``instead``.
    """
    if not of.is_timestamp:
        if isinstance(given, bool) or not isinstance(given, (int, float)) or isnan(given):
            why = "has what is not a number, but the time is one"
            raise refuse(asked, why, "write numbers, such as 0 or 0.5")
        return given, f"{given}L" if isinstance(given, int) else f"{given!r}D"
    if isinstance(given, str):
        try:
            given = datetime.fromisoformat(given)
        except ValueError as error:
            raise refuse(asked, f"has {given!r}, which is not a time", instead) from error
    if not isinstance(given, datetime):
        raise refuse(asked, f"has a {type(given).__name__}, which is not a time", instead)
    local = of.kind == "timestamp_ntz"
    if (given.tzinfo is None) != local:
        raise refuse(
            asked,
            "has a time zone, but the times have none" if local else "has no time zone",
            "leave its time zone out" if local else instead,
        )
    epoch = datetime(1970, 1, 1, tzinfo=None if local else UTC)
    micros = (given - epoch) // timedelta(microseconds=1)
    return micros, restore_sql(Coordinate(of.kind), f"{micros}L")
