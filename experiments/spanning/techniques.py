"""The techniques of the paper on spanning events, over the same arrays as ours.

Tuple buckets and aggregate buckets (its baselines), plane sweeping with its cumulative and its
selective half, SE-Slicing (Algorithms 1 to 4) and SE-ML-Slicing (Algorithms 5 to 8). Slices are cut
by Pairs and live in rings. The paper keeps its sweep indexes in ``std::map``; here they are binary
heaps, which take and give in the same order at the same cost and are faster in practice.

The paper is Suzanne et al., *Slicing Techniques for Temporal Aggregation in Spanning Event
Streams*; see its sections 3 to 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.compiled import compiled
from experiments.spanning.sweeping import doubled, sweeping
from experiments.spanning.tables import (
    DELETED,
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
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

NAMES = ("tuple-buckets", "aggregate-buckets", "sweeping", "se-slicing", "se-ml-slicing")


def run(
    name: str,
    start: Ints,
    stop: Ints,
    value: Floats,
    range_: int,
    slide: int,
    ttp: int,
    *,
    height: int = 7,
) -> Spanning:
    """One of the paper's techniques by its name; ``height`` is that of ``se-ml-slicing``."""
    numbers = grid(start, stop, range_, slide, ttp, height=height)
    return answer(*_LOOPS[name](start, stop, value, numbers), numbers)


@compiled(SIGNATURE)
def _tuple_buckets(start: Ints, stop: Ints, value: Floats, numbers: Ints) -> tuple[Floats, Ints]:
    """Each window keeps its events; they are added up when it is released."""
    length, slide, ttp, head = numbers[0], numbers[1], numbers[2], numbers[3]
    window, windows, capacity = numbers[6], numbers[7], numbers[9]
    inverse, ring = 1.0 / slide, capacity - 1
    out, counters = empty(windows), np.zeros(4, np.int64)
    origin, done, deadline = window * slide, 0, length + ttp
    buckets = np.full(capacity, -1, np.int64)  # each the first of a chain of entries
    entry, after, used, free = np.empty(1024, np.int64), np.empty(1024, np.int64), 0, -1
    for e in range(len(start) + 1):
        over = e == len(start)
        clock = 0 if over else int(stop[e]) - origin
        while done < windows and (over or clock >= deadline):
            node = buckets[done & ring]
            while node >= 0:
                x = value[entry[node]]
                add(out, done, 1.0, x, x)
                following = after[node]
                after[node] = free
                free = node
                node = following
                counters[RELEASED] += 1
            buckets[done & ring] = -1
            counters[DELETED] += 1
            done += 1
            deadline += slide
        if over:
            break
        began = int(start[e]) - origin
        ending = clock - 1 if clock > began else began
        last = slice_of(ending, slide, 0, inverse)
        lowest = slice_of(began, slide, 0, inverse)
        first = lowest + 1 - length // slide
        if head and began - lowest * slide < head:
            first -= 1
        first = max(first, 0)
        if first < done:
            counters[LATE] += 1
            continue
        for m in range(first, last + 1):
            if free >= 0:
                node = free
                free = after[node]
            else:
                if used == len(entry):
                    entry, after = doubled(entry), doubled(after)
                node = used
                used += 1
            entry[node] = e
            after[node] = buckets[m & ring]
            buckets[m & ring] = node
            counters[INSERTED] += 1
    return out, counters


@compiled(SIGNATURE)
def _aggregate_buckets(
    start: Ints, stop: Ints, value: Floats, numbers: Ints
) -> tuple[Floats, Ints]:
    """Each window keeps one partial, into which every event of it goes."""
    length, slide, ttp, head = numbers[0], numbers[1], numbers[2], numbers[3]
    window, windows, capacity = numbers[6], numbers[7], numbers[9]
    inverse, ring = 1.0 / slide, capacity - 1
    out, counters = empty(windows), np.zeros(4, np.int64)
    origin, done, deadline = window * slide, 0, length + ttp
    buckets = empty(capacity)
    inserted = 0
    for e in range(len(start) + 1):
        over = e == len(start)
        clock = 0 if over else int(stop[e]) - origin
        while done < windows and (over or clock >= deadline):
            join(out, done, buckets, done & ring)
            clear(buckets, done & ring)
            counters[RELEASED] += 1
            counters[DELETED] += 1
            done += 1
            deadline += slide
        if over:
            break
        began = int(start[e]) - origin
        ending = clock - 1 if clock > began else began
        last = slice_of(ending, slide, 0, inverse)
        lowest = slice_of(began, slide, 0, inverse)
        first = lowest + 1 - length // slide
        if head and began - lowest * slide < head:
            first -= 1
        first = max(first, 0)
        if first < done:
            counters[LATE] += 1
            continue
        x = value[e]
        for m in range(first, last + 1):
            add(buckets, m & ring, 1.0, x, x)
        inserted += last + 1 - first
    counters[INSERTED] = inserted
    return out, counters


