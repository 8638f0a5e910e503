"""What is said of an aggregate: by its monoids, by its entry, and nowhere else."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import pytest
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg, algebra
from fanlight.engine.algebra import forms
from fanlight.engine.algebra.aggregate import Accepts
from fanlight.engine.algebra.facts import ignores_repeats, why_not_weightable
from fanlight.engine.algebra.monoids import Monoid
from fanlight.engine.algebra.registry import Registry, sample
from fanlight.engine.operators.frames.running import WATCHED
from fanlight.engine.spec.frames.definitions import NAVIGATION
from fanlight.engine.spec.frames.limits import RUNNING
from tests.helpers.aggregates import REGISTRY, compared_samples, of_rows
from tests.helpers.compare import same
from tests.helpers.dataframes import collected, frame

ROOT = Path(__file__).resolve().parents[2]
FOLLOWED = {name for name, running in RUNNING.items() if not running.why_not}
MONOIDS = {type(monoid).__name__ for one in compared_samples() for monoid in one.monoids}
# What limits watch is called as the aggregates of that meaning; these modules say so, or do it.
FOLLOWING = {"spec/frames/limits.py", "kinds/aggregate.py", "operators/frames/running.py",
             "operators/frames/logical_steps.py", "plan/patterns.py",
             "spec/frames/definitions.py", "spec/frames/pattern.py"}  # fmt: skip


def calls(ones, columns=str):
    """The aggregates of samples, over what ``columns`` makes of the names of theirs."""
    return {
        f"a{at}": one.entry.function(*map(columns, one.columns), **dict(one.sample.options))
        for at, one in enumerate(ones)
    }


@pytest.fixture
def rows():
    return [
        {"ts": at * 7_000_000, "seq": at, "v": [1.5, None, -2.0, 4.0, 1.5][at % 5],
         "w": [2.0, 1.0, None, 3.5][at % 4], "n": [3, -4, None, 9][at % 4],
         "d": None if at % 6 == 1 else at % 3, "s": ["b", "", None, "é", "a"][at % 5],
         "ok": [True, None, False][at % 3], "x": float(at % 3)}
        for at in range(40)
    ]  # fmt: skip


def agree(one, other):
    left, right = (sorted(collected(df), key=lambda row: row["window"]["start"])
                   for df in (one, other))  # fmt: skip
    assert len(left) == len(right) > 2
    for found, wanted in zip(left, right, strict=True):
        for name, value in wanted.items():
            assert same(found[name], value, 1e-9), name


def test_fields_tell_the_same_for_every_type():
    for one in compared_samples():
        call = one.entry.call(one.sample)
        skips = [monoid.skips_nulls for monoid in call.aggregate.monoids]
        assert skips == [monoid.skips_nulls for monoid in one.monoids]
        repeats = [monoid.idempotent for monoid in call.aggregate.monoids]
        assert repeats == [monoid.idempotent for monoid in one.monoids]


def test_those_that_skip_nulls_are_told_by_their_form(classic, rows):
    every = [one for one in compared_samples() if of_rows(one)]
    skipping = [one for one in every if all(monoid.skips_nulls for monoid in one.monoids)]
    assert {one.entry.name for one in every} == {one.entry.name for one in skipping}
    assert len(skipping) == len(every) - 4  # count(), first, any_value and last
    df = frame(classic, rows)
    ask = {"time": "ts", "tiebreak": "seq"}
    windows = fl.over(df, fl.Sliding("70 seconds"), **ask)
    wanted = fl.over(df.where("x > 0"), fl.Sliding("70 seconds"), **ask)
    only = calls(skipping, lambda name: F.expr(f"case when x > 0 then {name} end"))
    agree(windows.agg(**only), wanted.agg(**calls(skipping)))


def test_those_that_ignore_repeats_do_so(classic, rows):
    once = [
        one for one in compared_samples() if ignores_repeats(one.entry.call(one.sample).aggregate)
    ]
    bits = {"bit_and", "bit_or", "bool_and", "bool_or"}
    assert {one.entry.name for one in once} == {"min", "max", "approx_count_distinct", *bits}
    df = frame(classic, rows)
    twice, alone = (fl.over(one, fl.Sliding("70 seconds"), time="ts").agg(**calls(once))
                    for one in (df.union(df), df))  # fmt: skip
    agree(twice, alone)


@pytest.mark.parametrize(
    ("value", "known"),
    [
        ("{x}", True),
        ("{x} * {y} + 1", True),
        ("cast({x} * 100BD as decimal(20,2))", True),
        ("if({x} is null or {y} is null, null, struct({x}, {y}))", True),
        ("if(isnan({x}), null, {x})", True),
        ("1", False),
        ("{order}", False),
        ("if({x}, 1, null)", True),
        ("if({x}, null, 1)", False),
        ("'{x}'", False),
        ("named_struct('o', {order}, 'v', {x})", False),
        ("coalesce({x}, 0)", False),
        ("if({x} > 9, 1, null)", False),
        ("if({x} > 9, null, 1)", False),
        ("if({x} is null, null, 1) is null, null, if({y})", False),
        ("if({x} is null and {y} > 1, null, 1)", False),
        ("if({x} = ', null,', 1, 2)", False),
        ("{x} is null", False),
        ("", False),
    ],
)
def test_what_is_null_of_nulls_is_told_by_its_form(value, known):
    assert forms.is_null_of_nulls(value) == known
    assert Monoid(value).skips_nulls == known


def test_a_monoid_that_combines_otherwise_is_no_sum():
    class Squares(algebra.Sum):
        value: str = "{x} * {x}"

    class Product(algebra.Sum):
        _combine = "coalesce({a} * {b}, {a}, {b})"

    class Minutes(algebra.Sum):
        _combine = "{a} + {b}"
        combining = "sum"

    assert [one.combining for one in (Squares, Product, Minutes)] == ["sum", "", "sum"]


def test_weights_need_sums_and_results_of_doubles():
    def refused(lower, **fields):
        return why_not_weightable(algebra.Aggregate("mine", fields, lower).partials(("bigint",)))

    assert refused("{s} / nullif({n}, 0)", s=algebra.Sum(), n=algebra.Count()) is None
    assert "sums over rows" in refused("{s} - {m}", s=algebra.Sum(), m=algebra.Max())[0]
    for lower in (
        "{s} div 2L",
        "cast({s} as bigint)",
        "{s} / {scale}",
        "{s} - cast({s} as {type})",
    ):
        assert "doubles" in refused(lower, s=algebra.Sum())[0]


def test_whatever_can_be_watched_is_followed_and_is_that_of_an_aggregate():
    far = {f"absolute_{name}" for name, running in RUNNING.items() if running.absolute}
    assert {*WATCHED, "distinct"} - far == FOLLOWED
    assert far < set(WATCHED)
    watched = {REGISTRY[name].call(REGISTRY[name].samples[0]).aggregate.watched
               for name in REGISTRY.watchable}  # fmt: skip
    assert watched == FOLLOWED


@pytest.mark.parametrize(("watched", "arity"), [("sum", 2), ("max", 0), ("count", 2),
                                                ("distinct", 0)])  # fmt: skip
def test_watching_what_takes_other_columns_is_refused(watched, arity):
    with pytest.raises(fl.FanlightError, match=r"no limit can watch the aggregate then"):
        algebra.Aggregate("mine", {"n": algebra.Count("1")}, "{n}", arity=arity, watched=watched)
    with pytest.raises(fl.FanlightError, match=r"watched='median' is not known; write"):
        algebra.Aggregate("mine", {"n": algebra.Count("1")}, "{n}", watched="median")


def test_names_that_are_taken_are_refused():
    mine = Registry()
    mine.aggregate(sample("double", gives="double"), names=("top",))(agg.max)
    assert mine.in_sql == {"max": "max", "top": "max"}
    with pytest.raises(fl.FanlightError, match="there already"):
        mine.aggregate(sample("double", gives="double"), names=("top",))(agg.min)


# Aggregates that share their names with a class of types or with an argument of the API.
NAMESAKES = {*get_args(Accepts), "every", "rate"}


@dataclass(frozen=True)
class Listed:
    """What a piece of source says of several aggregates by their names, or of some monoids."""

    line: int
    names: frozenset[str]


def lists(source):
    """The lists of aggregates or monoids in a source."""
    known = {*REGISTRY, *REGISTRY.names} - NAMESAKES
    found = []
    for node in ast.walk(ast.parse(source)):
        parts = []
        if isinstance(node, ast.Dict):
            parts = node.keys
        elif isinstance(node, (ast.Set, ast.Tuple, ast.List)):
            parts = node.elts
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
            parts = [node.args[1]]
        texts = {one.value for one in parts if isinstance(one, ast.Constant)} & known
        classes = {one.id for one in parts if isinstance(one, ast.Name)} & MONOIDS
        if len(texts) > 1 or classes:
            found.append(Listed(node.lineno, frozenset(texts | classes)))
    return found


def test_no_module_lists_aggregates_or_monoids():
    home = ROOT / "src/fanlight"
    for path in sorted(home.rglob("*.py")):
        name = path.relative_to(home).as_posix()
        if name == "agg.py" or "/algebra/library/" in name:
            continue
        told = name.removeprefix("engine/") in FOLLOWING
        found = [
            one
            for one in lists(path.read_text("utf-8"))
            if not (told and one.names <= {*RUNNING, *NAVIGATION})
        ]
        assert not found, f"{name}: {found}; make it a fact of the entry, or of the monoid"


@pytest.mark.parametrize(
    "source",
    ['SOME = {"sum", "count"}', 'if name in ("max", "stddev"): pass', '{"avg": 1, "mode": 2}',
     "isinstance(monoid, Sum)", "type(monoid) in (Count, Max)", "isinstance(m, (Min, str))"],
)  # fmt: skip
def test_a_list_is_seen(source):
    assert lists(source)
