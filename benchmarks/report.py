"""The report: a table on the screen, and what it says of times as Markdown.

The screen says of each ratio whether its goal is reached. The pages show what was measured; goals
that are not reached stand in ROADMAP.md.
"""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.timing import WARM

RESULTS = Path(__file__).with_name("results.md")
TEXT = """\
{rows:,} rows (timestamp, int key with 100 values, double) over one day; count, sum and max of each
key and window, unless a table says otherwise. Times are wall-clock seconds. Competitors take turns
in one process over the same files, after each has run for {warm:g} seconds, and the best of
{rounds} turns counts (two for streams; those that take long have one turn, and warm up on little
data only). All go to Spark's `noop` sink; Polars and DuckDB keep their result in memory. Streams
run in 10 micro-batches. Before they are timed, all competitors of a case must give the same answer
on a smaller table.

This page is written by `python -m benchmarks{given}`."""
RATIOS = "Ratios, each from one run"
WRITTEN = "This page is written by"
HEADER = ["case", "fanlight", "s", "beside", "s", "ratio"]
GOALS = ["goal", ""]  # besides, on the screen
BEGIN, END = "<!-- goals:begin -->\n", "<!-- goals:end -->\n"


def cells(row, *, judged=True):
    """A row of the report as text; times on little data are not judged."""
    mark = {True: "met", False: "missed", None: ""}[row.met] if judged else "agrees"
    return [*measured(row), row.target, mark]


def measured(row):
    """What a page shows of a row."""
    times = f"{row.seconds:.2f}", f"{row.their_seconds:.2f}"
    return [row.case, row.ours, times[0], row.theirs, times[1], row.ratio]


def show(console, results, *, judged=True):
    """Print the tables."""
    from rich.table import Table

    tables = [
        *(table for found in results for table in found.tables),
        summary(results, judged=judged),
    ]
    for title, header, lines in (one for one in tables if one[2]):
        shown = Table(title=title, title_justify="left")
        for name in header:
            shown.add_column(name)
        for line in lines:
            shown.add_row(*line)
        console.print(shown)
    if judged:
        for line in unreached(results):
            console.print(line, highlight=False, markup=False)


def summary(results, *, judged=True):
    rows = [row for found in results for row in found.rows]
    return RATIOS, [*HEADER, *GOALS], [cells(row, judged=judged) for row in rows]


def unreached(results):
    """The goals that were not reached, and why: lines of a list."""
    for found in results:
        for row in found.rows:
            if row.met is False:
                beside = f"{row.case}, {row.ours} beside {row.theirs}"
                why = f". {row.why[:1].upper()}{row.why[1:]}" if row.why else ""
                yield f"- {beside}: {row.ratio}; the goal is {row.target}{why}"
        yield from (f"- {line}" for line in found.unreached)


def roadmap():
    """The page with the goals that were not reached."""
    return RESULTS.parents[1] / "ROADMAP.md"


def with_goals(page, results):
    """The roadmap with what these results have not reached."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + "".join(f"{line}\n" for line in unreached(results)) + END + after


def markdown(results, machine, rows, rounds, given=""):
    """The report as a Markdown page."""
    lines = [measured(row) for found in results for row in found.rows]
    parts = [
        "# Benchmarks",
        TEXT.format(rows=rows, rounds=rounds, warm=WARM, given=given and f"{given} --write"),
        "\n".join(f"- {name}: {value}" for name, value in machine.items()),
        f"## {RATIOS}",
        _table(HEADER, lines),
    ]
    for found in results:
        for title, header, lines in found.tables:
            parts += [f"## {title}", _table(header, lines)]
    return "\n\n".join(parts) + "\n"


def own(result, machine):
    """The files of a case's own page, by name."""
    page = result.page
    parts = [
        f"# {page.title}",
        page.text,
        f"{WRITTEN} `python -m benchmarks --only {page.name} --write`.",
        "\n".join(f"- {name}: {value}" for name, value in machine.items()),
    ]
    for title, header, lines in result.tables:
        parts += [f"## {title}", _table(header, lines)]
    return {f"{page.name}.md": "\n\n".join(parts) + "\n", **page.pictures}


def linked(text, names):
    """The page of all cases, with links to cases on pages of their own."""
    for name in names:
        if name not in links(text):
            before, written, after = text.partition(WRITTEN)
            text = f"{before}On a page of its own: [{name}]({name}.md).\n\n{written}{after}"
    return text


def links(text):
    """The cases that the page of all cases links to."""
    return re.findall(r"^On a page of its own: \[([\w-]+)\]", text, re.MULTILINE)


def _table(header, lines):
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
