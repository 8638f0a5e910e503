"""Every kind in a batch and in a stream, by a Python that has the wheel, an extra and nothing else.

python check.py classic|connect
"""

from __future__ import annotations

import os
import pkgutil
import sys
import tempfile
import time
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from data import LANE, complete, write
from kinds import KINDS
from pyspark.sql import SparkSession

import fanlight

ANSI = "spark.sql.ansi.enabled"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
PARTITIONS = "spark.sql.shuffle.partitions"
FEW = {PARTITIONS: "2"}  # tasks, for few rows
AT_ONCE = 4  # streams: each waits more than it works
CONNECTED = ("sliding", "levels", "threshold", "detect")  # streams on Connect


def start(kind):
    """A session as Spark makes it, on two cores."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder
    builder = builder.remote("local[2]") if kind == "connect" else builder.master("local[2]")
    return builder.config("spark.ui.enabled", "false").getOrCreate()


@contextmanager
def setting(spark, **values):
    """Settings for a time."""
    before = {name: spark.conf.get(name, None) for name in values}
    for name, value in values.items():
        spark.conf.set(name, value)
    yield
    for name, value in before.items():
        spark.conf.unset(name) if value is None else spark.conf.set(name, value)


class Check:
    """Runs the cases, and keeps what is wrong."""

    def __init__(self, spark, folder):
        self.spark, self.folder = spark, folder
        self.wrong = []
        self.done = 0
        self.answers = {}

    def tell(self, what, expected, found):
        self.done += 1
        if found != expected:
            self.wrong.append(f"{what}: expected {expected}, found {found}")

    @contextmanager
    def guarded(self, what):
        try:
            yield
        except Exception as error:  # noqa: BLE001 - the others are checked all the same
            lines = str(error).strip().splitlines() or [""]
            self.wrong.append(f"{what}: {type(error).__name__}: {lines[0]} … {lines[-1]}")

    def batch(self, case, by, settings):
        what = f"{case.name}, batch, by {by}, {settings}"
        with self.guarded(what), setting(self.spark, **settings):
            found, size = complete(case.of(self.spark.read.parquet(str(self.folder)), by))
            self.tell(what, case.each if by else case.all, size)
            self.tell(what, self.answers.setdefault((case.name, by), found), found)

    def started(self, case, by, number):
        source = self.spark.readStream.schema(self.spark.read.parquet(str(self.folder)).schema)
        rows = source.option("maxFilesPerTrigger", 1).parquet(str(self.folder))
        answer = case.of(rows.withWatermark("end", "0 seconds"), by)
        name = f"found{number}"
        writer = answer.writeStream.format("memory").queryName(name).outputMode("append")
        return name, writer.trigger(availableNow=True).start()

    def streams(self, asked):
        """Streams of some cases at once, each as its batch answered."""
        running = []
        for number, (case, by, settings) in enumerate(asked):
            what = f"{case.name}, stream, by {by}, {settings}"
            with self.guarded(what), setting(self.spark, **settings):
                running.append((what, case, by, *self.started(case, by, f"{self.done}_{number}")))
        for what, case, by, name, query in running:
            with self.guarded(what):
                query.awaitTermination()
                found, _ = complete(self.spark.table(name))
                self.tell(what, self.answers.get((case.name, by)), found)


def streams_of(kind):
    """(case, keys, settings) of a stream of each kind, every second one without keys.

    The first has the number of tasks that Spark comes with. Each has the ANSI mode that its batch
    did not have.
    """
    found = []
    for case in KINDS:
        if kind == "connect" and case.name not in CONNECTED:
            continue
        by = () if len(found) % 2 and kind == "classic" else LANE
        store = {} if case.native else {PROVIDER: ROCKSDB}
        few = FEW if found else {}
        found.append((case, by, store | few | {ANSI: "false" if by else "true"}))
    return found


def main(kind):
    began = time.perf_counter()
    for module in pkgutil.walk_packages(fanlight.__path__, "fanlight."):
        if not module.name.startswith("fanlight.cli"):
            import_module(module.name)
    spark = start(kind)
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "rows")
        check = Check(spark, Path(folder) / "rows")
        for case in KINDS:
            check.batch(case, LANE, {} if case is KINDS[0] else FEW)
            if kind == "classic":
                check.batch(case, (), {**FEW, ANSI: "false"})
        asked = streams_of(kind)
        for first in range(0, len(asked), AT_ONCE):
            check.streams(asked[first : first + AT_ONCE])
        version = spark.version
        spark.stop()
    for line in check.wrong:
        print("wrong:", line)
    seconds = time.perf_counter() - began
    print(
        f"Spark {version}, {kind}: {check.done} answers, {len(check.wrong)} wrong, {seconds:.0f} s"
    )
    return 1 if check.wrong or not check.done else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
