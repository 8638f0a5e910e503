"""fanlight's times beside those of Spark's own windows, of Polars and of DuckDB."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click
from rich.console import Console

from benchmarks import calibrate, constants, readme, report, sessions
from benchmarks.cases.as_of import as_of
from benchmarks.cases.batches import batches
from benchmarks.cases.calendar import calendar
from benchmarks.cases.cluster import cluster
from benchmarks.cases.cold import cold
from benchmarks.cases.engines import engines
from benchmarks.cases.frames import frames, frames_many, frames_stream
from benchmarks.cases.granular import recurring, several, shape, streamed
from benchmarks.cases.grid import grid
from benchmarks.cases.growth import growth
from benchmarks.cases.held import held
from benchmarks.cases.hot_key import hot_key
from benchmarks.cases.latency import latency
from benchmarks.cases.never_slower import never_slower
from benchmarks.cases.nexmark import nexmark
from benchmarks.cases.ordered import ordered
from benchmarks.cases.passing_keys import passing_keys
from benchmarks.cases.patterns import patterns
from benchmarks.cases.skew import skew
from benchmarks.cases.spans import lasting, lasting_stream, parts, snapshots
from benchmarks.cases.state import early, fixed, state
from benchmarks.cases.stored import stored
from benchmarks.cases.times import disordered, flat, sliding, streaming
from benchmarks.cases.trailing import trailing, trailing_hot, trailing_stream, trailing_values
from benchmarks.cases.tuples import by_rows, by_tuple
from benchmarks.cases.values import beside, distinct, quantiles, some_rows
from benchmarks.cases.widening import widening
from benchmarks.data import SMALL, SMALL_KEYS, Table, table
from benchmarks.timing import WARM
from experiments import commands

CASES = {
    "batch": sliding,
    "disordered": disordered,
    "flat": flat,
    "by-tuple": by_tuple,
    "by-rows": by_rows,
    "distinct": distinct,
    "quantiles": quantiles,
    "beside": beside,
    "some-rows": some_rows,
    "engines": engines,
    "grid": grid,
    "never-slower": never_slower,
    "calendar": calendar,
    "stream": streaming,
    "spans": lasting,
    "spans-stream": lasting_stream,
    "snapshots": snapshots,
    "parts": parts,
    "levels": several,
    "levels-shape": shape,
    "levels-stream": streamed,
    "recurring": recurring,
    "held": held,
    "frames": frames,
    "frames-many": frames_many,
    "frames-stream": frames_stream,
    "patterns": patterns,
    "ordered": ordered,
    "state": state,
    "fixed": fixed,
    "early": early,
    "passing-keys": passing_keys,
    "batches": batches,
    "trailing": trailing,
    "trailing-values": trailing_values,
    "trailing-stream": trailing_stream,
    "trailing-hot": trailing_hot,
    "as-of": as_of,
    "stored": stored,
    "skew": skew,
    "latency": latency,
    "widening": widening,
    "cold": cold,
    "growth": growth,
    "nexmark": nexmark,
    "hot-key": hot_key,  # the last two: no sample has them, as they start four JVMs
    "cluster": cluster,
}
ROWS = 10_000_000
ROUNDS = 5


@dataclass(frozen=True)
class Bench:
    """What a case is given."""

    spark: Any
    small: Table
    table: Table
    rounds: int
    smoke: bool
    say: Callable[[str], None]
    warm: float = WARM


@commands.command()
@click.option("--smoke", is_flag=True, help="Little data; answers must agree, times do not count.")
@click.option("--sample", is_flag=True, help="Every seventh case; with --smoke.")
@click.option("--only", type=click.Choice(list(CASES)), multiple=True, metavar="CASE",
              help=f"This case alone, repeatable: {', '.join(CASES)}.")  # fmt: skip
@click.option("--rows", type=click.IntRange(min=1), default=ROWS, help="How many rows.")
@click.option("--rounds", type=click.IntRange(min=1), default=ROUNDS, help="Turns of each.")
@click.option("--write", "kept", is_flag=True, help="Write the pages though there is --only; "
              "with --calibrate, the table of the cost model.")  # fmt: skip
@click.option("--calibrate", "to_calibrate", is_flag=True, help="Measure the cost model alone.")
def main(smoke, sample, only, rows, rounds, kept, to_calibrate):
    """fanlight's times beside those of Spark's own windows, of Polars and of DuckDB.

    All cases over all rows write benchmarks/results.md, the goals in ROADMAP.md and the figures of
    the README.
    """
    if sample and (only or not smoke):
        raise click.UsageError("--sample goes with --smoke alone")
    if to_calibrate and kept and smoke:
        raise click.UsageError("--smoke measures nothing that could be written: leave out one")
    console = Console(width=None if Console().is_terminal else 160)

    def say(text):
        console.print(text, highlight=False, markup=False)

    spark = sessions.start(smoke=smoke)
    try:
        small = table(spark, SMALL, keys=SMALL_KEYS, files=2)
        rows = SMALL if smoke else rows
        large = small if smoke else table(spark, rows)
        bench = Bench(spark, small, large, rounds, smoke, say)
        if to_calibrate:
            found = calibrate.measured(bench)
            report.show(console, [calibrate.shown(found)])
            calibrated(found, say, kept=kept)
            return
        kept = not smoke and rows == ROWS and (kept or not only)
        results, ran = [], []
        for name in list(CASES)[1:-2:7] if sample else only or CASES:
            say(f"{name}: {CASES[name].__doc__}")
            began = time.perf_counter()
            results.append(CASES[name](bench))
            say(f"{name}: took {time.perf_counter() - began:.0f} s")
            ran.append(name)
            if kept:  # a run that takes hours may be broken off
                write(results, ran, bench)
    finally:
        spark.stop()
    report.show(console, results, judged=not smoke)


def calibrated(found, say, *, kept):
    """Say which constants stay as they are, and write the others where that is asked."""
    say(f"not measured: {', '.join(constants.left(found, constants.in_use()))}")
    if kept:
        constants.write(found)
        say(f"written: {constants.TABLE.name}")


def write(results, ran, bench):
    """The pages of the cases that have run so far, and the goals that they have not reached.

    The README's figures, too, if all of its cases have run.
    """
    machine, files = sessions.machine(), {}
    shared = {name: one for name, one in zip(ran, results, strict=True) if one.page is None}
    for one in results:
        files |= report.own(one, machine) if one.page else {}
    page = report.RESULTS.read_text("utf-8") if report.RESULTS.exists() else ""
    if shared:  # else the others stay as they were
        given = "" if ran == list(CASES) else "".join(f" --only {name}" for name in shared)
        had = report.links(page)
        page = report.markdown([*shared.values()], machine, bench.table.rows, bench.rounds, given)
        page = report.linked(page, had)
    files[report.RESULTS.name] = report.linked(page, [one.page.name for one in results if one.page])
    for name, text in files.items():
        report.RESULTS.with_name(name).write_text(text, "utf-8")
        bench.say(f"written: benchmarks/{name}")
    if shared and report.roadmap().exists():
        text = report.with_goals(report.roadmap().read_text("utf-8"), [*shared.values()])
        report.roadmap().write_text(text, "utf-8")
        bench.say(f"written: {report.roadmap().name}")
    if set(readme.SHOWN) <= set(readme.measured(page)):
        readme.write()
        bench.say(f"written: {readme.README.name}")


if __name__ == "__main__":
    main()
