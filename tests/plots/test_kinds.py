"""A picture for each kind of windows: what is drawn is the result; what is not is said."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fanlight as fl
from fanlight import plots
from fanlight.plots.figures import axes
from fanlight.plots.figures.style import COLOURS, GROUNDS, theme
from fanlight.plots.figures.thinning import thin_line
from tests.helpers.shown import shown
from tests.helpers.unpacked import figure_of
from tests.plots import results
from tests.plots.results import KINDS, MINUTE, NOON, table, window

pytest.importorskip("plotly")


def alt(figure):
    return figure.layout.meta["alt"]


def notes(figure):
    return " ".join(one.text for one in figure.layout.annotations if one.name == "notes")


def minutes(line):
    return ((np.asarray(line.x) - np.datetime64(NOON)) / np.timedelta64(1, "m")).tolist()


@cache
def of_arrow(kind):
    """The picture of a kind's result as an Arrow table, as JSON."""
    rows, options, _ = KINDS[kind]
    return plots.draw(table(rows), **options).to_json()


@pytest.mark.parametrize("kind", KINDS)
def test_draw_knows_each_kind_by_its_columns(kind):
    rows, options, said = KINDS[kind]
    figure = plots.draw(table(rows), **options)
    assert said in alt(figure)
    assert "NaN" not in alt(figure)
    function = {"fitted": "levels", "features": "sliding"}.get(kind, kind)
    same = getattr(plots, function)(table(rows), **options)
    assert same.to_json() == figure.to_json()


@pytest.mark.parametrize("form", ["arrow", "batch", "rows", "pandas", "polars"])
@pytest.mark.parametrize("kind", KINDS)
def test_each_form_gives_the_same_picture(kind, form):
    rows, options, _ = KINDS[kind]
    made = table(rows)
    if form == "batch":
        made = made.to_batches()[0]
    elif form == "rows":
        made = made.to_pylist()
    elif form == "pandas":
        pytest.importorskip("pandas")
        made = made.to_pandas()
    elif form == "polars":
        polars = pytest.importorskip("polars")
        made = polars.from_arrow(made)
    figure = plots.draw(made, **options)
    assert figure.to_json() == of_arrow(kind)


def test_what_is_not_ready_is_refused():
    polars = pytest.importorskip("polars")
    lazy = polars.from_arrow(table(results.sliding())).lazy()
    with pytest.raises(fl.FanlightError, match=r"frame\.collect\(\)"):
        plots.draw(lazy)


def test_layers_are_the_horizons_the_finest_on_top():
    figure = plots.levels(table(results.levels()))
    lines = [one for one in figure.data if one.mode == "lines"]
    assert [(one.name, one.yaxis) for one in lines] == [("level 0", "y"), ("level 1", "y2")]
    assert minutes(lines[0]) == list(range(31))
    assert list(lines[1].y) == [0, 5, 10, 15, 20, 25, 30]
    bars = [shape for shape in figure.layout.shapes if shape.name == "last window"]
    assert [(bar.x0[11:16], bar.x1[11:16]) for bar in bars] == [
        ("12:29", "12:30"), ("12:25", "12:30"),
    ]  # fmt: skip


def test_trend_lines_are_those_of_windows_side_by_side():
    figure = plots.levels(table(results.levels()), fit=table(results.fit()))
    drawn = [one for one in figure.data if one.name == "trend lines"]
    assert [one.yaxis for one in drawn] == ["y", "y2"]
    assert len(drawn[1].x) == 3 * 7
    for one in drawn:
        there = ~np.isnan(np.asarray(one.y, float))
        x = (np.asarray(one.x)[there] - np.datetime64(NOON)) / np.timedelta64(1, "m")
        assert np.allclose(x, np.asarray(one.y)[there])


