"""Widening levels: what they cover, and what they may cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fanlight.engine.spec.units import write_duration
from fanlight.engine.spec.widening import ProgressiveWidening


@dataclass(frozen=True)
class Level:
    """A widening level: batches of ``duration``, each of ``ratio`` batches of the level below."""

    number: int
    duration: int
    ratio: int  # 1 at level 0

    @property
    def duration_below(self) -> int:
        """The duration of a batch of the level below; 0 at level 0."""
        return self.duration // self.ratio if self.number else 0

    def window_of_batch(self, batch: int) -> tuple[int, int]:
        """Start and end of the window whose second batch is given."""
        return (batch - 1) * self.duration, (batch + 1) * self.duration


def levels_of(spec: ProgressiveWidening) -> tuple[Level, ...]:
    """The levels of a spec, the shortest first."""
    levels: list[Level] = []
    for number, duration in enumerate(spec.durations):
        ratio = duration // levels[-1].duration if levels else 1
        levels.append(Level(number, duration, ratio))
    return tuple(levels)


def most_window_rows(level: Level, max_rows: int) -> int:
    """The greatest number of rows in a window of a level, under the assumption of Theorem 2.

    The earlier batch has been searched, so only its ends are kept. So are those of the later one if
    it has two parts, which a window of the level below has searched; if it has more, those of each
    part. A batch of level 0 has at most ``max_rows`` rows.
    """
    if level.number == 0:
        return 2 * max_rows
    part = max_rows if level.number == 1 else 2 * max_rows
    return 2 * max_rows + (2 * max_rows if level.ratio == 2 else level.ratio * part)


def most_kept_rows(levels: tuple[Level, ...], max_rows: int) -> int:
    """The greatest number of rows of a key that later windows need, under the same assumption.

    These are the ends of complete batches: of the last one of the highest level, and at each level
    below of those that are parts of the open batch above, which are fewer than its ratio; and the
    open batch of level 0. The ends of other open batches are ends of their parts, and where no part
    of an open batch is complete, the part before it adds no more than ``max_rows`` rows to the ends
    of its own batch above.
    """
    complete = [above.ratio - 1 for above in levels[1:]] + [1]
    rows = [max_rows if level.number == 0 else 2 * max_rows for level in levels]
    return max_rows + sum(n * each for n, each in zip(complete, rows, strict=True))


def bound_on_work(
    levels: tuple[Level, ...], max_rows: int, resources: Callable[[float], float] = float
) -> float:
    """Theorem 2: the resources that the windows may take in a unit of time.

    ``resources`` says what a window of so many rows takes; by default one for each row. For an
    unbounded number of doubling levels this is 2·R(4·L_max)/t, the paper's bound.
    """
    return sum(resources(most_window_rows(level, max_rows)) / level.duration for level in levels)


def density_warning(
    spec: ProgressiveWidening, rate: float | None, groups: float | None
) -> str | None:
    """A warning if a first batch is expected to hold more than ``max_rows`` rows; else None."""
    if rate is None:
        return None
    per = 1_000_000 if spec.measure == "time" else 1
    rows = rate * spec.durations[0] / per / (groups or 1)
    if rows <= spec.max_rows:
        return None
    return (
        f"a first batch of {units_as_text(spec, spec.durations[0])} holds about {rows:,.0f} rows a "
        f"key, more than max_rows={spec.max_rows}, so the bounds on memory and work do not hold; "
        "write a shorter first or a larger max_rows"
    )


def units_as_text(spec: ProgressiveWidening, units: int) -> str:
    """A length of time as a user would write it."""
    return write_duration(units) if spec.measure == "time" else str(units)
