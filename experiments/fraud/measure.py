"""Each engine in a process of its own, in turn with the others: seconds on the wall and of CPU."""

from __future__ import annotations

import os
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context

from experiments import sessions
from experiments.fraud.engines import ENGINES, ON_SPARK

WARM = 2  # runs before those that count; the first is told, too
RUNS = 3


def run(name, source, target):
    """Seconds on the wall, and CPU seconds of this process and all that it has started."""
    if name in ON_SPARK:
        sessions.start("fraud")
    cpu, began = sessions.cpu_seconds(os.getpid()), time.perf_counter()
    ENGINES[name](source, target)
    return time.perf_counter() - began, sessions.cpu_seconds(os.getpid()) - cpu


def race(source, targets):
    """For each engine the seconds of its first run, and the least seconds and CPU seconds."""
    runs = {name: [] for name in targets}
    with ExitStack() as stack:
        children = {
            name: stack.enter_context(ProcessPoolExecutor(1, get_context("spawn")))
            for name in targets
        }
        for _ in range(WARM + RUNS):
            for name, target in targets.items():
                runs[name].append(children[name].submit(run, name, source, target).result())
                print(f"{name}: {runs[name][-1][0]:.2f} s", flush=True)
    return {name: _told(told[0], told[WARM:]) for name, told in runs.items()}


def once(source, targets):
    """The same of one run in this process."""
    runs = {name: run(name, source, target) for name, target in targets.items()}
    return {name: _told(one, [one]) for name, one in runs.items()}


def _told(first, runs):
    seconds, cpu = (min(part) for part in zip(*runs, strict=True))
    return {"first run, s": first[0], "seconds": seconds, "CPU seconds": cpu}
