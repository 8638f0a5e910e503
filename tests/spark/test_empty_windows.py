"""Windows without rows: which there are, and what they have, by those with rows."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from pyspark.sql import functions as F

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
from tests.helpers.events import MINUTE
from tests.helpers.streams import source
from tests.oracle.calendars import bounds_near


def filled(there, bounds, rule):
    """The windows with those between, which are in order of their bounds."""
    expected, before = {}, (None, None, None)
    for one in bounds:
        if one in there:
            before = there[one]
        expected[one] = there.get(one, fill_in(rule, before))
    return expected


def interpolated(there, bounds, zone):
    """The same, where a number lies between those of the windows with rows before and after it.

    Steps are counted; those of a calendar by its clock, of which some may be skipped.
    """
    shown = [datetime.fromtimestamp(end / 1e6 - 1, ZoneInfo(zone or "UTC")) for _, end, _ in bounds]
    steps = [at.replace(tzinfo=UTC).timestamp() for at in shown] if zone else range(len(bounds))
    by_step = dict(zip(steps, bounds, strict=True))
    found, known = {}, [n for n, place in by_step.items() if place in there]
    for n, place in by_step.items():
        low, high = max(k for k in known if k <= n), min(k for k in known if k >= n)
        ends = zip(there[by_step[low]], there[by_step[high]], strict=True)
        share = (n - low) / (high - low or 1)
        numbers = [None if None in pair else round((1 - share) * pair[0] + share * pair[1], 9)
                   for pair in list(ends)[:2]]  # fmt: skip
        found[place] = (*numbers, there.get(place, (None,) * 3)[2])
    return found


@pytest.mark.parametrize("rule", [*RULES, "linear"])
@pytest.mark.parametrize("about", SPECS)
@pytest.mark.sampled(5)
def test_those_between_the_first_and_the_last_of_a_key(spark, about, rule):
    spec, rows = SPECS[about]
    zone = getattr(spec, "zone", None)
    windows = fl.over(frame(spark, rows), spec, time="ts", by="k")
    there, expected = found(counted_and_listed(windows)), {}
    for key in {key for key, *_ in there}:
        mine = sorted((end, start) for k, end, start in there if k == key)
        near = {(e, s) for s, e in bounds_near(spec, mine[0][1], mine[-1][0]) if s < e}
        between = [(key, int(e), int(s)) for e, s in sorted(near) if mine[0] <= (e, s) <= mine[-1]]
        expected |= (
            interpolated(there, between, zone) if rule == "linear" else filled(there, between, rule)
        )
    assert len(expected) > len(there)
    got = found(counted_and_listed(windows.with_empty(rule)))
    if rule == "linear":
        got = {p: (*(n and round(n, 9) for n in row[:2]), row[2]) for p, row in got.items()}
    assert got == expected


@pytest.mark.sampled(3)
@pytest.mark.parametrize("about", ["sliding", "cumulative", "closed"])
def test_those_between_two_times_for_all_keys(spark, about):
    spec, rows = SPECS[about]
    windows = fl.over(frame(spark, rows), spec, time="ts", by="k")
    low, high = 3 * MINUTE, 30 * MINUTE
    ends = tuple(datetime.fromtimestamp(at / 1e6, UTC) for at in (low, high))
    more = spark.createDataFrame([("z",), ("b",)], "k string")
    bounds = sorted({(int(e), int(s)) for s, e in bounds_near(spec, low, high)})
    expected = {}
    for key in ("a", "b", None, "z"):
        mine = [(key, end, start) for end, start in bounds if low <= start and end <= high]
        there = {
            one: value for one, value in found(counted_and_listed(windows)).items() if one in mine
        }
        expected |= filled(there, mine, "last")
    assert (
        found(counted_and_listed(windows.with_empty("last", between=ends, keys=more))) == expected
    )


def test_without_keys_in_a_list_and_of_events_and_numbers(classic):
    df = frame(classic, ROWS)
    two = [fl.Sliding("4 minutes"), fl.Sliding("2 minutes")]
    for strategy in ("auto", "separate"):
        windows = fl.over(df, two, time="ts").using(strategy)
        rows = windows.with_empty("zero").agg(n=agg.count()).orderBy("query", "window").collect()
        assert [row.n for row in rows if row.query == 0] == [3, 1, 0, 0, 2, *[0] * 5, 1]
        assert [row.n for row in rows if row.query == 1] == [1, 2, 1, *[0] * 5, 1, 1, *[0] * 10, 1]
    events = df.selectExpr("ts as began", "ts + interval 1 minute as ended", "v")
    lasting = fl.over(events, fl.Sliding("8 minutes"), time=("began", "ended"))
    rows = lasting.with_empty("zero").agg(n=agg.count()).orderBy("window").collect()
    assert [row.n for row in rows] == [4, 0, 2, 0, 0, 1]
    whole = fl.over(df, fl.Sliding(10), time="i", by="k")
    rows = (
        whole.with_empty("zero", between=(0, 30))
        .agg(n=agg.count())
        .orderBy("k", "window")
        .collect()
    )
    assert [row.n for row in rows] == [1, 0, 0, 2, 2, 0, 1, 0, 0]
    none = fl.over(df.where("false"), fl.Sliding(10), time="i")
    none = none.with_empty("zero", between=(0, 30)).agg(n=agg.count())
    assert [row.n for row in none.collect()] == [0, 0, 0]


def test_they_are_asked_for_in_sql_too(classic):
    df = frame(classic, ROWS)
    windows = fl.over(df, fl.Sliding("4 minutes"), time="ts", by="k")
    ends = "1970-01-01T00:00:00Z", "1970-01-01T00:30:00Z"
    for text, more in (
        ("EMPTY ZERO", {"values": "zero"}),
        (f"empty last between '{ends[0]}' and '{ends[1]}'", {"values": "last", "between": ends}),
    ):
        found = fl.sql(
            f"SELECT k, window, count(*) AS n FROM t [WATTR ts RANGE 4 MINUTES {text}] GROUP BY k",
            t=df,
        )
        expected = windows.with_empty(**more).agg(n=agg.count())
        assert all_of(found) == all_of(expected)
    with pytest.raises(
        fl.FanlightError, match="BETWEEN '2025-01-01' AND '2025-01-02' has no time zone"
    ):
        fl.sql(
            "SELECT count(*) FROM t [WATTR ts RANGE 1 HOUR EMPTY ZERO "
            "BETWEEN '2025-01-01' AND '2025-01-02']",
            t=df,
        )


def test_aggregates_may_be_called_as_the_arguments_are(classic):
    windows = fl.over(frame(classic, ROWS), fl.Sliding("4 minutes"), time="ts", by="k")
    made = windows.agg(empty=agg.count(), complete=F.max("v"), keys=agg.min("v"))
    assert made.columns == ["k", "window", "empty", "complete", "keys"]


def test_a_silence_without_end_is_an_error_and_not_a_table(classic):
    rows = [("a", 0, 1.0), ("a", 100_000_000, 1.0)]
    windows = fl.over(frame(classic, rows), fl.Sliding("1 second"), time="ts")
    with pytest.raises(Exception, match="more than 10,000,000 empty windows"):
        windows.with_empty("zero").agg(n=agg.count()).count()


REFUSED = {
    "no rule": (
        {"values": "none"},
        "can have; write values='null' or 'zero' or 'last' or 'linear'",
    ),
    "no rule at all": ({"between": (0, 1)}, "missing a required argument: 'values'"),
    "no two": ({"values": "zero", "between": 3}, "is not a start and an end"),
    "no times": ({"values": "zero", "between": (0, 1)}, "has a int, which is not a time"),
    "no zone": ({"values": "zero", "between": ("2025-01-01", "2025-01-02")}, "has no time zone"),
    "no dates": ({"values": "zero", "between": ("today", "tomorrow")}, "which is not a time"),
    "backwards": (
        {"values": "zero", "between": ("2025-01-02T00:00:00Z", "2025-01-01T00:00:00Z")},
        "ends before it starts",
    ),
    "keys alone": ({"values": "zero", "keys": "all"}, "of which no first or last window is known"),
}


@pytest.mark.parametrize("about", REFUSED)
def test_what_is_refused(classic, about):
    more, said = REFUSED[about]
    windows = fl.over(frame(classic, ROWS), fl.Sliding("4 minutes"), time="ts", by="k")
    with pytest.raises(fl.FanlightError, match=said):
        windows.with_empty(**more)


def test_windows_that_are_refused(classic, tmp_path):
    df = frame(classic, ROWS)
    times = ("1970-01-01T00:00:00Z", "1970-01-01T01:00:00Z")
    with pytest.raises(fl.FanlightError, match="not for those that rows end"):
        fl.over(df, fl.Sliding(fl.Rows(2)), time="ts").with_empty("zero")
    with pytest.raises(fl.FanlightError, match="goes with by="):
        fl.over(df, fl.Sliding("1 hour"), time="ts").with_empty("zero", between=times, keys=df)
    with pytest.raises(fl.FanlightError, match="has no column 'k'"):
        fl.over(df, fl.Sliding("1 hour"), time="ts", by="k").with_empty(
            "zero", between=times, keys=df.select("v")
        )
    stream = source(classic, tmp_path, "1 minute")
    with pytest.raises(fl.FanlightError, match="would go on for ever"):
        fl.over(stream, fl.Sliding("1 hour"), time="ts").with_empty("zero")


def test_what_lies_between_is_a_number(classic):
    """Whole numbers become doubles; what is not a number is null; two neighbours decide."""
    rows = [("a", 0, 1.0), ("a", 4, None), ("a", 8, 3.0), ("a", 10, 6.0), ("a", 20, 1.0)]
    windows = fl.over(frame(classic, rows), fl.Sliding(2), time="i", by="k")
    every = {"n": agg.max("i"), "v": agg.max("v"), "d": agg.max(F.expr("cast(i as decimal(9,2))")),
             "t": agg.max("ts"), "k2": agg.max("k")}  # fmt: skip
    found = windows.with_empty("linear").agg(**every).orderBy("window")
    assert [kind for _, kind in found.dtypes[2:]] == ["double"] * 3 + ["timestamp", "string"]
    got = [(row.n, row.v, row.d, row.k2) for row in found.collect()]
    assert got[:3] == [(0.0, 1.0, 0.0, "a"), (2.0, None, 2.0, None), (4.0, None, 4.0, "a")]
    assert [row[1] for row in got[4:7]] == [3.0, 6.0, 5.0]
    few = windows.with_empty("linear", most=3).agg(v=agg.max("v")).orderBy("window")
    assert [row.v for row in few.collect()] == [1.0, None, None, None, 3.0, 6.0] + [None] * 3 + [
        1.0, None, None, None
    ]  # fmt: skip
    enough = windows.with_empty("linear", most=4).agg(v=agg.max("v")).orderBy("window")
    assert [row.v for row in enough.collect()][5:11] == [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]


def test_what_was_written_among_the_aggregates_is_taught(classic):
    windows = fl.over(frame(classic, ROWS), fl.Sliding("4 minutes"), time="ts", by="k")
    for given, write in (
        ({"empty": "zero"}, r"write windows.with_empty('zero').agg(…)"),
        ({"max_empty": 3}, r"write windows.with_empty('zero', most=3).agg(…)"),
        ({"complete": True}, r"write windows.complete_only().agg(…)"),
    ):
        with pytest.raises(fl.FanlightError) as caught:
            windows.agg(n=agg.count(), **given)
        assert write in str(caught.value)
        assert eval(write.removeprefix("write ").replace("…", "agg.count()")).columns  # noqa: S307


def test_explain_names_the_options(classic):
    df = frame(classic, ROWS)
    page = fl.over(df, fl.Sliding(2), time="i").complete_only().with_empty("zero", most=3).explain()
    assert "complete_only(), with_empty(values='zero', most=3)" in page
