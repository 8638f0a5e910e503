"""Runs a job: a batch to its end, a stream until it ends or is interrupted."""

from __future__ import annotations

import signal
import textwrap
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING, Any

import fanlight as fl
from fanlight.cli.jobs.job import Job
from fanlight.cli.jobs.query import SqlQuery

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Serves a page while a query runs. Its second argument reads the windows written so far, or is None
# if the sink cannot be read.
Watching = Callable[[Any, Any], AbstractContextManager[object]]
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
    late: int = 0
    dropped: int = 0
    batches: int = 0
    last: Any = None
    _seen: str = ""  # the timestamp of the newest progress taken; ISO, so it sorts as text

    def take_new(self, query: Any) -> Iterator[Any]:
        """Add the micro-batches that are new since the last call, and yield their progress."""
        newest = query.lastProgress  # cheaper than recentProgress, and mostly nothing is new
        if newest is None or newest.timestamp <= self._seen:
            return
        for one in query.recentProgress:
            if one.timestamp <= self._seen:
                continue
            self._seen = one.timestamp
            if "addBatch" not in one.durationMs:
                continue  # Spark also reports, now and then, that no data has come
            self.last = fl.progress(one)
            self.batches += 1
            self.rows += self.last.rows
            self.late += self.last.late
            self.dropped += self.last.dropped
            yield self.last


@dataclass(frozen=True)
class RunResult:
    """How a run ended."""

    seconds: float
    windows: int | None  # how many were written, by a batch whose sink counts
    told: StreamTotals
    interrupted: bool


@contextmanager
def _count_interrupts() -> Iterator[Interrupts]:
    """Count Ctrl-C instead of raising; the third one raises KeyboardInterrupt."""
    heard = Interrupts()

    def hear(_signal: int, _frame: object) -> None:
        heard.times += 1
        if heard.times > 2:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, hear)
    try:
        yield heard
    finally:
        signal.signal(signal.SIGINT, before)


def run_batch(job: Job, spark: SparkSession) -> RunResult:
    """Compute all windows, and write them."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    if job.sink is None:
        msg = "a job to run has a sink"
        raise AssertionError(msg)
    sink = job.sink

    def written() -> int | None:
        # Tags and descriptions are per thread. Spark describes a stream's jobs by its name itself.
        spark.addTag(f"fanlight {job.name}".replace(",", " "))
        context = getattr(spark, "sparkContext", None)  # Spark Connect has no context, only tags
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
    windows = _run_until_interrupted(written, spark)
    return RunResult(time.monotonic() - begin, windows, StreamTotals(), interrupted=False)


def job_description(job: Job) -> str:
    """The description of a batch's jobs in Spark's UI: the job, its windows, and its sink."""
    asked = job.query.text if isinstance(job.query, SqlQuery) else repr(job.query.spec)
    windows = textwrap.shorten(" ".join(asked.split()), 160, placeholder=" …")
    return f"{job.name}: {windows} to {job.sink.format if job.sink else 'the terminal'}"


def _run_until_interrupted(work: Callable[[], int | None], spark: SparkSession) -> int | None:
    """Run work in a thread of its own; Ctrl-C interrupts the Spark jobs that it started.

    It needs its own thread because one that waits for Spark cannot ask Spark to interrupt.
    """
    done: Future[int | None] = Future()

    def working() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again in the calling thread
            done.set_exception(error)

    with _count_interrupts() as heard:
        Thread(target=working, daemon=True).start()
        while not wait([done], TICK).done:
            if heard.times:
                spark.interruptAll()
    if heard.times:
        raise KeyboardInterrupt
    return done.result()


def run_stream(
    job: Job,
    spark: SparkSession,
    tell: Callable[[Any, StreamTotals], None],
    stopping: Callable[[], None],
    watching: Watching | None = None,
) -> RunResult:
    """Run a stream until its trigger ends it, or after Ctrl-C until its micro-batch has ended.

    ``tell`` gets the progress of each micro-batch; ``stopping`` is called at the first Ctrl-C.
    ``watching`` is entered with the query and a reader of its windows while the query runs.
    """
    if job.sink is None or job.stream is None:
        msg = "a stream to run has a sink and a trigger"
        raise AssertionError(msg)
    begin, told = time.monotonic(), StreamTotals()
    with ExitStack() as open, _count_interrupts() as heard:
        result = job.result(spark, stream=True)
        query = job.sink.start(
            job.sink.fit_columns(result), job.stream.trigger, job.stream.checkpoint
        )
        if watching is not None:
            open.enter_context(watching(query, job.sink.reader_of(spark, result)))
        stopped = False
        # The timeout may be a fraction of a second, although PySpark annotates it as int.
        ended: Any = query.awaitTermination
        while not ended(TICK):
            for one in told.take_new(query):
                tell(one, told)
            if heard.times and not stopped:
                stopped = True
                stopping()
                _stop_after_batch(query, told, tell, heard)
        for one in told.take_new(query):
            tell(one, told)
    return RunResult(time.monotonic() - begin, None, told, interrupted=stopped)


def _stop_after_batch(
    query: Any, told: StreamTotals, tell: Callable[[Any, StreamTotals], None], heard: Interrupts
) -> None:
    """Stop a query after its current micro-batch, or at once after a second Ctrl-C."""
    before = told.batches
    while query.isActive and query.status["isTriggerActive"]:
        if told.batches > before or heard.times > 1:
            break
        time.sleep(TICK / 5)
        for one in told.take_new(query):
            tell(one, told)
    query.stop()
