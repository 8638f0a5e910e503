"""The program that is killed: all streams at once, until there is nothing more or it is killed.

``python -m tests.soak.child FOLDER``; ``life.json`` in the folder says which streams, on which
Spark, and whether all files are there: then it ends, and ``verdicts.json`` says what is wrong with
the answers.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pyspark.errors import PySparkException

import fanlight as fl
from tests.helpers.dataframes import SENTINEL, collected
from tests.helpers.sparks import start
from tests.law.comparison import differences
from tests.soak import upserted
from tests.soak.streams import streams

# What Spark says where a worker or an executor has died.
DIED = re.compile(
    r"worker (failed )?to connect back|exited unexpectedly|Connection reset|Broken pipe|"
    r"EOFException|Socket(Exception| is closed)|ClosedChannelException|connection_closed|"
    r"ExecutorLostFailure|Executor heartbeat timed out|Connection refused|"
    r"Failed to (send|receive)|shut ?down|java\.io\.IOException|"
    r"STREAMING_PYTHON_RUNNER_INITIALIZATION_COMMUNICATION_FAILURE"  # Spark waits ten seconds
)
MOST = 60  # a query is not started more often
AT_ONCE, FIRST = 3, 20  # streams that start at one time, and the seconds that one has to do so
AT_LAST = 10  # files that the last life takes at a time: how it ends is not what is tried
POLLING = {"spark.sql.streaming.pollingDelay": "200ms"}  # there are many streams


class Life:
    """One run of the program."""

    def __init__(self, folder):
        self.folder = folder
        self.told = json.loads((folder / "life.json").read_text())
        self.lock = threading.Lock()
        self.noted = 0
        self.starting = threading.Semaphore(AT_ONCE)
        self.waiting = set(self.told["names"])
        self.spark = start(master=self.told["master"], more={**POLLING, **self.told["conf"]})

    def note(self, **what):
        """A file of its own, there at once or not at all: this program may be killed meanwhile."""
        with self.lock:
            self.noted += 1
            written = self.folder / f"failing-{self.told['number']}"
            written.write_text(json.dumps(what))
            written.rename(self.folder / "failures" / f"{self.told['number']}-{self.noted}")

    def started(self, name):
        """Says when all have started."""
        with self.lock:
            self.waiting.discard(name)
            if not self.waiting:
                (self.folder / f"started-{self.told['number']}").touch()

    def begin(self, stream, result):
        there = self.folder / stream.name
        writer = result.writeStream.option("checkpointLocation", str(there / "checkpoint"))
        if self.told["to_the_end"]:
            writer = writer.trigger(availableNow=True)
        if stream.key:
            upsert = fl.upsert(f"sqlite:///{there}/kept.db", table="kept", key=list(stream.key))
            return writer.outputMode("update").foreachBatch(upsert).start()
        return writer.format("parquet").outputMode("append").start(str(there / "out"))

    def run(self, stream):
        """Until it ends; again from its checkpoint, as a user would, where it has failed."""
        for _ in range(MOST):
            try:
                with self.starting:
                    files = AT_LAST if self.told["to_the_end"] else 1
                    result = stream.result(self.spark, self.folder, files)
                    running = self.begin(stream, result)
                    under_way(running)
                self.started(stream.name)
                running.awaitTermination()
            except PySparkException as error:
                self.note(life=self.told["number"], stream=stream.name, error=str(error))
                if not DIED.search(str(error)):
                    return ["failed"]
            else:
                return self.judged(stream, result)
        return [f"started {MOST} times"]

    def judged(self, stream, result):
        """What is wrong with what is in the sink."""
        there = self.folder / stream.name
        if stream.key:
            rows = upserted.kept(there / "kept.db")
        else:
            rows = collected(self.spark.read.schema(result.schema).parquet(str(there / "out")))
        rows = [row for row in rows if row.get("case") != SENTINEL["case"]]
        expected = stream.wanted()
        return differences(rows, expected) if expected else ["nothing to compare"]


def under_way(running):
    """Waits until it has done something: Spark gives Python ten seconds to start, and no more."""
    end = time.monotonic() + FIRST
    while time.monotonic() < end and running.isActive and running.lastProgress is None:
        time.sleep(0.1)


def main(folder):
    life = Life(folder)
    chosen = [
        one
        for one in streams(life.told["least"], all_shapes=life.told["all_shapes"])
        if one.name in life.told["names"]
    ]
    with ThreadPoolExecutor(len(chosen)) as pool:
        found = dict(zip([one.name for one in chosen], pool.map(life.run, chosen), strict=True))
    (folder / "verdicts.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
