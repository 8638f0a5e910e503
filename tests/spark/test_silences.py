"""Windows without rows that follow those with rows, at most so many, in batches and in streams."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight import agg
from tests.helpers.dataframes import all_of
from tests.helpers.empty_windows import (
    ROWS,
    RULES,
    SPECS,
    counted_and_listed,
    fill_in,
    found,
    frame,
)
from tests.helpers.streams import ended, stored, stream_of
from tests.oracle.calendars import bounds_near

MOST = 5
FAR = 10**8  # minutes: after all else


def followed(there, bounds, rule):
    """The windows with rows of one key, and at most MOST after each, all in order of their ends."""
    expected, before, left = {}, (None, None, None), 0
    for one in bounds:
        if one in there:
            before, left = there[one], MOST
            expected[one] = there[one]
        elif left:
            left -= 1
            expected[one] = fill_in(rule, before)
    return expected


def by_sentence(spec, windows, rule):
    there, expected = found(counted_and_listed(windows)), {}
    for key in {key for key, *_ in there}:
        mine = [one for one in there if one[0] == key]
        until = max(end for _, end, _ in mine) + 4 * MOST * (mine[0][1] - mine[0][2])
        near = bounds_near(spec, min(start for *_, start in mine), until)
        bounds = sorted({(key, int(e), int(s)) for s, e in near if s < e and int(e) <= until})
        expected |= followed(there, bounds, rule)
    return expected


LAST = [[("last", FAR, 0.0)], [("last", FAR + 1, 0.0)]]  # ends all windows


def arriving(spark, folder, rows, last=LAST):
    """The rows, two a micro-batch, and then those that end all windows."""
    rows = sorted(rows, key=lambda row: row[1])
    batches = [rows[at : at + 2] for at in range(0, len(rows), 2)]
    batches = [frame(spark, batch) for batch in (*batches, *last)]
    return stream_of(spark, folder, batches, "1 minute")


def given(table):
    return table.filter("k is null or k <> 'last'")


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("about", SPECS)
@pytest.mark.sampled(9)
def test_a_batch_gives_at_most_so_many_after_each(spark, about, rule):
    spec, rows = SPECS[about]
    windows = fl.over(frame(spark, rows), spec, time="ts", by="k")
    expected = by_sentence(spec, windows, rule)
    assert found(counted_and_listed(windows.with_empty(rule, most=MOST))) == expected


@pytest.mark.streaming
@pytest.mark.parametrize("rule", [*RULES, "linear"])
@pytest.mark.parametrize("about", SPECS)
def test_a_stream_gives_what_a_batch_gives(spark, tmp_path, about, rule):
    spec, rows = SPECS[about]
    stream = fl.over(arriving(spark, tmp_path, rows), spec, time="ts", by="k")
    batch = fl.over(frame(spark, rows), spec, time="ts", by="k")
    expected = found(counted_and_listed(batch.with_empty(rule, most=MOST)))
    filled = ended(counted_and_listed(stream.with_empty(rule, most=MOST)), tmp_path)
    assert found(given(filled)) == expected
    assert len(expected) > len(found(counted_and_listed(batch)))


LEVELS = fl.MultiGranular(["2 minutes", "8 minutes"], ["2 minutes", "4 minutes"])
WEIGHTED = fl.MultiGranular(["2 minutes", "8 minutes"], ["2 minutes", "4 minutes"], weights=[2, 1])


@pytest.mark.streaming
@pytest.mark.parametrize(
    ("spec", "label", "more"),
    [
        (LEVELS, "level", {}),
        (WEIGHTED, "level", {}),
        ([fl.Sliding("4 minutes"), fl.Sliding("6 minutes", "2 minutes")], "query", {}),
        (fl.Sliding("4 minutes"), None, {"late": "open"}),
        (fl.Sliding("4 minutes"), None, {"late": "collect"}),
    ],
)
def test_so_do_several_windows_and_late_rows(classic, tmp_path, spec, label, more):
    labels = [] if label is None else [label]
    stream = arriving(classic, tmp_path, ROWS)
    asked = {"n": agg.count(), "s": agg.sum("v")}
    made = fl.over(stream, spec, time="ts", by="k", **more).with_empty("last", most=3).agg(**asked)
    got = given(ended(made, tmp_path)).select("k", "window", *labels, "n", "s")
    batch = fl.over(frame(classic, ROWS), spec, time="ts", by="k").with_empty("last", most=3)
    assert all_of(got) == all_of(batch.agg(**asked))


@pytest.mark.streaming
def test_without_keys_and_of_events_that_last(classic, tmp_path):
    asked = {"n": agg.count(), "top": agg.max("v")}

    def filled(windows):
        return windows.with_empty("zero", most=4).agg(**asked)

    stream = arriving(classic, tmp_path, ROWS)
    made = filled(fl.over(stream, fl.Sliding("2 minutes"), time="ts"))
    batch = filled(fl.over(frame(classic, ROWS), fl.Sliding("2 minutes"), time="ts"))
    assert all_of(ended(made, tmp_path)) == all_of(batch)

    def lasting(df):
        events = df.selectExpr("k", "ts - interval 1 minute as began", "ts", "v")
        return fl.over(events, fl.Sliding("4 minutes", "2 minutes"), time=("began", "ts"), by="k")

    got = given(ended(filled(lasting(stream)), tmp_path))
    assert all_of(got) == all_of(filled(lasting(frame(classic, ROWS))))


@pytest.mark.streaming
def test_it_goes_on_after_a_stop_but_not_as_another_query(classic, tmp_path):

    def filled(df, most):
        windows = fl.over(df, fl.Sliding("1 minute"), time="ts", by="k")
        return windows.with_empty("zero", most=most).agg(n=agg.count())

    stored(filled(arriving(classic, tmp_path, ROWS[:2], ()), 6), tmp_path)  # windows stay open
    late = [frame(classic, batch) for batch in (ROWS[2:5], ROWS[5:], *LAST)]
    stream = stream_of(classic, tmp_path, late, "1 minute")
    with pytest.raises(Exception, match="max_empty: 7"):
        stored(filled(stream, 7), tmp_path)
    got = stored(filled(stream, 6), tmp_path)
    assert all_of(given(got)) == all_of(filled(frame(classic, ROWS), 6))


def test_sql_says_what_is_no_number_of_windows(classic):
    df = frame(classic, ROWS)
    text = "SELECT k, window, count(*) AS n FROM t [WATTR ts RANGE 4 MINUTES {}] GROUP BY k"
    with pytest.raises(fl.FanlightError, match="MAX 0 is not a number of windows"):
        fl.sql(text.format("EMPTY ZERO MAX 0"), t=df)


def test_what_cannot_be_is_refused(classic, tmp_path):
    batch = fl.over(frame(classic, ROWS), fl.Sliding("1 minute"), time="ts", by="k")
    stream = fl.over(
        stream_of(classic, tmp_path, [frame(classic, ROWS)], "1 minute"),
        fl.Sliding("1 minute"),
        time="ts",
        by="k",
    )
    for windows, more, words in (
        (batch, {"values": "zero", "most": 0}, "is not a number of windows from 1 to"),
        (batch, {"values": "zero", "most": True}, "is not a number of windows from 1 to"),
        (batch, {"values": "zero", "most": 3, "between": (0, 1)}, "both say how many"),
        (stream, {"values": "zero"}, "go on for ever after the last row .* most=60"),
        (stream, {"values": "zero", "most": 3, "keys": classic.range(3)}, "is for batches"),
        (stream, {"values": "zero", "between": (0, 1)}, "is for batches"),
    ):
        with pytest.raises(fl.FanlightError, match=words):
            windows.with_empty(**more)
    two = fl.over(
        stream_of(classic, tmp_path, [frame(classic, ROWS)], "1 minute"),
        [fl.Sliding("1 minute"), fl.Sliding("1 hour")],
        time="ts",
    )
    with pytest.raises(fl.FanlightError, match="given by an operator that follows"):
        two.using("chain").with_empty("zero", most=3).agg(agg.count())
