"""A batch whose rows are divided among the tasks of a cluster, in a process of its own.

``python -m tests.soak.divided MASTER``: half of the rows are of one key. Each answer is a line.
"""

from __future__ import annotations

import json
import sys

from pyspark.sql import SparkSession

import fanlight as fl
from fanlight import agg
from tests.soak.cluster import conf

ROWS, KEYS = 1_500_000, 20_000
SPECS = {
    "threshold": fl.ThresholdFrame("v > 30"),
    "sessions": fl.Session("2 seconds", min_rows=3),
}


def rows(spark):
    """Half of the rows are of key 0; some times are equal, and some values null."""
    return spark.range(ROWS, numPartitions=8).selectExpr(
        "timestamp_millis(id * 400 div 3 * 3 + id div 1000 * 9000) AS ts",
        f"if(id % 2 = 0, 0, hash(id) % {KEYS}) AS k",
        "nullif(abs(hash(id div 7)) % 100, 99) AS v",
    )


def answers(df):
    """The number of frames and the sum of their hashes, by spec and strategy."""
    for name, spec in SPECS.items():
        for strategy in ("arrow", "chunks"):
            windows = fl.over(df, spec, time="ts", by="k").using(strategy)
            found = windows.agg(n=agg.count(), s=agg.sum("v"), m=agg.max("v"))
            told = found.selectExpr("count(1)", "sum(shiftright(xxhash64(*), 32))").first()
            yield name, strategy, list(told)


def main(master):
    builder = SparkSession.builder.master(master)
    for name, value in conf().items():
        builder = builder.config(name, value)
    spark = builder.config("spark.sql.shuffle.partitions", 16).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    print("began", flush=True)
    for answer in answers(rows(spark)):
        print(json.dumps(answer), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
