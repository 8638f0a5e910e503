"""Breakages that only a run on Spark sees."""

from __future__ import annotations

LAW = "tests/law/test_law.py"


def law(words):
    """A few asks of the law, picked by words in their names."""
    return LAW, "-k", words


BREAKAGES = ()
