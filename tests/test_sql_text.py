"""Names are quoted, and texts become literals, in one file: others have no way to do it by hand."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import pytest

from fanlight.engine.algebra.sql_text import double_literal, literal, quote, split_path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "fanlight"
QUOTES = SOURCE / "engine" / "algebra" / "sql_text.py"
# What has names of a user's fields in it, unquoted.
TYPES_AS_TEXT = ("simpleString", "dtypes")
FILES = [
    path
    for folder in ("engine/algebra", "engine/plan", "engine/spark", "io", "language/running")
    for path in sorted((SOURCE / folder).rglob("*.py"))
    if path != QUOTES
]


def documents(tree):
    """The docstrings of a module, which may show anything."""
    holders = (ast.Module, ast.ClassDef, ast.FunctionDef)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, holders) and node.body]
    return {id(body[0].value) for body in bodies if isinstance(body[0], ast.Expr)}


def patterns(tree):
    """Constants of regular expressions."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    compiled = [call for call in calls if ast.unparse(call.func) == "re.compile"]
    return {id(part) for call in compiled for part in ast.walk(call)}


def by_hand(source):
    """Lines that quote a name or a text, or put a type into one."""
    tree = ast.parse(source)
    apart = documents(tree) | patterns(tree)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in apart:
            found += [node.lineno] * ("`" in node.value)
        elif isinstance(node, ast.JoinedStr):
            pairs = zip(node.values, node.values[1:], strict=False)
            found += [node.lineno for before, after in pairs if opened(before, after)]
        elif isinstance(node, ast.Attribute) and node.attr in TYPES_AS_TEXT:
            found.append(node.lineno)
    return found


def opened(before, after):
    """Whether a value stands right behind an opening quote, and is not a number of its own kind."""
    text = before.value if isinstance(before, ast.Constant) else ""
    return isinstance(after, ast.FormattedValue) and text.endswith("'") and text.count("'") % 2 == 1


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_names_and_texts_are_quoted_in_one_file(path):
    found = by_hand(path.read_text("utf-8"))
    assert len(found) == (path.name == "sql.py")  # where types become text


@pytest.mark.parametrize(
    "source",
    [
        'f"`{name}"',
        '"`" + name',
        "f\"named_struct('{name}', {value})\"",
        "f\"struct(1) as a, '{text}' as b\"",
        "kind.simpleString()",
        "dict(df.dtypes)",
    ],
)
def test_what_is_quoted_by_hand_is_seen(source):
    assert by_hand(source) == [1]


@pytest.mark.parametrize(
    "source",
    [
        '"""Shows `a`."""',
        'def f():\n    """Shows `a`."""\n    return re.compile("`a`")',
        "f\"named_struct('a', {value}, 'b', {other})\"",
    ],
)
def test_what_is_not_is_not(source):
    assert by_hand(source) == []


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("a", ["a"]),
        ("a.b", ["a", "b"]),
        ("`a.b`.c d", ["a.b", "c d"]),
        ("`a``b`", ["a`b"]),
        ("a`b", ["a`b"]),
        ("a..b", ["a..b"]),
        (".", ["."]),
        ("", [""]),
        ("`a`b", ["`a`b"]),
    ],
)
def test_a_path_is_read_as_spark_reads_it(path, names):
    """What Spark does not take for a path is one name."""
    assert split_path(path) == names


def test_a_double_beyond_all_is_a_literal():
    assert (double_literal(0.5), double_literal(math.inf)) == ("0.5D", "double('inf')")


def test_a_name_cannot_end_its_quotes():
    assert quote("a`, evil() as `b") == "`a``, evil() as ``b`"
    assert quote("a", "b.c") == "`a`.`b.c`"
    assert "${" not in quote("${env:HOME}") + literal("${env:HOME}")
