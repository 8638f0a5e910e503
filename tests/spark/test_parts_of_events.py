"""The part of an event that lies in a window, by calendars, ends, and events that are running."""

from __future__ import annotations

import math

import pytest

import fanlight as fl
from fanlight import agg, algebra

PAIR = ("start", "stop")
ASKED = {
    "o": agg.overlap(), "m": agg.mean_running(), "p": agg.peak(), "i": agg.integral("v"),
    "a": agg.time_weighted_avg("v"),
}  # fmt: skip

BY_PARTS = ("auto", "panes", "aggregate-buckets")
SUMS = {name: ASKED[name] for name in "omia"}
NAMES = ("a.b", "Lane No", "end", "start", "begins", "t", "pane", "low", "one")
INF, NAN = math.inf, math.nan


def stays(spark, *rows):
    return spark.createDataFrame(list(rows), "start bigint, stop bigint, v double")


def found(windows, **asked):
    return [row[1:] for row in windows.agg(**asked or ASKED).orderBy("window").collect()]


def test_a_day_without_an_hour_is_shorter(spark):
    """On 2025-03-30 in Berlin clocks skip an hour; an event lasts for all of it."""
    df = spark.sql(
        "select timestamp'2025-03-29T23:00:00Z' as start, timestamp'2025-03-30T22:00:00Z' as stop"
    )
    day = fl.over(df, fl.Calendar("1 day", zone="Europe/Berlin"), time=PAIR)
    ((o, m, p),) = found(day, o=agg.overlap(), m=agg.mean_running(), p=agg.peak())
    assert (o, m, p.running) == (23 * 3600.0, 1.0, 1)
    assert df.where(df["start"] == p.at).count() == 1


def test_windows_that_grow_and_events_of_many_of_them(spark):
    windows = fl.over(stays(spark, (0, 9, 2.0)), fl.Cumulative(10, 5), time=PAIR)
    assert found(windows) == [(5.0, 1.0, (1, 0), 10.0, 2.0), (9.0, 0.9, (1, 0), 18.0, 2.0)]


@pytest.mark.parametrize(
    ("closed", "wanted"),
    [("left", [(3.0, (1, 7)), (4.0, (1, 10))]), ("right", [(3.0, (1, 7)), (4.0, (1, 10))]),
     ("both", [(3.0, (1, 7)), (4.0, (1, 10))]), ("neither", [(3.0, (1, 7)), (4.0, (1, 10))])],
)  # fmt: skip
def test_ends_of_windows_have_no_length(spark, closed, wanted):
    windows = fl.over(stays(spark, (7, 14, 1.0)), fl.Sliding(10, closed=closed), time=PAIR)
    assert found(windows, o=agg.overlap(), p=agg.peak()) == wanted


def test_an_event_at_the_end_of_a_window_is_running_there(spark):
    windows = fl.over(stays(spark, (10, 14, 1.0)), fl.Sliding(10, closed="both"), time=PAIR)
    assert found(windows) == [(0.0, 0.0, (1, 10), 0.0, None), (4.0, 0.4, (1, 10), 4.0, 1.0)]


def test_events_that_have_not_ended_last_until_now(spark):
    df = stays(spark, (0, 4, 1.0), (3, None, 3.0))
    windows = fl.over(df, fl.Sliding(5), time=PAIR).running(as_of=8)
    assert found(windows) == [(6.0, 1.2, (2, 3), 10.0, 10 / 6), (3.0, 0.6, (1, 5), 9.0, 3.0)]


def test_others_of_an_instant_end_before_events_begin(spark):
    windows = fl.over(
        stays(spark, (0, 4, 1.0), (4, 8, 1.0), (4, 4, 1.0)), fl.Sliding(10), time=PAIR
    )
    assert found(windows)[0][2] == (2, 4)


def test_no_event_of_a_window(spark):
    windows = fl.over(stays(spark, (0, 4, None)), fl.Sliding(10), time=PAIR)
    assert found(windows, **{n: one.where("v > 0") for n, one in ASKED.items()}) == [
        (0.0, 0.0, (0, None), None, None)
    ]


