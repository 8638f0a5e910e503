"""Windows in SQL: which of them an instant is in, and where each begins and ends.

They are the questions of :class:`fanlight.engine.plan.grid.Grid`, over columns. A window is known
by its start, or by its number. Numbers are shifted to be positive, so that bits go on counting
before 1970; ``among`` is how many queries share one column of numbers, which takes bits from each.
"""

from __future__ import annotations

from collections.abc import Sequence

from fanlight.engine.plan.cut import Cut
from fanlight.engine.plan.granules import edges_of
from fanlight.engine.plan.grid import Grid
from fanlight.engine.spark.cuts import extreme, moved, since, slice_end

HIGHEST = 56  # shifted numbers of windows stay below 2**57; six more bits hold a power


# By their starts.


def first_start(grid: Grid, t: str) -> str:
    """SQL: where the first window begins that ends after coordinate ``t``."""
    into = f"pmod({grid.range - 1}L - {moved(t, grid.offset)}, {grid.slide}L)"
    return f"({t} - {grid.range - 1}L + {into})"


def last_start(grid: Grid, t: str) -> str:
    """SQL: where the last window begins that begins at or before coordinate ``t``."""
    return f"({t} - {since(t, grid.offset, grid.slide)})"


def window_starts(grid: Grid, t: str) -> str:
    """SQL: where all windows begin that hold ``t``; of those that leave gaps, the last to begin."""
    if grid.slide >= grid.range:
        return f"array({last_start(grid, t)})"
    return f"sequence({first_start(grid, t)}, {last_start(grid, t)}, {grid.slide}L)"


def starts_between(first: str, last: str, step: str) -> str:
    """SQL: where windows begin, from one start to another; ``step`` as :func:`step_by` gives it."""
    return f"sequence({first}, {last}, {step})"


def holds(grid: Grid, t: str) -> str | None:
    """SQL: whether ``t`` lies in some window; None where every coordinate does."""
    return f"{since(t, grid.offset, grid.slide)} < {grid.range}L" if grid.gaps else None


def window_end(grid: Grid, start: str) -> str:
    """SQL: where the window ends that begins at ``start``."""
    return f"{start} + {grid.range}L"


def next_start(grid: Grid, start: str) -> str:
    """SQL: where the window after it begins."""
    return f"{start} + {grid.slide}L"


def previous_start(grid: Grid, start: str) -> str:
    """SQL: where the window before it begins."""
    return f"{start} - {grid.slide}L"


def latest_start(grid: Grid, at: str) -> str:
    """SQL: where the last window begins that has ended at the instant ``at``."""
    phase = (grid.offset + grid.range) % grid.slide  # of the ends of windows
    return f"({at} - {since(at, phase, grid.slide)} - {grid.range}L)"


def first_end(grids: Sequence[Grid], t: str) -> str:
    """SQL: where the first window ends that ``t`` lies in, of all grids; null if it is in none."""
    if not any(grid.gaps for grid in grids):
        return slice_end(edges_of(grids, starts=False), t)
    ends = []
    for grid in grids:
        at, test = slice_end(edges_of([grid], starts=False), t), holds(grid, t)
        ends.append(at if test is None else f"if({test}, {at}, null)")
    return extreme("least", ends)


def start_of_run(cut: Cut, last_slice: str) -> str:
    """SQL: where the window begins whose last slice is given."""
    number = f"({last_slice} - {cut.span - 1}L)" if cut.span > 1 else last_slice
    number = f"({number} div {cut.step}L)" if cut.step > 1 else number
    return _start(cut.grid, number)


# Of a row's query, where there are several.


def window_end_by(grids: Sequence[Grid], start: str) -> str:
    """SQL: where the window of a row's query ends that begins at ``start``."""
    return f"{start} + {by_query([grid.range for grid in grids])}"


def previous_start_by(grids: Sequence[Grid], start: str) -> str:
    """SQL: where the window before it begins, of a row's query."""
    return f"{start} - {step_by(grids)}"


def step_by(grids: Sequence[Grid]) -> str:
    """SQL: how far starts of neighbouring windows of a row's query are from each other."""
    return by_query([grid.slide for grid in grids])


def by_query(values: Sequence[int], query: str = "query") -> str:
    """SQL: the value of the query that a row belongs to."""
    if len(set(values)) == 1:
        return f"{values[0]}L"
    return f"array({', '.join(f'{value}L' for value in values)})[{query}]"


# By their numbers.


def limit(grid: Grid, among: int = 1) -> int:
    """The absolute value that coordinates must stay below, so that numbers fit their bits."""
    return min(1 << 61, grid.slide << (HIGHEST - 1 - bits(among)))


def first_number(grid: Grid, at: str, among: int = 1) -> str:
    """SQL: the number of the first window that holds an instant at or after ``at``."""
    return _divided(grid, at, grid.slide - grid.offset - grid.range, among)


def last_number(grid: Grid, at: str, among: int = 1) -> str:
    """SQL: the number of the last window that begins at or before ``at``."""
    return _divided(grid, at, -grid.offset, among)


def numbered_start(grid: Grid, number: str, among: int = 1) -> str:
    """SQL: where the window of a number begins."""
    return _start(grid, f"({number} - {_shift(grid, among)}L)")


def numbered_start_by(grids: Sequence[Grid], number: str, query: str = "query") -> str:
    """SQL: where the window of a number begins, by its query."""
    shifts = by_query([_shift(grid, len(grids)) for grid in grids], query)
    slides = by_query([grid.slide for grid in grids], query)
    offsets = by_query([grid.offset for grid in grids], query)
    return f"(({number} - {shifts}) * {slides} + {offsets})"


def soonest(grids: Sequence[Grid]) -> str:
    """SQL: where the first window ends that an event is in, of all grids; null if in none."""
    ends, among = [], len(grids)
    for grid in grids:
        first, last = first_number(grid, "first_at", among), last_number(grid, "last_at", among)
        at = window_end(grid, numbered_start(grid, first, among))
        ends.append(f"if({first} <= {last}, {at}, null)" if grid.gaps else at)
    return ends[0] if len(ends) == 1 else f"least({', '.join(ends)})"


def may_hold_one(grid: Grid) -> bool:
    """Whether an event may be in one window only, or in none."""
    return grid.range < 2 * grid.slide


def bits(among: int) -> int:
    """How many bits tell so many queries apart."""
    return (among - 1).bit_length()


def _shift(grid: Grid, among: int = 1) -> int:
    """What is added to the number of a window to make it positive."""
    return min((1 << 62) // grid.slide, 1 << (HIGHEST - bits(among)))


def _divided(grid: Grid, coordinate: str, by: int, among: int) -> str:
    """SQL: one division; what it divides is positive, so that it rounds down."""
    return f"(({coordinate} + {_shift(grid, among) * grid.slide + by}L) div {grid.slide}L)"


def _start(grid: Grid, number: str) -> str:
    offset = f" + {grid.offset}L" if grid.offset else ""
    return f"({number} * {grid.slide}L{offset})"
