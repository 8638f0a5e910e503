"""What is run for each figure of the paper, and for its Table 4."""

from __future__ import annotations

from dataclasses import dataclass, field

from experiments.spanning.measure import OURS, SINGLE, measured
from experiments.spanning.streams import synthetic

TTP = 15_000  # the paper's delta, in chronons
HEIGHTS = (1, 5, 7, 10, 15, 20)
TALL = (3, 7, 15, 31, 63, 127)  # for events of up to 50,000 slices


@dataclass
class Figure:
    """Panels of series, one for each thing that is measured."""

    title: str
    axis: str
    panels: dict[str, dict[str, list]] = field(default_factory=dict)  # title: {name: [(x, Run)]}

    def add(self, panel, name, x, told):
        self.panels.setdefault(panel, {}).setdefault(name, []).append((x, told))


class Lab:
    """Streams that are made once."""

    def __init__(self, size, smoke):
        self.size, self.smoke, self.made = size, smoke, {}

    def stream(self, mean):
        if mean not in self.made:
            self.made = {mean: synthetic(self.size, mean)}  # one at a time: they are large
        return self.made[mean]

    def few(self, values):
        """All of the values, or in a smoke run the first and the last."""
        return (values[0], values[-1]) if self.smoke else values


def figure10(lab):
    """Event size, single-level techniques."""
    found = Figure("Figure 10: event size, single-level (β = ω/5)", "mean event size, chronons")
    for mean in lab.few((10, 100, 500, 1000, 5000, 10_000)):
        stream = lab.stream(mean)
        for length in lab.few((1000, 5000, 20_000)):
            for name in SINGLE:
                told = measured(name, stream, length, length // 5, TTP)
                found.add(f"ω = {length:,}", name, mean, told)
    return found


def figure11(lab):
    """Event size, multi-level."""
    found = Figure("Figure 11: event size, heights (β = ω/5)", "mean event size, chronons")
    for mean in lab.few((100, 500, 1000, 5000, 10_000)):
        stream = lab.stream(mean)
        for length in lab.few((50, 500, 5000)):
            panel = f"ω = {length:,}"
            for height in lab.few(HEIGHTS):
                told = measured("se-ml-slicing", stream, length, length // 5, TTP, height)
                found.add(panel, f"d={height}", mean, told)
            for name in ("sweeping", OURS):
                told = measured(name, stream, length, length // 5, TTP)
                found.add(panel, name, mean, told)
    return found


def figure12(lab):
    """Range, single-level: RANGE/SLIDE of 5, 50, 500 and one that is no whole number."""
    found = Figure("Figure 12: range, single-level", "range ω, chronons")
    for mean in (500, 5000):
        stream = lab.stream(mean)
        for overlap in lab.few((5, 5.5, 50, 500)):
            for length in lab.few((1100, 5500, 11_000, 22_000)):
                slide = int(length / overlap)
                for name in SINGLE:
                    told = measured(name, stream, length, slide, TTP)
                    found.add(f"ω/β = {overlap:g}, μ = {mean:,}", name, length, told)
    return found


def figure13(lab):
    """Range, multi-level."""
    found = Figure("Figure 13: range, heights", "range ω, chronons")
    for mean in (500, 5000):
        stream = lab.stream(mean)
        for overlap in lab.few((5, 50, 500)):
            for length in lab.few((500, 1000, 5000, 10_000)):
                panel, slide = f"ω/β = {overlap}, μ = {mean:,}", length // overlap
                for height in lab.few(HEIGHTS):
                    told = measured("se-ml-slicing", stream, length, slide, TTP, height)
                    found.add(panel, f"d={height}", length, told)
                for name in ("sweeping", OURS):
                    found.add(panel, name, length, measured(name, stream, length, slide, TTP))
    return found


def figure14(lab, stream):
    """Real events by range, ω/β = 5."""
    found = Figure("Figure 14: range, flights (ω/β = 5)", "range ω, minutes")
    for length in lab.few((5, 20, 60, 240, 1440, 10_080)):
        for name in SINGLE:
            told = measured(name, stream, length, length // 5, stream.longest + 1)
            found.add("single-level", name, length, told)
        for height in lab.few(HEIGHTS[1:]):
            told = measured("se-ml-slicing", stream, length, length // 5, stream.longest + 1,
                            height)  # fmt: skip
            found.add("heights", f"d={height}", length, told)
        for name in ("se-slicing", OURS):
            told = measured(name, stream, length, length // 5, stream.longest + 1)
            found.add("heights", name, length, told)
    return found


def figure15(lab):
    """Who is best, by event size and window; how ours compares with the best of the paper's."""
    cells = {}
    for mean in lab.few((5, 50, 500, 5000)):
        stream = lab.stream(mean)
        for overlap in lab.few((5, 5.5, 50, 500)):
            for length in lab.few((500, 5000, 20_000)):
                slide = int(length / overlap)
                runs = {
                    name: measured(name, stream, length, slide, TTP) for name in SINGLE
                } | {
                    f"se-ml-slicing d={d}": measured("se-ml-slicing", stream, length, slide, TTP, d)
                    for d in (3, 7, 15)
                }  # fmt: skip
                cells[mean, overlap, length] = runs
    return cells


def flat(lab):
    """Ours from 10 to 50,000 slices an event, slices of 20 chronons, ω/β = 5; and their best."""
    ways = [("sweeping", 1), ("se-slicing", 1), ("aggregate-buckets", 1)]
    ways += [("se-ml-slicing", height) for height in TALL]
    found = []
    for slices in lab.few((10, 50, 500, 5000, 50_000)):
        stream = synthetic(lab.size * 5, slices * 20)  # long enough for starts to be few
        ours = max(measured(OURS, stream, 100, 20, stream.longest + 1).rate for _ in range(3))
        stream = synthetic(lab.size, slices * 20)
        runs = {
            (name, d): measured(name, stream, 100, 20, stream.longest + 1, d) for name, d in ways
        }
        (name, height), best = max(
            ((way, told) for way, told in runs.items() if told), key=lambda one: one[1].rate
        )
        name += f" d={height}" if name == "se-ml-slicing" else ""
        found.append((slices, ours, name, best))
    return found