def test_arithmetic_and_other_aggregates_beside_them(spark):
    windows = fl.over(stays(spark, (0, 4, 1.0), (3, 12, 5.0)), fl.Sliding(10), time=PAIR)
    got = found(
        windows, each=agg.overlap() / agg.count(), middle=agg.median("v"),
        long=agg.overlap().where("v > 1"), cost=agg.integral("v") - agg.sum("v"),
    )  # fmt: skip
    assert got == [(5.5, 3.0, 7.0, 33.0), (2.0, 5.0, 2.0, 5.0)]


def test_an_aggregate_of_your_own(spark):
    longest = algebra.Aggregate("longest", {"p": algebra.Max("{ends} - {begins}")}, "{p}", arity=0)
    total = algebra.Aggregate("total", {"p": algebra.Sum("{ends} - {begins}")}, "{p}", arity=0)
    windows = fl.over(stays(spark, (0, 4, 1.0), (3, 12, 5.0)), fl.Sliding(10), time=PAIR)
    assert found(windows, m=longest(), t=total()) == [(7, 11), (2, 2)]


def test_more_than_a_long_holds(spark):
    far = spark.sql(f"select 0L as start, {2**58}L as stop from range(64)")
    ((total,),) = found(fl.over(far, fl.Sliding(2**58), time=PAIR), o=agg.overlap())
    assert total == 2.0**64


@pytest.mark.sampled(3)
@pytest.mark.parametrize("how", BY_PARTS)
def test_events_without_ends_and_reversed_ones_are_in_no_window(spark, how):
    broken = [(3, None, 5.0), (None, 7, 5.0), (None, None, 5.0), (9, 3, 2.0)]
    for rows, sums, most in (
        (broken, [], []),
        ([*broken, (5, 5, 7.0)], [(0.0, 0.0, 0.0, None)], [((1, 5),)]),
        ([*broken, (5, 5, None), (5, 6, None)], [(1.0, 0.1, None, None)], [((2, 5),)]),
    ):
        windows = fl.over(stays(spark, *rows), fl.Sliding(10), time=PAIR).using(how)
        assert found(windows, **SUMS) == sums
        assert found(windows, p=ASKED["p"]) == most


@pytest.mark.parametrize("how", BY_PARTS)
def test_numbers_that_are_not_finite_stay_in_their_windows(spark, how):
    df = stays(
        spark, (0, 25, INF), (30, 38, -INF), (32, 33, INF), (40, 45, NAN), (50, 60, None),
        (60, 60, INF), (70, 90, 1.0), (90, 99, -INF), (100, 120, 2.0),
    )  # fmt: skip
    windows = fl.over(df, fl.Sliding(10), time=PAIR).using(how)
    got = found(windows, i=ASKED["i"], a=ASKED["a"])
    wanted = [INF, INF, INF, NAN, NAN, None, 0.0, 10.0, 10.0, -INF, 20.0, 20.0]
    means = [INF, INF, INF, NAN, NAN, None, None, 1.0, 1.0, -INF, 2.0, 2.0]
    assert repr(got) == repr(list(zip(wanted, means, strict=True)))


@pytest.mark.parametrize("at", range(len(NAMES)))
def test_any_column_may_be_called_so(spark, at):
    named = [*NAMES[at:], *NAMES[:at]][:4]
    key, value, *pair = named
    df = spark.sql("select 'x', 2D, 0L, 7L").toDF(*named)
    windows = fl.over(df, fl.Sliding(5), time=tuple(pair), by=key)
    asked = ASKED | {
        "i": agg.integral(value), "a": agg.time_weighted_avg(value), "c": agg.covered(),
        "s": agg.covered().where(f"`{value}` > 1"), "n": agg.peak(value),
    }  # fmt: skip
    got = windows.agg(**asked).orderBy("window").collect()
    assert [row[2:] for row in got] == [
        (5.0, 1.0, (1, 0), 10.0, 2.0, 5.0, 5.0, (2.0, 0)),
        (2.0, 0.4, (1, 5), 4.0, 2.0, 2.0, 2.0, (2.0, 5)),
    ]


