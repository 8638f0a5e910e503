"""Figure 3 and the queries on Spark: ``python -m experiments.panes.on_spark [--smoke]``.

A full run writes ``on_spark.md`` and ``figure3_spark.svg``.
"""

from __future__ import annotations

import tempfile

from experiments import commands, draw, sessions
from experiments.panes import auction, figure3, measure, queries, report


def tables(sheet, spark, folder, smoke):
    """The same through ``fl.over``."""
    size, runs = (20_000, 1) if smoke else (2_000_000, 2)
    sheet.add(
        f"{size:,} generated bids ({size * auction.BYTES / 1e6:.1f} MB) in Parquet, local[2], 4 "
        "shuffle partitions; CPU seconds of the JVM and its Python workers, the least of "
        f"{runs} to {7 * runs} runs, as many as fit into {measure.BUDGET:g} s on the wall a way, "
        "after one that compares the answers. Taken off: the time of a job that reads the same "
        "columns and counts their values, run in turns with the ways. A ratio is given where more "
        f"than {measure.FLOOR * 1000:g} ms are left. "
        'Paned: `using("panes")`. Windowed: '
        '`using("expand")`, each row copied into each of its windows, as Spark does it.',
    )  # fmt: skip
    rate = 1000.0
    bids = auction.parquet(spark, folder, "even", auction.auction(size, rate=rate))
    grids = {"tuples": (5, 20), "panes_a_window": (5,)} if smoke else {}
    figure3.on_spark(bids, rate, 1, tuples=(5,), panes_a_window=(5,))  # the JVM warms up
    rows = figure3.on_spark(bids, rate, runs, **grids)
    point = report.point(rows)
    sheet.add(
        "### Figure 3: max, no groups",
        "![Time paned over time windowed, by tuples a pane](figure3_spark.svg)",
        report.grid(rows),
        "Seconds, paned / windowed, without the scan; and the scan.",
        report.times(rows),
        "At 20 tuples a pane and 5 panes a window the paned approach takes "
        f"{report.share(point['ratio'])} ({report.seconds(point['paned'])} against "
        f"{report.seconds(point['windowed'])}).",
    )
    more = 4 * size
    minutes = auction.parquet(
        spark, folder, "minutes", auction.auction(more, rate=max(more / 7200, 1.0))
    )
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
    slow = auction.parquet(spark, folder, "tuples", auction.auction(few, rate=8.0))
    sheet.add(
        "### Query 2: a window at every bid",
        f"{few:,} bids, 8 a second, so about 1,920 in 4 minutes. Spark's own `OVER (ORDER BY … "
        'RANGE BETWEEN …)`, and `fl.Sliding("4 minutes", fl.Rows(1))`, which does not use panes.',
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
                lambda *named: auction.parquet(spark, folder, *named), size, runs, smoke=smoke
            ),
            what="situation", tuples="tuples a pane", groups="groups", panes="P/W",
            paned="paned", windowed="expand", ratio="ratio", scan="scan",
        ),
    )  # fmt: skip


@commands.command()
@commands.smoke
def main(smoke):
    """Panes beside copies of rows, and beside Spark's own windows, through fl.over.

    Prints tables, and writes them to on_spark.md and the figure to figure3_spark.svg beside this
    file.
    """
    spark = sessions.start("panes", partitions=4)
    sheet = report.Sheet()
    sheet.add(
        "# On Spark",
        f"{report.machine(report.java(spark))}. Written by `python -m experiments.panes.on_spark`; "
        "see claim.md.",
    )
    with tempfile.TemporaryDirectory() as folder:
        tables(sheet, spark, folder, smoke)
    spark.stop()
    draw.keep("panes", "on_spark", sheet.text(), smoke=smoke)


if __name__ == "__main__":
    main()
