"""What a user sees: names, methods, docstrings, and types that a checker can follow."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
from functools import partial
from types import SimpleNamespace
from typing import Literal, get_args, get_origin

import pytest

import fanlight as fl
from fanlight import types
from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.suggestions import (
    CALLED,
    OF_ROWS,
    OTHERWISE,
    advise_called,
    advise_otherwise,
)
from fanlight.engine.spark import over as entry
from fanlight.engine.spark.windows import events, frames, levels, placed, widening
from fanlight.engine.spec.errors import CallError
from scripts import names as page_of_names
from tests.helpers.imports import MODULES as MODULES_OF_SOURCE
from tests.helpers.imports import parsed
from tests.helpers.mistakes import BEFORE, MISTAKES
from tests.helpers.public import METHODS, checked, checked_by_pyright

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
    widened = fl.ProgressiveWidening("1 m", max_duration="1 h", max_rows=9)
    reveal_type(fl.over(df, widened, time="ts"))
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


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_type_checker_sees_each_mistake_and_no_other(tmp_path, mypy_cache, checker):
    before = BEFORE.count("\n")

    def find_errors(lines):
        source = BEFORE + "".join(f"    {line}\n" for line in lines)
        if checker == "pyright":
            return checked_by_pyright(tmp_path, source)
        said, _ = checked(tmp_path, mypy_cache, source)
        return {int(line.split(":")[1]): line for line in said if " error:" in line}

    assert len(MISTAKES) > 30
    assert find_errors(MISTAKES.values()) == {}
    seen = find_errors(MISTAKES)
    missed = [line for at, line in enumerate(MISTAKES, before + 1) if at not in seen]
    assert missed == []
    assert len(seen) == len(MISTAKES)


def test_no_argument_is_of_any_type_but_those_of_many():
    """What a stored piece, a query, a key may be: of other packages, or of any kind."""
    calls = [*called_by_name(), *(getattr(fl.agg, name) for name in fl.agg.__all__)]
    found = {
        f"{call.__qualname__}({name})"
        for call in calls
        for name, one in inspect.signature(call).parameters.items()
        if name != "self" and one.annotation in ("Any", "Any | None", one.empty)
    }
    assert found == {
        "progress(of)", "serve(pieces)", "sql(tables)", "watch(query)", "watch(windows)",
    }  # fmt: skip


def test_words_that_are_checked_are_those_that_a_type_has():
    """One list for both: the source writes none of them a second time."""
    choices = {get_args(one) for one in vars(types).values() if get_origin(one) is Literal}
    assert len(choices) > 12
    for name, path in MODULES_OF_SOURCE.items():
        for node in ast.walk(parsed(path.read_text("utf-8"))):
            if name != "fanlight.types" and isinstance(node, ast.Tuple):
                words = tuple(one.value for one in node.elts if isinstance(one, ast.Constant))
                assert len(words) < 2 or words not in choices, f"{name}, line {node.lineno}"


def test_types_of_arguments_can_be_computed_with():
    """An annotation that is not put off is computed where it stands."""
    for name in types.__all__:
        if name != "DataFrameLike":
            assert getattr(types, name) | None


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
        # What pandas, Polars, Flink, Beam and Kafka Streams call windows.
        ("TumbleWindow", "write fl.over(df, fl.Sliding('1 hour'), time='ts')"),
        ("FixedWindows", "write fl.over(df, fl.Sliding('1 hour'), time='ts')"),
        ("SlidingWindow", "write fl.Sliding"),
        ("SlidingEventTimeWindows", "write fl.Sliding"),
        ("CountWindow", "write fl.over(df, fl.Sliding(fl.Rows(100)), time='ts')"),
        ("SessionWindows", "write fl.over(df, fl.Session('5 minutes'), time='ts')"),
        ("CumulativeWindow", "write fl.Cumulative"),
        ("resample", "write fl.over(df, fl.Sliding('1 hour'), time='ts')"),
        ("rolling", "write fl.over(df, fl.Trailing('1 hour'), time='ts')"),
        ("group_by_dynamic", "write fl.over(df, fl.Sliding('1 hour', '5 minutes'), time='ts')"),
        ("cumsum", "write fl.over(df, fl.Trailing(), time='ts', by='key').attach(agg.sum('x'))"),
        ("withWatermark", "write df.withWatermark('ts', '5 minutes'), before fl.over"),
        ("col", "write F.col, after 'from pyspark.sql import functions as F'"),
    ],
)
def test_what_there_is_not_says_what_to_write(name, write):
    with pytest.raises(AttributeError, match=re.escape(f"fanlight has no {name!r}; {write}")):
        getattr(fl, name)
    assert not hasattr(fl, name)


def test_aggregates_that_do_not_exist_say_what_to_write():
    for name, write in (("maximum", "agg.max,"), ("var", "agg.var_samp"), ("zzz", "70 more")):
        with pytest.raises(fl.FanlightError, match=write):
            getattr(fl.agg, name)
        assert not hasattr(fl.agg, name)


@pytest.mark.parametrize("name", fl.algebra.__all__)
def test_parts_of_aggregates_are_in_a_module_of_their_own(name):
    for home in (fl, fl.agg):
        with pytest.raises(AttributeError, match=rf"write (fanlight\.)?algebra\.{name}\b"):
            getattr(home, name)


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
        ("Cumulative('1 day')", "missing a required argument: 'slide'"),
        ("Session('5 minutes', '1 day')", "write fl.Session('5 minutes', max_duration='1 day')"),
        (
            "Sliding('1 hour', '15 minutes', '5 minutes')",
            "write fl.Sliding('1 hour', '15 minutes', offset='5 minutes')",
        ),
        ("ThresholdFrame('v > 1', 3)", "write fl.ThresholdFrame('v > 1', min_rows=3)"),
        ("Sliding('1 hour', '15 minutes', 5)", "write fl.Sliding('1 hour', '5 minutes')"),
        ("Sliding('1 hour', ofset='1 minute')", "offset=… instead of ofset=…"),
        ("ThresholdFrame(speed=3)", "there is no argument 'speed'"),
        ("DeltaFrame('speed', 2)", "too many positional arguments"),
        ("agg.percentile('speed')", "missing a required argument: 'percentage'"),
        (
            "agg.sum('speed', 'amount')",
            "too many positional arguments; write agg.sum('speed')",
        ),
        ("agg.max('speed', 'amount')", "write agg.max(F.struct('speed', 'amount'))"),
        ("agg.count('phone', distinct=True)", "write agg.count_distinct('phone')"),
        ("agg.count(distinct=True)", "write agg.count_distinct('x')"),
        ("agg.count(column='a', distinct=True)", "write agg.count_distinct('a')"),
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


@pytest.mark.parametrize("name", CALLED)
def test_what_others_call_an_aggregate_is_found(name):
    with pytest.raises(fl.FanlightError) as caught:
        getattr(fl.agg, name)
    write = advise_called(name.upper())
    assert f"; write {write}, or make your own" in str(caught.value)
    made = eval(f"({write},)", {"agg": fl.agg})  # noqa: S307
    assert all(isinstance(one, (Call, fl.algebra.Expression)) for one in made)


@pytest.mark.parametrize("name", OF_ROWS)
def test_what_others_compute_for_each_row_is_found(name):
    for home in (fl, fl.agg):
        with pytest.raises(fl.FanlightError, match=re.escape(f"; write {OF_ROWS[name]}")):
            getattr(home, name.upper())


def test_a_method_of_windows_is_not_looked_for_in_fanlight():
    for name in ("rejected", "agg", "with_empty", "fill"):
        if not hasattr(fl, name):
            with pytest.raises(fl.FanlightError, match=rf"write fl\.over\(df, …\)\.{name}\(…\)"):
                getattr(fl, name)


def test_an_aggregate_is_named_by_alias():
    for made in (fl.agg.count(), fl.agg.count() / 2):
        with pytest.raises(fl.FanlightError, match=r"has no 'name'; write alias\('x'\)$"):
            made.name("x")
        assert made.alias("x").label == "x"


# Calls as users of pandas, Polars, Flink, Beam, Kafka Streams and Spark write them first.
BY_OTHER_NAMES = {
    "Sliding(size='1 hour', step='1 minute')": {"range", "slide"},
    "Sliding(size='1 hour', slide='1 minute')": {"range"},
    "Sliding(size='1 hour', period='1 minute')": {"range", "slide"},
    "Sliding(every='1 minute', period='1 hour')": {"range", "slide"},
    "Sliding(every='1 hour')": {"range"},
    "Sliding('1 hour', every='1 minute')": {"slide"},
    "Sliding(window='1 hour', hop='1 minute')": {"range", "slide"},
    "Sliding('1 hour', advance='1 minute')": {"slide"},
    "Sliding(length='1 hour', start='1 minute')": {"range", "offset"},
    "Sliding(windowDuration='1 hour', slideDuration='1 minute', startTime='1 second')":
        {"range", "slide", "offset"},
    "Sliding('1 hour', inclusive='both')": {"closed"},
    "Session(gap_duration='1 hour')": {"gap"},
    "Session(timeout='1 hour', max_session_length='1 day')": {"gap", "max_duration"},
    "Cumulative(max_size='1 day', every='1 hour')": {"range", "slide"},
    "Calendar(every='1 day', tz='Europe/Berlin')": {"range", "zone"},
    "Trailing(window='1 hour')": {"range"},
    "Rows(n=3)": {"count"},
    "agg.percentile('x', q=0.5)": {"percentage"},
    "agg.first('x', skip_nulls=True)": {"ignorenulls"},
}  # fmt: skip
# Arguments that another function has.
OF_OTHERS = {
    "Sliding('1 hour', zone='Europe/Berlin')": "fl.Calendar('1 day', zone='Europe/Berlin')",
    "Sliding('1 hour', tz='Europe/Berlin')": "fl.Calendar('1 day', zone='Europe/Berlin')",
    "Sliding('1 hour', week_starts='sunday')": "fl.Calendar('1 day', zone='Europe/Berlin')",
    "Sliding('1 hour', on='ts')": "fl.over(df, ",
    "Session('1 hour', group_by='key')": "fl.over(df, ",
    "Sliding('1 hour', max_rows=3)": "fl.",
    # Of no function of fanlight.
    "Sliding('1 hour', label='right')": "window.start or window.end of the result",
    "Sliding('1 hour', center=True)": "fl.over(df, fl.Trailing('1 hour'), …).at(df",
    "Trailing('1 hour', min_periods=3)": "n=agg.count() beside the others and .where('n >= 3')",
    **dict.fromkeys(
        ("over(1, 2, watermark='5 minutes', time='ts')", "over(1, 2, lateness='1 hour', time='ts')",
         "over(1, 2, delay='5 minutes')", "over(1, 2, allowed_lateness='5 minutes', time='ts')"),
        "df.withWatermark('ts', '5 minutes'), before fl.over",
    ),
    # By what else is given.
    "over(1, 2, order_by='ts', by='key')": "time=… instead of order_by=…",
    "over(1, 2, order_by='seq', time='ts')": "tiebreak=… instead of order_by=…",
}  # fmt: skip


@pytest.mark.parametrize("call", BY_OTHER_NAMES)
def test_the_names_that_others_have_for_arguments_are_known(call):
    with pytest.raises(fl.FanlightError) as caught:
        eval(f"fl.{call}")  # noqa: S307 - the calls above
    meant = dict(re.findall(r"(\w+)=… instead of (\w+)=…", str(caught.value)))
    assert {*meant} == BY_OTHER_NAMES[call]
    for ours, theirs in meant.items():
        call = re.sub(rf"\b{theirs}=", f"{ours}=", call)
    eval(f"fl.{call}")  # noqa: S307 - as the message says


@pytest.mark.parametrize("call", OF_OTHERS)
def test_an_argument_of_another_function_names_that(call):
    with pytest.raises(fl.FanlightError) as caught:
        eval(f"fl.{call}")  # noqa: S307 - the calls above
    assert f"; write {OF_OTHERS[call]}" in str(caught.value)
    assert "fl.Sliding('1 hour', '5 minutes')" not in str(caught.value)


def called():
    """Every public function, class and method by a name."""
    for home in (fl, fl.agg):
        for name in home.__all__:
            one = getattr(home, name)
            if callable(one) and one not in METHODS and name not in ("FanlightError", "Windowed"):
                yield name, one
    for kind, names in METHODS.items():
        for name in sorted(names):
            yield f"{kind.__name__}.{name}", partial(getattr(kind, name), object.__new__(kind))
    call = fl.agg.max("x")
    for made in (call, call / 2):
        yield from ((f"{type(made).__name__}.{name}", getattr(made, name)) for name in MADE)
    yield "Aggregate()", call.aggregate


MADE = ("alias", "where")
# Nothing but aggregates after what has no name.
NO_OPTIONS = (
    ".accumulate", ".agg", ".attach", ".bursts", ".pieces", ".repair", ".split", ".wide",
)  # fmt: skip


@pytest.mark.parametrize(("name", "function"), called())
def test_arguments_that_there_are_not_are_refused_in_our_words(name, function):
    parameters = inspect.signature(function).parameters.values()
    kinds = {one.kind for one in parameters}
    wrong = {"nonsense": 1} if inspect.Parameter.VAR_KEYWORD not in kinds else {}
    # A misspelt one, where any other names an aggregate.
    options = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
    misspelt = {f"{options[0]}s": 1} if options and not wrong else {}
    many = (1,) * 30 if inspect.Parameter.VAR_POSITIONAL not in kinds else ()
    tried = [(args, named) for args, named in (((), wrong), ((), misspelt), (many, {}))
             if args or named]  # fmt: skip
    for args, named in tried:
        with pytest.raises(CallError, match="; write ") as caught:
            function(*args, **named)
        assert "__" not in str(caught.value)
    assert tried or name.endswith(NO_OPTIONS)


def test_the_page_of_names_has_every_name_and_every_argument_once():
    page = page_of_names.PAGE.read_text("utf-8")
    assert page == page_of_names.write_page(page), "run python -m scripts.names"
    made = {kind.__name__ for kind in METHODS} | {"Windowed", "Server", "Upsert", "FanlightError"}
    told = set(re.findall(r"`fl\.(\w+)", page))
    assert told == {*fl.__all__} - made | {"plots", "report"}
    methods = {name for some in METHODS.values() for name in some}
    assert methods <= set(re.findall(r"`(\w+)\(", page))
    taken = [name for one in called_by_name() for name in inspect.signature(one).parameters]
    rows = re.findall(r"^\| (`[a-z].*?) \|", page.split("## Arguments")[1], re.MULTILINE)
    told = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(told) == sorted({*taken} - {"self"})


def called_by_name():
    """Every public function and class of fanlight that a user calls, and methods of windows."""
    made = {"FanlightError", "Server", "Upsert", "Windowed"}
    for name in set(fl.__all__) - made - {"agg", "algebra", "types"}:
        if (one := getattr(fl, name)) not in METHODS:
            yield one
    yield from (getattr(kind, name) for kind, some in METHODS.items() for name in some)


def test_explain_takes_the_same_of_all_windows():
    taken = {str(inspect.signature(kind.explain)) for kind in METHODS}
    assert len(taken) == 1


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
