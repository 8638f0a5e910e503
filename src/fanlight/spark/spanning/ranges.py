"""An event's windows as a range of numbers, and that range as two marks or as dyadic nodes.

An event is in the windows ``a`` to ``b``, all of them. Two facts make that cheap:

- **Levels.** Let ``h`` be the highest bit in which ``a`` and ``b`` differ. Then ``[a, b]`` is the
  end of one block of ``2**h`` windows and the beginning of the next. So one mark at ``(h, a)`` and
  one at ``(h, b)`` say all: a window is reached by the marks before it in a left block (bit ``h``
  is 0) and behind it in a right one (bit ``h`` is 1). Two insertions whatever the duration, each
  event once in each of its windows, nothing subtracted.
- **Nodes.** The same range is a sum of blocks of ``2**j`` windows, at most two of each size: what a
  stream, which has no order among windows to scan along, can push down to its windows.

Numbers are shifted by ``SHIFT`` to be positive, so that bits go on counting before 1970.
"""

from __future__ import annotations

from fanlight.plan.axis import Axis
from fanlight.spark.times import floor_div

SHIFT = 2**62
_EXACT = 2**44  # up to here a double's logarithm finds the highest bit


def first_window(axis: Axis, s: str) -> str:
    """SQL: the shifted number of the first window that holds an instant at or after ``s``."""
    moved = f"({s} - {axis.offset + axis.range - axis.slide}L)"
    return f"({floor_div(moved, axis.slide)} + {SHIFT}L)"


def last_window(axis: Axis, last: str) -> str:
    """SQL: the shifted number of the last window that begins at or before ``last``."""
    return f"({floor_div(f'({last} - {axis.offset}L)', axis.slide)} + {SHIFT}L)"


def window_start(axis: Axis, number: str) -> str:
    """SQL: the start coordinate of a window by its shifted number."""
    offset = f" + {axis.offset}L" if axis.offset else ""
    return f"(({number} - {SHIFT}L) * {axis.slide}L{offset})"


def level(a: str = "a", b: str = "b") -> str:
    """SQL: the highest bit in which ``a`` and ``b`` differ; -1 where they are equal."""
    apart = f"({a} ^ {b})"
    near = f"cast(floor(log2({apart} + 0.5D)) as int)"
    far = f"length(bin({apart})) - 1"
    return f"case when {a} = {b} then -1 when {apart} < {_EXACT}L then {near} else {far} end"


def marks() -> str:
    """SQL: where an event is marked: both ends of its windows, or its only window."""
    return "explode(if(h < 0, array(a), array(a, b)))"


def rightward(h: str = "h", p: str = "p") -> str:
    """SQL: whether a mark reaches to the right: it stands in a left block."""
    return f"({h} < 0 or (shiftright({p}, {h}) & 1L) = 0L)"


def block(h: str = "h", p: str = "p") -> str:
    """SQL: the number of a mark's block on its level."""
    return f"if({h} < 0, {p}, shiftright({p}, {h}))"


def nodes_of_range() -> str:
    """SQL: the nodes ``struct<j, node>`` of ``[a, b]``; it holds ``[node * 2**j, (node + 1) * 2**j)``."""
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
