"""Brute force in plain Python: the oracle, which shares no code with what it judges."""

from fanlight.reference.sliding import Window, rejected, sliding, windows

__all__ = ["Window", "rejected", "sliding", "windows"]
