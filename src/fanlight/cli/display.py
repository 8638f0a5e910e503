"""What a run shows: lines, one line that is kept new, or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.text import Text

import fanlight as fl
from fanlight.cli import advice
from fanlight.cli.outcomes import emit
from fanlight.cli.running import Ran, Told, Watching, run_batch, run_stream
from fanlight.cli.sessions import session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fanlight.cli.jobs.job import Job

PAGE = ("plotly", "starlette", "uvicorn")  # what a page of a run needs
LINGER = 5.0  # seconds at most until a page that is open shows the end


def run(job: Job, *, watch: bool, as_json: bool, port: int = 0) -> Ran:
    """Run a job, and show how it goes. All but JSON goes to standard error."""
    # Names and errors may have brackets, which are no markup.
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
                ran = run_stream(
                    job, spark, _teller(job, console, status if watch else None, as_json=as_json),
                    lambda: console.print("stopping after this micro-batch; Ctrl-C again: at once"),
                    _watching(console, port, as_json=as_json) if watch else None,
                )  # fmt: skip
    if as_json:
        emit("stopped" if ran.interrupted else "done", **_summary(job, ran))
    else:
        console.print(_words(job, ran))
    return ran


def _watching(console: Console, port: int, *, as_json: bool) -> Watching | None:
    """What serves a page of a query while it runs; None where its packages are missing."""
    missing = [package for package in PAGE if find_spec(package) is None]
    if missing:
        console.print(f"no page of this run: {advice(missing[0], 'watch')}")
        return None

    @contextmanager
    def watching(query: Any, windows: Any) -> Iterator[None]:
        try:
            page = fl.watch(query, windows, port=port)
        except fl.FanlightError as error:  # the run is worth more than its page
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

    return watching


def _teller(job: Job, console: Console, status: Any, *, as_json: bool) -> Any:
    """What is done with the progress of a micro-batch."""

    def tell(one: Any, told: Told) -> None:
        if as_json:
            emit("progress", **one.to_dict())
        elif status is not None:
            status.update(Text(f"{job.name}: {told.rows:,} rows so far; {one}"))
        else:
            console.print(str(one))

    return tell


def _summary(job: Job, ran: Ran) -> dict[str, Any]:
    """How a run ended, as plain values."""
    found: dict[str, Any] = {"job": job.name, "seconds": round(ran.seconds, 3)}
    if job.stream is None:
        return {**found, "windows": ran.windows}
    last = ran.told.last
    return {
        **found,
        "rows": ran.told.rows,
        "late": ran.told.late,
        "dropped": ran.told.dropped,
        "batches": ran.told.batches,
        "batch": last.batch if last else None,
        "watermark": last.watermark if last else None,
        "state_rows": last.state_rows if last else None,
        "checkpoint": job.stream.checkpoint,
    }


def _words(job: Job, ran: Ran) -> str:
    """How a run ended, in words."""
    if job.stream is None:
        windows = "" if ran.windows is None else f"{ran.windows:,} windows, "
        return f"{job.name}: done, {windows}{ran.seconds:.1f} s"
    counts = f"{ran.told.rows:,} rows in {ran.told.batches:,} micro-batches, {ran.seconds:.1f} s"
    last = f"\nlast: {ran.told.last}" if ran.told.last else ""
    if ran.interrupted:
        again = f"\nrun it again, and it goes on from {job.stream.checkpoint}"
        return f"{job.name}: stopped, {counts}{last}{again}"
    return f"{job.name}: done, {counts}{last}"


def rows(found: DataFrame, most: int, *, as_json: bool) -> None:
    """Print the first rows of a result."""
    if not as_json:
        found.show(most, truncate=False)
        return
    for row in found.limit(most).collect():
        click.echo(json.dumps(row.asDict(recursive=True), default=str))
