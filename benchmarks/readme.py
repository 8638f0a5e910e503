"""The README's figures, out of ``results.md``: ``python -m benchmarks.readme`` writes them."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.report import HEADER, RESULTS

README = Path(__file__).parents[1] / "README.md"
CELLS = RESULTS.with_name("never-slower.md")
BEGIN, END = "<!-- bench:begin -->\n", "<!-- bench:end -->\n"
# The row of the results that the README shows, by case and competitors.
SHOWN = ("batch", "fanlight 60/1", "F.window 60/1")
MET = re.compile(r"(cold|warm): at most 1\.1 times Spark's time in (\d+) of (\d+)")
WORST = re.compile(r"warm: .*?at worst ([\d.]+) times")


def measured(results):
    """The rows of the results' text, by case and competitors."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in results.splitlines()
        if line.startswith("| ")
    ]
    return {(row[0], row[1], row[3]): row for row in rows if len(row) == len(HEADER)}


def summary(cells):
    """How often fanlight is slower than Spark's own way; empty without the page of every cell."""
    met = {when: f"{good} of {of}" for when, good, of in MET.findall(cells)}
    if len(met) < 2:
        return ""
    worst = WORST.search(cells)
    most = f", and at worst takes {worst[1]} times as long" if worst else ""
    return (
        "Over 10,000 and 1,000,000 rows, without tuning, it is faster than Spark or within 10 % of "
        f"it in {met['cold']}\nfirst runs of a query and {met['warm']} later ones{most}:\n"
        "[where to use plain Spark](benchmarks/never-slower.md)."
    )


def block(results, cells=""):
    """What stands between the README's marks, from the texts of the results."""
    machine = dict(
        line[2:].split(": ", 1) for line in results.splitlines() if line.startswith("- ")
    )
    _, _, mine, _, theirs, ratio = measured(results)[SHOWN]
    rows, cores = results.split(" rows", 1)[0].split()[-1], machine["cores"].split()[0]
    return (
        f"An hour that slides every minute, over {rows} rows: {mine} s instead of {theirs} s, "
        f"{ratio.replace(' x ', ' times ')}, because each row is\ncounted once and not copied into "
        f"sixty windows ({cores} cores, PySpark {machine['pyspark']}; [all figures]"
        f"(benchmarks/results.md)).\n{summary(cells)}\n"
    )


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
