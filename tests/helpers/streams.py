"""Streams: rows as files, the files as a stream, and a stream run to its end.

All that is run in a folder goes on from what was run there before, except in memory.
"""

from __future__ import annotations

import os
import re
import uuid

import pyarrow.parquet as pq

from fanlight.engine.arrow import is_of_spark, to_arrow
from tests.helpers.dataframes import SENTINEL, collected, ddl, readable, table, timed

# A worker that was late, or that the machine killed where memory was short: one that fails
# by itself leaves the trace of its fault after the colon (`faulthandler`, in sparks.py).
NOT_OURS = re.compile(r"worker (failed )?to connect back|unexpectedly \(crashed\): *\n\n*\tat ")


def write_files(folder, *batches, first=None):
    """One file a micro-batch, of rows or of any DataFrame, after those that are in the folder.

    The source takes files in the order of their modification times. A stream that is running finds
    a file whole, and by that time: one that it has once seen as new makes it pass over all that are
    a week older.
    """
    folder.mkdir(parents=True, exist_ok=True)
    first = len(list(folder.iterdir())) if first is None else first
    for number, rows in enumerate(batches, first):
        written = folder / f".{number:05}.parquet"  # sources look at no file of such a name
        pq.write_table(to_arrow(rows) if is_of_spark(rows) else table(rows), written)
        os.utime(written, (1_600_000_000 + number,) * 2)
        written.rename(folder / f"{number:05}.parquet")
    return folder


def source(spark, folder, delay, *, files=1, schema=None, time="ts"):
    """A stream of the files in a folder, one a micro-batch, with a watermark if there is a delay.

    Without a schema it is of rows as :func:`table` makes them.
    """
    reader = spark.readStream.schema(schema or ddl()).option("maxFilesPerTrigger", files)
    df = reader.parquet(str(folder))
    df = df if schema else timed(df)
    return df if delay is None else df.withWatermark(time, delay)


def stream_of(spark, folder, batches, delay, time="ts"):
    """A stream of these batches after those that were given for the folder before."""
    schema = next((one.schema for one in batches if is_of_spark(one)), None)
    inbox = write_files(folder / "in", *batches)
    return source(spark, inbox, delay, schema=schema, time=time)


def patiently(act):
    """What ``act`` gives; once more where a Python worker was late, or killed by the machine.

    Spark gives some of them ten seconds to start, whatever else the machine has to do.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    for _ in range(4):
        try:
            return act()
        except (PySparkException, Py4JError) as error:  # classic, and what PySpark takes it for
            if not NOT_OURS.search(str(error)):
                raise
    return act()


def finish(result, folder, to="noop", mode="append", name=None):
    """The query of a result that has run to its end: to a format, or a function of micro-batches.

    Memory has what this query alone gives, as it does not survive a restart.
    """
    writer = result.writeStream.outputMode(mode).trigger(availableNow=True)
    writer = writer.foreachBatch(to) if callable(to) else writer.format(to)
    writer = writer.queryName(name) if name else writer
    writer = writer.option("path", str(folder / "out")) if to == "parquet" else writer

    def run():
        state = f"state-{uuid.uuid4().hex}" if to == "memory" else "checkpoint"
        query = writer.option("checkpointLocation", str(folder / state)).start()
        query.awaitTermination()
        return query

    return patiently(run)


def ended(result, folder, mode="append"):
    """What a stream has given at its end, as a table in memory."""
    name = f"t{uuid.uuid4().hex}"
    finish(result, folder, "memory", mode, name)
    return result.sparkSession.table(name)


def stored(result, folder, mode="append"):
    """What the streams of a folder have given, as a table of files."""
    out = str(folder / "out")
    finish(result, folder, "parquet" if mode == "append" else _adding_to(out), mode)
    return result.sparkSession.read.schema(result.schema).parquet(out)


def _adding_to(path):
    return lambda rows, _: rows.write.mode("append").parquet(path)


def gather(result, folder, mode="append"):
    """The rows that a stream has given at its end."""
    name = f"t{uuid.uuid4().hex}"
    finish(readable(result), folder, "memory", mode, name)
    rows = collected(result.sparkSession.table(name))
    result.sparkSession.sql(f"drop view if exists {name}")
    return rows


def gather_batches(result, folder, mode="update"):
    """The same by micro-batches, in their order."""
    batches = {}

    def keep(rows, number):
        batches[number] = collected(rows)

    finish(result, folder, keep, mode)
    return [batches[number] for number in sorted(batches)]


def keep_latest(key_of, batches):
    """The last result of each window; none after a final one."""
    latest = {}
    for rows in batches:
        assert len({key_of(row) for row in rows}) == len(rows)
        for row in rows:
            assert not latest.get(key_of(row), {}).get("final")
            latest[key_of(row)] = row
    return latest


def stream(spark, folder, batches, query, *, delay, close=True):
    """Run ``query`` over the batches to the end and give its rows; the sentinel's are left out."""
    batches = [*batches, *([[SENTINEL]] if close else [])]
    inbox = write_files(folder / f"in-{uuid.uuid4().hex[:8]}", *batches)
    rows = gather(query(source(spark, inbox, delay)), folder)
    return [row for row in rows if row.get("case") != SENTINEL["case"]]
