"""The most memory that a run holds, process by process: sampled from /proc while it runs."""

from __future__ import annotations

import os
import re
import threading
from dataclasses import dataclass
from pathlib import Path

from benchmarks.sessions import GC_LOG

EVERY = 0.1  # seconds from one sample to the next
PAGE = os.sysconf("SC_PAGE_SIZE")
PROC = Path("/proc")
SHARE = re.compile(r"^Pss: +(\d+) kB$", re.MULTILINE)
# A remark is logged with an arrow, too, but frees nothing.
COLLECTED = re.compile(r"Pause (?:Young|Full).*->(\d+)M\(")


@dataclass(frozen=True)
class Held:
    """Bytes, each the most at any moment; 0 where there is no /proc to tell.

    Spark's driver and executors are one process on one machine. Its heap grows as it may before
    anything is thrown away; what collections leave on it says more of what a query needs.
    """

    jvm: int = 0  # resident set
    heap: int = 0  # what a collection left
    workers: int = 0  # Python's: resident sets added up, pages that they share once
    driver: int = 0  # the Python that asks
    together: int = 0  # JVM, workers and driver at the same moment


class Watch:
    """Samples while it is open, and says in ``held`` what was there at most."""

    def __init__(self, spark):
        self.spark, self.held = spark, Held()
        self.samples, self.ended = [], threading.Event()
        self.thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self):
        self.log = GC_LOG.stat().st_size if GC_LOG.exists() else 0
        # What earlier queries left goes, and the heap with it: else their peak would be seen again.
        self.spark.sparkContext._jvm.System.gc()
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        log = GC_LOG.read_text("utf-8")[self.log :] if GC_LOG.exists() else ""
        jvm, workers, driver, together = (
            max(one) for one in zip(*((*one, sum(one)) for one in self.samples), strict=True)
        )
        self.held = Held(jvm, left(log), workers, driver, together)

    def _sample(self):
        while True:
            self.samples.append(resident(processes(), os.getpid()))
            if self.ended.wait(EVERY):
                return


def left(log):
    """The most bytes that a collection left on the heap, from the JVM's log of them."""
    return max(map(int, COLLECTED.findall(log)), default=0) << 20


def processes():
    """Every process there is: its name, its parent and its resident set in bytes, by number."""
    found = {}
    for path in PROC.glob("[0-9]*"):
        try:
            text = (path / "stat").read_text("utf-8", "replace")
        except OSError:  # it has ended
            continue
        found[int(path.name)] = parsed(text)
    return found


def parsed(stat):
    """Name, parent and resident set of a line of /proc/<pid>/stat; a name may hold anything."""
    name, rest = stat.partition("(")[2].rsplit(")", 1)
    fields = rest.split()
    return name, int(fields[1]), int(fields[21]) * PAGE


def proportional(number, size):
    """The resident set of a process with its part of shared pages; ``size`` if that is not told.

    Workers share the libraries that they have loaded, which are most of what they hold.
    """
    try:
        told = SHARE.search((PROC / str(number) / "smaps_rollup").read_text("utf-8"))
    except OSError:  # it has ended, or this system does not say
        return size
    return int(told[1]) << 10 if told else size


def resident(found, own, part=proportional):
    """Bytes of the JVM below this process, of the Python workers below that, and of this one.

    What else the JVM starts is not counted: until it is another program it seems as large as the
    JVM, whose memory it shares, and is called like the thread that started it.
    """
    jvm = workers = 0
    for number, (_, _, size) in found.items():
        if number == own:
            continue
        names = _names(found, number, own)
        if names.count("java") == 1 and names[0] == "java":
            jvm += size
        elif "java" in names and names[0].startswith("python"):
            workers += part(number, size)
    return jvm, workers, found[own][2] if own in found else 0


class LargestWorker:
    """Samples while it is open: the most that a Python worker below this process has held."""

    def __init__(self):
        self.most, self.ended = 0, threading.Event()
        self.thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def take(self):
        """Bytes since the last time that this was asked."""
        most, self.most = self.most, 0
        return most

    def _sample(self):
        while not self.ended.wait(EVERY):
            found, own = processes(), os.getpid()
            for number, (name, _, size) in found.items():
                if name.startswith("python") and "java" in _names(found, number, own):
                    self.most = max(self.most, size)


def _names(found, number, own):
    """The names from a process up to this one, which is not among them; none if it is not below."""
    names = []
    while number != own:
        if number not in found:
            return []
        name, number, _ = found[number]
        names.append(name)
    return names
