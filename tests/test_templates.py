"""Templates: filled once, in one place, whatever the texts are that go into them."""

from __future__ import annotations

import ast
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fanlight as fl
from fanlight import algebra
from fanlight.engine.algebra.lowering import next_share
from fanlight.engine.algebra.sql_text import fill, find_places
from tests.helpers.imports import MODULES, parsed

HOME = "fanlight.engine.algebra.sql_text"
# What they write is no SQL.
PROGRAMS = ("fanlight.cli", "fanlight.report", "fanlight.plots", "fanlight.watching")
READERS = ("read", "readStream", "write", "writeStream")  # Spark's, whose format is a name
TEXTS = st.text("{}abstr'`\\\\$", max_size=12)


def filled_otherwise(source):
    """Where a source fills a template by other means: str.format, %, replace, Template."""
    found = []
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            first = node.args[0] if node.args else None
            named = node.func.attr == "replace" and not node.keywords
            marked = not isinstance(first, ast.Constant) or set("{}$%") & set(str(first.value))
            reader = isinstance(node.func.value, ast.Attribute) and node.func.value.attr in READERS
            filling = node.func.attr in ("format", "format_map") and not reader
            if filling or (named and marked):
                found.append(node.lineno)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            if isinstance(node.left, (ast.JoinedStr, ast.Constant)) and not (
                isinstance(node.left, ast.Constant) and not isinstance(node.left.value, str)
            ):
                found.append(node.lineno)
        elif isinstance(node, ast.ImportFrom) and node.module == "string":
            found.append(node.lineno)
    return found


@pytest.mark.parametrize(
    "name", [name for name in MODULES if name != HOME and not name.startswith(PROGRAMS)]
)
def test_templates_are_filled_in_one_place(name):
    assert filled_otherwise(MODULES[name].read_text("utf-8")) == []


@pytest.mark.parametrize(
    "source",
    [
        "text.format(p=1)", "'{}'.format(1)", "text.format_map({})", "text.replace('{start}', a)",
        "text.replace(name, a)", "'%s' % a", "from string import Template", "f'{a}%s' % a",
    ],
)  # fmt: skip
def test_another_way_is_seen(source):
    assert filled_otherwise(source)


@pytest.mark.parametrize("source", ["a.replace('`', '``')", "replace(a, b=1)", "a % 3", "5 % a"])
def test_what_fills_no_template_is_left_alone(source):
    assert not filled_otherwise(source)


@given(TEXTS, TEXTS)
def test_what_is_put_in_is_not_read_as_a_template(a, b):
    assert fill("<{a}|{b}|{{{a}}}>", a=a, b=b) == f"<{a}|{b}|{{{a}}}>"


@given(TEXTS)
def test_braces_written_twice_are_plain(text):
    written = text.replace("{", "{{").replace("}", "}}")
    assert fill(written) == text
    assert find_places(written) == set()


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (
            "{w}",
            "names {w}, which does not exist; use {begins}, {ends}, {order}, {time}, {until}, {x}",
        ),
        ("{y}", "names {y}, which does not exist"),
        ("concat({x}, '{')", "has a brace that belongs to no place"),
        ("{}", "has a brace that belongs to no place"),
        ("{x!r}", "has a brace that belongs to no place"),
        ("{x.__class__}", "has a brace that belongs to no place"),
        ("{x:>9}", "has a brace that belongs to no place"),
        (5, "is not SQL text"),
    ],
)
def test_a_field_that_cannot_be_filled_is_refused(template, said):
    with pytest.raises(fl.FanlightError) as error:
        algebra.Aggregate("q", {"p": algebra.Max(template)}, "{p}")
    assert said in str(error.value)


def test_a_lowering_that_cannot_be_filled_is_refused():
    for lower, said in (("{q}", "names {q}"), ("{p", "brace"), (None, "not SQL text")):
        with pytest.raises(fl.FanlightError, match=said):
            algebra.Aggregate("q", {"p": algebra.Max()}, lower)
    with pytest.raises(fl.FanlightError, match="not a named monoid"):
        algebra.Aggregate("q", {"start": algebra.Max()}, "{start}")


@given(st.fractions(0, 1, max_denominator=10**6), st.integers(1, 40))
def test_a_share_of_few_rows_is_the_next_that_they_can_make_up(share, most):
    possible = [Fraction(up, down) for down in range(1, most + 1) for up in range(down + 1)]
    assert next_share(share, most) == min(one for one in possible if one >= share)
