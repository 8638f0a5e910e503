"""The cost model: formulas 3.1 to 3.4 of Li et al., with constants measured on Spark.

A cost is the time a window takes, in nanoseconds of one core. ``a`` is what a row costs where it
is first aggregated, ``b`` a slice's partial on its way through the shuffle, ``c`` a partial where
it enters a window. The constants were fitted to ``python -m benchmarks --calibrate``, and held
against the times of forced strategies in ``experiments/panes/choices.md``; only their ratios matter
for a choice.
"""

from __future__ import annotations

from dataclasses import dataclass

from fanlight.engine.plan.request import Workload

READ = 60.0  # a row out of its source, whatever is done with it
ROW = 45.0  # a: a row into its slice, or into the first of its windows
EXPANDED_ROW = 60.0  # a': each further copy of a row into a window
SPREAD = 400.0  # what a row or a copy costs in addition if its group is rarely in the cache
CACHED = 262_144.0  # with so many groups written to at a time, hardly any is in the cache
PARTIAL = 860.0  # b: one group's partial out of a slice, through the shuffle
ENTER = 20.0  # c: a partial into a window, scanned again for each window
FILL = 580.0  # each slice in the roll-up: shuffle, sort, look for gaps
DIFFERENCE = 350.0  # a running total less the one a RANGE before
TWO_STACKS = 300.0  # suffix, prefix, look-up: a pass each
COLLECTED = 100.0  # a partial that Spark combines one by one
COUNTED = 2_400.0  # a row or a count into the hash table of its value
KEPT = 1_500.0  # a row whose value Spark keeps for an aggregate of all values
LIFETIME = 1_000.0  # a value of a slice beside that of the next slice, and the ends of what lasts
RANKED = 2_600.0  # a row ranked, sorted again, through Python, into a count and out of it
READ_OFF = 700.0  # a window's results read off ranks, and back from Python
TASKS = 4.0  # what is done a key at a time keeps fewer cores busy than these, if keys are fewer
SKETCH = 50_000.0  # a sketch into another one
STEP = 150_000_000.0  # a further shuffle in a query, however little there is to do
MADE = 25_000_000.0  # a plan of more steps than Spark's own windows: to analyse and to optimize
WINDOW = 25.0  # a row into the struct that Spark makes of its window
JOINED = 2_000.0  # a result beside those of other aggregates
COPY = 60.0  # a partial copied into one of its windows, hashed again


@dataclass(frozen=True)
class Load:
    """The workload seen through a cut: the letters of the paper's formulas."""

    tuples: float  # T: rows a window
    panes: int  # P: slices a window
    step: int  # slices a SLIDE: SLIDE / GCD(RANGE, SLIDE)
    groups: float  # G: groups a slice
    groups_per_window: float

    @property
    def rows_a_slide(self) -> float:
        """Rows in a SLIDE: ``T * SLIDE / RANGE``."""
        return self.tuples * self.step / self.panes

    @property
    def overlap(self) -> float:
        """RANGE / SLIDE: how many windows a row is in."""
        return self.panes / self.step

    @classmethod
    def of(cls, work: Workload, span: int, step: int, overlap: float) -> Load:
        """T, P and G for a cut whose windows hold ``span`` slices."""
        tuples = work.rows_per_slide * overlap
        per_slice = max(work.rows_per_slide / step, 1e-9)
        return cls(
            tuples,
            span,
            step,
            min(work.groups, per_slice),
            min(work.groups, tuples),
        )


def slice_rows(load: Load) -> float:
    """Rows to slices (the paper's PLQ): the first terms of 3.1 and 3.2.

    ``a * T * SLIDE / RANGE + b * G`` a window.
    """
    touched = READ + ROW + _spread(load.groups)
    return touched * load.rows_a_slide + PARTIAL * load.groups * load.step


def scan(load: Load, collected: int = 0) -> float:
    """3.1: each window combines its slices one by one, ``c * P * G``."""
    if load.panes == 1:
        return slice_rows(load)
    per_partial = ENTER + COLLECTED * collected
    entered = per_partial * load.panes * load.groups_per_window
    return slice_rows(load) + FILL * _rolled(load) + entered


