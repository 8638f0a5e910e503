"""Lives of keys: a key that has been silent for too long starts anew, as if it were another key.

A life is rows of a key, none of which comes more than ``forget_after`` after the one before. Each
life has a code of its own, and is complete once the next has begun, or the watermark has passed
the time up to which a row could have gone on with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fanlight.engine.operators.arrow_tables import Ints, starts_of_runs

UNSEEN = 2**62  # the last row of a key that has had none: nothing is late for it
OVER = -(2**63)  # the last row of a life that is complete, whatever the watermark


@dataclass(frozen=True)
class Lives:
    """The lives that rows are of.

    ``codes`` has the code of each row's life; ``begun`` the key's code before, for each life that
    rows have begun, whose codes follow those that are known. ``seen`` has the time of the last row
    by code, ``OVER`` for lives that are complete.
    """

    codes: Ints
    begun: Ints
    seen: Ints


def split_lives(codes: Ints, first: Ints, last: Ints, seen: Ints, forget_after: int) -> Lives:
    """Split the rows of each key into lives; rows are sorted by code, then by time.

    A row stands for rows from ``first`` to ``last``. ``seen`` has the last time by code before.

    >>> split = split_lives(np.zeros(4, int), *[np.array([1, 2, 9, 30])] * 2, np.array([0]), 5)
    >>> split.codes.tolist(), split.begun.tolist()
    ([0, 0, 1, 2], [0, 0])
    """
    starts = starts_of_runs(codes)
    before = np.roll(last, 1)
    before[starts] = seen[codes[starts]]
    begins = first - before > forget_after
    begun = np.cumsum(begins)
    earlier: Ints = np.repeat(
        begun[starts] - begins[starts], np.diff(np.append(starts, len(codes)))
    )
    lived = np.where(begun > earlier, len(seen) + begun - 1, codes)
    ends = np.append(starts_of_runs(lived)[1:], len(lived)) - 1 if len(lived) else starts
    now = np.append(seen, np.full(int(begins.sum()), UNSEEN))
    now[lived[ends]] = last[ends]
    previous = np.roll(lived, 1)
    previous[starts] = codes[starts]
    now[previous[begins]] = OVER
    return Lives(lived, codes[begins], now)


def complete_lives(seen: Ints, forget_after: int, watermark: int) -> NDArray[np.bool_]:
    """Which lives no row can go on with, by code."""
    complete: NDArray[np.bool_] = seen + forget_after <= watermark
    return complete
