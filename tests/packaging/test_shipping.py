"""A packed environment on a cluster of two workers whose own Python has no fanlight."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from scripts.cluster import HOME, free_port
from tests.soak.cluster import cluster

pytestmark = [pytest.mark.installs, pytest.mark.slow, pytest.mark.thorough]

ROOT = Path(__file__).parents[2]
UV = (sys.executable, "-m", "uv", "--quiet")
# What the Python of a cluster usually has.
OF_SPARK = ("numpy", "pandas", "protobuf>=6.33.5,<8", "pyarrow")
# Ten rows of each value; a frame ends where it has moved by three.
FRAMES = sorted([k, 15, total] for k in (0, 1) for total in (15, 60, 105))
SCRIPT = str(Path(__file__).with_name("shipped.py"))
CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
PATIENCE = 240  # seconds


def run(*command, **more):
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, **more
    )
    assert done.returncode == 0, f"{done.stdout[-4_000:]}\n{done.stderr[-8_000:]}"


def environment(folder, *packages):
    run(*UV, "venv", "--python", sys.executable, folder)
    run(*UV, "pip", "install", "--python", folder, *OF_SPARK, *packages)
    return folder


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """The Python of the cluster."""
    return environment(tmp_path_factory.mktemp("bare") / "own") / "bin" / "python"


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """The lines of docs/shipping/spark_submit.md: an environment with fanlight, as an archive."""
    folder = tmp_path_factory.mktemp("packed")
    run(*UV, "build", "--wheel", "--out-dir", folder, ROOT)
    (wheel,) = folder.glob("*.whl")
    made = environment(folder / "environment", f"{wheel}[kernels]")
    archive = folder / "environment.tar.gz"
    pack = ("venv-pack", "--quiet", "-p", made, "-o", archive, "--compress-level", "1")
    run(*UV, "tool", "run", *pack)
    return archive


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        for name in ("PYTHONPATH", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
            patch.delenv(name, raising=False)
        with cluster(tmp_path_factory.mktemp("cluster")) as spark:
            yield spark.master


def submit(master, python, *arguments, **more):
    """The command that sends an application to the cluster, and its environment."""
    conf = (
        "spark.driver.host=127.0.0.1",
        "spark.executor.memory=1g",
        "spark.executor.cores=1",
        "spark.cores.max=2",  # an executor of each worker
        "spark.ui.enabled=false",
    )
    settings = [word for one in conf for word in ("--conf", one)]
    own = {"PYSPARK_PYTHON": str(python), "PYSPARK_DRIVER_PYTHON": sys.executable}
    paths = {"PYTHONPATH": str(ROOT / "src"), "SPARK_HOME": str(HOME)}
    command = [str(HOME / "bin" / "spark-submit"), "--master", master, *settings, *arguments]
    return {"args": command, "env": {**os.environ, **own, **paths}, **more}


def run_and_read(folder, **command):
    run(*command.pop("args"), timeout=PATIENCE, **command)
    return json.loads((folder / "found.json").read_text("utf-8"))


def check_bare(found, bare):
    assert found["missing"] == ["fanlight on the workers", "numba on the workers"]
    assert found["batch"] == (
        f"the Python of Spark's workers, {bare}, has no fanlight and no numba, which these windows "
        'need there; before the session is made, write: os.environ["PYSPARK_PYTHON"] = '
        "sys.executable, so that workers run the Python of the driver; on a cluster write, for "
        "that Python: pip install 'fanlight[kernels]', or send an environment along that has it"
    )
    lacks_fanlight(found["stream"], bare)


def lacks_fanlight(said, python):
    assert said.startswith(f"the Python of Spark's workers, {python}, has no fanlight"), said


def test_workers_without_fanlight_are_told_what_is_missing(master, bare, tmp_path):
    found = run_and_read(tmp_path, **submit(master, bare, SCRIPT, tmp_path))
    check_bare(found, bare)


def test_a_packed_environment_goes_along(master, packed, tmp_path):
    sent = ("--archives", f"{packed}#environment")
    python = "./environment/bin/python"
    command = submit(master, python, *sent, SCRIPT, tmp_path)
    # a stream starts a worker beside the driver, too: the environment is in its folder
    found = run_and_read(tmp_path, **command, cwd=packed.parent)
    assert found == {**found, "missing": [], "batch": FRAMES, "stream": FRAMES}


@contextmanager
def server(master, python, folder):
    """A Connect server on the cluster, and its address."""
    port = free_port()
    conf = ("--class", CONNECT, "--conf", f"spark.connect.grpc.binding.port={port}")
    command = submit(master, python, *conf, "spark-internal", start_new_session=True)
    command["env"].pop("PYTHONPATH")
    with (folder / "log").open("w") as log:
        started = subprocess.Popen(**command, stdout=log, stderr=log, cwd=folder)
    try:
        yield f"sc://127.0.0.1:{port}"
    finally:
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()


def client(folder, *arguments):
    own = {"PYTHONPATH": str(ROOT / "src")}
    return {
        "args": [sys.executable, SCRIPT, folder, *arguments],
        "env": {**os.environ, **own},
    }


def test_a_client_sends_its_environment(master, bare, packed, tmp_path):
    """A stream starts a worker beside the server, too, which has the Python of the server."""
    folder = tmp_path / "sent"
    folder.mkdir()
    with server(master, bare, tmp_path) as remote:
        found = run_and_read(folder, **client(folder, remote, packed))
    assert found == {**found, "missing": [], "batch": FRAMES}
    lacks_fanlight(found["stream"], bare)


def test_a_client_that_sends_none_is_told(master, bare, tmp_path):
    folder = tmp_path / "none"
    folder.mkdir()
    with server(master, bare, tmp_path) as remote:
        check_bare(run_and_read(folder, **client(folder, remote, "")), bare)
