"""The lag of a time column: by how much the watermark may have passed a time when its row comes.

Rows of a source come before the watermark has passed their time, or are late: their lag is 0. A
window comes once the watermark has passed its end, so the lag of its start is the window's length.
A result says the lag of its times in the metadata of its columns, and windows over these columns
wait as much longer, so that none of their rows is late.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from pyspark.sql.types import StructField, StructType

from fanlight.engine.spark.sql import WATERMARK

LAG = "fanlight.lag"  # metadata
# A schema may be stored with its metadata and be read again: there rows come as those of a source.
_HERE = uuid4().hex
_UNBOUNDED = -1
# Milliseconds that tell the watermark which a result carries on from another one with that delay.
_OURS = 1


@dataclass(frozen=True)
class Lag:
    """The lag of a column: at most ``length`` microseconds, or None if nothing bounds it.

    ``delay`` is that of the stream's watermark, in milliseconds. ``bounds``: the column is a bound
    of windows, and not the time of rows that are passed on. ``marked``: it is event time for Spark,
    which one column of a result is at most. ``computed``: it is made of other columns of a result.
    """

    length: int | None
    delay: Any
    bounds: bool = False
    marked: bool = True
    computed: bool = False

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata of a column with this lag."""
        length = _UNBOUNDED if self.length is None else self.length
        kept = (_HERE, length, self.delay, int(self.bounds), int(self.marked))
        mark = {WATERMARK: self.delay + _OURS} if self.marked else {}
        return {LAG: [str(part) for part in kept], **mark}

    @classmethod
    def of(cls, metadata: Mapping[str, Any] | None) -> Lag | None:
        """The lag that the metadata of a column says; None for a column of a source."""
        here, *kept = (metadata or {}).get(LAG, [""])
        if here != _HERE:
            return None
        length, delay, bounds, marked = map(int, kept)
        return cls(None if length == _UNBOUNDED else length, delay, bool(bounds), bool(marked))


def lag_of_time(of: Mapping[str, Any], fields: Iterable[StructField]) -> Lag | None:
    """The lag of a stream's time column; None for a column of a source.

    Nothing bounds that of a column without a watermark among columns of a result: it is computed
    from these.
    """
    lag = Lag.of(of)
    if lag is not None or WATERMARK in of:
        return lag
    known = next(filter(None, map(_lag_within, fields)), None)
    if known is None:
        return None
    return Lag(None, known.delay, bounds=True, marked=False, computed=True)


def _lag_within(field: StructField) -> Lag | None:
    nested = field.dataType.fields if isinstance(field.dataType, StructType) else []
    return Lag.of(field.metadata) or next(filter(None, map(_lag_within, nested)), None)


def has_two_watermarks(of: Mapping[str, Any], fields: Iterable[StructField]) -> bool:
    """Whether a time column has a watermark of its own, and its rows come from other windows.

    Spark sets a watermark on a column by its metadata, and takes it off all others.
    """
    lag, delay = Lag.of(of), of.get(WATERMARK)
    if delay is None or (lag is not None and delay == lag.delay + _OURS):
        return False
    others = ((Lag.of(field.metadata), field.metadata or {}) for field in fields)
    taken = any(one and one.marked and WATERMARK not in told for one, told in others)
    return lag is not None or taken


def lag_of_event(start: Lag | None, stop: Lag | None) -> Lag | None:
    """The lag of events between two columns: by how much their first instant may come too late.

    A start that is computed from something else, where the stop is the end of a window, may be
    anywhere.
    """
    if start is None:
        return Lag(None, stop.delay) if stop is not None and stop.bounds else stop
    if stop is None or start.length is None:
        return start
    return stop if stop.length is None or stop.length > start.length else start


def add_lags(*lengths: int | None) -> int | None:
    """The sum of lags; None if nothing bounds one of them."""
    return None if None in lengths else sum(length for length in lengths if length is not None)
