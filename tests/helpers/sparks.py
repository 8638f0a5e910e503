"""The Spark that tests start: how it is set up. Nothing of the library is loaded here."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import pyspark

TIME_ZONE = "America/New_York"  # not UTC, with daylight saving: so that a wrong zone shows
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
DEFAULT = ROCKSDB.replace("RocksDB", "HDFSBacked")

# Tests run each plan once: the JVM's second compiler would take two fifths of their time, and
# Spark's own a quarter (the law asks a sample of each kind with it). Streams start a chmod for each
# file of a checkpoint: by vfork, and without a second file of check sums; and store a copy of their
# state with each micro-batch, where its changes are enough. To note where in Python
# each expression is made takes as long as to make it; and Spark checks its own optimizer.
# A heap that grows is collected whole each time; and most of what is collected is pages of 64 MB
# for a few rows, buffers of 4 MB for a task's code, and what a UI might show.
ONE_COMPILER = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=512m -XX:+UseSerialGC"
JVM = (
    f"{ONE_COMPILER} -Xms4g -Xmn2g -XX:MetaspaceSize=512m -Djdk.lang.Process.launchMechanism=VFORK"
)
VERSION = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
QUICK = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.sql.lightweightPlanChangeValidation": "false",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming"
        f"{'' if VERSION < (4, 1) else '.checkpointing'}.FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.ui.explainMode": "simple",
    "spark.buffer.pageSize": "1m",
    "spark.broadcast.blockSize": "128k",
    "spark.broadcast.compress": "false",
    "spark.ui.retainedJobs": "10",
    "spark.ui.retainedStages": "10",
    "spark.ui.retainedTasks": "100",
    "spark.ui.retainedDeadExecutors": "1",
    "spark.sql.ui.retainedExecutions": "10",
    "spark.sql.streaming.ui.retainedQueries": "5",
    # a worker that crashes says where
    "spark.python.worker.faulthandler.enabled": "true",
    "spark.sql.execution.pyspark.udf.faulthandler.enabled": "true",
    "spark.executorEnv.PYTHONPATH": str(Path(__file__).parents[1] / "workers"),
}
PLAIN_FILES = """
import org.apache.hadoop.fs.*;
import org.apache.hadoop.fs.permission.FsPermission;

public class PlainFiles extends LocalFileSystem {
    public static class Raw extends RawLocalFileSystem {
        public void setPermission(Path path, FsPermission permission) {}
    }

    public PlainFiles() {
        super(new Raw());
        setWriteChecksum(false);
    }
}
"""
# On a machine that is busy with other work everything is late, and nothing is wrong.
PATIENT = {
    "spark.python.authenticate.socketTimeout": "10m",
    "spark.network.timeout": "20m",
    "spark.executor.heartbeatInterval": "1m",
    "spark.sql.broadcastTimeout": "1200",
}


def settings(port: int | None) -> dict[str, str]:
    """The configuration of every Spark that the tests start."""
    connect = {
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.port": str(port),
    }
    return {
        "spark.driver.memory": "4g",
        "spark.driver.extraJavaOptions": JVM,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **PATIENT,
        **QUICK,
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": TIME_ZONE,
        PROVIDER: ROCKSDB,
        "spark.sql.streaming.noDataMicroBatches.enabled": "true",
        **(connect if port else {}),
    }


def start(port: int | None = None, *, master: str = "local[2]", more: dict[str, str] | None = None):
    """A classic session, with a Connect server beside it if a port is given."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master(master).appName("fanlight-tests")
    for name, value in {**settings(port), **(more or {})}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    look_up_once(session._jvm)
    without_processes(session)
    return session


@contextmanager
def configured(session, name, value):
    """A session that is set otherwise, for so long."""
    before = session.conf.get(name)
    session.conf.set(name, value)
    try:
        yield session
    finally:
        session.conf.set(name, before)


def look_up_once(java):
    """Keep Java's packages and classes by name: each look-up searches three hundred jars."""
    from py4j.java_gateway import JavaPackage

    for found in (type(java), JavaPackage):
        search = found.__getattr__
        if not hasattr(search, "cache_info"):
            found.__getattr__ = lru_cache(maxsize=None)(search)


def without_processes(session):
    """From now on Hadoop starts no process for a local file: not to set its mode, which says rw.

    The compiler is the one that Spark brings for its own plans.
    """
    java = session._jvm
    compiler = java.org.codehaus.janino.SimpleCompiler()
    compiler.cook(PLAIN_FILES)
    conf = java.org.apache.hadoop.conf.Configuration(session._jsc.hadoopConfiguration())
    conf.setClassLoader(compiler.getClassLoader())
    conf.set("fs.file.impl", "PlainFiles")
    files, root = java.org.apache.hadoop.fs.FileSystem, java.java.net.URI("file:///")
    files.get(root, conf).close()
    files.get(root, conf)  # for all: the first one is kept
