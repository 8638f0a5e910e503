"""What a driver asks of a cluster: the doctor, frames of a batch, and the same of a stream.

python shipped.py FOLDER [REMOTE ARCHIVE]

What was found goes into FOLDER. With REMOTE the session is that of a Connect server, and ARCHIVE,
if it is not empty, is sent there.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

import fanlight as fl
from fanlight import agg

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def connected(remote, archive):
    """A session of the server, whose workers run the Python of the archive."""
    spark = SparkSession.builder.remote(remote).getOrCreate()
    if archive:
        spark.addArtifacts(f"{archive}#environment", archive=True)
        spark.conf.set("spark.sql.execution.pyspark.python", "environment/bin/python")
    return spark


def frames(rows):
    """Two numbers, and one, above 4: sums say which rows a frame has."""
    windows = fl.over(rows, fl.DeltaFrame({"v": 3}), time="ts", by="k")
    return windows.agg(n=agg.count(), total=agg.sum("v"))


def plain(df):
    return sorted([row.k, row.n, row.total] for row in df.where("closed").collect())


def answer(act):
    """What is found, or how an error ends."""
    try:
        return act()
    except Exception as error:  # noqa: BLE001 - whatever it is
        said = str(error)
        here = said.find("the Python of Spark's workers")
        return said[here:].split("\n", maxsplit=1)[0] if here >= 0 else said[:2_000]


def streamed(spark, folder, schema):
    rows = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(folder)
    with tempfile.TemporaryDirectory() as checkpoint:
        query = (
            frames(rows.withWatermark("ts", "0 seconds"))
            .writeStream.format("memory")
            .queryName("found")
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
    return plain(spark.table("found"))


def main(folder, remote="", archive=""):
    spark = connected(remote, archive) if remote else SparkSession.builder.getOrCreate()
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    spark.conf.set(PROVIDER, ROCKSDB)
    rows = spark.sql(
        "SELECT id % 2 AS k, timestamp_seconds(id) AS ts, id DIV 10 AS v FROM range(100)"
    )
    rows.repartition(1).write.parquet(f"{folder}/rows")
    told = fl.doctor(spark)
    found = {"missing": [one.what for one in told.missing], "doctor": str(told)}
    rows = spark.read.parquet(f"{folder}/rows")
    found["batch"] = answer(lambda: plain(frames(rows)))
    found["stream"] = answer(lambda: streamed(spark, f"{folder}/rows", rows.schema))
    Path(folder, "found.json").write_text(json.dumps(found), "utf-8")
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
