"""Frames split at report times, so that sliding windows can aggregate the parts."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

from fanlight.engine.spark import result
from fanlight.engine.spark.binding.frames import FrameBound
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.units import read_extent


def check_split(bound: FrameBound, every: Any) -> int:
    """Check the distance of report times, and return it in coordinates."""
    length = read_extent("every", every)
    bound.check_length("every", length)
    if bound.df.isStreaming:
        raise refuse(
            "split(…) in a stream",
            "would emit the early parts of a long frame when the windows they belong to are closed",
            "cut at report times as well: make the report's number a column and one more dimension "
            "of fl.BoundaryFrame",
        )
    return int(length.value)


def split_frames(bound: FrameBound, fields: Fields, frames: DataFrame, step: int) -> DataFrame:
    """The parts of ``frames`` (keys, ``frame``, bounds, partials) between report times."""
    first = f"((start - pmod(start, {step}L)) div {step}L)"
    last = f"(((ending - 1L) - pmod(ending - 1L, {step}L)) div {step}L)"
    parts = frames.filter("start < ending")
    parts = parts.selectExpr("*", f"explode(sequence({first}, {last})) as part")
    begin, end = f"greatest(start, part * {step}L)", f"least(ending, (part + 1L) * {step}L)"
    columns = [("frame", "frame_id"), ("closed", "closed"), *result.lower_outputs(fields, "start")]
    return result.finish_result(bound, parts, *result.window_times(bound, begin, end), columns)
