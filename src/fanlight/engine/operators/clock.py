"""The clock of an operator: which coordinates the watermark, in microseconds, has passed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fanlight.engine.operators.arrow_tables import Ints
from fanlight.engine.operators.protocol import BEGINNING, COMPLETE
from fanlight.engine.spec.errors import FanlightError


@dataclass(frozen=True)
class Clock:
    """When units begin: number n of run r at ``n * step + bases[r]``, in microseconds.

    Run r is of the numbers from ``firsts[r]`` up to the next run. Units that the clock skips begin
    together. Nothing is known of instants from ``until`` on.
    """

    firsts: tuple[int, ...]
    bases: tuple[int, ...]
    step: int
    until: int = COMPLETE

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the clock as it was made, without the arrays computed since."""
        return Clock, (self.firsts, self.bases, self.step, self.until)

    @cached_property
    def _tops(self) -> Ints:
        """For each run, when the last unit begins of it and of all before it."""
        lasts = np.array(self.firsts[1:], np.int64) - 1
        tops = np.append(lasts * self.step + np.array(self.bases[:-1], np.int64), COMPLETE)
        return np.maximum.accumulate(tops)

    def number(self, at: int) -> int:
        """The last unit that has begun at an instant, with all units before it."""
        if at == COMPLETE:
            return COMPLETE
        if at >= self.until:
            msg = (
                f"the watermark has come to {np.datetime64(at, 'us')}, and of the calendar "
                f"only what is before {np.datetime64(self.until, 'us')} is known"
            )
            raise FanlightError(msg)
        run = int(np.searchsorted(self._tops, at, side="right"))
        before = self.firsts[run] - 1
        return max(before, (at - self.bases[run]) // self.step) if self.step else before

    def instant(self, numbers: Any) -> Ints:
        """The instants from which on units, and all units before them, have begun."""
        run = np.searchsorted(np.array(self.firsts), numbers, side="right") - 1
        run = np.maximum(run, 0)
        own = numbers * self.step + np.array(self.bases, np.int64)[run]
        earlier = np.append(BEGINNING, self._tops[:-1])
        passed: Ints = np.maximum(own, earlier[run])
        return passed


MICROSECONDS = Clock((BEGINNING,), (0,), 1)  # whose units are coordinates already


def is_report(every: int, before: int, now: int) -> bool:
    """Whether there is one when the watermark goes on; with ``every`` 0 there always is."""
    return not every or before // every < now // every


def next_report(every: int, now: int) -> int:
    """The first multiple of ``every`` after ``now``."""
    return (now // every + 1) * every
