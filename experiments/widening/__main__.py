"""Run the experiment: ``python -m experiments.widening [--smoke]``."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq

import fanlight as fl
from experiments import commands, draw, sessions
from experiments.panes.report import Sheet, machine
from experiments.widening import logins, shells, work

MOST = 100  # L_max
FIXED = 500  # the longest pattern that fixed windows hold


def seconds(run):
    """Of CPU time."""
    began = time.process_time()
    run()
    return time.process_time() - began


def lines(rows, **columns):
    """Rows as a table of text."""
    found = ["| " + " | ".join(columns.values()) + " |", "|" + "---|" * len(columns)]
    for row in rows:
        cells = [f"{v:,.2f}" if isinstance(v, float) else f"{v}" for v in map(row.get, columns)]
        found.append("| " + " | ".join(cells) + " |")
    return "\n".join(found)


COLUMNS = {
    "duration": "mean duration, s",
    "episodes": "injected",
    "found": "found",
    "delay": "mean delay, s",
    "share": "delay / duration",
}


def checked(rows, invented, first, what):
    """Recall, invention and delay are asserted, not only shown."""
    for row in rows:
        row["share"] = row["delay"] / row["duration"]
        if row["found"] != row["episodes"]:
            raise SystemExit(f"{what}: {row} are lost")
        row["met"] = "yes" if row["delay"] <= 0.55 * row["duration"] + first else "NO"
    if invented:
        raise SystemExit(f"{what}: invented {invented[:3]}")
    return rows


def frame(spark, folder, name, table):
    path = Path(folder) / f"{name}.parquet"
    pq.write_table(table, path, row_group_size=len(table) // 4 + 1)
    return spark.read.parquet(str(path))


def figure_5(sheet, spark, folder, smoke):
    times = 4 if smoke else 60
    short = (8, 16, 64) if smoke else (6, 8, 12, 16, 24, 32, 48, 64, 80, 98)
    first = 4
    table, hidden = shells.one_stream(short, times)
    spec = fl.ProgressiveWidening(f"{first} seconds", max_duration="128 seconds", max_rows=MOST)
    found = shells.found_by(frame(spark, folder, "stream", table), spec)
    one = checked(*shells.judged(hidden, found), first, "one stream")
    sheet.add(
        "## Figure 5: one stream, a call a second",
        f"{len(table):,} recorded calls, {len(hidden)} episodes hidden among them; {spec!r}. "
        f"Every episode was found, and nothing else.",
        lines(one, **COLUMNS, met="≤ 0.55 · duration + first"),
    )
    long = (10, 1000, 86_400) if smoke else (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 86_400)
    each, busy = (4, 1) if smoke else (100, 20)
    table, hidden = shells.many_processes(long, each, busy)
    rows = frame(spark, folder, "processes", table)
    spec = fl.ProgressiveWidening("1 second", max_duration="1 day", max_rows=MOST)
    clock = sessions.clock(spark)
    took = clock()
    found = shells.found_by(rows, spec, by=("process",))
    took = clock() - took
    many = checked(*shells.judged(hidden, found), 1, "many processes")
    sheet.add(
        "## Figure 5 by process: from ten seconds to a day",
        f"{len(table):,} calls of {each * len(long) + busy:,} processes, {len(hidden)} of them "
        f"intruders; {spec!r}, by process. Every episode was found, nothing else; {took:.1f} "
        "s of CPU time.",
        lines(many, **COLUMNS, met="≤ 0.55 · duration + first"),
    )
    other = []
    for factor in (2, 4) if smoke else (2, 3, 4, 8):
        spec = fl.ProgressiveWidening(
            "1 second", max_duration="1 day", max_rows=MOST, factor=factor
        )
        judged, invented = shells.judged(hidden, shells.found_by(rows, spec, by=("process",)))
        checked(judged, invented, 1, f"factor {factor}")
        linear, _ = work.counted(20_000 if smoke else 200_000, 25, MOST, 86_400, factor)
        other.append(
            {
                "factor": factor,
                "levels": len(spec.durations),
                "share": sum(row["share"] for row in judged) / len(judged),
                "work": linear,
            }
        )
    sheet.add(
        "## Other factors",
        "The same intruders; and the rows that windows show to a detector in a unit of time, one "
        "row a unit, first batch 25 units.",
        lines(
            other,
            factor="factor",
            levels="levels",
            share="mean delay / duration",
            work="rows searched a unit",
        ),
    )


def figure_6(sheet, smoke):
    firsts = (5, 50) if smoke else (1, 2, 5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100)
    rows = work.figure_6(20_000 if smoke else 500_000, firsts, MOST, 2**17, FIXED)
    for row in rows:
        for kind in ("linear", "squared"):
            if row[kind] > row[f"{kind} bound"]:
                raise SystemExit(f"above the bound: {row}")
    sheet.add(
        "## Figure 6: work against the first batch's duration",
        f"One row a unit of time, L_max {MOST}; rows, or their squares, a unit that windows "
        f"show to a detector. Bound: (2), 2·R(4·L_max)/t. Fixed: windows of {2 * FIXED} units, "
        f"half overlapping, which hold patterns up to {FIXED} units and no longer.",
        lines(
            rows, first="t", linear="R(n)=n", **{"linear bound": "bound", "linear fixed": "fixed"},
            squared="R(n)=n²", **{"squared bound": "bound ", "squared fixed": "fixed "},
        ),
    )  # fmt: skip


def log(sheet, spark, folder, smoke):
    paces = (10, 600) if smoke else (1, 10, 60, 600, 3600, 6 * 3600)
    days, people, each = (3, 20, 3) if smoke else (14, 400, 40)
    text, guessers = logins.generated(days, people, paces, each)
    path = Path(folder) / "auth.log"
    path.write_text("\n".join(text) + "\n", "utf-8")
    found = logins.detected(logins.parsed(spark, str(path)))
    columns = ["address", "cast(unix_micros(found_at) / 1000000 as bigint) as found"]
    table, invented, twice = logins.judged(found.selectExpr(*columns).collect(), guessers)
    if invented or twice or any(row["found"] != row["guessers"] for row in table):
        raise SystemExit(f"logins: {table}, invented {invented[:3]}, twice {twice}")
    sheet.add(
        "## Guessed passwords, in a generated log",
        f"{len(text):,} GENERATED lines in OpenSSH's format, {days} days, {people} people who "
        f"mistype, {len(guessers)} guessers who try {logins.TRIES} times and then get in. Every "
        "guesser was found once, and nobody else.",
        lines(
            table, pace="s between tries", guessers="guessers", found="found",
            duration="mean duration, s", delay="mean delay, s",
        ),
    )  # fmt: skip


@commands.command()
@commands.smoke
def main(smoke):
    """Patterns of unknown duration: delays and work by windows that double, and guessed passwords.

    Prints tables, and writes them to results.md and the figures beside this file.
    """
    start, sheet = time.perf_counter(), Sheet()
    sheet.add(
        "# Results", f"{machine()}. Written by `python -m experiments.widening`; see claim.md."
    )
    figure_6(sheet, smoke)
    size = 100_000 if smoke else 5_000_000
    sheet.add(
        "## The compiled episode",
        f"{size:,} rows on one core, of CPU time, by how many of them can be one of the episode's "
        "events.",
        lines(work.matcher(size, seconds), share="candidates", rate="M rows/s"),
    )
    spark = sessions.start("widening", partitions=4)
    with tempfile.TemporaryDirectory() as folder:
        figure_5(sheet, spark, folder, smoke)
        log(sheet, spark, folder, smoke)
        spark.stop()
    draw.keep("widening", "results", sheet.text(), smoke=smoke)
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
