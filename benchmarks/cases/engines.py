"""Beside engines of a single process, which have no driver, no shuffle and no cluster to carry."""

from __future__ import annotations

from benchmarks.cases.times import RANGE, SLIDE, TUMBLING, row
from benchmarks.timing import Entry, Result, race
from benchmarks.windows import (
    batch,
    duckdb_copies,
    duckdb_panes,
    duckdb_tumbling,
    ours,
    polars_sliding,
    polars_tumbling,
)


def engines(bench):
    """Polars and DuckDB on the sliding and the tumbling query."""
    spark = bench.spark
    slid = race(
        [
            Entry("fanlight 60/1", batch(spark, ours, RANGE, SLIDE)),
            Entry("Polars group_by_dynamic 60/1", polars_sliding(60, 1), slow=True),
            Entry("DuckDB, rows joined with windows, 60/1", duckdb_copies(60, 1), slow=True),
            Entry("DuckDB, panes by hand, RANGE OVER, 60/1", duckdb_panes(60, 1)),
        ],
        bench,
    )
    tumbled = race(
        [
            Entry("fanlight tumbling", batch(spark, ours, TUMBLING)),
            Entry("Polars group_by tumbling", polars_tumbling(1)),
            Entry("DuckDB GROUP BY tumbling", duckdb_tumbling(1)),
        ],
        bench,
    )
    return Result(
        [
            row("engines", best, mine, other)
            for best, mine in ((slid, "fanlight 60/1"), (tumbled, "fanlight tumbling"))
            for other in best
            if other != mine
        ]
    )
