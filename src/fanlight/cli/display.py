"""What a run prints: lines, one status line that is updated, or JSON."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.text import Text

import fanlight as fl
from fanlight.cli.jobs.document import InvalidJobError
from fanlight.cli.running import RunResult, ServePage, StreamTotals, run_batch, run_stream
from fanlight.cli.sessions import install_advice, session
from fanlight.engine.spec.errors import find_python_error

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fanlight.cli.jobs.job import Job


PAGE_PACKAGES = ("plotly", "starlette", "uvicorn")  # needed to serve the page of a run
LINGER = 5.0  # seconds at most that the page is still served, so that it can show the end


def run(job: Job, *, watch: bool, as_json: bool, port: int = 0) -> RunResult:
    """Run a job and print its progress: JSON to standard output, all else to standard error."""
    # Names and errors may contain brackets, which rich would take for markup.
    console = Console(
        stderr=True, quiet=as_json, highlight=False, soft_wrap=True, markup=False
    )  # fmt: skip
    with console.status(Text(f"{job.name}: starting Spark")) as status:
        if not watch:
            status.stop()
        with session(job.name, job.settings) as spark:
            if as_json:
                emit("started", job=job.name, spark=spark.version)
            if job.stream is None:
                status.update(Text(f"{job.name}: computing windows"))
                ran = run_batch(job, spark)
            else:
                line = status if watch else None
                ran = run_stream(
                    job,
                    spark,
                    _progress_printer(job, console, line, as_json=as_json),
                    lambda: console.print("stopping after this micro-batch; Ctrl-C stops at once"),
                    _page_server(console, port, as_json=as_json) if watch else None,
                )
    if as_json:
        emit("stopped" if ran.interrupted else "done", **_summarize(job, ran))
    else:
        console.print(_describe_end(job, ran))
    return ran


def _page_server(console: Console, port: int, *, as_json: bool) -> ServePage | None:
    """A context manager that serves the page of a running query; None if packages are missing."""
    missing = [package for package in PAGE_PACKAGES if find_spec(package) is None]
    if missing:
        console.print(f"no page of this run: {install_advice(missing[0], 'watch')}")
        return None

    @contextmanager
    def serve(query: Any, windows: Any) -> Iterator[None]:
        try:
            page = fl.watch(query, windows, port=port)
        except fl.FanlightError as error:  # the run goes on without its page
            console.print(f"no page of this run: {error}")
            yield
            return
        console.print(str(page))
        if as_json:
            emit("watching", url=page.url)
        try:
            yield
        finally:
            page.stop(linger=LINGER)

    return serve


def _progress_printer(job: Job, console: Console, status: Any, *, as_json: bool) -> Any:
    """The function that prints the progress of a micro-batch."""

    def show(one: Any, totals: StreamTotals) -> None:
        if as_json:
            emit("progress", **one.to_dict())
        elif status is not None:
            status.update(Text(f"{job.name}: {totals.rows:,} rows so far; {one}"))
        else:
            console.print(str(one))

    return show


def _summarize(job: Job, ran: RunResult) -> dict[str, Any]:
    """How a run ended, as JSON values."""
    summary: dict[str, Any] = {"job": job.name, "seconds": round(ran.seconds, 3)}
    if job.stream is None:
        return {**summary, "windows": ran.windows}
    last = ran.totals.last
    return {
        **summary,
        "rows": ran.totals.rows,
        "late": ran.totals.late,
        "dropped": ran.totals.dropped,
        "rejected": ran.totals.rejected,
        "batches": ran.totals.batches,
        "batch": last.batch if last else None,
        "watermark": last.watermark if last else None,
        "state_rows": last.state_rows if last else None,
        "checkpoint": job.stream.checkpoint,
    }


def _describe_end(job: Job, ran: RunResult) -> str:
    """How a run ended, as a line for the terminal."""
    if job.stream is None:
        windows = "" if ran.windows is None else f"{ran.windows:,} windows, "
        return f"{job.name}: done, {windows}{ran.seconds:.1f} s"
    counts = (
        f"{ran.totals.rows:,} rows in {ran.totals.batches:,} micro-batches, {ran.seconds:.1f} s"
    )
    last = f"\nlast: {ran.totals.last}" if ran.totals.last else ""
    if ran.interrupted:
        again = f"\nrun the same command to go on from {job.stream.checkpoint}"
        return f"{job.name}: stopped, {counts}{last}{again}"
    return f"{job.name}: done, {counts}{last}"


def print_rows(result: DataFrame, most: int, *, as_json: bool) -> None:
    """Print the first rows of a result."""
    if not as_json:
        result.show(most, truncate=False)
        return
    for row in result.limit(most).collect():
        click.echo(json.dumps(row.asDict(recursive=True), default=str))


SUCCESS, FAILED, INVALID, INTERRUPTED = 0, 1, 2, 130  # exit codes
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
# An error of ours inside Spark's message about a Python function, up to where Java's text begins.
_OWN = re.compile(r"^fanlight\.[\w.]*Error: ", re.MULTILINE)
_OTHERS = re.compile(r"^\s*(at \S+\(|SQLSTATE: |JVM stacktrace|Caused by: |===|Traceback |$)")
_PACKAGES = {
    "kafka": "org.apache.spark:spark-sql-kafka-0-10_2.13:{spark}",
    "delta": "io.delta:delta-spark_2.13, in the version that goes with Spark {spark}",
}


@contextmanager
def report_outcome(*, as_json: bool = False) -> Iterator[None]:
    """Turn an exception raised inside into a message and an exit code."""
    try:
        yield
    except InvalidJobError as error:
        _exit_with(str(error), INVALID, as_json=as_json)
    except KeyboardInterrupt:
        _exit_with("interrupted", INTERRUPTED, as_json=as_json)
    except fl.FanlightError as error:
        _exit_with(_add_setting_line(str(error)), FAILED, as_json=as_json)
    except Exception as error:  # Spark's classes cannot be named here: pyspark may not be installed
        # Classic PySpark reports a missing Java class as an error of py4j.
        if not type(error).__module__.startswith(("pyspark.", "py4j.")):
            raise
        own = _find_own_error(str(error))
        _exit_with(
            _shorten_spark_error(error) if own is None else _add_setting_line(own),
            FAILED,
            as_json=as_json,
        )


def emit(event: str, **values: object) -> None:
    """Print one line of JSON to standard output."""
    click.echo(json.dumps({"event": event, **values}, default=str))


def _exit_with(message: str, code: int, *, as_json: bool) -> None:
    if as_json:
        emit("error", message=message, exit_code=code)
    click.echo(f"Error: {message}", err=True)
    sys.exit(code)


def _add_setting_line(message: str) -> str:
    """Add the job file's line for a setting that the message asks for."""
    asked = re.search(re.escape(PROVIDER) + r"\W+([\w.]+)", message)  # an excerpt may follow
    if asked is None:
        return message
    return f'{message}\nIn a job file: [spark] {PROVIDER[len("spark.") :]} = "{asked[1]}"'


def _find_own_error(message: str) -> str | None:
    """The last error of fanlight's that is quoted in Spark's message; None if none is."""
    places = [match.end() for match in _OWN.finditer(message)]
    if not places:
        return None
    lines = message[places[-1] :].splitlines()
    own = list(takewhile(lambda line: not _OTHERS.match(line), lines))
    return re.sub(r" SQLSTATE: \w+$", "", "\n".join(own))


def _shorten_spark_error(error: Exception) -> str:
    """The first lines of Spark's message; for a missing connector also what to install."""
    message = str(error)
    lines = [line.removeprefix(": ") for line in message.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(("\tat ", "An error occurred while "))]
    told = "\n".join(lines[:3]) if lines else type(error).__name__
    message = find_python_error(message) or told
    if "DATA_SOURCE_NOT_FOUND" not in message and "Failed to find data source" not in message:
        return message
    for format, package in _PACKAGES.items():
        if f"data source: {format}" in message:
            import pyspark

            wanted = package.format(spark=pyspark.__version__)
            message += f'\nIn a job file: [spark] jars.packages = "{wanted}"'
    return message
