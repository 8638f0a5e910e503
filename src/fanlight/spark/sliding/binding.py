"""A sliding window bound to the DataFrame it slides over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fanlight.plan.axis import Axis, axis_of
from fanlight.spark.bound import Bound
from fanlight.spark.source import check_stream, source_of
from fanlight.spec.errors import refuse
from fanlight.spec.sliding import Sliding

MOST_WINDOWS_A_ROW = 1_000_000


@dataclass(frozen=True)
class Ranged(Bound):
    """A source under windows of one RANGE."""

    axis: Axis


@dataclass(frozen=True)
class SlidingBound(Ranged):
    """A source on the axis of its sliding windows."""

    spec: Sliding


def bind(df: Any, spec: Sliding, time: Any, by: Any, tiebreak: Any) -> SlidingBound:
    """Check the request against the DataFrame before anything is built."""
    source = source_of(df, time, by, tiebreak)
    axis = axis_of(spec, source.time, source.time_type)
    check_stream(source)
    overlap = axis.range / axis.slide
    if overlap > MOST_WINDOWS_A_ROW and not spec.slide_by_tuple:
        raise refuse(
            f"range={spec.range} with slide={spec.slide}",
            f"puts each row into {overlap:.0f} windows",
            "choose a longer slide, or slide=fl.rows(1) for a window that ends at each row",
        )
    return SlidingBound(**vars(source), coordinate=axis.coordinate, axis=axis, spec=spec)
