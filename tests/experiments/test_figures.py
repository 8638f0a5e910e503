"""Pictures: the same data give the same file, any text can be shown, pages and figures agree."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import matplotlib as mpl
import pytest

from experiments import charts, claims, draw
from experiments.spanning.pictures import rates

NAMES = [name for name in claims.NAMES if name != "frames"]
HOSTILE = ("<b>", "a & b", '"]]>', "$x$", r"\frac{1}{2}", "_hidden", "{0} %s", "μ ≤ 5", "'")


def texts(svg):
    """The words of a picture, in order."""
    root = ET.fromstring(svg)  # noqa: S314 - it is our own
    return [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]


def pictures(name, **how):
    return draw.figures(name, claims.texts(name)[1], **how)


@charts.drawn
def one_line(name):
    figure, (ax,) = charts.panels(title=name)
    charts.plot(ax, name, name, name, [charts.Line(name, [(1, 1), (10, 100)])], log="xy")
    charts.legend(figure, name)
    return figure


@charts.drawn
def one_column(name):
    figure, (ax,) = charts.panels()
    charts.columns(ax, [name, "other"], {name: [1, float("nan")]})
    charts.legend(figure)
    charts.beside(ax)
    return figure


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_figures_of_an_experiment_are_those_of_its_pages(name):
    """Of the words in them all: names, numbers of the axes. Draw them by ``experiments.draw``."""
    found = pictures(name)
    assert found == pictures(name)
    kept = {path.name: path.read_text("utf-8") for path in (claims.HERE / name).glob("*.svg")}
    assert kept.keys() == found.keys()
    for file, svg in found.items():
        assert texts(svg) == texts(kept[file]), f"run python -m experiments.draw {name}"


@pytest.mark.slow
def test_the_figures_of_frames_are_those_of_their_pages_and_of_their_data():
    few = pictures("frames", share=0.02)
    assert few == pictures("frames", share=0.02)
    kept = {path.name: path.read_text("utf-8") for path in (claims.HERE / "frames").glob("*.svg")}
    assert kept.keys() == few.keys()
    of_tows = {"figure1.svg", "figure4_tow06.svg", "figure4_tow13.svg"}  # of all their rows
    for file in few.keys() - of_tows:
        assert texts(few[file]) == texts(kept[file]), "run python -m experiments.draw frames"


@pytest.mark.parametrize("name", HOSTILE)
def test_any_text_is_shown_as_it_is(name):
    assert texts(one_line(name)).count(name) == 6  # figure, panel, two axes, legend and its remark
    assert texts(one_column(name)).count(name) == 3


def test_a_picture_does_not_depend_on_what_else_is_set():
    before = one_line("a")
    with mpl.rc_context({"font.size": 30, "svg.hashsalt": "other", "lines.linewidth": 9}):
        assert one_line("a") == before
        assert mpl.rcParams["font.size"] == 30
    assert one_line("b") != before


def test_a_picture_tells_no_time_and_has_a_ground():
    root = ET.fromstring(one_line("a"))  # noqa: S314
    assert not [one.tag for one in root.iter() if "date" in one.tag]
    first = next(one for one in root.iter() if one.get("id") == "patch_1")
    assert f"fill: {charts.GROUND}" in first[0].get("style")


def test_points_without_a_value_are_left_out():
    line = charts.Line("a", [(1, None), (2, 5.0), (3, float("nan")), (4, 0.0)])
    assert line.known() == ([2, 4], [5.0, 0.0])


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([10, 100, 1000], {10, 100, 1000}),
        ([1, 2, 5, 90, 95, 100], {1, 5, 100}),
        ([7], {7}),
    ],
)
def test_labels_have_room(values, shown):
    _, (ax,) = charts.panels()
    found = charts.apart(ax, values)
    assert {min(values), max(values)} <= set(found)
    assert set(found) == shown


def test_shades_grow_darker():
    sums = [sum(int(one[at : at + 2], 16) for at in (1, 3, 5)) for one in charts.shades(6)]
    assert sums == sorted(sums, reverse=True)
    assert len(set(sums)) == 6


def test_sizes_are_short():
    found = [charts.short(one) for one in (300, 1_000, 15_552, 22_000, 10_000_000)]
    assert found == ["300", "1k", "15,552", "22k", "10M"]


def test_panels_need_not_fill_their_rows():
    rows = [{"range": "levels", "10": "1", "100": "2"}]
    figure = rates.__wrapped__("Figure 12: range", [(f"{n}", rows) for n in range(5)], 4)
    assert len(figure.axes) == 5
    assert "<svg" in rates("Figure 12: range", [("a", rows)], 4)
