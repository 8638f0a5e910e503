"""Figure 6: the rows that windows show to a detector, counted in the kernel."""

from __future__ import annotations

import numpy as np

from fanlight.engine.kernels.episodes import occurrences
from fanlight.engine.kernels.widening import level_windows

ALL, NONE = 2**62, -(2**63)


def lengths(times, durations, most):
    """The rows of every window, level by level, of one key's rows."""
    codes = np.zeros(len(times), np.int64)
    before, until = np.array([NONE], np.int64), np.array([ALL], np.int64)
    found = []
    for level, duration in enumerate(durations):
        below = durations[level - 1] if level else 0
        _, _, ends, ranges = level_windows(
            codes, times, before, until, duration, below, most, until.copy()
        )
        total = np.cumsum(np.append(0, ranges[:, 1] - ranges[:, 0]))[ends]
        found.append(np.diff(np.append(0, total)))
    return found


def doubling(first, longest, factor=2):
    durations = [first]
    while durations[-1] < longest:
        durations.append(durations[-1] * factor)
    return durations


def counted(rows, first, most, longest, factor=2):
    """Work a unit of time, one row a unit: for R(n) = n and R(n) = n squared."""
    times = np.arange(rows)
    sizes = np.concatenate(lengths(times, doubling(first, longest, factor), most)).astype(float)
    return sizes.sum() / rows, (sizes**2).sum() / rows


def figure_6(rows, firsts, most, longest, fixed):
    """One line a first duration: counted work, bound (2), and that of fixed windows.

    Fixed windows that hold every pattern of ``fixed`` units are twice as long and slide by half of
    that (Lemma 1).
    """
    found = []
    for first in firsts:
        linear, squared = counted(rows, first, most, longest)
        found.append(
            {
                "first": first,
                "linear": linear,
                "linear bound": 2 * (4 * most) / first,
                "linear fixed": 2 * fixed / fixed,
                "squared": squared,
                "squared bound": 2 * (4 * most) ** 2 / first,
                "squared fixed": (2 * fixed) ** 2 / fixed,
            }
        )
    return found


def matcher(rows, seconds):
    """Million rows a second of the compiled episode, by the share of rows that can be an event."""
    random = np.random.default_rng(1)
    # accept fd=x => y; dup fd=y => 0 | dup fd=y => 1 | dup fd=y => 2; execve exe=z
    where = np.array([[1], [0], [0], [0], [-1]], np.int64)
    steps, wholes = np.array([0, 1, 1, 1, 2]), np.array([1, 14, 16])
    found = []
    for share in (0.01, 0.1, 0.3, 1.0):
        kinds = np.array([0, 1, 2, 4, 8, 16], np.int64)
        may = random.choice(kinds, rows, p=[1 - share, *[share / 5] * 5])
        values, begins = random.integers(0, 20, (2, rows)), np.zeros(rows, np.bool_)
        given = (may, begins, values, where, steps, wholes, 100)
        occurrences(*given)
        best = min(seconds(lambda given=given: occurrences(*given)) for _ in range(3))
        found.append({"share": f"{share:.0%}", "rate": rows / best / 1e6})
    return found
