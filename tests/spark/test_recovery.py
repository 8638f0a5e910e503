"""A stream that is killed and started again gives what it would have given."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.dataframes import SENTINEL, collected, patiently, write_batch
from tests.events import examples, splits
from tests.law.comparison import agree
from tests.law.oracle import wanted
from tests.law.registry import KINDS
from tests.law.run import microseconds
from tests.spark.stream_to_be_killed import ASKS, DATA, DELAY, count, query

pytestmark = [pytest.mark.streaming, pytest.mark.slow]
ROOT = Path(__file__).resolve().parents[2]
PIECES, BEFORE = 14, 4  # files, and those of them that the first part takes


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A folder in which all streams ran for a few of many batches, and then were killed in one."""
    folder = tmp_path_factory.mktemp("killed")
    for name in ("in", "later"):
        (folder / name).mkdir()
    split = examples(splits(DATA.rows, microseconds(DELAY)), 2)[1]
    arriving = [row for batch in split for row in batch]
    size = -(-len(arriving) // PIECES)
    pieces = [arriving[at : at + size] for at in range(0, len(arriving), size)]
    for number, piece in enumerate([*pieces, [SENTINEL]]):
        write_batch(folder / ("in" if number < BEFORE else "later"), number, piece)
    command = [sys.executable, "-m", "tests.spark.stream_to_be_killed", str(folder)]
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    with (folder / "log").open("w") as log:
        program = subprocess.Popen(
            command, cwd=ROOT, env=paths, stdout=log, stderr=log, start_new_session=True
        )
        try:
            patience = time.monotonic() + 400
            while not all_at_work(folder):
                assert program.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < patience, (folder / "log").read_text()
                time.sleep(0.02)
        finally:
            os.killpg(program.pid, signal.SIGKILL)  # the JVM as well
            program.wait()
    return folder


def all_at_work(folder):
    """Whether all streams are in the second part, each with a micro-batch planned in it.

    That needs no Python worker, so none of them waits for another's.
    """
    begun = folder / "begun"
    if not begun.exists():
        return False
    before = json.loads(begun.read_text())
    return all(count(folder, name, "offsets") > planned for name, planned in before.items())


@pytest.mark.parametrize("name", ASKS)
def test_a_killed_stream_goes_on(classic, killed, name):
    before = count(killed, name, "commits")
    assert 2 <= before < PIECES, "it was not killed mid-way"
    patiently(lambda: query(classic, killed, name).awaitTermination())
    # A file that was listed when the program was killed may share its micro-batch with the next.
    assert count(killed, name, "commits") > before
    got = collected(classic.read.parquet(str(killed / name / "out")))
    kept = [row for row in got if row["case"] != SENTINEL["case"]]
    asked = ASKS[name]
    agree(kept, wanted(asked, KINDS[asked.kind].oracles["agg"]))
