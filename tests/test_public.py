"""What a user sees: names, methods, docstrings, and types that a checker can follow."""

from __future__ import annotations

import doctest
import inspect
import re
from types import SimpleNamespace

import pytest

import fanlight as fl
from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.suggestions import OTHERWISE, advise_otherwise
from fanlight.engine.spark import over as entry
from fanlight.engine.spark.windows import events, frames, levels, placed, widening
from tests.helpers.public import METHODS, checked

MODULES = (entry, events, frames, levels, placed, widening)


REVEALED = """
import fanlight as fl
from pyspark.sql import DataFrame

def f(df: DataFrame) -> None:
    sliding, levels = fl.Sliding("1 hour"), fl.MultiGranular(["1 hour", "1 day"], ["1 hour"] * 2)
    reveal_type(fl.over(df, sliding, time="ts"))
    reveal_type(fl.over(df, [sliding], time="ts"))
    reveal_type(fl.over(df, levels, time="ts"))
    reveal_type(fl.over(df, sliding, time=("a", "b")))
    reveal_type(fl.over(df, levels, time=("a", "b")))
    reveal_type(fl.over(df, fl.ThresholdFrame("x > 1"), time="ts"))
    reveal_type(fl.over(df, fl.Session("5 minutes"), time="ts"))
    reveal_type(fl.over(df, fl.ProgressiveWidening("1 m", longest="1 h", max_rows=9), time="ts"))
    reveal_type(fl.over(df, levels, time="ts").using("granules"))
    reveal_type(fl.over(df, sliding, time="ts").agg(fl.agg.count()))
"""
KINDS = [
    "SlidingWindows", "SlidingWindows", "LevelWindows", "EventWindows", "EventWindows",
    "FrameWindows", "FrameWindows", "WideningWindows", "LevelWindows", "DataFrame",
]  # fmt: skip


def public(kind):
    return {name for name in dir(kind) if not name.startswith("_")}


def examples():
    """The code of all docstrings of the classes that ``over`` returns, a function each."""
    parser, parts = doctest.DocTestParser(), []
    finder = doctest.DocTestFinder(parser=parser, exclude_empty=True)
    for module in MODULES:
        for test in finder.find(module):
            if not test.examples or not test.name.startswith(module.__name__):
                continue
            body = "".join(example.source for example in test.examples)
            name = test.name.replace(".", "_")
            lines = "".join(f"    {line}\n" for line in body.splitlines())
            parts.append(f"def {name}(spark: SparkSession) -> None:\n{lines}")
    return parts


def test_all_public_names_are_shown_and_there():
    assert set(fl.__all__) <= set(dir(fl))
    assert [name for name in fl.__all__ if not hasattr(fl, name)] == []
    assert {kind.__name__ for kind in METHODS} <= set(fl.__all__)


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_a_class_has_what_it_can_do_and_nothing_else(kind):
    assert public(kind) == METHODS[kind]


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, names in METHODS.items() for name in sorted(names)]
)
def test_every_method_says_what_it_takes_gives_and_raises(kind, name):
    method = getattr(kind, name)
    said = inspect.getdoc(method) or ""
    assert "Returns\n-------" in said, "what does it return?"
    assert "Examples\n--------" in said, "an example?"
    assert "Raises\n------" in said or name in ("explain", "rejected", "frames")
    for argument in inspect.signature(method).parameters:
        assert argument == "self" or argument in said, f"what is {argument}?"


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_using_keeps_the_class(kind):
    assert inspect.signature(kind.using).return_annotation == "Self"


@pytest.mark.slow
def test_a_type_checker_knows_what_over_returns(tmp_path, mypy_cache):
    lines, ran = checked(tmp_path, mypy_cache, REVEALED)
    found = [line.split('"')[1].rpartition(".")[2] for line in lines if "Revealed type" in line]
    assert found == KINDS, ran.stdout + ran.stderr
    assert not [line for line in lines if " error:" in line], ran.stdout


