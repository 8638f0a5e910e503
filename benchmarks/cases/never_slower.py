"""Whether ``auto`` is ever slower than Spark's own way, cell by cell, as it is without hints.

A query is timed from the call of ``over`` (or ``groupBy``) to the last result: over little data to
make the plan is a good part of it. fanlight and Spark have processes of their own, so that neither
warms the JVM for the other.
"""

from __future__ import annotations

import math

from benchmarks.cases.spans import table
from benchmarks.first import ASKED, KINDS, SHAPES, fresh
from benchmarks.queries import agree
from benchmarks.timing import DisagreementError, Page, Result, Row

LIMIT = 1.1
SIZES = (10_000, 1_000_000)
KEYS = 100
AGAIN = 3.0  # seconds for which a query is called again
GROUPS = {
    **{name: [f"{name} {shape}" for shape in SHAPES] for name in ASKED},
    "kinds": [name for name in KINDS if name.split(" ")[-1] not in SHAPES],
}
TIES = (
    "`min_by`, `max_by`, `first` and `last` decide between rows alike, which takes a struct, by "
    "which Spark groups through a sort; Spark's own leave it to chance"
)
SMOKED = {"sum": ["sum 60/20"], "kinds": ["sessions"]}  # where times do not count
TEXT = """\
A cell is one query over one table, by fanlight without any hint and by Spark as a user would write
it: `F.window` for sliding windows, and what the page of all benchmarks has beside the other kinds.
The cells of a group (an aggregate in three shapes of windows, or the other kinds) run in one fresh
process, those of Spark in another one. *Cold* is the first call of a query there, *warm* the best
of the calls in the next three seconds, unless the first took more than twenty; both are
milliseconds from `over` or `groupBy` to the last result. There are
100 keys, a day of rows, and no hints. `linear_fit` is slope, intercept and r2 in both. Worst cells
first."""
NONE = "In no cell is plain Spark more than 10 % faster, once a query has run."


def never_slower(bench):
    """fanlight's time over that of Spark's own way, in each cell, cold and warm."""
    cells = []
    for rows in (bench.small.rows,) if bench.smoke else SIZES:
        folder = table(bench.spark, rows, 5, spread=1, keys=KEYS, files=2).folder
        for group, names in (SMOKED if bench.smoke else GROUPS).items():
            more = 0.0 if bench.smoke else AGAIN
            ours, theirs = (fresh(names, who, folder, more=more) for who in ("ours", "theirs"))
            for mine, other in zip(ours, theirs, strict=True):
                if not KINDS[mine["name"]].alone and not agree(mine["answer"], other["answer"]):
                    raise DisagreementError(f"{mine} {other}")
                cells.append((rows, mine, other))
                bench.say(f"  {group}: {' | '.join(_line(*cells[-1]))}")
    title = _summary(cells, "cold" if bench.smoke else "warm")
    cells.sort(key=lambda cell: -_worst(cell))
    rows, mine, other = cells[0]
    case = f"worst cell: {mine['name']}, {rows:,} rows"
    warm = "cold" if mine["warm"] is None or other["warm"] is None else "warm"
    row = Row(
        "never-slower", f"auto ({case})", mine[warm], "Spark", other[warm], at_most=LIMIT, why=TIES
    )
    head = ["windows", "rows", "cold", "Spark's", "ratio", "warm", "Spark's", "ratio"]
    text = f"{_say_where_spark_is_faster(cells)}\n\n{TEXT}"
    page = Page("never-slower", "Never slower?", text, {})
    return Result([row], [(title, head, [_line(*cell) for cell in cells])], page=page)


def _ratio(cell, when):
    _, mine, other = cell
    return mine[when] / other[when]


def _worst(cell):
    """The ratio of warm calls, or of the first ones where those took too long to have others."""
    warm = all(one["warm"] is not None for one in cell[1:])
    return _ratio(cell, "warm" if warm else "cold")


def _line(rows, mine, other):
    """A cell as a line: its times, and fanlight's over Spark's."""
    line = [mine["name"], f"{rows:,}"]
    for when in ("cold", "warm"):
        if mine[when] is None or other[when] is None:
            line += ["", "", ""]
            continue
        ratio = _ratio((rows, mine, other), when)
        line += [f"{1000 * one[when]:,.0f}" for one in (mine, other)] + [f"{ratio:.2f}"]
    return line


def _say_where_spark_is_faster(cells):
    """Name the queries that plain Spark answers sooner, and by how much, by the number of rows."""
    lines = []
    for size in sorted({rows for rows, _, _ in cells}, reverse=True):
        taken = {cell[1]["name"]: _worst(cell) for cell in cells if cell[0] == size}
        slower = sorted((-most, name) for name, most in taken.items() if most > LIMIT)
        if slower:
            told = ", ".join(f"{name} ({-most:.1f})" for most, name in slower)
            lines.append(f"- over {size:,} rows: {told}")
    if not lines:
        return NONE
    head = (
        "Use plain Spark where speed is all that counts, for these queries. In brackets: how many "
        f"times as\nlong fanlight takes, where that is more than {LIMIT}, once a query has run:"
    )
    return "\n".join([head, "", *lines])


def _summary(cells, warm):
    """How many cells are met, the worst, and the mean."""
    parts = []
    for when in dict.fromkeys(("cold", warm)):
        timed = [cell for cell in cells if all(one[when] is not None for one in cell[1:])]
        ratios = [_ratio(cell, when) for cell in timed]
        good = sum(ratio <= LIMIT for ratio in ratios)
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        parts.append(
            f"{when}: at most {LIMIT} times Spark's time in {good} of {len(ratios)}, at worst "
            f"{max(ratios):.1f} times, on average {mean:.2f} times (geometric mean)"
        )
    return "; ".join(parts)
