"""Table 4: the paper's costs a window beside what the kernels count."""

from __future__ import annotations

import math

from experiments.spanning.measure import OURS, run
from experiments.spanning.streams import synthetic


def rows(size, mean, length, slide, ttp, height=7):
    """(technique, formula and count of insertions an event, of releases a window)."""
    stream = synthetic(size, mean)
    first, last = stream.start[0], stream.stop[-1]
    windows = (last - first + length) / slide
    mu = float((stream.stop - stream.start).mean())
    span = length // slide
    held = mu / slide  # slices that an event spans beyond its last
    in_window = (length + mu) * size / (last - first)
    formulas = {
        "tuple-buckets": ("(μ + ω)/β", held + span, "N", in_window),
        "aggregate-buckets": ("(μ + ω)/β", held + span, "1", 1.0),
        "sweeping": ("2 (· log)", 2.0, "events that start in a β", slide * size / (last - first)),
        "se-slicing": ("μ/β + 1", held + 1, "ω/β", float(span)),
        "se-ml-slicing": (
            "⌈(μ/β + 1)/d⌉",
            math.ceil((held + 1) / height),
            "d(ω/β + (d - 1)/2)",
            height * (span + (height - 1) / 2),
        ),
        OURS: ("≤ 4", 4.0, "2 + levels in use", math.log2(max(held, 1.0)) + 4),
    }
    found = []
    for name, (insert, wanted, release, expected) in formulas.items():
        told = run(name, stream, length, slide, ttp, height)
        counted = (told.inserted / size, told.released / windows)
        found.append((name, insert, wanted, counted[0], release, expected, counted[1]))
    return found
