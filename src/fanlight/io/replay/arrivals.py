"""When each row of a replay arrives: at its time plus a random delay.

The random numbers are a function of seed and row number, computed here: a generator of numpy's may
give others in a later release, and a replay from a checkpoint would then go on in another order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

_GOLDEN = 0x9E3779B97F4A7C15
_MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_DISORDER, _LATE, _LATE_BY = 1, 2, 3  # what a random number is for


@dataclass(frozen=True)
class Disorder:
    """How long after their times rows arrive, in microseconds, and the share that is late.

    A row arrives ``most`` after its time at most; a late one, up to ``late_by`` later than that.
    """

    most: int = 0
    late: float = 0.0
    late_by: int = 0
    seed: int = 0


def compute_arrivals(times: Any, disorder: Disorder) -> Any:
    """When each row arrives, in microseconds."""
    count = len(times)
    delays = _to_whole_numbers(_draw_numbers(count, disorder.seed, _DISORDER), disorder.most + 1)
    if disorder.late:
        late = _draw_numbers(count, disorder.seed, _LATE) < disorder.late
        beyond = _to_whole_numbers(_draw_numbers(count, disorder.seed, _LATE_BY), disorder.late_by)
        delays = np.where(late, disorder.most + 1 + beyond, delays)
    return times + delays


def _to_whole_numbers(draws: Any, below: int) -> Any:
    """Scale random numbers to whole numbers from 0 to ``below`` - 1."""
    return np.minimum((draws * below).astype(np.int64), below - 1)


def _draw_numbers(count: int, seed: int, use: int) -> Any:
    """Random numbers in [0, 1), one per row: SplitMix64 of row numbers (Steele et al., 2014)."""
    begin = np.array([(seed % 2**64) ^ use * _GOLDEN % 2**64], np.uint64)
    begin = _mix(begin)  # or neighbouring seeds would give the same numbers, only shifted by rows
    states = np.arange(1, count + 1, dtype=np.uint64)
    states *= np.uint64(_GOLDEN)
    states += begin
    return (_mix(states) >> np.uint64(11)) * 2.0**-53


def _mix(values: Any) -> Any:
    for shift, factor in _MIX:
        values ^= values >> np.uint64(shift)
        values *= np.uint64(factor)
    values ^= values >> np.uint64(31)
    return values
