"""The clock of an operator, and the lives of keys.

The clock says which coordinates the watermark has passed. A key that has been silent for too long
starts a new life, as if it were another key.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fanlight.engine.operators.arrow_tables import Ints, starts_of_runs
from fanlight.engine.operators.protocol import BEGINNING, COMPLETE
from fanlight.engine.plan.clock_changes import (
    CalendarLength,
    CalendarSteps,
    ZoneClock,
    begins_by_clock,
    number_by_clock,
)
from fanlight.engine.plan.grid import months_before
from fanlight.engine.spec.errors import FanlightError
from fanlight.engine.spec.units import MICROSECONDS as LENGTHS

DAY = LENGTHS["day"]


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


@dataclass(frozen=True)
class LocalClock:
    """What the clock of a zone shows at instants, and when it shows a time; in microseconds.

    Where the clock shows a time twice it is the first of the two instants, and for a time that it
    skips the instant at which it does.
    """

    zone: ZoneClock

    @cached_property
    def _instants(self) -> Ints:
        """When each offset but the first begins to hold."""
        return np.array([change.at for change in self.zone.changes], np.int64) * 1_000_000

    @cached_property
    def _offsets(self) -> Ints:
        offsets = [self.zone.ahead, *(change.after for change in self.zone.changes)]
        return np.array(offsets, np.int64) * 1_000_000

    def shown(self, at: Ints) -> Ints:
        """What the clock shows at instants."""
        local: Ints = at + self._offsets[np.searchsorted(self._instants, at, side="right")]
        return local

    def instant(self, local: Ints) -> Ints:
        """When the clock shows times."""
        ends = self._instants + self._offsets[:-1]
        which = np.searchsorted(ends, local, side="right")
        begins = np.append(BEGINNING, self._instants)
        instants: Ints = np.maximum(local - self._offsets[which], begins[which])
        return instants

    def go_back(self, at: Ints, length: CalendarLength) -> Ints:
        """The instants that are so long before others."""
        local = self.shown(at)
        day = local // DAY
        of_day = local - day * DAY
        earlier = months_before(day, length.months) if length.months else day
        return self.instant((earlier - length.days) * DAY + of_day)


@dataclass(frozen=True)
class FixedSteps:
    """Times that are the multiples of a length, by number."""

    length: int

    def number(self, at: Ints) -> Ints:
        """The last of them up to an instant."""
        return at // self.length

    def instant(self, number: Ints) -> Ints:
        """When they are."""
        return number * self.length


@dataclass(frozen=True)
class LocalSteps:
    """Times at which units of a calendar begin, by number."""

    steps: CalendarSteps

    @cached_property
    def _clock(self) -> LocalClock:
        return LocalClock(self.steps.clock)

    def number(self, at: Ints) -> Ints:
        """The last of them up to an instant."""
        unit = self.steps.unit
        shown = number_by_clock(unit, self._clock.shown(at))
        found = shown.copy()
        for more in range(1, unit.repeated + 1):  # a clock that is set back shows a time again
            found += self.instant(shown + more) <= at
        return found

    def instant(self, number: Ints) -> Ints:
        """When they are."""
        return self._clock.instant(begins_by_clock(self.steps.unit, number))


Steps = FixedSteps | LocalSteps


def steps_of(every: int | CalendarSteps) -> Steps:
    """The multiples of a length, or when the units of a calendar begin."""
    return FixedSteps(every) if isinstance(every, int) else LocalSteps(every)


MICROSECONDS = Clock((BEGINNING,), (0,), 1)  # whose units are coordinates already


def is_report(every: int, before: int, now: int) -> bool:
    """Whether there is one when the watermark goes on; with ``every`` 0 there always is."""
    return not every or before // every < now // every


def next_report(every: int, now: int) -> int:
    """The first multiple of ``every`` after ``now``."""
    return (now // every + 1) * every


UNSEEN = 2**62  # the last row of a key that has had none: nothing is late for it
OVER = -(2**63)  # the last row of a life that is complete, whatever the watermark


@dataclass(frozen=True)
class Lives:
    """The lives that rows are of.

    ``codes`` has the code of each row's life; ``begun`` the key's code before, for each life that
    rows have begun, whose codes follow those that are known. ``seen`` has the time of the last row
    by code, ``OVER`` for lives that are complete.
    """

    codes: Ints
    begun: Ints
    seen: Ints


def split_lives(codes: Ints, first: Ints, last: Ints, seen: Ints, forget_after: int) -> Lives:
    """Split the rows of each key into lives; rows are sorted by code, then by time.

    A row stands for rows from ``first`` to ``last``. ``seen`` has the last time by code before.

    >>> split = split_lives(np.zeros(4, int), *[np.array([1, 2, 9, 30])] * 2, np.array([0]), 5)
    >>> split.codes.tolist(), split.begun.tolist()
    ([0, 0, 1, 2], [0, 0])
    """
    starts = starts_of_runs(codes)
    before = np.roll(last, 1)
    before[starts] = seen[codes[starts]]
    begins = first - before > forget_after
    begun = np.cumsum(begins)
    earlier: Ints = np.repeat(
        begun[starts] - begins[starts], np.diff(np.append(starts, len(codes)))
    )
    lived = np.where(begun > earlier, len(seen) + begun - 1, codes)
    ends = np.append(starts_of_runs(lived)[1:], len(lived)) - 1 if len(lived) else starts
    now = np.append(seen, np.full(int(begins.sum()), UNSEEN))
    now[lived[ends]] = last[ends]
    previous = np.roll(lived, 1)
    previous[starts] = codes[starts]
    now[previous[begins]] = OVER
    return Lives(lived, codes[begins], now)


def complete_lives(seen: Ints, forget_after: int, watermark: int) -> NDArray[np.bool_]:
    """Which lives no row can go on with, by code."""
    complete: NDArray[np.bool_] = seen + forget_after <= watermark
    return complete
