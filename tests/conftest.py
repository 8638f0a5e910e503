"""One Spark for all tests: a classic session, and a Connect server in the same JVM.

What the law asks is answered beside the other tests, several queries at a time; its own tests come
last and compare.
"""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from fnmatch import fnmatch
from functools import partial
from inspect import signature
from itertools import chain
from threading import Semaphore

import pytest
from hypothesis import is_hypothesis_test

import tests.helpers.shown  # noqa: F401 - before any property is made: the profile of them all
from scripts.cluster import free_port
from tests.helpers.sampled import read_long, read_seen_by
from tests.helpers.sparks import TIME_ZONE, VERSION, start
from tests.helpers.thorough import THOROUGH
from tests.law.registry import LAW
from tests.law.run import Runner, beside

EVERY = 5  # of the cases of a property, or of a test that starts Spark, this many are one
# What a sample has, however long it takes: the first pages, checkpoints, restarts, what is printed.
ALWAYS = {
    "tests/checkpoints/test_kept_checkpoints.py::test_a_kept_checkpoint_goes_on[sliding]",
    "tests/language/test_clause.py::test_every_method_prints_as_words_that_are_read_back",
    "tests/language/test_clause.py::test_every_spec_prints_as_a_clause_that_is_read_back",
    "tests/spark/test_documents.py::test_page[UTC-README.md]",
    "tests/spark/test_documents.py::test_page[America/New_York-docs/start.md]",
    "tests/spark/test_fingerprints.py::test_a_stream_goes_on_or_is_refused",
    "tests/spark/test_readme.py::test_every_line_has_its_answer",
    "tests/test_habits.py::test_one_switch_says_whether_tests_are_thorough[]",
}
# Of what starts Spark, that which runs after all else, in a process of its own (Makefile).
FIRST = "tests/spark/test_[a-e]*"
AT_ONCE = 2  # queries that run side by side, on two cores
ANSWERS = pytest.StashKey()


class Answers:
    """The answers to what the selected tests ask, several at a time, ahead of the tests."""

    def __init__(self, runner, asks):
        self.runner = runner
        self.turns = Semaphore(AT_ONCE)
        self.pool = ThreadPoolExecutor(AT_ONCE)
        self.found = {id(ask): self.pool.submit(self._answer, ask) for ask in asks}

    def _answer(self, ask):
        with self.turns:
            return self.runner.run(ask)

    def of(self, ask):
        return self.found[id(ask)].result()

    @contextmanager
    def paused(self):
        """Nothing of the law runs meanwhile."""
        with ExitStack() as turns:
            for _ in range(AT_ONCE):
                turns.enter_context(self.turns)
            yield

    def write_times(self, terminal):
        """Say what each took, as pytest does of a test, which only waits for it."""
        for ask, seconds in self.runner.took.items():
            terminal.write_line(f"{seconds:.2f}s call     {LAW}[{ask.name}]")

    def needed_rocksdb(self, ask):
        """Whether the stream, which has run, was refused on Spark's own state store."""
        return ask in self.runner.on_rocksdb


def connected(port, *conf):
    """Another session on the server, with a configuration of its own."""
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    session = ConnectSession.builder.remote(f"sc://localhost:{port}").create()
    for name, value in (("spark.sql.session.timeZone", TIME_ZONE), *conf):
        session.conf.set(name, value)
    return session


@pytest.fixture(scope="session")
def spark_and_answers(request, tmp_path_factory):
    """Both sessions, and what the law asks of them; they share one JVM."""
    port = free_port() if VERSION >= (4, 0) else None  # PySpark 3.5 comes without the server
    classic = start(port)
    sessions = {"classic": classic}
    if port:
        sessions["connect"] = connected(port)
    # What a test sets in its session must not reach the law.
    apart = beside(classic)
    makers = {"classic": partial(beside, apart), "connect": partial(connected, port)}
    items = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    asks = [params["ask"] for params in items if "ask" in params]
    runner = Runner(makers, tmp_path_factory.mktemp("law"))
    found = request.config.stash[ANSWERS] = Answers(runner, asks)
    yield sessions, found
    found.pool.shutdown(cancel_futures=True)
    if request.config.getoption("durations") == 0:
        found.write_times(request.config.pluginmanager.getplugin("terminalreporter"))
    own = [made for (name, _), made in runner.made.items() if name == "connect"]
    for session in (*own, *reversed(sessions.values())):
        session.stop()


@pytest.fixture
def monkeypatch(request):
    """Patch as pytest does. The law, which asks in other threads, waits and sees no patch."""
    answers = request.config.stash.get(ANSWERS, None)
    with answers.paused() if answers else nullcontext(), pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="session")
def sessions(spark_and_answers):
    """Both sessions by name."""
    return spark_and_answers[0]


