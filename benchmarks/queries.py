"""What can be timed: a query with its sink. Each can also say a short form of its answer."""

from __future__ import annotations

import math
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.data import BEGIN
from benchmarks.sessions import settings

# An answer is the number of rows, then the sum of each column; windows count by their start.


def agree(one, other):
    """Whether two answers are equal, doubles up to the order of their additions."""
    return len(one) == len(other) and all(
        math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-6) for x, y in zip(one, other, strict=True)
    )


@dataclass(frozen=True)
class Batch:
    """A DataFrame into Spark's noop sink, which takes every row and keeps none."""

    df: Any
    given: dict[str, str] = field(default_factory=dict)  # settings of this query alone

    def run(self):
        with settings(self.df.sparkSession, self.given):
            self.df.write.format("noop").mode("overwrite").save()

    def answer(self):
        with settings(self.df.sparkSession, self.given):
            return _sums(self.df)


@dataclass(frozen=True)
class Stream:
    """A streaming DataFrame, all files there are in micro-batches of one file."""

    df: Any

    def run(self):
        """Run it, and return the progress of its micro-batches."""
        with _scratch() as folder:
            return self._through(self.df.writeStream.format("noop"), folder)

    def answer(self):
        with _scratch() as folder:
            to = str(folder / "out")
            self._through(self.df.writeStream.format("parquet").option("path", to), folder)
            return _sums(self.df.sparkSession.read.schema(self.df.schema).parquet(to))

    def _through(self, writer, folder):
        writer = writer.outputMode("append").option("checkpointLocation", str(folder / "state"))
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        if query.exception() is not None:
            raise query.exception()
        return query.recentProgress


@dataclass(frozen=True)
class Polars:
    """A lazy Polars query, collected."""

    lazy: Any

    def run(self):
        self.lazy.collect()

    def answer(self):
        import polars as pl

        times = [name for name, kind in self.lazy.collect_schema().items() if kind.is_temporal()]
        rows = self.lazy.collect().with_columns(
            (pl.col(name).dt.epoch("us") / 1e6 - BEGIN) for name in times
        )
        return (rows.height, *(float(rows[name].sum()) for name in rows.columns))


@dataclass(frozen=True)
class Duck:
    """A DuckDB query, its result fetched as Arrow. Times are microseconds there."""

    connection: Any
    sql: str

    def run(self):
        self.connection.sql(self.sql).to_arrow_table()

    def answer(self):
        names = self.connection.sql(self.sql).columns
        sums = [
            f"sum(cast({name} as double){f' / 1e6 - {BEGIN}' if name == 'start' else ''})"
            for name in names
        ]
        row = self.connection.sql(f"select count(*), {', '.join(sums)} from ({self.sql})")
        return tuple(float(value or 0) for value in row.fetchall()[0])


def _sums(df):
    shifts = {"timestamp": f" - {BEGIN}"}
    sums = [
        f"sum(cast({name} as double){shifts.get(kind, '')}) as {name}" for name, kind in df.dtypes
    ]
    row = df.selectExpr("count(1) as rows", *sums).first()
    return tuple(float(value or 0) for value in row)


class _scratch:  # noqa: N801 - a function in all but form
    """A folder that goes away, also if Spark is still writing the last of it."""

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="fanlight-benchmarks-"))
        return self.folder

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)
