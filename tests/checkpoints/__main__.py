"""Make kept checkpoints: ``python -m tests.checkpoints NAME …``, or all of them.

Only where a kind is new, or a format has a new number: the tests are for what earlier releases have
left. All that a stream gives is compared with the batch before its checkpoint is written.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import click

from experiments import commands
from tests.checkpoints import kept
from tests.checkpoints.streams import STREAMS
from tests.helpers.sparks import start


@commands.command()
@click.argument("names", nargs=-1, metavar="NAME …")
def main(names):
    """Make the kept checkpoints of these streams, or of all."""
    spark = start()
    for name in names or STREAMS:
        with tempfile.TemporaryDirectory() as temporary:
            made, tried = Path(temporary) / "made", Path(temporary) / "tried"
            before = kept.begin(spark, name, made)
            shutil.copytree(made, tried)
            rest = kept.go_on(spark, name, made)
            shutil.rmtree(made)
            shutil.move(tried, made)  # paths in the checkpoint are of this folder
            every = kept.as_json([*before, *rest])
            wanted = kept.expected(spark, name)
            same = kept.in_time(every) == wanted and before and rest
            if not same:
                print(name, "is not as the batch:", len(before), len(rest), len(wanted))
                print("  missing", [row for row in wanted if row not in every][:4])
                print("  more", [row for row in every if row not in wanted][:4])
                continue
            kept.pack(made, name, rest)
            print(f"{name}: {len(before)} rows before, {len(rest)} after, "
                  f"{kept.archive(name).stat().st_size / 1000:.1f} kB", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
