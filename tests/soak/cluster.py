"""A standalone cluster on this machine: a master, and workers that start an executor each."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyspark

from tests.helpers.sparks import ONE_COMPILER, free_port
from tests.soak import processes
from tests.soak.soak import PATIENCE, ROOT, Spark

HOME = Path(pyspark.__file__).parent
WORKERS = 2
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"


def conf():
    """What executors need to find this source tree; they come and go."""
    return {
        "spark.driver.host": "127.0.0.1",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
        "spark.executor.memory": "1g",
        "spark.executor.cores": "4",
        "spark.executor.extraJavaOptions": ONE_COMPILER,
    }


@contextlib.contextmanager
def cluster(folder):
    """The cluster, as long as it is needed."""
    url = f"spark://127.0.0.1:{free_port()}"
    port = url.rpartition(":")[2]
    master = _start(folder, "master", MASTER, "--port", port)
    started = [master]
    try:
        for number in range(WORKERS):
            own = folder / f"worker-{number}"
            how = ("-c", "4", "-m", "2g", "-d", str(own), url)
            started.append(_start(folder, f"worker-{number}", WORKER, *how))
        _until(folder / "master.log", r"Registering worker", WORKERS)
        yield Spark(url, conf(), tuple(one.pid for one in started[1:]))
    finally:
        processes.kill(processes.below([one.pid for one in started]))
        for one in started:
            os.killpg(one.pid, signal.SIGKILL)
            one.wait()


def _start(folder, name, kind, *arguments):
    command = [str(HOME / "bin" / "spark-class"), kind, "--host", "127.0.0.1"]
    told = [*command, "--webui-port", "0", *arguments]
    home = {
        "SPARK_HOME": str(HOME),
        "SPARK_MASTER_OPTS": "-Dspark.deploy.maxExecutorRetries=-1",
    }
    with (folder / f"{name}.log").open("w") as log:
        return subprocess.Popen(
            told, env={**os.environ, **home}, stdout=log, stderr=log, start_new_session=True
        )


def _until(log, words, times):
    end = time.monotonic() + PATIENCE
    while len(re.findall(words, log.read_text())) < times:
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.1)
