"""Run the experiment: ``python -m experiments.spanning [--smoke] [--events N]``."""

from __future__ import annotations

import os
import platform
import time

import click

from experiments import commands, draw
from experiments.spanning import figures, measure, streams, table4

EVENTS = 2_000_000  # the paper's
SMOKE = 20_000


class Sheet:
    """Text that is printed as it grows."""

    def __init__(self):
        self.parts = []

    def add(self, *parts):
        for part in parts:
            print(part, end="\n\n", flush=True)
        self.parts += parts

    def figure(self, number, figure):
        name = f"figure{number}.svg"
        self.add(f"## {figure.title}", f"![{figure.title}]({name})")
        for title, series in figure.panels.items():
            self.add(f"**{title}**, million events/s", table(figure.axis, series))
        self.add("CPU seconds and memory (MB beyond the events), worst over the panels:",
                 extremes(figure))  # fmt: skip


def table(axis, series):
    xs = sorted({x for one in series.values() for x, _ in one})
    lines = [f"| {axis} | " + " | ".join(f"{x:,g}" for x in xs) + " |", "|---|" + "---|" * len(xs)]
    for name, one in series.items():
        told = dict(one)
        cells = [rate(told.get(x)) for x in xs]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def rate(told):
    """Millions of events a second, with a mark where the run was over fewer events."""
    if told is None:
        return "–"
    return f"{told.rate / 1e6:.3g}" + ("*" if told.fewer else "")


def extremes(figure):
    found = {}
    for series in figure.panels.values():
        for name, one in series.items():
            for _, told in one:
                if told:
                    found.setdefault(name, []).append((told.cpu, told.memory))
    lines = ["| technique | CPU s | MB |", "|---|---|---|"]
    for name, runs in found.items():
        cpu, memory = (max(part) for part in zip(*runs, strict=True))
        lines.append(f"| {name} | {cpu:.2f} | {memory:.1f} |")
    return "\n".join(lines)


def best_of_all(cells):
    """Figure 15 as a table: ours beside the best of the paper's."""
    lines = ["| μ | ω/β | ω | best of the paper's | M/s | levels M/s | levels / best | not run |",
             "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for (mean, overlap, length), runs in cells.items():
        theirs = {n: told for n, told in runs.items() if n != measure.OURS and told}
        name = max(theirs, key=lambda n: theirs[n].rate)
        ratio = runs[measure.OURS].rate / theirs[name].rate
        missing = ", ".join(n for n, told in runs.items() if told is None) or "–"
        lines.append(f"| {mean} | {overlap:g} | {length:,} | {name} | {rate(theirs[name])} | "
                     f"{rate(runs[measure.OURS])} | {ratio:.2f} | {missing} |")  # fmt: skip
    return "\n".join(lines)


def formulas(size, smoke):
    heads = ("technique", "insertions an event", "formula", "counted", "read for a window")
    lines = [f"| {' | '.join(heads)} | formula | counted |", "|---|---|---|---|---|---|---|"]
    mean = 300 if smoke else 500
    for name, insert, wanted, inserted, release, expected, released in table4.rows(
        size, mean, 100, 20, figures.TTP
    ):
        lines.append(f"| {name} | {insert} | {wanted:.1f} | {inserted:.2f} | {release} | "
                     f"{expected:.1f} | {released:.2f} |")  # fmt: skip
    return "\n".join(lines)


@commands.command()
@commands.smoke
@click.option("--events", type=click.IntRange(min=1), default=EVENTS, help="How many events.")
def main(smoke, events):
    """Events that last: the techniques of the paper, and ours beside them, on one core.

    Prints tables, and writes them to results.md and the figures beside this file.
    """
    began = time.perf_counter()
    size = SMOKE if smoke else events
    lab, sheet = figures.Lab(size, smoke), Sheet()
    for mean, length, slide in ((500, 50, 10), (90, 47, 6), (5, 300, 30)):
        measure.agree(streams.synthetic(5000, mean), length, slide, figures.TTP)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    sheet.add(
        "# Results",
        f"{os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}. Written by "
        "`python -m experiments.spanning`; see claim.md. One core, count + sum + max, "
        f"{size:,} events, one a chronon, durations N(μ, 10), TTP {figures.TTP:,}; all techniques "
        "in the same language over the same arrays. Rates are events a second of CPU time, the "
        f"best of up to {measure.MOST} runs. *: over fewer events, as many as take about "
        f"{measure.BUDGET:g} s. –: not run, since those would be fewer than "
        f"{measure.SETTLED} (μ + ω + TTP), too few to tell a rate.",
        "## Flat in the duration",
        f"Slices of 20 chronons, ω/β = 5. Ours over {size * 5:,} events; beside it the best of the "
        f"paper's over {size:,}, at its best of the heights "
        f"{', '.join(map(str, figures.TALL))}.",
        "| slices an event | levels, M events/s | best of the paper's | M events/s | ratio |\n"
        "|---|---|---|---|---|\n"
        + "\n".join(
            f"| {n:,} | {ours / 1e6:.1f} | {name} | {rate(best)} | {ours / best.rate:.1f} |"
            for n, ours, name, best in figures.flat(lab)
        ),
        "## Table 4, counted",
        "μ = 500, ω = 100, β = 20, d = 7: what each technique writes for an event and reads for a "
        "window, beside the paper's formula (a window's, not amortised).",
        formulas(size // 4, smoke),
    )
    for number, make in ((10, figures.figure10), (11, figures.figure11), (12, figures.figure12),
                         (13, figures.figure13)):  # fmt: skip
        sheet.figure(number, make(lab))
    flights = streams.flights()
    sheet.add(f"{len(flights.stop):,} flights. {streams.HOW}")
    sheet.figure(14, figures.figure14(lab, flights))
    best = best_of_all(figures.figure15(lab))
    sheet.add("## Figure 15: who is best", "![Figure 15](figure15.svg)", best)
    draw.keep("spanning", "results", "\n\n".join(sheet.parts) + "\n", smoke=smoke)
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