@pytest.mark.slow
def test_a_type_checker_sees_what_is_not_there(tmp_path, mypy_cache):
    """What answers at run time with a hint is no attribute to it."""
    made = REVEALED.replace('reveal_type(fl.over(df, sliding, time="ts"))', "LINES")
    lines = "fl.over(df, sliding, time='ts').show(); fl.agg.maximum('v')"
    said, ran = checked(tmp_path, mypy_cache, made.replace("LINES", lines))
    errors = [line for line in said if " error:" in line]
    assert len(errors) == 2, ran.stdout
    assert all("has no attribute" in line for line in errors)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("slidng", "write fl.Sliding"),
        ("sliding", "write fl.Sliding"),
        ("DeltaFrames", "write fl.DeltaFrame"),
        ("window", "write fl.over(df, fl.Sliding('1 hour', '5 minutes'), time='ts')"),
        ("session_window", "write fl.over(df, fl.Session('5 minutes'), time='ts')"),
        ("tumbling", "write fl.over(df, fl.Sliding('1 hour'), time='ts')"),
        ("count", "write agg.count"),
        ("quux", "choose one of AggregateFrame, "),
    ],
)
def test_what_there_is_not_says_what_to_write(name, write):
    with pytest.raises(AttributeError, match=re.escape(f"fanlight has no {name!r}; {write}")):
        getattr(fl, name)
    assert not hasattr(fl, name)


def test_aggregates_that_do_not_exist_say_what_to_write():
    for name, write in (("maximum", "agg.max,"), ("stddev", "agg.stddev_samp"), ("zzz", "max_by")):
        with pytest.raises(fl.FanlightError, match=write):
            getattr(fl.agg, name)
        assert not hasattr(fl.agg, name)


@pytest.mark.parametrize("name", OTHERWISE)
def test_what_is_written_instead_of_an_aggregate_of_spark_is_one(name):
    why, write = advise_otherwise(name.upper())
    with pytest.raises(fl.FanlightError) as caught:
        getattr(fl.agg, name)
    assert f"{why and f', as {why}'}; write {write}, or make your own" in str(caught.value)
    assert isinstance(eval(write.replace("…", "'x'"), {"agg": fl.agg}), Call)  # noqa: S307


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("Calendar('1 day')", "missing a required argument: 'zone'"),
        ("Cumulative('1 day')", "missing a required argument: 'step'"),
        ("Session('5 minutes', '1 day')", "too many positional arguments"),
        ("Sliding('1 hour', ofset='1 minute')", "offset=… instead of ofset=…"),
        ("ThresholdFrame(speed=3)", "missing a required argument: 'predicate'"),
        ("DeltaFrame('speed', 2)", "too many positional arguments"),
        ("agg.percentile('speed')", "missing a required argument: 'percentage'"),
        ("agg.sum('speed', 'amount')", "too many positional arguments; write agg.sum('x')"),
        ("agg.max('speed', 'amount')", "write agg.max(F.struct('speed', 'amount'))"),
        ("agg.min('speed', 3)", "write agg.min(F.struct('x', 'y'))"),
        ("agg.max('speed', key='x')", "write agg.max('x')"),
        ("doctor()", "missing a required argument: 'spark'"),
    ],
)
def test_a_wrong_call_says_what_was_asked_and_a_right_one(call, said):
    with pytest.raises(fl.FanlightError, match=re.escape(said)) as caught:
        eval(f"fl.{call}")  # noqa: S307 - the calls above
    asked, _, write = str(caught.value).partition(": ")
    assert asked == call.removeprefix("agg.")
    right = re.search(r"(?:fl|agg)\.\w+\((?!spark).*", write)
    if right:
        struct = SimpleNamespace(struct=lambda *names: ",".join(names))
        known = {"fl": fl, "agg": fl.agg, "F": struct}
        eval(right[0], known)  # noqa: S307 - what the message says to write
    assert right or call == "doctor()"


@pytest.mark.slow
def test_the_examples_pass_a_strict_type_checker(tmp_path, mypy_cache):
    parts = examples()
    assert len(parts) > 12
    source = "from pyspark.sql import SparkSession\n\n\n" + "\n\n".join(parts)
    lines, ran = checked(tmp_path, mypy_cache, source)
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    assert not [line for line in lines if " error:" in line], ran.stdout


def test_a_pyarrow_that_does_not_load_with_numpy_is_told(monkeypatch):
    """As PySpark 3.5 comes: it keeps NumPy 1."""

    def load(_):
        raise ImportError("pyarrow requires NumPy 2.0 or newer, found 1.26.4")

    monkeypatch.setattr(fl, "import_module", load)
    for name in ("over", "progress", "doctor"):
        with pytest.raises(fl.FanlightError, match=r"write: pip install 'pyarrow<22'$") as told:
            getattr(fl, name)
        assert f"fanlight.{name} needs pyarrow" in str(told.value)


def test_another_module_that_does_not_load_stays_python_s_error(monkeypatch):
    def load(_):
        raise ImportError("libarrow.so: cannot open")

    monkeypatch.setattr(fl, "import_module", load)
    with pytest.raises(ImportError, match="cannot open"):
        getattr(fl, "over")  # noqa: B009 - it is loaded on first use
