"""The examples of a page: found, run in one namespace, and compared with what the page says."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from dataclasses import dataclass
from itertools import zip_longest

from pyspark.sql import DataFrame

START = "docs/getting_started.md"
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


def start_of(text: str) -> str:
    """A page up to the end of its first example."""
    return next(text[: fence.end()] for fence in FENCE.finditer(text) if fence[1] == "python")
