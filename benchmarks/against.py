"""This source's times beside those of a revision of before, in turn, on the same data.

    python -m benchmarks.against 1.0.0
    python -m benchmarks.against HEAD~20 --only delta --only "60/1, stream"

Each has a process of its own with a Spark of its own, and while one runs the other waits. A case is
run by one, then by the other, several times; what is compared are the best times. Only public names
are used, so that any revision can be asked.
"""

from __future__ import annotations

import io
import os
import statistics
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table as Shown

from benchmarks import data, sessions
from benchmarks.cases import spans
from benchmarks.queries import Batch, Stream
from benchmarks.timing import seconds
from experiments import commands

ROOT = Path(__file__).resolve().parents[1]
ROWS = 3_000_000
ROUNDS = 5
ALLOWED = 1.05  # times the time of before


def cases(spark, rows):
    """What is run, by name: a function that returns a result, of a batch or a stream."""
    import fanlight as fl
    from fanlight import agg

    points, few = (data.table(spark, n) for n in (rows, rows // 10))
    events = spans.table(spark, rows // 3, 50, keys=100)
    batch, small, lasting = (one.read(spark) for one in (points, few, events))
    pair = ("start", "stop")
    hour = fl.Sliding("60 minutes", "1 minute")
    levels = fl.MultiGranular(["1 minute", "10 minutes", "1 hour"],
                              ["10 seconds", "1 minute", "5 minutes"])  # fmt: skip
    coarse = fl.MultiGranular(["10 minutes", "1 hour"], ["1 minute", "5 minutes"])
    by_rows = fl.Sliding(fl.Rows(1000), fl.Rows(10))
    delta = fl.DeltaFrame({"v": 500})

    def three(df, spec, time="ts", strategy="auto"):
        windows = fl.over(df, spec, time=time, by="k").using(strategy)
        return windows.agg(agg.count(), agg.sum("v"), agg.max("v"))

    def median():
        windows = fl.over(small, fl.Sliding("60 minutes", "20 minutes"), time="ts", by="k")
        return windows.agg(agg.median("n"))

    return {
        "60/1": lambda: three(batch, hour),
        "60/1, expand": lambda: three(small, hour, strategy="expand"),
        "tumbling": lambda: three(batch, fl.Sliding("1 minute")),
        "pairs": lambda: three(batch, fl.Sliding("61 minutes", "7 minutes"), strategy="pairs"),
        "median": median,
        "levels": lambda: three(batch, levels),
        "trend lines": lambda: fl.over(small, levels, time="ts", by="k").fit("v", filled=True),
        "events": lambda: three(lasting, hour, pair),
        "events, levels": lambda: three(lasting, coarse, pair),
        "rows": lambda: three(batch, by_rows),
        "threshold": lambda: three(batch, fl.ThresholdFrame("v > 200")),
        "delta": lambda: three(batch, delta),
        "delta, bounds": lambda: fl.over(batch, delta, time="ts", by="k").frames(),
        "60/1, stream": lambda: three(points.stream(spark), hour),
        "levels, stream": lambda: three(points.stream(spark), levels),
        "events, stream": lambda: three(events.stream(spark), hour, pair),
        "rows, stream": lambda: three(few.stream(spark), by_rows),
        "delta, stream": lambda: three(few.stream(spark), delta),
    }


def run(result):
    """Compute all of a result, and keep nothing of it."""
    (Stream if result.isStreaming else Batch)(result).run()


def serve(rows):
    """Run the cases that are named on standard input, and say how long each took."""
    known = cases(sessions.start(smoke=False), rows)
    print(f"ready {'|'.join(known)}", flush=True)
    for line in sys.stdin:
        case = known[line.strip()]
        print(f"took {seconds(lambda case=case: run(case()))}", flush=True)


class Tree:
    """A process that runs cases with the source of one tree."""

    def __init__(self, source, rows):
        path = os.pathsep.join([str(source), str(ROOT)])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.against", "--serve", "--rows", str(rows)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            cwd=ROOT, env={**os.environ, "PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable},
        )  # fmt: skip
        self.cases = self.answer("ready").split("|")

    def answer(self, word):
        for line in self.process.stdout:
            if line.startswith(word):
                return line.removeprefix(word).strip()
        msg = "the process has ended"
        raise RuntimeError(msg)

    def seconds(self, case):
        self.process.stdin.write(f"{case}\n")
        self.process.stdin.flush()
        return float(self.answer("took"))

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def source_of(revision, folder):
    """The source of a revision, as it was."""
    command = ["git", "archive", "--format=zip", revision, "src"]
    packed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extractall(folder)
    return Path(folder) / "src"


def compared(before, now, names, rounds, say):
    """Seconds by case: those of before, those of now."""
    found = {}
    for name in names:
        for tree in (before, now):
            tree.seconds(name)
        pairs = [(before.seconds(name), now.seconds(name)) for _ in range(rounds)]
        found[name] = pairs
        say(f"  {name}: " + ", ".join(f"{old:.2f} {new:.2f}" for old, new in pairs))
    return found


def shown(found, revision):
    """The table: best times, their ratio, and the median of the ratios of each turn."""
    page = Shown(title=f"now / {revision}")
    for head in ("case", "before, s", "now, s", "best / best", "median of turns"):
        page.add_column(head, justify="left" if head == "case" else "right")
    for name, pairs in found.items():
        old, new = (min(side) for side in zip(*pairs, strict=True))
        median = statistics.median(now / before for before, now in pairs)
        mark = " *" if new / old > ALLOWED and median > ALLOWED else ""
        page.add_row(name + mark, f"{old:.2f}", f"{new:.2f}", f"{new / old:.2f}", f"{median:.2f}")
    page.caption = f"* slower by more than {ALLOWED - 1:.0%}, by either measure"
    return page


EXAMPLES = """\b
python -m benchmarks.against 1.0.0
python -m benchmarks.against HEAD~20 --only delta --only "60/1, stream\""""


@commands.command(epilog=EXAMPLES)
@click.argument("revision", default="HEAD")
@click.option("--only", multiple=True, metavar="CASE", help="This case alone; repeatable.")
@click.option("--rows", type=click.IntRange(min=1), default=ROWS, help="How many rows.")
@click.option("--rounds", type=click.IntRange(min=1), default=ROUNDS, help="Turns of each.")
@click.option("--serve", "served", is_flag=True, hidden=True)
def main(revision, only, rows, rounds, served):
    """This source's times beside those of REVISION, in turn, on the same data.

    Each has a process of its own with a Spark of its own, and while one runs the other waits. What
    is compared are the best times.
    """
    if served:
        serve(rows)
        return
    console = Console(width=None if Console().is_terminal else 120)
    with tempfile.TemporaryDirectory() as folder:
        trees = [Tree(source, rows)
                 for source in (source_of(revision, folder), ROOT / "src")]  # fmt: skip
        names = only or trees[0].cases
        found = compared(*trees, names, rounds, console.print)
        for tree in trees:
            tree.end()
    console.print(", ".join(f"{name}: {value}" for name, value in sessions.machine().items()))
    console.print(shown(found, revision))


if __name__ == "__main__":
    main()
