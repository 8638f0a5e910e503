"""A program that runs a stream of each kind of state until it is killed: see test_recovery."""

from __future__ import annotations

import sys
from pathlib import Path

import fanlight as fl
from tests.dataframes import readable, source
from tests.law import run
from tests.law.ask import Arrivals, Ask
from tests.law.data import TODAY, lasting
from tests.sparks import start

PAIR = ("began", "ts")
DELAY, LONGEST = "3 minutes", 9  # minutes that an event lasts at most
TTP = "12 minutes"
TIME = fl.Sliding("4 minutes", "1 minute")
DATA = lasting(TIME, 6, (TODAY,), longest=LONGEST)
REQUESTS = {"n": ("count",), "s": ("sum", "v"), "most": ("max", "v"), "list": ("collect_list", "n")}


def ask(kind, spec, time="ts", strategy="auto"):
    how = Arrivals(delay=TTP if time == PAIR else DELAY)
    return Ask(kind, "killed", spec, DATA, REQUESTS, strategy, time, arrivals=how)


ASKS = {
    "time": ask("sliding", TIME),
    "rows": ask("sliding", fl.Sliding(fl.rows(4), fl.rows(2))),
    "frames": ask("frames", fl.DeltaFrame({"v": 1.5})),
    "spans": ask("spanning", TIME, PAIR),
    "spans in Python": ask("spanning", TIME, PAIR, "se-ml-slicing"),
}


def query(spark, folder, name):
    """Start the stream called ``name`` over the files in the folder ``in``."""
    asked = ASKS[name]
    result = run.query(asked, source(spark, folder / "in", asked.arrivals.delay))
    writer = readable(result).writeStream.format("parquet").outputMode("append")
    writer = writer.option("checkpointLocation", str(folder / name / "checkpoint"))
    return writer.trigger(availableNow=True).start(str(folder / name / "out"))


if __name__ == "__main__":
    session = start()
    running = [query(session, Path(sys.argv[1]), name) for name in sys.argv[2:]]
    for one in running:
        one.awaitTermination()
