"""The two ways of the panes paper to evaluate a sliding-window aggregate, over arrays.

*Windowed*: every tuple goes to every window that it is in. For max each window is scanned (formula
3.3); for count, which is differential, tuples are put in and taken out as the window moves (3.4).

*Paned*: the PLQ, a tumbling aggregate, makes one partial a group and pane; the WLQ is the windowed
way over those partials (3.1, 3.2). As in the paper's Figure 2, it needs no operator of its own, and
the two ways differ in nothing but what they are fed.

Both report each window in which a tuple lies, and in it each group that occurs. What they touch is
counted, so that the formulas can be checked.

The paper is Li et al., *No Pane, No Gain*; the formulas are in its section 3.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from experiments.compiled import FLOATS, INT, INTS, NEW_FLOATS, NEW_INTS, compiled, several

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Grid = tuple[int, int, int, int, int, int]  # groups, range, slide, offset, pane, most entries


class Stream(NamedTuple):
    """Tuples in order of time, and the windows over them; made by :func:`stream`."""

    time: Ints
    group: Ints
    groups: int  # codes are in [0, groups)
    range: int
    slide: int
    offset: int
    window: Ints  # the windows in which a tuple lies: m is [offset + m * slide, … + range)
    rows: Ints  # how many tuples each of them has

    @property
    def pane(self) -> int:
        """The length of a pane."""
        return math.gcd(self.range, self.slide)

    @property
    def grid(self) -> Grid:
        """The numbers, for the loops."""
        most = int(np.minimum(self.rows, self.groups).sum())
        return self.groups, self.range, self.slide, self.offset, self.pane, most


class Answer(NamedTuple):
    """One entry a window and group, by window; groups of a window stand in no order."""

    window: Ints
    group: Ints
    value: NDArray[np.float64] | Ints
    lifted: int  # tuples that the PLQ took in: what formulas 3.1 and 3.2 multiply by a
    partials: int  # partials that it gave out: by b
    touches: Ints  # partials (paned: c) or tuples (windowed: a') inserted or removed, by window


def stream(
    time: Ints, group: Ints | None = None, *, range: int, slide: int, offset: int = 0
) -> Stream:
    """Check the tuples and lay out the windows; the loops check nothing.

    A ValueError says if ``range`` or ``slide`` is not positive, time falls, or a code is negative.
    """
    time = np.ascontiguousarray(time, np.int64)
    group = (
        np.zeros(len(time), np.int64) if group is None else np.ascontiguousarray(group, np.int64)
    )
    if range <= 0 or slide <= 0:
        raise ValueError("range and slide must be positive")
    if len(group) != len(time):
        raise ValueError("time and group must be of the same length")
    if np.any(time[1:] < time[:-1]):
        raise ValueError("time must never fall")
    if len(group) and group.min() < 0:
        raise ValueError("group codes must not be negative")
    groups = int(group.max()) + 1 if len(group) else 0
    grid = (groups, range, slide, offset)
    none = np.empty(0, np.int64)
    window = np.empty(_windows(time, grid, none, none), np.int64)
    rows = np.empty(len(window), np.int64)
    _windows(time, grid, window, rows)
    return Stream(time, group, groups, range, slide, offset, window, rows)


def windowed_max(tuples: Stream, value: Floats) -> Answer:
    """The greatest value by window and group, each window scanned anew."""
    s = tuples
    window, group, best, touches = _max(s.time, s.group, _checked(s, value), s.grid, s.window)
    return Answer(window, group, best, 0, 0, touches)


def paned_max(tuples: Stream, value: Floats) -> Answer:
    """The greatest value by window and group, from the greatest of each pane."""
    s = tuples
    lifted, time, group, best = _pane_max(s.time, s.group, _checked(s, value), s.grid)
    window, group, best, touches = _max(time, group, best, s.grid, s.window)
    return Answer(window, group, best, lifted, len(time), touches)


def windowed_count(tuples: Stream) -> Answer:
    """How many tuples by window and group, each put in once and taken out once."""
    s = tuples
    window, group, count, touches = _count(s.time, s.group, s.grid, s.window)
    return Answer(window, group, count, 0, 0, touches)


def paned_count(tuples: Stream) -> Answer:
    """How many tuples by window and group, the counts of panes put in and taken out."""
    s = tuples
    lifted, time, group, count = _pane_count(s.time, s.group, s.grid)
    window, group, count, touches = _sum(time, group, count, s.grid, s.window)
    return Answer(window, group, count, lifted, len(time), touches)


def _checked(tuples: Stream, value: Floats) -> Floats:
    value = np.ascontiguousarray(value, np.float64)
    if value.shape != tuples.time.shape:
        raise ValueError("time and value must be of the same length")
    return value


_GRID = several(*[INT] * 6)
_BY_COUNT = several(NEW_INTS, NEW_INTS, NEW_INTS, NEW_INTS)


@compiled(INT(INTS, several(*[INT] * 4), NEW_INTS, NEW_INTS))
def _windows(time: Ints, grid: tuple[int, int, int, int], window: Ints, rows: Ints) -> int:
    """How many windows have a tuple; where there is room, also which, and how many tuples."""
    _, length, slide, offset = grid
    n = len(time)
    found = first = last = 0
    m = (time[0] - offset - length) // slide + 1 if n else 0
    while True:
        start = offset + m * slide
        while first < n and time[first] < start:
            first += 1
        if first == n:
            return found
        while last < n and time[last] < start + length:
            last += 1
        if last > first:
            if found < len(window):
                window[found], rows[found] = m, last - first
            found += 1
            m += 1
        else:
            m = max(m + 1, (time[first] - offset - length) // slide + 1)


@compiled(several(INT, NEW_INTS, NEW_INTS, NEW_FLOATS)(INTS, INTS, FLOATS, _GRID))
def _pane_max(time: Ints, group: Ints, value: Floats, grid: Grid) -> tuple[int, Ints, Ints, Floats]:
    """PLQ: the greatest value by pane and group."""
    groups, length, slide, offset, pane, _ = grid
    n = len(time)
    at, of, best = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.float64)
    place = np.full(groups, -1, np.int64)  # where a group's partial is, if not before `base`
    lifted = size = base = 0
    start = end = time[0] if n else 0
    needed = True
    for i in range(n):
        if time[i] >= end:
            start = offset + (time[i] - offset) // pane * pane
            end = start + pane
            needed = start - offset - (start - offset) // slide * slide < length
            base = size
        if not needed:  # in a gap between windows
            continue
        lifted += 1
        g = group[i]
        k = place[g]
        if k < base:
            place[g] = size
            at[size], of[size], best[size] = start, g, value[i]
            size += 1
        elif value[i] > best[k] or np.isnan(value[i]):
            best[k] = value[i]
    return lifted, at[:size], of[:size], best[:size]


@compiled(several(INT, NEW_INTS, NEW_INTS, NEW_INTS)(INTS, INTS, _GRID))
def _pane_count(time: Ints, group: Ints, grid: Grid) -> tuple[int, Ints, Ints, Ints]:
    """PLQ: how many tuples by pane and group."""
    groups, length, slide, offset, pane, _ = grid
    n = len(time)
    at, of, count = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    inside = np.zeros(groups, np.int64)
    lifted = size = first = 0
    while first < n:
        start = offset + (time[first] - offset) // pane * pane
        end = start + pane
        last = first
        if start - offset - (start - offset) // slide * slide >= length:  # between windows
            while last < n and time[last] < end:
                last += 1
            first = last
            continue
        base = size
        while last < n and time[last] < end:
            lifted += 1
            g = group[last]
            of[size] = g  # stays if the group is new: no branch, which would often be missed
            size += inside[g] == 0
            inside[g] += 1
            last += 1
        for k in range(base, size):
            at[k], count[k] = start, inside[of[k]]
            inside[of[k]] = 0
        first = last
    return lifted, at[:size], of[:size], count[:size]


@compiled(several(NEW_INTS, NEW_INTS, NEW_FLOATS, NEW_INTS)(INTS, INTS, FLOATS, _GRID, INTS))
def _max(
    time: Ints, group: Ints, value: Floats, grid: Grid, window: Ints
) -> tuple[Ints, Ints, Floats, Ints]:
    """Scan each window: its greatest value by group."""
    groups, length, slide, offset, _, most = grid
    to, of, best = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.float64)
    touches = np.empty(len(window), np.int64)
    place = np.full(groups, -1, np.int64)
    n = len(time)
    first = last = size = 0
    for w in range(len(window)):
        start = offset + window[w] * slide
        while first < n and time[first] < start:
            first += 1
        while last < n and time[last] < start + length:
            last += 1
        base, touched = size, 0
        for i in range(first, last):
            touched += 1
            g = group[i]
            k = place[g]
            if k < base:
                place[g] = size
                to[size], of[size], best[size] = window[w], g, value[i]
                size += 1
            elif value[i] > best[k] or np.isnan(value[i]):
                best[k] = value[i]
        touches[w] = touched
    return to[:size], of[:size], best[:size], touches


@compiled(_BY_COUNT(INTS, INTS, _GRID, INTS))
def _count(time: Ints, group: Ints, grid: Grid, window: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Move the window on: count tuples in as they come, and out as they expire."""
    groups, length, slide, offset, _, most = grid
    to, of, count = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    touches = np.empty(len(window), np.int64)
    inside = np.zeros(groups, np.int64)
    live, place, alive = np.empty(groups, np.int64), np.empty(groups, np.int64), 0
    n = len(time)
    first = last = size = 0
    for w in range(len(window)):
        start = offset + window[w] * slide
        touched = 0
        while first < last and time[first] < start:
            touched += 1
            g = group[first]
            inside[g] -= 1
            if inside[g] == 0:
                alive -= 1
                live[place[g]] = live[alive]
                place[live[alive]] = place[g]
            first += 1
        if first == last:  # tuples in a gap between windows never come in
            while first < n and time[first] < start:
                first += 1
            last = first
        while last < n and time[last] < start + length:
            touched += 1
            g = group[last]
            if inside[g] == 0:
                live[alive], place[g] = g, alive
                alive += 1
            inside[g] += 1
            last += 1
        for j in range(alive):
            to[size], of[size], count[size] = window[w], live[j], inside[live[j]]
            size += 1
        touches[w] = touched
    return to[:size], of[:size], count[:size], touches


