"""Kill streams of every kind, again and again; ``python -m tests.soak 20``.

The seed is printed: the same seed draws the same rows and the same kills, though never quite the
same moments. What an answer has lost, or has twice, is printed.
"""

from __future__ import annotations

import contextlib
import math
import secrets
import tempfile
import time
from pathlib import Path

import click

from experiments import commands
from tests.soak.cluster import cluster
from tests.soak.soak import Soak


def table(soak, found):
    """How often each stream was hit, and whether its answer is right."""
    columns = sorted({what for name, what in soak.hits if name != "processes"})
    for one in soak.streams:
        hits = ", ".join(
            f"{what} {soak.hits[one.name, what]}" for what in columns if soak.hits[one.name, what]
        )
        print(f"  {one.name}: {hits}: {'wrong' if found[one.name] else 'right'}")
    for what in ("worker", "executor"):
        print(f"  {soak.hits['processes', what]} processes of a {what} killed")
    print(f"  {len(soak.failures)} failures of queries, {len(soak.unexplained())} unexplained")


@commands.command()
@click.argument("count", type=click.IntRange(min=0), default=20)
@click.option("--seed", type=int, help="Draw the rows and the kills of this one again.")
@click.option("--only", default="", metavar="REGEX", help="Those streams alone whose name has it.")
@click.option("--every", is_flag=True, help="Every shape of every kind.")
@click.option("--cluster", "apart", is_flag=True, help="On two workers of their own.")
@click.option("--minutes", type=float, default=math.inf, help="No kills after so many.")
def main(count, seed, only, every, apart, minutes):
    """Kill streams of every kind COUNT times, and look for what is lost or there twice.

    The seed is printed: the same one draws the same rows and kills, though never quite the same
    moments.
    """
    seed = secrets.randbits(32) if seed is None else seed
    print(f"{count} kills, --seed {seed}", flush=True)
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        spark = stack.enter_context(cluster(folder)) if apart else None
        soak = Soak(
            folder / "streams", seed=seed, pieces=4 * count,
            all_shapes=every, only=only, spark=spark,
        )  # fmt: skip
        for number in range(count):
            if time.monotonic() > began + minutes * 60:
                break
            soak.live(workers=1, executors=1 if apart else 0)
            print(f"{number + 1} lives in {time.monotonic() - began:.0f} s", flush=True)
        found = soak.finish()
        table(soak, found)
        wrong = [f"{name}: {line}" for name, lines in found.items() for line in lines]
        wrong += [str(one) for one in soak.unexplained()]
    if wrong:
        raise SystemExit("\n".join(wrong))


if __name__ == "__main__":
    main()
