"""What ``claim.md`` says, from the tables of ``results.md`` and ``choices.md``."""

from __future__ import annotations

from itertools import pairwise

from experiments.claims import column, number

STEADY = 1.05  # a ratio that grows by less has not grown
LIMIT = 1.3  # times the best that a choice of ``auto`` may take


def said(results):
    """Phrases of ``claim.md``, each with whether it is so."""
    title = "Figure 3: max, no groups"
    kernel, spark = results["results"], results["on_spark"]
    return [
        *_figure3(kernel[title], "kernel"), *_figure3(spark[title], "Spark"),
        *_queries(kernel, "kernel", "ratio"), *_queries(spark, "Spark", "paned / expand"),
        *_by_tuple(kernel, spark), *_groups(spark), *_choices(results["choices"]),
    ]  # fmt: skip


def _figure3(rows, where):
    grid = {
        number(row["tuples a pane"]): [number(c) for n, c in row.items() if n.startswith("P/W")]
        for row in rows
    }
    yield f"{where}: {grid[20][1]:.0%} of the time".replace("%", " %"), True
    cells = [ratio for line in grid.values() for ratio in line]
    yield f"{where}: less time in {sum(r < 1 for r in cells)} of {len(cells)} cells", True
    down = [b > a * STEADY for above, below in pairwise(grid.values())
            for a, b in zip(above, below, strict=True)]  # fmt: skip
    yield f"{where}: {len(down) - sum(down)} of {len(down)} steps to more tuples", True
    across = [b > a * STEADY for line in grid.values() for a, b in pairwise(line)]
    yield f"{where}: {len(across) - sum(across)} of {len(across)} steps to more panes", True


def _queries(tables, where, ratio):
    for row in tables["Queries"]:
        yield f"{where} {row['query'].split(':')[0]}: {number(row[ratio]):.2f}", True


def _by_tuple(kernel, spark):
    rows = kernel["Towards slide-by-tuple (Query 2)"]
    last = next(row for row in rows if row["query"].endswith("by 1"))
    yield f"the ratio is {last['ratio']} where the slide is one tuple", True
    rows = spark["Query 2: a window at every bid"]
    best = max(column(rows, "fanlight / OVER"))
    yield f"takes at most {best:.2f} of the time of Spark's OVER", True


def _groups(tables):
    rows = tables["Where panes may not pay"]
    told = {row["groups"]: row["ratio"] for row in rows if row["situation"].startswith("many")}
    words = ", ".join(f"{ratio} with {groups} groups" for groups, ratio in told.items())
    yield words, True


def _choices(tables):
    rows = next(iter(tables.values()))
    worst = max(column(rows, "auto / best"))
    yield (
        f"in {len(rows)} workloads `auto` takes at most {worst:.2f} times the best",
        (worst <= LIMIT),
    )
    for name in ("panes", "pairs", "expand", "differential"):
        yield f"`{name}` in {sum(row['auto takes'] == name for row in rows)}", True
