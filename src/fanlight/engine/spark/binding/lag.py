"""The lag of a time column: by how much the watermark may have passed a time when its row comes.

Rows of a source come before the watermark has passed their time, or are late: their lag is 0. A
window comes once the watermark has passed its end, so the lag of its start is the window's length.
A result says the lag of its times in the metadata of its columns, and windows over these columns
wait as much longer, so that none of their rows is late.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

LAG = "fanlight.lag"  # metadata
# A schema may be stored with its metadata and be read again: there rows come as those of a source.
_HERE = uuid4().hex
_UNBOUNDED = -1


@dataclass(frozen=True)
class Lag:
    """The lag of a column: at most ``length`` microseconds, or None if nothing bounds it.

    ``bounds``: the column is a bound of windows, and not the time of rows that are passed on.
    """

    length: int | None
    bounds: bool = False

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata of a column with this lag."""
        length = _UNBOUNDED if self.length is None else self.length
        return {LAG: [_HERE, str(length), "bounds" if self.bounds else "rows"]}

    @classmethod
    def of(cls, metadata: Mapping[str, Any]) -> Lag | None:
        """The lag that the metadata of a column says; None for a column of a source."""
        here, length, kind = metadata.get(LAG, ("", "", ""))
        if here != _HERE:
            return None
        return cls(None if int(length) == _UNBOUNDED else int(length), kind == "bounds")


def lag_of_event(start: Lag | None, stop: Lag | None) -> Lag | None:
    """The lag of events between two columns: by how much their first instant may come too late.

    A start that is computed from something else, where the stop is the end of a window, may be
    anywhere.
    """
    if start is None:
        return Lag(None) if stop is not None and stop.bounds else stop
    if stop is None:
        return start
    if start.length is None or stop.length is None:
        return Lag(None)
    return max(start, stop, key=lambda lag: lag.length or 0)


def add_lags(*lengths: int | None) -> int | None:
    """The sum of lags; None if nothing bounds one of them."""
    return None if None in lengths else sum(length for length in lengths if length is not None)
