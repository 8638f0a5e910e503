"""Run the experiment: ``python -m experiments.multi_granular [--smoke] [--kernel-only]``.

A run prints its tables, and writes them to ``results.md`` and the figures to ``figures.svg`` beside
this file; a smoke run only prints. The figures need the kernels alone.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from pathlib import Path

from experiments import sessions
from experiments.multi_granular import draw, figures, on_spark, precision
from experiments.multi_granular.tables import table

HERE = Path(__file__).parent


def curves(rows):
    """Lines of a figure: ours whole, separate windows dashed."""
    found = []
    for name in figures.OPERATIONS:
        mine = [row for row in rows if row["operation"] == name]
        found.append((name, [(row["x"], row["cost"]) for row in mine], False))
        found.append((name, [(row["x"], row["apart"]) for row in mine], True))
    return found


def wide(rows, x):
    """One line an x: ours and apart for each operation."""
    found = {}
    for row in rows:
        line = found.setdefault(row["x"], {x: row["x"]})
        line[f"{row['operation']} (ms)"] = row["cost"]
        line[f"{row['operation']}, apart"] = row["apart"]
    return list(found.values())


def main():
    parser = argparse.ArgumentParser(
        prog="python -m experiments.multi_granular", description=__doc__
    )
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument("--kernel-only", action="store_true", help="without Spark")
    options = parser.parse_args()
    smoke, began = options.smoke, time.perf_counter()
    runs, sheet = (1 if smoke else 3), []

    def add(*parts):
        for part in parts:
            print(part, end="\n\n", flush=True)
        sheet.extend(parts)

    add(
        "# Results",
        f"{os.cpu_count()} cores, Python {platform.python_version()}. "
        "Written by `python -m experiments.multi_granular`; see claim.md. Records are generated. "
        "Milliseconds are a timestamp, the least of several runs, on one core.",
    )
    rates = (10, 100, 1000) if smoke else (1_000, 10_000, 100_000)
    five = figures.figure_5(rates, 6_000 if smoke else 4_000_000, runs)
    add("## Figure 5: cost against arrival rate, 5 levels, extent 40", table(wide(five, "rate")))
    rate, count = (100, 120) if smoke else (100_000, 120)
    six = figures.figure_6(rate, count, runs)
    add(f"## Figure 6: cost against levels, extent 40, {rate:,} records a timestamp")
    add(table(wide(six, "levels")))
    seven = figures.figure_7(100 if smoke else 1_000, 16_000, runs)
    add("## Figure 7: cost against extent, 5 levels of 12 granules, 1,000 records a timestamp")
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
        "Counted: granules and suffixes of the core nodes, buffers. *paper*: the most partials by "
        "the paper's bound. *separate*: a ring a level, each over its own slide.",
        table(eight),
    )
    if not options.kernel_only:
        spark = sessions.start("multi_granular")
        with tempfile.TemporaryDirectory() as folder:
            rows = 20_000 if smoke else 1_000_000
            counts = (3,) if smoke else (2, 3, 5)
            lines = on_spark.measured(spark, folder, rows, 1 if smoke else 2, counts)
        count = 200_000 if smoke else 10_000_000
        exact = precision.of_the_kernel(count) + precision.on_spark(spark, count)
        spark.stop()
        add(
            "## On Spark",
            f"{rows:,} records of six hours, 50 local hosts, local[2]; seconds. Sum and count by "
            'host: levels shared, each apart (`using("separate")`), and a `groupBy(window)` a '
            "level. `fit` of durations over the filled series, by host; recurring protocols.",
            table(lines),
            "## Trend lines against NumPy",
            f"{count:,} readings of a day, times near 1.7e15 microseconds; relative differences "
            "from least squares in two passes in extended precision over the raw rows. *rows*: "
            "`per_row=True`; *instants*: a mean a second; *kernel*: the chain alone, a value each "
            "second. A hundred million of them are in precision.md.",
            table(exact),
        )
        if precision.worst(exact) > precision.LIMIT:
            raise SystemExit(f"a trend line is off by {precision.worst(exact):.1e}")
    drawing = draw.svg(
        [
            (("Figure 5: arrival rate", "records a timestamp", "ms a timestamp", curves(five)),
             {"logx": True, "logy": True}),
            (("Figure 6: levels, extent 40", "levels", "ms a timestamp", curves(six)), {}),
            (("Figure 7: extent, 5 levels", "extent", "ms a timestamp", curves(seven)),
             {"logx": True}),
            (("Figure 8: memory, extent 40", "levels", "bytes",
              [(name, [(row["levels"], row[name]) for row in eight], False)
               for name in ("SUM", "regression", "recurring 5", "recurring 10")]),
             {"logy": True}),
        ],
        "whole lines: multi-granular; dashed: a sliding window for each level",
    )  # fmt: skip
    if not smoke:
        (HERE / "results.md").write_text("\n\n".join(sheet) + "\n", "utf-8")
        (HERE / "figures.svg").write_text(drawing, "utf-8")
    print(f"{time.perf_counter() - began:.0f} s, {len(drawing):,} characters of figures")


if __name__ == "__main__":
    main()
