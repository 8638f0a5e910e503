"""The cost model as a whole: all numbers in one table, and what a common factor changes."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from fanlight.engine import plan
from fanlight.engine.plan.cost import constants

ROOM = Path(plan.__file__).parent
TABLE = Path(constants.__file__)
MODULES = {str(path.relative_to(ROOM)): path for path in sorted(ROOM.rglob("*.py"))}
FORMULAS = sorted(name for name in MODULES if name.startswith("cost/") and MODULES[name] != TABLE)
NAMES = sorted(name for name in vars(constants) if name.isupper())
LEAST = 1e-9  # instead of no rows, which nothing can be divided by
MOST = 5.0  # a formula counts no more touches by a number that stands in it


def numbers(tree):
    """The floats of a tree."""
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, float)
    }


def at_the_top(tree):
    """What a module assigns, less what functions compute when they are called."""
    assigned = [node for node in tree.body if isinstance(node, (ast.Assign, ast.AnnAssign))]
    called = [one for node in assigned for one in ast.walk(node) if isinstance(one, ast.Lambda)]
    within = {id(one) for node in called for one in ast.walk(node)}
    return {
        one.value
        for node in assigned
        for one in ast.walk(node)
        if id(one) not in within and isinstance(one, ast.Constant) and isinstance(one.value, float)
    }


def invented(name, tree):
    """Numbers of the cost model that a module has and the table ought to have."""
    wrong = at_the_top(tree)
    for number in numbers(tree):
        counts = number.is_integer() and number <= MOST
        fits = counts if name in FORMULAS else number in (0.0, 1.0)
        wrong |= set() if fits or number == LEAST else {number}
    return wrong


@pytest.mark.parametrize("name", sorted(set(MODULES) - {str(TABLE.relative_to(ROOM))}))
def test_constants_are_in_the_table_alone(name):
    assert invented(name, ast.parse(MODULES[name].read_text("utf-8"))) == set()


@pytest.mark.parametrize(
    ("name", "text", "seen"),
    [
        ("cost/points.py", "ROW = 3.0", {3.0}),
        ("cost/points.py", "def f(x):\n    return 45.0 * x", {45.0}),
        ("cost/points.py", "def f(x):\n    return 0.5 * x", {0.5}),
        ("cost/points.py", "TWICE = Steps(lambda load: 2.0 * load)", set()),
        ("cost/points.py", "def f(x):\n    return 2.0 * max(x, 1e-9)", set()),
        ("events.py", "def f(x):\n    return 2.0 * x", {2.0}),
        ("events.py", "def f(x):\n    return max(x, 1.0)", set()),
    ],
)
def test_a_number_outside_the_table_is_seen(name, text, seen):
    assert invented(name, ast.parse(text)) == seen


@pytest.mark.parametrize("name", NAMES)
def test_every_constant_is_used(name):
    others = [path.read_text("utf-8") for path in MODULES.values() if path != TABLE]
    trees = [ast.walk(ast.parse(text)) for text in others]
    assert any(isinstance(one, ast.Name) and one.id == name for tree in trees for one in tree)
