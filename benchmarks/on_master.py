"""Queries on one master, in a process of its own: a line of JSON for each.

``python -m benchmarks.on_master MASTER HEAP SCRATCH KIND:ROUNDS:FOLDER …``
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
import urllib.request

import fanlight as fl
from benchmarks.data import SCHEMA
from benchmarks.frames import DELTA
from benchmarks.sessions import BATCH_BYTES, ROCKSDB, UNCOUNTED
from benchmarks.windows import WINDOW
from fanlight import agg

CORES = "FANLIGHT_BENCHMARKS_CORES"  # those that this process and all below it may use
CALLS = {"n": agg.count(), "s": agg.sum("n"), "m": agg.max("v")}  # exact in every order
STATES = 4  # partitions of a stream's state
SLIDING = fl.Sliding("60 minutes", "1 minute")
LIST = [SLIDING, fl.Sliding("10 minutes", "1 minute"), fl.Sliding("1 minute")]
HOUR = fl.Trailing("1 hour")


def _windows(spec, *names):
    def made(df):
        found = fl.over(df, spec, time="ts", by="k", tiebreak=["n", "v"]).agg(**CALLS)
        return found.selectExpr(*names, *WINDOW)

    return made


def _trailing(df):
    calls = {f"{name}_before": call for name, call in CALLS.items()}
    found = fl.over(df, HOUR, time="ts", by="k", tiebreak=["n", "v"]).attach(**calls)
    return found.selectExpr("k", "ts", *calls)


FRAMES = fl.DeltaFrame({"v": DELTA})
BATCHES = {
    "sliding": _windows(SLIDING),
    "list": _windows(LIST, "query"),
    "frames": _windows(FRAMES),
    "trailing": _trailing,
}
# Rows of one key that hold for half a second or not, and rows that hold for one row or not.
HOLDS = "abs(hash(unix_millis(ts) div 500)) % 10 > 3"
KINDS_OF_ONE_KEY = {
    "threshold": lambda df: fl.over(df, fl.ThresholdFrame(HOLDS), time="ts"),
    "threshold, bytes counted": lambda df: fl.over(df, fl.ThresholdFrame(HOLDS), time="ts"),
    "short frames": lambda df: fl.over(df, fl.ThresholdFrame("v > 500"), time="ts"),
    "sessions": lambda df: fl.over(df.where(HOLDS), fl.Session("400 milliseconds"), time="ts"),
    "trailing hour": lambda df: fl.over(df, HOUR, time="ts"),
}


def _of_one_key(kind, way):
    def made(df):
        windows = KINDS_OF_ONE_KEY[kind](df).using(way)
        if kind == "trailing hour":
            return windows.attach(**{f"{name}_before": call for name, call in CALLS.items()})
        return windows.agg(**CALLS)

    return made


WAYS = ("arrow", "chunks")
ONE_KEY = {f"{kind}, {way}": _of_one_key(kind, way) for kind in KINDS_OF_ONE_KEY for way in WAYS}
STREAMS = {"stream of sliding": _windows(SLIDING), "stream of frames": _windows(FRAMES)}


def main():
    """Each query as often as told: what it took, spilled and answered."""
    master, heap, scratch, *asked = sys.argv[1:]
    if cores := os.environ.get(CORES):
        os.sched_setaffinity(0, {int(one) for one in cores.split(",")})
    spark = _session(master, heap, scratch)
    try:
        for one in asked:
            kind, rounds, folder = one.split(":")
            make = (STREAMS | BATCHES | ONE_KEY)[kind]
            run = _streamed if kind in STREAMS else _checked
            if kind in ONE_KEY and "counted" not in kind:
                spark.conf.set(BATCH_BYTES, UNCOUNTED)
            else:
                spark.conf.unset(BATCH_BYTES)
            ran = []
            for _ in range(int(rounds)):
                before = _stages(spark)
                began = time.perf_counter()
                answer, taken = run(spark, make, folder, scratch), time.perf_counter() - began
                ran.append((taken, answer, _since(_stages(spark), before)))
            taken, answer, told = min(ran)
            same = len({tuple(one[1]) for one in ran}) == 1
            print(
                json.dumps({"seconds": taken, "answer": answer, "same": same, **told}), flush=True
            )
    finally:
        spark.stop()


def _session(master, heap, scratch):
    """As a user has it, but for memory: adaptive, 200 partitions of a shuffle."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName("fanlight-benchmarks")
    for name, value in {
        "spark.driver.memory": heap,
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "1g",
        "spark.local.dir": scratch,
        "spark.ui.port": "0",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def _checked(spark, make, folder, _):
    return _checksum(make(spark.read.schema(SCHEMA).parquet(folder)))


def _streamed(spark, make, folder, scratch):
    """All files there are, one a micro-batch, into Parquet; its checksum is read from there."""
    spark.conf.set("spark.sql.shuffle.partitions", STATES)
    rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(folder)
    made = make(rows.withWatermark("ts", "10 seconds"))
    with tempfile.TemporaryDirectory(dir=scratch, ignore_cleanup_errors=True) as home:
        writer = made.writeStream.option("checkpointLocation", f"{home}/state")
        query = writer.trigger(availableNow=True).start(f"{home}/out")
        query.awaitTermination()
        answer = _checksum(spark.read.schema(made.schema).parquet(f"{home}/out"))
    spark.conf.unset("spark.sql.shuffle.partitions")
    return answer


def _checksum(df):
    """How many rows there are, and the sum of their hashes."""
    return list(df.selectExpr("count(1)", "sum(shiftright(xxhash64(*), 32))").first())


def _stages(spark):
    """What Spark's REST API says of the stages that have run, by their number."""
    time.sleep(1)  # its metrics come a little later than the result
    at = f"{spark.sparkContext.uiWebUrl}/api/v1/applications/{spark.sparkContext.applicationId}"
    with urllib.request.urlopen(f"{at}/stages") as told:  # noqa: S310
        return {one["stageId"]: one for one in json.load(told)}


METRICS = {
    "tasks": "numCompleteTasks",
    "memory": "memoryBytesSpilled",
    "disk": "diskBytesSpilled",
}


PARTS = ("sample", "divide", "cut", "join")


def _since(now, before):
    """What the new stages took in sum, and for how many seconds tasks ran in each part.

    Rows are sampled, divided among tasks, cut where they are, and what is at the seams is joined.
    """
    new = [stage for number, stage in now.items() if number not in before]
    rows = max((one["inputRecords"] for one in new), default=0)
    parts = dict.fromkeys(PARTS, 0.0)
    for stage in new:
        if stage["inputRecords"]:
            name = "divide" if stage["shuffleWriteRecords"] > rows / 4 else "sample"
        else:
            name = "cut" if stage["shuffleReadRecords"] > rows / 2 else "join"
        parts[name] += stage["executorRunTime"] / 1e3
    sums = {name: sum(one[metric] for one in new) for name, metric in METRICS.items()}
    return {**sums, "parts": parts}


if __name__ == "__main__":
    main()
