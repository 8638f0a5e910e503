"""An event's windows as a range of numbers, and that range as two marks or as dyadic nodes.

An event is in the windows ``a`` to ``b``, all of them. Two facts make that cheap:

- **Levels.** Let ``h`` be the highest bit in which ``a`` and ``b`` differ. Then ``[a, b]`` is the
  end of one block of ``2**h`` windows and the beginning of the next. So one mark at ``(h, a)`` and
  one at ``(h, b)`` say all: a window is reached by the marks before it in a left block (bit ``h``
  is 0) and behind it in a right one (bit ``h`` is 1). Two insertions whatever the duration, each
  event once in each of its windows, nothing subtracted.
- **Nodes.** The same range is a sum of blocks of ``2**j`` windows, at most two of each size: what a
  stream, which has no order among windows to scan along, can push down to its windows.

Numbers are shifted to be positive, so that bits go on counting before 1970.
"""

from __future__ import annotations

from collections.abc import Sequence

from fanlight.plan.axis import Axis

_HIGHEST = 56  # numbers of windows, shifted, stay below 2**57: six more bits hold a level


def limit(axis: Axis, among: int = 1) -> int:
    """Coordinates must stay below this, either way, so that numbers of windows fit their bits.

    Where windows of several queries are marked together, ``among`` is how many there are: a mark
    then holds the number of its query too.
    """
    return min(1 << 61, axis.slide << (_HIGHEST - 1 - _bits(among)))


def shift(axis: Axis, among: int = 1) -> int:
    """What is added to a number of a window to make it positive."""
    return min((1 << 62) // axis.slide, 1 << (_HIGHEST - _bits(among)))


def _bits(among: int) -> int:
    return (among - 1).bit_length()


def first_window(axis: Axis, s: str, among: int = 1) -> str:
    """SQL: the shifted number of the first window that holds an instant at or after ``s``."""
    return _divided(axis, s, axis.slide - axis.offset - axis.range, among)


def last_window(axis: Axis, last: str, among: int = 1) -> str:
    """SQL: the shifted number of the last window that begins at or before ``last``."""
    return _divided(axis, last, -axis.offset, among)


def _divided(axis: Axis, coordinate: str, moved: int, among: int) -> str:
    """SQL: one division; what it divides is positive, so that it rounds down."""
    return f"(({coordinate} + {shift(axis, among) * axis.slide + moved}L) div {axis.slide}L)"


def window_start(axis: Axis, number: str, among: int = 1) -> str:
    """SQL: the start coordinate of a window by its shifted number."""
    offset = f" + {axis.offset}L" if axis.offset else ""
    return f"(({number} - {shift(axis, among)}L) * {axis.slide}L{offset})"


def level(a: str = "a", b: str = "b") -> str:
    """SQL: the highest bit in which ``a`` and ``b`` differ; -1 where they are equal."""
    steps = [f"when {a} ^ {b} < {2**bit}L then {bit - 1}" for bit in range(_HIGHEST + 1)]
    return f"case {' '.join(steps)} else {_HIGHEST} end"


def _apart(axes: Sequence[Axis]) -> int:
    """How far apart packed marks of neighbouring windows are: room for a level, and a query.

    As far as the windows are in time, where that is farther: Spark's hash map spreads such numbers
    better than small ones in a row.
    """
    return max(min(axis.slide for axis in axes), 64 << _bits(len(axes)))


def packed(axes: Sequence[Axis], h: str, p: str, query: int = 0) -> str:
    """SQL: a mark as one number, which Spark groups by faster than by two."""
    place = f"({h} + 1)" if len(axes) == 1 else f"(({h} + 1) * {1 << _bits(len(axes))} + {query})"
    return f"({p} * {_apart(axes)}L + {place})"


def unpacked(axes: Sequence[Axis], mark: str) -> tuple[str, str, str]:
    """SQL: query, level and window of a packed mark."""
    apart, among = _apart(axes), 1 << _bits(len(axes))
    place = f"({mark} % {apart}L)"
    return (
        f"cast({place} % {among}L as int)",
        f"cast({place} div {among}L as int) - 1",
        f"({mark} div {apart}L)",
    )


def rightward(h: str = "h", p: str = "p") -> str:
    """SQL: whether a mark reaches to the right: it stands in a left block."""
    return f"({h} < 0 or (shiftright({p}, {h}) & 1L) = 0L)"


def block(h: str = "h", p: str = "p") -> str:
    """SQL: the number of a mark's block on its level."""
    return f"if({h} < 0, {p}, shiftright({p}, {h}))"


def nodes_of_range() -> str:
    """SQL: the nodes ``(j, node)`` of ``[a, b]``: windows ``node * 2**j`` up to the next one's."""
    middle = "shiftleft(shiftright(b, h), h)"
    left, right = f"({middle} - a)", f"(b + 1L - {middle})"
    both = f"concat({_suffix('a', left)}, {_prefix(middle, right)})"
    return f"if(h < 0, array(named_struct('j', 0, 'node', a)), {both})"


def nodes_of_mark() -> str:
    """SQL: the nodes that the mark ``(h, p)`` reaches."""
    end = "shiftleft(shiftright(p, h) + 1L, h)"
    begin = "shiftleft(shiftright(p, h), h)"
    reached = f"if({rightward()}, {_suffix('p', f'({end} - p)')}, "
    reached += f"{_prefix(begin, f'(p + 1L - {begin})')})"
    return f"if(h < 0, array(named_struct('j', 0, 'node', p)), {reached})"


def _suffix(start: str, length: str) -> str:
    """``length`` windows from ``start`` to the end of a block: small nodes first."""
    low = f"({length} & (shiftleft(1L, j) - 1L))"
    return _set_bits(length, f"shiftright({start} + {low}, j)")


def _prefix(start: str, length: str) -> str:
    """``length`` windows from the beginning of a block: large nodes first."""
    high = f"shiftleft(shiftright(shiftright({length}, j), 1), 1)"
    return _set_bits(length, f"shiftright({start}, j) + {high}")


def _set_bits(length: str, number: str) -> str:
    bits = f"filter(sequence(0, h), j -> (shiftright({length}, j) & 1L) = 1L)"
    return f"transform({bits}, j -> named_struct('j', j, 'node', {number}))"


def windows_of_node() -> str:
    """SQL: the windows of a node ``(j, node)``."""
    return "explode(sequence(shiftleft(node, j), shiftleft(node + 1L, j) - 1L))"
