"""One technique over one stream: how many events a second, CPU time, memory; in a process apart."""

from __future__ import annotations

import os
import pickle
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from experiments.spanning import levels, techniques

OURS = "levels"
SINGLE = ("tuple-buckets", "aggregate-buckets", "sweeping", "se-slicing", OURS)
LIMIT = 150_000_000  # steps that a run may take; more are not waited for


class Run(NamedTuple):
    """What a run took; None where it was not run."""

    rate: float  # events a second of CPU time
    cpu: float  # seconds
    memory: float  # MB on top of the events
    result: tuple  # inserted, released, deleted, late


def run(technique, stream, length, slide, ttp, height=7):
    """The kernel's answer."""
    given = (stream.start, stream.stop, stream.value, length, slide, ttp)
    if technique == OURS:
        return levels.levels(*given)
    return techniques.run(technique, *given, height=height)


def steps(technique, stream, length, slide, height):
    """About how many steps a run takes, to leave out those that nobody waits for."""
    mean = float((stream.stop - stream.start).mean())
    events, windows = len(stream.stop), (stream.stop[-1] - stream.start[0]) / slide
    slices = 2 if length % slide else 1
    if technique.endswith("buckets"):
        return events * (mean + length) / slide
    if technique == "se-slicing":
        return events * mean * slices / slide + windows * slices * length / slide
    if technique == "se-ml-slicing":
        inserted = events * mean * slices / slide / height
        return inserted + windows * height * (slices * length / slide + height / 2)
    return 10.0 * events


def measured(technique, stream, length, slide, ttp, height=7):
    """A run in a child process, whose memory is its own; None if it would take too long."""
    if steps(technique, stream, length, slide, height) > LIMIT:
        return None
    few = type(stream)(*(part[:100] for part in stream))
    run(technique, few, length, slide, ttp, height)  # compiled before the fork
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        before = _memory("VmRSS")
        # One thread, nothing to wait for: CPU time is the time it takes on a machine of its own.
        cpu = time.process_time()
        found = run(technique, stream, length, slide, ttp, height)
        cpu = time.process_time() - cpu
        counts = (found.inserted, found.released, found.deleted, found.late)
        told = Run(len(stream.stop) / cpu, cpu, _memory("VmHWM") - before, counts)
        with os.fdopen(write, "wb") as pipe:
            pickle.dump(told, pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        told = pickle.load(pipe)  # noqa: S301 - our own child
    os.waitpid(child, 0)
    return told


def _memory(name):
    status = Path("/proc/self/status").read_text("ascii").splitlines()
    line = next(line for line in status if line.startswith(name))
    return int(line.split()[1]) / 1000


def agree(stream, length, slide, ttp, height=7):
    """Nothing is timed that is not right: all techniques give one answer."""
    first = run(OURS, stream, length, slide, ttp)
    for technique in techniques.NAMES:
        other = run(technique, stream, length, slide, ttp, height)
        same = np.array_equal(first.counts, other.counts)
        same &= np.array_equal(first.most, other.most) and np.allclose(first.sums, other.sums)
        if not same or first.late or other.late:
            raise SystemExit(f"{technique}: another answer than {OURS}")
