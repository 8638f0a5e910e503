"""``fl.replay``: checks its arguments, and makes a streaming DataFrame of files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any, get_args
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

from fanlight.engine.spark.sql import say_reason, type_text
from fanlight.engine.spec.arguments import check_choice, check_flag, check_text
from fanlight.engine.spec.errors import explain_wrong_calls, refuse
from fanlight.engine.spec.units import parse_duration
from fanlight.io.replay.source import Disorder
from fanlight.types import Format

try:
    from fanlight.io.replay.source import Replay, ReplayOptions
except ModuleNotFoundError as error:
    raise refuse(
        "fl.replay",
        "is a data source in Python, which Spark has since 4.0",
        "use Spark 4.0 or newer, or spark.readStream of a folder",
    ) from error

FORMATS: tuple[Format, ...] = get_args(Format)
_SUFFIXES = {".parquet": "parquet", ".csv": "csv", ".json": "json", ".jsonl": "json"}
_TIMES = (TimestampType, TimestampNTZType)
_PLAIN = (BooleanType, DecimalType, NumericType, StringType, DateType, *_TIMES)

_registered: WeakSet[Any] = WeakSet()  # sessions that have the data source; Spark warns of a second


@explain_wrong_calls("fl.replay(spark, 'calls.parquet', time='ts')")
def replay(
    spark: SparkSession,
    path: str | Path | Sequence[str | Path],
    *,
    time: str,
    format: Format | None = None,
    schema: str | StructType | None = None,
    speedup: float | None = None,
    disorder: str = "0 seconds",
    late_share: float = 0.0,
    lateness: str | None = None,
    seed: int = 0,
    max_rows_per_batch: int = 100_000,
    header: bool = True,
    sep: str = ",",
) -> DataFrame:
    """Play files back as a stream in event time: each row arrives at its time, or somewhat later.

    Use it to test a stream with recorded data: how soon results are emitted, how much state is
    kept, which delay the watermark needs. Each row arrives exactly once, also if the stream
    restarts from its checkpoint. The same arguments give the same order each time.

    Parameters
    ----------
    spark
        The session, classic or Spark Connect. The files are read in Python, on the driver and on
        the executors (with Connect: the server's). On all of these machines fanlight must be
        installed, and the path must lead to the same files.
    path
        A file, a folder of files, or a list of these. A path without a scheme is on the local disk.
    time
        The column with the time of each row, a timestamp with or without time zone.
    format
        ``"parquet"``, ``"csv"`` or ``"json"`` (one object per line); by default the path's suffix.
    schema
        The columns and their types, as in ``spark.read.schema``. CSV and JSON need it; for Parquet
        it names the columns to read, by default all. Times in text are ISO 8601, and in UTC unless
        they have an offset, whatever the time zone of the session.
    speedup
        Seconds of event time per second of real time: 1 plays at the original speed, 60 a minute
        per second. By default rows arrive as fast as Spark accepts them. A stream that is stopped
        and restarted continues where it was.
    disorder
        The maximum time by which rows arrive after their time, at random: a duration of event time.
        A watermark with this delay loses no row, unless ``late_share`` is given.
    late_share
        The share of rows, from 0 to 1, that arrive later than ``disorder`` allows.
    lateness
        The maximum time by which late rows arrive after ``disorder`` has passed: a duration.
    seed
        The seed of the random delays.
    max_rows_per_batch
        The maximum number of rows in a micro-batch. On PySpark 4.0 and 4.1, which cannot limit
        Python data sources, a replay without ``speedup`` is one micro-batch.
    header
        Whether CSV files begin with a line of column names; columns may then be in any order.
    sep
        The character between two fields of a CSV file.

    Returns
    -------
    DataFrame
        A streaming DataFrame of the rows, without watermark: write ``.withWatermark(…)`` next. An
        index of all rows must fit in the driver's memory: about 50 bytes per row while it is made,
        16 afterwards (32 for CSV and JSON); and one row group of a Parquet file wherever a
        partition is read. With ``trigger(availableNow=True)`` everything is played without waiting,
        and then the stream ends; on PySpark 4.0 and 4.1 only if no ``speedup`` is given.

    Raises
    ------
    FanlightError
        If a file or column does not exist, the column has no timestamps, or an argument is wrong.
        Problems that appear only when files are read end the stream with this error: a row without
        a time, text instead of a number, the checkpoint of another replay.

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
    paths = _check_paths(spark, path)
    file_format = _choose_format(paths, format)
    options = ReplayOptions(
        paths=paths,
        format=file_format,
        time=check_text("time", time, 'time="ts"'),
        speedup=_check_speedup(speedup),
        disorder=_check_disorder(disorder, late_share, lateness, seed),
        max_rows=_check_whole_number("max_rows_per_batch", max_rows_per_batch, 1),
        header=check_flag("header", header),
        sep=_check_separator(sep),
    )
    kinds = _read_schema(spark, paths, file_format, schema)
    _check_time(kinds, time)
    for field in kinds.fields:
        _check_readable(field.name, field.dataType, file_format)
    if spark not in _registered:
        spark.dataSource.register(Replay)
        _registered.add(spark)
    reader = spark.readStream.format(Replay.name()).schema(kinds)
    return reader.option("replay", options.to_text()).load()


def _check_paths(spark: SparkSession, given: Any) -> tuple[str, ...]:
    paths = list(given) if isinstance(given, (list, tuple)) else [given]
    if not paths or not all(isinstance(one, (str, Path)) and str(one) for one in paths):
        raise refuse(f"path={given!r}", "is not a path", 'write for example path="calls.parquet"')
    urls = []
    for one in map(str, paths):
        if ":/" in one:
            urls.append(one)
            continue
        if not one.startswith("/") and type(spark).__module__.startswith("pyspark.sql.connect"):
            raise refuse(
                f"path={one!r}",
                "is relative, and the server has another working directory",
                "write the whole path, as it is on the server",
            )
        urls.append(f"file://{Path(one).absolute().as_posix()}")
    return tuple(urls)


def _choose_format(paths: Sequence[str], given: Any) -> str:
    if given is not None:
        return check_choice("format", given, FORMATS, "a format that can be played")
    guessed = {_SUFFIXES.get(PurePosixPath(path).suffix) for path in paths}
    name = guessed.pop() if len(guessed) == 1 else None
    if name is None:
        names = ", ".join(paths)
        raise refuse(
            f"replay of {names}", "has no suffix that tells the format", 'write format="parquet"'
        )
    return name


def _check_speedup(given: Any) -> float | None:
    if given is None or given == math.inf:
        return None
    number = isinstance(given, (int, float)) and not isinstance(given, bool)
    if not number or not given > 0:  # NaN, too
        raise refuse(
            f"speedup={given!r}",
            "is not a positive number of seconds per second",
            "write for example speedup=60, or None for as fast as possible",
        )
    return float(given)


def _check_disorder(disorder: Any, late_share: Any, lateness: Any, seed: Any) -> Disorder:
    most = _parse_duration("disorder", disorder)
    number = isinstance(late_share, (int, float)) and not isinstance(late_share, bool)
    if not number or not 0 <= late_share <= 1:
        raise refuse(
            f"late_share={late_share!r}",
            "is not a share, from 0 to 1",
            "write for example late_share=0.01",
        )
    if bool(late_share) != (lateness is not None):
        raise refuse(
            f"late_share={late_share!r}, lateness={lateness!r}",
            "do not go without each other: how many rows are late, and by how much at most",
            'write for example late_share=0.01, lateness="10 minutes", or neither',
        )
    by = _parse_duration("lateness", lateness) if lateness is not None else 0
    if lateness is not None and not by:
        raise refuse(
            f"lateness={lateness!r}", "is not longer than zero", 'write for example "10 minutes"'
        )
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise refuse(f"seed={seed!r}", "is not a whole number", "write for example seed=7")
    return Disorder(most, float(late_share), by, seed)


_LONGEST = 2**60  # microseconds, some 36,000 years: so that times plus delays fit in 64 bits


def _parse_duration(argument: str, given: Any) -> int:
    micros = parse_duration(argument, check_text(argument, given, f'{argument}="30 seconds"'))
    if not 0 <= micros < _LONGEST:
        raise refuse(
            f"{argument}={given!r}",
            "is negative, or longer than any recording",
            f'write for example {argument}="30 seconds"',
        )
    return micros


def _check_whole_number(argument: str, given: Any, least: int) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or given < least:
        raise refuse(
            f"{argument}={given!r}",
            f"is not a whole number of {least} or more",
            f"write for example {argument}=100_000",
        )
    return given


def _check_separator(given: Any) -> str:
    sep = check_text("sep", given, 'sep=","')
    if len(sep) != 1 or not sep.isascii() or sep in '"\r\n':
        raise refuse(f"sep={given!r}", "is not one ASCII character between fields", 'write sep=";"')
    return sep


def _read_schema(
    spark: SparkSession, paths: Sequence[str], format: str, given: str | StructType | None
) -> StructType:
    """The columns and types, as Spark reads them; an error if Spark cannot read the files."""
    if given is None and format != "parquet":
        raise refuse(
            f"replay of {format} without a schema",
            "does not know the types of its columns",
            'write schema="ts timestamp, antenna string, seconds long"',
        )
    reader = spark.read.format(format)
    try:
        reader = reader if given is None else reader.schema(given)
        kinds: StructType = reader.load(list(paths)).schema
    except (PySparkException, TypeError) as error:
        raise refuse(
            "replay of " + ", ".join(map(repr, paths)),
            f"cannot read them as {format}: {say_reason(error)}",
            "check the path, the format and the schema",
        ) from error
    return kinds


def _check_time(kinds: StructType, time: str) -> None:
    types = {field.name: field.dataType for field in kinds.fields}
    if time not in types:
        columns = ", ".join(map(repr, types)) or "none"
        raise refuse(f"time={time!r}", "is not a column of the files", f"there are {columns}")
    if not isinstance(types[time], _TIMES):
        raise refuse(
            f"time={time!r}",
            f"is of type {type_text(types[time])}, not a timestamp",
            "write the files with a timestamp in this column, or name another one",
        )


def _check_readable(name: str, kind: DataType, format: str) -> None:
    """Refuse a column of a type that cannot be read from files of this format."""
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
