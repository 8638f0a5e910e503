"""Several windows bound to a DataFrame of events that last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fanlight.plan.axis import axes_of
from fanlight.plan.granular import Granules, edges_of
from fanlight.plan.grid import Grid
from fanlight.spark.coordinates import boundary
from fanlight.spark.granular.binding import Labelled, listed
from fanlight.spark.spanning.binding import Lasting, check_reach, events_of
from fanlight.spark.spanning.ranges import limit
from fanlight.spec.errors import refuse
from fanlight.spec.granular import MultiGranular


@dataclass(frozen=True)
class SeveralBound(Lasting, Labelled):
    """Events under levels, or under a list of queries."""

    @property
    def limit(self) -> int:
        """Coordinates must stay below this, either way."""
        return min(limit(axis, len(self.axes)) for axis in self.axes)

    @property
    def since(self) -> int | None:
        """The initiation time: what happened before it is in no window."""
        if isinstance(self.spec, MultiGranular) and self.spec.offset is not None:
            return self.axis.offset
        return None

    @property
    def rejections(self) -> list[tuple[str, str]]:
        """Also events that are over before the initiation time."""
        found = super().rejections
        if self.since is None:
            return found
        since, ends = f"{self.since}L", [text for text, _ in self.coordinates]
        if self.coordinate.celled:  # values as they are, behind their cells
            since, ends = boundary(self.coordinate, since), ends[2:]
        # An event without duration is its instant, so it is over only behind it.
        over = f"{ends[1]} <= {since} and {ends[0]} < {since}"
        return [*found, (over, f"{self.time} is before the initiation time")]

    @property
    def placed(self) -> list[str]:
        """Of an event that began before the initiation time, what is behind it."""
        s, *rest = super().placed
        return [s if self.since is None else f"greatest({s}, {self.since}L) as s", *rest]

    @property
    def grids(self) -> list[Grid]:
        """Where the windows of each query lie."""
        return [axis.grid for axis in self.axes]

    @property
    def slots(self) -> tuple[Granules, Granules]:
        """Slices within which it makes no difference where an event begins, and where it ends."""
        return edges_of(self.grids, starts=False), edges_of(self.grids, starts=True)

    @property
    def changes_only(self) -> bool:
        """Whether only results that changed are reported."""
        return isinstance(self.spec, MultiGranular) and self.spec.changes_only


def bind(df: Any, spec: Any, time: Any, by: Any, tiebreak: Any) -> SeveralBound:
    """Check the request against the DataFrame before anything is built."""
    kept, windows, labels, label = listed(spec)
    if isinstance(spec, MultiGranular) and spec.weights is not None:
        raise refuse(
            f"weights={list(spec.weights)} over time={tuple(time)!r}",
            "age a row by the level that it lies in, but an event that lasts lies in several",
            "leave weights out, or name one column, for example the stop",
        )
    source, start, text = events_of(df, windows, time, by, tiebreak, ("window", label))
    axes = axes_of(windows, source.time, source.time_type)
    for window, axis in zip(windows, axes, strict=True):
        check_reach(window, axis, limit(axis, len(axes)))
    changes = isinstance(spec, MultiGranular) and spec.changes_only
    if changes and source.df.isStreaming:
        raise refuse(
            "changes_only=True over a stream of events that last",
            "is not there: an event reaches windows that lie far apart, with no order among them",
            "compare results behind it, or leave it out",
        )
    return SeveralBound(
        **vars(source),
        coordinate=axes[0].coordinate,
        axis=axes[0],
        axes=tuple(axes),
        labels=labels,
        label=label,
        start=start,
        start_sql=text,
        spec=kept,
    )
