"""Cuts in SQL: where slices begin and end."""

from __future__ import annotations

from collections.abc import Sequence

from fanlight.engine.plan.granules import Cut, Granules, granules_of_bounds
from fanlight.engine.plan.grid import EachRange, Grid, Months, MonthsBack
from fanlight.engine.spark.calendars import first_day, later_day, month_of


def slice_start(granules: Granules, t: str) -> str:
    """SQL: the start of the slice that holds ``t``: the latest edge of any series.

    Rows are grouped by it rather than by the slice's number: it takes no division, and Spark's
    hash map spreads it better than small numbers in a row.
    """
    pair = _pair_of_slices(granules, t)
    if pair is not None:
        into, head, _ = pair
        return f"({t} - if({into} >= {head}L, {into} - {head}L, {into}))"
    if granules.edges == ((0, 1),):
        return t
    return pick_extreme("greatest", [f"{t} - {after_edge(t, *edge)}" for edge in granules.edges])


def slice_end(granules: Granules, t: str) -> str:
    """SQL: the end of the slice that holds ``t``: the next edge of any series."""
    pair = _pair_of_slices(granules, t)
    if pair is not None:
        into, head, every = pair
        return f"({t} - {into} + if({into} >= {head}L, {every}L, {head}L))"
    return pick_extreme(
        "least", [f"{t} + {edge[1]}L - {after_edge(t, *edge)}" for edge in granules.edges]
    )


def _pair_of_slices(granules: Granules, t: str) -> tuple[str, int, int] | None:
    """SQL of how far ``t`` is into its pair of slices, and the lengths of the first and of both.

    Two series of edges with the same period take one division so; None for all others.
    """
    if len(granules.edges) != 2 or granules.edges[0][1] != granules.edges[1][1]:
        return None
    (first, every), (second, _) = granules.edges
    return after_edge(t, first, every), second - first, every


def after_edge(t: str, first: int, every: int) -> str:
    """SQL: how far a coordinate is after the latest edge of one series."""
    return f"pmod({from_origin(t, first)}, {every}L)"


def from_origin(t: str, origin: int) -> str:
    """SQL: a coordinate relative to an origin."""
    return f"({t} - {origin}L)" if origin else t


def pick_extreme(word: str, parts: Sequence[str]) -> str:
    """SQL: the greatest or least of several expressions; a single one unchanged."""
    return f"({parts[0]})" if len(parts) == 1 else f"{word}({', '.join(parts)})"


def slice_number(cut: Cut, start: str) -> str:
    """SQL: the number of the slice that begins at ``start``."""
    grid = cut.grid
    place = from_origin(start, grid.offset)
    if cut.technique == "pairs" and cut.span > 1:
        rest = f"pmod({place}, {grid.slide}L)"
        return f"(2L * (({place} - {rest}) div {grid.slide}L) + if({rest} = 0L, 0L, 1L))"
    return place if cut.head == 1 else f"({place} div {cut.head}L)"


def slice_begin(cut: Cut, number: str) -> str:
    """SQL: the start of the slice with this number."""
    offset = f" + {cut.grid.offset}L" if cut.grid.offset else ""
    if cut.technique == "pairs" and cut.span > 1:
        second = f"if(pmod({number}, 2L) = 0L, 0L, {cut.head}L)"
        return f"(shiftright({number}, 1) * {cut.grid.slide}L + {second}{offset})"
    return f"({number} * {cut.head}L{offset})"


HIGHEST = 56  # shifted numbers of windows stay below 2**57; six more bits hold a power


# By their starts.


def first_start(grid: Grid, t: str) -> str:
    """SQL: the start of the first window that ends after coordinate ``t``."""
    into = f"pmod({grid.range - 1}L - {from_origin(t, grid.offset)}, {grid.slide}L)"
    return f"({t} - {grid.range - 1}L + {into})"


def last_start(grid: Grid, t: str) -> str:
    """SQL: the start of the last window that begins at or before coordinate ``t``."""
    match grid.begins:
        case Months() as months:
            return f"({_month_edge(months, t, after=months.count)} - {grid.range}L)"
        case MonthsBack() as months:
            return f"({_last_end(months, t)} - {grid.range}L)"
        case begins:
            every = grid.range if begins else grid.slide
            return f"({t} - {after_edge(t, grid.offset, every)})"


