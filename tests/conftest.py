"""One Spark for all tests: a classic session, and a Connect server in the same JVM."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.law.run import Runner
from tests.sparks import TIME_ZONE, free_port, start

AT_ONCE = 6  # queries that run side by side, on two cores


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
