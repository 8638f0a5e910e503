"""Ask queries that nobody wrote, as many as told; ``python -m tests.fuzz 10000``."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path

import click
from hypothesis import Phase, given, seed, settings

from experiments import commands
from tests.fuzz.queries import HOW, batches
from tests.fuzz.streamed import streams
from tests.fuzz.verdict import verdict
from tests.helpers.sparks import start
from tests.law.run import Runner, beside

STREAMS = 10  # one query of so many is a stream
SAID_EVERY = 100


class Tally:
    """What came out so far."""

    def __init__(self):
        self.found = Counter()
        self.began = time.monotonic()

    def add(self, ask, told):
        self.found[ask.kind, "stream" if ask.streamed else ask.strategy, told] += 1
        if sum(self.found.values()) % SAID_EVERY == 0:
            self.say()

    def say(self):
        took = time.monotonic() - self.began
        print(f"{sum(self.found.values())} queries in {took:.0f} s", flush=True)

    def table(self):
        for (kind, how, told), count in sorted(self.found.items()):
            print(f"  {kind:10} {how:18} {told:8} {count}")


def ask_all(drawn, count, number, runner, tally):
    """Ask as many of what is drawn."""

    @seed(number)
    @settings(HOW, max_examples=count, phases=[Phase.generate, Phase.shrink])
    @given(drawn)
    def each(ask):
        told = verdict(ask, partial(runner.run, ask))
        assert told in ("right", "refused"), f"{ask}\n{ask.data.rows}\n{told}"
        tally.add(ask, told)

    each()


@commands.command()
@click.argument("count", type=click.IntRange(min=0), default=10_000)
@click.option("--seed", "number", type=int, help="Ask the queries of this one again.")
@click.option("--streams", "streamed", type=click.IntRange(min=0),
              help=f"How many of them are streams, if not one in {STREAMS}.")  # fmt: skip
@click.option("--processes", type=click.IntRange(min=1), help="How many, if not one for each core.")
def main(count, number, streamed, processes):
    """Ask COUNT queries that nobody wrote, and compare each answer with the oracle's.

    Several processes share the work, each with a seed of its own, one after the other from that of
    the first. Seeds are printed: the same seed asks the same queries of a process. What is answered
    wrongly is made as small as it can be, printed, and ends the process.
    """
    number = secrets.randbits(32) if number is None else number
    streamed = count // STREAMS if streamed is None else streamed
    processes = processes or min(os.cpu_count() or 1, max(count // 100, 1))
    if processes == 1:
        ask_here(count, streamed, number)
    else:
        sys.exit(max(ask_beside(count, streamed, number, processes)))


def ask_beside(count, streamed, number, processes):
    """Share the work among processes; how each has ended."""
    started = []
    for at in range(processes):
        parts = [(total + at) // processes for total in (count, streamed)]
        told = [str(parts[0]), "--streams", str(parts[1]), "--seed", str(number + at)]
        command = [sys.executable, "-m", "tests.fuzz", *told, "--processes", "1"]
        started.append(subprocess.Popen(command))
    return [abs(one.wait()) for one in started]


def ask_here(count, streamed, number):
    """Ask in this process, one query after the other."""
    print(f"{count} queries, {streamed} of them streams, --seed {number}", flush=True)
    spark = start()
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner({"classic": partial(beside, beside(spark))}, Path(folder))
        for drawn, some in ((batches(), count - streamed), (streams(), streamed)):
            if some:
                ask_all(drawn, some, number, runner, tally)
        tally.say()
        tally.table()
    spark.stop()


if __name__ == "__main__":
    main()
