"""Every kind in a batch and in a stream, by a Python that has the wheel, an extra and nothing else.

python check.py classic|connect [few]

Connect has fewer streams, and none with as many tasks as Spark comes with: that takes a minute.
``few`` is for the PySpark that all other tests run on: the same on classic, where each batch is by
keys or without, in turn; and on Connect no batches but of these.
"""

from __future__ import annotations

import os
import pkgutil
import sys
import tempfile
import time
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path

from data import LANE, complete, write
from kinds import KINDS
from pyspark.sql import SparkSession

import fanlight

# what needs more than PySpark
OTHER_EXTRAS = ("fanlight.cli", "fanlight.language", "fanlight.watching")

ANSI = "spark.sql.ansi.enabled"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
PARTITIONS = "spark.sql.shuffle.partitions"
FEW = {PARTITIONS: "2"}  # tasks, for few rows
AT_ONCE = 4  # streams: each waits more than it works
# A machine that is busy with other work starts Python workers late, and nothing is wrong.
LATE = "connect back"
PATIENCE = 4  # times
STREAMED = ("sliding", "levels", "threshold", "detect")  # where there are fewer


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
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.unset(name) if value is None else spark.conf.set(name, value)


class Check:
    """Runs the cases, and keeps what is wrong."""

    def __init__(self, spark, folder):
        self.spark, self.folder = spark, folder
        self.wrong = []
        self.done = 0
        self.begun = 0
        self.answers = {}

    def tell(self, what, expected, found):
        self.done += 1
        if found != expected:
            self.wrong.append(f"{what}: expected {expected}, found {found}")

    def guarded(self, what, act):
        """What ``act`` gives; if it raises, that is wrong, and others are checked all the same."""
        for left in reversed(range(PATIENCE)):
            try:
                return act()
            except Exception as error:  # noqa: BLE001 - whatever it is
                if not left or LATE not in str(error):
                    lines = str(error).strip().splitlines() or [""]
                    told = f"{type(error).__name__}: {lines[0]} … {lines[-1]}"
                    self.wrong.append(f"{what}: {told}")
                    break
        return None

    def batch(self, case, by, settings):
        what = f"{case.name}, batch, by {by}, {settings}"

        def answered():
            with setting(self.spark, **settings):
                return complete(case.of(self.spark.read.parquet(str(self.folder)), by))

        answer = self.guarded(what, answered)
        if answer is not None:
            found, size = answer
            self.tell(what, case.each if by else case.all, size)
            self.tell(what, self.answers.setdefault((case.name, by), found), found)

    def started(self, case, by, settings):
        """A stream that runs; its result is a table of its name."""
        source = self.spark.readStream.schema(self.spark.read.parquet(str(self.folder)).schema)
        rows = source.option("maxFilesPerTrigger", 1).parquet(str(self.folder))
        self.begun += 1
        with setting(self.spark, **settings):
            answer = case.of(rows.withWatermark("end", "0 seconds"), by)
            writer = answer.writeStream.format("memory").queryName(f"found{self.begun}")
            return writer.outputMode("append").trigger(availableNow=True).start()

    def streams(self, asked):
        """Streams of some cases at once, each as its batch answered."""
        running = []
        for case, by, settings in asked:
            what = f"{case.name}, stream, by {by}, {settings}"
            begin = partial(self.started, case, by, settings)
            query = self.guarded(what, begin)
            if query is not None:
                running.append((what, case, by, begin, [query]))
        for what, case, by, begin, queries in running:
            answer = self.guarded(what, partial(self.ended, begin, queries))
            if answer is not None:
                self.tell(what, self.answers.get((case.name, by)), answer[0])

    def ended(self, begin, begun):
        """The answer of the stream that was begun with the others, or else of another one."""
        query = begun.pop() if begun else begin()
        query.awaitTermination()
        return complete(self.spark.table(query.name))


def streams_of(kind, *, few):
    """(case, keys, settings) of a stream of each kind, every second one without keys.

    The first of all has the number of tasks that Spark comes with. Each has the ANSI mode that its
    batch did not have.
    """
    found = []
    fewer = few or kind == "connect"
    for case in KINDS:
        if fewer and case.name not in STREAMED:
            continue
        by = () if len(found) % 2 and kind == "classic" else LANE
        store = {} if case.native else {PROVIDER: ROCKSDB}
        tasks = FEW if found or fewer else {}
        found.append((case, by, store | tasks | {ANSI: "false" if by else "true"}))
    return found


def batches_of(kind, *, few):
    """(case, keys, settings) of batches; the first has the number of tasks that Spark has."""
    for number, case in enumerate(KINDS):
        streamed = case.name in STREAMED
        if not few or streamed or (number % 2 == 0 and kind == "classic"):
            yield case, LANE, FEW if number else {}
        if kind == "classic" and (not few or streamed or number % 2):
            yield case, (), {**FEW, ANSI: "false"}


def main(kind, *more):
    began = time.perf_counter()
    for module in pkgutil.walk_packages(fanlight.__path__, "fanlight."):
        if not module.name.startswith(OTHER_EXTRAS):
            import_module(module.name)
    spark = start(kind)
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "rows")
        check = Check(spark, Path(folder) / "rows")
        few = "few" in more
        for case, by, settings in batches_of(kind, few=few):
            check.batch(case, by, settings)
        asked = streams_of(kind, few=few)
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
    sys.exit(main(*sys.argv[1:]))
