"""Run the experiment: ``python -m experiments.panes [--smoke] [--kernel-only]``.

A full run prints its tables, and writes them to ``results.md`` and the figure to ``figure3.svg``
beside this file. The other runs only print.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from experiments import sessions
from experiments.panes import auction, figure, figure3, formulas, measure, queries, report

HERE = Path(__file__).parent
PAPER_BIDS = 15_200_000 // auction.BYTES  # the paper's 15.2 MB


class Sheet:
    """Text that is printed as it grows."""

    def __init__(self):
        self.parts = []

    def add(self, *parts):
        for part in parts:
            print(part, end="\n\n", flush=True)
        self.parts += parts

    def text(self):
        return "\n\n".join(self.parts) + "\n"


def kernels(sheet, smoke):
    """Everything that needs no Spark; the rows of Figure 3."""
    size, runs = (20_000, 2) if smoke else (PAPER_BIDS, 9)
    rate = 1000.0
    sheet.add(
        "## In the kernel",
        f"{size:,} generated bids ({size * auction.BYTES / 1e6:.1f} MB), in memory, one core; the "
        f"least of {runs} runs. Ratios are time paned / time windowed.",
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
    return rows


def frame(spark, folder, name, bids):
    """The bids as a Parquet file that is scanned at each run."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    stamp = pa.array(bids.timestamp).cast(pa.timestamp("us", tz="UTC"))
    columns = {"timestamp": stamp, "item_id": bids.item_id, "bid_price": bids.bid_price}
    path = Path(folder) / f"{name}.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=len(bids.timestamp) // 4 + 1)
    return spark.read.parquet(str(path))


def on_spark(sheet, spark, folder, smoke):
    """The same through ``fl.over``; the rows of Figure 3."""
    size, runs = (20_000, 1) if smoke else (2_000_000, 2)
    sheet.add(
        "## On Spark",
        f"{size:,} generated bids ({size * auction.BYTES / 1e6:.1f} MB) in Parquet, local[2], 4 "
        f"shuffle partitions; the least of {runs} to {7 * runs} runs, as many as fit into "
        f"{measure.BUDGET:g} s a way, after one that compares the answers. Taken off: the time of "
        "a job that reads the same columns and counts their values, run in turns with the ways. A "
        "ratio is given where more than 10 ms are left. "
        'Paned: `using("panes")`. Windowed: '
        '`using("expand")`, each row copied into each of its windows, as Spark does it.',
    )  # fmt: skip
    rate = 1000.0
    bids = frame(spark, folder, "even", auction.auction(size, rate=rate))
    grids = {"tuples": (5, 20), "panes_a_window": (5,)} if smoke else {}
    figure3.on_spark(bids, rate, 1, tuples=(5,), panes_a_window=(5,))  # the JVM warms up
    rows = figure3.on_spark(bids, rate, runs, **grids)
    sheet.add(
        "### Figure 3: max, no groups",
        report.grid(rows),
        "Seconds, paned / windowed, without the scan; and the scan.",
        report.times(rows),
        "At 20 tuples a pane and 5 panes a window the paned approach takes "
        f"{report.point(rows)['ratio']:.0%} of the time "
        f"({report.seconds(report.point(rows)['paned'])} against "
        f"{report.seconds(report.point(rows)['windowed'])}).",
    )
    more = 4 * size
    minutes = frame(spark, folder, "minutes", auction.auction(more, rate=max(more / 7200, 1.0)))
    sheet.add(
        "### Queries",
        f"{more:,} bids on 1000 items in two hours. `window()` is Spark's own function, where it "
        "can say the query.",
        report.table(
            queries.on_spark(minutes, runs),
            **{"what": "query", "paned": "paned", "windowed": "expand", "window()": "`window()`"},
            ratio="paned / expand",
            scan="scan",
        ),
    )
    few = size // 20
    slow = frame(spark, folder, "tuples", auction.auction(few, rate=8.0))
    sheet.add(
        "### Query 2: a window at every bid",
        f"{few:,} bids, 8 a second, so about 1,920 in 4 minutes. Spark's own `OVER (ORDER BY … "
        'RANGE BETWEEN …)`, and `fl.Sliding("4 minutes", fl.rows(1))`, which does not use panes.',
        report.table(
            queries.query_2(spark, slow, runs),
            what="Spark's OVER", over="OVER", fanlight="fanlight",
            ratio="fanlight / OVER", scan="scan",
        ),
    )  # fmt: skip
    sheet.add(
        "### Where panes may not pay",
        report.table(
            queries.situations_on_spark(
                lambda name, bids: frame(spark, folder, name, bids), size, runs, smoke=smoke
            ),
            what="situation", tuples="tuples a pane", groups="groups", panes="P/W",
            paned="paned", windowed="expand", ratio="ratio", scan="scan",
        ),
    )  # fmt: skip
    return rows


def main():
    parser = argparse.ArgumentParser(prog="python -m experiments.panes", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument("--kernel-only", action="store_true", help="without Spark")
    options = parser.parse_args()
    start = time.perf_counter()
    sheet = Sheet()
    panels = []
    if options.kernel_only:
        sheet.add("# Results", f"{report.machine()}.")
        kernels(sheet, options.smoke)
    else:
        spark = sessions.start("panes", partitions=4)
        version = "reflect('java.lang.System', 'getProperty', 'java.specification.version')"
        (java,) = spark.sql(f"SELECT {version}").first()
        sheet.add(
            "# Results",
            f"{report.machine(java)}. Written by `python -m experiments.panes`; see claim.md.",
        )
        panels.append(("In the kernel", kernels(sheet, options.smoke)))
        with tempfile.TemporaryDirectory() as folder:
            panels.append(("On Spark", on_spark(sheet, spark, folder, options.smoke)))
            spark.stop()
        drawing = figure.svg(panels, top=1.5)
        if not options.smoke:
            (HERE / "results.md").write_text(sheet.text(), "utf-8")
            (HERE / "figure3.svg").write_text(drawing, "utf-8")
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
