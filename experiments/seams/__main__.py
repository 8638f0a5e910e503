"""Run the experiment: ``python -m experiments.seams [--smoke]``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments import commands
from experiments.panes.report import Sheet, machine
from experiments.seams import cutting, data

STARTS = 200
OVERLAP = 100_000  # rows: a tenth of a chunk of a million
WAYS = (
    (4, 0.01),
    (4, 0.1),
    (4, 0.5),
    (16, 0.01),
    (16, 0.1),
    (16, 1),
    (64, 0.01),
    (64, 0.1),
    (64, 1),
)


def table(header, lines):
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)


def told(value):
    return "–" if value == cutting.NEVER else f"{value:,.0f}"


def quantiles(values, shares):
    """Values of which so many are at most as large; of numbers that may be ``NEVER``."""
    ordered = np.sort(values)
    return [ordered[max(int(np.ceil(share * len(ordered))) - 1, 0)] for share in shares]


def line(case, spec, starts):
    """What is found of one case's frames."""
    cutter = cutting.Cutter(case, spec)
    begun = int(np.count_nonzero(cutter.breaks() == 2))
    met = cutting.meet(cutter, starts)
    frames = np.where(met.rows == cutting.NEVER, cutting.NEVER, met.frames)
    return [
        f"`{spec}`",
        f"{len(case.time) / max(begun, 1):,.0f}",
        *map(told, quantiles(frames, (0.5, 0.9, 1))),
        *map(told, quantiles(met.rows, (0.5, 0.9, 0.99, 1))),
        f"{np.mean(met.rows == cutting.NEVER):.1%}",
        f"{np.mean(met.rows > OVERLAP):.1%}",
    ]


HEADER = (
    "cut", "rows a frame", "frames, median", "90 %", "most",
    "rows, median", "90 %", "99 %", "most", "never", "not within 100,000",
)  # fmt: skip


def may_fail(n, overlap):
    """The greatest shares of seams that may not meet: all cut again, or their chunks alone."""
    time = 2 * (1 + overlap)  # of a chunk, whose rows are read twice
    return 1 - (time / n) ** (1 / (n - 1)), (n - time) / (n - 1)


def costs(sheet):
    lines = [[n, f"{part:g}", *(f"{share:.0%}" for share in may_fail(n, part))] for n, part in WAYS]
    sheet.add(
        "## When it pays",
        "N rows of one key in n chunks of m, each with a core of its own. All costs are in rows: a "
        "row that is read, sorted and cut is 1, and 2 where rows are divided by ranges, for they "
        "are read twice; so says the library's cost model. (That one task has its rows read for it "
        "by all cores is left out, which favours chunks.) Each chunk is cut from R rows before its "
        "first row on, an overlap that two tasks have. A seam meets if both cuts of its overlap "
        "come to be the same there; a share p of seams does not. Then the wall clock shows",
        "- one task: N;\n"
        "- chunks, all of which meet: 2 (m + R). This is less than N if n > 2 (1 + R / m): three "
        "chunks, if R is small;\n"
        "- chunks, and one task again if any seam does not meet: "
        "2 (m + R) + (1 - (1 - p)^(n - 1)) N;\n"
        "- chunks, and each chunk behind a seam that does not meet again, one after the other: "
        "2 (m + R) + (n - 1) p m.",
        "The work of all cores is always more: 2 (N + n R) instead of N. The table has the "
        "greatest p for which the clock shows less than with one task. The last column of the "
        "tables above is p for R = 100,000, a tenth of a chunk of a million; where no cut of 200 "
        "is beyond that, p may still be 1.5 % (with a confidence of 95 %, if the cuts were "
        "independent).",
        table(["chunks", "R / m", "p, all again", "p, its chunk again"], lines),
    )


@commands.command()
@commands.smoke
def main(smoke):
    """Frames cut from the middle: how soon they are those that are cut from the beginning.

    Prints tables, and writes them to results.md beside this file.
    """
    sheet = Sheet()
    number = 10 if smoke else STARTS
    rng = np.random.default_rng(5)
    sheet.add(
        "# Frames cut from the middle: results",
        f"Run by `python -m experiments.seams` on {machine()}.",
        f"Each cut is made from {number} rows of the first half of the data, drawn at random, "
        "as if a frame began there, by the library's own loops. Told is how many rows and frames "
        "later this cut and the one from the beginning first begin a frame with the same row, or "
        "have a row that is in no frame of either. From there on both were the same as far as the "
        "first went: the run stops where they are not. –: not before the end of the data, which "
        "counts as the greatest distance. A frame counts that the cut began before. Nothing is "
        "timed.",
    )
    for case in data.cases(0.02 if smoke else 1.0):
        invented = ", invented" if case.invented else ""
        size = len(case.time)
        starts = np.sort(rng.integers(0, size // 2, number))
        sheet.add(
            f"## {case.name.capitalize()}{invented}",
            f"{size:,} rows. {case.about}",
            table(HEADER, [line(case, spec, starts) for spec in case.specs]),
        )
    costs(sheet)
    if not smoke:
        page = Path(__file__).with_name("results.md")
        page.write_text(sheet.text(), "utf-8")


if __name__ == "__main__":
    main()
