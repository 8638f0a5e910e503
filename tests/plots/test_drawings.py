"""Drawings of specs, windows and plans in notebooks: small, true, and no markup of a user's."""

from __future__ import annotations

import pickle
import subprocess
import sys
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fanlight as fl
from fanlight import agg, plots
from fanlight.engine.plan.explain import Explained
from fanlight.engine.plan.granules import cut_into_pairs, cut_into_panes
from fanlight.engine.plan.grid import Grid
from fanlight.engine.spec.pictures import Picture
from fanlight.plots.sketches.model import select_ticks
from fanlight.plots.sketches.svg import sketch_picture, sketch_spec, to_html, to_svg
from tests.helpers.shown import shown

SPECS = [
    fl.Sliding("9 minutes", "6 minutes"),
    fl.Sliding("60 minutes", "1 minute", offset="7 seconds"),
    fl.Sliding("1 minute", "5 minutes"),
    fl.Sliding(fl.Rows(5), fl.Rows(2)),
    fl.Sliding("5 minutes", fl.Rows(1)),
    fl.Sliding(1.0, 0.5),
    fl.MultiGranular(["1 minute", "10 minutes", "1 day"], ["10 seconds", "1 minute", "1 hour"]),
    fl.MultiGranular([4, 12, 24], [1, 2, 4], report="continuous", horizons=[7]),
    fl.ThresholdFrame("<script>alert(1)</script> > 0"),
    fl.BoundaryFrame({"x": 4.2}),
    fl.BoundaryFrame({"x": 4.2}, overlapping=True),
    fl.DeltaFrame({'"><b>&': 1}),
    fl.AggregateFrame(agg.sum("x"), 10),
    fl.PredicateFrame("x > 1", "x < 1"),
    fl.PredicateFrame(max, min, columns=["x"], overlapping=True),
    fl.Session("5 minutes"),
    fl.StateFrame("<b>", max_gap="5 minutes"),
    fl.PatternFrame("a+ b", {"a": "x < 1", "b": "<b> > 1"}, within="5 minutes"),
    fl.ProgressiveWidening("1 second", max_duration="1 day", max_rows=100),
    fl.ProgressiveWidening("1 second", max_duration="1 second", max_rows=100),
    fl.ProgressiveWidening(["1 second", "1 hour"], max_duration="1 hour", max_rows=100),
    fl.Sliding("5 minutes", fl.Rows(9)),
    fl.Sliding(fl.Rows(3), "5 minutes", offset="1 minute"),
]


def marks(lane):
    return [(mark.start, mark.end) for mark in lane.marks if mark.kind != "slice"]


def boxes_of(lane):
    return [(one.start, one.end) for one in lane.marks if one.kind not in ("slice", "row")]


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_a_spec_is_drawn_small_and_well_formed(spec):
    text = spec._repr_html_()
    assert len(text) < 8_000
    tree = ET.fromstring(text)  # noqa: S314 - our own text
    (found,) = tree.iter("{http://www.w3.org/2000/svg}svg")
    assert found.get("role") == "img"
    assert found.get("aria-label").startswith(repr(spec)[:200])
    assert {one.tag.rpartition("}")[2] for one in tree.iter()} <= {
        "div", "code", "svg", "title", "text", "path", "rect", "circle", "polyline",
    }  # fmt: skip
    wide = float(found.get("viewBox").split()[2])
    for box in tree.iter("{http://www.w3.org/2000/svg}rect"):
        assert float(box.get("x")) >= 0
        assert float(box.get("x")) + float(box.get("width")) <= wide + 0.1


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_the_figure_of_a_spec_shows_what_its_drawing_shows(spec):
    pytest.importorskip("plotly")
    found = sketch_spec(spec)
    figure = plots.draw(spec)
    boxes = [(one.x0, one.x1) for one in figure.layout.shapes if one.type == "rect"]
    assert boxes == [place for lane in found.lanes for place in boxes_of(lane)]
    assert found.alt in figure.layout.meta["alt"]


def test_windows_are_where_they_are():
    lanes = sketch_spec(fl.Sliding(9, 6)).lanes
    assert [marks(lane) for lane in lanes] == [[(6 * m, 6 * m + 9)] for m in range(5)]
    *windows, gaps = sketch_spec(fl.Sliding(1, 5)).lanes
    assert [marks(lane) for lane in windows] == [[(5 * m, 5 * m + 1)] for m in range(3)]
    assert marks(gaps) == [(1, 5), (6, 10)]


