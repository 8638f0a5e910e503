"""Run the experiment: ``python -m experiments.multi_granular [--smoke]``.

These are the kernels alone; ``.on_spark`` and ``.streamed`` beside this file are programs of their
own.
"""

from __future__ import annotations

import os
import platform
import time

from experiments import commands, draw
from experiments.multi_granular import figures
from experiments.multi_granular.tables import table


def wide(rows, x):
    """One line an x: ours and apart for each operation."""
    found = {}
    for row in rows:
        line = found.setdefault(row["x"], {x: row["x"]})
        line[f"{row['operation']} (ms)"] = row["cost"]
        line[f"{row['operation']}, apart"] = row["apart"]
    return list(found.values())


@commands.command()
@commands.smoke
def main(smoke):
    """Multi-granular windows in the kernel: the paper's Figures 5 to 8.

    Prints tables, and writes them to results.md and the figures to figures.svg beside this file.
    """
    began = time.perf_counter()
    runs, sheet = (1 if smoke else 3), []

    def add(*parts):
        for part in parts:
            print(part, end="\n\n", flush=True)
        sheet.extend(parts)

    add(
        "# Results",
        f"{os.cpu_count()} cores, Python {platform.python_version()}. "
        "Written by `python -m experiments.multi_granular`; see claim.md. Records are generated. "
        "Milliseconds of CPU time are a timestamp, the least of several runs in turn, on one core.",
        "![Figures 5 to 8](figures.svg)",
    )
    rates = (10, 100, 1000) if smoke else (1_000, 10_000, 100_000)
    five = figures.figure_5(rates, 6_000 if smoke else 4_000_000, runs)
    add("## Figure 5: cost against arrival rate, 5 levels, extent 40", table(wide(five, "rate")))
    rate, count = (100, 120) if smoke else (100_000, 120)
    six = figures.figure_6(rate, count, runs)
    add(f"## Figure 6: cost against levels, extent 40, {rate:,} records a timestamp")
    add(table(wide(six, "levels")))
    seven = figures.figure_7(100 if smoke else 1_000, 16_000, runs)
    add(
        "## Figure 7: cost against extent, 5 levels of 12 granules, "
        f"{100 if smoke else 1_000:,} records a timestamp"
    )
    add(table(wide(seven, "extent")))
    alone = figures.chain_alone(20_000 if smoke else 3_000_000, 1 if smoke else 3)
    add("## The chain alone: ns a granule, without the records", table(alone))
    extremes = figures.extremes(20_000 if smoke else 2_000_000, 1 if smoke else 3)
    add(
        "## Max: two stacks and the paper's search",
        "Nanoseconds and partials touched a granule; *granules* in the first node, the second ten "
        "times as wide.",
        table(extremes),
    )
    eight = figures.figure_8()
    add(
        "## Figure 8: bytes of the nodes, extent 40",
        "What the loops allocate for their nodes: granules and suffixes of core nodes, buffers, "
        "running suffixes, three integers a node. A set is whole words of 64 items. *separate*: a "
        "chain a level, each over its own slide.",
        table(eight),
    )
    draw.keep("multi_granular", "results", "\n\n".join(sheet) + "\n", smoke=smoke)
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
