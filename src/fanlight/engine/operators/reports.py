"""Times at which what is open is given: with each micro-batch, or at the multiples of a length."""

from __future__ import annotations


def is_report(every: int, before: int, now: int) -> bool:
    """Whether there is one when the watermark goes on; with ``every`` 0 there always is."""
    return not every or before // every < now // every


def next_report(every: int, now: int) -> int:
    """The first multiple of ``every`` after ``now``."""
    return (now // every + 1) * every
