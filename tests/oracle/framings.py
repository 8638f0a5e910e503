"""The theory of frames, straight from the definitions, over the rows of one key.

A frame is a pair ``(i, j)``: the rows ``i`` to ``j - 1``, of which there is at least one. All is
found by looking at all possible frames, and at all sets of them where there is no other way, so use
it on few rows. Grossniklaus et al., *Frames*, section 3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations

Pair = tuple[int, int]
Framing = frozenset[Pair]
Local = Callable[[int, int], bool]
Global = Callable[[Framing, Framing], bool]


def possible(size: int) -> Framing:
    """All frames over ``size`` rows (Definition 2).

    >>> sorted(possible(2))
    [(0, 1), (0, 2), (1, 2)]
    """
    return frozenset((i, j) for i in range(size) for j in range(i + 1, size + 1))


def candidates(size: int, local: Local) -> Framing:
    """The possible frames for which the local condition holds (Definition 3)."""
    return frozenset(frame for frame in possible(size) if local(*frame))


def within(inner: Pair, outer: Pair) -> bool:
    """Whether a frame is a sub-interval of another."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def maximal(frames: Iterable[Pair]) -> Framing:
    """The frames of which no other one is a super-interval."""
    every = frozenset(frames)
    return frozenset(f for f in every if not any(f != g and within(f, g) for g in every))


def minimal(frames: Iterable[Pair]) -> Framing:
    """The frames of which no other one is a sub-interval."""
    every = frozenset(frames)
    return frozenset(f for f in every if not any(f != g and within(g, f) for g in every))


def rows_of(frames: Iterable[Pair]) -> frozenset[int]:
    """The rows that are in some frame."""
    return frozenset(row for i, j in frames for row in range(i, j))


def covers(framing: Framing, other: Framing) -> bool:
    """Whether each row of the other framing is in this one (Definition 5)."""
    return rows_of(other) <= rows_of(framing)


def overlapping(framing: Framing) -> bool:
    """Whether some row is in two frames."""
    return sum(j - i for i, j in framing) > len(rows_of(framing))


def separated(framing: Framing) -> bool:
    """Whether there is a row between any two frames."""
    return not overlapping(framing) and all(i != j for i, _ in framing for _, j in framing)


def partitions(framing: Framing, size: int) -> bool:
    """Whether each of ``size`` rows is in exactly one frame."""
    return not overlapping(framing) and rows_of(framing) == frozenset(range(size))


# Closure properties of candidate frames (Definition 5).


def union_closed(frames: Framing) -> bool:
    """Whether the union of overlapping candidates is a candidate."""
    return all(
        (min(a, c), max(b, d)) in frames for a, b in frames for c, d in frames if a < d and c < b
    )


def super_closed(frames: Framing, size: int) -> bool:
    """Whether whatever contains a candidate is one."""
    return all(f in frames for f in possible(size) if any(within(g, f) for g in frames))


def sub_closed(frames: Framing, size: int) -> bool:
    """Whether whatever a candidate contains is one."""
    return all(f in frames for f in possible(size) if any(within(f, g) for g in frames))


# Global conditions: of a framing, and the candidates that it was chosen from.


def is_maximal(framing: Framing, chosen_from: Framing) -> bool:
    """No candidate is a super-interval of a frame."""
    return framing <= maximal(chosen_from)


def is_minimal(framing: Framing, chosen_from: Framing) -> bool:
    """No candidate is a sub-interval of a frame."""
    return framing <= minimal(chosen_from)


def covering(framing: Framing, chosen_from: Framing) -> bool:
    """Every row of a candidate is in a frame."""
    return covers(framing, chosen_from)


def disjoint(framing: Framing, chosen_from: Framing) -> bool:
    """No row is in two frames."""
    del chosen_from
    return not overlapping(framing)


def longest_from_start(framing: Framing, chosen_from: Framing) -> bool:
    """Each frame is the longest candidate that begins where it does: the proof of Lemma 2."""
    return all(j == max(b for a, b in chosen_from if a == i) for i, j in framing)


def shortest_from_start(framing: Framing, chosen_from: Framing) -> bool:
    """Each frame is the shortest candidate that begins where it does: the proof of Lemma 2."""
    return all(j == min(b for a, b in chosen_from if a == i) for i, j in framing)


def framings(chosen_from: Framing, conditions: Iterable[Global]) -> list[Framing]:
    """All sets of candidates for which all conditions hold (Definition 4), by trying each set."""
    wanted, every = list(conditions), sorted(chosen_from)
    return [
        framing
        for count in range(len(every) + 1)
        for framing in map(frozenset, combinations(every, count))
        if all(condition(framing, chosen_from) for condition in wanted)
    ]


def drained(framing: Framing, chosen_from: Framing, conditions: Iterable[Global]) -> bool:
    """Whether no frame can be taken away without breaking a condition."""
    wanted = list(conditions)
    return not any(
        all(condition(framing - {frame}, chosen_from) for condition in wanted) for frame in framing
    )


def saturated(framing: Framing, chosen_from: Framing, conditions: Iterable[Global]) -> bool:
    """Whether no candidate can be added without breaking a condition."""
    wanted = list(conditions)
    return not any(
        all(condition(framing | {frame}, chosen_from) for condition in wanted)
        for frame in chosen_from - framing
    )


def chain(chosen_from: Framing, *, longest: bool) -> Framing:
    """The framing of Lemma 2: the first possible frame is picked, then the first one after it.

    From each starting point the longest (or shortest) candidate is taken.
    """
    picked: set[Pair] = set()
    at = 0
    while True:
        starts = [i for i, _ in chosen_from if i >= at]
        if not starts:
            return frozenset(picked)
        start = min(starts)
        ends = [j for i, j in chosen_from if i == start]
        at = max(ends) if longest else min(ends)
        picked.add((start, at))
