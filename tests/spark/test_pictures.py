"""Pictures of what Spark returns: the same numbers at the same instants, in any session's zone."""

from __future__ import annotations

from html import escape

import numpy as np
import pytest

import fanlight as fl
from fanlight import agg, plots

pytest.importorskip("plotly")


@pytest.fixture(scope="module")
def calls(classic):
    return classic.sql(
        "SELECT timestamp_seconds(1700000000 + id * 7) AS ts, id AS n, "
        "timestamp_seconds(1700000000 + id * 7 + 30) AS stop, id % 2 AS k FROM range(200)"
    )


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_the_session_zone_shifts_nothing(calls, time_zone, zone):
    time_zone(zone)
    result = fl.over(calls, fl.Sliding("2 minutes", "1 minute"), time="ts").agg(calls=agg.count())
    (line,) = plots.draw(result).data
    micros = "unix_micros(window.end) AS at"
    rows = result.selectExpr(micros, "calls").orderBy("at").collect()
    assert np.asarray(line.x).astype("datetime64[us]").astype(int).tolist() == [r.at for r in rows]
    assert [int(y) for y in line.y] == [row.calls for row in rows]


def test_levels_and_their_trends_are_drawn_as_they_come(calls):
    spec = fl.MultiGranular(["1 minute", "5 minutes"], ["1 minute", "1 minute"])
    windows = fl.over(calls, spec, time="ts", by="k")
    trends = windows.fit("n", filled=True)
    figure = plots.draw(windows.agg(agg.avg("n")), fit=trends)
    assert {one.name for one in figure.data} == {"0", "1", "trend lines"}
    figure = plots.draw(trends, signal=calls, time="ts", column="n", key=1)
    rows = trends.where("k = 1").selectExpr("level", "window.end AS at", "slope").collect()
    at = min(max(row.at for row in rows if row.level == level) for level in (0, 1))
    slopes = {row.level: row.slope for row in rows if row.at == at}
    names = [one.name for one in figure.data if one.name and one.name.startswith("level")]
    assert names == ["level 0: 1 minute", "level 1: 5 minutes"]
    for slope in slopes.values():
        assert f"slope {slope:.6g}" in figure.layout.meta["alt"]


def test_events_and_frames_are_drawn_as_they_come(calls):
    lasting = fl.over(calls, fl.Sliding("1 minute"), time=("ts", "stop")).agg(n=agg.count())
    figure = plots.draw(lasting, events=calls, time=("ts", "stop"))
    assert len(figure.data[-1].x) == 3 * 200
    frames = fl.over(calls, fl.ThresholdFrame("n % 50 < 20"), time="ts").frames()
    figure = plots.draw(frames, signal=calls, time="ts", column="n")
    tints = figure.data[1:3]  # in turn
    assert [len(one.x) for one in tints] == [6 * frames.count() / 2] * 2


def test_windows_are_shown_without_a_job(calls):
    context = calls.sparkSession.sparkContext
    context.setJobGroup("pictures", "what a notebook shows")
    try:
        specs = (
            fl.Sliding("1 hour", "5 minutes"),
            fl.ThresholdFrame("n > 3"),
            fl.Session("1 hour"),
        )
        for spec in specs:
            windows = fl.over(calls, spec, time="ts", by="k")
            assert "by k" in windows._repr_html_()
            text = windows.explain()
            assert escape(text, quote=False) in text._repr_html_()
            assert plots.draw(windows).layout.meta["alt"]
        assert context.statusTracker().getJobIdsForGroup("pictures") == []
    finally:
        for name in ("spark.jobGroup.id", "spark.job.description"):
            context.setLocalProperty(name, None)