@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_a_column_called_window_is_refused_as_a_key_alone(spark, place):
    named = [f"c{n}" for n in range(4)]
    named[place] = "window"
    key, value, *pair = named
    df = spark.sql("select 'x', 2D, 0L, 7L").toDF(*named)
    asked = {"o": agg.overlap(), "i": agg.integral(value)}
    if not place:
        with pytest.raises(fl.FanlightError, match="by='window' clashes with the output column"):
            fl.over(df, fl.Sliding(5), time=tuple(pair), by=key).agg(**asked)
        return
    got = fl.over(df, fl.Sliding(5), time=tuple(pair), by=key).agg(**asked)
    assert sorted(row[2:] for row in got.collect()) == [(2.0, 4.0), (5.0, 10.0)]


@pytest.mark.parametrize("how", BY_PARTS)
def test_where_events_overlap_the_time_counts_once(spark, how):
    rows = [(0, 4, 1.0), (2, 3, 2.0), (3, 6, 2.0), (6, 6, 1.0), (8, 12, 1.0), (25, 25, 1.0)]
    windows = fl.over(stays(spark, *rows), fl.Sliding(10), time=PAIR).using(how)
    got = found(windows, c=agg.covered(), some=agg.covered().where("v > 1"))
    assert got == [(8.0, 4.0), (2.0, 0.0), (0.0, 0.0)]
    assert found(windows, c=agg.covered()) == [(8.0,), (2.0,), (0.0,)]


def test_a_day_is_covered_for_as_long_as_it_is(spark):
    df = spark.sql(
        "select timestamp'2025-03-29T23:00:00Z' as start, timestamp'2025-03-30T22:00:00Z' as stop "
        "from range(2)"
    )
    day = fl.over(df, fl.Calendar("1 day", zone="Europe/Berlin"), time=PAIR)
    assert found(day, c=agg.covered()) == [(23 * 3600.0,)]


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ([(0, 4, 2.0), (3, 6, 1.5), (4, 8, 3.0)], (4.5, 4)),
        ([(0, 4, 2.0), (1, 3, -1.0)], (2.0, 0)),
        ([(0, 4, -2.0), (1, 3, -1.0)], (-2.0, 0)),
        ([(0, 4, -2.0), (0, 2, -1.0)], (-2.0, 2)),
        ([(0, 4, 2.0), (0, 0, -1.0)], (2.0, 1)),
        ([(0, 4, 0.0), (1, 3, None)], (0.0, 0)),
        ([(0, 2, 1e16), (3, 6, 0.1), (4, 5, 0.2)], (1e16, 0)),
        ([(0, 9, 1e16), (0, 9, -1e16), (3, 6, 0.5), (4, 5, 0.25)], (0.75, 4)),
        ([(0, 3, INF), (1, 2, -INF), (4, 5, 1.0)], (NAN, 1)),
        ([(0, 3, -INF), (4, 5, 1.0)], (1.0, 4)),
        ([(0, 3, -INF), (2, 3, 1.0)], (-INF, 0)),
        ([(0, 4, None)], (None, None)),
    ],
)
def test_the_most_that_numbers_add_up_to(spark, rows, wanted):
    windows = fl.over(stays(spark, *rows), fl.Sliding(10), time=PAIR)
    (((most, at),),) = found(windows, p=agg.peak("v"))
    assert repr((most, at)) == repr(wanted)


@pytest.mark.parametrize("kind", ["bigint", "int", "smallint", "decimal(18,2)", "decimal(36,2)"])
def test_the_most_is_exact_and_of_the_type_of_a_sum(spark, kind):
    df = stays(spark, (0, 4, 1.0), (2, 6, 3.0), (5, 12, -2.0), (7, 8, None))
    df = df.selectExpr("start", "stop", f"cast(v as {kind}) as n")
    windows = fl.over(df, fl.Sliding(10), time=PAIR)
    both = windows.agg(p=agg.peak("n"), s=agg.sum("n"), q=agg.peak("n").where("n > 1"))
    fields = both.schema["p"].dataType
    assert fields["running"].dataType == both.schema["s"].dataType
    got = [(tuple(row.p), tuple(row.q)) for row in both.orderBy("window").collect()]
    assert got == [((4, 2), (3, 2)), ((-2, 10), (None, None))]


