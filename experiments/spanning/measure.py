"""One technique over one stream: how many events a second, CPU time, memory; in a process apart."""

from __future__ import annotations

import ctypes
import os
import pickle
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from experiments.spanning import levels, techniques

OURS = "levels"
SINGLE = ("tuple-buckets", "aggregate-buckets", "sweeping", "se-slicing", OURS)
# Seconds of CPU that a run may take: where all events would take longer, fewer are given, though
# never less than keep a technique busy for some time after its first windows have been released.
BUDGET = 4.0
SETTLED = 3  # times the reach of an event and its windows, TTP included
STEP = {"tuple-buckets": 80e-9, "sweeping": 30e-9}  # seconds a step, roughly
ANY_STEP = 1.5e-9
REPEATED = 0.5  # a run is repeated for so many seconds, at most MOST times; the best one counts
MOST = 5


class Run(NamedTuple):
    """What a run took; None where it was not run."""

    rate: float  # events a second of CPU time, the best of some runs
    cpu: float  # seconds
    memory: float  # MB on top of the events
    result: tuple  # inserted, released, deleted, late
    events: int  # how many were given
    fewer: bool  # than the stream has


def run(technique, stream, length, slide, ttp, height=7):
    """The kernel's answer."""
    given = (stream.start, stream.stop, stream.value, length, slide, ttp)
    if technique == OURS:
        return levels.levels(*given)
    return techniques.run(technique, *given, height=height)


def steps(technique, stream, length, slide, height):
    """About how many steps a run takes."""
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


def fitting(technique, stream, length, slide, ttp, height):
    """How many of the stream's events a run may be given; 0 where that is too few to tell."""
    events = len(stream.stop)
    each = steps(technique, stream, length, slide, height) / events
    most = int(BUDGET / (each * STEP.get(technique, ANY_STEP)))
    if most >= events:
        return events
    lasts = float((stream.stop - stream.start).mean())
    pace = (stream.stop[-1] - stream.stop[0]) / events  # chronons an event
    return most if most * pace >= SETTLED * (lasts + length + ttp) else 0


def measured(technique, stream, length, slide, ttp, height=7):
    """The best of some runs; over fewer events, or None, where all of them would take too long."""
    events = fitting(technique, stream, length, slide, ttp, height)
    if not events:
        return None
    part = type(stream)(*(column[:events] for column in stream))
    few = type(stream)(*(column[:100] for column in stream))
    run(technique, few, length, slide, ttp, height)  # compiled before the fork
    runs = [_child(technique, part, length, slide, ttp, height)]
    while len(runs) < MOST and sum(told.cpu for told in runs) < REPEATED:
        runs.append(_child(technique, part, length, slide, ttp, height))
    best = max(runs, key=lambda told: told.rate)
    return best._replace(memory=max(told.memory for told in runs), fewer=events < len(stream.stop))


def _child(technique, stream, length, slide, ttp, height):
    """A run in a child process, whose memory is its own."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        # What the parent has freed would be taken again, and not be seen.
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5", "ascii")  # VmHWM starts again
        before = _memory("VmRSS")
        # One thread, nothing to wait for: CPU time is the time it takes on a machine of its own.
        cpu = time.process_time()
        found = run(technique, stream, length, slide, ttp, height)
        cpu = time.process_time() - cpu
        counts = (found.inserted, found.released, found.deleted, found.late)
        events = len(stream.stop)
        told = Run(events / cpu, cpu, _memory("VmHWM") - before, counts, events, fewer=False)
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
