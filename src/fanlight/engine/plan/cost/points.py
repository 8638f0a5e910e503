"""Rows in sliding windows: formulas 3.1 to 3.3 of Li et al., and ours of the same kind.

A cost is that of a SLIDE, in which one window of each key ends. ``a`` is what a row takes where it
is first aggregated, ``b`` a slice's partial on its way through the shuffle, ``c`` a partial where
it enters a window. Formula 3.4 has no counterpart: Spark takes no single rows back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fanlight.engine.plan.cost.constants import (
    BUSY,
    CACHED,
    CALLED,
    COLLECTED,
    COMPARED,
    COPY,
    COUNTED,
    DIFFERENCE,
    DISTINCT,
    DIVIDED,
    ENTER,
    EXPANDED_ROW,
    FILL,
    FOLDED,
    JOINED,
    KEPT,
    LIFETIME,
    MADE,
    MILLION,
    PARTIAL,
    PASSED,
    RANKED,
    READ,
    READ_OFF,
    REGISTERED,
    RETURNED,
    ROW,
    SKETCH,
    SKETCH_BYTE,
    SKETCHED,
    SKETCHED_SHARE,
    SORTED,
    SPREAD,
    STARTED,
    STEP,
    TASKS,
    TWO_STACKS,
    WINDOW,
)
from fanlight.engine.plan.request import Workload


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


def sketching(sizes: Sequence[int]) -> float:
    """What a partial with sketches of these sizes, in bytes, takes each time that it is made."""
    return sum(SKETCH + SKETCH_BYTE * size for size in sizes if size)


def slicing(load: Load, sketch: float = 0.0) -> float:
    """Rows to slices (the paper's PLQ): the first terms of 3.1 and 3.2.

    ``a * T * SLIDE / RANGE + b * G`` a window. A ``sketch`` is made before the shuffle and after.
    """
    touched = READ + ROW + _cache_misses(load.groups)
    made = (PARTIAL + 2.0 * sketch) * load.groups * load.step
    return (touched + _entering(sketch)) * load.rows_a_slide + made


def scan(load: Load, collected: int = 0, sketch: float = 0.0) -> float:
    """Formula 3.1: each window combines all its slices, ``c * P * G``."""
    if load.panes == 1:
        return slicing(load, sketch)
    per_partial = ENTER + COLLECTED * collected + sketch
    entered = per_partial * load.panes * load.groups_per_window
    return slicing(load, sketch) + FILL * _rolled_rows(load) + entered


def accumulate(load: Load, collected: int = 0, sketch: float = 0.0) -> float:
    """Windows that begin together, each the one before and a slice: constant work a slice."""
    entered = (ENTER + COLLECTED * collected + sketch) * _rolled_rows(load)
    return slicing(load, sketch) + FILL * _rolled_rows(load) + entered


def difference(load: Load) -> float:
    """3.2: slices that enter and leave, ``2 * c * G * SLIDE / GCD(RANGE, SLIDE)``."""
    return slicing(load) + (FILL + DIFFERENCE) * _rolled_rows(load)


def two_stacks(load: Load, collected: int = 0, sketch: float = 0.0) -> float:
    """Not in the paper: a window is a suffix of one run of P slices and a prefix of the next.

    Each slice is touched a constant number of times, whatever P, and no inverse is needed.
    """
    collecting = (COLLECTED * collected + sketch) * load.panes * load.groups_per_window
    return slicing(load, sketch) + (FILL + TWO_STACKS) * _rolled_rows(load) + collecting


def copies(load: Load, sketch: float = 0.0) -> float:
    """A stream's roll-up: each partial is copied into its windows, which stay open in the state."""
    if load.panes == 1:
        return slicing(load, sketch)
    return slicing(load, sketch) + (COPY + sketch) * load.panes * load.groups


def counts(load: Load, sketch: float = 0.0) -> float:
    """Value counts: rows counted by value in their slice, the counts copied into the windows.

    How many distinct values a slice has is not known; ``DISTINCT`` of its rows are assumed. What
    else is kept, a sketch above all, is kept once a value.
    """
    rows_a_slice = load.tuples / load.panes
    values = load.groups + DISTINCT * rows_a_slice
    counted = (READ + ROW + COUNTED) * rows_a_slice * load.step + PARTIAL * load.groups * load.step
    counted += sketch * values * load.step
    if load.panes == 1:
        return counted
    return counted + (COUNTED + sketch) * values * load.panes


def spark_aggregates(load: Load) -> float:
    """Spark's own aggregates of all values, where a row is in one window."""
    return slicing(load) + KEPT * load.rows_a_slide


def lifetimes(load: Load) -> float:
    """Distinct values that last from slice to slice: touched once each, whatever RANGE / SLIDE.

    Not in the paper. Of distinct values as many are assumed as by :func:`counts`.
    """
    values = load.groups * load.step + DISTINCT * load.rows_a_slide
    counted = (READ + ROW + COUNTED) * load.rows_a_slide
    return counted + LIFETIME * values + PARTIAL * load.groups_per_window


def ranks(load: Load) -> float:
    """Values ranked once, counted by rank as they enter and leave: flat in RANGE / SLIDE.

    A key's rows are in one task, so it takes longer where there are few keys, or one.
    """
    taken = (READ + RANKED) * load.rows_a_slide + READ_OFF * load.groups_per_window
    return taken * max(TASKS / load.groups_per_window, 1.0)


def expanded_counts(load: Load, sketch: float = 0.0) -> float:
    """Value counts, each row copied into each of its windows before it is counted."""
    return expand(load) + (COUNTED + sketch) * load.tuples


def expand(load: Load, sketch: float = 0.0) -> float:
    """3.3: each row is processed in every window that it is in, ``a' * T``."""
    once = READ + ROW + _cache_misses(load.groups)
    again = EXPANDED_ROW + _cache_misses(load.groups_per_window * load.overlap)
    copies_a_slide = load.tuples - load.rows_a_slide
    made = (PARTIAL + 2.0 * sketch) * load.groups_per_window
    entered = _entering(sketch) * load.tuples
    return once * load.rows_a_slide + again * copies_a_slide + entered + made


def spark_windows(load: Load, *, kept: bool, sketch: float = 0.0, registered: int = 0) -> float:
    """The cost of :func:`expand` by Spark's own windows.

    ``kept``: aggregates keep all values; so many others are ``registered`` in sketches of Spark's.
    """
    each = KEPT * kept + REGISTERED * registered
    return expand(load, sketch) + WINDOW * load.rows_a_slide + each * load.tuples


def granules(work: Workload, slices: float) -> float:
    """Rows into the granules of several queries, so many a SLIDE: ``a * T + b * G``."""
    return ROW * work.rows_per_slide + PARTIAL * work.groups * slices


def granule_copies(work: Workload, slices: float, overlap: float) -> float:
    """A stream's granules, so many a SLIDE, copied into the windows of one of the queries."""
    return COPY * work.groups * slices * overlap


def chain(work: Workload, slices: float, together: float) -> float:
    """Granules through a stateful operator in Python; ``together``: what they take without it.

    Not in the paper. It is there to be asked for, and always costs more.
    """
    return granules(work, slices) + FILL * work.groups + 2 * together


def joined_results(work: Workload) -> float:
    """Results of one part of the aggregates, put beside those of another part."""
    return JOINED * min(work.groups, work.rows_per_slide)


def _entering(sketch: float) -> float:
    """What a row costs in addition if it enters sketches: at most what it costs to keep values."""
    return min(SKETCHED + SKETCHED_SHARE * sketch, KEPT) if sketch else 0.0


def _cache_misses(groups: float) -> float:
    """What a row costs in addition where its group is not in the cache, by the number of groups."""
    return SPREAD * min(groups / CACHED, 1.0)


def _rolled_rows(load: Load) -> float:
    """Rows that the roll-up sees a window: slices, and the empty ones that fill gaps."""
    return max(load.groups * load.step, load.groups_per_window)


def plan_overhead(work: Workload, *, native: bool, shuffled: bool, compiled: bool = False) -> float:
    """The fixed cost of a plan of Spark SQL, spread over its SLIDEs.

    ``native`` says that it is the plan of Spark's own windows, ``shuffled`` that it has a further
    shuffle, ``compiled`` that rows go through Python workers.
    """
    return (MADE * (not native) + STEP * shuffled + STARTED * compiled) / work.slides


def worker_overhead(rows: float | None) -> float:
    """The fixed cost of Python workers, spread over ``rows``; 0 if their number is not known."""
    return 0.0 if rows is None else STARTED / max(rows, 1.0)


def row_pass(*, by_python: bool, returned: bool) -> float:
    """Rows in order through a loop, compiled or ``by_python``.

    ``returned`` says that they leave Python with the numbers of their frames, to be grouped.
    """
    return SORTED + (CALLED if by_python else PASSED) + RETURNED * returned


def idle_share(keys: float | None, tasks: float | None) -> float:
    """How many times longer rows take because so many keys leave cores idle; 1 if not known.

    All rows of a key go through one task, which keeps some cores busy.
    """
    return 1.0 if keys is None or tasks is None else max(1.0, tasks / (BUSY * max(keys, 1.0)))


def divided_pass(
    row: float, rows: float | None, tasks: float | None, *, of_rows: bool = False
) -> float:
    """Rows divided by ranges of time, of which a pass takes ``row`` each; then a pass over seams.

    A sample and two further shuffles take their time, in which all cores wait; so it is left to
    those who know of many rows. ``of_rows`` says that the pass over seams is given all rows, which
    are sorted again, and not only their frames.
    """
    waiting = 3 * STEP * (tasks or 1.0) / max(MILLION if rows is None else rows, 1.0)
    return DIVIDED * row + SORTED * of_rows + waiting


def comparison() -> float:
    """Rows in order, each compared with its neighbours in Spark SQL."""
    return SORTED + COMPARED


def folding(rows: float, partials: int) -> float:
    """Rows in order, for each of which Spark adds up so many partials of so many rows."""
    return SORTED + FOLDED * partials * rows


def search(rows: float) -> float:
    """So many rows of windows in a unit of time, each through a compiled loop."""
    return PASSED * rows
