"""Names are data: whatever a column, a field or a result is called, answers are the same."""

from __future__ import annotations

from datetime import timedelta
from functools import cache, reduce

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg
from tests.helpers.named_kinds import KINDS, MINUTES
from tests.helpers.names import (
    COLUMNS,
    FIELDS,
    MARK,
    PLAIN,
    RESULTS,
    Called,
    answer,
    answers,
    quoted,
    rows,
    turns,
)
from tests.helpers.sparks import PROVIDER, ROCKSDB
from tests.helpers.streams import ended, source, write_files
from tests.law.registry import ANSI, CASE, RESERVED
from tests.law.run import ONE_TASK, beside

STREAMS = (
    "sliding, panes", "windows over rows", "at every row", "levels, granules", "fit",
    "events, cells", "events, se-slicing", "delta frames", "rows of frames", "own gaps", "detect",
    "features of others", "events, parts", "held", "events, running",
)  # fmt: skip
SETTINGS = (
    ((CASE, "false"), (ANSI, "true"), (RESERVED, "true")),
    ((CASE, "true"), (ANSI, "true"), (RESERVED, "false")),
)
TURNS = tuple(turns())
# Names that only their case tells apart, with what paths and texts are made of; and fields that
# nothing tells apart.
TWINS = Called(
    {
        name: f"{letter}.b c/d"
        for name, letter in zip((*COLUMNS, *RESULTS), "aAbBcCdDeEfFgGhHiI", strict=True)
    },
    ("a", "A") * FIELDS,
)


# Names of the operator of events that have not ended, and one with a dot.
UNENDED = ("a.b", "known", "place", "last", "id", "running", "given")
COUNTED = ("windows over rows", "forgetting, rows")  # their windows are numbers of rows
LAST = "the last instant of the window"


@pytest.fixture(scope="module")
def timed(classic):
    """The rows over plain names, and of windows in time the last instant that Spark sees in one."""
    df = rows(classic).cache()

    @cache
    def found(kind):
        of = KINDS[kind](df, PLAIN)
        if "window" in of.columns and kind not in COUNTED:
            of = of.withColumn(LAST, F.window_time("window"))
        return of.collect()

    return found


@pytest.fixture(scope="module")
def plainly(timed):
    """The answers over plain names."""

    def found(kind):
        given = timed(kind)
        assert given
        return answers(row[: len(row) - (LAST in row)] for row in given)

    return found


def unharmed(session):
    got = session.sql(f"select java_method('java.lang.System', 'getProperty', '{MARK}')").first()
    return got[0] == "null"


def check_names(kind, called, wanted, classic, setting):
    session = beside(classic, *setting)
    found = KINDS[kind](called.renamed(rows(session)), called)
    assert answer(found) == wanted(kind)
    assert unharmed(session)


@pytest.mark.parametrize(
    ("kind", "turn"),
    [
        pytest.param(kind, turn, marks=() if at == 3 * turn + 2 else pytest.mark.thorough)
        for n, kind in enumerate(KINDS)
        for turn in range(len(TURNS))
        for at in [n % (3 * len(TURNS))]  # every third kind; every third tells names apart by case
    ],
)
def test_names_change_no_answer(classic, plainly, kind, turn):
    check_names(kind, TURNS[turn], plainly, classic, SETTINGS[turn % len(SETTINGS)])


@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind", KINDS)
def test_names_that_case_tells_apart(classic, plainly, kind):
    check_names(kind, TWINS, plainly, classic, SETTINGS[1])


@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind", KINDS)
def test_the_column_window_is_a_window_to_spark(timed, kind):
    given = timed(kind)
    assert (LAST in given[0]) == ("window" in given[0] and kind not in COUNTED)
    if LAST in given[0]:
        ends = [row.window.end - timedelta(microseconds=1) for row in given]
        assert [row[LAST] for row in given] == ends


def test_rows_are_given_to_functions_by_name_too(classic):
    df = classic.sql("select timestamp_seconds(id) as at, id as `a b`, id as c from range(9)")
    spec = fl.PredicateFrame(
        lambda row, _: row["a b"] == row.c == 2, lambda row, _: row["c"] > 5, columns=["a b", "c"]
    )
    assert [row.rows for row in fl.over(df, spec, time="at").frames().collect()] == [4]


