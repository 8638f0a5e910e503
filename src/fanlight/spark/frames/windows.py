"""Frames over a DataFrame: the request, checked, planned, and built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException

from fanlight.algebra.aggregate import Call
from fanlight.spark.fields import Fields, collect_calls, fields_of
from fanlight.spark.frames import batch, stream
from fanlight.spark.frames.binding import OUTPUTS, FrameBound, bind
from fanlight.spark.rejected import rejected_rows
from fanlight.spark.windowed import Windowed
from fanlight.spec.errors import FanlightError, refuse
from fanlight.spec.frames import Frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class FrameWindows(Windowed):
    """A DataFrame cut into frames; made by :func:`fanlight.over`, frozen."""

    __slots__ = ("_bound",)

    def __init__(self, bound: FrameBound) -> None:
        self._bound = bound

    @classmethod
    def open(cls, df: Any, spec: Frame, time: Any, by: Any, tiebreak: Any) -> FrameWindows:
        """Check the request against the DataFrame."""
        return cls(bind(df, spec, time, by, tiebreak))

    def using(
        self, strategy: str = "auto", *, rate: float | None = None, groups: float | None = None
    ) -> FrameWindows:
        """Frames are cut in one way only: ``"auto"``; hints change nothing."""
        del rate, groups
        if strategy != "auto":
            raise refuse(
                f"using({strategy!r})", "is no way to cut frames", "leave it out, or write 'auto'"
            )
        return self

    def frames(self) -> DataFrame:
        """One row a frame: the ``by`` columns, ``window``, ``frame_id``, ``rows``, ``closed``."""
        return self._built(Fields(), "frames()")

    def agg(self, *aggregates: Call, **named: Call) -> DataFrame:
        """One row a frame, as :meth:`frames`, and the aggregates of its rows."""
        calls = collect_calls(self._bound, aggregates, named, OUTPUTS)
        asked = ", ".join(call.label for call in calls)
        exact = self._bound.df.isStreaming
        return self._built(fields_of(self._bound, calls, exact=exact), asked)

    def explain(self, *aggregates: Call, **named: Call) -> str:
        """How the frames are cut."""
        return repr(self._bound.spec)

    def rejected(self) -> DataFrame:
        """The rows that are in no frame because of their time, with a column ``reason``."""
        return rejected_rows(self._bound)

    def _built(self, fields: Fields, asked: str) -> DataFrame:
        build = stream.frames if self._bound.df.isStreaming else batch.frames
        try:
            result = build(self._bound, fields)
            result.schema  # noqa: B018 - Connect analyses no sooner
        except PySparkException as error:
            raise FanlightError(f"Spark cannot make sense of {asked}: {error}") from error
        return result

    def __repr__(self) -> str:
        return f"FrameWindows({self._bound.spec!r} over {self._bound.time!r})"