def difference(load: Load) -> float:
    """3.2: slices that enter and leave, ``2 * c * G * SLIDE / GCD(RANGE, SLIDE)``."""
    return slice_rows(load) + (FILL + DIFFERENCE) * _rolled(load)


def two_stacks(load: Load, collected: int = 0) -> float:
    """Not in the paper: a window is a suffix of one run of P slices and a prefix of the next.

    Each slice is touched a constant number of times, whatever P, and no inverse is needed.
    """
    collecting = COLLECTED * collected * load.panes * load.groups_per_window
    return slice_rows(load) + (FILL + TWO_STACKS) * _rolled(load) + collecting


def copies(load: Load) -> float:
    """A stream's roll-up: each partial is copied into its windows, which stay open in the state."""
    if load.panes == 1:
        return slice_rows(load)
    return slice_rows(load) + COPY * load.panes * load.groups


def counts(load: Load, sketches: int = 0) -> float:
    """Value counts: rows counted by value in their slice, the counts copied into the windows.

    How many distinct values a slice has is not known; half as many as rows is assumed. What else is
    kept, a sketch above all, is kept once a value.
    """
    rows_a_slice = load.tuples / load.panes
    values = load.groups + rows_a_slice / 2
    counted = (READ + ROW + COUNTED) * rows_a_slice * load.step + PARTIAL * load.groups * load.step
    counted += SKETCH * sketches * values * load.step
    if load.panes == 1:
        return counted
    return counted + (COUNTED + SKETCH * sketches) * values * load.panes


def collected(load: Load) -> float:
    """Spark's own aggregates of all values, where a row is in one window."""
    return slice_rows(load) + KEPT * load.rows_a_slide


def lifetimes(load: Load) -> float:
    """Distinct values that last from slice to slice: touched once each, whatever RANGE / SLIDE.

    Not in the paper. Half as many values as rows are assumed, as for :func:`counts`.
    """
    values = load.groups * load.step + load.rows_a_slide / 2
    told_apart = (READ + ROW + COUNTED) * load.rows_a_slide
    return told_apart + LIFETIME * values + PARTIAL * load.groups_per_window


def ranks(load: Load) -> float:
    """Values ranked once, counted by rank as they enter and leave: flat in RANGE / SLIDE.

    A key's rows are in one task, so it takes longer where there are few keys, or one.
    """
    taken = (READ + RANKED) * load.rows_a_slide + READ_OFF * load.groups_per_window
    return taken * max(TASKS / load.groups_per_window, 1.0)


def expanded_counts(load: Load, sketches: int = 0) -> float:
    """Value counts, each row copied into each of its windows before it is counted."""
    return expand(load) + (COUNTED + SKETCH * sketches) * load.tuples


def expand(load: Load) -> float:
    """3.3: each row is processed in every window that it is in, ``a' * T``."""
    once = READ + ROW + _spread(load.groups)
    again = EXPANDED_ROW + _spread(load.groups_per_window * load.overlap)
    copies_a_slide = load.tuples - load.rows_a_slide
    return once * load.rows_a_slide + again * copies_a_slide + PARTIAL * load.groups_per_window


def native(load: Load, *, kept: bool) -> float:
    """The same, by Spark's own windows; ``kept``: by aggregates that keep all values."""
    return expand(load) + WINDOW * load.rows_a_slide + KEPT * kept * load.tuples


def fixed(work: Workload, *, native: bool, shuffled: bool) -> float:
    """What it takes whatever there is to do, a SLIDE; nothing if that is much.

    Not in the paper. It decides about little data, and only where it is known to be little.
    """
    return (MADE * (not native) + STEP * shuffled) / work.slides


def _spread(groups: float) -> float:
    """What a group costs in addition if it is not in the cache, by how many are written to."""
    return SPREAD * min(groups / CACHED, 1.0)


def _rolled(load: Load) -> float:
    """Rows that the roll-up sees a window: slices, and the empty ones that fill gaps."""
    return max(load.groups * load.step, load.groups_per_window)
