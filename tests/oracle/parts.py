"""Frames cut at report times, by brute force: each part looks at all rows of its frame again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from tests.oracle.frames import Framed, Row
from tests.oracle.values import instant


def parts(
    found: Iterable[Framed],
    every: int,
    aggregate: Callable[[Sequence[Row]], Any],
    *,
    time: str,
    now: int | None = None,
    remembered: int | None = None,
) -> Iterator[tuple[Any, ...]]:
    """Of each part: the frame's key and number, its bounds, whether it is complete, aggregates.

    Report times are the multiples of ``every``. A part that ends at one has the rows before it; any
    other is the last one of its frame, and has all of its rows. ``now``: what a stream has given by
    then, in which a frame that nothing has closed goes on. ``remembered``: how long it goes on
    after its last row, before its key is forgotten.
    """
    for frame in found:
        last = max(instant(row[time]) for row in frame.rows)
        if frame.closed:
            goes_on = frame.end
        elif remembered is not None:
            goes_on = last + remembered
        else:
            goes_on = last if now is None else now
        reports = range(goes_on - goes_on % every, frame.start, -every)
        edges = sorted({frame.start, *reports})
        if edges[-1] < frame.end:
            edges.append(frame.end)
        for begin, until in pairwise(edges):
            rows = [row for row in frame.rows if until % every or instant(row[time]) < until]
            complete = frame.closed or until in reports
            if now is None or (complete and until <= now):
                yield (*frame.key, frame.number, begin, until, complete, aggregate(rows))
