"""The processes below a process, found by /proc, and which of them work for Spark."""

from __future__ import annotations

import os
import signal
from pathlib import Path

WORKER = ("pyspark.daemon", "pyspark.worker", "transform_with_state_driver_worker")
EXECUTOR = ("CoarseGrainedExecutorBackend",)


def parents():
    """The parent of each process that there is."""
    found = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                told = (path / "stat").read_text()
            except OSError:
                continue  # it has ended
            state, parent = told.rpartition(")")[2].split()[:2]
            if state != "Z":
                found[int(path.name)] = int(parent)
    return found


def below(roots):
    """All that a process has started, and what these have."""
    of, found, seen = parents(), [], set(roots)
    added = True
    while added:
        new = [pid for pid, parent in of.items() if parent in seen and pid not in seen]
        found += new
        seen.update(new)
        added = bool(new)
    return found


def called(pid, names):
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return False
    return any(name in line for name in names)


def workers(roots):
    """The Python workers: daemons, what they have forked, and those that plan state."""
    return [pid for pid in below(roots) if called(pid, WORKER)]


def executors(roots):
    return [pid for pid in below(roots) if called(pid, EXECUTOR)]


def kill(pids):
    """At once, and those that there still are; how many there were."""
    hit = 0
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
        hit += 1
    return hit
