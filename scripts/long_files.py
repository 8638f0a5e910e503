"""Names the Python files with much code: a hint, which fails nothing.

    python -m scripts.long_files

Counted are the lines that have code: no docstring, no comment, no blank line.
"""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("src", "scripts", "tests", "benchmarks", "experiments")
LONG = 400  # lines of code
WITH_DOCSTRING = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip


def count(source: str) -> int:
    """How many lines of a source have code."""
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NO_CODE:
            found.update(range(token.start[0], token.end[0] + 1))
    return len(found - docstrings(source))


def docstrings(source: str) -> set[int]:
    """The lines of all docstrings."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, WITH_DOCSTRING) and ast.get_docstring(node) is not None:
            text = node.body[0]
            found.update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return found


def hint() -> None:
    """Name the files that are long."""
    for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        lines = count(path.read_text("utf-8"))
        if lines > LONG:
            print(f"{path.relative_to(ROOT)}: {lines} lines of code; is it one thing?")  # noqa: T201 - a program


if __name__ == "__main__":
    hint()
