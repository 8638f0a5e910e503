"""The results of the demo, which its page shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from demo.questions import QUESTIONS

if TYPE_CHECKING:
    import pyarrow as pa

    from demo import arrivals, so_far, streamed
    from demo.questions import Question


@dataclass(frozen=True)
class Comparison:
    """The comparison of two answers: rows compared, and rows that differ."""

    rows: int
    different: int


@dataclass(frozen=True)
class Timing:
    """How many seconds a question took by fanlight and by plain Spark."""

    fanlight: float
    spark: float


@dataclass
class Outcome:
    """All results of the demo; answers and comparisons are by question."""

    flights: pa.Table
    weather: pa.Table
    arrivals: arrivals.Arrivals
    questions: tuple[Question, ...] = QUESTIONS
    spark_version: str = ""
    rejected: list[tuple[str, int]] = field(default_factory=list)
    answers: dict[Question, pa.Table] = field(default_factory=dict)
    against_spark: dict[Question, Comparison] = field(default_factory=dict)
    timings: dict[Question, Timing] = field(default_factory=dict)
    streams: dict[Question, streamed.Streamed] = field(default_factory=dict)
    streamed: dict[Question, Comparison] = field(default_factory=dict)
    further: dict[Question, pa.Table] = field(default_factory=dict)
    so_far: so_far.SoFar | None = None
    seconds: float = 0.0

    @property
    def rows(self) -> int:
        """The number of flights, cancelled ones included."""
        return int(self.flights.num_rows)

    @property
    def compared(self) -> list[Comparison]:
        """All comparisons: between batch and plain Spark, and between stream and batch."""
        open_days = [] if self.so_far is None else [self.so_far.compared]
        return [*self.against_spark.values(), *self.streamed.values(), *open_days]

    @property
    def different(self) -> int:
        """How many rows differ, in all comparisons."""
        return sum(one.different for one in self.compared)

    @property
    def agrees(self) -> bool:
        """Whether all was compared and equal, and every late flight was dropped and counted."""
        asked, late = set(self.questions), self.arrivals.late
        return (
            asked == set(self.answers) == set(self.against_spark) == set(self.streamed)
            and asked == set(self.timings) == set(self.streams)
            and self.so_far is not None
            and not self.different
            and all(one.rows for one in self.compared)
            and all(stream.late == late for stream in self.streams.values())
        )

    def speedup(self, question: Question) -> float:
        """How many times as fast as plain Spark fanlight was."""
        return self.timings[question].spark / self.timings[question].fanlight
