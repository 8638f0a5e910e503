"""Heat maps (4.4): how long a player was in each cell of the pitch, by frames and by windows."""

from __future__ import annotations

import numpy as np

from experiments.frames import cutting, data

CELLS = data.ROWS * data.COLUMNS
SHARES = (1.0, 0.5, 0.2, 0.1)


def cell_of(x, y):
    """The cell of a place, (lo, hi] in both directions."""
    column = np.clip(np.ceil(x / (data.LENGTH / data.COLUMNS)) - 1, 0, data.COLUMNS - 1)
    row = np.clip(np.ceil(y / (data.WIDTH / data.ROWS)) - 1, 0, data.ROWS - 1)
    return (row * data.COLUMNS + column).astype(np.int64)


def reports(slots, cells, weights, count, span):
    """Maps (report, cell) of shares of time over the last ``span`` slots, from one map a slot."""
    slot_maps = np.zeros((count, CELLS))
    np.add.at(slot_maps, (slots, cells), weights)
    total = np.cumsum(np.vstack([np.zeros((1, CELLS)), slot_maps]), axis=0)
    ends = np.arange(1, count + 1)
    maps = total[ends] - total[np.maximum(ends - span, 0)]
    sums = maps.sum(axis=1, keepdims=True)
    return maps / np.where(sums, sums, 1)


def truth(track, slide, span):
    """Every reading weighs the same."""
    slots = (track.time // slide).astype(np.int64)
    ones = np.ones(len(slots))
    return reports(slots, cell_of(track.x, track.y), ones, int(slots[-1]) + 1, span)


def by_windows(track, slide, span, share):
    """Tumbling windows of a share of the slide: the cell of the mean place."""
    length = slide * share
    window = (track.time // length + 1e-9).astype(np.int64)
    lo = np.flatnonzero(np.append(True, window[1:] != window[:-1]))
    cells = cell_of(cutting.means(track.x, lo), cutting.means(track.y, lo))
    slots = (track.time[lo] // slide).astype(np.int64)
    count = int(track.time[-1] // slide) + 1
    return reports(slots, cells, np.full(len(lo), length), count, span), len(lo)


def by_frames(track, slide, span):
    """Stays in a cell, split at report times."""
    widths = (data.LENGTH / data.COLUMNS, data.WIDTH / data.ROWS)
    lo, _, _ = cutting.grid([track.x, track.y], widths)
    period = float(np.median(np.diff(track.time)))
    count = int(track.time[-1] // slide) + 1
    last = min(track.time[-1] + period, count * slide)
    start, end = track.time[lo], np.append(track.time[lo[1:]], last)
    cells = cell_of(track.x[lo], track.y[lo])
    first, last = (
        (start // slide).astype(np.int64),
        (np.nextafter(end, 0) // slide).astype(np.int64),
    )
    parts = last - first + 1
    owner = np.repeat(np.arange(len(lo)), parts)
    slots = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts) + first[owner]
    begin, stop = (
        np.maximum(start[owner], slots * slide),
        np.minimum(end[owner], (slots + 1) * slide),
    )
    return reports(slots, cells[owner], stop - begin, count, span), len(lo)


def rms(one, other):
    """The root of the mean squared error, summed over all reports and cells."""
    return float(np.sqrt(((one - other) ** 2).mean(axis=1)).sum())


def errors(tracks, length, slide):
    """Total RMS error over all players, and pieces computed, of frames and of each window."""
    span = int(length / slide)
    found = {name: [0.0, 0] for name in ("frames", *SHARES)}
    for track in tracks:
        exact = truth(track, slide, span)
        for name, total in found.items():
            if name == "frames":
                maps, count = by_frames(track, slide, span)
            else:
                maps, count = by_windows(track, slide, span, name)
            total[0] += rms(maps, exact)
            total[1] += count
    return found
