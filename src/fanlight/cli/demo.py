"""``fanlight demo``: the job as a batch, as a stream, by Spark alone, and a page about it."""

from __future__ import annotations

import shutil
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

import fanlight as fl
from fanlight.cli import arrivals, flights, job, streamed
from fanlight.cli.outcome import Agreement, Outcome, Timing
from fanlight.cli.page import page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession

ROUNDS = 2
LONG = 4.0  # seconds: a round that took so long is the last


def run(out: Path, console: Console | None = None) -> Path:
    """Do all of it, and write the page into a folder; returns the page's path."""
    console = console or Console(highlight=False)
    began = time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="fanlight-demo-"))
    try:
        with _progress(console) as progress:
            with _step(progress, "reading the flights", 1):
                folder = flights.folder()
                table = flights.departures(flights.raw(folder / "flights.csv.zip"))
                names = flights.carriers(folder / "airlines.csv")
            with _step(progress, "sorting them by arrival", 1):
                found = Outcome(table, names, arrivals.arrange(table))
            console.print(
                f"{found.rows:,} flights from New York in 2013, from local clock times to UTC"
            )
            start = progress.add_task("starting Spark", total=1)
            with job.session(out / "spark.log") as spark:
                progress.remove_task(start)
                perform(spark, found, work, progress)
        found.seconds = time.perf_counter() - began
        path = page(found).write(out / "demo.html")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    size = path.stat().st_size / 1e6
    console.print(f"done in {time.perf_counter() - began:.0f} s; the page ({size:.1f} MB) is")
    console.print(f"  [bold]{path.resolve()}[/]", soft_wrap=True)
    if not found.agrees:
        raise fl.FanlightError("the results differ from each other: see the page")
    return path


def perform(spark: SparkSession, found: Outcome, work: Path, progress: Progress) -> None:
    """The part that needs Spark, on the flights that are in ``found``."""
    found.spark_version = spark.version
    path = work / "flights.parquet"
    pq.write_table(found.flights, path)
    df = spark.read.parquet(str(path))
    reject(df, found, progress)
    plans(df, found, progress)
    as_batch(df, found, progress)
    as_streams(spark, found, work, progress)
    beside_spark(df, found, progress)


def reject(df: DataFrame, found: Outcome, progress: Progress) -> None:
    """Count the flights that no window takes, by reason."""
    with _step(progress, "flights without a departure", 1):
        left_out = fl.rejected(df, found.cases[0].spec, time=job.TIME)
        counted = left_out.groupBy("reason").count().collect()
        found.rejected = sorted((row["reason"], row["count"]) for row in counted)
    for reason, count in found.rejected:
        _say(progress, f"{count:,} of them are in no window, because {reason}: cancelled")


def plans(df: DataFrame, found: Outcome, progress: Progress) -> None:
    """Ask for the plan of each case, given what is known of the flights, and given nothing."""
    for case in found.batch_cases:
        found.plans[case] = job.plan(df, case, found.known(case))
        found.stream_plans[case] = job.plan(df, case)
    _say(progress, "\n" + found.plans[job.AIRPORTS] + "\n")


def as_batch(df: DataFrame, found: Outcome, progress: Progress) -> None:
    """The job over all flights at once."""
    with _step(progress, "as a batch", len(found.batch_cases)) as tick:
        for done, case in enumerate(found.batch_cases, 1):
            found.results[case] = job.collected(job.answer(df, case, found.known(case)), case)
            tick(done)
    total = sum(table.num_rows for table in found.results.values())
    _say(progress, f"batch: {total:,} windows of {len(found.results)} kinds")


def as_streams(spark: SparkSession, found: Outcome, work: Path, progress: Progress) -> None:
    """The job over the flights as they arrive, compared with a batch of those that are not late."""
    files = work / "arrivals"
    arrivals.write(found.arrivals, files)
    pq.write_table(on_time(found.arrivals), work / "on_time.parquet")
    in_time = spark.read.parquet(str(work / "on_time.parquet"))
    late = found.arrivals.late
    batches = len(found.arrivals.files) + 2
    for number, case in enumerate(found.cases):
        with _step(progress, f"as a stream: {case.name}", batches) as tick:
            stream = streamed.run(spark, files, work / f"stream-{number}", case, tick)
            got = job.collected(stream.result, case)
            expected = job.collected(job.answer(in_time, case, found.known(case)), case)
        wrong = job.different(got, expected)
        found.streams[case] = stream
        found.agreements[case] = Agreement(expected.num_rows, wrong)
        verdict = "equal to the batch" if not wrong else f"but {wrong:,} DIFFER from the batch"
        _say(
            progress,
            f"stream, {case.name}: {got.num_rows:,} windows, {verdict}; "
            f"{stream.dropped:,} of {late:,} late flights dropped",
        )


def on_time(arriving: arrivals.Arrivals) -> pa.Table:
    """The flights that do not come too late."""
    table = pa.concat_tables(arriving.files)
    return table.filter(pc.invert(table["late"]))


def beside_spark(df: DataFrame, found: Outcome, progress: Progress) -> None:
    """Both give the same; time them in turn.

    Each has run once before that does not count: to collect its result.
    """
    with _step(progress, "Spark's own window()", len(found.batch_cases)) as tick:
        for done, case in enumerate(found.batch_cases, 1):
            ours, theirs = job.answer(df, case, found.known(case)), job.answer_by_spark(df, case)
            wrong = job.different(job.collected(theirs, case), found.results[case])
            found.timings[case] = Timing(*timed(ours, theirs), wrong)
            tick(done)
    table = Table(title=f"batch, flights/s on {job.cores()} cores", title_justify="left", box=None)
    for name in ("windows", "by", "technique", "fanlight", "Spark", "times"):
        numbers = name in {"fanlight", "Spark", "times"}
        table.add_column(name, justify="right" if numbers else "left", no_wrap=True)
    for case, timing in found.timings.items():
        rates = (f"{found.rows / one:,.0f}" for one in (timing.fanlight, timing.spark))
        table.add_row(
            case.name,
            " ".join(case.by),
            job.technique(found.plans[case]),
            *rates,
            f"{found.speedup(case):.2f}",
        )
    progress.console.print(table)
    wrong = sum(one.different for one in found.timings.values())
    verdict = "equal" if not wrong else f"but {wrong:,} windows DIFFER"
    _say(progress, f"results of fanlight and of Spark's own window(): {verdict}")


def timed(ours: DataFrame, theirs: DataFrame) -> tuple[float, float]:
    """The best time of each, in seconds, run in turn."""
    took: list[tuple[float, float]] = []
    while len(took) < ROUNDS and not (took and sum(took[-1]) > LONG):
        took.append((job.seconds(ours), job.seconds(theirs)))
    return min(one for one, _ in took), min(other for _, other in took)


def _say(progress: Progress, text: str) -> None:
    progress.console.print(text, markup=False, soft_wrap=True)


def _progress(console: Console) -> Progress:
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description:<42}"),
        BarColumn(bar_width=28),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )


@contextmanager
def _step(progress: Progress, what: str, total: int) -> Iterator[Callable[[int], None]]:
    task = progress.add_task(what, total=total)
    try:
        yield lambda done: progress.update(task, completed=done)
    finally:
        progress.remove_task(task)
