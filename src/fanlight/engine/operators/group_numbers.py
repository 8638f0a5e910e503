"""Numbers for the groups of keys, chosen so that every Spark task gets as many groups."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from fanlight.engine.operators.arrow_tables import Ints, positions_in_runs, starts_of_runs

SEED = 42


@lru_cache
def balanced_group_numbers(groups: int, tasks: int) -> Ints:
    """A number for each group, chosen so that Spark assigns equally many groups to each task.

    Spark assigns a number to a task by its hash. Should Spark change the hash, only the balance
    would be lost.
    """
    quota = np.full(tasks, groups // tasks)
    quota[: groups % tasks] += 1
    parts: list[Ints] = []
    start, size = 0, 4 * max(groups, tasks) + 64
    while quota.any():
        numbers = np.arange(start, start + size)
        tasks_of = murmur3(numbers) % tasks
        order = np.argsort(tasks_of, kind="stable")
        rank = np.empty(size, np.int64)
        rank[order] = positions_in_runs(starts_of_runs(tasks_of[order]), size)
        chosen = rank < quota[tasks_of]
        parts.append(numbers[chosen])
        quota = quota - np.bincount(tasks_of[chosen], minlength=tasks)
        start += size
    return np.concatenate(parts)


def murmur3(numbers: Ints) -> Ints:
    """Murmur3 of 32-bit numbers, as Spark's ``hash`` computes it."""
    block = numbers.astype(np.uint32)
    block = _rotate_left(block * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    mixed = _rotate_left(np.uint32(SEED) ^ block, 13) * np.uint32(5) + np.uint32(0xE6546B64)
    mixed = mixed ^ np.uint32(4)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        mixed = (mixed ^ (mixed >> np.uint32(shift))) * np.uint32(factor)
    return (mixed ^ (mixed >> np.uint32(16))).astype(np.int32).astype(np.int64)


def _rotate_left(values: np.ndarray, by: int) -> np.ndarray:
    return (values << np.uint32(by)) | (values >> np.uint32(32 - by))
