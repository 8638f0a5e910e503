"""Each breakage can be applied to the source as it is, and there are tests that may see it."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tests.breakages import on_spark
from tests.breakages.breakage import SOURCE
from tests.breakages.every import ALL
from tests.law.registry import everything

ROOT = Path(__file__).resolve().parents[2]
EVERY = pytest.mark.parametrize("breakage", ALL, ids=lambda breakage: breakage.name)


def selected(words):
    """The names of the asks of ``make test`` that ``pytest -k`` picks; it looks at marks, too."""
    terms = words.lower().split(" and ")
    return [
        name for name, marked in asked()
        if all((term.removeprefix("not ") in marked) != term.startswith("not ") for term in terms)
    ]  # fmt: skip


@cache
def asked():
    """The names of the asks of ``make test``, plain and as ``pytest -k`` sees them."""
    return [
        (ask.name, f"{ask.name} {'streaming' if ask.streamed else ''}".lower())
        for ask in everything()
        if not ask.thorough
    ]


@EVERY
def test_it_changes_one_place_and_leaves_python(breakage):
    assert breakage.misplaced == ""
    text = (SOURCE / "fanlight" / breakage.file).read_text("utf-8")
    broken = ast.parse(breakage.applied(text))
    assert ast.dump(broken) != ast.dump(ast.parse(text))


@EVERY
def test_its_tests_are_there(breakage):
    files = [name for name in breakage.tests if name.endswith(".py")]
    assert files
    assert all((ROOT / name).is_file() for name in files)
    if "-k" in breakage.tests:
        assert files == [on_spark.LAW]
        assert selected(breakage.tests[-1])


def test_no_two_have_one_name():
    assert len({breakage.name for breakage in ALL}) == len(ALL)


def test_a_breakage_out_of_place_is_seen():
    breakage = ALL[0]
    assert "0 times" in replace(breakage, old="no such text").misplaced
    assert "times" in replace(breakage, old="\n").misplaced
    assert "not there" in replace(breakage, file="kernels/none.py").misplaced
    assert selected("sliding and no such words") == []
