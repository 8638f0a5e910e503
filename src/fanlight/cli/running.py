"""Runs a job: a batch to its end, a stream until it ends or is interrupted."""

from __future__ import annotations

import signal
import textwrap
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING, Any

import fanlight as fl
from fanlight.cli.jobs.job import Job
from fanlight.watching.progress import has_run, last_batch, recent_batches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Serves a page while a query runs. Its second argument reads the windows written so far, or is None
# if the sink cannot be read.
ServePage = Callable[[Any, Any], AbstractContextManager[object]]
TICK = 0.25  # seconds between two polls of a query
# Formats that write every row, so that the rows written can be counted.
COUNTED = ("parquet", "csv", "json", "delta", "table", "kafka", "sqlite", "postgresql")


@dataclass
class Interrupts:
    """How often the user has pressed Ctrl-C."""

    times: int = 0


@dataclass
class StreamTotals:
    """Totals over the micro-batches of a stream so far, and the progress of the last one."""

    rows: int = 0
    late: int | None = 0
    dropped: int = 0
    rejected: int = 0
    batches: int = 0
    last: Any = None
    _seen: str = ""  # the timestamp of the newest progress taken; ISO, so it sorts as text

    def take_new(self, query: Any) -> Iterator[Any]:
        """Add the micro-batches that are new since the last call, and yield their progress."""
        newest = last_batch(query)  # cheaper than recentProgress, and mostly nothing is new
        if newest is None or newest.timestamp <= self._seen:
            return
        for one in recent_batches(query):
            if one.timestamp <= self._seen:
                continue
            self._seen = one.timestamp
            if not has_run(one):
                continue
            self.last = fl.progress(one)
            self.batches += 1
            self.rows += self.last.rows
            known = None not in (self.late, self.last.late)
            self.late = self.late + self.last.late if known else None
            self.dropped += self.last.dropped
            self.rejected += self.last.rejected
            yield self.last


@dataclass(frozen=True)
class RunResult:
    """How a run ended."""

    seconds: float
    windows: int | None  # how many were written, by a batch whose sink counts
    totals: StreamTotals
    interrupted: bool


@contextmanager
def _count_interrupts() -> Iterator[Interrupts]:
    """Count Ctrl-C instead of raising; the third one raises KeyboardInterrupt."""
    interrupts = Interrupts()

    def count(_signal: int, _frame: object) -> None:
        interrupts.times += 1
        if interrupts.times > 2:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, count)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)


def run_batch(job: Job, spark: SparkSession) -> RunResult:
    """Compute all windows, and write them."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    from fanlight.engine.spark.quiet import quietly

    if job.sink is None:
        msg = "a job that is run must have a sink"
        raise AssertionError(msg)
    sink = job.sink

    @quietly()  # in the thread that it runs in, as its session is
    def write_windows() -> int | None:
        # Tags and descriptions are per thread. Spark describes a stream's jobs by its name itself.
        with suppress(RuntimeError):  # in Spark 3.5 only Connect has tags
            spark.addTag(f"fanlight {job.name}".replace(",", " "))
        context = _context_of(spark)
        if context is not None:
            context.setJobDescription(job_description(job))
        result = sink.fit_columns(job.result(spark, stream=False))
        if sink.format not in COUNTED:
            sink.write(result)
            return None
        counting = Observation(f"fanlight windows of {job.name}")
        sink.write(result.observe(counting, F.count(F.lit(1)).alias("windows")))
        return int(counting.get["windows"])

    begin = time.monotonic()
    windows = _run_until_interrupted(write_windows, spark)
    return RunResult(time.monotonic() - begin, windows, StreamTotals(), interrupted=False)


def _context_of(spark: SparkSession) -> Any:
    """The context of a session; None on Spark Connect, which has only tags."""
    return getattr(spark, "sparkContext", None)


def _interrupt(spark: SparkSession) -> None:
    """Interrupt all jobs; a classic session of Spark 3.5 does so by its context alone."""
    try:
        spark.interruptAll()
    except RuntimeError:
        _context_of(spark).cancelAllJobs()


def job_description(job: Job) -> str:
    """The description of a batch's jobs in Spark's UI: the job, its query, and its sink."""
    query = textwrap.shorten(" ".join(job.query.text.split()), 160, placeholder=" …")
    return f"{job.name}: {query} to {job.sink.format if job.sink else 'the terminal'}"


def _run_until_interrupted(work: Callable[[], int | None], spark: SparkSession) -> int | None:
    """Run work in a thread of its own; Ctrl-C interrupts the Spark jobs that it started.

    It needs its own thread because one that waits for Spark cannot ask Spark to interrupt.
    """
    done: Future[int | None] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again in the calling thread
            done.set_exception(error)

    with _count_interrupts() as interrupts:
        Thread(target=run, daemon=True).start()
        while not wait([done], TICK).done:
            if interrupts.times:
                _interrupt(spark)
    if interrupts.times:
        raise KeyboardInterrupt
    return done.result()


def run_stream(
    job: Job,
    spark: SparkSession,
    on_progress: Callable[[Any, StreamTotals], None],
    on_stopping: Callable[[], None],
    serve_page: ServePage | None = None,
) -> RunResult:
    """Run a stream until its trigger ends it, or after Ctrl-C until its micro-batch has ended.

    ``on_progress`` gets the progress of each micro-batch, and ``on_stopping`` is called at the
    first Ctrl-C. ``serve_page`` is entered with the query and a reader of its windows while the
    query runs.
    """
    if job.sink is None or job.stream is None:
        msg = "a stream that is run must have a sink and a trigger"
        raise AssertionError(msg)
    begin, totals = time.monotonic(), StreamTotals()
    with ExitStack() as stack, _count_interrupts() as interrupts:
        result = job.result(spark, stream=True)
        query = job.sink.start(
            job.sink.fit_columns(result), job.output_mode, job.stream.trigger, job.stream.checkpoint
        )
        if serve_page is not None:
            stack.enter_context(serve_page(query, job.sink.make_reader(spark, result)))
        stopped = False
        # The timeout may be a fraction of a second, although PySpark annotates it as int.
        ended: Any = query.awaitTermination
        while not ended(TICK):
            for one in totals.take_new(query):
                on_progress(one, totals)
            if interrupts.times and not stopped:
                stopped = True
                on_stopping()
                _stop_after_batch(query, totals, on_progress, interrupts)
        for one in totals.take_new(query):
            on_progress(one, totals)
    return RunResult(time.monotonic() - begin, None, totals, interrupted=stopped)


def _stop_after_batch(
    query: Any,
    totals: StreamTotals,
    on_progress: Callable[[Any, StreamTotals], None],
    interrupts: Interrupts,
) -> None:
    """Stop a query after its current micro-batch, or at once after a second Ctrl-C."""
    before = totals.batches
    while query.isActive and query.status["isTriggerActive"]:
        if totals.batches > before or interrupts.times > 1:
            break
        time.sleep(TICK / 5)
        for one in totals.take_new(query):
            on_progress(one, totals)
    query.stop()
