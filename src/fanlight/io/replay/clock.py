"""The clock of a replay, which runs ``speedup`` times as fast: how many rows have arrived."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np


class Clock:
    """Event time, which begins to run at the first question, from the arrival of the next row.

    So a replay that is started again from a checkpoint goes on where it was: while it was stopped,
    no event time passed.
    """

    def __init__(
        self, arrivals: Any, speedup: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._arrivals = arrivals
        self._speedup = speedup
        self._now = now
        self._begin: tuple[float, int] | None = None

    def count_arrived(self, start: int) -> int:
        """How many rows have arrived by now; ``start`` of them were played before."""
        if start >= len(self._arrivals):
            return start
        if self._begin is None:
            self._begin = self._now(), int(self._arrivals[start])
        began, first = self._begin
        elapsed = (self._now() - began) * self._speedup * 1e6
        left = int(self._arrivals[-1]) - first
        until = first + (left if elapsed >= left else int(elapsed))
        return max(start, int(np.searchsorted(self._arrivals, until, side="right")))
