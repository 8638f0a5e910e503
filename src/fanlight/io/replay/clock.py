"""Which rows have arrived by now, if event time runs so much faster than the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np


class Clock:
    """Event time that begins to run when it is first asked, at the row that is next by then.

    So a replay that goes on from a checkpoint goes on where it stood: while it was stopped, no
    event time passed.
    """

    def __init__(
        self, arrivals: Any, speedup: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._arrivals = arrivals
        self._speedup = speedup
        self._now = now
        self._begin: tuple[float, int] | None = None

    def count_arrived(self, start: int) -> int:
        """How many rows have arrived, of which ``start`` were played before."""
        if start >= len(self._arrivals):
            return start
        if self._begin is None:
            self._begin = self._now(), int(self._arrivals[start])
        began, first = self._begin
        passed = (self._now() - began) * self._speedup * 1e6
        left = int(self._arrivals[-1]) - first
        upto = first + (left if passed >= left else int(passed))
        return max(start, int(np.searchsorted(self._arrivals, upto, side="right")))
