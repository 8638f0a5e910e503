"""Kill streams of every kind, again and again; ``python -m tests.soak 20``.

The seed is printed: the same seed draws the same rows and the same kills, though never quite the
same moments. What an answer has lost, or has twice, is printed.
"""

from __future__ import annotations

import argparse
import contextlib
import secrets
import tempfile
import time
from pathlib import Path

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


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=20, help="kills of the driver")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", default="", help="a regular expression: names of streams")
    parser.add_argument("--every", action="store_true", help="every shape of every kind")
    parser.add_argument("--cluster", action="store_true", help="on two workers of their own")
    parser.add_argument("--minutes", type=float, default=1e9, help="no kills after so many")
    given = parser.parse_args()
    seed = secrets.randbits(32) if given.seed is None else given.seed
    print(f"{given.count} kills, --seed {seed}", flush=True)
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        spark = stack.enter_context(cluster(folder)) if given.cluster else None
        soak = Soak(
            folder / "streams", seed=seed, pieces=4 * given.count,
            all_shapes=given.every, only=given.only, spark=spark,
        )  # fmt: skip
        for number in range(given.count):
            if time.monotonic() > began + given.minutes * 60:
                break
            soak.live(workers=1, executors=1 if given.cluster else 0)
            print(f"{number + 1} lives in {time.monotonic() - began:.0f} s", flush=True)
        found = soak.finish()
        table(soak, found)
        wrong = [f"{name}: {line}" for name, lines in found.items() for line in lines]
        wrong += [str(one) for one in soak.unexplained()]
    if wrong:
        raise SystemExit("\n".join(wrong))


if __name__ == "__main__":
    main()
