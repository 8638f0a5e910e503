"""Silence for errors of Spark's that are caught: as an answer, or to be reworded."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from logging import Logger, LogRecord

# PySpark logs each error of a query here when it is made, as JSON with Java's stack trace.
LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


def error_loggers() -> list[Logger]:
    """Where PySpark logs errors of queries; Spark 3.5 logs none."""
    try:
        from pyspark.logger import PySparkLogger
    except ModuleNotFoundError:
        return []
    return [PySparkLogger.getLogger(name) for name in LOGGERS]


@contextmanager
def quietly() -> Iterator[None]:
    """Context manager: PySpark does not log errors of this thread; those of others it does."""
    own = threading.get_ident()

    def kept(record: LogRecord) -> bool:
        return record.thread != own

    loggers = error_loggers()
    for logger in loggers:
        logger.addFilter(kept)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(kept)