def first_place(grid: Grid, start: str) -> str:
    """SQL: the first coordinate of which the window that begins at ``start`` has what lies there.

    It is later than the start only if the grid says how windows begin.
    """
    last = f"({start} + {grid.range - 1}L)"
    match grid.begins:
        case None:
            return start
        case EachRange():
            return f"({last} - {after_edge(last, grid.offset, grid.range)})"
        case Months() as months:
            return _month_edge(months, last)
        case MonthsBack() as months:
            day = _day_of(f"({last} + 1L)", months.a_day)
            return f"({later_day(day, f'-{months.count}')} * {months.a_day}L)"


def shown_bounds(grid: Grid, start: str) -> tuple[str, str]:
    """SQL: the bounds that the window which begins at ``start`` is said to have."""
    first, end = first_place(grid, start), window_end(grid, start)
    return (
        f"({first} - {grid.opened}L)" if grid.opened else first,
        f"({end} - {grid.closed}L)" if grid.closed else f"({end})",
    )


def shown_bounds_by(grids: Sequence[Grid], start: str) -> tuple[str, str]:
    """SQL: the same, by the row's query."""
    firsts, ends = zip(*(shown_bounds(grid, start) for grid in grids), strict=True)
    return text_by_query(firsts), text_by_query(ends)


def _month_edge(months: Months, t: str, after: int = 0) -> str:
    """SQL: where the months begin that hold ``t``, or so many months ``after``."""
    month = month_of(_day_of(t, months.a_day), months.day)
    edge = f"({month} - {after_edge(month, months.first, months.count)} + {after}L)"
    return f"({first_day(edge, months.day)} * {months.a_day}L)"


def _last_end(months: MonthsBack, t: str) -> str:
    """SQL: the end of the last window of so many months that holds ``t``."""
    day = f"({_day_of(t, months.a_day)} + 1L)"
    month = month_of(day)
    after = f"({first_day(f'{month} + {months.count}L')} + {day} - {first_day(month)})"
    next_month = first_day(f"{month} + {months.count + 1}L")
    return f"((least({after}, {next_month}) - 1L) * {months.a_day}L)"


def _day_of(t: str, a_day: int) -> str:
    """SQL: the day that a coordinate is in, of which so many make a day."""
    return f"(({t} - pmod({t}, {a_day}L)) div {a_day}L)" if a_day > 1 else t


def exists(grid: Grid, start: str) -> str:
    """SQL: whether there is a window that begins at ``start``, if the clock skips none of it."""
    gone = ", ".join(f"{one}L" for one in grid.missing)
    return f"({start} not in ({gone}))" if gone else "true"


def _existing(grid: Grid, windows: str, start: str) -> str:
    """SQL: an array of windows without those that there are not; ``w`` begins at ``start``."""
    return f"filter({windows}, w -> {exists(grid, start)})" if grid.missing else windows


def window_starts(grid: Grid, t: str) -> str:
    """SQL: an array of the starts of all windows that hold ``t``; with gaps, the last start."""
    if grid.slide >= grid.range:
        return f"array({last_start(grid, t)})"
    return f"sequence({first_start(grid, t)}, {last_start(grid, t)}, {grid.slide}L)"


def starts_between(first: str, last: str, step: str) -> str:
    """SQL: an array of starts from one to another; ``step`` is SQL as from :func:`step_by`."""
    return f"sequence({first}, {last}, {step})"


def starts_without(grid: Grid, t: str, ahead: str, last: str) -> str:
    """SQL: an array of the starts of the windows that hold ``t`` and nothing from ``ahead`` on.

    ``ahead`` may be null; ``last`` is the start of the last window that holds ``t``.
    """
    upto = f"coalesce({previous_start(grid, first_start(grid, ahead))}, {last})"
    return starts_between(first_start(grid, t), upto, f"{grid.slide}L")


def has_window(grid: Grid, t: str) -> str | None:
    """SQL: whether some window holds ``t``; None if windows leave no gaps."""
    return f"{after_edge(t, grid.offset, grid.slide)} < {grid.range}L" if grid.has_gaps else None


def window_end(grid: Grid, start: str) -> str:
    """SQL: the end of the window that begins at ``start``."""
    return f"{start} + {grid.range}L"


def next_start(grid: Grid, start: str) -> str:
    """SQL: the start of the window after the one that begins at ``start``."""
    return f"{start} + {grid.slide}L"


