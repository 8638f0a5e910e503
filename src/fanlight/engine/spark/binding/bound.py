"""A source with the coordinate of its time column: what fields of aggregates refer to."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from fanlight.engine.plan.coordinate import Coordinate, check_length
from fanlight.engine.spark.binding.source import Source
from fanlight.engine.spark.coordinates import coordinate, rejections
from fanlight.engine.spec.units import Extent


@dataclass(frozen=True)
class Bound(Source):
    """A source, and its time column as a coordinate."""

    coordinate: Coordinate

    @property
    def rows(self) -> DataFrame:
        """The DataFrame, with any further column that the place of a row depends on."""
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
        """What orders rows: the coordinate; for doubles, where it is coarser, the value itself."""
        return "exact" if self.coordinate.celled else "t"

    @property
    def order(self) -> list[str]:
        """The internal names of what puts the rows of a key in order."""
        return [self.instant, *self.breaks]

    @property
    def rejections(self) -> list[tuple[str, str]]:
        """(SQL condition, reason): which rows have no place in any window, null ones first."""
        return rejections(self.coordinate, self.time, self.time_sql)

    @property
    def coordinates(self) -> list[tuple[str, str]]:
        """(SQL text, internal name): a row's place in time, from the columns of the source."""
        found = [(coordinate(self.coordinate, self.time_sql), "t")]
        if self.coordinate.celled:
            found.append((f"cast({self.time_sql} as double)", self.instant))
        return found

    @property
    def placed(self) -> list[str]:
        """SQL over the coordinates: the part of a row's place that its lifted values keep."""
        return ["t"]