def test_trends_end_at_one_instant():
    figure = plots.trends(table(results.fit()), signal=table(results.signal()), time="ts")
    signal, *lines = [one for one in figure.data if one.yaxis == "y"]
    assert minutes(signal) == list(range(25, 31))
    assert [minutes(one) for one in lines] == [[29, 30], [25, 30]]
    assert [[round(y, 9) for y in one.y] for one in lines] == [[29, 30], [25, 30]]
    at = datetime(2024, 5, 1, 12, 13, tzinfo=UTC)
    early = plots.trends(table(results.fit()), at=at)
    assert [minutes(one) for one in early.data[:2]] == [[12, 13], [5, 10]]
    with pytest.raises(fl.FanlightError, match="before the end of the first window"):
        plots.trends(table(results.fit()), at=datetime(2020, 1, 1))


def side_by_side(count):
    return [
        {**window(k, k + 1), "frame_id": k, "rows": 1, "closed": True, "avg(v)": float(k)}
        for k in range(count)
    ]


def boxes(figure):
    """Of each trace of boxes: its tint, and the first and the last minute of each box."""
    return [
        (one.fillcolor, [(x[k], x[k + 2]) for k in range(0, len(x), 6)])
        for one in figure.data if one.fill == "toself" for x in [minutes(one)]
    ]  # fmt: skip


def test_frames_lie_over_their_signal():
    figure = plots.frames(table(results.frames()), signal=table(results.signal()), time="ts")
    signal, *bands = figure.data
    assert signal.name == "v"
    assert list(signal.y) == [float(k) for k in range(-5, 31)]
    assert [places for _, places in boxes(figure)] == [[(0, 4), (20, 24)], [(10, 14)]]
    assert (np.nanmin(bands[0].y), np.nanmax(bands[0].y)) == (-5, 30)
    assert [one.showlegend for one in bands] == [True, False]
    assert figure.layout.yaxis.title.text == "v"


@pytest.mark.parametrize("value", [None, "avg(v)"])
@pytest.mark.parametrize("count", [3, 38])
def test_frames_that_touch_are_told_apart(count, value):
    made = side_by_side(count)
    if value is None:
        for row in made:
            del row["avg(v)"]
    figure = plots.frames(table(made), signal=table(results.signal()), time="ts")
    (one, even), (other, odd) = boxes(figure)
    assert one != other
    assert even == [(k, k + 1) for k in range(0, count, 2)]
    assert odd == [(k, k + 1) for k in range(1, count, 2)]
    assert all(trace.mode == "lines" and trace.line.width >= 1 for trace in figure.data)
    lines = [trace.name for trace in figure.data if not trace.fill]
    assert lines == ["v"] + ([value] if value else [])


def test_the_edges_of_very_many_frames_do_not_hide_their_tints():
    figure = plots.frames(table(side_by_side(300)), "avg(v)", low="rows", high="avg(v)")
    assert {trace.line.width for trace in figure.data if trace.fill} == {0.3}


def test_a_signal_breaks_where_no_row_came():
    rows = [row for row in results.signal() if not 0 < (row["ts"] - NOON) / MINUTE < 20]
    figure = plots.frames(table(results.frames()), signal=table(rows), time="ts")
    assert np.isnan(figure.data[0].y).sum() == 1
    assert "breaks where no row came for more than 10 minutes" in notes(figure)


def test_the_signal_of_a_key_is_its_own():
    frames = [{"k": key, **row} for key in "ab" for row in results.frames()]
    signal = [{"k": key, **row, "v": number} for number, key in enumerate("ab")
              for row in results.signal()]  # fmt: skip
    figure = plots.frames(table(frames), signal=table(signal), time="ts", column="v")
    assert {one.name: set(one.y) for one in figure.data if not one.fill} == {
        "v of a": {0}, "v of b": {1},
    }  # fmt: skip
    with pytest.raises(fl.FanlightError, match="the signal has no column 'k'"):
        plots.frames(table(frames), signal=table(results.signal()), time="ts")


def test_events_are_bars_that_do_not_overlap():
    figure = plots.events(
        table(results.sliding([1] * 12)), events=table(results.events()), time=("a", "b")
    )
    bars = figure.data[-1]
    x, y = minutes(bars), list(bars.y)
    found = [(x[k], x[k + 1], y[k]) for k in range(0, len(x), 3)]
    assert [(first, last) for first, last, _ in found] == [(k, k + 3) for k in range(8)]
    assert len({lane for _, _, lane in found}) == 3
    for first, last, lane in found:
        others = [one for one in found if one[2] == lane and one != (first, last, lane)]
        assert all(other[1] <= first or other[0] >= last for other in others)


