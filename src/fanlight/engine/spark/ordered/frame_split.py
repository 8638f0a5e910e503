"""Frames split at report times, so that sliding windows can aggregate the parts."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

from fanlight.engine.spark import result
from fanlight.engine.spark.binding.frames import FrameBound
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.units import read_extent


def check_split(bound: FrameBound, every: Any, *, so_far: bool) -> int:
    """Check the distance of report times, and return it in coordinates."""
    length = read_extent("every", every)
    bound.check_length("every", length)
    if bound.df.isStreaming and not so_far:
        raise refuse(
            "split(…) in a stream",
            "would give the early parts of a long frame when the windows they belong to are closed",
            "write accumulate(…): each part comes in time, with the aggregates of the rows before "
            "its end",
        )
    if so_far and bound.scheme.is_unnumbered:
        raise refuse(
            f"accumulate(…) of {bound.spec!r}",
            "cannot know of a row which frames it is in before later rows have come",
            "write split(…), in a batch",
        )
    if so_far and bound.scheme.drops_small_frames:
        raise refuse(
            "accumulate(…) with min_rows or min_duration",
            "would give parts of a frame that may yet be left out",
            "leave those out of the frame, or write split(…) in a batch",
        )
    if bound.df.isStreaming and bound.scheme.timing is None and bound.forget_after is None:
        raise refuse(
            "accumulate(…) of a stream's frames that no silence ends",
            "would go on to give parts of a key that has no further row, which a batch has not",
            "give the frame max_gap= or max_duration=, or over forget_after=",
        )
    return int(length.value)


def finish_parts(
    bound: FrameBound,
    fields: Fields,
    parts: DataFrame,
    begin: str = "start",
    end: str = "ending",
) -> DataFrame:
    """The results of parts with partials; ``begin`` and ``end`` are SQL for their bounds."""
    columns = [("frame", "frame_id"), ("closed", "closed"), *result.lower_outputs(fields, "start")]
    return result.finish_result(bound, parts, *result.window_times(bound, begin, end), columns)


def split_frames(bound: FrameBound, fields: Fields, frames: DataFrame, step: int) -> DataFrame:
    """The parts of ``frames`` (keys, ``frame``, bounds, partials) between report times."""
    first = f"((start - pmod(start, {step}L)) div {step}L)"
    last = f"(((ending - 1L) - pmod(ending - 1L, {step}L)) div {step}L)"
    parts = frames.filter("start < ending")
    parts = parts.selectExpr("*", f"explode(sequence({first}, {last})) as part")
    begin, end = f"greatest(start, part * {step}L)", f"least(ending, (part + 1L) * {step}L)"
    return finish_parts(bound, fields, parts, begin, end)