@compiled(SIGNATURE)
def _se_slicing(start: Ints, stop: Ints, value: Floats, numbers: Ints) -> tuple[Floats, Ints]:
    """Algorithms 1 to 4: into phi of the slice where an event ends, varphi of those before it."""
    length, slide, ttp, head, span, step = (
        numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5],
    )  # fmt: skip
    window, windows, capacity = numbers[6], numbers[7], numbers[9]
    inverse, ring = 1.0 / slide, capacity - 1
    out, counters = empty(windows), np.zeros(4, np.int64)
    origin, done, deadline = window * slide, 0, length + ttp
    # A slice: count and sum of what ends in it, of what goes on, and one maximum (3.2.1).
    slices = np.zeros((capacity, 8))
    slices[:, 4] = -np.inf
    inserted = 0
    for e in range(len(start) + 1):
        over = e == len(start)
        clock = 0 if over else int(stop[e]) - origin
        while done < windows and (over or clock >= deadline):
            lowest = done * step
            count, total, most = 0.0, 0.0, -np.inf
            for i in range(lowest, lowest + span):
                at = i & ring
                count += slices[at, 0]
                total += slices[at, 1]
                most = max(most, slices[at, 4])
            at = (lowest + span - 1) & ring
            count += slices[at, 2]
            total += slices[at, 3]
            add(out, done, count, total, most)
            counters[RELEASED] += span
            for i in range(lowest, lowest + step):
                slices[i & ring, :4] = 0.0
                slices[i & ring, 4] = -np.inf
            counters[DELETED] += step
            done += 1
            deadline += slide
        if over:
            break
        began = int(start[e]) - origin
        ending = clock - 1 if clock > began else began
        last = slice_of(ending, slide, head, inverse)
        first = slice_of(began, slide, head, inverse)
        if done and first <= (done - 1) * step + span - 1:
            counters[LATE] += 1
            continue
        x = value[e]
        at = last & ring
        slices[at, 0] += 1.0
        slices[at, 1] += x
        slices[at, 4] = max(slices[at, 4], x)
        for i in range(last - 1, first - 1, -1):
            at = i & ring
            slices[at, 2] += 1.0
            slices[at, 3] += x
            slices[at, 4] = max(slices[at, 4], x)
        inserted += last - first + 1
    counters[INSERTED] = inserted
    return out, counters


@compiled(SIGNATURE)
def _se_ml_slicing(start: Ints, stop: Ints, value: Floats, numbers: Ints) -> tuple[Floats, Ints]:
    """Algorithms 5 to 8: level k of slice i covers slices i - k to i, so that hops are wide."""
    length, slide, ttp, head, span, step = (
        numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5],
    )  # fmt: skip
    window, windows, height, capacity = numbers[6], numbers[7], numbers[8], numbers[9]
    inverse, ring = 1.0 / slide, capacity - 1
    out, counters = empty(windows), np.zeros(4, np.int64)
    origin, done, deadline = window * slide, 0, length + ttp
    slices = np.zeros((capacity * height, 8))
    slices[:, 4] = -np.inf
    inserted, newest = 0, 0
    for e in range(len(start) + 1):
        over = e == len(start)
        clock = 0 if over else int(stop[e]) - origin
        while done < windows and (over or clock >= deadline):
            lowest = done * step
            final = lowest + span - 1
            count, total, most = 0.0, 0.0, -np.inf
            for i in range(lowest, min(final + height, newest + 1)):
                row = (i & ring) * height
                for k in range(max(i - final, 0), height):
                    count += slices[row + k, 0]
                    total += slices[row + k, 1]
                    most = max(most, slices[row + k, 4])
                    if i >= final:
                        count += slices[row + k, 2]
                        total += slices[row + k, 3]
                    counters[RELEASED] += 1
            if count > 0.0:
                add(out, done, count, total, most)
            for i in range(lowest, lowest + step):
                row = (i & ring) * height
                slices[row : row + height, :4] = 0.0
                slices[row : row + height, 4] = -np.inf
            counters[DELETED] += step * height
            done += 1
            deadline += slide
        if over:
            break
        began = int(start[e]) - origin
        ending = clock - 1 if clock > began else began
        last = slice_of(ending, slide, head, inverse)
        first = slice_of(began, slide, head, inverse)
        if done and first <= (done - 1) * step + span - 1:
            counters[LATE] += 1
            continue
        newest = max(newest, last)
        x = value[e]
        left, i, part = last - first + 1, last, 0
        while left > 0:
            at = (i & ring) * height + min(left, height) - 1
            slices[at, part] += 1.0
            slices[at, part + 1] += x
            slices[at, 4] = max(slices[at, 4], x)
            part = 2
            i -= height
            left -= height
            inserted += 1
    counters[INSERTED] = inserted
    return out, counters


_LOOPS = {
    "tuple-buckets": _tuple_buckets,
    "aggregate-buckets": _aggregate_buckets,
    "sweeping": sweeping,
    "se-slicing": _se_slicing,
    "se-ml-slicing": _se_ml_slicing,
}
