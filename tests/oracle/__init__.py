"""Brute force in plain Python: the oracle, which shares no code with what it judges."""

from tests.oracle.carried import carried
from tests.oracle.granular import fit, granular, queries, recurring
from tests.oracle.sliding import Window, rejected, sliding, windows
from tests.oracle.spanning import (
    rejected_spans,
    snapshots,
    spanning,
    spanning_several,
    spans,
    spans_of_several,
    unchanged,
)

__all__ = [
    "Window",
    "carried",
    "fit",
    "granular",
    "queries",
    "recurring",
    "rejected",
    "rejected_spans",
    "sliding",
    "snapshots",
    "spanning",
    "spanning_several",
    "spans",
    "spans_of_several",
    "unchanged",
    "windows",
]
