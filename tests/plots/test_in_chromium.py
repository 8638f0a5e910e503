"""Pages in a real browser: every kind renders, nothing goes wrong, and numbers are the result's."""

from __future__ import annotations

import re

import pytest

import fanlight as fl
from fanlight import plots
from fanlight.report import Page
from tests.plots import results
from tests.plots.browser import MISSING, answer_of_page, chromium
from tests.plots.results import KINDS, table

pytest.importorskip("plotly")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(chromium() is None, reason=MISSING)]

SPECS = [
    fl.Sliding("9 minutes", "6 minutes"),
    fl.MultiGranular(["1 minute", "10 minutes", "1 hour"], ["10 seconds", "1 minute", "5 minutes"]),
    fl.ThresholdFrame("v > 0"),
    fl.ProgressiveWidening("1 second", max_duration="1 day", max_rows=100),
]

# Of each figure: the marks on its axes that are drawn, what stands on them, how wide it is.
LOOKS = """return figures().map(one => ({
  drawn: one.querySelectorAll('path.js-line, path.js-fill, .point, .shapelayer path').length,
  axis: [...one.querySelectorAll('.xtitle, .x2title, .x3title')].map(x => x.textContent),
  label: one.closest('[role=img]').getAttribute('aria-label'),
  ink: getComputedStyle(one.querySelector('.xtick text, .ytick text')).fill,
  ground: getComputedStyle(document.body).backgroundColor,
  wide: one.getBoundingClientRect().right, page: document.documentElement.scrollWidth,
  high: one.getBoundingClientRect().bottom
    - one.querySelector('.main-svg').getBoundingClientRect().bottom,
  window: innerWidth,
  cut: [...one.querySelectorAll('.annotation-text, .gtitle, .legendtext, .xtick text')]
    .filter(x => x.textContent.trim() && x.getBoundingClientRect().right > innerWidth + 1)
    .map(x => x.textContent),
}))"""

# What the reader is told of each point of each line of the first figure.
HOVERS = """const [one] = figures(), told = [];
for (let curve = 0; curve < one._fullData.length; curve++)
  for (let point = 0; point < one._fullData[curve].x.length; point++) {
    Plotly.Fx.hover(one, [{curveNumber: curve, pointNumber: point}]);
    await wait(200);
    told.push([...one.querySelectorAll('.hovertext')].map(x => x.textContent).join(' '));
  }
return told;"""


def figures():
    made = [plots.draw(table(rows), title="A picture", **more) for rows, more, _ in KINDS.values()]
    return made + [plots.draw(spec) for spec in SPECS]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("dark", "width"), [(False, 1000), (True, 1000), (False, 500)])
def test_every_kind_is_drawn(tmp_path, dark, width):
    made = figures()
    looks = answer_of_page(tmp_path, plots.page(*made), LOOKS, dark=dark, width=width)
    assert len(looks) == len(made)
    for figure, look in zip(made, looks, strict=True):
        assert look["drawn"] > 0, look
        assert look["label"] == figure.layout.meta["alt"]
        assert look["wide"] <= look["window"]
        assert look["page"] <= look["window"]
        assert look["high"] > -1  # nothing is cut off below
        assert look["cut"] == []
        light = sum(map(int, re.findall(r"\d+", look["ink"])[:3])) > 382
        assert light is dark
        ground = sum(map(int, re.findall(r"\d+", look["ground"])[:3]))
        assert (ground < 382) is dark
    assert all(look["axis"] for look in looks[: len(KINDS)])


def test_numbers_that_are_told_are_those_of_the_result(tmp_path):
    values = [3.0, 16_777_217.0, 0.1234567891, 9_007_199_254_740_991.0, -1.5]
    figure = plots.draw(table(results.sliding(values)))
    told = answer_of_page(tmp_path, plots.page(figure), HOVERS)
    numbers = [re.findall(r"[-−]?[\d,]*\.?\d+", text)[-1] for text in told]
    assert [float(text.replace(",", "").replace("−", "-")) for text in numbers] == values
    assert [re.search(r"12:0\d", text)[0] for text in told] == [f"12:0{k}" for k in range(4, 9)]


@pytest.mark.thorough  # plots tell times by one function
def test_times_that_are_told_are_of_the_zone(tmp_path):
    figure = plots.draw(table(results.sliding()), zone="Asia/Kolkata")
    told = answer_of_page(tmp_path, plots.page(figure), HOVERS)
    assert [re.search(r"17:3\d", text)[0] for text in told] == ["17:34", "17:35", "17:36"]


def test_names_stay_text(tmp_path):
    name = "<b>bold</b> & <img src=x onerror=alert(1)>"
    rows = [{"window": row["window"], name: row["n"]} for row in results.sliding()]
    page = plots.page(plots.draw(table(rows), title=name), title=name)
    question = (
        "return [document.title, document.querySelector('.ytitle').textContent,"
        " document.querySelectorAll('img').length]"
    )
    assert answer_of_page(tmp_path, page, question) == [name, name, 0]


@pytest.mark.thorough  # the demo's page is one
def test_a_report_page_shows_figures_too(tmp_path):
    page = Page("A page", "What it shows.")
    page.section("One")
    page.figure(plots.draw(table(results.sliding())))
    page.figure(plots.draw(table(results.levels()), title="Layers"))
    looks = answer_of_page(tmp_path, page.html(), LOOKS)
    assert [look["drawn"] > 0 for look in looks] == [True, True]


def test_drawings_of_a_notebook_are_seen(tmp_path):
    body = "".join(spec._repr_html_() for spec in SPECS)
    page = f"<html><head><meta charset=utf-8></head><body>{body}</body></html>"
    question = """return [...document.querySelectorAll('svg')].map(one => {
      const box = one.getBoundingClientRect();
      return [...one.querySelectorAll('text')].every(x => {
        const at = x.getBoundingClientRect();
        return at.left >= box.left - 1 && at.right <= box.right + 1 && at.bottom <= box.bottom + 1;
      }) && one.querySelectorAll('rect').length > 0; })"""
    assert answer_of_page(tmp_path, page, question, width=700) == [True] * len(SPECS)


def test_what_goes_wrong_on_a_page_is_seen(tmp_path):
    page = "<html><head></head><body><script>console.error('no')</script></body></html>"
    with pytest.raises(AssertionError, match="error: no"):
        answer_of_page(tmp_path, page, "return 1")
    with pytest.raises(AssertionError, match="nothing"):
        answer_of_page(tmp_path, "<html><head></head><body></body></html>", "return nothing.there")
