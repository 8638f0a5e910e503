"""``fl.heartbeat``: a stream whose event time goes on while no rows come."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

from pyspark.sql import DataFrame

from fanlight.engine.algebra.sql_text import in_backticks, quote
from fanlight.engine.spark.binding.source import bind_source, check_stream
from fanlight.engine.spark.foreign_frames import in_kind
from fanlight.engine.spark.sql import WATERMARK, expr, expr_as, free_name, is_same_name
from fanlight.engine.spec.errors import explain_wrong_calls, refuse
from fanlight.engine.spec.units import MICROSECONDS, read_extent, write_duration
from fanlight.types import DataFrameLike


@explain_wrong_calls("fl.heartbeat(df, 'ts', delay='10 minutes')")
@in_kind
def heartbeat(
    df: DataFrameLike,
    time: str,
    *,
    delay: str | timedelta,
    every: str | timedelta = "10 seconds",
    lag: str | timedelta = "1 minute",
) -> DataFrame:
    """Give a stream a watermark that advances while no rows arrive, so that its last windows come.

    Spark's watermark follows the rows: when they stop, it does not move, and windows that it has
    not passed are never emitted. This function mixes beats with the rows: times of the clock, minus
    ``lag``. The watermark follows them, too, and then they are dropped: no window sees a beat.

    Parameters
    ----------
    df
        A streaming DataFrame, classic or Spark Connect, without a watermark. Filter it before, not
        after: Spark cannot push a later filter past the beats to the source.
    time
        The column with the time of each row, a timestamp.
    delay
        The delay of the watermark, as in ``withWatermark``: how far rows may be out of order.
    every
        The time between two beats: whole seconds.
    lag
        How far beats are behind the clock. After a micro-batch, rows are late that were older than
        ``lag`` plus ``delay`` when it was read. If each micro-batch takes all available
        rows, this is how long a row may take to reach the source that Spark reads. If a micro-batch
        is limited (``maxFilesPerTrigger``, ``maxOffsetsPerTrigger``, ``max_rows_per_batch`` of
        :func:`fanlight.replay`; Delta tables always are), ``lag`` must be longer than the longest
        time that the stream is ever behind: after a stop, or at its beginning.

    Returns
    -------
    DataFrame
        The rows of ``df``, with its columns and a watermark on ``time``; any column may be null.
        For an existing query it is a different source, so it needs its own checkpoint. The source
        of the beats has a row each second, whatever ``every`` says, and so there is a micro-batch
        each second, unless the query's trigger says otherwise:
        ``.trigger(processingTime="10 seconds")``.

    Raises
    ------
    FanlightError
        If ``df`` is not a stream, or already has a watermark, ``time`` is not one of its
        timestamps, or a duration is wrong.

    Examples
    --------
    >>> import tempfile, fanlight as fl
    >>> calls = spark.readStream.schema("ts timestamp, phone string").json(tempfile.mkdtemp())
    >>> beating = fl.heartbeat(calls, "ts", delay="10 minutes")
    >>> fl.over(beating, fl.Sliding("1 hour"), time="ts").agg(fl.agg.count()).isStreaming
    True

    """
    stream = cast("DataFrame", df)
    column = _check_time(stream, time)
    wait = _read_duration("delay", delay, least=0)
    step = _read_duration("every", every)
    behind = _read_duration("lag", lag)
    seconds, rest = divmod(step, MICROSECONDS["second"])
    if rest:
        raise refuse(
            f"every={every!r}", "is not a whole number of seconds", "write every='1 second'"
        )
    # A row a second, numbered from the start of the query: after a stop, those of the stop as well.
    rate = stream.sparkSession.readStream.format("rate").option("numPartitions", 1).load()
    moment = f"timestamp_micros(unix_micros(timestamp) - {behind})"
    beat = free_name("beat", stream.columns)
    values = (
        expr(rate, moment) if at == column else expr(rate, "null").cast(field.dataType)
        for at, field in enumerate(stream.schema.fields)
    )
    named = (one.alias(name) for one, name in zip(values, stream.columns, strict=True))
    beats = rate.where(expr(rate, f"value % {seconds} = 0")).select(
        *named, expr_as(rate, "true", beat)
    )
    mixed = stream.select("*", expr_as(stream, "false", beat)).unionAll(beats)
    timed = mixed.withWatermark(in_backticks(stream.columns[column]), write_duration(wait))
    # Spark cannot tell that it is false of all beats, so neither this filter nor a later one of the
    # user's, which beats would not pass, is moved to before the watermark.
    return timed.where(expr(timed, f"not {quote(beat)} or spark_partition_id() < 0")).drop(beat)


def _check_time(stream: Any, time: Any) -> int:
    """The place of the column of times, on which a watermark can be set."""
    source = bind_source(stream, time, (), ())
    if not stream.isStreaming:
        raise refuse(
            "heartbeat(df)", "is of a batch, which gives all of its windows", "pass a stream"
        )
    marked = [one.name for one in stream.schema.fields if WATERMARK in (one.metadata or {})]
    if marked:
        raise refuse(
            f"heartbeat(df, {time!r})",
            f"is of a stream with a watermark on {marked[0]!r}, and Spark allows no second one",
            "leave out withWatermark, and give its delay here: delay='10 minutes'",
        )
    if source.time_type != "timestamp" or source.read_from:
        check_stream(source)
    places = [at for at, name in enumerate(stream.columns) if is_same_name(stream, name, time)]
    if len(places) != 1:
        raise refuse(
            f"time={time!r}",
            "is not the name of a single column, which a watermark needs",
            f"make it one: df.withColumn('time', F.col({time!r})), and time='time'",
        )
    return places[0]


def _read_duration(argument: str, given: Any, least: int = 1) -> int:
    """A duration in microseconds."""
    length = read_extent(argument, given, positive=least > 0, counted=False, timed=True)
    if length.measure != "time" or length.value < least:
        raise refuse(
            f"{argument}={given!r}",
            "is not a duration" if length.measure != "time" else "is negative",
            f"write for example {argument}='1 minute'",
        )
    return int(length.value)
