"""The cluster that streams are killed on: two workers that start an executor each."""

from __future__ import annotations

import contextlib
import os
import sys

from scripts import cluster as standalone
from tests.helpers.sparks import ONE_COMPILER
from tests.soak import processes
from tests.soak.soak import ROOT, Spark

CORES = 4  # of each executor


def conf():
    """What executors need to find this source tree; they come and go."""
    return {
        "spark.driver.host": "127.0.0.1",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
        "spark.executor.memory": "1g",
        "spark.executor.cores": str(CORES),
        "spark.executor.extraJavaOptions": ONE_COMPILER,
    }


@contextlib.contextmanager
def cluster(folder):
    """The cluster, as long as it is needed."""
    with standalone.cluster(folder, cores=CORES) as found:
        try:
            yield Spark(found.url, conf(), found.workers)
        finally:
            processes.kill(processes.below(found.workers))
