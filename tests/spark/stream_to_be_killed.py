"""A program that runs a stream of each kind of state until it is killed: see test_recovery.

It runs them over the files in the folder ``in`` to the end, and then over those in ``later``, too.
It is killed in the second part, where all have state. When that part begins it says in ``begun``
how many micro-batches each stream has planned before.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fanlight as fl
from tests.dataframes import patiently, readable, source
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


def count(folder, name, log):
    """How many micro-batches are in a log of a stream's checkpoint: ``offsets``, ``commits``."""
    written = folder / name / "checkpoint" / log
    return sum(path.name.isdigit() for path in written.iterdir()) if written.exists() else 0


def run_all(spark, folder):
    """All streams at once; one goes on from its checkpoint where a Python worker was late."""

    def to_the_end(name):
        patiently(lambda: query(spark, folder, name).awaitTermination())

    with ThreadPoolExecutor(len(ASKS)) as pool:
        list(pool.map(to_the_end, ASKS))


def main(folder):
    """Both parts; no stream looks for files while they are moved."""
    session = start()
    run_all(session, folder)
    for path in sorted((folder / "later").iterdir()):
        path.rename(folder / "in" / path.name)
    planned = folder / "planned"
    planned.write_text(json.dumps({name: count(folder, name, "offsets") for name in ASKS}))
    planned.rename(folder / "begun")
    run_all(session, folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
