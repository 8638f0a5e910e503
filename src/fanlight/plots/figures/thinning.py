"""Lines that break at gaps, and that have no more points than can be seen."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from fanlight.plots.figures.given import check_count

Array = np.ndarray[Any, Any]
SILENCE = 10  # times the median step between rows: a longer one breaks the line


def find_silence(times: Array) -> Any:
    """The longest step between rows that a line bridges; None if their steps do not tell."""
    steps = np.diff(times)
    if len(steps) < 2:
        return None
    timed = steps.dtype.kind == "m"
    longest = SILENCE * np.median(steps.astype("int64" if timed else "float64"))
    if not longest > 0:
        return None
    return np.timedelta64(int(longest), "us") if timed else longest


def mark_gaps(times: Array, values: Array, slide: Any, empty: float | None) -> tuple[Array, Array]:
    """Add points inside each gap: NaN, so that a line breaks there, or the value ``empty``."""
    gaps = np.flatnonzero(np.diff(times) > 1.5 * slide)
    if not len(gaps):
        return times, values
    filler = np.nan if empty is None else empty
    between = np.concatenate([times[gaps] + slide, times[gaps + 1] - slide])
    order = np.argsort(np.concatenate([times, between]), kind="stable")
    fill = np.full(len(between), filler)
    return np.concatenate([times, between])[order], np.concatenate([values, fill])[order]


def thin_line(values: Array, points: int) -> Array:
    """Which points of a line to draw, ``points`` at most: the lowest and highest of each stretch.

    If a stretch has a point without a value, one such point is kept, too, so that the line breaks.
    """
    points = check_count("points", points, 2, "for a line")
    if len(values) <= points:
        return np.arange(len(values))
    missing = np.isnan(values)
    edges = np.linspace(0, len(values), max(points // (3 if missing.any() else 2), 1) + 1).astype(
        int
    )
    low, high = np.where(missing, np.inf, values), np.where(missing, -np.inf, values)
    kept: set[int] = set()
    for begin, end in pairwise(edges):
        kept |= {begin + int(low[begin:end].argmin()), begin + int(high[begin:end].argmax())}
        if missing[begin:end].any():
            kept.add(begin + int(missing[begin:end].argmax()))
    return np.array(sorted(kept))


def thin_boxes(low: Array, high: Array, most: int) -> Array:
    """Which boxes to draw, ``most`` at most: those with the lowest and highest edge per stretch."""
    most = check_count("most", most, 2, "to draw")
    if len(low) <= most:
        return np.arange(len(low))
    edges = np.linspace(0, len(low), most // 2 + 1).astype(int)
    least, greatest = np.nan_to_num(low, nan=np.inf), np.nan_to_num(high, nan=-np.inf)
    stretches = list(pairwise(edges))
    lowest = [begin + int(least[begin:end].argmin()) for begin, end in stretches]
    highest = [begin + int(greatest[begin:end].argmax()) for begin, end in stretches]
    return np.unique([*lowest, *highest])


def find_isolated(heights: Array) -> Array:
    """Which points have a value, but no neighbour with one: a line alone would not show them."""
    has_value = np.pad(~np.isnan(heights), 1)
    isolated: Array = has_value[1:-1] & ~has_value[:-2] & ~has_value[2:]
    return isolated


def separate_lines(first: Array, last: Array, low: Array, high: Array) -> dict[str, Array]:
    """The points of many unconnected lines, each from (first, low) to (last, high)."""
    gap = np.full(len(low), np.nan)
    return {"x": interleave(first, last, last), "y": interleave(low, high, gap)}


def interleave(*columns: Array) -> Array:
    """Interleave arrays: the first element of each, then the second of each, and so on."""
    turned: Array = np.stack(columns, axis=1).reshape(-1)
    return turned
