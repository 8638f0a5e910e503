"""Running a job: a batch to its end, a stream until it ends or is interrupted."""

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
from fanlight.cli.jobs.query import Sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# What shows a query meanwhile; None stands for windows that cannot be read where they go to.
Watching = Callable[[Any, Any], AbstractContextManager[object]]
TICK = 0.25  # seconds between two looks at a query
# All rows of these are written.
COUNTED = ("parquet", "csv", "json", "delta", "table", "kafka", "sqlite", "postgresql")


@dataclass
class Interrupts:
    """How often the user has pressed Ctrl-C."""

    times: int = 0


@dataclass
class Told:
    """What a stream has told so far: all of its micro-batches, and the last one."""

    rows: int = 0
    late: int = 0
    dropped: int = 0
    batches: int = 0
    last: Any = None
    _heard: str = ""  # the time of what was heard last, which sorts as text

    def hear(self, query: Any) -> Iterator[Any]:
        """The progress of micro-batches that have not been heard of."""
        newest = query.lastProgress  # one small look, as there is mostly nothing new
        if newest is None or newest.timestamp <= self._heard:
            return
        for one in query.recentProgress:
            if one.timestamp <= self._heard:
                continue
            self._heard = one.timestamp
            if "addBatch" not in one.durationMs:
                continue  # Spark says now and then that nothing has come
            self.last = fl.progress(one)
            self.batches += 1
            self.rows += self.last.rows
            self.late += self.last.late
            self.dropped += self.last.dropped
            yield self.last


@dataclass(frozen=True)
class Ran:
    """How a run ended."""

    seconds: float
    windows: int | None  # of a batch whose sink takes all of them
    told: Told
    interrupted: bool


@contextmanager
def _interrupts() -> Iterator[Interrupts]:
    """Count Ctrl-C instead of ending: the third one ends at once."""
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


def run_batch(job: Job, spark: SparkSession) -> Ran:
    """Compute all windows, and write them."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    if job.sink is None:
        msg = "a job to run has a sink"
        raise AssertionError(msg)
    sink = job.sink

    def written() -> int | None:
        # Of the thread that runs the jobs. Streams say their name in each job's description.
        spark.addTag(f"fanlight {job.name}".replace(",", " "))
        context = getattr(spark, "sparkContext", None)  # Spark Connect has none, only tags
        if context is not None:
            context.setJobDescription(described(job))
        found = sink.fitted(job.result(spark, stream=False))
        if sink.format not in COUNTED:
            sink.write(found)
            return None
        counting = Observation(f"fanlight windows of {job.name}")
        sink.write(found.observe(counting, F.count(F.lit(1)).alias("windows")))
        return int(counting.get["windows"])

    begin = time.monotonic()
    windows = _until_interrupted(written, spark)
    return Ran(time.monotonic() - begin, windows, Told(), interrupted=False)


def described(job: Job) -> str:
    """What a batch's jobs are called in Spark's UI: the job, its windows, and where they go."""
    asked = job.query.text if isinstance(job.query, Sql) else repr(job.query.spec)
    windows = textwrap.shorten(" ".join(asked.split()), 160, placeholder=" …")
    return f"{job.name}: {windows} to {job.sink.format if job.sink else 'the terminal'}"


def _until_interrupted(work: Callable[[], int | None], spark: SparkSession) -> int | None:
    """Work in a thread of its own; Ctrl-C interrupts what Spark does meanwhile.

    A thread that waits for Spark cannot ask Spark for anything else.
    """
    done: Future[int | None] = Future()

    def working() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it is raised where the job was started
            done.set_exception(error)

    with _interrupts() as heard:
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
    tell: Callable[[Any, Told], None],
    stopping: Callable[[], None],
    watching: Watching | None = None,
) -> Ran:
    """Run until the trigger ends it; after Ctrl-C, until its micro-batch has ended.

    ``tell`` is given the progress of each micro-batch; ``stopping`` is called when it will stop.
    ``watching`` is given the query, and what reads its windows, for as long as it runs.
    """
    if job.sink is None or job.stream is None:
        msg = "a stream to run has a sink and a trigger"
        raise AssertionError(msg)
    begin, told = time.monotonic(), Told()
    with ExitStack() as open, _interrupts() as heard:
        found = job.result(spark, stream=True)
        query = job.sink.start(job.sink.fitted(found), job.stream.trigger, job.stream.checkpoint)
        if watching is not None:
            open.enter_context(watching(query, job.sink.written(spark, found)))
        stopped = False
        # Its time is in seconds, and may be less than one: PySpark's annotation knows only whole.
        ended: Any = query.awaitTermination
        while not ended(TICK):
            for one in told.hear(query):
                tell(one, told)
            if heard.times and not stopped:
                stopped = True
                stopping()
                _stop_after_batch(query, told, tell, heard)
        for one in told.hear(query):
            tell(one, told)
    return Ran(time.monotonic() - begin, None, told, interrupted=stopped)


def _stop_after_batch(
    query: Any, told: Told, tell: Callable[[Any, Told], None], heard: Interrupts
) -> None:
    """Stop when the micro-batch that runs has ended; at once after a second Ctrl-C."""
    before = told.batches
    while query.isActive and query.status["isTriggerActive"]:
        if told.batches > before or heard.times > 1:
            break
        time.sleep(TICK / 5)
        for one in told.hear(query):
            tell(one, told)
    query.stop()
