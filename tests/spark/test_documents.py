"""The examples in the documents, run as they stand, from the top of each page to its end."""

from __future__ import annotations

import contextlib
import io
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/getting_started.md", "docs/session.md"]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """A block of Python, the line it starts at, and what the page says it prints."""

    source: str
    line: int
    printed: str | None


def examples(text: str) -> list[Example]:
    """The Python blocks of a page; a ``text`` block after one is what that one prints."""
    blocks = list(FENCE.finditer(text))
    found = []
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        if block[1] == "python":
            printed = after[2] if after and after[1] == "text" else None
            found.append(Example(block[2], text.count("\n", 0, block.start()) + 2, printed))
    return found


def run(page: str, text: str) -> list[str]:
    """Run a page's examples in one namespace; returns what is printed but not foretold."""
    names: dict = {"__name__": "__page__"}
    wrong = []
    for example in examples(text):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            # blank lines before, so that an error names the line of the page
            exec(compile("\n" * (example.line - 1) + example.source, page, "exec"), names)  # noqa: S102
        if example.printed is not None and words(out.getvalue()) != words(example.printed):
            wrong.append(f"{page}:{example.line} prints\n{out.getvalue()}")
    return wrong


def words(text: str) -> list[str]:
    """Lines without the space at their ends; ``...`` is a line that is left open."""
    return [line.rstrip() for line in text.strip().splitlines()]


@pytest.fixture
def page_session(classic):
    """Pages show times in UTC, and leave no stream and no setting behind."""
    kept = {
        name: classic.conf.get(name)
        for name in (
            "spark.sql.session.timeZone",
            "spark.sql.streaming.stateStore.providerClass",
        )
    }
    classic.conf.set("spark.sql.session.timeZone", "UTC")
    yield classic
    for query in classic.streams.active:
        query.stop()
    for name, value in kept.items():
        classic.conf.set(name, value)


@pytest.mark.usefixtures("page_session")
@pytest.mark.parametrize("page", PAGES)
def test_page(page):
    text = (ROOT / page).read_text("utf-8")
    assert examples(text)
    assert run(page, text) == []


def test_what_a_page_foretells_is_compared():
    page = "a\n```python\nx = 1\nprint(x)\n```\nThis prints\n\n```text\n2\n```\n"
    assert run("page", page) == ["page:3 prints\n1\n"]
    assert run("page", page.replace("\n2\n", "\n1\n")) == []


def test_an_error_names_the_line_of_the_page():
    with pytest.raises(NameError) as raised:
        run("page", "a\n\n```python\nx = 1\ny\n```\n")
    assert raised.traceback[-1].lineno == 4  # counted from 0


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    folder = (ROOT / page).parent
    links = re.findall(r"\]\(([^)#\s]+)\)", (ROOT / page).read_text("utf-8"))
    assert links
    assert [link for link in links if not (folder / link).exists()] == []
