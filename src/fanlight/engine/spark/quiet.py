"""Silence for errors of Spark's that are caught: as an answer, or to be reworded."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from logging import Logger, LogRecord

# PySpark logs each error of a query here when it is made, as JSON with Java's stack trace.
LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


class _Depth(threading.local):
    """How many calls of this thread that are quiet are under way, one within the other."""

    calls = 0


_depth = _Depth()


def error_loggers() -> list[Logger]:
    """Where PySpark logs errors of queries; Spark 3.5 logs none."""
    try:
        from pyspark.logger import PySparkLogger
    except ModuleNotFoundError:
        return []
    return [PySparkLogger.getLogger(name) for name in LOGGERS]


def _is_kept(_: LogRecord) -> bool:
    """Whether a record is logged: a logger asks in the thread that logs."""
    return not _depth.calls


@contextmanager
def quietly() -> Iterator[None]:
    """Context manager: PySpark does not log errors of this thread; those of others it does.

    PySpark has no setting for it. The filter stays, and lets all else through: one that comes and
    goes would be taken out of a list that another thread is walking.
    """
    for logger in error_loggers():
        logger.addFilter(_is_kept)  # which a logger takes once
    _depth.calls += 1
    try:
        yield
    finally:
        _depth.calls -= 1
