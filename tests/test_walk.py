"""A row's way, as docs/how_it_works.md tells it, held against the imports."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.helpers.imports import MODULES, imports_of

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "how_it_works.md").read_text("utf-8")
STEP = re.compile(r"^\| (\d+) \| `([\w/.]+)` \| (\w+) \|", re.MULTILINE)
WALKS = {part.split("\n")[0]: STEP.findall(part) for part in PAGE.split("\n### ")[1:]}
WALKS = {name: steps for name, steps in WALKS.items() if steps}


def module(path):
    return "fanlight.engine." + path.removesuffix(".py").replace("/", ".")


@cache
def imported(name):
    """What a module imports when it runs, not for annotations alone."""
    path = MODULES[name]
    found = imports_of(path.read_text("utf-8"), name, is_package=path.name == "__init__.py")
    return {what.module for what in found if not what.typing}


def reached(name):
    """All modules that an import of this one leads to."""
    seen, ahead = set(), [name]
    while ahead:
        fresh = (imported(ahead.pop()) & set(MODULES)) - seen
        seen |= fresh
        ahead += fresh
    return seen


def test_both_engines_are_walked():
    files = {path for steps in WALKS.values() for _, path, _ in steps}
    assert any(path.startswith("spark/placed/") for path in files)
    assert any(path.startswith("spark/ordered/") for path in files)
    assert all(path.startswith("spark/") for steps in WALKS.values() for _, path, _ in steps[:1])


@pytest.mark.parametrize("walk", WALKS)
def test_steps_are_numbered_and_there(walk):
    assert [int(number) for number, _, _ in WALKS[walk]] == list(range(1, len(WALKS[walk]) + 1))
    assert [path for _, path, _ in WALKS[walk] if module(path) not in MODULES] == []
    assert len({path for _, path, _ in WALKS[walk]}) == len(WALKS[walk]), "a file comes twice"


@pytest.mark.parametrize("walk", WALKS)
def test_each_step_is_called_from_above(walk):
    """The caller comes before, imports the step, and is not led back to by it."""
    paths = [path for _, path, _ in WALKS[walk]]
    assert WALKS[walk][0][2] == "you"
    for number, path, caller in WALKS[walk][1:]:
        above = paths[int(caller) - 1]
        assert int(caller) < int(number)
        assert module(path) in imported(module(above)), f"{above} does not import {path}"
        assert module(above) not in reached(module(path)), f"{path} leads back to {above}"


# The entry point, what exports it, and what is asked of it: a query in SQL, stored pieces.
ABOVE = (
    "fanlight", "fanlight.engine.spark.over", "fanlight.engine.spark.roll_up",
    "fanlight.engine.spark.repair",
    "fanlight.language.running.recognition", "fanlight.language.running.select",
)  # fmt: skip


def test_no_engine_knows_the_other_and_nothing_the_entry_point():
    for name in MODULES:
        found = reached(name)
        engines = [
            e for e in ("placed", "ordered") if name.startswith(f"fanlight.engine.spark.{e}.")
        ]
        for engine in engines:
            other = "ordered" if engine == "placed" else "placed"
            assert not [m for m in found if m.startswith(f"fanlight.engine.spark.{other}")], name
        if name not in ABOVE:
            direct = imported(name)
            assert "fanlight.engine.spark.over" not in direct, name
