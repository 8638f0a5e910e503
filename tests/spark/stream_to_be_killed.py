"""A program that runs a stream of each kind of state until it is killed: see test_recovery."""

from __future__ import annotations

import sys
from pathlib import Path

import fanlight as fl
from fanlight import agg
from tests.conftest import start
from tests.dataframes import readable, source

PAIR = ("began", "ts")
SPECS = {
    "time": fl.Sliding("4 minutes", "1 minute"),
    "rows": fl.Sliding(fl.rows(4), fl.rows(2)),
    "frames": fl.DeltaFrame({"v": 1.5}),
    "spans": fl.Sliding("4 minutes", "1 minute"),
    "spans in Python": fl.Sliding("4 minutes", "1 minute"),
}
TIMES = {"spans": PAIR, "spans in Python": PAIR}
STRATEGIES = {"spans in Python": "se-ml-slicing"}
DELAY, LONGEST = "3 minutes", 9  # minutes that an event lasts at most
TTP = "12 minutes"


def query(spark, folder, name):
    """Start the stream called ``name`` over the files in the folder ``in``."""
    df = source(spark, folder / "in", TTP if name in TIMES else DELAY)
    time = TIMES.get(name, "ts")
    windowed = fl.over(df, SPECS[name], time=time, by=["case", "k"], tiebreak=["seq"])
    result = windowed.using(STRATEGIES.get(name, "auto")).agg(
        n=agg.count(), s=agg.sum("v"), most=agg.max("v"), list=agg.collect_list("n")
    )
    writer = readable(result).writeStream.format("parquet").outputMode("append")
    writer = writer.option("checkpointLocation", str(folder / name / "checkpoint"))
    return writer.trigger(availableNow=True).start(str(folder / name / "out"))


if __name__ == "__main__":
    session = start()
    running = [query(session, Path(sys.argv[1]), name) for name in sys.argv[2:]]
    for one in running:
        one.awaitTermination()
