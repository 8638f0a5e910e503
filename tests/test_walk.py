"""A row's way, as docs/how_it_works.md tells it, held against the imports."""

from __future__ import annotations

import re
import sys
from functools import cache
from itertools import groupby
from pathlib import Path

import pytest

import fanlight as fl
from fanlight import agg
from tests.test_walls import MODULES, PACKAGE, imports_of

# In a batch, by time: how many files a request is handed to, and how often to one that it had left.
STEPS, RETURNS = 10, 2

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "how_it_works.md").read_text("utf-8")
STEP = re.compile(r"^\| (\d+) \| `([\w/.]+)` \| (\w+) \|", re.MULTILINE)
WALKS = {part.split("\n")[0]: STEP.findall(part) for part in PAGE.split("\n### ")[1:]}
WALKS = {name: steps for name, steps in WALKS.items() if steps}


BATCH = "Sliding windows over a batch"


def module(path):
    return "fanlight." + path.removesuffix(".py").replace("/", ".")


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
    assert len(WALKS) == 2


@pytest.mark.parametrize("walk", WALKS)
def test_steps_are_numbered_and_there(walk):
    assert [int(number) for number, _, _ in WALKS[walk]] == list(range(1, len(WALKS[walk]) + 1))
    assert [path for _, path, _ in WALKS[walk] if module(path) not in MODULES] == []
    assert len({path for _, path, _ in WALKS[walk]}) == len(WALKS[walk]), "a file comes twice"


def test_the_walk_through_a_batch_is_short():
    assert len(WALKS[BATCH]) <= STEPS


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


# The entry point, what exports it, and a query in SQL, which is asked of it.
ABOVE = ("fanlight", "fanlight.spark.over", "fanlight.spark.language.select")


def test_no_engine_knows_the_other_and_nothing_the_entry_point():
    for name in MODULES:
        found = reached(name)
        engines = [e for e in ("placed", "ordered") if name.startswith(f"fanlight.spark.{e}.")]
        for engine in engines:
            other = "ordered" if engine == "placed" else "placed"
            assert not [m for m in found if m.startswith(f"fanlight.spark.{other}")], name
        if name not in ABOVE:
            direct = imported(name)
            assert "fanlight.spark.over" not in direct, name


def handed(frame, forms):
    """Whether a function is handed the request; a question to the request itself is no handing."""
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    values = [frame.f_locals.get(name) for name in names]
    if names[:1] == ("self",) and isinstance(values[0], forms):
        return isinstance(values[0], fl.Windowed)
    several = [one for value in values if isinstance(value, (list, tuple)) for one in value]
    return any(isinstance(value, forms) for value in (*values, *several))


def followed(ask):
    """The files that a request is handed to in turn, while ``ask`` runs."""
    from fanlight.plan.candidate import Plan
    from fanlight.plan.request import Request
    from fanlight.spark.binding.bound import Bound
    from fanlight.spark.fields import Fields

    forms = (fl.Sliding, fl.MultiGranular, Bound, fl.Windowed, Request, Plan, Fields)
    files = []

    def called(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE) and handed(frame, forms):
            files.append(path.relative_to(PACKAGE).as_posix())

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        ask()
    finally:
        sys.setprofile(before)
    return [path for path, _ in groupby(files)]


@pytest.mark.parametrize(
    "spec",
    [
        fl.Sliding("1 minute", "1 second"),
        fl.Sliding("1 minute"),
        [fl.Sliding("1 minute"), fl.Sliding("5 minutes", "1 minute")],
        fl.MultiGranular(["1 minute", "5 minutes"], ["20 seconds", "1 minute"]),
    ],
    ids=["sliding", "tumbling", "list", "levels"],
)
def test_a_request_goes_the_way_of_the_page(classic, spec):
    df = classic.sql("SELECT timestamp_seconds(id) AS ts, id % 2 AS k, id AS v FROM range(1e9)")
    files = followed(lambda: fl.over(df, spec, time="ts", by="k").agg(agg.max("v"), agg.count()))
    assert list(dict.fromkeys(files)) == [path for _, path, _ in WALKS[BATCH]]
    assert len(files) <= STEPS
    assert len(files) - len(set(files)) <= RETURNS
