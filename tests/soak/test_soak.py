"""A stream that is killed and started again gives what it would have given: nothing is lost.

``make kills`` kills a stream of each engine, those that fill frames, and one into a table;
``make law`` one of each mechanism, too, and ``make soak`` kills more often, and on a cluster.
"""

from __future__ import annotations

import os

import pytest

from tests.soak import processes
from tests.soak.child import DIED
from tests.soak.soak import Soak
from tests.soak.streams import streams

PIECES = 4
NAMES = [one.name for one in streams(PIECES, all_shapes=False)]
FEW = "^(levels-agg-native|frames-agg-python|frames-fill|windows-upsert)"
SOAKED = [pytest.param(which, marks=pytest.mark.thorough, id=name)
          for name, which in (("few", FEW), ("every", ""))]  # fmt: skip


@pytest.fixture(scope="module", params=SOAKED)
def soaked(request, tmp_path_factory):
    """Streams, killed once: before that, their Python workers."""
    soak = Soak(tmp_path_factory.mktemp("soak"), seed=1, pieces=PIECES, only=request.param)
    soak.live()
    return soak, soak.finish()


@pytest.mark.spark
@pytest.mark.streaming
@pytest.mark.slow
def test_nothing_is_lost_and_nothing_comes_twice(soaked):
    soak, found = soaked
    assert len(found) >= 4
    assert found == {one.name: [] for one in soak.streams}
    assert [soak.hits[name, "driver"] for name in found] == [1] * len(found)


@pytest.mark.spark
@pytest.mark.streaming
@pytest.mark.slow
def test_what_failed_was_killed(soaked):
    soak, found = soaked
    assert soak.unexplained() == []
    assert soak.hits["processes", "worker"]
    assert sum(soak.hits[name, "driver, in a micro-batch"] for name in found)


def test_every_kind_and_every_mechanism_has_a_stream():
    few, every = (streams(PIECES, all_shapes=one) for one in (False, True))
    assert {one.kind for one in few} == {one.kind for one in every}
    assert len(every) > len(few) == len(set(NAMES))
    assert all(len(feed.rows) >= PIECES for one in every for feed in one.feeds.values())
    assert all(one.wanted() for one in few)


def test_the_processes_below_are_found():
    assert os.getpid() in processes.below([os.getppid()])
    assert os.getpid() not in processes.below([os.getpid()])
    assert not processes.called(os.getpid(), processes.EXECUTOR)


def test_a_failure_that_no_kill_explains_is_seen():
    assert DIED.search("Python worker exited unexpectedly (crashed)")
    assert not DIED.search("FanlightError: state was begun with another query")