def test_events_that_are_not_drawn_are_counted():
    figure = plots.events(
        table(results.sliding()), events=table(results.events()), time=("a", "b"), most=3
    )
    assert "3 of 6 events are drawn" in notes(figure)
    assert len(figure.data[-1].x) == 9
    broken = [*results.events(), {"a": NOON, "b": None}, {"a": NOON, "b": NOON - MINUTE}]
    figure = plots.events(table(results.sliding()), events=table(broken), time=("a", "b"))
    assert "2 events without a start or a stop are left out" in notes(figure)


def test_matches_stand_on_their_level_in_the_staircase():
    spec = fl.ProgressiveWidening("1 minute", max_duration="4 minutes", max_rows=5)
    figure = plots.matches(table(results.matches()), spec=spec)
    stairs = [one for one in figure.data if one.name == "all windows"]
    assert len(stairs) == 3
    assert all(
        (b - a) == 2 * 2**level
        for level, one in enumerate(stairs)
        for a, b in [minutes(one)[k : k + 2] for k in range(0, len(one.x), 3)]
    )
    found = next(one for one in figure.data if one.name == "found")
    assert (minutes(found), list(found.y)) == ([2, 4, 8], [0, 1, 2])
    assert list(figure.layout.yaxis.ticktext) == ["0: 2 minutes", "1: 4 minutes", "2: 8 minutes"]


def test_windows_over_numbers_are_drawn_over_numbers():
    rows = [{"window": {"start": k / 2, "end": k / 2 + 1}, "n": k} for k in range(6) if k != 3]
    figure = plots.draw(rows)
    (line,) = figure.data
    assert figure.layout.xaxis.type == "linear"
    assert list(line.x) == [1, 1.5, 2, 2.5, 2.5, 3, 3.5]
    assert np.isnan(line.y).tolist() == [False, False, False, True, True, False, False]


def test_a_null_is_a_gap():
    (line,) = plots.draw(table(results.sliding([1, None, 3]))).data
    assert np.isnan(line.y).tolist() == [False, True, False]
    (line,) = plots.draw(table(results.sliding([1.0, None, 3.0])), empty=0).data
    assert np.isnan(line.y).tolist() == [False, True, False]


def test_an_infinite_value_is_left_out_and_told():
    figure = plots.draw(table(results.sliding([1.0, np.inf, 3.0])))
    assert np.isnan(figure.data[0].y).tolist() == [False, True, False]
    assert "1 infinite values of n are left out" in notes(figure)


def test_numbers_are_not_rounded():
    (line,) = plots.draw(table(results.sliding([2**24 + 1, 2**53 - 1]))).data
    assert [int(y) for y in line.y] == [2**24 + 1, 2**53 - 1]


@shown(200)
@given(
    st.lists(st.one_of(st.just(np.nan), st.integers(-9, 9)), min_size=1, max_size=300),
    st.integers(2, 40),
)
def test_a_thinned_line_keeps_peaks_and_bridges_no_gap(values, points):
    values = np.array(values, float)
    kept = thin_line(values, points)
    known = values[~np.isnan(values)]
    if len(known):
        assert np.nanmin(values[kept]) == known.min()
        assert np.nanmax(values[kept]) == known.max()
    assert len(kept) <= max(points, 3)
    assert (np.diff(kept) > 0).all()
    if np.isnan(values).any():
        assert np.isnan(values[kept]).any()


def test_a_gap_in_a_long_line_is_still_a_gap():
    rows = [row for k, row in enumerate(results.sliding(range(5_000))) if not 2_000 < k < 2_600]
    figure = plots.draw(table(rows), points=90)
    (line,) = figure.data
    x, y = np.array(minutes(line)), np.asarray(line.y)
    inside = (x > 2_010) & (x < 2_600)
    assert np.isnan(y[inside]).all()
    assert inside.any() or np.isnan(y[np.searchsorted(x, 2_600) - 1])
    assert "points are drawn, the lowest and the highest of each stretch" in notes(figure)


