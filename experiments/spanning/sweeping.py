"""Plane sweeping (Piatov and Helmer) over events that last, as the paper brings it to streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba.extending import register_jitable

from experiments.compiled import compiled
from experiments.spanning.tables import DELETED, INSERTED, LATE, RELEASED, SIGNATURE, empty

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]


@register_jitable
def doubled(old: Ints) -> Ints:
    """An array of twice the length, with what there was."""
    new = np.empty(2 * len(old), np.int64)
    new[: len(old)] = old
    return new


@register_jitable
def _push(keys: Floats, events: Ints, size: int, key: float, event: int) -> None:
    """Into a heap with the least key on top."""
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if keys[above] <= key:
            break
        keys[at], events[at] = keys[above], events[above]
        at = above
    keys[at], events[at] = key, event


@register_jitable
def _pop(keys: Floats, events: Ints, size: int) -> None:
    """The top off a heap of ``size`` entries."""
    key, event, at = keys[size - 1], events[size - 1], 0
    below = 1
    while below < size - 1:
        if below + 1 < size - 1 and keys[below + 1] < keys[below]:
            below += 1
        if key <= keys[below]:
            break
        keys[at], events[at] = keys[below], events[below]
        at = below
        below = 2 * at + 1
    keys[at], events[at] = key, event


@compiled(SIGNATURE)
def sweeping(start: Ints, stop: Ints, value: Floats, numbers: Ints) -> tuple[Floats, Ints]:
    """Events enter at their start and leave at their end; the window reads what is there.

    Count and sum are counters (the cumulative half); the maximum is the top of a heap of what has
    started, from which what has ended is dropped (the selective half).
    """
    length, slide, ttp = numbers[0], numbers[1], numbers[2]
    window, windows = numbers[6], numbers[7]
    out, counters = empty(windows), np.zeros(4, np.int64)
    origin, done, deadline = window * slide, 0, length + ttp
    size = 1024
    begin_at, begin = np.empty(size), np.empty(size, np.int64)
    end_at, end = np.empty(size), np.empty(size, np.int64)
    most, live = np.empty(size), np.empty(size, np.int64)
    waiting, open_, held = 0, 0, 0  # how many entries each heap has
    count, total = 0.0, 0.0
    for e in range(len(start) + 1):
        over = e == len(start)
        clock = 0 if over else int(stop[e]) - origin
        while done < windows and (over or clock >= deadline):
            x, y = done * slide, done * slide + length
            while waiting and begin_at[0] < y:
                event = begin[0]
                _pop(begin_at, begin, waiting)
                waiting -= 1
                count += 1.0
                total += value[event]
                if held == len(most):
                    most, live = _wider(most), doubled(live)
                _push(most, live, held, -value[event], event)
                held += 1
                counters[RELEASED] += 1
            while open_ and end_at[0] <= x:
                event = end[0]
                _pop(end_at, end, open_)
                open_ -= 1
                count -= 1.0
                total -= value[event]
                counters[DELETED] += 1
            while held and _ended(start, stop, live[0], origin) <= x:
                _pop(most, live, held)
                held -= 1
                counters[DELETED] += 1
            if count > 0.0:
                out[done, 0], out[done, 1], out[done, 2] = count, total, -most[0]
            done += 1
            deadline += slide
        if over:
            break
        if start[e] - origin < (done - 1) * slide + length and done:
            counters[LATE] += 1
            continue
        if waiting == len(begin):
            begin_at, begin = _wider(begin_at), doubled(begin)
        _push(begin_at, begin, waiting, float(start[e] - origin), e)
        waiting += 1
        if open_ == len(end):
            end_at, end = _wider(end_at), doubled(end)
        _push(end_at, end, open_, float(_ended(start, stop, e, origin)), e)
        open_ += 1
        counters[INSERTED] += 2
    return out, counters


@register_jitable
def _wider(old: Floats) -> Floats:
    new = np.empty(2 * len(old))
    new[: len(old)] = old
    return new


@register_jitable
def _ended(start: Ints, stop: Ints, event: int, origin: int) -> int:
    """Where an event ends; one that is an instant ends behind it."""
    return max(int(stop[event]), int(start[event]) + 1) - origin
