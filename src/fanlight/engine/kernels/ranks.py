"""Order statistics, modes and distinct counts of ranges whose ends both only move forward.

Values are given as ranks: a rank is the place of a value among the distinct values of its column;
-1 stands for null. A row is added to a count and subtracted again, which is exact. A range costs
O(log ranks) for itself and for each row that it does not share with the one before.

- The value in a given place, in sorted order: a Fenwick tree of counts.
- The most frequent value: a tree of the greatest counts.

Keys may use the same ranks: no range holds rows of two keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fanlight.engine.kernels.jit import (
    INT,
    INTS,
    NEW_INTS,
    NEW_TABLE,
    TABLE,
    VOID,
    jitable,
    kernel,
    named_tuple_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


class Frequent(NamedTuple):
    """Frequent ranks of ranges: where those of each range end, the ranks, their counts."""

    ends: Ints
    ranks: Ints
    counts: Ints


FREQUENT = named_tuple_of(Frequent, NEW_INTS, NEW_INTS, NEW_INTS)


def range_places(ranks: Ints, lo: Ints, hi: Ints, places: Ints) -> Ints:
    """The rank in each place of each range ``[lo_i, hi_i)``, with ranks sorted.

    ``places`` has a line for each range, of places from 0 in ascending order; a place that the
    range does not have gives -1.
    """
    wide, ranked = _tree_size(ranks), np.full(places.shape, -1, np.int64)
    _places(ranks, lo, hi, places, wide, np.zeros(wide + 1, np.int64), ranked)
    return ranked


def range_mode(ranks: Ints, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
    """The most frequent rank of each range, the least among equals, and its count; or -1 and 0."""
    wide = _tree_size(ranks)
    modes, counts = np.full(len(lo), -1, np.int64), np.zeros(len(lo), np.int64)
    _find_modes(ranks, lo, hi, wide, np.zeros(2 * wide, np.int64), modes, counts)
    return modes, counts


def range_frequent(ranks: Ints, lo: Ints, hi: Ints, least: Ints) -> Frequent:
    """The ranks that each range has at least ``least`` times, sorted; ``least`` is 1 or more."""
    valid = np.cumsum(np.append(0, ranks >= 0))
    most = int(((valid[hi] - valid[lo]) // least).sum())
    wide = _tree_size(ranks)
    ends, often, counts = (np.zeros(size, np.int64) for size in (len(lo), most, most))
    # A stack of tree nodes: at most one at each depth, and a sibling.
    ahead = np.empty(64, np.int64)
    tree = np.zeros(2 * wide, np.int64)
    frequent = Frequent(ends, often, counts)
    used = _frequent(ranks, lo, hi, least, wide, tree, ahead, frequent)
    return Frequent(ends, often[:used], counts[:used])


def range_distinct(ranks: Ints, lo: Ints, hi: Ints) -> Ints:
    """The number of distinct ranks in each range."""
    wide, distinct = _tree_size(ranks), np.zeros(len(lo), np.int64)
    _distinct(ranks, lo, hi, wide, np.zeros(wide + 1, np.int64), distinct)
    return distinct


def _tree_size(ranks: Ints) -> int:
    """A power of two that is greater than all ranks."""
    return 1 << int(ranks.max(initial=0)).bit_length()


def _make_mover(count: Callable[..., None]) -> Any:
    """Make the function that moves from a range to the next; ``count`` changes a rank's count."""

    @jitable
    def move(
        tree: Ints, wide: int, ranks: Ints, held: tuple[int, int, int], lo: int, hi: int
    ) -> tuple[int, int, int]:
        """Move from the rows [first, last) to [lo, hi); also tracks how many are not null."""
        first, last, counted = held
        while first < last and first < lo:
            if ranks[first] >= 0:
                count(tree, wide, ranks[first], -1)
                counted -= 1
            first += 1
        if last < lo:
            first = last = lo
        while last < hi:
            if ranks[last] >= 0:
                count(tree, wide, ranks[last], 1)
                counted += 1
            last += 1
        return first, last, counted

    return move