@shown(100)
@given(st.integers(1, 60), st.integers(1, 60))
def test_the_row_of_a_drawing_is_in_the_windows_that_hold_it(length, step):
    found = sketch_spec(fl.Sliding(length, step))
    rows = {mark.start for lane in found.lanes for mark in lane.marks if mark.kind == "row"}
    held = [any(mark.kind == "row" for mark in lane.marks) for lane in found.lanes]
    if length % step or length == step:
        assert not rows
        return
    (row,) = rows
    inside = [start <= row < end for lane in found.lanes for start, end in boxes_of(lane)]
    assert held == inside
    assert sum(held) == min(length // step, len(held))


def test_horizons_end_together_and_are_to_scale_if_they_can_be():
    found = sketch_spec(fl.MultiGranular([4, 12, 24], [1, 2, 4]))
    assert [marks(lane) for lane in found.lanes] == [[(-4 / 24, 0)], [(-12 / 24, 0)], [(-1, 0)]]
    assert found.notes == ()
    assert "not to scale" in sketch_spec(SPECS[6]).notes


def test_frames_of_the_example_are_what_their_sentence_says():
    lanes = sketch_spec(fl.ThresholdFrame("v > 0")).lanes
    curve, (rule,) = dict(lanes[0].curve), lanes[0].rules
    for start, end in marks(lanes[1]):
        assert all((value > rule) == (start <= x < end) for x, value in curve.items()
                   if start - 1 <= x <= end)  # fmt: skip
    rows, sessions = sketch_spec(fl.Session("5 minutes")).lanes
    held = [sum(start <= row < end for start, end in marks(sessions)) for row, _ in marks(rows)]
    assert held == [1] * len(held)


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_windows_that_touch_on_a_lane_are_told_apart(spec):
    for lane in sketch_spec(spec).lanes:
        windows = [both for both in zip(lane.marks, lane.tints, strict=True)
                   if both[0].kind == "window"]  # fmt: skip
        for (one, tint), (other, next_tint) in pairwise(windows):
            assert (one.end == other.start) <= (tint != next_tint)
    assert to_svg(sketch_spec(fl.DeltaFrame({"x": 1}))).count('fill-opacity=".5"') == 3


def test_levels_of_widening_are_windows_of_two_batches():
    lanes = sketch_spec(fl.ProgressiveWidening(1, max_duration=4, max_rows=9)).lanes
    found = sorted({place for lane in lanes for place in marks(lane)})
    assert found == sorted(
        (at, at + 2 * batch) for batch in (1, 2, 4) for at in range(0, 9 - 2 * batch, batch)
    )


@shown(100)
@given(st.integers(1, 60), st.integers(1, 60), st.sampled_from([cut_into_panes, cut_into_pairs]))
def test_slices_of_a_plan_fill_its_windows(length, step, technique):
    spec, grid = fl.Sliding(length, step), Grid(length, step)
    cut = technique(grid)
    *windows, last = sketch_picture(Picture(spec, cut, technique.__name__)).lanes
    if last.name != "slices":
        return
    edges = {place for pair in marks(last) for place in pair}
    for lane in windows:
        if lane.name.startswith("window"):
            ((start, end),) = boxes_of(lane)
            assert {start, end} <= edges
            inside = [b - a for a, b in marks(last) if start <= a and b <= end]
            assert (sum(inside), len(inside)) == (end - start, cut.span)


def test_explained_is_text_with_a_drawing():
    made = Explained("a < b\n", Picture(fl.Sliding(9, 6)))
    assert made == "a < b\n"
    assert str(made) == f"{made}"
    assert "<pre" in made._repr_html_()
    assert "a &lt; b" in made._repr_html_()
    assert pickle.loads(pickle.dumps(made))._repr_html_() == made._repr_html_()  # noqa: S301


def test_a_drawing_loads_neither_spark_nor_plotly():
    code = (
        "import sys, fanlight as fl; fl.Sliding('1 hour')._repr_html_();"
        "print(*({'pyspark', 'plotly', 'numba', 'numpy'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() in ("", "numpy")


def test_long_texts_are_cut_off():
    spec = fl.ThresholdFrame("x > 1 AND " * 1_000 + "y")
    assert len(to_html(sketch_spec(spec))) < 6_000
    assert "…" in to_svg(sketch_spec(spec))


@shown(100)
@given(
    st.lists(st.tuples(st.floats(0, 100), st.text("ab", max_size=12)), max_size=12),
    st.integers(1, 80),
)
def test_texts_of_an_axis_do_not_meet(ticks, room):
    kept = select_ticks(ticks, (0, 100), room)
    ends = [(x * room / 100 - len(text) / 2, x * room / 100 + len(text) / 2) for x, text in kept]
    assert all(a[1] <= b[0] for a, b in pairwise(ends))
    assert not ticks or max(ticks) in kept


def test_a_list_of_windows_is_drawn_and_a_list_of_others_is_not():
    pytest.importorskip("plotly")
    figure = plots.draw([fl.Sliding("1 hour", "5 minutes"), fl.Sliding("61 minutes", "7 minutes")])
    assert list(figure.layout.yaxis.ticktext) == ["query 0", "query 1"]
    with pytest.raises(fl.FanlightError):
        plots.draw([fl.Sliding("1 hour"), 3])
