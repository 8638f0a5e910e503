"""Each breakage can be applied to the source as it is, and there are tests that may see it."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import cache

import pytest

from tests.breakages import on_spark
from tests.breakages.breakage import Breakage
from tests.breakages.change import Code, InText
from tests.breakages.every import ALL
from tests.breakages.source import OURS, ROOT, Sources
from tests.helpers.sampled import read_seen_by
from tests.law.registry import everything
from tests.law.sample import has_words

EVERY = pytest.mark.parametrize("breakage", ALL, ids=lambda breakage: breakage.name)


def selected(words):
    """The asks of ``make test`` that ``pytest -k`` picks."""
    return [ask for ask in asked() if has_words(ask, words)]


@cache
def asked():
    """The asks of ``make test``."""
    return [ask for ask in everything() if not ask.thorough]


@EVERY
def test_it_changes_one_place_and_leaves_python(breakage):
    assert breakage.misplaced() == ""
    text = OURS.text(breakage.path())
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
    for change in (Code("no_such(code)", "pass"), InText("no such text", "")):
        assert "0 times" in replace(breakage, change=change).misplaced()
    assert "no file" in replace(breakage, where="none:no_such_name").misplaced()
    assert selected("sliding and no such words") == []


SHELF = '''
"""Prices are not text to change."""

LIMIT: int = 60


class Shelf:
    """What is sold."""

    @property
    def price(self) -> int:
        return self.kept

    @price.setter
    def price(self, price: int) -> None:
        low: int = min(price, LIMIT)  # not more
        if low > 0 and self.open:
            self.kept = (low +
                         self.fee)
            self.told = f"price {low} of prices {self.kept}"
        for one in (low, low):
            self.sell(one)
            self.count(one)


def price(shelf):
    return shelf.price
'''

CHANGES = {
    "expression": ("Shelf.price", Code("low + self.fee", "low"), "self.kept = low\n"),
    "parentheses": ("Shelf.price", Code("(min(price, LIMIT))", "price"), "low: int = price\n"),
    "statement": ("Shelf.price", Code("low = min(price, LIMIT)", "low = 0"), "    low = 0\n"),
    "statements": (
        "Shelf.price",
        Code("self.sell(one)\nself.count(one)", "pass"),
        "(low, low):\n            pass\n",
    ),
    "target": ("Shelf.price", Code("self.told", "_"), "            _ = f'price"),
    "one of two": ("Shelf.price", Code("low, low", "low, 0"), "in (low, 0):"),
    "the second": ("Shelf.price", Code("low > 0", "low == 0", nth=1), "if low == 0 and self.open"),
    "in a field": ("Shelf.price", Code("f'price {low} of prices {self.kept}'", "''"), "told = ''"),
    "text": ("Shelf.price", InText(" of prices ", " / "), "f'price {low} / {self.kept}'"),
    "the n-th text": ("Shelf.price", InText("price", "sum", nth=2), "of sums {"),
    "constant": ("LIMIT", Code("60", "10**6"), "LIMIT: int = 10 ** 6\n"),
    "function": ("price", Code("shelf.price", "0"), "return 0"),
    "class": ("Shelf", Code("self.sell(one)", "pass"), "            pass\n"),
}
MADE = pytest.mark.parametrize(("where", "change", "seen"), CHANGES.values(), ids=CHANGES)


def invented(folder, **texts):
    """Sources of an invented package, with the text of each of its modules."""
    for name, text in texts.items():
        file = folder.joinpath(*name.split("__")).with_suffix(".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return Sources({"sold": folder})


def broken(sources, where, change):
    """The path and the broken text of the file with a definition."""
    breakage = Breakage("invented", where, change, ())
    assert breakage.misplaced(sources) == ""
    path = breakage.path(sources)
    return path, breakage.applied(sources.text(path))


@MADE
def test_a_change_is_made_in_one_place(where, change, seen, tmp_path):
    path, text = broken(invented(tmp_path, shelf=SHELF), where, change)
    assert path == "sold/shelf.py"
    assert seen in text
    lines = ast.unparse(ast.parse(SHELF)).splitlines()
    assert 1 <= len(set(text.splitlines()) ^ set(lines)) <= 3


@MADE
def test_a_file_may_be_reformatted(where, change, seen, tmp_path):
    reformatted = ast.unparse(ast.parse(SHELF))
    assert reformatted != SHELF
    found = broken(invented(tmp_path / "after", shelf=reformatted), where, change)
    assert found == broken(invented(tmp_path / "before", shelf=SHELF), where, change)
    assert seen in found[1]


@MADE
def test_a_definition_may_move(where, change, seen, tmp_path):
    moved = invented(tmp_path, shelf="import os\n", far__below__other="import os\n" + SHELF)
    path, text = broken(moved, where, change)
    assert path == "sold/far/below/other.py"
    assert seen in text


@pytest.mark.sampled(5)
@EVERY
def test_its_file_may_be_reformatted(breakage):
    text = OURS.text(breakage.path())
    assert breakage.applied(ast.unparse(ast.parse(text))) == breakage.applied(text)


def test_a_name_that_is_defined_twice_needs_the_end_of_its_module(tmp_path):
    sources = invented(tmp_path, a__shelf=SHELF, b__shelf=SHELF, b__shelves=SHELF)
    change = Code("shelf.price", "0")
    for where in ("price", "shelf:price"):
        why = Breakage("invented", where, change, ()).misplaced(sources)
        assert "sold/a/shelf.py, sold/b/shelf.py" in why
    assert broken(sources, "b.shelf:price", change)[0] == "sold/b/shelf.py"
    assert broken(sources, "shelves:price", change)[0] == "sold/b/shelves.py"
    assert "no file" in Breakage("invented", "elf:price", change, ()).misplaced(sources)


@pytest.mark.parametrize(
    "change",
    [Code("low", "0"), Code("self.kept", "0"), InText("price", "sum"), Code("sum(price)", "0")],
)
def test_what_stands_more_often_or_not_at_all_is_seen(change, tmp_path):
    breakage = Breakage("invented", "Shelf.price", change, ())
    why = breakage.misplaced(invented(tmp_path, shelf=SHELF))
    assert why.endswith(" times")
    assert not why.endswith(" 1 times")


def test_neither_docstrings_nor_types_are_changed(tmp_path):
    sources = invented(tmp_path, shelf=SHELF)
    for change in (InText("What is sold", ""), Code("int", "float")):
        assert "0 times" in Breakage("invented", "Shelf", change, ()).misplaced(sources)


def test_what_is_known_to_see_one_is_a_test_of_a_breakage():
    seen = read_seen_by()
    assert seen.keys() <= {one.name for one in ALL}
    assert [one for one in seen.values() if not (ROOT / one.partition("::")[0]).is_file()] == []
