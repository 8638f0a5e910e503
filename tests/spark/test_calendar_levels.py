"""Levels of a calendar: what each holds at each report, by Python's own dates."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

import fanlight as fl
from fanlight import agg
from tests.helpers.streams import ended, stream_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Around New York's changes of the clock, and the turns of months and years: (key, item, hours).
MARCH, YEAR = datetime(2024, 3, 9, 20, tzinfo=UTC), datetime(2024, 12, 30, 3, tzinfo=UTC)
ROWS = [
    *(("a", item, MARCH + timedelta(hours=7 * n)) for n, item in enumerate("xyxzxyxxzy")),
    *(("b", item, YEAR + timedelta(hours=31 * n)) for n, item in enumerate("xxyzxyxxzx")),
    *((None, "x", MARCH + timedelta(days=40 * n)) for n in range(5)),
]
ZONE = "America/New_York"
MONTHS = fl.MultiGranular(["1 month", "1 quarter", "1 year"], ["1 month"] * 3, zone=ZONE)
DAYS = fl.MultiGranular(["1 day", "3 days", "2 weeks"], ["1 day", "1 day", "1 week"], zone=ZONE)
SUNDAYS = fl.MultiGranular(["1 week", "4 weeks"], ["1 week", "1 week"], zone=ZONE,
                           week_starts="sunday")  # fmt: skip
EACH_DAY = fl.MultiGranular(["1 day", "1 week"], ["1 day", "1 week"], report="continuous",
                            horizons=["2 days"], zone=ZONE)  # fmt: skip
# By level: its length, its slide, and with which day counting starts, in months or days.
SHAPES = {
    "months": (MONTHS, "months", [(0, 1, 1, 0), (1, 3, 1, 0), (2, 12, 1, 0)]),
    "days": (DAYS, "days", [(0, 1, 1, 0), (1, 3, 1, 0), (2, 14, 7, 4)]),
    "weeks": (SUNDAYS, "days", [(0, 7, 7, 3), (1, 28, 7, 3)]),
    "continuous": (EACH_DAY, "days", [(0, 1, 1, 0), (1, 7, 1, 0), (1, 2, 1, 0)]),
}


def frame(spark, rows=ROWS):
    made = [(k, item, (at - EPOCH) // timedelta(microseconds=1)) for k, item, at in rows]
    df = spark.createDataFrame(made, "k string, item string, at long")
    return df.selectExpr("k", "item", "timestamp_micros(at) as ts")


def midnight(number, unit):
    """When a month or a day of New York begins, counted from 1970."""
    day = datetime(1970, 1, 1) + timedelta(days=number if unit == "days" else 0)
    if unit == "months":
        day = datetime(1970 + number // 12, number % 12 + 1, 1)
    return day.replace(tzinfo=ZoneInfo(ZONE)).astimezone(UTC)


def reports(unit, length, slide, first):
    """From where to where a level reaches, at each of its reports."""
    for end in range(-24 if unit == "months" else 19_700, 720 if unit == "months" else 20_600):
        if (end - first) % slide == 0:
            yield midnight(end - length, unit), midnight(end, unit)


def by_definition(about):
    _, unit, levels = SHAPES[about]
    found = Counter()
    for level, length, slide, first in levels:
        for start, end in reports(unit, length, slide, first):
            for key, _, at in ROWS:
                if start <= at < end:
                    found[key, level, start, end] += 1
    return found


def shown(moment):
    return moment.astimezone(UTC)


def counts(df):
    rows = df.collect()
    made = {
        (row.k, row.level, shown(row.window.start), shown(row.window.end)): row.n for row in rows
    }
    assert len(made) == len(rows)
    return made


@pytest.mark.parametrize("strategy", ["auto", "granules", "separate"])
@pytest.mark.parametrize("about", SHAPES)
def test_each_level_holds_what_its_sentence_says(classic, about, strategy):
    windows = fl.over(frame(classic), SHAPES[about][0], time="ts", by="k").using(strategy)
    assert counts(windows.agg(n=agg.count())) == by_definition(about)


def test_on_connect(spark):
    windows = fl.over(frame(spark), MONTHS, time="ts", by="k")
    assert counts(windows.agg(n=agg.count())) == by_definition("months")


def test_items_recur_in_every_interval_between_the_levels(classic):
    """Seen in the last day, in the two before it, and in the eleven before these."""
    spec = fl.MultiGranular(["1 day", "3 days", "14 days"], ["1 day"] * 3, zone=ZONE)
    found = fl.over(frame(classic), spec, time="ts", by="k").recurring("item")
    expected = set()
    for number in range(19_700, 20_600):
        end = midnight(number, "days")
        edges = [end, *(midnight(number - days, "days") for days in (1, 3, 14))]
        for key in ("a", "b", None):
            seen = [
                {item for k, item, at in ROWS if k == key and low <= at < high}
                for high, low in pairwise(edges)
            ]
            expected |= {(key, edges[-1], end, item) for item in set.intersection(*seen)}
    rows = found.collect()
    assert expected
    assert {
        (row.k, shown(row.window.start), shown(row.window.end), row.item) for row in rows
    } == expected


def test_rows_weigh_by_the_finest_level_that_they_are_in(classic):
    spec = fl.MultiGranular(["1 day", "3 days"], ["1 day", "1 day"], weights=[1, 0.25], zone=ZONE)
    found = fl.over(frame(classic), spec, time="ts", by="k").agg(n=agg.count())
    expected = Counter()
    for number in range(19_700, 20_600):
        end, day = midnight(number, "days"), midnight(number - 1, "days")
        for level, start in enumerate((day, midnight(number - 3, "days"))):
            for key, _, at in ROWS:
                if start <= at < end:
                    expected[key, level, start, end] += 1 if at >= day else 0.25
    assert counts(found) == expected


@pytest.mark.streaming
def test_a_stream_gives_what_a_batch_gives(classic, tmp_path):
    last = [("last", "x", YEAR + timedelta(days=800))]
    batches = [frame(classic, rows) for rows in (ROWS, last)]
    stream = stream_of(classic, tmp_path, batches, "400 days")
    result = fl.over(stream, DAYS, time="ts", by="k").agg(n=agg.count())
    found = ended(result, tmp_path).filter("k is null or k <> 'last'")
    assert counts(found) == by_definition("days")


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda windows: windows.fit("item"), "numeric|number|fit"),
        (lambda windows: windows.using("chain").agg(agg.count()), "chain"),
        (lambda windows: windows.pieces(agg.count()), "pieces of one length"),
    ],
)
def test_what_a_calendar_does_not_have_is_refused(classic, ask, words):
    with pytest.raises(fl.FanlightError, match=words):
        ask(fl.over(frame(classic), DAYS, time="ts", by="k"))


def test_a_line_through_a_calendar_is_refused(classic):
    numbered = frame(classic).selectExpr("k", "ts", "ascii(item) as v")
    with pytest.raises(fl.FanlightError, match="fit over levels of a calendar has no instants"):
        fl.over(numbered, DAYS, time="ts", by="k").fit("v", filled=True)


def test_in_sql(classic):
    text = (
        "SELECT k, window, level, count(*) AS n FROM t [WATTR ts "
        f"RANGES 1 YEAR, 1 QUARTER, 1 MONTH SLIDES 1 MONTH, 1 MONTH, 1 MONTH ZONE '{ZONE}'] "
        "GROUP BY k"
    )
    assert counts(fl.sql(text, t=frame(classic))) == by_definition("months")