def test_many_keys_are_few_and_named():
    rows = [row for k in range(20) for row in results.sliding(range(k + 1), key=f"key {k:02}")]
    figure = plots.draw(table(rows))
    assert [line.name for line in figure.data] == [f"key {k}" for k in range(12, 20)]
    assert "8 of 20 keys are drawn" in notes(figure).replace("<br>", " ")
    assert "key 12" in notes(figure)
    chosen = plots.draw(table(rows), keys=["key 03", "key 01"])
    assert [line.name for line in chosen.data] == ["key 01", "key 03"]
    assert notes(chosen) == ""
    assert len(plots.draw(table(rows), keys=2).data) == 2
    with pytest.raises(fl.FanlightError, match="asks for 'key 99', which is not a key"):
        plots.draw(table(rows), keys=["key 99"])


def test_two_rows_at_one_time_are_no_line():
    rows = results.sliding(key="a") + results.sliding(key="b")
    with pytest.raises(fl.FanlightError, match=r"two rows are at .* by=\["):
        plots.draw(table(rows), by=[])
    again = [{**row, "host": "x"} for row in results.levels()] * 2
    with pytest.raises(fl.FanlightError, match="two rows"):
        plots.draw(table(again))


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/New_York"])
def test_the_zone_that_a_session_shows_times_in_shifts_nothing(zone):
    (line,) = plots.draw(table(results.sliding(), zone)).data
    assert minutes(line) == [4, 5, 6]


def test_times_without_a_zone_are_told_and_can_be_given_one():
    figure = plots.draw(results.sliding())
    assert "read as UTC" in notes(figure)
    assert minutes(figure.data[0]) == [4, 5, 6]
    figure = plots.draw(results.sliding(), naive="Europe/Vienna")
    assert minutes(figure.data[0]) == [-116, -115, -114]
    assert "read as Europe/Vienna" in notes(figure)
    assert notes(plots.draw(results.sliding(), naive="UTC")) == ""
    assert figure.layout.xaxis.title.text == "end of window, UTC"


