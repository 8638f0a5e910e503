"""An event's windows as a range of numbers, and that range as two marks or dyadic intervals.

An event is in the windows ``from_window`` to ``to_window``, all of them. Two facts make that cheap:

- **Marks.** Let ``power`` be the highest bit in which the two numbers differ. Then the range is
  the end of one block of ``2**power`` windows and the beginning of the next. So one mark at each
  of its ends says all: a window is reached by the marks before it in a left block (where the bit
  is 0) and by those after it in a right one (where it is 1). Two insertions whatever the duration,
  each event once in each of its windows, nothing subtracted.
- **Dyadic intervals.** The same range is a sum of blocks of ``2**power`` windows, at most two of
  each size: what a stream, which has no order among windows to scan along, can push down to its
  windows.

Numbers are shifted to be positive, so that bits go on counting before 1970.
"""

from __future__ import annotations

from collections.abc import Sequence

from fanlight.plan.grid import Grid

_HIGHEST = 56  # numbers of windows, shifted, stay below 2**57: six more bits hold a power


def limit(grid: Grid, among: int = 1) -> int:
    """Coordinates must stay below this, either way, so that numbers of windows fit their bits.

    Where windows of several queries are marked together, ``among`` is how many there are: a mark
    then holds the number of its query too.
    """
    return min(1 << 61, grid.slide << (_HIGHEST - 1 - _bits(among)))


def shift(grid: Grid, among: int = 1) -> int:
    """What is added to a number of a window to make it positive."""
    return min((1 << 62) // grid.slide, 1 << (_HIGHEST - _bits(among)))


def _bits(among: int) -> int:
    return (among - 1).bit_length()


def first_window(grid: Grid, first: str, among: int = 1) -> str:
    """SQL: the shifted number of the first window that holds an instant at or after ``first``."""
    return _divided(grid, first, grid.slide - grid.offset - grid.range, among)


def last_window(grid: Grid, last: str, among: int = 1) -> str:
    """SQL: the shifted number of the last window that begins at or before ``last``."""
    return _divided(grid, last, -grid.offset, among)


def _divided(grid: Grid, coordinate: str, moved: int, among: int) -> str:
    """SQL: one division; what it divides is positive, so that it rounds down."""
    return f"(({coordinate} + {shift(grid, among) * grid.slide + moved}L) div {grid.slide}L)"


def window_start(grid: Grid, number: str, among: int = 1) -> str:
    """SQL: the start coordinate of a window by its shifted number."""
    offset = f" + {grid.offset}L" if grid.offset else ""
    return f"(({number} - {shift(grid, among)}L) * {grid.slide}L{offset})"


def power(a: str = "from_window", b: str = "to_window") -> str:
    """SQL: the highest bit in which ``a`` and ``b`` differ; -1 where they are equal."""
    steps = [f"when {a} ^ {b} < {2**bit}L then {bit - 1}" for bit in range(_HIGHEST + 1)]
    return f"case {' '.join(steps)} else {_HIGHEST} end"


def _apart(grids: Sequence[Grid]) -> int:
    """How far apart packed marks of neighbouring windows are: room for a power, and a query.

    As far as the windows are in time, where that is farther: Spark's hash map spreads such numbers
    better than small ones in a row.
    """
    return max(min(grid.slide for grid in grids), 64 << _bits(len(grids)))


def packed(grids: Sequence[Grid], power: str, window: str, query: int = 0) -> str:
    """SQL: a mark as one number, which Spark groups by faster than by two."""
    place = f"({power} + 1)"
    if len(grids) > 1:
        place = f"({place} * {1 << _bits(len(grids))} + {query})"
    return f"({window} * {_apart(grids)}L + {place})"


def unpacked(grids: Sequence[Grid], mark: str) -> tuple[str, str, str]:
    """SQL: query, power and window of a packed mark."""
    apart, among = _apart(grids), 1 << _bits(len(grids))
    place = f"({mark} % {apart}L)"
    return (
        f"cast({place} % {among}L as int)",
        f"cast({place} div {among}L as int) - 1",
        f"({mark} div {apart}L)",
    )


_RIGHT = "(power < 0 or (shiftright(number, power) & 1L) = 0L)"


def rightward() -> str:
    """SQL: whether a mark (``power``, ``number``) reaches to the right: it is in a left block."""
    return _RIGHT


def block() -> str:
    """SQL: the number of a mark's block among those of its power."""
    return "if(power < 0, number, shiftright(number, power))"


def dyadics_of_range() -> str:
    """SQL: the dyadic intervals (``power``, ``dyadic``) of a range of windows.

    Such an interval is the windows ``dyadic * 2**power`` up to the next one's.
    """
    middle = "shiftleft(shiftright(to_window, power), power)"
    left, right = f"({middle} - from_window)", f"(to_window + 1L - {middle})"
    both = f"concat({_suffix('from_window', left)}, {_prefix(middle, right)})"
    return f"if(power < 0, {_single('from_window')}, {both})"


def dyadics_of_mark() -> str:
    """SQL: the dyadic intervals that the mark (``power``, ``number``) reaches."""
    end = "shiftleft(shiftright(number, power) + 1L, power)"
    begin = "shiftleft(shiftright(number, power), power)"
    reached = f"if({_RIGHT}, {_suffix('number', f'({end} - number)')}, "
    reached += f"{_prefix(begin, f'(number + 1L - {begin})')})"
    return f"if(power < 0, {_single('number')}, {reached})"


def _single(window: str) -> str:
    return f"array(named_struct('power', 0, 'dyadic', {window}))"


def _suffix(start: str, length: str) -> str:
    """``length`` windows from ``start`` to the end of a block: small intervals first."""
    low = f"({length} & (shiftleft(1L, j) - 1L))"
    return _set_bits(length, f"shiftright({start} + {low}, j)")


def _prefix(start: str, length: str) -> str:
    """``length`` windows from the beginning of a block: large intervals first."""
    high = f"shiftleft(shiftright(shiftright({length}, j), 1), 1)"
    return _set_bits(length, f"shiftright({start}, j) + {high}")


def _set_bits(length: str, number: str) -> str:
    bits = f"filter(sequence(0, power), j -> (shiftright({length}, j) & 1L) = 1L)"
    return f"transform({bits}, j -> named_struct('power', j, 'dyadic', {number}))"


def first_of_dyadic() -> str:
    """SQL: the first window of a dyadic interval."""
    return "shiftleft(dyadic, power)"


def windows_of_dyadic() -> str:
    """SQL: the windows of a dyadic interval."""
    return f"explode(sequence({first_of_dyadic()}, shiftleft(dyadic + 1L, power) - 1L))"
