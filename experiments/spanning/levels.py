"""Our own technique for windows over events that last: it inserts in constant time.

A window's events are those that end in one of its slices, and those that go on after its last
slice (Suzanne et al., 3.2.2: the pair phi, varphi). The paper enters an event into the varphi of
every slice that it goes on from; here two marks do:

    goes on from slices 3 to 6:    0b0011 and 0b0110 differ first in bit 2
    level 2                        0 1 2 [3 | 4 5 6] 7     end of one block of 4, start of the next

Slice ``q`` reads one running partial a level: in a left block that of the marks up to ``q``, in a
right block that of the marks from ``q`` on. Nothing is ever subtracted, so doubles keep no residue
and maxima need no inverse. The slices in which events end are put together as windows by the
suffix of one block and the prefix of the next, as in the library's batches. An event that goes on
from three slices or fewer is entered into them directly: that takes no more than marks do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic, register_jitable

from experiments.compiled import compiled
from experiments.spanning.tables import (
    INSERTED,
    LATE,
    RELEASED,
    SIGNATURE,
    Spanning,
    add,
    answer,
    clear,
    empty,
    grid,
    join,
    slice_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]


def levels(start: Ints, stop: Ints, value: Floats, range_: int, slide: int, ttp: int) -> Spanning:
    """Ours: one entry where an event ends, two marks where it goes on, whatever its duration."""
    numbers = grid(start, stop, range_, slide, ttp)
    return answer(*_levels(start, stop, value, numbers), numbers)


def _highest_bit(typing: Any, number: Any) -> Any:
    del typing

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        del signature
        zeros = builder.ctlz(args[0], cgutils.true_bit)
        return builder.sub(context.get_constant(types.int64, 63), zeros)

    return types.int64(number), code


# The place of the highest bit that is set in a positive integer; only for compiled code.
highest_bit = cast("Callable[[int], int]", intrinsic(_highest_bit))


@register_jitable
def lowest_bit(number: int) -> int:
    """The place of the lowest bit that is set."""
    return highest_bit(number & -number)


@register_jitable
def store(
    ends: Floats,
    marks: Floats,
    waiting: Ints,
    known: int,
    level: int,
    top: int,
    ring: int,
    count: float,
    total: float,
    most: float,
) -> int:
    """A run of events that end in slice ``known``: there, and marked before it on their level."""
    add(ends, known & ring, count, total, most)
    if level < 0:
        return int(count)
    right = level + (level == top)
    add(marks, right * (ring + 1) + ((known - 1) & ring), count, total, most)
    waiting[right] += int(count)
    if level == top:
        waiting[level] += int(count)
    return 3 * int(count)


@compiled(SIGNATURE)
def _levels(start: Ints, stop: Ints, value: Floats, numbers: Ints) -> tuple[Floats, Ints]:
    length, slide, ttp, head = numbers[0], numbers[1], numbers[2], numbers[3]
    span, step, window, windows, capacity = (
        numbers[4], numbers[5], numbers[6], numbers[7], numbers[9],
    )  # fmt: skip
    inverse, ring = 1.0 / slide, capacity - 1
    out, counters = empty(windows), np.zeros(4, np.int64)
    if ring < 0:
        return out, counters  # never: it spares the test of each place for being negative
    done = 0
    ends = empty(capacity)  # what ends in a slice
    once = empty(capacity)  # what goes on from it, entered directly
    # No event goes on for longer than a block of the highest level, or it would be late. There
    # every block may be left and right.
    top = highest_bit(2 * (ttp // slide + 4) * step - 1)
    height = top + 2
    marks = np.zeros((height * capacity, 4))  # a level is made empty when it is first used
    used, active = 0, 0  # levels, as bits
    running = empty(height)  # of left blocks, up to the slice that is read
    waiting = np.zeros(height, np.int64)  # events of a level that are not behind us
    leaving = np.zeros(height, np.int64)  # of them, those of the right block that is read
    suffix, block = empty(span + 1), empty(span)  # of the last block of slices; this one's
    count, total, most = 0.0, 0.0, -np.inf  # this block's slices so far
    c, s, m = 0.0, 0.0, -np.inf  # what goes on from the slice that is read
    origin = window * slide  # from here on windows, slices and times count from the first window
    window = 0
    q, nearby = -1, -1  # the last slice that has been read; how far events are entered directly
    deadline = length + ttp
    events, inserted, released, late = len(start), 0, 0, 0
    known, begins, closes = 0, 0, 0  # the slice of the event before, and its bounds
    # Streams come nearly in order of stops, so one event after another ends in the same slice, and
    # marks the slice before it on the same level. Such a run is added up here, and stored at its
    # end. Level -1 is that of events that are not marked, -2 that of no run.
    run, run_c, run_s, run_m, row = -2, 0.0, 0.0, -np.inf, 0
    for e in range(events + 1):
        clock = int(stop[e]) - origin if e < events else 0
        if run > -2 and done < windows and (e == events or clock >= deadline):
            inserted += store(ends, marks, waiting, known, run, top, ring, run_c, run_s, run_m)
            run, run_c, run_s, run_m = -2, 0.0, 0.0, -np.inf
        while done < windows and (e == events or clock >= deadline):
            last = window * step + span - 1
            while q < last:
                q += 1
                at = q & ring
                # What ends here: into the running block of slices.
                place = q % span
                if place == 0:
                    clear(suffix, span)
                    for back in range(span - 1, -1, -1):
                        clear(suffix, back)
                        join(suffix, back, suffix, back + 1)
                        join(suffix, back, block, back)
                    count, total, most = 0.0, 0.0, -np.inf
                c, s, m = ends[at, 0], ends[at, 1], ends[at, 2]
                block[place, 0], block[place, 1], block[place, 2] = c, s, m
                count, total, most = count + c, total + s, max(most, m)
                clear(ends, at)
                # What goes on from here, level by level.
                c, s, m = 0.0, 0.0, -np.inf
                released += 2
                if q <= nearby:
                    c, s, m = once[at, 0], once[at, 1], once[at, 2]
                    clear(once, at)
                unread = active
                while unread:
                    h = lowest_bit(unread)
                    unread &= unread - 1
                    row, size = h * capacity, 1 << min(h, top)
                    inside, here = q & (size - 1), row + at
                    if h > top or (h < top and q & size):
                        if inside == 0:
                            for back in range(size - 2, -1, -1):
                                join(marks, row + ((q + back) & ring), marks,
                                     row + ((q + back + 1) & ring))  # fmt: skip
                            leaving[h] = int(marks[here, 0])
                        c, s, m = c + marks[here, 0], s + marks[here, 1], max(m, marks[here, 2])
                        if inside == size - 1:
                            waiting[h] -= leaving[h]
                            if waiting[h] == 0:
                                active &= ~(1 << h)
                    else:
                        if inside == 0:
                            clear(running, h)
                        join(running, h, marks, here)
                        c, s, m = c + running[h, 0], s + running[h, 1], max(m, running[h, 2])
                        if h == top and inside == size - 1:
                            waiting[h] -= int(running[h, 0])
                            if waiting[h] == 0:
                                active &= ~(1 << h)
                    clear(marks, here)
                    released += 1
            add(out, done, c + count, s + total, max(m, most))
            if q % span != span - 1:
                join(out, done, suffix, q % span + 1)
            done += 1
            window += 1
            deadline += slide
        if e == events:
            break
        began = int(start[e]) - origin
        ending = clock - 1 if clock > began else began
        if not begins <= ending < closes:
            if run > -2:
                inserted += store(ends, marks, waiting, known, run, top, ring, run_c, run_s, run_m)
                run, run_c, run_s, run_m = -2, 0.0, 0.0, -np.inf
            known = slice_of(ending, slide, head, inverse)
            if head == 0:
                begins = known * slide
                closes = begins + slide
            elif known & 1:  # Pairs: a SLIDE is a slice of ``head``, and one of the rest
                begins = (known >> 1) * slide + head
                closes = begins + slide - head
            else:
                begins = (known >> 1) * slide
                closes = begins + head
        first = slice_of(began, slide, head, inverse)
        if first <= q:
            late += 1
            continue
        x = value[e]
        level = -1
        if known - first > 3:
            level = min(highest_bit(first ^ (known - 1)), top)
        if level != run:
            if run > -2:
                inserted += store(ends, marks, waiting, known, run, top, ring, run_c, run_s, run_m)
                run_c, run_s, run_m = 0.0, 0.0, -np.inf
            run, row = level, level * capacity
            for h in range(max(level, 0), level + 1 + (level == top)):
                if not (active >> h) & 1:
                    clear(running, h)
                    leaving[h] = 0
                    active |= 1 << h
                if not (used >> h) & 1:
                    used |= 1 << h
                    marks[h * capacity : (h + 1) * capacity, 2] = -np.inf
        run_c += 1.0
        run_s += x
        run_m = x if x > run_m else run_m  # noqa: FURB136 - one instruction
        if level >= 0:
            add(marks, row + (first & ring), 1.0, x, x)
        else:
            nearby = max(nearby, known)
            for i in range(first, known):
                add(once, i & ring, 1.0, x, x)
                inserted += 1
    counters[INSERTED], counters[RELEASED], counters[LATE] = inserted, released, late
    return out, counters
