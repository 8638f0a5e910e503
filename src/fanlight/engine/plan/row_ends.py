"""Windows that rows and time place together: which rows end one, and what it holds."""

from __future__ import annotations

from dataclasses import dataclass

from fanlight.engine.spec.sliding import Sliding


@dataclass(frozen=True)
class EveryRows:
    """A window, as long as RANGE, ends at the instant of every so many rows of a key.

    ``shift`` is the number of rows before the first of them are counted.
    """

    every: int = 1
    shift: int = 0


@dataclass(frozen=True)
class LastRows:
    """A window holds the last ``count`` rows of a key before the end of a SLIDE with a row."""

    count: int


RowEnds = EveryRows | LastRows


def row_ends_of(spec: Sliding) -> RowEnds | None:
    """Which rows end the windows; None where time alone or rows alone place them."""
    if spec.slide_by_tuple:
        return EveryRows(int(spec.slide.value), int(spec.offset.value) % int(spec.slide.value))
    return LastRows(int(spec.range.value)) if spec.range_of_tuples else None


def counts_rows(ends: RowEnds | None) -> bool:
    """Whether a key's rows have to be counted from its first on."""
    return ends is not None and ends != EveryRows()
