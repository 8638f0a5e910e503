"""Trailing windows as data: which rows one holds, in coordinates."""

from __future__ import annotations

from dataclasses import dataclass

from fanlight.engine.plan.coordinate import check_length
from fanlight.engine.spec.trailing import Trailing

EVER = 2**62  # longer than any time, as in kernels/trailing


@dataclass(frozen=True)
class Horizon:
    """For a row at ``t`` the rows at ``[t - first, t - last]``, or the latest ``rows`` of them.

    It begins ``back`` before the row, whether or not a row at that very time belongs to it.
    """

    first: int
    last: int
    rows: int = 0
    include_self: bool = True
    back: int = EVER

    @property
    def whole(self) -> bool:
        """Whether it reaches back to the first row."""
        return self.first == EVER and not self.rows


def horizon_of(spec: Trailing, time_kind: str) -> Horizon:
    """A window over a time column of this kind; errors name the length that does not fit."""
    by_time = spec.range if spec.range is None or spec.range.measure != "rows" else None
    for argument, length in (("range", by_time), ("delay", spec.delay)):
        if length is not None:
            check_length(argument, length, time_kind)
    delay = 0 if spec.delay is None else int(spec.delay.value)
    last = delay if spec.closed in ("right", "both") else delay + 1
    if by_time is None:
        rows = int(spec.range.value) if spec.range else 0
        return Horizon(EVER, last, rows, spec.include_self)
    back = delay + int(by_time.value)
    first = back - (spec.closed in ("right", "neither"))
    return Horizon(first, last, 0, spec.include_self, back)