def test_a_line_does_not_run_backwards_where_clocks_are_set_back():
    times = [datetime(2024, 10, 27, k // 60, k % 60) for k in range(0, 120, 10)]
    rows = [{"window": {"start": one, "end": one}, "n": k} for k, one in enumerate(times)]
    figure = plots.draw(table(rows), zone="Europe/Vienna")
    x, y = np.asarray(figure.data[0].x), np.asarray(figure.data[0].y)
    back = np.flatnonzero(x[1:] < x[:-1])
    assert len(back) == 1
    assert np.isnan(y[back[0] + 1])
    assert "clocks of Europe/Vienna are set back" in notes(figure)
    line = {"slope": 1.0, "intercept": 0.0, "r2": 1.0}
    fitted = [{"window": {"start": times[0], "end": times[-1]}, **line}]
    signal = [{"ts": one, "v": k} for k, one in enumerate(times)]
    figure = plots.trends(table(fitted), signal=table(signal), time="ts", zone="Europe/Vienna")
    assert np.isnan(figure.data[0].y).tolist() == np.isnan(y).tolist()
    assert "clocks of Europe/Vienna are set back" in notes(figure)


def test_names_are_no_markup():
    rows = [{"<b>": "<i>x</i>", **row, "<u>n</u>": row["n"]} for row in results.sliding()]
    for row in rows:
        del row["n"]
    figure = plots.draw(table(rows), title="<h1>&amp;")
    assert figure.data[0].name == "&lt;i&gt;x&lt;/i&gt;"
    assert figure.layout.yaxis.title.text == "&lt;u&gt;n&lt;/u&gt;"
    assert figure.layout.title.text == "&lt;h1&gt;&amp;amp;"
    text = plots.page(figure, title="</title><script>")
    assert "<title>&lt;/title&gt;&lt;script&gt;</title>" in text


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (results.sliding(), {"wrong": 1}, r"with plots\.sliding.*it takes value, time, by, keys"),
        (results.sliding(), {"zone": "Vienna"}, "zone='Vienna' is not a time zone"),
        (results.sliding(), {"naive": "../x"}, "naive='../x' is not a time zone"),
        (results.sliding(), {"at": "middle"}, "at='middle' is neither end of a window"),
        (results.sliding(), {"keys": 0}, "keys=0 draws no key"),
        (results.sliding(), {"keys": []}, "draws no key"),
        (table(results.sliding())[:0], {}, "no rows to draw, since no window was reported"),
        (results.sliding(), {"keys": 1.5}, "keys=1.5 names no keys"),
        (results.frames(), {"signal": results.signal()}, "time=None names no column"),
        (
            results.frames(),
            {"signal": results.signal(), "time": "v"},
            "of type double, but windows",
        ),
        (results.sliding(), {"events": results.events(), "time": "a"}, "is not a pair of columns"),
        (
            results.sliding(),
            {"events": results.events(), "time": ("a", "c")},
            "'c' is not a column",
        ),
        (results.matches(), {"span": "ab"}, "is not a pair of columns"),
        (results.matches(), {"spec": 3}, "spec=3 is not an fl.ProgressiveWidening"),
        (results.levels(), {"fit": results.sliding()}, "fit= has no column 'slope'"),
        ([{"ts": NOON, "frame_id": 3}], {}, r"plots\.frames\(frames, signal=rows"),
        ([{**window(0, 1), "v": 1}, {**window(0, 1), "v": "x"}], {}, "these rows make no table"),
        (results.features(), {}, r"plots\.draw\(rows, 'spend_1h', time='ts', by='card'\)"),
        (results.features(), {"time": "ts"}, r"write by=\['…'\] .* or by=\(\) if all rows"),
        (results.features(), {"time": "ts", "by": "k"}, "value='…', one of v, n_1h$"),
        (results.features(), {"value": "k", "time": "ts", "by": "k"}, "name a column of numbers"),
        (results.features(), {"value": "v", "time": "k", "by": ()}, "neither a time nor a number"),
        (results.features(), {"value": "v", "time": "t", "by": ()}, "did you mean 'ts'"),
        (table(results.features())[:0], {"value": "v", "time": "ts", "by": ()}, "none has a time"),
        (results.sliding(), {"time": "ts"}, "is for rows without windows; leave it out"),
        (3, {}, "an int cannot be drawn"),
        (fl.Sliding, {}, "a type cannot be drawn"),
        ({"window": 1}, {}, "a dict cannot be drawn"),
    ],
)
def test_what_cannot_be_drawn_says_what_to_write(given, options, message):
    with pytest.raises(fl.FanlightError, match=message):
        plots.draw(given, **options)


@pytest.mark.parametrize(
    ("function", "given", "message"),
    [
        (plots.levels, results.sliding(), r"write plots\.sliding"),
        (plots.trends, results.levels(), r"write plots\.levels"),
        (plots.matches, results.levels(), "no column 'found_at'"),
        (plots.sliding, results.matches(), r"write plots\.matches"),
        (plots.cut, results.levels(), "has no windows: give a spec"),
        (plots.page, results.levels(), "is not a figure"),
    ],
)
def test_the_wrong_picture_names_the_right_one(function, given, message):
    with pytest.raises(fl.FanlightError, match=message):
        function(given)


def contrast(one, other):
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("dark", [False, True])
def test_colours_are_seen_on_light_and_dark_grounds(dark):
    ink = theme(dark=dark)["layout"]["font"]["color"]
    assert contrast(ink, GROUNDS[dark]) > 7
    assert min(contrast(one, GROUNDS[dark]) for one in COLOURS) >= 3
    assert len(set(COLOURS)) == len(COLOURS)


def test_a_page_is_not_much_larger_than_plotly_packed():
    figure = plots.draw(table(results.sliding()))
    text = plots.page(figure)
    assert len(text) < 1_900_000
    packed = re.search(r'id="figure-1-data">(.*?)</script>', text)[1]
    assert json.loads(figure_of(text))["data"] == json.loads(figure.to_json())["data"]
    assert not set("<>&") & set(packed)


