"""Executors that are killed while the rows of one key are in many tasks: the same answer."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from tests.soak import processes
from tests.soak.cluster import cluster
from tests.soak.soak import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.thorough]
COMMAND = (sys.executable, "-m", "tests.soak.divided")
KILLS, EVERY = 4, 5  # how often an executor is killed, and how many seconds lie between


def test_killed_executors_change_no_frame(tmp_path):
    with cluster(tmp_path) as spark, (tmp_path / "log").open("w") as log:
        command = [*COMMAND, spark.master]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=ROOT
        ) as child:
            killed, said = 0, child.stdout.readline()
            while said and child.poll() is None and killed < KILLS:
                time.sleep(EVERY)
                killed += processes.kill(processes.executors(spark.roots)[:1])
            told = [json.loads(line) for line in child.stdout if line.startswith("[")]
    assert child.returncode == 0, (tmp_path / "log").read_text()[-4_000:]
    assert killed > 1
    answers = {(spec, strategy): answer for spec, strategy, answer in told}
    assert len(answers) == 4
    for spec in ("threshold", "sessions"):
        assert answers[spec, "chunks"] == answers[spec, "arrow"]
        assert answers[spec, "chunks"][0] > 1_000
