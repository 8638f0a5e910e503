"""Made-up events, written once: a timestamp, a key, a double and an integer, over one day."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

DAY = 86_400_000_000  # microseconds
BEGIN = 1_700_006_400  # seconds since 1970: a midnight
KEYS = 100
SMALL = 20_000  # rows on which competitors are first compared
SMALL_KEYS = 10
SCHEMA = "ts timestamp, k int, v double, n int"


@dataclass(frozen=True)
class Table:
    """Parquet files; rows follow time, and so does the files' order of modification.

    Not where ``ordered`` is false: then a row's time has nothing to do with its place. One key has
    besides its own one of ``skewed`` rows, if that is not 0.
    """

    folder: str
    rows: int
    keys: int
    files: int
    ordered: bool = True
    skewed: int = 0

    @property
    def glob(self):
        return f"{self.folder}/*.parquet"

    def read(self, spark):
        return spark.read.schema(SCHEMA).parquet(self.folder)

    def stream(self, spark):
        source = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        return source.parquet(self.folder).withWatermark("ts", "10 seconds")


def cache():
    """Where tables are kept between runs: outside the repository."""
    return Path(tempfile.gettempdir()) / "fanlight-benchmarks"


def table(spark, rows, *, keys=KEYS, files=10, ordered=True, skewed=0):
    """The table of this size, made if it is not there yet."""
    how = f"{'' if ordered else '-disordered'}{f'-skewed-{skewed}' if skewed else ''}"
    folder = cache() / f"events-{rows}-{keys}-{files}{how}"
    found = Table(str(folder), rows, keys, files, ordered, skewed)
    if folder.exists():
        return found
    into_the_day = f"id * {DAY} div {rows}" if ordered else f"pmod(xxhash64(id, 3), {DAY})"
    key = f"cast(pmod(xxhash64(id), {keys}) as int)"
    made = spark.range(0, rows, 1, files).selectExpr(
        f"timestamp_micros({BEGIN}000000 + {into_the_day}) as ts",
        f"if(pmod(xxhash64(id, 4), {skewed}) = 0, 0, {key}) as k" if skewed else f"{key} as k",
        "pmod(xxhash64(id, 1), 1000003) / 1000.0D as v",
        "cast(pmod(xxhash64(id, 2), 1000) as int) as n",
    )
    write(made, folder)
    return found


def write(made, folder):
    """Write Parquet files whose order of modification is that of their numbers.

    A stream takes files by time of modification, and parallel writers end in any order.
    """
    unfinished = folder.with_name(f"{folder.name}.{os.getpid()}")
    made.write.mode("overwrite").parquet(str(unfinished))
    for number, path in enumerate(sorted(unfinished.glob("*.parquet"))):
        os.utime(path, (BEGIN + number, BEGIN + number))
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)