def test_the_words_of_a_picture_are_on_its_page():
    figure = plots.draw(table(results.sliding()))
    text = plots.page(figure)
    assert f'role="img" aria-label="{alt(figure)}"' in text
    assert 'name="viewport"' in text
    assert "prefers-color-scheme: dark" in text


def test_windows_of_all_lengths_are_steps():
    """Snapshots: a value holds as long as its window, and a line breaks where none is."""
    ends = [(0, 1), (1, 5), (5, 6), (9, 20)]
    rows = [{"window": {"start": begin, "end": end}, "n": n} for n, (begin, end) in enumerate(ends)]
    (line,) = plots.draw(table(rows)).data
    assert (line.mode, list(line.x)) == ("lines", [0, 1, 1, 1, 5, 5, 5, 6, 6, 9, 20, 20])
    assert [None if math.isnan(y) else y for y in line.y] == [
        0, 0, 0, 1, 1, 1, 2, 2, None, 3, 3, None
    ]  # fmt: skip


def test_whether_windows_are_steps_is_asked_once_a_line(monkeypatch):
    asked, are_steps = [], axes.are_steps
    monkeypatch.setattr(axes, "are_steps", lambda *ends: asked.append(ends) or are_steps(*ends))
    monkeypatch.setattr("fanlight.plots.figures.sliding.are_steps", axes.are_steps, raising=False)
    plots.draw([row for key in "ab" for row in results.sliding(key=key)])
    assert len(asked) == 2


def test_features_are_lines_over_the_time_of_their_rows():
    late = {"ts": NOON + 90 * MINUTE, "k": "a"}  # a second row of the key at this time
    made = [*results.features(), {**late, "n_1h": math.nan}, {**late, "ts": None, "n_1h": 3.0}]
    figure = plots.draw(table(made[::-1]), "n_1h", time="ts", by="k")
    one, other = figure.data
    assert (one.name, other.name) == ("a", "b")
    known = [(x, y) for x, y in zip(minutes(one), one.y, strict=True) if not math.isnan(y)]
    assert known == [(0, 0), (2, 2), (6, 6), (8, 8), (90, 90)]
    assert minutes(other) == list(other.y) == [1, 3, 5, 7, 9]
    breaks = [x for x, y in zip(minutes(one), one.y, strict=True) if math.isnan(y)]
    assert breaks[0] == 4
    assert 8 < breaks[1] < 90
    assert figure.layout.xaxis.title.text == "ts, UTC"
    assert "1 rows without a time are left out" in notes(figure)
    assert "break where no row came for ten times the usual step" in notes(figure)
    numbers = [{"at": at, "x": 1.0} for at in (0.5, math.nan, 2.5)]
    (line,) = plots.draw(numbers, "x", time="at", by=()).data
    assert list(line.x) == [0.5, 2.5]


def test_many_rows_with_features_are_thinned_and_their_peaks_are_drawn():
    count = 200_000
    values = np.zeros(count)
    values[77_777] = 9.0
    made = pa.table({"at": np.arange(count), "x": values})
    (line,) = plots.draw(made, "x", time="at", by=()).data
    assert len(line.x) <= 2_000
    assert (77_777, 9.0) in set(zip(line.x.tolist(), line.y.tolist(), strict=True))


def test_frames_without_edges_are_bars():
    bar, _, _ = plots.draw(table(results.frames())).data
    assert min(y for y in bar.y if not math.isnan(y)) == 0
    states = [{name: row[name] for name in ("window", "frame_id", "rows", "closed")} | {"s": "on"}
              for row in results.frames()]  # fmt: skip
    assert "rows is from" in plots.draw(table(states)).layout.meta["alt"]


def test_a_row_in_many_windows_is_told_in_plain_digits():
    text = plots.draw(fl.Sliding("1 day", "1 minute")).layout.meta["alt"]
    assert "in 1,440 windows" in text
