"""The README's figures, out of ``results.md``: ``python -m benchmarks.readme`` writes them."""

from __future__ import annotations

from pathlib import Path

from benchmarks.report import HEADER, RESULTS

README = Path(__file__).parents[1] / "README.md"
CELLS = RESULTS.with_name("never-slower.md")
BEGIN, END = "<!-- bench:begin -->\n", "<!-- bench:end -->\n"
F_WINDOW = "Spark's `F.window`"
# Rows of the results that the README shows, by case and competitors, and what it calls them.
SHOWN = {
    ("batch", "fanlight 60/1", "F.window 60/1"): ("batch: an hour, every minute", F_WINDOW),
    ("levels", "fanlight 3 levels", "3 F.window queries"): (
        "batch: the last minute, ten minutes and hour at once", "three queries of `F.window`"),
    ("spans, 1 key", "fanlight", "explode + groupBy"): (
        "batch: events of 50 slides, windows of 60, 1 key", "each event exploded, `groupBy`"),
    ("frames, 20,000 keys", "fanlight threshold", "lag and running sum"): (
        "batch: threshold frames, 20,000 keys", "`lag` and a running sum by hand"),
    ("stream", "fanlight 60/1", "F.window 60/1"): ("stream: an hour, every minute", F_WINDOW),
    ("frames, stream, 20,000 keys", "fanlight delta", "one state a key"): (
        "stream: delta frames, 20,000 keys", "a state a key, in Python"),
}  # fmt: skip


def measured(results):
    """The rows of the results' text, by case and competitors."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in results.splitlines()
        if line.startswith("| ")
    ]
    return {(row[0], row[1], row[3]): row for row in rows if len(row) == len(HEADER)}


def summary(cells):
    """The two numbers of the page that has every cell beside Spark's own way; empty without one."""
    title = next((line[3:] for line in cells.splitlines() if line.startswith("## ")), "")
    if not title:
        return ""
    return (
        "\nWithout hints, each query over 10,000 and 1,000,000 rows, beside Spark's own way "
        f"(cold: its first run; warm: the later ones):\n{title}; "
        "[every one](benchmarks/never-slower.md).\n"
    )


def block(results, cells=""):
    """What stands between the README's marks, from the texts of the results."""
    machine = dict(
        line[2:].split(": ", 1) for line in results.splitlines() if line.startswith("- ")
    )
    found, lines = measured(results), []
    for row, (what, beside) in SHOWN.items():
        _, _, mine, _, theirs, ratio = found[row]
        lines.append(f"| {what} | {mine} | {beside} | {theirs} | {ratio} |")
    rows, cores = results.split(" rows", 1)[0].split()[-1], machine["cores"].split()[0]
    return (
        f"{rows} rows, 100 keys unless said, count, sum and max; {cores} cores, PySpark "
        f"{machine['pyspark']};\nfrom [benchmarks/results.md](benchmarks/results.md).\n\n"
        "| | fanlight, s | beside | s | |\n|---|---|---|---|---|\n" + "\n".join(lines) + "\n"
    ) + summary(cells)


def filled(page, results, cells=""):
    """The page with the block of these results."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + block(results, cells) + END + after


def write():
    """Write the README's block from the results that are there."""
    page = README.read_text("utf-8")
    cells = CELLS.read_text("utf-8") if CELLS.exists() else ""
    README.write_text(filled(page, RESULTS.read_text("utf-8"), cells), "utf-8")


if __name__ == "__main__":
    write()
