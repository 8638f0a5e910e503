"""``fanlight demo``: five questions, asked of a batch, a stream and plain Spark, and a page."""

from __future__ import annotations

import shutil
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

import fanlight as fl
from demo import arrivals, compare, flights, running, so_far, streamed
from demo.outcome import Comparison, Outcome, Timing
from demo.page import build_page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession

ROUNDS = 2
LONG = 4.0  # seconds: after a round that took longer there is no other
POLL = 0.5  # seconds between two polls of the streams


def run(out: Path, console: Console | None = None) -> Path:
    """Run the demo, write its page into a folder, and return the page's path."""
    console = console or Console(highlight=False)
    began = time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="fanlight-demo-"))
    try:
        with _progress(console) as progress:
            with _step(progress, "reading the flights", 1):
                outcome = read_flights()
            console.print(f"{outcome.rows:,} flights from New York in 2013")
            start = progress.add_task("starting Spark", total=1)
            with running.session(out / "spark.log") as spark:
                progress.remove_task(start)
                ask_questions(spark, outcome, work, progress)
        outcome.seconds = time.perf_counter() - began
        path = build_page(outcome).write(out / "demo.html")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    size = path.stat().st_size / 1e6
    console.print(f"done in {time.perf_counter() - began:.0f} s; the page ({size:.1f} MB) is")
    console.print(f"  [bold]{path.resolve()}[/]", soft_wrap=True)
    if not outcome.agrees:
        raise fl.FanlightError("the results differ from each other: see the page")
    return path


def read_flights() -> Outcome:
    """Read flights and weather, and arrange the flights of two months in order of arrival."""
    folder = flights.data_folder()
    table = flights.convert_flights(flights.read_zipped_csv(folder / "flights.csv.zip"))
    weather = flights.convert_weather(pa.csv.read_csv(folder / "weather.csv"))
    return Outcome(table, weather, arrivals.arrange(arrivals.first_two_months(table)))


def ask_questions(spark: SparkSession, outcome: Outcome, work: Path, progress: Progress) -> None:
    """Ask all questions, as batches and as streams, and print a summary: all that needs Spark."""
    outcome.spark_version = spark.version
    df = running.write_table(spark, outcome.flights, work / "flights.parquet")
    count_rejected(df, outcome, progress)
    # First, so that Python workers and kernels are ready before anything is timed.
    ask_further(
        df, running.write_table(spark, outcome.weather, work / "weather.parquet"), outcome, progress
    )
    ask_as_batch(df, outcome, progress)
    ask_as_streams(spark, outcome, work, progress)
    ask_while_open(spark, outcome, work, progress)
    print_summary(outcome, progress)


def count_rejected(df: DataFrame, outcome: Outcome, progress: Progress) -> None:
    """Count the flights that are in no window, by reason."""
    with _step(progress, "flights without a departure", 1):
        left_out = fl.over(df, fl.Sliding("24 hours"), time="departed").rejected()
        counted = left_out.groupBy("reason").count().collect()
        outcome.rejected = sorted((row["reason"], row["count"]) for row in counted)
    for reason, count in outcome.rejected:
        _print(progress, f"{count:,} of them are in no window, because {reason}: cancelled")


def ask_as_batch(df: DataFrame, outcome: Outcome, progress: Progress) -> None:
    """Ask each question of all flights at once, by fanlight and by plain Spark in turn.

    The better of two runs counts; after a long first run there is no second one.
    """
    for question in outcome.questions:
        with _step(progress, f"as a batch: {question.windows}", ROUNDS) as tick:
            took: list[tuple[float, float]] = []
            while len(took) < ROUNDS and not (took and sum(took[-1]) > LONG):
                answer, one = running.time_answer(question.ask, df, question.keys)
                beside, other = running.time_answer(question.ask_spark, df, question.keys)
                took.append((one, other))
                tick(len(took))
        wrong = compare.count_differences(answer, beside, question.keys)
        outcome.answers[question] = answer
        outcome.against_spark[question] = Comparison(answer.num_rows, wrong)
        outcome.timings[question] = Timing(min(one for one, _ in took), min(two for _, two in took))


