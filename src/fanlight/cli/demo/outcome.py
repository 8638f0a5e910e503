"""What the demo found out, for its page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fanlight.cli.demo.questions import QUESTIONS

if TYPE_CHECKING:
    import pyarrow as pa

    from fanlight.cli.demo import arrivals, streamed
    from fanlight.cli.demo.questions import Question


@dataclass(frozen=True)
class Comparison:
    """One answer held against another."""

    rows: int
    different: int


@dataclass(frozen=True)
class Timing:
    """The same question asked of fanlight and of plain Spark, in seconds."""

    fanlight: float
    spark: float


@dataclass
class Outcome:
    """Everything that the demo found out, for the page; answers are by question."""

    flights: pa.Table
    weather: pa.Table
    arrivals: arrivals.Arrivals
    questions: tuple[Question, ...] = QUESTIONS
    spark_version: str = ""
    rejected: list[tuple[str, int]] = field(default_factory=list)
    answers: dict[Question, pa.Table] = field(default_factory=dict)
    plain: dict[Question, Comparison] = field(default_factory=dict)
    timings: dict[Question, Timing] = field(default_factory=dict)
    streams: dict[Question, streamed.Streamed] = field(default_factory=dict)
    streamed: dict[Question, Comparison] = field(default_factory=dict)
    further: dict[Question, pa.Table] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def rows(self) -> int:
        """All flights, the cancelled ones too."""
        return int(self.flights.num_rows)

    @property
    def different(self) -> int:
        """How many rows are not equal: batch and plain Spark, or stream and batch."""
        return sum(one.different for one in (*self.plain.values(), *self.streamed.values()))

    @property
    def agrees(self) -> bool:
        """Whether all was compared, all is equal, and each late flight was left out and counted."""
        asked, late = set(self.questions), self.arrivals.late
        return (
            asked == set(self.answers) == set(self.plain) == set(self.streamed)
            and asked == set(self.timings) == set(self.streams)
            and not self.different
            and all(one.rows for one in (*self.plain.values(), *self.streamed.values()))
            and all(stream.late == late for stream in self.streams.values())
        )

    def speedup(self, question: Question) -> float:
        """How many times as fast as plain Spark."""
        return self.timings[question].spark / self.timings[question].fanlight
