"""Several windows bound to the DataFrame that they go over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fanlight.plan.axis import Axis, axes_of
from fanlight.spark.coordinates import coordinate, rejections
from fanlight.spark.sliding.binding import Ranged
from fanlight.spark.source import check_stream, source_of
from fanlight.spec.errors import refuse
from fanlight.spec.granular import MultiGranular
from fanlight.spec.sliding import Sliding

MOST_WINDOWS_A_ROW = 1_000_000


@dataclass(frozen=True)
class Labelled(Ranged):
    """A source seen through several windows on one axis, and what each result is labelled with."""

    spec: MultiGranular | tuple[Sliding, ...]
    axes: tuple[Axis, ...]
    labels: tuple[int, ...]
    label: str  # the name of the column that holds them

    @property
    def own(self) -> tuple[str, ...]:
        """The output columns of the windows themselves."""
        return ("window", self.label)

    @property
    def since(self) -> int | None:
        """The coordinate before which nothing counts, if there is one."""
        return None


@dataclass(frozen=True)
class GranularBound(Labelled):
    """Several windows over points."""

    @property
    def levels(self) -> MultiGranular:
        """The levels, where it is levels that were asked for."""
        if not isinstance(self.spec, MultiGranular):
            msg = "a set of queries has no levels"
            raise TypeError(msg)
        return self.spec

    @property
    def since(self) -> int | None:
        """The coordinate before which no row counts: the initiation time."""
        if isinstance(self.spec, MultiGranular) and self.spec.offset is not None:
            return self.axis.offset
        return None

    @property
    def weights(self) -> tuple[float, ...] | None:
        """One weight a level, where rows age."""
        return self.spec.weights if isinstance(self.spec, MultiGranular) else None

    @property
    def changes_only(self) -> bool:
        """Whether only results that changed are reported."""
        return isinstance(self.spec, MultiGranular) and self.spec.changes_only

    @property
    def rejections(self) -> list[tuple[str, str]]:
        """(SQL condition, reason): the rows that are in no window, whatever the level."""
        found = rejections(self.coordinate, self.time, self.time_sql)
        if self.since is not None and not self.coordinate.counted:
            early = f"{coordinate(self.coordinate, self.time_sql)} < {self.since}L"
            found.append((early, f"{self.time} is before the initiation time"))
        return found


def bind(df: Any, spec: Any, time: Any, by: Any, tiebreak: Any) -> GranularBound:
    """Check the request against the DataFrame before anything is built."""
    kept, windows, labels, label = listed(spec)
    source = source_of(df, time, by, tiebreak, ("window", label))
    axes = axes_of(windows, source.time, source.time_type)
    check_stream(source)
    for window, axis in zip(windows, axes, strict=True):
        overlap = axis.range / axis.slide
        if overlap > MOST_WINDOWS_A_ROW:
            raise refuse(
                f"range={window.range} with slide={window.slide}",
                f"puts each row into {overlap:.0f} windows",
                "choose a longer slide",
            )
    return GranularBound(
        **vars(source),
        coordinate=axes[0].coordinate,
        axis=axes[0],
        spec=kept,
        axes=tuple(axes),
        labels=labels,
        label=label,
    )


def listed(
    spec: Any,
) -> tuple[MultiGranular | tuple[Sliding, ...], list[Sliding], tuple[int, ...], str]:
    """Levels or queries as sliding windows, with the label of each and the name of the labels."""
    if isinstance(spec, MultiGranular):
        levels = spec.levels
        labels = tuple(level.number for level in levels)
        return spec, [level.windows for level in levels], labels, "level"
    windows = _queries(spec)
    return tuple(windows), windows, tuple(range(len(windows))), "query"


def _queries(given: Sequence[Any]) -> list[Sliding]:
    if not given:
        raise refuse("over(df, [])", "has no window", "write for example [fl.Sliding('1 hour')]")
    for number, spec in enumerate(given):
        named = f"query {number}, {spec!r},"
        if not isinstance(spec, Sliding):
            raise refuse(named, "is no sliding window", "list fl.Sliding(…) only")
        if spec.slide_by_tuple:
            raise refuse(
                named,
                "ends at every row, so it shares no slices with others",
                "ask for it in an fl.over of its own",
            )
        if spec.measure != given[0].measure:
            raise refuse(
                named,
                f"is measured otherwise than query 0, {given[0]!r}",
                "ask for windows over time and windows over rows in an fl.over each",
            )
        if spec in given[:number]:
            raise refuse(named, f"is query {list(given).index(spec)} again", "list it once")
    return list(given)
