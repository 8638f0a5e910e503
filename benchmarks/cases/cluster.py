"""One core, two cores, and a standalone cluster of two workers, on the same machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.data import KEYS, SMALL, table
from benchmarks.growth.memory import LargestWorker
from benchmarks.on_master import BATCHES, CORES, STATES, STREAMS
from benchmarks.timing import DisagreementError, Page, Result, Row
from scripts.cluster import cluster as standalone

SKEWED = 2  # one of so many rows is of one key
LONG, MORE = ("sliding", "frames"), 10  # kinds that are asked of so many times the rows, too
ROUNDS = 2
ONE, TWO, WORKERS = "local[1]", "local[2]", "two workers"
HEAPS = {ONE: "1g", TWO: "2g", WORKERS: "1g"}  # of the driver, which locally runs the tasks
TEXT = f"""\
The same queries on `local[1]`, on `local[2]` and on a standalone cluster: a master and two workers
with an executor of one core each, all on one machine, which has to run them all. There is 1 GB of
heap for each core: for each executor, 1 GB for `local[1]`, and 2 GB for `local[2]`; the driver of
the cluster has 1 GB and runs no task. One of the three runs at a time, in processes of its own.
What is not said here is as Spark has it: shuffles of 200 partitions, which adaptive execution
coalesces. Streams, where it cannot, have {STATES}.

Rows are made up, in Parquet files: a timestamp, an int key with {KEYS} values, a double and an int,
over one day. In *skewed* data half of all rows are of one key, besides its share of the others.
Windows have count, sum and max. *sliding* is windows of 60 minutes every minute; *list* is these,
windows of 10 minutes every minute and windows of 1 minute, in one query; *frames* is delta frames,
which go through Python as Arrow batches; *trailing* is each row with the hour before it. Streams
take one of ten files a micro-batch, and write Parquet.

Seconds are from the call of `over` until a checksum of the result is there: how many rows it has,
and the sum of the hashes of these rows. All must have the same checksum, in every round, or nothing
is written. The best of {ROUNDS} rounds counts, and {MORE} times as many rows have one round, after
those with fewer. *Tasks* and *spilled* are those of that round as the REST API of Spark's UI has
them: the memory that was freed by spilling, and the bytes that were written to disk for it."""


def cluster(bench):
    """Every engine on one core, on two, and on two workers, with skew and spill."""
    rows = SMALL if bench.smoke else bench.table.rows
    asked = [(kind, rows, SKEWED) for kind in (LONG if bench.smoke else (*BATCHES, *STREAMS))]
    if not bench.smoke:
        even, more = ([(kind, *of) for kind in LONG] for of in ((rows, 0), (MORE * rows, SKEWED)))
        asked = [*even, *asked, *more]
    tables = {
        of: table(bench.spark, of[0], files=10, skewed=of[1]) for of in {one[1:] for one in asked}
    }
    queries = {
        one: f"{one[0]}:{ROUNDS if rows == one[1] > SMALL else 1}:{tables[one[1:]].folder}"
        for one in asked
    }
    try:
        return summed(everywhere(bench, queries))
    finally:
        for (number, _), made in tables.items():
            if number > rows:
                shutil.rmtree(made.folder)


def everywhere(bench, queries, *, pinned=False):
    """What each master says of each query, by master; ``pinned`` to as many cores as it has.

    Each worker of the cluster has a core of its own then, which its Python shares with Spark.
    """
    with tempfile.TemporaryDirectory(prefix="fanlight-benchmarks-") as scratch:
        found = {}
        for where in (ONE, WORKERS) if bench.smoke else HEAPS:
            home = Path(scratch) / where.replace(" ", "-")
            home.mkdir()
            if where == WORKERS:
                with standalone(home) as there:
                    for core, worker in enumerate(there.workers if pinned else ()):
                        pin(worker, {core})
                    found[where] = _asked(bench, where, there.url, queries, home)
            else:
                cores = "0" if pinned and where == ONE else ""
                found[where] = _asked(bench, where, where, queries, home, cores)
            shutil.rmtree(home, ignore_errors=True)
    return found


def pin(process, cores):
    """Have all threads of a process, and what they start, run on these cores alone."""
    for thread in Path(f"/proc/{process}/task").iterdir():
        os.sched_setaffinity(int(thread.name), cores)


def _asked(bench, where, master, queries, home, cores=""):
    """The answers of a master to all queries, from a process that may be held to some cores."""
    command = [sys.executable, "-m", "benchmarks.on_master", master, HEAPS[where], str(home)]
    found, log = {}, home / "stderr"
    with (
        log.open("w") as said,
        LargestWorker() as largest,
        subprocess.Popen(
            [*command, *queries.values()],
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            env={**os.environ, CORES: cores},
        ) as child,
    ):
        lines = (line for line in child.stdout if line.startswith('{"seconds"'))
        for one, line in zip(queries, lines, strict=False):
            found[one] = {**json.loads(line), "worker": largest.take()}
            bench.say(f"  {', '.join(_line(one, where, found[one]))}")
    if child.returncode or len(found) < len(queries):
        raise RuntimeError(f"{where}: {log.read_text()[-2000:]}")
    return found


def summed(found):
    """The ratios, and all that was measured; the answers must be the same."""
    grown, listed, rows = [], [], []
    others = [where for where in found if where != ONE]
    for one, first in found[ONE].items():
        answers = {json.dumps(of[one]["answer"]) for of in found.values()}
        if len(answers) > 1 or not all(of[one]["same"] for of in found.values()):
            raise DisagreementError(f"{_named(one)}: {answers}")
        taken = {where: of[one]["seconds"] for where, of in found.items()}
        case = f"cluster, {', '.join(_named(one))} rows"
        rows.append(Row(case, WORKERS, taken[WORKERS], ONE, taken[ONE]))
        faster = (f"{first['seconds'] / taken[where]:.2f}" for where in others)
        grown.append([*_named(one), *faster])
        listed += [_line(one, where, of[one]) for where, of in found.items()]
    data = ["windows", "data", "rows"]
    tables = [
        ("How many times as fast as local[1]", [*data, *others], grown),
        (
            "Seconds, rows a second, and what was spilled",
            [*data, "on", "s", "rows/s", "tasks", "MB of memory spilled", "MB on disk"],
            listed,
        ),
    ]
    return Result(rows, tables, page=Page("cluster", "One core, two cores, two workers", TEXT, {}))


def _named(one):
    kind, rows, skewed = one
    return [kind, "skewed" if skewed else "even", f"{rows:,}"]


def _line(one, where, told):
    spilled = (f"{told[name] / 1e6:,.0f}" for name in ("memory", "disk"))
    pace = f"{one[1] / told['seconds']:,.0f}"
    return [*_named(one), where, f"{told['seconds']:.2f}", pace, f"{told['tasks']:,}", *spilled]
