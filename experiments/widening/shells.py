"""Remote shells hidden among recorded system calls, and how long it takes to know of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

import fanlight as fl
from experiments.widening.record import recorded

SECOND = 1_000_000
BEGIN = 1_700_000_000 * SECOND
EPISODE = fl.Episode(
    """
    accept fd=x => y
    dup fd=y => 0 | dup fd=y => 1 | dup fd=y => 2
    execve exe=z
    """,
    event="call",
    result="returned",
)
SCHEMA = pa.schema(
    [
        ("ts", pa.timestamp("us", "UTC")),
        ("process", pa.int64()),
        ("call", pa.string()),
        ("fd", pa.int64()),
        ("returned", pa.int64()),
        ("exe", pa.string()),
    ]
)


@dataclass(frozen=True)
class Hidden:
    """One episode: whose it is, its descriptor, the times of its first and last row."""

    process: int
    descriptor: int
    started: int
    ended: int
    asked: int  # the duration that was asked for

    @property
    def duration(self):
        return self.ended - self.started


def shell(descriptor, random):
    """The five calls, the three in the middle in any order."""
    middle = [("dup", descriptor, one, None) for one in random.permutation(3).tolist()]
    return [("accept", 3, descriptor, None), *middle, ("execve", None, 0, "sh")]


def ordinary(count, start=0):
    """Recorded calls, over and over."""
    calls = recorded()
    size = len(calls["call"])
    rows = list(zip(*(calls[name] for name in ("call", "fd", "returned", "exe")), strict=True))
    return [rows[(start + i) % size] for i in range(count)]


def phases(times, cycle, random):
    """Where in a cycle of all windows the episodes begin: one at random in each equal part."""
    return [int((part + random.random()) * cycle / times) for part in range(times)]


def one_stream(durations, times, *, seed=1):
    """The paper's setting: one process, one call a second; each duration so many times.

    An episode of d seconds is one of d + 1 rows, for other calls come between.
    """
    random = np.random.default_rng(seed)
    wanted = [(d, phase) for d in durations for phase in phases(times, 256, random)]
    random.shuffle(wanted)
    room = 256 + 2 * max(durations)
    calls = ordinary(len(wanted) * room + room)
    for number, (duration, phase) in enumerate(wanted):
        start = number * room + (phase - BEGIN // SECOND - number * room) % 256
        inner = np.sort(random.choice(np.arange(1, duration), 3, replace=False))
        for place, call in zip(
            (0, *inner.tolist(), duration), shell(1000 + number, random), strict=True
        ):
            calls[start + place] = call
    stamps = BEGIN + SECOND * np.arange(len(calls))
    return table(stamps, np.zeros(len(calls), np.int64), calls), known(calls, stamps, durations)


def known(calls, stamps, durations):
    """The episodes that are there: the first execve behind the last dup ends one."""
    found, open_ones = [], {}
    for at, (call, fd, returned, _) in enumerate(calls):
        if call == "accept" and returned >= 1000:
            open_ones[returned] = [at, set()]
        elif call == "dup" and fd in open_ones:
            open_ones[fd][1].add(returned)
        elif call == "execve":
            for descriptor in [d for d, (_, seen) in open_ones.items() if len(seen) == 3]:
                first, _ = open_ones.pop(descriptor)
                lasted = int(stamps[at] - stamps[first])
                asked = min(d * SECOND for d in durations if d * SECOND >= lasted)
                found.append(Hidden(0, descriptor, int(stamps[first]), int(stamps[at]), asked))
    return found


def many_processes(durations, times, busy, *, between=90, seed=2):
    """Slow intruders, each a process with few other calls, beside busy processes."""
    random = np.random.default_rng(seed)
    stamps, owners, calls, hidden = [], [], [], []
    day, cycle = 86_400 * SECOND, 2**18 * SECOND
    wanted = [(d, phase) for d in durations for phase in phases(times, cycle, random)]
    for number, (duration, phase) in enumerate(wanted):
        process, descriptor = 10_000 + number, 1000 + number
        start = BEGIN + (phase - BEGIN) % cycle
        lasts = duration * SECOND
        inner = np.sort(random.integers(1, lasts, 3)).tolist()
        places = [start, *(start + one for one in inner), start + lasts]
        noise = int(random.integers(0, between + 1))
        others = [row for row in ordinary(noise, number * 97) if row[0] != "execve"]
        places += (start + random.integers(1, lasts, len(others))).tolist()
        stamps += places
        owners += [process] * len(places)
        calls += [*shell(descriptor, random), *others]
        hidden.append(Hidden(process, descriptor, start, start + lasts, lasts))
    for process in range(busy):
        rows = ordinary(20_000, process * 331)
        stamps += (BEGIN + random.integers(0, 3 * day, len(rows))).tolist()
        owners += [process] * len(rows)
        calls += rows
    return table(np.array(stamps), np.array(owners), calls), hidden


def table(stamps, owners, calls):
    call, fd, returned, exe = zip(*calls, strict=True)
    times = pa.array(stamps).cast(pa.timestamp("us", "UTC"))
    return pa.table([times, owners, call, fd, returned, exe], schema=SCHEMA)


def found_by(frame, spec, *, by=()):
    """What the episode finds: (process, descriptor) -> (started, ended, found at, level)."""
    columns = [*by, "y", *(f"unix_micros({c})" for c in ("started", "ended", "found_at"))]
    rows = fl.over(frame, spec, time="ts", by=list(by)).detect(EPISODE)
    matches = [tuple(row) for row in rows.selectExpr(*columns, "level").collect()]
    if not by:
        matches = [(0, *match) for match in matches]
    found = {(process, y): rest for process, y, *rest in matches}
    if len(found) != len(matches):
        raise SystemExit("an episode is reported twice")
    return found


def judged(hidden, found):
    """For each duration: how many, how many were found, the mean delay and duration; invented."""
    there = {(one.process, one.descriptor): one for one in hidden}
    invented = [place for place in found if place not in there]
    rows = []
    for asked in sorted({one.asked for one in hidden}):
        mine = [one for one in hidden if one.asked == asked]
        hits = [(one, found.get((one.process, one.descriptor))) for one in mine]
        hits = [(one, hit) for one, hit in hits if hit]
        wrong = [one for one, hit in hits if tuple(hit[:2]) != (one.started, one.ended)]
        if wrong:
            raise SystemExit(f"found with other bounds: {wrong[:3]}")
        delays = [hit[2] - one.ended for one, hit in hits]
        rows.append(
            {
                "duration": float(np.mean([one.duration for one in mine])) / SECOND,
                "episodes": len(mine),
                "found": len(hits),
                "delay": float(np.mean(delays)) / SECOND if delays else float("nan"),
            }
        )
    return rows, invented
