"""A standalone cluster of Spark on this machine: a master, and workers that start executors.

``python -m scripts.cluster`` runs one until Ctrl-C; the soak and a benchmark run their own.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pyspark

if TYPE_CHECKING:
    from collections.abc import Iterator

HOME = Path(pyspark.__file__).parent
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
WORKERS, CORES, MEMORY = 2, 1, "2g"
START, STOP = 300, 30  # seconds


@dataclass(frozen=True)
class Cluster:
    """The master's address, and the process of each worker."""

    url: str
    workers: tuple[int, ...]


@contextlib.contextmanager
def cluster(
    folder: Path, *, workers: int = WORKERS, cores: int = CORES, memory: str = MEMORY, port: int = 0
) -> Iterator[Cluster]:
    """A cluster, as long as it is needed; its logs and all that it writes are in the folder.

    Each worker has so many cores and so much memory. Executors that die are started again without
    limit. Without a port the master takes a free one.
    """
    port = port or free_port()
    url = f"spark://127.0.0.1:{port}"
    started = []
    try:
        started.append(_start(folder, "master", MASTER, "--port", str(port)))
        for number in range(workers):
            name = f"worker-{number}"
            given = ("-c", str(cores), "-m", memory, "-d", str(folder / name), url)
            started.append(_start(folder, name, WORKER, *given))
        _wait(folder / "master.log", "Registering worker", workers)
        yield Cluster(url, tuple(one.pid for one in started[1:]))
    finally:
        for one in reversed(started):
            _stop(one)


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _start(folder: Path, name: str, kind: str, *given: str) -> subprocess.Popen[bytes]:
    told = [HOME / "bin" / "spark-class", kind, "--host", "127.0.0.1", "--webui-port", "0", *given]
    env = {
        "SPARK_HOME": str(HOME),
        "SPARK_MASTER_OPTS": "-Dspark.deploy.maxExecutorRetries=-1",
        "SPARK_LOCAL_DIRS": str(folder / "local"),
    }
    with (folder / f"{name}.log").open("w") as log:
        return subprocess.Popen(  # noqa: S603
            told, env={**os.environ, **env}, stdout=log, stderr=log, start_new_session=True
        )


def _wait(log: Path, words: str, times: int) -> None:
    end = time.monotonic() + START
    while len(re.findall(words, log.read_text())) < times:
        if time.monotonic() > end:
            raise TimeoutError(log.read_text())
        time.sleep(0.1)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """A worker that is told to end kills its executors; what is left of its group is killed."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(STOP)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@click.command()
@click.option("--workers", type=click.IntRange(min=1), default=WORKERS, show_default=True)
@click.option("--cores", type=click.IntRange(min=1), default=CORES, show_default=True,
              help="Of each worker.")  # fmt: skip
@click.option("--memory", default=MEMORY, show_default=True, help="Of each worker.")
@click.option("--port", default=7077, show_default=True, help="The master's; 0: a free one.")
def main(workers: int, cores: int, memory: str, port: int) -> None:
    """Run a standalone cluster on this machine until Ctrl-C."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with tempfile.TemporaryDirectory(prefix="fanlight-cluster-") as folder:
        given = {"workers": workers, "cores": cores, "memory": memory, "port": port}
        try:
            with cluster(Path(folder), **given) as found:  # type: ignore[arg-type]
                _say(found, workers, cores, memory, folder)
                signal.pause()
        except KeyboardInterrupt:
            click.echo("stopped")


def _say(found: Cluster, workers: int, cores: int, memory: str, folder: str) -> None:
    told = {"JAVA_HOME": os.environ.get("JAVA_HOME"), "PYSPARK_PYTHON": sys.executable}
    given = " ".join(f"{name}={value}" for name, value in told.items() if value)
    asked = f"--master {found.url} --executor-memory 1g"
    click.echo(
        f"{found.url}: workers: {workers}, each with cores: {cores}, memory: {memory}\n"
        f"  export {given}\n"
        f"  {HOME / 'bin' / 'pyspark'} {asked}\n"
        f"  {HOME / 'bin' / 'spark-submit'} {asked} PROGRAM.py\n"
        f"logs: {folder}\nCtrl-C ends it"
    )


if __name__ == "__main__":
    main()
