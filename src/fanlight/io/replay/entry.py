"""The entry point of replays: what was asked is checked, and becomes a streaming DataFrame."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from weakref import WeakSet

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    MapType,
    NumericType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from fanlight.engine.spark.sql import first_line, type_text
from fanlight.engine.spec.arguments import check_choice, check_flag, check_text
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.units import parse_duration
from fanlight.io.replay.arrivals import Disorder
from fanlight.io.replay.source import Asked, Replay

FORMATS = ("parquet", "csv", "json")
_SUFFIXES = {".parquet": "parquet", ".csv": "csv", ".json": "json", ".jsonl": "json"}
_TIMES = (TimestampType, TimestampNTZType)
_PLAIN = (BooleanType, DecimalType, NumericType, StringType, DateType, *_TIMES)

_registered: WeakSet[Any] = WeakSet()  # sessions that know the source: twice would be a warning


def replay(
    spark: SparkSession,
    path: str | Path | Sequence[str | Path],
    *,
    time: str,
    format: str | None = None,
    schema: str | StructType | None = None,
    speedup: float | None = None,
    disorder: str = "0 seconds",
    late: float = 0.0,
    late_by: str | None = None,
    seed: int = 0,
    max_rows: int = 100_000,
    header: bool = True,
    sep: str = ",",
) -> DataFrame:
    """Play files back as a stream, in event time: each row arrives at its time, or some time after.

    It is for trying out a stream on recorded data: how soon results come, how much state is kept,
    which delay the watermark needs. Each row of the files comes exactly once, also over restarts
    from a checkpoint; the same arguments give the same order each time.

    Parameters
    ----------
    spark
        The session, classic or Spark Connect. As of all Python data sources, files are read by
        Python: fanlight must be installed on the driver's and the executors' machines (of Connect:
        the server's), and the path lead to the same files there.
    path
        A file, a folder of files, or a list of these. What has no scheme is on the local disk.
    time
        The column with the time of each row, a timestamp with or without time zone.
    format
        ``"parquet"``, ``"csv"`` or ``"json"`` (an object a line); by default what the path ends in.
    schema
        As in ``spark.read.schema``: the columns of CSV and JSON, which need it. Of Parquet the
        columns to read; by default all. Times in text are ISO 8601, and UTC if they say nothing
        else, whatever the time zone of the session.
    speedup
        Seconds of event time in one second of clock: 1 plays as it was, 60 a minute a second. By
        default rows come as fast as Spark takes them. A stream that is stopped and started again
        goes on where it stood.
    disorder
        Each row arrives up to this long after its time, at random: a duration of event time. A
        watermark of this delay loses no row.
    late
        The share of rows, from 0 to 1, that arrive later than that, by up to ``late_by`` more.
    late_by
        How much later these rows arrive at most: a duration.
    seed
        Another one gives other delays.
    max_rows
        The most rows of a micro-batch. On PySpark 4.1, whose sources cannot be limited, a replay
        without ``speedup`` is one micro-batch.
    header
        Whether a CSV file begins with the names of its columns, which may then be in any order.
    sep
        The character between two fields of CSV.

    Returns
    -------
    DataFrame
        A stream of the rows, without watermark: write ``.withWatermark(…)`` next. What must fit in
        memory is an index, on the driver: while it is made, about 50 bytes a row, afterwards 16
        (of CSV and JSON 32); and where a partition is read, one row group of a Parquet file. With
        ``trigger(availableNow=True)`` all is played without waiting, and the stream ends; not so
        on PySpark 4.1, where it must have no ``speedup`` to get to the end.

    Raises
    ------
    FanlightError
        If there is no such file or column, the column has no times, or an argument is not what it
        should be. What shows only when files are read ends the stream: a row without a time, a
        text that is no number, a checkpoint of another replay.

    Examples
    --------
    >>> import tempfile, fanlight as fl
    >>> calls = spark.sql("SELECT timestamp_seconds(id * 7) AS ts, id FROM range(1000)")
    >>> folder = tempfile.mkdtemp()
    >>> calls.write.parquet(f"{folder}/calls")
    >>> played = fl.replay(
    ...     spark, f"{folder}/calls", format="parquet", time="ts", disorder="1 minute"
    ... )
    >>> windows = fl.over(
    ...     played.withWatermark("ts", "1 minute"), fl.Sliding("10 minutes"), time="ts"
    ... )
    >>> windows.agg(fl.agg.count()).isStreaming
    True

    """
    paths = _paths(spark, path)
    given = _format(paths, format)
    asked = Asked(
        paths=paths,
        format=given,
        time=check_text("time", time, 'time="ts"'),
        speedup=_speedup(speedup),
        disorder=_disorder(disorder, late, late_by, seed),
        max_rows=_whole("max_rows", max_rows, 1),
        header=check_flag("header", header),
        sep=_separator(sep),
    )
    kinds = _schema(spark, paths, given, schema)
    _check_time(kinds, time)
    for field in kinds.fields:
        _check_readable(field.name, field.dataType, given)
    if spark not in _registered:
        spark.dataSource.register(Replay)
        _registered.add(spark)
    reader = spark.readStream.format(Replay.name()).schema(kinds)
    return reader.option("replay", asked.text()).load()


def _paths(spark: SparkSession, given: Any) -> tuple[str, ...]:
    listed = list(given) if isinstance(given, (list, tuple)) else [given]
    if not listed or not all(isinstance(one, (str, Path)) and str(one) for one in listed):
        raise refuse(f"path={given!r}", "is no path", 'write for example path="calls.parquet"')
    found = []
    for one in map(str, listed):
        if ":/" in one:
            found.append(one)
            continue
        if not one.startswith("/") and type(spark).__module__.startswith("pyspark.sql.connect"):
            raise refuse(
                f"path={one!r}",
                "is relative, and the server has another folder",
                "write the whole path, as it is there",
            )
        found.append(f"file://{Path(one).absolute().as_posix()}")
    return tuple(found)


def _format(paths: Sequence[str], given: Any) -> str:
    if given is not None:
        return check_choice("format", given, FORMATS, "a format that can be played")
    guessed = {_SUFFIXES.get(PurePosixPath(path).suffix) for path in paths}
    name = guessed.pop() if len(guessed) == 1 else None
    if name is None:
        shown = ", ".join(paths)
        raise refuse(
            f"replay of {shown}", "has no suffix that says the format", 'write format="parquet"'
        )
    return name


def _speedup(given: Any) -> float | None:
    if given is None or given == math.inf:
        return None
    number = isinstance(given, (int, float)) and not isinstance(given, bool)
    if not number or not given > 0:  # NaN, too
        raise refuse(
            f"speedup={given!r}",
            "is not a positive number of seconds a second",
            "write for example speedup=60, or None for as fast as can be",
        )
    return float(given)


def _disorder(disorder: Any, late: Any, late_by: Any, seed: Any) -> Disorder:
    most = _duration("disorder", disorder)
    number = isinstance(late, (int, float)) and not isinstance(late, bool)
    if not number or not 0 <= late <= 1:
        raise refuse(f"late={late!r}", "is not a share of the rows", "write for example late=0.01")
    if bool(late) != (late_by is not None):
        raise refuse(
            f"late={late!r}, late_by={late_by!r}",
            "say only half of what is needed: how many rows are late, and by how much at most",
            'write for example late=0.01, late_by="10 minutes", or neither',
        )
    by = _duration("late_by", late_by) if late_by is not None else 0
    if late_by is not None and not by:
        raise refuse(f"late_by={late_by!r}", "is no time", 'write for example "10 minutes"')
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise refuse(f"seed={seed!r}", "is not a whole number", "write for example seed=7")
    return Disorder(most, float(late), by, seed)


_LONGEST = 2**60  # microseconds, some 36 thousand years: sums of times and delays stay in 64 bits


def _duration(argument: str, given: Any) -> int:
    micros = parse_duration(argument, check_text(argument, given, f'{argument}="30 seconds"'))
    if not 0 <= micros < _LONGEST:
        raise refuse(
            f"{argument}={given!r}",
            "is negative, or longer than any recording",
            f'write for example {argument}="30 seconds"',
        )
    return micros


def _whole(argument: str, given: Any, least: int) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or given < least:
        raise refuse(
            f"{argument}={given!r}",
            f"is not a whole number of {least} or more",
            f"write for example {argument}=100_000",
        )
    return given


def _separator(given: Any) -> str:
    sep = check_text("sep", given, 'sep=","')
    if len(sep) != 1 or not sep.isascii() or sep in '"\r\n':
        raise refuse(f"sep={given!r}", "is not one character between fields", 'write sep=";"')
    return sep


def _schema(
    spark: SparkSession, paths: Sequence[str], format: str, given: str | StructType | None
) -> StructType:
    """The columns as Spark has them; it also looks whether the files are there."""
    if given is None and format != "parquet":
        raise refuse(
            f"replay of {format} without a schema",
            "does not know the types of its columns",
            'write schema="ts timestamp, antenna string, seconds long"',
        )
    reader = spark.read.format(format)
    try:
        reader = reader if given is None else reader.schema(given)
        found: StructType = reader.load(list(paths)).schema
    except (PySparkException, TypeError) as error:
        raise refuse(
            "replay of " + ", ".join(map(repr, paths)),
            f"cannot read them as {format}: {first_line(error)}",
            "check the path, the format and the schema",
        ) from error
    return found


def _check_time(kinds: StructType, time: str) -> None:
    types = {field.name: field.dataType for field in kinds.fields}
    if time not in types:
        there = ", ".join(map(repr, types)) or "none"
        raise refuse(f"time={time!r}", "is not a column of the files", f"there are {there}")
    if not isinstance(types[time], _TIMES):
        raise refuse(
            f"time={time!r}",
            f"is of type {type_text(types[time])}, and no timestamp",
            "write the files with a timestamp in this column, or name another one",
        )


def _check_readable(name: str, kind: DataType, format: str) -> None:
    """Refuse a column that cannot be read of such files."""
    if isinstance(kind, _PLAIN) or (isinstance(kind, BinaryType) and format != "csv"):
        return
    inner: list[DataType] = []
    if format != "csv" and isinstance(kind, ArrayType):
        inner = [kind.elementType]
    elif format != "csv" and isinstance(kind, MapType):
        inner = [kind.keyType, kind.valueType]
        if format == "json" and not isinstance(kind.keyType, StringType):
            inner = []
    elif format != "csv" and isinstance(kind, StructType):
        inner = [field.dataType for field in kind.fields]
    if not inner:
        raise refuse(
            f"the column {name!r} of type {type_text(kind)}",
            f"cannot be played from {format}",
            "leave it out of the schema",
        )
    for one in inner:
        _check_readable(name, one, format)
