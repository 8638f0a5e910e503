"""Windows that end at every row, and windows counted in rows."""

from __future__ import annotations

import fanlight as fl
from benchmarks.cases.times import row
from benchmarks.timing import Entry, Result, race
from benchmarks.windows import MINUTE, at_every_row, batch, every_so_many_rows, ours


def by_tuple(bench):
    """4 minutes, at every row."""
    spark, spec = bench.spark, fl.Sliding("4 minutes", fl.Rows(1))
    rate = bench.table.rows / 86_400
    mine = "fanlight 4 min / row"
    tree, plain = "OVER RANGE, segment tree", "OVER RANGE"
    best = race(
        [
            Entry(mine, batch(spark, ours, spec, rate=rate, groups=bench.table.keys)),
            Entry(tree, at_every_row(spark, 4 * MINUTE, segment_tree=True)),
            Entry(plain, at_every_row(spark, 4 * MINUTE, segment_tree=False), slow=True),
        ],
        bench,
    )
    case = "slide by tuple"
    return Result([row(case, best, mine, tree, at_least=1), row(case, best, mine, plain)])


def by_rows(bench):
    """1000 rows, every 10 rows."""
    spark, spec = bench.spark, fl.Sliding(fl.Rows(1000), fl.Rows(10))
    mine = "fanlight 1000/10 rows"
    tree, plain = "OVER ROWS, segment tree", "OVER ROWS"
    best = race(
        [
            Entry(mine, batch(spark, ours, spec, groups=bench.table.keys)),
            Entry(tree, every_so_many_rows(spark, 1000, 10, segment_tree=True)),
            Entry(plain, every_so_many_rows(spark, 1000, 10, segment_tree=False), slow=True),
        ],
        bench,
    )
    case = "counted rows"
    return Result([row(case, best, mine, tree), row(case, best, mine, plain)])