def previous_start(grid: Grid, start: str) -> str:
    """SQL: the start of the window before the one that begins at ``start``."""
    return f"{start} - {grid.slide}L"


def next_existing(grid: Grid, start: str) -> str:
    """SQL: the same of the next window that there is, also where a clock skips some time."""
    return _pass_missing(next_start(grid, start), grid.slide, grid.missing)


def previous_existing(grid: Grid, start: str) -> str:
    """SQL: the same of the window before."""
    return _pass_missing(previous_start(grid, start), -grid.slide, grid.missing[::-1])


def start_after(grid: Grid, start: str, most: int) -> str:
    """SQL: the start of the last of so many windows after the one that begins at ``start``."""
    last = f"{start} + {most}L * {grid.slide}L"
    return _pass_missing(last, grid.slide, grid.missing, f"gone > {start} and gone <= at")


def _pass_missing(start: str, step: int, missing: Sequence[int], test: str = "at = gone") -> str:
    """SQL: a start that is as many steps further as there are missing ones on the way."""
    if not missing:
        return start
    gone = f"array({', '.join(f'{one}L' for one in missing)})"
    return f"aggregate({gone}, {start}, (at, gone) -> if({test}, at + {step}L, at))"


def latest_start(grid: Grid, at: str) -> str:
    """SQL: the start of the last window that has ended at the instant ``at``."""
    phase = (grid.offset + grid.range) % grid.slide  # of the ends of windows
    return f"({at} - {after_edge(at, phase, grid.slide)} - {grid.range}L)"


def first_end(grids: Sequence[Grid], t: str) -> str:
    """SQL: the end of the first window, of any grid, that holds ``t``. Null if there is none."""
    if not any(grid.has_gaps for grid in grids):
        return slice_end(granules_of_bounds(grids, starts=False), t)
    ends = []
    for grid in grids:
        at, test = slice_end(granules_of_bounds([grid], starts=False), t), has_window(grid, t)
        ends.append(at if test is None else f"if({test}, {at}, null)")
    return pick_extreme("least", ends)


def reach(grids: Sequence[Grid], t: str) -> tuple[str, str]:
    """SQL: from where to where the windows reach that hold ``t``, of any grid.

    It is shorter than two RANGEs of the longest. In a gap of all grids it ends before it begins.
    """
    ends = [window_end(grid, last_start(grid, t)) for grid in grids]
    return (
        pick_extreme("least", [first_start(grid, t) for grid in grids]),
        pick_extreme("greatest", ends),
    )


def block_of_reach(grids: Sequence[Grid], t: str) -> str:
    """SQL: where the block of time begins that holds ``t``; what a row reaches is in one or two."""
    return f"({t} - {after_edge(t, 0, 2 * max(grid.range for grid in grids))})"


def start_of_run(cut: Cut, last_slice: str) -> str:
    """SQL: the start of the window that ends with this slice."""
    number = f"({last_slice} - {cut.span - 1}L)" if cut.span > 1 else last_slice
    number = f"({number} div {cut.step}L)" if cut.step > 1 else number
    return _start(cut.grid, number)


# Of a row's query, where there are several.


def window_end_by(grids: Sequence[Grid], start: str) -> str:
    """SQL: the end of the window that begins at ``start``, by the row's query."""
    return f"{start} + {by_query([grid.range for grid in grids])}"


def window_start_by(grids: Sequence[Grid], end: str) -> str:
    """SQL: the start of the window that ends at ``end``, by the row's query."""
    return f"{end} - {by_query([grid.range for grid in grids])}"


def previous_start_by(grids: Sequence[Grid], start: str) -> str:
    """SQL: the start of the window before the one that begins at ``start``, by the row's query."""
    return f"{start} - {step_by(grids)}"


def previous_existing_by(grids: Sequence[Grid], start: str) -> str:
    """SQL: the same of the window before that there is."""
    return text_by_query([previous_existing(grid, start) for grid in grids])


def step_by(grids: Sequence[Grid]) -> str:
    """SQL: the distance of the starts of neighbouring windows, by the row's query."""
    return by_query([grid.slide for grid in grids])


def by_query(values: Sequence[int], query: str = "query") -> str:
    """SQL: one of several values, by the row's query."""
    return text_by_query([f"{value}L" for value in values], query)


def text_by_query(texts: Sequence[str], query: str = "query") -> str:
    """SQL: one of several expressions, by the row's query."""
    return texts[0] if len(set(texts)) == 1 else f"array({', '.join(texts)})[{query}]"


