"""Pages: one file that needs nothing else, in which no text is taken for markup."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from fanlight.report import Page
from tests.helpers.unpacked import figure_of

go = pytest.importorskip("plotly.graph_objects")
VOID = {"meta", "line", "path", "br"}


class Checked(HTMLParser):
    """Sees that elements are closed in order, and notes what a page would fetch."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.fetched = []

    def handle_starttag(self, tag, attrs):
        self.fetched += [value for name, value in attrs if name in {"src", "href"}]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


def checked(page):
    text = page.html()
    parser = Checked()
    parser.feed(text)
    parser.close()
    assert parser.open == []
    assert parser.fetched == []
    return text


def test_a_page_without_figures_is_small():
    page = Page("Bids", "Minute by minute.")
    page.section("Items", "Three of them.")
    assert len(checked(page)) < 10_000


def test_plotly_is_there_once_however_many_figures():
    page = Page("Bids", "Minute by minute.")
    for name in ("a", "b", "c"):
        page.section(name)
        page.figure(go.Figure(go.Scatter(y=[1, 2], name=name)))
    text = checked(page)
    assert text.count('id="plotly"') == 1
    assert len(text) < 2_200_000
    assert [f'id="figure-{k}"' in text for k in (1, 2, 3, 4)] == [True, True, True, False]


def test_nothing_is_markup_but_backticks():
    page = Page("<b>&", "`a<b`", "5 < 6")
    page.facts([(1, "<i>")])
    page.section("<h1>", "<p>", "see `x < y`")
    page.table(["<t>"], [["<td>"]])
    page.code("if a < b: ...", folded="<s>")
    page.note("<n>")
    page.foot("<f>")
    text = checked(page)
    body = text[text.index("<body>") :]
    assert "<code>x &lt; y</code>" in body
    for mark in ("<b>&", "<i>", "<t>", "<n>", "<f>", "<s>"):
        assert mark not in body


def test_labels_of_figures_are_no_scripts():
    """Plotly draws names with a few harmless tags; the page must not take them for its own."""
    hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    page = Page("t", "l")
    page.section("s")
    before = checked(page).count("<script")
    page.figure(go.Figure(go.Scatter(x=[hostile], y=[1], name=hostile, text=[hostile])))
    text = checked(page)
    assert hostile not in text
    assert "alert(1)" in figure_of(text)
    assert "<img src=x" not in text
    assert text.count("</script><script>alert") == before == 0


def test_numbers_stand_right_and_are_readable():
    page = Page("t", "l")
    page.section("s")
    page.table(["name", "rows", "share", "ok"], [["a", 1234567, 0.256, True], ["b", 2, 3.0, False]])
    text = checked(page)
    assert text.count('<td class="number">') == 4
    for cell in ("1,234,567", "0.26", "3.00", '<span class="good">yes</span>', ">no</span>"):
        assert cell in text


def test_an_empty_table_is_a_table():
    page = Page("t", "l")
    page.section("s")
    page.table(["a", "b"], [])
    assert checked(page).count("<th") == 3  # and thead


def test_bad_news_is_marked():
    page = Page("t", "l")
    page.section("fine")
    page.section("bad", alarm=True)
    assert '<section class="alarm"><h2>bad</h2>' in checked(page)
    assert page.html().count('class="alarm"') == 1


def test_a_page_is_written_into_a_folder_that_is_not_there(tmp_path):
    path = Page("Größe", "µs").write(tmp_path / "a" / "b.html")
    assert "Größe" in path.read_text("utf-8")
