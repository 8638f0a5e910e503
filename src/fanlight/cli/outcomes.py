"""How a command ends: its exit code, and one message instead of a traceback."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile

import click

import fanlight as fl
from fanlight.cli.jobs.document import InvalidJobError

RIGHT, FAILED, INVALID, INTERRUPTED = 0, 1, 2, 130
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
# Our own error within what Spark tells of a Python function; its message ends where Java's begins.
_OWN = re.compile(r"^fanlight\.[\w.]*Error: ", re.MULTILINE)
_OTHERS = re.compile(r"^\s*(at \S+\(|SQLSTATE: |JVM stacktrace|Caused by: |===|Traceback |$)")
_PACKAGES = {
    "kafka": "org.apache.spark:spark-sql-kafka-0-10_2.13:{spark}",
    "delta": "io.delta:delta-spark_2.13, in the version that goes with Spark {spark}",
}


@contextmanager
def outcome(*, as_json: bool = False) -> Iterator[None]:
    """Turn what may go wrong in a command into a message and an exit code."""
    try:
        yield
    except InvalidJobError as error:
        _end(str(error), INVALID, as_json=as_json)
    except KeyboardInterrupt:
        _end("interrupted", INTERRUPTED, as_json=as_json)
    except fl.FanlightError as error:
        _end(_with_line(str(error)), FAILED, as_json=as_json)
    except Exception as error:  # Spark's: its class needs pyspark, which may not be there
        # A class that is not found reaches classic PySpark as an error of the bridge to Java.
        if not type(error).__module__.startswith(("pyspark.", "py4j.")):
            raise
        own = _own(str(error))
        _end(_of_spark(error) if own is None else _with_line(own), FAILED, as_json=as_json)


def emit(event: str, **told: object) -> None:
    """One line of JSON on standard output."""
    click.echo(json.dumps({"event": event, **told}, default=str))


def _end(message: str, code: int, *, as_json: bool) -> None:
    if as_json:
        emit("error", message=message, exit_code=code)
    click.echo(f"Error: {message}", err=True)
    sys.exit(code)


def _with_line(message: str) -> str:
    """What the library says of a setting, as a job file has it."""
    if PROVIDER not in message:
        return message
    value = message.rpartition(PROVIDER)[2].strip("'\", )")
    return f'{message}\nIn a job file: [spark] {PROVIDER[len("spark.") :]} = "{value}"'


def _own(said: str) -> str | None:
    """The last error of fanlight's that an error of Spark's tells of, as it was raised."""
    places = [match.end() for match in _OWN.finditer(said)]
    if not places:
        return None
    lines = said[places[-1] :].splitlines()
    own = list(takewhile(lambda line: not _OTHERS.match(line), lines))
    return re.sub(r" SQLSTATE: \w+$", "", "\n".join(own))


def _of_spark(error: Exception) -> str:
    """The first lines of what Spark says; of a missing connector, what to install."""
    said = str(error)
    lines = [line.removeprefix(": ") for line in said.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(("\tat ", "An error occurred while "))]
    message = "\n".join(lines[:3]) if lines else type(error).__name__
    if "DATA_SOURCE_NOT_FOUND" not in said and "Failed to find data source" not in said:
        return message
    for format, package in _PACKAGES.items():
        if f"data source: {format}" in said:
            import pyspark

            wanted = package.format(spark=pyspark.__version__)
            message += f'\nIn a job file: [spark] jars.packages = "{wanted}"'
    return message
