"""The page in a real browser, while a query runs, after it has ended, and when nobody answers."""

from __future__ import annotations

import re
import threading
import time

import pytest

import fanlight as fl
from fanlight.report import Page
from fanlight.watching.page import SCRIPT
from tests.plots.browser import MISSING, chromium, opened
from tests.watching.queries import Query, windows
from tests.watching.served import cells, element

pytest.importorskip("starlette")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(chromium() is None, reason=MISSING)]


# Marks an element of a figure when it sees it first.
MARKS = """
let marked = 0;
setInterval(() => {
  const one = element('batches');
  if (one && !one.dataset.mark) one.dataset.mark = 'number ' + ++marked;
}, 20);
"""


class Growing(Query):
    """Each time it is asked, another micro-batch has ended; after so many it ends.

    An answer takes a moment: the browser's clock runs ahead while nothing is awaited, and the
    thread that reads windows has a real one.
    """

    def __init__(self, most):
        super().__init__(1)
        self.most = most

    @property
    def lastProgress(self):  # noqa: N802 - Spark's
        time.sleep(0.3)
        if len(self.told) < self.most:
            self.more(1_000)
        else:
            self.end()
        return self.told[-1]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("dark", "width"), [(False, 1_000), (True, 1_000), (False, 500)])
def test_it_is_kept_new_until_the_query_has_ended(tmp_path, monkeypatch, dark, width):
    monkeypatch.setattr("fanlight.watching.progress.LEAST", 0)
    monkeypatch.setattr("fanlight.watching.watch.SCRIPT", SCRIPT + MARKS)
    query = Growing(6)
    with fl.watch(query, lambda: windows(len(query.told)), every="10 milliseconds") as served:
        dom, said = opened(tmp_path, served.url, dark=dark, width=width)
        assert said == []
        assert served.running
    # It was drawn, and drawn again: what the first page had was one micro-batch and no window.
    assert "Ended. 5,010 rows so far" in element(dom, "news")
    assert element(dom, "spoken").startswith(("Running", "Ended"))
    assert cells(dom)[0] == ["north", "2024-05-01 12:05:00", "2024-05-01 12:06:00", "25"]
    assert len(cells(dom)) == 6
    assert "<b>5,010</b>" in dom
    # Drawn again in its place, so that what its reader has zoomed to stays.
    assert re.findall(r'data-mark="(.*?)"', dom) == ["number 1"]
    assert dom.count('class="main-svg"') >= 4  # two figures, of several layers
    assert len(re.findall(r'class="js-line"', dom)) >= 5
    assert 'hidden="" ' in dom or 'hidden=""' in dom  # nothing is left to be paused
    ground = re.findall(r'class="xtick"><text[^>]*fill: rgb\((\d+)', dom)
    assert all((int(one) > 128) is dark for one in ground)
    assert ground


def test_hostile_texts_stay_text(tmp_path):
    bad = "<img src=x onerror=document.title='wrong'><b>"
    made = [{bad: bad, "window": one["window"], "n": k} for k, one in enumerate(windows(4))]
    query = Query(name=bad)
    with fl.watch(query, lambda: made, every="10 milliseconds") as served:
        dom, said = opened(tmp_path, served.url)
    assert said == []
    assert "<img" not in dom
    assert "<title>&lt;img src=x" in dom
    assert "&lt;img src=x" in dom[dom.index('id="windows-rows"') :]


def test_when_nobody_answers_any_more_it_says_so(tmp_path):
    served = fl.watch(Query(), lambda: windows(4), every="10 milliseconds")

    def ending():
        end = time.monotonic() + 60
        while served._last_request < 0 and time.monotonic() < end:
            time.sleep(0.05)
        served.stop()

    stopping = threading.Thread(target=ending)
    stopping.start()
    dom, said = opened(tmp_path, served.url)
    stopping.join()
    assert "There is no answer any more" in element(dom, "news")
    assert all("ERR_CONNECTION" in one for one in said)
    assert "<b>30</b>" in dom  # what was known last


def test_a_script_that_is_not_the_page_s_does_not_run(tmp_path, monkeypatch):
    monkeypatch.setattr("fanlight.watching.page.describe_status", lambda *_: "a")
    written, own = Page.html, "<script>document.title='no'</script>"

    def broken(page, **how):
        return written(page, **how).replace("</main>", f"{own}</main>")

    monkeypatch.setattr("fanlight.report.Page.html", broken)
    with fl.watch(Query()) as served:
        dom, said = opened(tmp_path, served.url)
    assert "<title>busy</title>" in dom
    assert any("Content Security Policy" in one for one in said)
