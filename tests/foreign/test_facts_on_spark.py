"""What other systems' own tests say, held against the library: in batches and in streams."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from functools import reduce

import pytest
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg
from tests.foreign.facts import BY, REQUESTS, SECOND, TODAY, differences, flat, later
from tests.foreign.tables import flink, spark
from tests.foreign.tables.every import BATCHES, STREAMS
from tests.helpers.dataframes import BLANK, SENTINEL, calls, collected, frame
from tests.helpers.streams import stream

DELAY = 600  # longer than any row of a case is ahead of the watermark


def shown(cases):
    """The columns that these cases name, as what is asked of the library."""
    named = {name for case in cases for row in case.expected for name in row}
    named |= {name for case in cases for name in re.findall(r"\w+", case.having or "")}
    asked = {name: request for name, request in REQUESTS.items() if name in named}
    return asked or {"count": REQUESTS["count"]}


def query(df, case, numbers, requests, *, late="drop"):
    """The library's answer for the cases of one request; nulls for what no table of it shows."""
    of = df.where(f"case in ({', '.join(map(str, numbers))})")
    if case.unless:
        of = of.where(f"not ({case.unless})")
    found = fl.over(of, case.spec, time=case.time, by=BY, late=late).agg(**calls(requests))
    columns = (name if name in requests else f"null as {name}" for name in REQUESTS)
    found = found.where(case.having) if case.having else found
    return found.selectExpr("`case`", "k", "window", *columns)


def wrong(cases, got):
    """What is wrong with the rows of an answer, case by case."""
    answers = {number: [] for number in range(len(cases))}
    for row in got:
        answers[row["case"]].append(flat(row))
    return [
        line
        for number, case in enumerate(cases)
        for line in differences(answers[number], case.expected, case.name)
    ]


def numbered(cases):
    return [{**row, "case": number} for number, case in enumerate(cases) for row in case.rows]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", BATCHES)
def test_a_batch(classic, kind):
    cases = BATCHES[kind]
    alike = {}
    for number, case in enumerate(cases):
        asked = (repr(case.spec), id(getattr(case.spec, "update", None)), case.time, case.unless,
                 case.having)  # fmt: skip
        alike.setdefault(asked, []).append(number)
    rows, parts = numbered(cases), []
    for numbers in alike.values():
        # Rows of their own, or the union would tell what reads the same apart, each time anew.
        df = frame(classic, [row for row in rows if row["case"] in numbers])
        requests = shown([cases[number] for number in numbers])
        parts.append(query(df, cases[numbers[0]], numbers, requests))
    found = wrong(cases, collected(reduce(type(df).unionAll, parts)))
    assert not found, "\n".join(found)


def arrivals(cases):
    """Micro-batches in which each step of each case finds the watermark that its test had.

    Rows are late by the watermark of the micro-batch before, which is set by the one before that:
    so what moves it comes two micro-batches ahead.
    """
    waiting = {0: []}
    for number, case in enumerate(cases):
        mark = 0
        for rows, after in case.steps:
            waiting.setdefault(mark, []).extend({**row, "case": number} for row in rows)
            mark = max(mark, after)
    marks = sorted(waiting)
    ends = max(after for case in cases for _, after in case.steps)
    following = [*marks[1:], ends, ends]
    yield [mover(following[0])]
    for mark, after, ahead in zip(marks, following, following[1:], strict=False):
        assert all(row["ts"] <= after + DELAY * SECOND for row in waiting[mark])
        yield [*waiting[mark], mover(ahead)]
    yield [mover(ends)]


def mover(mark):
    """A row of no case that moves the watermark there."""
    at = mark + DELAY * SECOND
    return {**SENTINEL, "ts": at, "began": at, "s": "1 second"}


def streamed(session, folder, cases, late="drop"):
    """What streams emit by the watermark at which a case ends."""
    cases = [later(case) for case in cases]
    (spec,) = {repr(case.spec) for case in cases}
    assert spec
    got = stream(
        session, folder, list(arrivals(cases)),
        lambda df: query(
            df, cases[0], [*range(len(cases)), SENTINEL["case"]], shown(cases), late=late
        ),
        delay=f"{DELAY} seconds",
    )  # fmt: skip
    ends = [case.steps[-1][1] for case in cases]
    return wrong(cases, [row for row in got if row["window"]["end"] <= ends[row["case"]]])


@pytest.mark.streaming
@pytest.mark.slow
@pytest.mark.parametrize("kind", STREAMS)
def test_a_stream(classic, tmp_path, kind):
    found = streamed(classic, tmp_path, STREAMS[kind])
    assert not found, "\n".join(found)


@pytest.mark.streaming
@pytest.mark.slow
@pytest.mark.parametrize("suite", [flink.SLIDING_STREAM, spark.TUMBLING_STREAM])
def test_a_stream_that_keeps_late_rows_in_open_windows(classic, tmp_path, suite):
    """As Flink and Spark do: then nothing differs."""
    cases = [replace(case, ours=None) for case in suite]
    found = streamed(classic, tmp_path, cases, late="open")
    assert not found, "\n".join(found)


@pytest.mark.streaming
@pytest.mark.slow
def test_open_windows_are_those_of_spark_itself(classic, tmp_path):
    """Rows that come late by all measures, in windows that overlap; Spark answers beside us."""
    spec = fl.Sliding("12 seconds", "4 seconds", offset="1 second")
    rng = random.Random(11)
    pieces = [
        [
            {**BLANK, "case": 0, "k": rng.choice("ab"), "n": rng.randrange(9),
             "ts": TODAY + (7 * number - rng.randrange(25)) * SECOND}
            for _ in range(12)
        ]
        for number in range(8)
    ]  # fmt: skip

    def ours(df):
        found = fl.over(df, spec, time="ts", by=BY, late="open")
        return found.agg(count=agg.count(), sum=agg.sum("n"))

    def theirs(df):
        window = F.window("ts", "12 seconds", "4 seconds", "1 second")
        return df.groupBy(*BY, window).agg(F.count("*").alias("count"), F.sum("n").alias("sum"))

    def told(rows):
        names = (*BY, "window", "count", "sum")
        return sorted(repr([row[name] for name in names]) for row in rows)

    mine, spark_s = (
        told(stream(classic, tmp_path, pieces, query, delay="2 seconds"))
        for query in (ours, theirs)
    )
    assert mine == spark_s
    assert len(mine) > 20
    whole = told(collected(ours(frame(classic, [row for rows in pieces for row in rows]))))
    assert mine != whole  # rows were late
