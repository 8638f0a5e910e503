"""Lives of the program in ``child``: files arrive bit by bit, and it is killed at random moments.

A life ends when its driver is killed, JVM and Python. Before that, Python workers are killed, and
on a cluster executors. In the last life all files are there, and it ends by itself.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.soak import processes
from tests.soak.child import DIED
from tests.soak.streams import prepared, streams

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 900  # seconds for anything to happen, on a machine that has other work, too
TICK = 0.01


@dataclass
class Spark:
    """Where the streams run; ``roots`` are processes that run executors."""

    master: str = "local[8]"
    conf: dict[str, str] = field(default_factory=dict)
    roots: tuple[int, ...] = ()


class Soak:
    """A folder in which streams are run, and killed."""

    def __init__(self, folder, *, seed, pieces, all_shapes=False, only="", spark=None):
        self.folder, self.pieces = folder, pieces
        self.dice = random.Random(seed)
        self.spark = spark or Spark()
        self.all_shapes = all_shapes
        found = streams(pieces, all_shapes=all_shapes)
        self.streams = [one for one in found if re.search(only, one.name)]
        self.hits = Counter()
        self.child = None
        self.number = 0
        self.fed = Counter()
        prepared(folder, self.streams, pieces, seed)
        (folder / "failures").mkdir()

    @property
    def failures(self):
        """What queries have failed with, as far as they have."""
        return [json.loads(path.read_text()) for path in (self.folder / "failures").iterdir()]

    @property
    def log(self):
        return self.folder / "log"

    def begin(self, *, master, to_the_end=False):
        """A new life."""
        self.number += 1
        told = {
            "number": self.number,
            "names": [one.name for one in self.streams],
            "least": self.pieces,
            "all_shapes": self.all_shapes,
            "master": master,
            "conf": self.spark.conf,
            "to_the_end": to_the_end,
        }
        (self.folder / "life.json").write_text(json.dumps(told))
        paths = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
        with self.log.open("a") as log:
            self.child = subprocess.Popen(
                [sys.executable, "-m", "tests.soak.child", str(self.folder)],
                cwd=ROOT, env=paths, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def arrive(self, stream, count=1):
        """The next files of a stream, each by one move; no more than there are."""
        for _ in range(count):
            name = f"{self.fed[stream.name]:05}.parquet"
            for feed in stream.feeds:
                path = self.folder / stream.name / "later" / feed / name
                if path.exists():
                    path.rename(self.folder / stream.name / feed / name)
            self.fed[stream.name] += 1

    def logged(self, stream, log):
        """The micro-batches in a log of a stream's checkpoint: ``offsets``, ``commits``."""
        written = self.folder / stream.name / "checkpoint" / log
        if not written.exists():
            return -1
        return max((int(p.name) for p in written.iterdir() if p.name.isdigit()), default=-1)

    def at_work(self, stream):
        """Whether a micro-batch is planned and not done."""
        return self.logged(stream, "offsets") > self.logged(stream, "commits")

    def until(self, happened, what):
        """Looks very often; the program must not end before."""
        end = time.monotonic() + PATIENCE
        while not happened():
            assert not self.unexplained(), self.unexplained()[0]["error"][:2000]
            assert self.child.poll() is None, f"ended before {what}: {self.said()}"
            assert time.monotonic() < end, f"waited in vain for {what}: {self.said()}"
            time.sleep(TICK)

    def said(self):
        return self.log.read_text()[-2000:]

    def moment(self):
        """Waits for one: shortly after a stream has planned, or has done, a micro-batch."""
        stream = self.dice.choice(self.streams)
        log = self.dice.choice(("offsets", "offsets", "commits"))
        wanted = self.logged(stream, log) + self.dice.randint(1, 2)
        for one in self.streams:
            self.arrive(one)
        again = time.monotonic()

        def there():
            nonlocal again
            if time.monotonic() > again + 5:
                again = time.monotonic()
                self.arrive(stream)
            done = self.fed[stream.name] > self.pieces and not self.at_work(stream)
            return self.logged(stream, log) >= wanted or done

        self.until(there, f"{wanted} in {log} of {stream.name}")
        time.sleep(self.dice.choice((0, 0, 0.05, 0.2, 0.5)) * self.dice.random())

    def live(self, *, workers=1, executors=0):
        """One life, and its end."""
        master = self.spark.master
        if master.startswith("local[8") and self.dice.random() < 0.5:
            master = "local[8,4]"  # a task is tried again
        for one in self.streams:
            self.arrive(one)
        self.begin(master=master)
        try:
            started = self.folder / f"started-{self.number}"
            self.until(started.exists, "the start of all streams")
            for _ in range(workers):
                self.moment()
                self.strike_workers()
            for _ in range(executors):
                self.moment()
                self.strike_executor()
            self.moment()
        finally:
            self.hit("driver", self.streams)
            self.end()

    def roots(self):
        return [self.child.pid, *self.spark.roots]

    def strike_workers(self):
        """All Python workers; sometimes one of them before."""
        self.until(lambda: processes.workers(self.roots()), "a Python worker")
        if self.dice.random() < 0.5:
            one = self.dice.choice(processes.workers(self.roots()))
            self.hits["processes", "worker"] += processes.kill([one])
            self.moment()
        self.hit("worker", [one for one in self.streams if one.in_python])
        self.hits["processes", "worker"] += processes.kill(processes.workers(self.roots()))

    def strike_executor(self):
        self.until(lambda: processes.executors(self.spark.roots), "an executor")
        found = processes.executors(self.spark.roots)
        self.hit("executor", self.streams)
        self.hits["processes", "executor"] += processes.kill([self.dice.choice(found)])

    def hit(self, what, which):
        """Counts a blow for each stream, and whether it was within a micro-batch."""
        for one in which:
            self.hits[one.name, what] += 1
            self.hits[one.name, f"{what}, in a micro-batch"] += self.at_work(one)

    def end(self):
        """The driver at once: the JVM has the same process group."""
        os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()

    def finish(self):
        """The last life: what is wrong, by stream."""
        for one in self.streams:
            self.arrive(one, self.pieces + 1 - min(self.fed[one.name], self.pieces + 1))
        self.begin(master=self.spark.master, to_the_end=True)
        try:
            self.child.wait(PATIENCE * 4)
        finally:
            if self.child.poll() is None:
                self.end()
        assert self.child.returncode == 0, self.said()
        return json.loads((self.folder / "verdicts.json").read_text())

    def unexplained(self):
        """Failures that a kill does not explain."""
        return [one for one in self.failures if not DIED.search(one["error"])]
