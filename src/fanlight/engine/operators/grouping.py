"""Keys in groups, one for each of Spark's tasks."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from fanlight.engine.operators.tables import Ints, starts_of_runs, within_runs

SEED = 42


@lru_cache
def numbers_of(groups: int, tasks: int) -> Ints:
    """The number of each group, chosen so that Spark gives all its tasks as many of them.

    Spark finds the task of a number by its hash. Were it another one, only the balance would go.
    """
    quota = np.full(tasks, groups // tasks)
    quota[: groups % tasks] += 1
    found: list[Ints] = []
    start, size = 0, 4 * max(groups, tasks) + 64
    while quota.any():
        numbers = np.arange(start, start + size)
        tasks_of = hashed(numbers) % tasks
        order = np.argsort(tasks_of, kind="stable")
        rank = np.empty(size, np.int64)
        rank[order] = within_runs(starts_of_runs(tasks_of[order]), size)
        chosen = rank < quota[tasks_of]
        found.append(numbers[chosen])
        quota = quota - np.bincount(tasks_of[chosen], minlength=tasks)
        start += size
    return np.concatenate(found)


def hashed(numbers: Ints) -> Ints:
    """Murmur3 of 32-bit numbers, as Spark's ``hash`` has it."""
    block = numbers.astype(np.uint32)
    block = _rotate_left(block * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    found = _rotate_left(np.uint32(SEED) ^ block, 13) * np.uint32(5) + np.uint32(0xE6546B64)
    found = found ^ np.uint32(4)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        found = (found ^ (found >> np.uint32(shift))) * np.uint32(factor)
    return (found ^ (found >> np.uint32(16))).astype(np.int32).astype(np.int64)


def _rotate_left(values: np.ndarray, by: int) -> np.ndarray:
    return (values << np.uint32(by)) | (values >> np.uint32(32 - by))
