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
from fanlight.engine.spec.errors import find_python_error

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
