"""One Spark for all tests: a classic session, and a Connect server in the same JVM."""

from __future__ import annotations

import os
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.law.run import Runner

TIME_ZONE = "America/New_York"  # not UTC, with daylight saving: so that a wrong zone shows
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

# Tests run each plan once: the second compiler would take two fifths of their time.
JVM = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=512m -XX:+UseSerialGC -Xmn600m"
# On a machine that is busy with other work everything is late, and nothing is wrong.
PATIENT = {
    "spark.python.authenticate.socketTimeout": "10m",
    "spark.network.timeout": "20m",
    "spark.executor.heartbeatInterval": "1m",
    "spark.sql.broadcastTimeout": "1200",
}
AT_ONCE = 6  # queries that run side by side, on two cores


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


def settings(port: int | None) -> dict[str, str]:
    """The configuration of every Spark that the tests start."""
    connect = {
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.port": str(port),
    }
    return {
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": JVM,
        "spark.ui.enabled": "false",
        **PATIENT,
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": TIME_ZONE,
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
        "spark.sql.streaming.noDataMicroBatches.enabled": "true",
        **(connect if port else {}),
    }


def start(port: int | None = None):
    """A classic session, with a Connect server beside it if a port is given."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[2]").appName("fanlight-tests")
    for name, value in settings(port).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@pytest.fixture(scope="session")
def sessions():
    """Both sessions by name; they share one JVM, not their temporary views."""
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    port = free_port()
    classic = start(port)
    connect = ConnectSession.builder.remote(f"sc://localhost:{port}").create()
    connect.conf.set("spark.sql.session.timeZone", TIME_ZONE)
    yield {"classic": classic, "connect": connect}
    connect.stop()
    classic.stop()


@pytest.fixture(scope="session")
def classic(sessions):
    return sessions["classic"]


@pytest.fixture(
    scope="session",
    params=["classic", pytest.param("connect", marks=pytest.mark.connect)],
)
def spark(request, sessions):
    """The test runs twice: on a classic and on a Connect session."""
    return sessions[request.param]


class Answers:
    """The answers to what the selected tests ask, several at a time, ahead of the tests."""

    def __init__(self, runner, asks):
        self.pool = ThreadPoolExecutor(AT_ONCE)
        self.found = {id(ask): self.pool.submit(runner.run, ask) for ask in asks}

    def of(self, ask):
        return self.found[id(ask)].result()


@pytest.fixture(scope="session")
def answers(request, sessions, tmp_path_factory):
    items = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    asks = [params["ask"] for params in items if "ask" in params]
    found = Answers(Runner(sessions, tmp_path_factory.mktemp("law")), asks)
    yield found
    found.pool.shutdown(cancel_futures=True)


@pytest.fixture
def time_zone(classic):
    """A function that sets the classic session's time zone until the test ends."""
    yield lambda zone: classic.conf.set("spark.sql.session.timeZone", zone)
    classic.conf.set("spark.sql.session.timeZone", TIME_ZONE)


def pytest_collection_modifyitems(items):
    for item in items:
        if {"spark", "classic", "sessions", "answers"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.spark)
