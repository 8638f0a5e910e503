"""Whatever a picture is asked for, it is drawn or refused in our own words."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight import plots
from tests.helpers.hostile import Good, wrong
from tests.plots import results
from tests.plots.results import table

pytest.importorskip("plotly")

COMMON = {"by": None, "keys": None, "zone": "UTC", "naive": None, "title": "x"}
LINES = {"value": None, **COMMON, "at": "end", "empty": None, "points": 100}
GOOD = {
    "sliding": Good(plots.sliding, {"result": table(results.sliding()), "time": None, **LINES}),
    "features": Good(plots.sliding, {
        "result": table(results.features()), **LINES, "value": "n_1h", "time": "ts", "by": "k",
    }),
    "levels": Good(
        plots.levels, {"result": table(results.levels()), "fit": table(results.fit()), **LINES}
    ),
    "trends": Good(plots.trends, {
        "result": table(results.fit()), "signal": table(results.signal()), "time": "ts",
        "column": "v", "by": None, "key": None, "at": None, "zone": "UTC", "naive": None,
        "points": 100, "title": None,
    }),
    "events": Good(plots.events, {
        "result": table(results.sliding()), "events": table(results.events()), "time": ("a", "b"),
        **LINES, "most": 9,
    }),
    "frames": Good(plots.frames, {
        "result": table(results.frames()), "value": None, "low": None, "high": None,
        "signal": table(results.signal()), "time": "ts", "column": None, **COMMON, "most": 9,
    }),
    "matches": Good(plots.matches, {
        "result": table(results.matches()), "span": ("started", "ended"), **COMMON, "most": 9,
        "spec": fl.ProgressiveWidening("1 minute", max_duration="4 minutes", max_rows=5),
    }),
    "cut": Good(plots.cut, {"windows": fl.Sliding("1 hour"), "title": None}),
    "page": Good(plots.page, {"figures": (), "title": "x"}),
    "layout": Good(plots.layout, {"title": "x", "height": 300, "dark": False}),
}  # fmt: skip


def test_every_function_is_tried():
    others = {"COLOURS", "INK", "dark", "draw", "local_time"}  # draw asks these
    assert {good.function.__name__ for good in GOOD.values()} | others == set(plots.__all__)


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", GOOD)
def test_whatever_an_argument_is_it_is_drawn_or_refused_in_our_words(name):
    good = GOOD[name]
    good.call()
    assert wrong(good, fl.FanlightError) == []
