"""A source placed on an axis: what the fields of aggregates refer to."""

from __future__ import annotations

from dataclasses import dataclass

from fanlight.plan.axis import Axis
from fanlight.spark.source import Source


@dataclass(frozen=True)
class Bound(Source):
    """A source, and its windowing attribute as whole numbers."""

    axis: Axis

    @property
    def instant(self) -> str:
        """What orders rows: the coordinate; for doubles, where it is a cell, the value itself."""
        return "u" if self.axis.kind == "double" else "t"
