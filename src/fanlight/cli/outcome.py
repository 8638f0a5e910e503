"""What the demo found out, for its page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fanlight.cli import job

if TYPE_CHECKING:
    import pyarrow as pa

    from fanlight.cli import arrivals, streamed
    from fanlight.cli.job import Case

YEAR_SECONDS = 365 * 86_400


@dataclass(frozen=True)
class Agreement:
    """A stream's result compared with the batch's."""

    windows: int
    different: int


@dataclass(frozen=True)
class Timing:
    """The same job by fanlight and by Spark's own window function, in seconds."""

    fanlight: float
    spark: float
    different: int  # windows


@dataclass
class Outcome:
    """Everything that the demo found out, for the page."""

    flights: pa.Table
    carriers: dict[str, str]
    arrivals: arrivals.Arrivals
    cases: tuple[Case, ...] = job.CASES
    spark_version: str = ""
    rejected: list[tuple[str, int]] = field(default_factory=list)
    results: dict[Case, pa.Table] = field(default_factory=dict)
    streams: dict[Case, streamed.Streamed] = field(default_factory=dict)
    agreements: dict[Case, Agreement] = field(default_factory=dict)
    timings: dict[Case, Timing] = field(default_factory=dict)
    plans: dict[Case, str] = field(default_factory=dict)  # of the batch, given what is known
    stream_plans: dict[Case, str] = field(default_factory=dict)  # given nothing
    seconds: float = 0.0

    @property
    def rows(self) -> int:
        """All flights, the cancelled ones too."""
        return int(self.flights.num_rows)

    @property
    def batch_cases(self) -> tuple[Case, ...]:
        """The cases of the batch: those of the stream, and one more."""
        return (*self.cases, job.AIRPORTS)

    @property
    def different(self) -> int:
        """How many windows are not equal: stream and batch, or batch and Spark's own."""
        streams = sum(one.different for one in self.agreements.values())
        return streams + sum(one.different for one in self.timings.values())

    @property
    def agrees(self) -> bool:
        """Whether all was compared, all is equal, and each late flight was dropped and counted."""
        late = self.arrivals.late
        return (
            set(self.agreements) == set(self.streams) == set(self.cases)
            and set(self.timings) == set(self.batch_cases)
            and not self.different
            and all(one.windows for one in self.agreements.values())
            and all(stream.dropped == late for stream in self.streams.values())
        )

    @property
    def rate(self) -> float:
        """Departures a second over the year."""
        return float(self.rows - self.flights["departed"].null_count) / YEAR_SECONDS

    def known(self, case: Case) -> job.Known:
        """What the cost model is given before the batch."""
        keys = self.flights.group_by(list(case.by)).aggregate([])
        return job.Known(self.rate, keys.num_rows)

    def speedup(self, case: Case) -> float:
        """How many times as fast as Spark's own window function."""
        return self.timings[case].spark / self.timings[case].fanlight

    @property
    def compared(self) -> int:
        """How many windows of streams were compared."""
        return sum(one.windows for one in self.agreements.values())
