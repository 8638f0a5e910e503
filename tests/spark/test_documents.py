"""The examples in the documents, run as they stand, from the top of each page to its end.

Pages that make no data of their own go on from the first example of `Getting started`, which makes
`calls`. A result that a page leaves to the reader must have rows.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
from collections import Counter
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import pytest
from pyspark.sql import DataFrame

ROOT = Path(__file__).resolve().parents[2]
START = "docs/getting_started.md"
OWN_DATA = ["README.md", START, "docs/start.md", "docs/session.md"]
FURTHER = [
    "sliding", "multi_granular", "spanning", "frames", "widening", "plots", "sql",
    "sources_and_sinks", "watching", "what_needs_what", "recipes",
]  # fmt: skip
PAGES = [*OWN_DATA, *(f"docs/{name}.md" for name in FURTHER)]
COMPARED = "docs/replace.md"  # run by test_replace.py, which compares its pairs
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# Blocks that nothing can run, by what their fence says they are.
NOT_RUN = {
    "README.md": {"sh": 2, "diff": 1},
    # its job files: tests/cli
    "docs/command_line.md": {"sh": 4, "toml": 2},
    "docs/getting_started.md": {"sh": 1},
    "docs/how_it_works.md": {"drawing": 10, "notation": 1},
    "docs/multi_granular.md": {"plan": 1},
    "docs/session.md": {"drawing": 1},
    "docs/replace.md": {"py": 1},
    "docs/spanning.md": {"drawing": 1},
    "docs/sources_and_sinks.md": {"toml": 1},  # its job: tests/cli
    "docs/start.md": {"sh": 1},
    "docs/watching.md": {"sh": 1},
    # its pipeline: test_pipelines.py
    "docs/what_needs_what.md": {"told": 1, "py": 1, "yaml": 1},
    "docs/widening.md": {"drawing": 2, "notation": 1},
    "docs/sql.md": {"sh": 1, "sql": 11},  # each query is run by test_sql.py
}


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
    for block, after in zip_longest(blocks, blocks[1:]):
        if block[1] == "python":
            printed = after[2] if after and after[1] == "text" else None
            found.append(Example(block[2], text.count("\n", 0, block.start()) + 2, printed))
    return found


def run(page: str, text: str, names: dict | None = None) -> list[str]:
    """Run a page's examples in one namespace; returns what is printed but not foretold."""
    names = {"__name__": "__page__"} if names is None else names
    wrong = []
    for example in examples(text):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            left = executed(page, example, names)
        if example.printed is not None and words(out.getvalue()) != words(example.printed):
            wrong.append(f"{page}:{example.line} prints\n{out.getvalue()}")
        if isinstance(left, DataFrame) and not left.isStreaming and not left.take(1):
            wrong.append(f"{page}:{example.line} has no rows")
    return wrong


def executed(page: str, example: Example, names: dict) -> object:
    """Run an example; returns the value of its last line, if that is an expression."""
    # blank lines before, so that an error names the line of the page
    tree = ast.parse("\n" * (example.line - 1) + example.source, page)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, page, "exec"), names)  # noqa: S102
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), page, "eval"), names)  # noqa: S307


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
    names: dict = {"__name__": "__page__"}
    if page not in OWN_DATA:
        run(START, start_of((ROOT / START).read_text("utf-8")), names)
    assert examples(text)
    assert run(page, text, names) == []


def start_of(text: str) -> str:
    """A page up to the end of its first example."""
    return next(text[: fence.end()] for fence in FENCE.finditer(text) if fence[1] == "python")


def test_every_page_with_examples_is_run():
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")}
    texts = {page: (ROOT / page).read_text("utf-8") for page in ["README.md", *pages]}
    assert {page for page, text in texts.items() if examples(text)} == {*PAGES, COMPARED}
    kinds = {
        page: Counter(fence[1] for fence in FENCE.finditer(text)) for page, text in texts.items()
    }
    told = {"python", "text", "pycon"}  # pycon: the docstrings' own, which test_doctests.py runs
    unrun = {
        page: {k: n for k, n in found.items() if k not in told} for page, found in kinds.items()
    }
    assert {page: found for page, found in unrun.items() if found} == NOT_RUN
    assert {page for page, found in kinds.items() if found["pycon"]} == {"docs/aggregates.md"}
    assert {page: indented(text) for page, text in texts.items() if indented(text)} == {}


def indented(text: str) -> list[str]:
    """Lines of code without a fence, of which nothing says whether they run."""
    return re.findall(r"(?<=\n\n) {4}.+", FENCE.sub("", text))


def test_code_without_a_fence_is_seen():
    assert indented("a\n\n    code\n\nb\n    more\n") == ["    code"]
    assert indented("a\n\n```python\nif x:\n\n    y\n```\n") == []


def test_pages_share_their_data():
    made = r"(?ms)^calls = .+?^\"\"\"\)$"
    texts = {page: (ROOT / page).read_text("utf-8") for page in PAGES}
    assert re.findall(made, texts["README.md"]) == re.findall(made, texts[START]) != []
    for page, text in texts.items():
        assert page in OWN_DATA or f"({Path(START).name}#a-batch)" in text, page
        assert page in OWN_DATA or not re.search(r"spark\.sql\(|createDataFrame", text), page


def test_what_a_page_foretells_is_compared():
    page = "a\n```python\nx = 1\nprint(x)\n```\nThis prints\n\n```text\n2\n```\n"
    assert run("page", page) == ["page:3 prints\n1\n"]
    assert run("page", page.replace("\n2\n", "\n1\n")) == []


def test_a_result_without_rows_is_seen(classic):
    page = "```python\nspark.range(n)\n```\n"
    assert run("page", page, {"spark": classic, "n": 0}) == ["page:2 has no rows"]
    assert run("page", page, {"spark": classic, "n": 1}) == []


def test_an_error_names_the_line_of_the_page():
    with pytest.raises(NameError) as raised:
        run("page", "a\n\n```python\nx = 1\ny\n```\n")
    assert raised.traceback[-1].lineno == 4  # counted from 0


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    folder = (ROOT / page).parent
    links = re.findall(r"\]\(([^)#\s]+)[)#]", (ROOT / page).read_text("utf-8"))
    assert links
    assert [link for link in links if not (folder / link).exists()] == []
