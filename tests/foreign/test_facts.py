"""What other systems' own tests say, held against the oracle; and what they accept and refuse."""

from __future__ import annotations

from itertools import chain

import pytest

import fanlight as fl
from tests import oracle as reference
from tests.foreign.facts import BY, REQUESTS, differences, flat
from tests.foreign.tables import flink, spark
from tests.foreign.tables.every import BATCHES, EVERY, IN_PYTHON
from tests.oracle.frames import frames


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


def test_what_stands_in_no_table_has_a_reason():
    told = {(case.suite, case.test) for case in EVERY}
    for suite, tests in spark.ELSEWHERE.items():
        assert all(tests.values())
        assert not told & {(suite, test) for test in tests}


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
