"""The quality studies on series: episodes (4.1), scatter plots (4.2), histograms (4.3)."""

from __future__ import annotations

import numpy as np

from experiments.frames import cutting, data

HIGH, LEAST, WINDOW = 180.0, 20, 50  # mg/dL; readings; readings a window, as in the paper


def episodes(readings, above=HIGH, least=LEAST, length=WINDOW):
    """Episodes by frames, exact, and by windows of three kinds, merged where they touch."""
    values = readings.value
    exact = cutting.thresholds(values, above, least)
    lo, hi = cutting.tuples(len(values), length)
    found = {"frames": exact}
    for name, reduce in (("min", np.minimum), ("average", np.add), ("max", np.maximum)):
        told = reduce.reduceat(values, lo) / (hi - lo if name == "average" else 1)
        found[f"windows, {name}"] = _merged(lo, hi, told > above)
    return found


def _merged(lo, hi, good):
    starts = np.flatnonzero(good & ~np.append(False, good[:-1]))
    ends = np.flatnonzero(good & ~np.append(good[1:], False))
    return lo[starts], hi[ends]


def episode_errors(found, size):
    """Of each variant: episodes, those missed and those not there, and how long it is wrong."""
    exact = found["frames"]
    truth = _rows(exact, size)
    lines = []
    for name, (lo, hi) in found.items():
        told = _rows((lo, hi), size)
        missed = sum(not told[a:b].any() for a, b in zip(*exact, strict=True))
        false = sum(not truth[a:b].any() for a, b in zip(lo, hi, strict=True))
        wrong = int((told != truth).sum())
        lines.append([name, len(lo), missed, false, wrong, f"{wrong / truth.sum():.1%}"])
    return lines


def _rows(stretches, size):
    inside = np.zeros(size, np.bool_)
    for lo, hi in zip(*stretches, strict=True):
        inside[lo:hi] = True
    return inside


def bitmap(x, y, box, size):
    """Points on a grid of ``size`` x ``size`` cells, as the set of those that are lit."""
    (left, right), (low, high) = box
    column = np.clip(((x - left) / (right - left) * size).astype(int), 0, size - 1)
    row = np.clip(((y - low) / (high - low) * size).astype(int), 0, size - 1)
    return np.unique(column * size + row)


def jaccard(one, other):
    """1 less what two sets share over what they have together."""
    both = len(np.intersect1d(one, other, assume_unique=True))
    return 1 - both / (len(one) + len(other) - both)


def scatter(x, y, wanted):
    """A plot of y over x by frames of y, by as many windows, and by as many samples."""
    cut = lambda delta: cutting.deltas(y, delta)  # noqa: E731
    spread = float(np.ptp(y))
    delta = cutting.delta_for(cut, wanted, spread * 1e-6, spread)
    lo, _ = cut(delta)
    length = -(-len(x) // len(lo))
    windows, _ = cutting.tuples(len(x), length)
    points = {
        "frames": (cutting.means(x, lo), cutting.means(y, lo)),
        "windows": (cutting.means(x, windows), cutting.means(y, windows)),
        "samples": (x[::length], y[::length]),
    }
    return delta, points


def scatter_distances(x, y, points, grids=(25, 50, 100)):
    """Table 2: Jaccard distance to the plot of all points."""
    box = ((x.min(), x.max()), (y.min(), y.max()))
    return {
        size: {
            name: jaccard(bitmap(x, y, box, size), bitmap(*where, box, size))
            for name, where in points.items()
        }
        for size in grids
    }


BINS = 60


def histogram(tow, lo, edges):
    """Mean dye of each stretch times the depth it spans, in the bin of its mean density."""
    hi = np.append(lo[1:], len(tow.dye))
    deep = np.maximum.reduceat(tow.depth, lo) - np.minimum.reduceat(tow.depth, lo)
    mass = cutting.means(tow.dye, lo) * deep
    at = np.clip(np.digitize(cutting.means(tow.density, lo), edges) - 1, 0, BINS - 1)
    assert (hi > lo).all()
    return np.bincount(at, mass, BINS)


def depth(tow, length):
    """How many metres a window of so many rows spans, on average."""
    lo, _ = cutting.tuples(len(tow.depth), length)
    spans = np.maximum.reduceat(tow.depth, lo) - np.minimum.reduceat(tow.depth, lo)
    return float(spans.mean())


def slices(tow, thick=0.15):
    """The baseline: a new slice wherever the depth enters another layer of fixed thickness.

    So thin that there are about as many slices as in the paper (51,756 and 38,172), and that even
    where density changes fastest a slice is thinner than a bin.
    """
    layer = np.floor(tow.depth / thick).astype(np.int64)
    return np.flatnonzero(np.append(True, layer[1:] != layer[:-1]))


def earth_movers(one, other):
    """How much mass has to be moved how many bins; both sides with the same mass."""
    return float(np.abs(np.cumsum(one / one.sum() - other / other.sum())).sum() * other.sum())


def histograms(name, wanted, share=1.0, quick=1):
    """Baseline, frames and as many windows for one tow, and how far each is off."""
    tow = data.tow(name, share, quick)
    edges = np.linspace(tow.density.min(), tow.density.max(), BINS + 1)
    # The ratio of the two deltas is fixed at 1:2, each in units of its own range.
    unit = float(np.ptp(tow.density)), float(np.ptp(tow.dye))

    def cut(delta):
        return cutting.many_deltas([tow.density, tow.dye], [delta * unit[0], 2 * delta * unit[1]])

    delta = cutting.delta_for(cut, wanted, 1e-5, 1.0)
    lo, _ = cut(delta)
    windows, _ = cutting.tuples(len(tow.dye), -(-len(tow.dye) // len(lo)))
    base_lo = slices(tow)
    base = histogram(tow, base_lo, edges)
    found = {"baseline": base, "frames": histogram(tow, lo, edges)}
    found["windows"] = histogram(tow, windows, edges)
    errors = {n: earth_movers(h, base) for n, h in found.items() if n != "baseline"}
    counts = {"rows": len(tow.dye), "slices": len(base_lo), "frames": len(lo),
              "windows": len(windows)}  # fmt: skip
    return found, errors, counts
