"""What each kind of window needs besides Spark SQL, in a batch and in a stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Need = Literal["Python workers", "RocksDB"]

NATIVE: frozenset[Need] = frozenset()
WORKERS: frozenset[Need] = frozenset({"Python workers"})
STATE: frozenset[Need] = WORKERS | {"RocksDB"}  # a stateful operator, in Python


@dataclass(frozen=True)
class Feature:
    """One kind of window or result, and what it needs as ``auto`` runs it."""

    name: str
    batch: frozenset[Need]
    stream: frozenset[Need]


FEATURES = (
    Feature("sliding windows, lists of them and levels, over time", NATIVE, NATIVE),
    Feature("events that last", NATIVE, NATIVE),
    Feature("recurring items, trend lines with a point a row", NATIVE, NATIVE),
    Feature(
        "exact percentiles, frequent and distinct values of windows that overlap", WORKERS, NATIVE
    ),
    Feature("windows over rows, windows at every row", NATIVE, STATE),
    Feature("trend lines over a filled series", NATIVE, STATE),
    Feature("frames", WORKERS, STATE),
    Feature("sessions", WORKERS, STATE),
    Feature("progressive widening", WORKERS, STATE),
)


def needing(need: Need) -> tuple[str, ...]:
    """What needs it, in words.

    >>> needing("RocksDB")[0]
    'windows over rows, windows at every row: streams'
    """
    found = []
    for feature in FEATURES:
        where = [
            name
            for name, needs in (("batches", feature.batch), ("streams", feature.stream))
            if need in needs
        ]
        if where:
            found.append(f"{feature.name}: {' and '.join(where)}")
    return tuple(found)