@pytest.fixture(scope="session")
def answers(spark_and_answers):
    return spark_and_answers[1]


@pytest.fixture(scope="session")
def runner(answers):
    """Runs asks as the law does."""
    return answers.runner


@pytest.fixture(scope="session")
def classic(sessions):
    return sessions["classic"]


@pytest.fixture(
    scope="session",
    params=["classic", pytest.param("connect", marks=pytest.mark.connect)],
)
def spark(request, sessions):
    """The test runs on a classic session; and on a Connect session, by its first parameters.

    The others are thorough: what Connect makes of a plan does not depend on them.
    """
    return sessions[request.param]


@pytest.fixture(scope="session")
def mypy_cache(tmp_path_factory):
    """Where runs of mypy keep what they know of PySpark: the first takes as long as all others."""
    return tmp_path_factory.mktemp("mypy")


@pytest.fixture
def time_zone(classic):
    """A function that sets the classic session's time zone until the test ends."""
    yield lambda zone: classic.conf.set("spark.sql.session.timeZone", zone)
    classic.conf.set("spark.sql.session.timeZone", TIME_ZONE)


def pytest_collection_finish():
    """What collecting has made stays to the end: the garbage collector need not walk it again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def pytest_sessionfinish():
    gc.unfreeze()  # what ends here may be looked for


def pytest_collection_modifyitems(config, items):
    for item in items:
        if {"spark", "classic", "sessions", "answers"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.spark)
        if not starts_spark(item) or fnmatch(item.nodeid, FIRST):
            item.add_marker(pytest.mark.first)
    always, long = {*ALWAYS, *read_seen_by().values()}, read_long()
    too_long = [one for one in items if one.nodeid in long and not asks_the_law(one)]
    left_out = [all_but_the_first(items), more_of_samples(items), every_second(items), too_long]
    for item in chain.from_iterable(left_out):
        if item.nodeid not in always:
            item.add_marker(pytest.mark.thorough)
    if not THOROUGH:
        leave_out_thorough(config, items)
    items.sort(
        key=lambda item: (starts_spark(item), "answers" in getattr(item, "fixturenames", ()))
    )


def leave_out_thorough(config, items):
    """Drop the tests that only a thorough run asks."""
    found = [item for item in items if item.get_closest_marker("thorough")]
    if found:
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]
        config.hook.pytest_deselected(items=found)


def pytest_terminal_summary(terminalreporter):
    """Say what is left out, also to somebody who has named a test that is."""
    left_out = terminalreporter.stats.get("deselected", ())
    count = sum(item.get_closest_marker("thorough") is not None for item in left_out)
    if count and not THOROUGH:
        terminalreporter.write_line(f"{count} thorough tests were left out; THOROUGH=1 asks them")


def starts_spark(item):
    return item.get_closest_marker("spark") is not None


def asks_the_law(item):
    return "answers" in signature(item.function).parameters


def more_of_samples(items):
    """Of tests marked ``sampled(n)``, those that are not the n-th; each parameter is in some.

    Without the mark, n is ``EVERY`` for what starts Spark and for properties, and 1 for all else. A
    test of two parameters has every n-th of the diagonals; one without any is in each sample.
    """
    for item in items:
        sampled = item.get_closest_marker("sampled")
        takes_long = starts_spark(item) or is_hypothesis_test(item.function)
        if not sampled and (not takes_long or asks_the_law(item)):
            continue
        indices = item.callspec.indices if hasattr(item, "callspec") else {}
        place = sum(index for name, index in indices.items() if name != "spark")
        if place % (sampled.args[0] if sampled else EVERY):
            yield item


def every_second(items):
    """Every second test of each file, of the tests that start Spark."""
    numbers = {}
    for item in items:
        sampled = item.get_closest_marker("sampled")
        if starts_spark(item) and not asks_the_law(item) and not (sampled and sampled.args[0] == 1):
            of_file = numbers.setdefault(item.path, {})
            if of_file.setdefault(item.originalname, len(of_file)) % 2:
                yield item


def all_but_the_first(items):
    """Streams, runs on Connect, and what is slow: all of a file but the first.

    What is sampled otherwise is left as it is: the law, and what is marked ``sampled``.
    """
    seen = set()
    for item in items:
        given = item.callspec.params if hasattr(item, "callspec") else {}
        sampled = item.get_closest_marker("sampled") or asks_the_law(item)
        of_each = {
            "connect": given.get("spark") == "connect",
            "stream": item.get_closest_marker("streaming") and not sampled,
            "slow": (item.get_closest_marker("slow") or item.get_closest_marker("installs"))
            and not sampled,
        }
        for test in [(name, item.path) for name, holds in of_each.items() if holds]:
            if test in seen:
                yield item
            seen.add(test)