@jitable
def _add_to_sums(tree: Ints, wide: int, rank: int, more: int) -> None:
    """Add to the count of a rank in a Fenwick tree."""
    at = rank + 1
    while at <= wide:
        tree[at] += more
        at += at & -at


@jitable
def _add_to_maxima(tree: Ints, wide: int, rank: int, more: int) -> None:
    """Add to the count of a rank in a tree of maxima, whose ``tree[1]`` is the greatest count."""
    at = wide + rank
    tree[at] += more
    while at > 1:
        at >>= 1
        greater = max(tree[2 * at], tree[2 * at + 1])
        if tree[at] == greater:
            break
        tree[at] = greater


@jitable
def _add_to_counts(counts: Ints, distinct: int, rank: int, more: int) -> None:
    """Add to the count of a rank; the last entry counts the ranks that are present."""
    before = counts[rank]
    counts[rank] = before + more
    counts[distinct] += int(before + more > 0) - int(before > 0)


_move_in_sums = _make_mover(_add_to_sums)
_move_in_maxima = _make_mover(_add_to_maxima)
_move_in_counts = _make_mover(_add_to_counts)


@kernel(VOID(INTS, INTS, INTS, TABLE, INT, NEW_INTS, NEW_TABLE))
def _places(
    ranks: Ints, lo: Ints, hi: Ints, places: Ints, wide: int, tree: Ints, out: Ints
) -> None:
    held = (0, 0, 0)
    for i in range(len(lo)):
        held = _move_in_sums(tree, wide, ranks, held, lo[i], hi[i])
        for j in range(places.shape[1]):
            before = places[i, j]
            if not 0 <= before < held[2]:
                continue
            rank, step = 0, wide >> 1
            while step:
                if tree[rank + step] <= before:
                    rank += step
                    before -= tree[rank]
                step >>= 1
            out[i, j] = rank


@kernel(VOID(INTS, INTS, INTS, INT, NEW_INTS, NEW_INTS, NEW_INTS))
def _find_modes(
    ranks: Ints, lo: Ints, hi: Ints, wide: int, tree: Ints, out: Ints, counts: Ints
) -> None:
    held = (0, 0, 0)
    for i in range(len(lo)):
        held = _move_in_maxima(tree, wide, ranks, held, lo[i], hi[i])
        if not held[2]:
            continue
        at = 1
        while at < wide:
            at *= 2
            at += int(tree[at] < tree[at + 1])
        out[i], counts[i] = at - wide, tree[1]


@kernel(INT(INTS, INTS, INTS, INTS, INT, NEW_INTS, NEW_INTS, FREQUENT))
def _frequent(
    ranks: Ints,
    lo: Ints,
    hi: Ints,
    least: Ints,
    wide: int,
    tree: Ints,
    ahead: Ints,
    out: Frequent,
) -> int:
    """Write the frequent ranks; return how many they are."""
    held = (0, 0, 0)
    used = 0
    for i in range(len(lo)):
        held = _move_in_maxima(tree, wide, ranks, held, lo[i], hi[i])
        waiting = 1
        ahead[0] = 1
        while waiting:
            waiting -= 1
            at = ahead[waiting]
            if tree[at] < least[i]:
                continue
            if at < wide:
                ahead[waiting], ahead[waiting + 1] = 2 * at + 1, 2 * at
                waiting += 2
                continue
            out.ranks[used], out.counts[used] = at - wide, tree[at]
            used += 1
        out.ends[i] = used
    return used


@kernel(VOID(INTS, INTS, INTS, INT, NEW_INTS, NEW_INTS))
def _distinct(ranks: Ints, lo: Ints, hi: Ints, wide: int, counts: Ints, out: Ints) -> None:
    held = (0, 0, 0)
    for i in range(len(lo)):
        held = _move_in_counts(counts, wide, ranks, held, lo[i], hi[i])
        out[i] = counts[wide]
