"""A new option is its entry and what is done about it; errors, SQL and pages have it by that."""

from __future__ import annotations

from dataclasses import replace

import pytest

import fanlight as fl
from fanlight import agg
from fanlight.engine.kinds.kind import LEVELLED, PLACED, Words
from fanlight.engine.kinds.options import Option, forget_option, register_option
from fanlight.engine.spark.options import ACTIONS
from tests.helpers.dataframes import frame
from tests.helpers.events import MINUTE

AFTER = Option(
    "after",
    (PLACED, LEVELLED),
    ("agg",),
    "counts rows, and this is about something else",
    excludes={"with_empty": "has no windows before it", "forget_after": "forgets of itself"},
    arguments={"number": 1},
    words=Words(
        "after",
        "AFTER",
        "AFTER NUMBER",
        lambda reader, node: {"number": reader.only_integer(node)},
        lambda writer, given: f"AFTER {writer.number(given['number'])}",
        terminals="AFTER.3: /after\\b/i\n",
        arguments={"number": "AFTER"},
    ),
    formerly={"after": ".after({given})"},
)


def read_after(bound):
    number = bound.options["after"]["number"]
    if number < 0:
        raise fl.FanlightError(f"number={number} is negative; write number=1")
    return number


def apply_after(bound, number):
    return bound.with_source(df=bound.df.where(f"n > {number}"))


@pytest.fixture
def windows(monkeypatch, classic):
    """Windows that can be asked by the new verb, for the time of a test."""
    monkeypatch.setitem(ACTIONS, "after", (read_after, apply_after))
    register_option(AFTER)
    df = frame(classic, [{"ts": at * MINUTE, "n": at} for at in range(6)])
    yield lambda **more: fl.over(df, fl.Sliding("3 minutes"), time="ts", **more)
    forget_option(AFTER)


def test_it_is_asked(windows):
    found = windows()._ask("after", number=1).agg(n=agg.count())
    assert sorted(row.n for row in found.collect()) == [1, 3]
    assert "after(number=1)" in windows()._ask("after", number=1).explain()


def test_it_is_said_in_sql(windows):
    clause = fl.clause(fl.Sliding("3 minutes"), time="ts", options={"after": {"number": 1}})
    assert clause == "[WATTR ts RANGE 3 MINUTES AFTER 1]"
    df = windows()._bound.df
    found = fl.sql(f"SELECT window, count(*) AS n FROM df {clause}", df=df)
    assert sorted(row.n for row in found.collect()) == [1, 3]
    for text, told in (
        ("RANGE 3 MINUTES AFTER -1", "AFTER"),
        ("SESSION 3 MINUTES AFTER 1", "AFTER does not apply to these windows; leave it out"),
        ("RANGES 1 MINUTE, 2 MINUTES SLIDES 1 MINUTE, 1 MINUTE WIDE AFTER 1", "does not go with"),
    ):
        with pytest.raises(fl.FanlightError, match=told):
            fl.sql(f"SELECT count(*) FROM df [WATTR ts {text}]", df=df)


def test_what_it_does_not_go_with_is_refused_with_its_reason(windows):
    asked = windows()._ask("after", number=1)
    for call, told in (
        (lambda: asked.pieces(agg.count()), "counts rows.*write agg"),
        (lambda: asked._ask("after", number=2), "asked for twice"),
        (lambda: windows()._ask("after", number=-1), "is negative"),
        (lambda: asked.with_empty("zero"), "has no windows before it; leave with_empty"),
        (lambda: windows().with_empty("zero")._ask("after", number=1), "has no windows before it"),
        (lambda: windows(forget_after="1 day")._ask("after", number=1), "forgets of itself"),
        (lambda: windows().agg(after=3), r"windows\.after\(3\)\.agg"),
    ):
        with pytest.raises(fl.FanlightError, match=told):
            call()


def test_nothing_is_left_behind():
    assert replace(AFTER).verb not in ACTIONS
    with pytest.raises(fl.FanlightError, match="options"):
        fl.clause(fl.Sliding("1 hour"), time="ts", options={"after": {"number": 1}})