@compiled(_BY_COUNT(INTS, INTS, INTS, _GRID, INTS))
def _sum(
    time: Ints, group: Ints, weight: Ints, grid: Grid, window: Ints
) -> tuple[Ints, Ints, Ints, Ints]:
    """Move the window on, as above, where a tuple counts for ``weight`` (> 0)."""
    groups, length, slide, offset, _, most = grid
    to, of, count = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    touches = np.empty(len(window), np.int64)
    inside = np.zeros(groups, np.int64)
    live, place, alive = np.empty(groups, np.int64), np.empty(groups, np.int64), 0
    n = len(time)
    first = last = size = 0
    for w in range(len(window)):
        start = offset + window[w] * slide
        touched = 0
        while first < last and time[first] < start:
            touched += 1
            g = group[first]
            inside[g] -= weight[first]
            if inside[g] == 0:
                alive -= 1
                live[place[g]] = live[alive]
                place[live[alive]] = place[g]
            first += 1
        if first == last:
            while first < n and time[first] < start:
                first += 1
            last = first
        while last < n and time[last] < start + length:
            touched += 1
            g = group[last]
            if inside[g] == 0:
                live[alive], place[g] = g, alive
                alive += 1
            inside[g] += weight[last]
            last += 1
        for j in range(alive):
            to[size], of[size], count[size] = window[w], live[j], inside[live[j]]
            size += 1
        touches[w] = touched
    return to[:size], of[:size], count[:size], touches