def texts(df, which):
    """Values as texts, which have no names in them."""
    numbered = df.toDF(*(f"c{n}" for n in range(len(df.columns))))
    return numbered.selectExpr(f"{which} as which", *(f"string({one})" for one in numbered.columns))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind", STREAMS)
def test_names_change_no_answer_of_a_stream(classic, tmp_path, kind):
    at = STREAMS.index(kind)
    setting = SETTINGS[at % len(SETTINGS)]
    session = beside(classic, *setting, (PROVIDER, ROCKSDB), ONE_TASK)
    streamed(session, tmp_path, kind, rows(session), TURNS[at % len(TURNS)])


def streamed(session, tmp_path, kind, df, *others):
    """All in one streaming query: over plain names, and over others."""
    late = "timestamp_seconds(1700100000)"  # a day: operators go through the windows until then
    last = df.filter("tie < 2").withColumns({one: F.expr(late) for one in ("at", "began")})
    write_files(tmp_path / "in", df, last)
    every = []
    for which, c in enumerate((PLAIN, *others)):
        given = c.renamed(source(session, tmp_path / "in", delay=None, schema=df.schema))
        given = given.withWatermark(quoted(c("at")), "1 minute")
        every.append(texts(KINDS[kind](given, c), which))
    found = ended(reduce(DataFrame.unionAll, every), tmp_path).collect()
    plain, *sides = (
        sorted(repr(tuple(row[1:])) for row in found if row.which == n) for n in range(len(every))
    )
    assert plain
    assert all(side == plain for side in sides)
    assert unharmed(session)


def test_names_of_those_who_wait_for_a_stop(classic, tmp_path):
    """Each name that the operator has is that of the event once; one in five never ends."""
    columns = ("tie", "key", "other", "real", "text", "whole", "began")
    called = [
        Called(dict(zip(columns, (*UNENDED[n:], *UNENDED[:n]), strict=True)))
        for n in range(len(UNENDED))
    ]
    session = beside(classic, *SETTINGS[0], (PROVIDER, ROCKSDB), ONE_TASK)
    df = rows(session).withColumn("at", F.expr("if(tie % 5 = 0, null, at)"))
    given = [answer(KINDS["events, running"](c.renamed(df), c)) for c in (PLAIN, *called)]
    assert given[0]
    assert given == given[:1] * len(given)
    streamed(session, tmp_path, "events, running", df, *called)


def test_a_name_reaches_into_structs_as_spark_reads_it(classic):
    df = classic.sql(
        "select timestamp_seconds(id) as at, named_struct('a b', id, 'c.d', named_struct('`', id)) "
        "as s, map('x y', id) as m from range(4)"
    )
    found = fl.over(df, fl.Sliding("1 minute"), time="at").agg(
        agg.max("s.a b").alias("one"),
        agg.max("s.`a b`").alias("two"),
        agg.max("s.`c.d`.````").alias("three"),
        agg.max("`m`.`x y`").alias("four"),
    )
    assert found.select("one", "two", "three", "four").collect() == [(3, 3, 3, 3)]


def test_an_empty_name_is_a_name(classic):
    df = classic.sql("select timestamp_seconds(id) as `at`, id as `` from range(4)")
    found = fl.over(df, fl.Sliding("1 minute"), time="at").agg(agg.max("").alias("m"))
    assert found.select("m").first() == (3,)


def test_names_that_case_does_not_tell_apart_are_refused(classic):
    df = classic.sql("select timestamp_seconds(id) as at, id as a, id as b from range(4)")
    with pytest.raises(fl.FanlightError, match="twice"):
        fl.over(df, MINUTES, time="at", by=["a", "A"])
    with pytest.raises(fl.FanlightError, match="'M' is to Spark the same as 'm'"):
        fl.over(df, MINUTES, time="at").agg(agg.max("a").alias("m"), agg.max("b").alias("M"))
