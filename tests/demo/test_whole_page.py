"""The demo's page, of all flights: small, within its window, and true to what it shows."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from html import unescape

import pytest
from rich.progress import Progress

import demo
import fanlight as fl
from demo import figures, running
from demo.outcome import Comparison, Timing
from demo.page import build_page, duration_text
from demo.questions import QUESTIONS, air, chains, levels, sliding, storms
from demo.streamed import Streamed
from tests.plots.browser import MISSING, answer_of_page, chromium

pytestmark = [pytest.mark.thorough]  # `make page`: all questions, asked of all flights
LARGEST = 2_000_000  # bytes
DURATION = r"\d+ (?:minute|hour|day)s?"

FITS = """
const beyond = one => one.getBoundingClientRect().right > innerWidth + 1;
const boxes = [...document.querySelectorAll('.scroll')];
return {
  window: innerWidth,
  wide: document.documentElement.scrollWidth,
  beyond: [...document.querySelectorAll('main *, header *')]
    .filter(one => beyond(one) && !one.closest('.scroll, pre, .figure'))
    .map(one => one.tagName + ' ' + one.textContent.slice(0, 40)),
  boxes: boxes.filter(beyond).length,
  cut: Math.max(...boxes.map(one => one.scrollWidth - one.clientWidth)),
  drawn: figures().map(one => one.querySelectorAll('.main-svg').length > 0),
}"""


@pytest.fixture(scope="module")
def found(classic, tmp_path_factory):
    """All questions, asked of all flights by fanlight; who else was asked is made up."""
    work = tmp_path_factory.mktemp("year")
    made = demo.read_flights()
    made.spark_version, made.rejected = classic.version, [("departed is null", 8_255)]
    df = running.write_table(classic, made.flights, work / "flights.parquet")
    weather = running.write_table(classic, made.weather, work / "weather.parquet")
    with Progress(disable=True) as progress:
        demo.ask_further(df, weather, made, progress)
        demo.ask_while_open(classic, made, work, progress)
    with ThreadPoolExecutor() as pool:
        ask = lambda one: running.answer(one.ask, one.keys, df)  # noqa: E731
        answers = list(pool.map(ask, made.questions))
    for place, (one, answer) in enumerate(zip(made.questions, answers, strict=True), 1):
        made.answers[one] = answer
        made.against_spark[one] = made.streamed[one] = Comparison(answer.num_rows, 0)
        made.timings[one] = Timing(1.11 * place, 6.07 * place)
        made.streams[one] = Streamed(None, 5, made.arrivals.late, 8)
    assert made.agrees
    return made


@pytest.fixture(scope="module")
def html(found):
    return build_page(found).html()


def words(text):
    return unescape(re.sub(r"<[^>]+>", "", text))


@pytest.fixture(scope="module")
def sections(html):
    """By the first words of its heading: what a section says in paragraphs, and its code."""
    found = {}
    for text in re.findall(r"<section>(.*?)</section>", html, re.DOTALL):
        heading = words(re.search(r"<h2>(.*?)</h2>", text)[1])
        said = [words(one) for one in re.findall(r"<p[^>]*>(.*?)</p>", text, re.DOTALL)]
        code = [words(one) for one in re.findall(r"<pre[^>]*>(.*?)</pre>", text, re.DOTALL)]
        found[heading.partition(":")[0]] = (f"{heading}. {' '.join(said)}", "\n".join(code))
    return found


@pytest.fixture(scope="module")
def speeds(html):
    """The rows of the table of times, by the question's name."""
    (table,) = re.findall(r"<table>(?:(?!</table>).)*plain Spark, s.*?</table>", html, re.DOTALL)
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in table.split("<tr>")[2:]]
    return {words(name): [words(one) for one in cells] for name, *cells in rows}


def test_it_is_small(html):
    assert len(html.encode()) < LARGEST


@pytest.mark.skipif(chromium() is None, reason=MISSING)
@pytest.mark.parametrize("width", [1280, 375])
def test_it_fits(html, width, tmp_path):
    told = answer_of_page(tmp_path, html, FITS, width=width)
    assert told["drawn"] == [True] * 7
    assert told["window"] == width
    assert told["wide"] <= width
    assert told["beyond"] == []
    assert told["boxes"] == 0
    assert told["cut"] == 0 or width < 1280  # on a phone a table is scrolled, in its box


def test_it_begins_with_the_problem_and_with_both_times(found, html):
    took, answer = found.timings[sliding.QUESTION], found.answers[sliding.QUESTION]
    head = words(re.search(r"<header>(.*?)</header>", html, re.DOTALL)[1])
    copies = sum(answer["departures"].to_pylist())
    assert "Spark copies each row into every window" in head
    assert f"{copies:,} rows of {found.rows - 8_255:,} flights, 96 of each" in head
    assert f"That took {took.spark:.2f} s in this run" in head
    assert f"took {took.fanlight:.2f} s" in head
    facts = re.findall(r"<b>(.*?)</b>", html)[:2]
    assert facts == [f"{took.spark:.2f} s", f"{took.fanlight:.2f} s"]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.windows)
def test_the_table_is_of_the_answers(question, found, speeds):
    rows, fast, slow, *_ = speeds[question.name]
    took = found.timings[question]
    assert rows == f"{found.answers[question].num_rows:,}"
    assert (fast, slow) == (f"{took.fanlight:.2f}", f"{took.spark:.2f}")


SAID = {  # and what else a section says in hours and minutes, which no code has
    sliding.QUESTION: {duration_text(figures.STEP)},
    levels.QUESTION: set(),
    air.QUESTION: {f"{figures.ROW} minutes"},
    storms.QUESTION: {"60 minutes"},
    chains.QUESTION: {"6 hours", "12 hours", "1 day", "2 days"},
}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.windows)
def test_what_is_said_is_what_the_code_asks(question, sections):
    said, code = next(both for name, both in sections.items() if name.casefold().startswith(
        question.windows))  # fmt: skip
    asks = set(re.findall(DURATION, code))
    assert set(re.findall(DURATION, said)) <= asks | SAID[question]
    assert set(re.findall(DURATION, question.name)) <= asks | ({"60 minutes"} & SAID[question])


def test_windows_that_widen_are_told_as_they_are(found, sections, speeds):
    said, code = sections["Progressive widening"]
    (written,) = re.findall(r"^WIDENING = (.*)$", code, re.MULTILINE)
    assert eval(written, {"fl": fl}) == chains.WIDENING  # noqa: S307 - the page's own line
    assert "Windows of 6 hours, 12 hours, 1 day and 2 days" in said
    assert [2 * one / 3_600e6 for one in chains.WIDENING.durations] == [6, 12, 24, 48]
    assert f"{speeds[chains.QUESTION.name][0]} matches were found" in said
    assert found.further[chains.QUESTION].num_rows == found.answers[chains.QUESTION].num_rows


def test_frames_are_told_as_they_are(found, sections, speeds):
    said, code = sections["Frames"]
    assert f"there were {speeds[storms.QUESTION.name][0]} in the year" in said
    assert "at least 8 departures" in said
    assert "min_rows=8" in code
    assert min(found.answers[storms.QUESTION]["rows"].to_pylist()) == 8
    assert "delay >= 60" in code
