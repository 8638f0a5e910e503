"""Questions to Spark whose refusal is an answer, or is told in words of our own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from logging import LogRecord

from pyspark.logger import PySparkLogger

# What PySpark prints each error of a query to, as JSON with Java's stack, when it is made.
LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


@contextmanager
def quietly() -> Iterator[None]:
    """Leave out PySpark's own record of an error that is caught here; other threads keep theirs."""
    own = threading.get_ident()

    def kept(record: LogRecord) -> bool:
        return record.thread != own

    loggers = [PySparkLogger.getLogger(name) for name in LOGGERS]
    for logger in loggers:
        logger.addFilter(kept)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(kept)