def test_numbers_that_together_do_not_fit_may_run_after_one_another(spark):
    big = 2**63 - 1
    df = spark.sql(f"select * from values (0, 2, {big}L), (2, 4, {big}L) as t(start, stop, n)")
    windows = fl.over(df, fl.Sliding(10), time=PAIR)
    assert found(windows, p=agg.peak("n")) == [((big, 0),)]


def test_refused(spark):
    df = stays(spark, (0, 4, 1.0))
    points = fl.over(df, fl.Sliding(10), time="start")
    with pytest.raises(fl.FanlightError, match=r"rows have no length; write time=\('start', 'st"):
        points.agg(agg.overlap())
    with pytest.raises(fl.FanlightError, match=r"overlap\(\).* rows have no length"):
        points.agg(agg.overlap() / agg.count())
    with pytest.raises(fl.FanlightError, match=r"covered\(\).* rows have no length"):
        points.agg(agg.covered())
    for windows in (
        fl.over(df, fl.Trailing(5), time="start").attach,
        fl.over(df, fl.DeltaFrame({"v": 1}), time="start").agg,
        fl.over(df, fl.Session(5), time="start").agg,
    ):
        with pytest.raises(fl.FanlightError, match="rows have no length"):
            windows(agg.peak())
        with pytest.raises(fl.FanlightError, match=r"peak\(v\).* rows have no length"):
            windows(agg.peak("v"))
    with pytest.raises(fl.FanlightError, match=r"ask for agg.count\(\) of a snapshot"):
        fl.over(df, fl.Snapshot(), time=PAIR).agg(agg.mean_running())
    halves = spark.sql("select 0.5D as start, 1.5D as stop, 1D as v")
    with pytest.raises(fl.FanlightError, match="needs a timestamp or a whole number as time"):
        fl.over(halves, fl.Sliding(10.0), time=PAIR).agg(agg.integral("v"))
    with pytest.raises(fl.FanlightError, match=r"'levels'.* so that no two windows share it"):
        fl.over(df, fl.Sliding(10), time=PAIR).using("levels").agg(agg.overlap())
    with pytest.raises(fl.FanlightError, match="needs a number"):
        fl.over(df.selectExpr("*", "'a' as s"), fl.Sliding(9), time=PAIR).agg(agg.integral("s"))
    lasting = fl.over(df.selectExpr("*", "'a' as s"), fl.Sliding(10), time=PAIR)
    for column, said in (("s", "needs a number"), ("guests", "guests"), (7, "7")):
        with pytest.raises(fl.FanlightError, match=said):
            lasting.agg(agg.peak(column))
    with pytest.raises(fl.FanlightError, match="covered"):
        agg.covered("v")


@pytest.mark.parametrize("how", BY_PARTS)
@pytest.mark.parametrize("kind", ["bigint", "decimal(18,2)"])
def test_areas_of_whole_numbers_and_decimals_are_exact(spark, how, kind):
    big = 2**60 if kind == "bigint" else 10**16 - 1
    df = stays(spark, (0, 12, None), (0, 9, None), (4, 6, None))
    df = df.selectExpr("start", "stop", f"cast(case when stop = 12 then {big}L when stop = 9 "
                       f"then -{big}L + 1 else 7L end as {kind}) as v")  # fmt: skip
    windows = fl.over(df, fl.Sliding(8), time=PAIR).using(how)
    got = found(windows, i=ASKED["i"], a=ASKED["a"])
    assert got == [(22.0, 22 / 18), (3.0 * big + 1, (3.0 * big + 1) / 5)]