def ask_further(df: DataFrame, weather: DataFrame, outcome: Outcome, progress: Progress) -> None:
    """Ask what the page shows beside the answers, several questions at a time."""
    day = flights.worst_day(outcome.flights)
    asked = [(one, one.further) for one in outcome.questions if one.further]
    steps = _step(progress, "what the page shows beside", len(asked))
    with steps as tick, ThreadPoolExecutor() as pool:
        started = [
            (one, pool.submit(running.answer, more.ask, more.keys, df, weather, day))
            for one, more in asked
        ]
        for done, (question, answer) in enumerate(started, 1):
            outcome.further[question] = answer.result()
            tick(done)


def ask_as_streams(spark: SparkSession, outcome: Outcome, work: Path, progress: Progress) -> None:
    """Ask all questions of the flights as they arrive, by streams side by side in one Spark.

    Each result is compared with a batch without the late flights.
    """
    files = work / "arrivals"
    arrivals.write(outcome.arrivals.files, files)
    df = running.write_table(spark, drop_late(outcome.arrivals), work / "on_time.parquet")
    batches = (len(outcome.arrivals.files) + 1) * len(outcome.questions)
    folders = {one: work / f"stream-{number}" for number, one in enumerate(outcome.questions)}
    with _step(progress, "as streams, side by side", batches) as tick:
        started = {one: streamed.start(spark, files, folders[one], one) for one in folders}
        while any(query.isActive for query in started.values()):
            tick(sum(len(query.recentProgress) for query in started.values()))
            time.sleep(POLL)
    steps = _step(progress, "the same without the late flights", len(started))
    with steps as tick, ThreadPoolExecutor(running.count_cores()) as pool:
        asked = {one: pool.submit(running.answer, one.ask_closed, one.keys, df) for one in started}
        for done, (question, query) in enumerate(started.items(), 1):
            stream = streamed.finish(spark, folders[question], query)
            got = running.collect(stream.result, question.keys)
            batch = asked[question].result()
            wrong = compare.count_differences(got, batch, question.keys)
            outcome.streams[question] = stream
            outcome.streamed[question] = Comparison(batch.num_rows, wrong)
            tick(done)


def ask_while_open(spark: SparkSession, outcome: Outcome, work: Path, progress: Progress) -> None:
    """Follow a few days as a stream that gives them while they are open."""
    table = pa.concat_tables(outcome.arrivals.files)
    with _step(progress, "windows while they are open", so_far.MOST) as tick:
        outcome.so_far = so_far.follow(spark, table, work / "so_far", tick)


def drop_late(arriving: arrivals.Arrivals) -> pa.Table:
    """The arriving flights without those that come too late."""
    table = pa.concat_tables(arriving.files)
    return table.filter(pc.invert(table["late"]))


def print_summary(outcome: Outcome, progress: Progress) -> None:
    """Print times and verdicts as a table."""
    table = Table(
        title=f"seconds, on {running.count_cores()} cores", title_justify="left", box=None
    )
    for name in ("windows", "fanlight", "plain Spark", "", "equal", "stream", "late"):
        numbers = name not in {"windows", "equal", "stream"}
        table.add_column(name, justify="right" if numbers else "left", no_wrap=True)
    for question, timing in outcome.timings.items():
        table.add_row(
            question.windows,
            f"{timing.fanlight:.2f}",
            f"{timing.spark:.2f}",
            f"{outcome.speedup(question):.1f} x",
            _verdict(outcome.against_spark[question]),
            _verdict(outcome.streamed[question]),
            f"{outcome.streams[question].late:,}",
        )
    progress.console.print(table)
    if outcome.so_far is not None:
        compared = outcome.so_far.compared
        _print(
            progress,
            f"windows while they are open, in a table by key: {compared.rows} rows in the end, "
            f"{_verdict(compared)}",
        )


def _verdict(compared: Comparison) -> str:
    return "equal" if not compared.different else f"{compared.different:,} DIFFER"


def _print(progress: Progress, text: str) -> None:
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
