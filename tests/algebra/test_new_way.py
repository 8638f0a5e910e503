"""A new way to compute windows is a way, a proposal and how it runs, as CONTRIBUTING.md says."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight import agg
from fanlight.engine.plan import placed, ways
from fanlight.engine.plan.candidate import Candidate
from fanlight.engine.plan.granules import cut_into_panes, single_branch
from fanlight.engine.plan.placed import Proposal, register_proposal
from fanlight.engine.plan.ways import Lift, Rollup, Strategy, Way
from fanlight.engine.spark import way_runs as registry
from fanlight.engine.spark.placed import batch
from fanlight.engine.spark.way_runs import register_runs

SLOW = Strategy("slow-copies")
COPIED = Way(
    Lift("slow rows"), Rollup("slow copies", "each row goes to its windows, slowly"), copied=True
)
PRICE = 1e15


def proposed(request):
    why = "it is for batches" if request.streaming else ""
    yield Candidate(
        SLOW, COPIED, single_branch(cut_into_panes(request.grids[0]), COPIED.rollup), PRICE, why
    )


@pytest.fixture
def registered(monkeypatch):
    """The way, for the time of a test."""
    monkeypatch.setattr(placed, "PROPOSALS", [*placed.PROPOSALS])
    monkeypatch.setattr(registry, "_BATCH", {**registry._BATCH})
    register_proposal(Proposal((SLOW,), proposed, several=False))
    register_runs(COPIED, batch=lambda asked: batch.copy_rows(asked.bound, asked.fields))


@pytest.fixture
def windows(classic):
    rows = classic.sql("SELECT timestamp_seconds(id) AS ts, id % 3 AS k, id AS v FROM range(600)")
    return fl.over(rows, fl.Sliding("4 minutes", "1 minute"), time="ts", by="k")


def test_it_is_known_by_its_name_only_when_it_is_registered():
    with pytest.raises(fl.FanlightError, match="'slow-copies'"):
        placed.check_strategy("slow-copies", lasting=False, several=False)


@pytest.mark.usefixtures("registered")
def test_it_is_a_strategy_of_the_windows_that_it_is_for():
    assert placed.check_strategy("slow-copies", lasting=False, several=False) == SLOW
    for other in ({"lasting": True, "several": False}, {"lasting": False, "several": True}):
        with pytest.raises(fl.FanlightError, match="'slow-copies'"):
            placed.check_strategy("slow-copies", **other)


@pytest.mark.usefixtures("registered")
def test_it_is_planned_explained_forced_and_run(windows):
    page = windows.explain(agg.max("v"), verbose=True)
    (line,) = [line for line in page.splitlines() if "slow-copies (slow copies)" in line]
    assert "chosen" not in line
    forced = windows.using("slow-copies")
    text = forced.explain()
    assert "each row goes to its windows, slowly" in text
    assert "slow-copies, as requested" in text
    asked = agg.max("v"), agg.count()
    found = forced.agg(*asked)
    assert found.columns == windows.agg(*asked).columns
    assert sorted(found.collect()) == sorted(windows.agg(*asked).collect())


@pytest.mark.usefixtures("registered")
def test_it_says_why_it_cannot(classic):
    stream = classic.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
    over = fl.over(stream, fl.Sliding("4 minutes", "1 minute"), time="timestamp")
    with pytest.raises(fl.FanlightError, match=r"slow-copies.*it is for batches"):
        over.using("slow-copies").agg(agg.count())


def test_every_way_that_can_be_chosen_runs():
    """Those that ask for each query by itself are asked again, and whole results need no table."""
    known = {
        name: way
        for name, way in vars(ways).items()
        if isinstance(way, Way) and way is not ways.UNFIT and not way.one_by_one
    }
    run = {*registry._BATCH, *registry._STREAM, *registry._FRAMES, *registry._LOOKED_BACK,
           ways.SEARCHED_PAGES}  # fmt: skip
    assert [name for name, way in known.items() if way not in run] == []
