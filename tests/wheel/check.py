"""Every kind in a batch and in a stream, by a Python that has the wheel, an extra and nothing else.

python check.py classic|connect every|each|few [FILE]

``every`` kind is asked in batches by keys and without. ``each`` is asked once, by keys or without
in turn. ``few`` are a kind of each engine. Connect has fewer streams. Only with ``every``, on
classic, a batch and a stream have as many tasks as Spark comes with: that takes a minute.
What this version of Spark does not have must be refused, by the version that has it. FILE gets
what was found.
"""

from __future__ import annotations

import json
import os
import pkgutil
import platform
import sys
import tempfile
import time
from contextlib import contextmanager
from functools import partial
from importlib import import_module, metadata
from pathlib import Path

import pyspark
from data import LANE, complete, write
from kinds import KINDS
from pyspark.sql import SparkSession
from spared import OF_SPARK_4, OTHER_EXTRAS

import fanlight

JAVA = "select java_method('java.lang.System', 'getProperty', 'java.version')"
ANSI = "spark.sql.ansi.enabled"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
# In Spark 3.5 RocksDB may crash the JVM as a task reads its metrics (SPARK-46249).
ROCKSDB_SINCE = (4, 0)
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
        self.refused = {}  # what is not there, and since when it is
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

    @property
    def version(self):
        return tuple(map(int, self.spark.version.split(".")[:2]))

    def batch(self, case, by, settings):
        what = f"{case.name}, batch, by {by}, {settings}"
        if self.version < case.since:
            rows = self.spark.read.parquet(str(self.folder))
            self.refuse(f"{case.name}, batch", case.since, lambda: case.of(rows, by))
            return

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
            since = self.streams_since(case)
            if self.version < since:
                self.refuse(f"{case.name}, stream", since, begin)
                continue
            query = self.guarded(what, begin)
            if query is not None:
                running.append((what, case, by, begin, [query]))
        for what, case, by, begin, queries in running:
            answer = self.guarded(what, partial(self.ended, begin, queries))
            if answer is not None:
                self.tell(what, self.answers.get((case.name, by)), answer[0])

    def streams_since(self, case):
        """The first Spark that streams the case; a stateful processor is in Connect since 4.1."""
        remote = ".connect." in type(self.spark).__module__
        return case.streams_since if case.native or not remote else max(case.streams_since, (4, 1))

    def refuse(self, what, since, act):
        """What is not there says which version of Spark has it."""
        self.done += 1
        told = ".".join(map(str, since))
        self.refused[what] = told
        try:
            act()
        except fanlight.FanlightError as error:
            if f"Spark {told}" in str(error):
                return
            what = f"{what}: {error}"
        self.wrong.append(f"{what}: was not refused by Spark {told}")

    def ended(self, begin, begun):
        """The answer of the stream that was begun with the others, or else of another one."""
        query = begun.pop() if begun else begin()
        query.awaitTermination()
        return complete(self.spark.table(query.name))


def streams_of(kind, version, batches, *, full):
    """(case, keys, settings) of a stream for each kind that has a batch; fewer on Connect.

    Each has the ANSI mode that its batch did not have.
    """
    found = []
    for case in KINDS:
        keys = [by for one, by, _ in batches if one is case]
        if not keys or (kind == "connect" and case.name not in STREAMED):
            continue
        by = keys[len(found) % len(keys)]
        store = {PROVIDER: ROCKSDB} if version >= ROCKSDB_SINCE and not case.native else {}
        tasks = {} if full and not found else FEW
        found.append((case, by, store | tasks | {ANSI: "false" if by else "true"}))
    return found


def batches_of(kind, which):
    """(case, keys, settings) of batches."""
    full = which == "every" and kind == "classic"
    for number, case in enumerate(KINDS):
        if which == "few" and case.name not in STREAMED:
            continue
        without = kind == "classic" and (full or number % 2 == 1)
        if full or not without:
            yield case, LANE, {} if full and not number else FEW
        if without:
            yield case, (), {**FEW, ANSI: "false"}


def main(kind, which, file=None):
    began = time.perf_counter()
    spared = (*OTHER_EXTRAS, *(OF_SPARK_4 if pyspark.__version__ < "4" else ()))
    for module in pkgutil.walk_packages(fanlight.__path__, "fanlight."):
        if not module.name.startswith(spared):
            import_module(module.name)
    spark = start(kind)
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "rows")
        check = Check(spark, Path(folder) / "rows")
        batches = list(batches_of(kind, which))
        for case, by, settings in batches:
            check.batch(case, by, settings)
        full = which == "every" and kind == "classic"
        asked = streams_of(kind, check.version, batches, full=full)
        for first in range(0, len(asked), AT_ONCE):
            check.streams(asked[first : first + AT_ONCE])
        version, java = spark.version, spark.sql(JAVA).first()[0]
        spark.stop()
    for line in check.wrong:
        print("wrong:", line)
    if file:
        found = {"spark": version, "kind": kind, "java": java, "python": platform.python_version()}
        found |= {"pandas": metadata.version("pandas"), "refused": check.refused}
        found |= {"done": check.done, "wrong": check.wrong}
        Path(file).write_text(json.dumps(found), "utf-8")
    seconds = time.perf_counter() - began
    print(
        f"Spark {version}, {kind}: {check.done} answers, {len(check.wrong)} wrong, {seconds:.0f} s"
    )
    return 1 if check.wrong or not check.done else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
