"""Brute force in plain Python: the oracle, which shares no code with what it judges."""

from fanlight.reference.granular import fit, granular, queries, recurring
from fanlight.reference.sliding import Window, rejected, sliding, windows

__all__ = [
    "Window", "fit", "granular", "queries", "recurring", "rejected", "sliding", "windows",
]  # fmt: skip
