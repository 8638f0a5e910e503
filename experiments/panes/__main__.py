"""Run the experiment in the kernel: ``python -m experiments.panes [--smoke]``.

A full run prints its tables, and writes them to ``results.md`` and the figure to ``figure3.svg``
beside this file; a smoke run only prints. ``experiments.panes.on_spark`` is the same on Spark.
"""

from __future__ import annotations

import time

from experiments import commands, draw
from experiments.panes import auction, figure3, formulas, queries, report
from experiments.panes.report import Sheet

PAPER_BIDS = 15_200_000 // auction.BYTES  # the paper's 15.2 MB


def kernels(sheet, smoke):
    """Everything that needs no Spark."""
    size, runs = (20_000, 2) if smoke else (PAPER_BIDS, 9)
    rate = 1000.0
    sheet.add(
        "## In the kernel",
        f"{size:,} generated bids ({size * auction.BYTES / 1e6:.1f} MB), in memory, one core; "
        f"CPU time, the least of {runs} runs in turn. Ratios are time paned / time windowed.",
    )
    rows = figure3.in_kernel(auction.auction(size, rate=rate), runs)
    sheet.add(
        "### Figure 3: max, no groups",
        "In brackets: formula 3.1 / formula 3.3 with a = b = c = a'.",
        report.grid(rows),
        "At 20 tuples a pane and 5 panes a window the paned approach takes "
        f"{report.point(rows)['ratio']:.0%} of the time; the paper's reading is about 30 %, the "
        f"formulas with equal constants give {report.point(rows)['predicted']:.0%}.",
    )
    minutes = auction.auction(size, rate=max(size / 7200, 1.0))
    headings = {"what": "query", "paned": "paned", "windowed": "windowed", "ratio": "ratio"}
    sheet.add(
        "### Queries",
        f"Two hours of bids on 1000 items, {minutes.rate * 60:,.0f} a minute.",
        report.table(queries.in_kernel(minutes, runs), **headings),
    )
    few = auction.auction(min(size, 100_000), rate=rate)
    sheet.add(
        "### Towards slide-by-tuple (Query 2)",
        "Windows of 1000 tuples; as the slide nears one tuple, a pane nears one tuple.",
        report.table(queries.by_tuple(few, min(runs, 3)), **headings),
    )
    facts = {"what": "situation", "tuples": "tuples a pane", "groups": "groups", "panes": "P/W"}
    rest = {k: v for k, v in headings.items() if k != "what"}
    sheet.add(
        "### Where panes may not pay",
        report.table(queries.situations(min(size, 200_000), runs), **facts, **rest),
    )
    touched = formulas.touches(20_000 if smoke else 200_000)
    sheet.add(
        "### The formulas, counted",
        "What one whole window touches in a stream of even rate: tuples into the PLQ + partials "
        "out of it + partials in and out of windows (3.1, 3.2), or tuples in and out of windows "
        "(3.3, 3.4). *Printed* is the paper's formula with constants of 1. *Exact*: counted = "
        "expected, with the first two terms of 3.1 and 3.2 once a pane, so SLIDE/GCD times.",
        report.table(
            touched,
            formula="formula", range="RANGE", slide="SLIDE", T="T", P="P", G="G",
            printed="printed", counted="counted", exact="exact",
        ),
    )  # fmt: skip


@commands.command()
@commands.smoke
def main(smoke):
    """Panes beside windows in the kernel: the paper's Figure 3, its queries and its formulas.

    Prints tables, and writes them to results.md and the figure to figure3.svg beside this file.
    `python -m experiments.panes.on_spark` is the same on Spark.
    """
    start, sheet = time.perf_counter(), Sheet()
    sheet.add(
        "# Results", f"{report.machine()}. Written by `python -m experiments.panes`; see claim.md."
    )
    kernels(sheet, smoke)
    draw.keep("panes", "results", sheet.text(), smoke=smoke)
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
