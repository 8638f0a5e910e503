"""What the user asks for, and tells the cost model, of windows over events that last."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from fanlight.plan.axis import Axis
from fanlight.plan.cost import Workload
from fanlight.spark.bound import Bound
from fanlight.spec.errors import refuse
from fanlight.spec.granular import MultiGranular
from fanlight.spec.sliding import Sliding
from fanlight.spec.units import extent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta


@dataclass(frozen=True)
class Hints:
    """The technique, and the workload as far as it is known."""

    strategy: str = "auto"
    height: int = 7
    rate: float | None = None
    groups: float | None = None
    duration: Fraction | None = None  # in the units of the windows

    def told(
        self,
        strategy: str,
        rate: float | None,
        groups: float | None,
        duration: Fraction | None,
        height: int | None = None,
    ) -> Hints:
        """These, where nothing else is told."""
        return replace(
            self,
            strategy=strategy,
            height=self.height if height is None else height,
            rate=self.rate if rate is None else rate,
            groups=self.groups if groups is None else groups,
            duration=self.duration if duration is None else duration,
        )

    def groups_of(self, bound: Bound) -> float:
        """How many keys there are, or are taken to be."""
        return self.groups or (Workload().groups if bound.by else 1.0)

    def coordinates(self, axis: Axis) -> float | None:
        """How long events last, in coordinates."""
        return None if self.duration is None else float(self.duration / axis.coordinate.unit)


def length_of(
    duration: str | timedelta | float | None,
    spec: Sliding | MultiGranular | Sequence[Sliding],
) -> Fraction | None:
    """A hint on durations, which must be of the kind of the windows."""
    if duration is None:
        return None
    told = extent("duration", duration)
    first = spec.ranges[0] if isinstance(spec, MultiGranular) else None
    if first is None:
        first = (spec if isinstance(spec, Sliding) else spec[0]).range  # type: ignore[index]
    if told.measure != first.measure:
        raise refuse(
            f"duration={duration!r}",
            f"is not of the kind of range={first}",
            "give it as RANGE is given",
        )
    return told.value