# By their numbers.


def limit(grid: Grid, among: int = 1) -> int:
    """The absolute value that coordinates must stay below, so that numbers fit their bits."""
    return min(1 << 61, grid.slide << (HIGHEST - 1 - bits(among)))


def first_number(grid: Grid, at: str, among: int = 1) -> str:
    """SQL: the number of the first window that holds an instant at or after ``at``."""
    return _divide_down(grid, at, grid.slide - grid.offset - grid.range, among)


def last_number(grid: Grid, at: str, among: int = 1) -> str:
    """SQL: the number of the last window that begins at or before ``at``."""
    return _divide_down(grid, last_start(grid, at) if grid.begins else at, -grid.offset, among)


def numbered_start(grid: Grid, number: str, among: int = 1) -> str:
    """SQL: the start of the window with this number."""
    return _start(grid, f"({number} - {_shift(grid, among)}L)")


def numbered_start_by(grids: Sequence[Grid], number: str, query: str = "query") -> str:
    """SQL: the start of the window with this number, by its query."""
    shifts = by_query([_shift(grid, len(grids)) for grid in grids], query)
    slides = by_query([grid.slide for grid in grids], query)
    offsets = by_query([grid.offset for grid in grids], query)
    return f"(({number} - {shifts}) * {slides} + {offsets})"


def first_event_end(grids: Sequence[Grid]) -> str:
    """SQL: the end of the first window, of any grid, that an event is in. Null if there is none."""
    ends, among = [], len(grids)
    for grid in grids:
        first, last = first_number(grid, "first_at", among), last_number(grid, "last_at", among)
        at = window_end(grid, numbered_start(grid, first, among))
        ends.append(f"if({first} <= {last}, {at}, null)" if grid.has_gaps else at)
    return ends[0] if len(ends) == 1 else f"least({', '.join(ends)})"


def may_hold_one(grid: Grid) -> bool:
    """Whether an event can be in one window only, or in none."""
    return bool(grid.begins) or grid.range < 2 * grid.slide


def bits(among: int) -> int:
    """How many bits are needed to number so many queries."""
    return (among - 1).bit_length()


def _shift(grid: Grid, among: int = 1) -> int:
    """What is added to the number of a window to make it positive."""
    return min((1 << 62) // grid.slide, 1 << (HIGHEST - bits(among)))


def _divide_down(grid: Grid, coordinate: str, by: int, among: int) -> str:
    """SQL: a division that rounds down, since its dividend is shifted to be positive."""
    return f"(({coordinate} + {_shift(grid, among) * grid.slide + by}L) div {grid.slide}L)"


def _start(grid: Grid, number: str) -> str:
    offset = f" + {grid.offset}L" if grid.offset else ""
    return f"({number} * {grid.slide}L{offset})"


def numbers_of_event(grids: Sequence[Grid], query: int) -> str:
    """SQL: the numbers of the windows of a query that hold an event, in an array."""
    grid, several = grids[query], len(grids)
    first = first_number(grid, "first_at", several)
    last = last_number(grid, "last_at", several)
    numbers = f"sequence({first}, {last})"
    if grid.has_gaps:
        numbers = f"filter(sequence({first}, greatest({first}, {last})), w -> w <= {last})"
    return _existing(grid, numbers, numbered_start(grid, "w", several))


def starts_of_row(grids: Sequence[Grid], query: int, *, lasting: bool) -> str:
    """SQL: the starts of the windows of a query that a row is in, in an array.

    The row is at ``first_at``, or lasts from there to ``last_at``.
    """
    grid, among = grids[query], len(grids)
    if lasting:
        start = numbered_start(grid, "w", among)
        return f"transform({numbers_of_event(grids, query)}, w -> {start})"
    starts = _existing(grid, window_starts(grid, "first_at"), "w")
    test = has_window(grid, "first_at")
    return starts if test is None else f"if({test}, {starts}, array())"


def windows_of_event(grids: Sequence[Grid]) -> str:
    """SQL: a row for each window that holds an event: ``query`` and ``number``."""
    structs = (
        f"transform({numbers_of_event(grids, query)}, "
        f"w -> named_struct('query', {query}, 'number', w))"
        for query in range(len(grids))
    )
    return f"inline(concat({', '.join(structs)}))"
