"""A source with the coordinate of its time column: what fields of aggregates refer to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from pyspark.sql import DataFrame

from fanlight.engine.kinds.kind import FINAL
from fanlight.engine.plan.coordinate import Coordinate, check_length
from fanlight.engine.plan.late_rows import Lateness
from fanlight.engine.spark.binding.lag import Lag, add_lags
from fanlight.engine.spark.binding.source import Given, Source, check_not_output
from fanlight.engine.spark.coordinates import coordinate, exact, rejections
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.units import Extent, read_extent

Refusal = tuple[bool, str, str]  # whether it is refused, why, and what to write instead


@dataclass(frozen=True)
class Bound:
    """A source, and its time column as a coordinate."""

    source: Source
    coordinate: Coordinate
    # How often windows are given before they are final, in coordinates: 0 with each micro-batch.
    early: int | None = field(default=None, kw_only=True)
    collects: bool = field(default=False, kw_only=True)  # whether late rows are given, too
    # What was asked of the windows by verbs: the arguments of each.
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, kw_only=True)
    # By how many microseconds a stream waits longer than its watermark; None: by the lag of times.
    postponed: int | None = field(default=None, kw_only=True)

    @property
    def df(self) -> DataFrame:
        """The DataFrame."""
        return self.source.df

    @property
    def divides(self) -> bool:
        """Whether rows last, so that a part of one may lie in a window."""
        return False

    @property
    def carries(self) -> bool:
        """Whether readings may be carried into windows."""
        return False

    @property
    def time(self) -> str:
        """The name of the time column."""
        return self.source.time

    @property
    def time_sql(self) -> str:
        """SQL: the time column, cast to a timestamp where windows read it as one."""
        return self.source.time_sql

    @property
    def time_type(self) -> str:
        """The type of the time column after that cast."""
        return self.source.time_type

    @property
    def by(self) -> tuple[Given, ...]:
        """The keys."""
        return self.source.by

    @property
    def names(self) -> tuple[str, ...]:
        """The output names of the keys."""
        return self.source.names

    @property
    def tiebreak(self) -> tuple[Given, ...]:
        """The columns that order rows of equal time."""
        return self.source.tiebreak

    @property
    def delay(self) -> Any | None:
        """The watermark's delay, if the time column carries one."""
        return self.source.delay

    @property
    def lag(self) -> Lag | None:
        """The lag of the first instant of a row; None if it is of a source."""
        return self.source.lag

    @property
    def postponement(self) -> int:
        """The microseconds that a stream waits longer than its watermark."""
        if not self.df.isStreaming:
            return 0
        if self.postponed is not None:
            return self.postponed
        length = 0 if self.lag is None else self.lag.length
        if length is None:
            computed = self.lag is not None and self.lag.computed
            raise refuse(
                f"over(…, time={self.times!r})",
                "takes times from windows of the same stream, which come when they have ended, and "
                "nothing says how long they may be: what came too late would be left out",
                "say how long with .postpone('2 hours') before the aggregates"
                + (
                    "" if computed else ", or give the windows that the times are of a max_duration"
                ),
            )
        return length

    @property
    def lateness(self) -> Lateness:
        """What ``explain`` says of late rows besides the rule."""
        return Lateness(self.postponement, self.collects)

    def later(self, microseconds: str) -> str:
        """SQL: an instant as much later as a stream is postponed."""
        wait = self.postponement
        return f"({microseconds} + {wait}L)" if wait else microseconds

    @property
    def times(self) -> str | tuple[str, str]:
        """The time columns, as they were given."""
        return self.time

    @property
    def lags(self) -> tuple[int | None, int | None]:
        """The lags of a result's windows, of where they begin and end; None: nothing bounds it."""
        length, late = self.window_lags
        end = add_lags(self.postponement, late)
        return add_lags(end, length), end

    @property
    def window_lags(self) -> tuple[int | None, int | None]:
        """How long windows are at most, and how long after its end a window is given, at most."""
        return 0, 0

    def read_wait(self, wait: Any) -> int:
        """How many microseconds a stream waits longer than its watermark, as ``postpone`` says."""
        length = read_extent("postpone", wait, positive=False, counted=False)
        if length.measure != "time" or length.value < 0:
            raise refuse(
                f"postpone={wait!r}",
                "is not a duration",
                "write for example '2 hours', or '0 seconds' for no longer than the watermark",
            )
        return int(length.value)

    @property
    def partitions(self) -> int | None:
        """How many partitions of keys a stream has with state in Python; None: Spark's setting."""
        return self.source.partitions

    @property
    def forget_after(self) -> int | None:
        """After how long a silence, in coordinates, a key starts anew; None: it never does."""
        length = self.source.forget_after
        return None if length is None else int(length.value / self.coordinate.unit)

    @property
    def keys(self) -> list[str]:
        """The internal names of the keys."""
        return self.source.keys

    @property
    def tie_keys(self) -> list[str]:
        """The internal names of the tiebreak columns."""
        return self.source.tie_keys

    @property
    def normal_forms(self) -> dict[str, str]:
        """SQL: keys and tiebreaks in their normal form, by internal name, where it is another."""
        return self.source.normal_forms

    def with_source(self, **changed: Any) -> Self:
        """A copy whose source has some fields replaced."""
        return replace(self, source=replace(self.source, **changed))

    def without(self, option: str) -> Self:
        """A copy of which an option is not asked."""
        kept = {name: given for name, given in self.options.items() if name != option}
        return replace(self, options=kept)

    @property
    def early_refusals(self) -> Iterable[Refusal]:
        """Which of these windows cannot be given early."""
        return ()

    def read_early(self, every: Any) -> int:
        """How often windows are given while they are open, in coordinates; 0: each micro-batch."""
        asked = f"early({'' if every is None else repr(every)})"
        batch = (not self.df.isStreaming, "is for streams: a batch has all rows", "leave it out")
        for wrong, why, instead in (batch, *self.early_refusals):
            if wrong:
                raise refuse(asked, why, instead)
        for name in self.names:
            check_not_output(self.df, f"by={name!r}", name, (FINAL,))
        if every is None:
            return 0
        length = read_extent("every", every, counted=False, timed=True)
        self.check_length("every", length)
        return int(length.value)  # streams have timestamps

    @property
    def rows(self) -> DataFrame:
        """The DataFrame, with any added column that rows need to be placed in windows."""
        return self.df

    def check_length(
        self, argument: str, length: Extent, *, instead: str = "", whole: bool = True
    ) -> None:
        """Refuse a length that does not fit the time column."""
        check_length(
            argument,
            length,
            self.coordinate.kind,
            time=f"time={self.time!r}",
            time_type=self.time_type,
            instead=instead,
            whole=whole,
        )

    @property
    def instant(self) -> str:
        """The column that orders rows by time: the coordinate, or the time itself of doubles."""
        return "exact" if self.coordinate.is_unit_number else "t"

    @property
    def order(self) -> list[str]:
        """The internal names of the columns that put the rows of a key in order."""
        return [self.instant, *self.tie_keys]

    @property
    def rejections(self) -> list[tuple[str, str]]:
        """(SQL condition, reason) pairs: which rows no window can hold, null times first."""
        return rejections(self.coordinate, self.time, self.time_sql)

    @property
    def coordinates(self) -> list[tuple[str, str]]:
        """(SQL text, internal name) pairs: a row's coordinates, from columns of the source."""
        coordinates = [(coordinate(self.coordinate, self.time_sql), "t")]
        if self.coordinate.is_unit_number:
            coordinates.append((exact(self.coordinate, self.time_sql), self.instant))
        return coordinates

    @property
    def late_after(self) -> str:
        """SQL over coordinates and instants: a row is late once the watermark has come to this.

        Whatever asks which rows are late asks this, and has it in microseconds, as a watermark is.
        """
        return "t"

    @property
    def place_columns(self) -> list[str]:
        """SQL over the coordinates: the columns that go with a row's lifted values."""
        return ["t"]
