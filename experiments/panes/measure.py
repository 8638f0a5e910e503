"""Times and answers."""

from __future__ import annotations

import time

import numpy as np

from experiments import sessions

FLOOR = 0.05  # CPU seconds left after the scan: below it a ratio says nothing
BUDGET = 1.0  # seconds for each job, while it is run again


def fastest(runs, *functions, budget=0.0, clock=time.process_time):
    """The least CPU time of each, in seconds; in turns, so that a slow moment hits all of them.

    More runs than ``runs``, up to seven times as many, while they fit into ``budget`` seconds.
    """
    best = [float("inf")] * len(functions)
    start = time.perf_counter()
    done = 0
    while done < runs or (done < 7 * runs and time.perf_counter() - start < budget):
        for i, function in enumerate(functions):
            before = clock()
            function()
            best[i] = min(best[i], clock() - before)
        done += 1
    return best


def agree(one, other):
    """Whether two answers of kernels are the same, whatever the order of groups."""

    def ordered(answer):
        order = np.lexsort((answer.group, answer.window))
        return [part[order] for part in answer[:3]]

    return all(map(np.array_equal, ordered(one), ordered(other)))


def alike(one, other):
    """Whether two DataFrames have the same rows: as many, and the same hashes of them.

    Counted where the rows are; to bring a million windows to the driver takes longer than to make
    them.
    """

    def digest(frame):
        names = ", ".join(f"`{name}`" for name in sorted(frame.columns))
        hashed = frame.selectExpr(f"xxhash64({names}) as h")
        return hashed.selectExpr("count(1)", "bit_xor(h)", "sum(cast(h as decimal(38,0)))").first()

    first = digest(one)
    return first[0] > 0 and first == digest(other)


def sure(answers_agree, what):
    """Nothing is timed that is not right."""
    if not answers_agree:
        raise SystemExit(f"{what}: the two answers differ")


def run(frame):
    """All of a DataFrame, and nothing kept."""
    frame.write.format("noop").mode("overwrite").save()


def ratio(one, other):
    """How much of the other time the one takes; NaN if what is left of one is lost in the noise."""
    return one / other if min(one, other) > FLOOR else float("nan")


class Ways:
    """The time of each way to get one answer, less the scan of the input, as in the paper.

    The scan is a job that reads the same columns and counts their values. It is timed in turns with
    the ways: a JVM gets faster as it goes, so one timed at the start would take off too much.
    """

    def __init__(self, runs, frame, *columns):
        self.runs, self.clock = runs, sessions.clock(frame.sparkSession)
        self.scan = frame.selectExpr(*[f"count(`{name}`) as `{name}`" for name in columns])

    def seconds(self, *frames):
        """[scan, ways …]: least times, those of the ways without the scan."""
        jobs = [lambda frame=frame: run(frame) for frame in (self.scan, *frames)]
        scan, *times = fastest(self.runs, *jobs, budget=BUDGET * len(jobs), clock=self.clock)
        return [scan, *[t - scan for t in times]]

    def whole(self, *frames):
        """Least times of the ways, the scan in them."""
        jobs = [lambda frame=frame: run(frame) for frame in frames]
        return fastest(self.runs, *jobs, budget=BUDGET * len(jobs), clock=self.clock)
