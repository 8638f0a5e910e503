"""Events that last, bound to the windows in which the same of them are running."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import NUMERIC, base_type
from fanlight.engine.arrow import is_of_spark
from fanlight.engine.spark.binding.placed import Lasting, bind_lasting, read_time_pair
from fanlight.engine.spark.binding.source import schema_of
from fanlight.engine.spark.sql import type_text
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.sliding import Sliding
from fanlight.engine.spec.snapshot import Snapshot


@dataclass(frozen=True)
class SnapshotBound(Lasting):
    """Events bound to their snapshots: an event is late once the watermark has passed its start.

    Its grid has a window a unit of time: what is said of the first window of an event is said of
    its start.
    """

    snapshot: Snapshot

    @property
    def window_lags(self) -> tuple[int | None, int | None]:
        """Windows may be of any length; equal windows are released when the next one differs."""
        return None, None if self.snapshot.merge_equal else 0

    @property
    def divides(self) -> bool:
        """Whether a part of a row may lie in a window: never, as windows end where events do."""
        return False

    @property
    def late_after(self) -> str:
        """SQL: the instant after an event's start."""
        return "first_at + 1L"

    @property
    def rejections(self) -> list[tuple[str, str]]:
        """Also reject events without a duration, which are never running."""
        return [
            *super().rejections,
            (f"{self.time_sql} = {self.start_sql}", f"{self.time} is {self.start}: no duration"),
        ]

    @property
    def least(self) -> str:
        """SQL: the least duration of a window, in the units of its ends; empty without one."""
        length = self.snapshot.min_duration
        if length is None:
            return ""
        if self.coordinate.is_unit_number:
            return f"{float(length.value)!r}D"
        return f"{int(length.value)}L"


def _is_number(df: DataFrame, column: str) -> bool:
    (stop,) = schema_of(df, [("time", column)], "time")
    return base_type(type_text(stop.dataType)) in NUMERIC


def bind_snapshot(
    df: Any, spec: Snapshot, time: Any, by: Any, tiebreak: Any, late: Any
) -> SnapshotBound:
    """Check the request of snapshots against the DataFrame."""
    if not isinstance(time, (tuple, list)):
        raise refuse(
            f"over(df, {spec!r}, time={time!r})",
            "has one time, and points are running at no time",
            "write time=('start', 'stop'), or ask for another kind of window",
        )
    if late == "open":
        raise refuse(
            "late='open'",
            "is for windows that time places: a late event would change windows that are out",
            "leave it out, or write late='collect'",
        )
    names = read_time_pair(time)
    number = is_of_spark(df) and _is_number(df, names[1])
    unit = Sliding(1) if number else Sliding("1 microsecond")
    bound = bind_lasting(df, unit, time, by, tiebreak, late)
    if spec.min_duration is not None:
        bound.check_length(
            "min_duration", spec.min_duration, whole=bound.coordinate.kind != "double"
        )
    own = {one.name: getattr(bound, one.name) for one in fields(bound)}
    return SnapshotBound(**own, snapshot=spec)
