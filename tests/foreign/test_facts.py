"""What other systems' own tests say, held against the oracle and the library: batch and streams."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from itertools import chain

import pytest

import fanlight as fl
from fanlight import reference
from fanlight.reference.frames import frames
from tests.dataframes import SENTINEL, calls, collected, frame, stream
from tests.foreign.facts import REQUESTS, SECOND, differences, flat, later
from tests.foreign.tables import flink, iotdb, spark, tdengine, trill

BY = ["case", "k"]
SHOWN = [*BY, "window", *REQUESTS]
TABLES = (flink, iotdb, spark, tdengine)
IN_PYTHON = {text: function for table in TABLES for text, function in table.IN_PYTHON.items()}
BATCHES = {
    "placed": (*spark.PLACED, *flink.PLACED, *trill.PLACED),
    "spanning": trill.SPANNING,
    "sessions": (*spark.SESSION, *flink.SESSION, *trill.SESSION, *iotdb.SESSION, *tdengine.SESSION),
    "frames": (*iotdb.FRAMES, *tdengine.FRAMES),
}  # fmt: skip
STREAMS = {
    "tumbling, 5 seconds": spark.TUMBLING_STREAM,
    "tumbling, 2 seconds": flink.TUMBLING_STREAM,
    "sliding": flink.SLIDING_STREAM,
    "spanning": trill.STREAM,
    "sessions": (*spark.SESSION_STREAM, *flink.SESSION_STREAM),
    "frames": tdengine.STREAM,
}
EVERY = [*chain(*BATCHES.values(), *STREAMS.values())]
DELAY = 60


def by_oracle(case):
    rows = [row for row in case.rows if not (case.unless and IN_PYTHON[case.unless](row))]
    where = {"time": case.time, "by": BY, "aggregates": REQUESTS}
    if isinstance(case.time, tuple):
        return reference.spanning(rows, case.spec, **where)
    if isinstance(case.spec, fl.Sliding):
        return reference.sliding(rows, case.spec, **where)
    found = frames(rows, case.spec, holds=IN_PYTHON, **where)
    return [row for row in found if case.having is None or IN_PYTHON[case.having](row)]


@pytest.mark.parametrize("case", chain(*BATCHES.values()), ids=lambda case: case.name)
def test_the_oracle(case):
    assert not differences(map(flat, by_oracle(case)), case.expected, case.name)


def test_what_differs_on_purpose_does_and_says_why():
    changed = [case for case in EVERY if case.ours is not None]
    assert changed
    for case in changed:
        assert case.why, case.name
        assert differences([{**dict.fromkeys(case.wanted[0]), **row} for row in case.ours],
                           case.wanted, case.name), case.name  # fmt: skip


def test_every_case_is_one_of_a_suite():
    assert len({(case.suite, case.test) for case in EVERY}) == len(EVERY)
    assert all(case.wanted or case.ours for case in EVERY)


def query(df, case, numbers, *, strategy="auto"):
    """The library's answer for the cases of one request, of all columns that tables may show."""
    of = df.where(f"case in ({', '.join(map(str, numbers))})")
    if case.unless:
        of = of.where(f"not ({case.unless})")
    found = fl.over(of, case.spec, time=case.time, by=BY).using(strategy).agg(**calls(REQUESTS))
    return (found.where(case.having) if case.having else found).select(*SHOWN)


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


@pytest.mark.parametrize("kind", BATCHES)
def test_a_batch(classic, kind):
    cases = BATCHES[kind]
    df = frame(classic, numbered(cases)).cache()
    alike = {}
    for number, case in enumerate(cases):
        asked = (repr(case.spec), id(getattr(case.spec, "update", None)), case.time, case.unless,
                 case.having)  # fmt: skip
        alike.setdefault(asked, []).append(number)
    parts = [query(df, cases[numbers[0]], numbers) for numbers in alike.values()]
    found = wrong(cases, collected(reduce(type(df).unionAll, parts)))
    df.unpersist()
    assert not found, "\n".join(found)


def arrivals(cases):
    """Micro-batches in which each step of each case finds the watermark that its test had.

    Late rows are judged by the watermark of the micro-batch before: so each is followed by one that
    brings nothing new.
    """
    waiting = {0: []}
    for number, case in enumerate(cases):
        mark = 0
        for rows, after in case.steps:
            waiting.setdefault(mark, []).extend({**row, "case": number} for row in rows)
            mark = max(mark, after)
    marks = sorted(waiting)
    for mark, following in zip(marks, [*marks[1:], max(marks) + 3_600 * SECOND], strict=True):
        at = following + DELAY * SECOND
        mover = {**SENTINEL, "ts": at, "began": at, "s": "1 second"}
        yield [*waiting[mark], mover]
        yield [mover]


def streamed(session, folder, cases, strategy="auto"):
    """What streams emit by the watermark at which a case ends."""
    cases = [later(case) for case in cases]
    (spec,) = {repr(case.spec) for case in cases}
    assert spec
    got = stream(
        session, folder, list(arrivals(cases)),
        lambda df: query(df, cases[0], [*range(len(cases)), SENTINEL["case"]], strategy=strategy),
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
def test_a_stream_that_keeps_late_rows_in_open_windows(classic, tmp_path):
    """As Flink and Spark do: then nothing differs."""
    cases = [replace(case, ours=None) for case in flink.SLIDING_STREAM]
    found = streamed(classic, tmp_path, cases, strategy="expand")
    assert not found, "\n".join(found)


@pytest.mark.parametrize(("text", "microseconds"), spark.LENGTHS.items())
def test_lengths_are_read_as_spark_reads_them(text, microseconds):
    for words in (text, f"interval {text}"):
        assert fl.Sliding(words).range.value == microseconds


@pytest.mark.parametrize(("text", "microseconds"), spark.STARTS.items())
def test_offsets_are_read_as_spark_reads_them(text, microseconds):
    for words in (text, f"interval {text}"):
        assert fl.Sliding("10 minutes", offset=words).offset.value == microseconds


@pytest.mark.parametrize("text", spark.UNREADABLE)
def test_what_spark_cannot_read_is_refused(text):
    with pytest.raises(fl.FanlightError):
        fl.Sliding(text, "10 seconds")
    if text is not None:  # without a slide windows tumble
        with pytest.raises(fl.FanlightError):
            fl.Sliding("10 seconds", text)
    with pytest.raises(fl.FanlightError):
        fl.Sliding("10 seconds", offset=text)


@pytest.mark.parametrize(("size", "slide"), spark.NOT_POSITIVE)
def test_sizes_that_spark_refuses_are_refused(size, slide):
    with pytest.raises(fl.FanlightError):
        fl.Sliding(size, slide)


@pytest.mark.parametrize(("size", "slide", "offset"), flink.REFUSED)
def test_sizes_that_flink_refuses_are_refused(size, slide, offset):
    with pytest.raises(fl.FanlightError):
        fl.Sliding(size, slide, offset=offset)


@pytest.mark.parametrize(("size", "slide", "offset"), flink.SHIFTED)
def test_an_offset_may_be_longer_than_a_slide(size, slide, offset):
    """Flink and Spark refuse it; here it says where counting starts, and only the rest counts."""
    assert fl.Sliding(size, slide, offset=offset).offset.value


@pytest.mark.parametrize("gap", flink.REFUSED_GAPS)
def test_gaps_that_flink_refuses_are_refused(gap):
    with pytest.raises(fl.FanlightError):
        fl.Session(gap)
