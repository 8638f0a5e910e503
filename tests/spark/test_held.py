"""Numbers that hold until the next row: what is refused, and what ties and resets mean."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pytest

import fanlight as fl
from fanlight import agg

TEN = fl.Sliding(10)
NAMES = ("a.b", "Lane No", "end", "start", "begins", "t", "pane")
INF, NAN = math.inf, math.nan


def rows(spark, *pairs):
    return spark.createDataFrame(list(pairs), "at bigint, v double")


def one(df, call):
    return fl.over(df, TEN, time="at").agg(a=call).first().a


def test_the_last_in_order_holds_of_several_at_one_instant(spark):
    df = rows(spark, (0, 1.0), (2, 9.0), (2, 3.0), (4, 1.0))
    assert one(df, agg.integral("v")) == 2 * 1.0 + 2 * 9.0  # the greatest is last in order
    assert one(rows(spark, (2, 9.0), (2, 3.0)), agg.time_weighted_avg("v")) == 9.0
    assert one(rows(spark, (2, 9.0), (2, 12.0)), agg.rate("v")) is None


def test_infinite_numbers_count_as_long_as_they_hold(spark):
    df = rows(spark, (0, 1.0), (2, float("inf")), (2, float("inf")))
    assert one(df, agg.integral("v")) == 2.0
    assert one(rows(spark, (0, float("inf")), (2, 1.0)), agg.time_weighted_avg("v")) == float("inf")


@pytest.mark.parametrize(
    ("readings", "wanted"),
    [
        ([(0, NAN), (2, 1.0), (4, 1.0)], (NAN, NAN, NAN)),
        ([(0, 1.0), (2, NAN)], (2.0, 1.0, NAN)),  # the last reading holds for no time
        ([(2, NAN), (2, 1.0)], (0.0, NAN, None)),  # NaN is the greatest, and so the last in order
        ([(0, 1.0), (2, INF)], (2.0, 1.0, INF)),
        ([(0, INF), (2, INF)], (INF, INF, NAN)),
        ([(0, INF), (2, 1.0)], (INF, INF, 0.5)),
        ([(0, -INF), (2, 1.0)], (-INF, -INF, INF)),
        ([(0, None), (1, 1.0), (3, 2.0), (9, None)], (2.0, 1.0, 0.5)),
        ([(None, 1.0), (2, 3.0)], (0.0, 3.0, None)),
        ([(0, None), (4, None)], (None, None, None)),
    ],
)
def test_readings_that_are_not_finite_or_not_there(spark, readings, wanted):
    calls = agg.integral("v"), agg.time_weighted_avg("v"), agg.rate("v")
    assert repr(tuple(one(rows(spark, *readings), call) for call in calls)) == repr(wanted)


def test_a_sum_of_both_infinities_is_not_a_number(spark):
    df = rows(spark, (0, INF), (2, -INF), (4, 1.0))
    assert math.isnan(one(df, agg.integral("v")))
    with pytest.raises(Exception, match="falls below 0"):
        one(df, agg.rate("v"))


@pytest.mark.parametrize("place", range(len(NAMES)))
def test_any_column_may_be_called_so(spark, place):
    key, at, value = named = [*NAMES[place:], *NAMES[:place]][:3]
    df = spark.sql("select * from values ('x', 0L, 2D), ('x', 4L, 6D)").toDF(*named)
    asked = [agg.integral(value), agg.time_weighted_avg(value), agg.rate(value)]
    got = fl.over(df, TEN, time=at, by=key).agg(*asked).first()
    assert got[2:] == (8.0, 2.0, 1.0)


def test_a_counter_that_falls_below_zero_is_an_error(spark):
    falling = rows(spark, (0, 3.0), (2, -1.0))
    with pytest.raises(Exception, match=r"falls below 0.* ask for linear_fit"):
        one(falling, agg.rate("v"))
    rising = rows(spark, (0, -4.0), (2, -1.0), (4, 0.0))
    assert one(rising, agg.rate("v")) == 1.0


@pytest.mark.parametrize("name", ["integral", "time_weighted_avg", "rate"])
def test_refused(spark, name):
    call = getattr(agg, name)("v")
    fractions = spark.sql("select 0.5D as at, 1D as v")
    with pytest.raises(fl.FanlightError, match="needs a timestamp or a whole number as time"):
        fl.over(fractions, TEN, time="at").agg(call)
    texts = spark.sql("select 0L as at, 'a' as v")
    with pytest.raises(fl.FanlightError, match="needs a number"):
        fl.over(texts, TEN, time="at").agg(call)


def test_a_rate_is_of_points(spark):
    events = spark.sql("select 0L as start, 5L as stop, 1D as v")
    with pytest.raises(fl.FanlightError, match=r"hold from start to stop; ask for it over points"):
        fl.over(events, TEN, time=("start", "stop")).agg(agg.rate("v"))


# Instants of whole seconds, and values that no double has.
EXACT = {
    "bigint": [(0, 2**60), (1, 2**60 + 100), (2, 2**60 + 200)],
    "bigint, both ends": [(0, -(2**63)), (1, 2**63 - 1), (3, 2**63 - 2), (4, 7)],
    "tinyint": [(0, -128), (1, 127), (3, 127)],
    "decimal(18,9)": [(0, Decimal("123456789.000000001")), (1, Decimal("123456789.000000003")),
                      (4, Decimal("0.000000005"))],
    "decimal(36,18)": [(0, Decimal("1" * 18 + ".000000000000000001")),
                       (2, Decimal("1" * 18 + ".000000000000000007"))],
}  # fmt: skip


@pytest.mark.parametrize("spec", [TEN, fl.BoundaryFrame({"cell": 1})], ids=["sliding", "frames"])
@pytest.mark.parametrize("kind", EXACT)
def test_whole_numbers_and_decimals_are_exact(spark, kind, spec):
    rows = EXACT[kind]
    values = ", ".join(
        f"({at}L, 0, cast('{value}' as {kind.split(', ')[0]}))" for at, value in rows
    )
    df = spark.sql(f"select * from values {values} as t(at, cell, v)")
    area = sum(Fraction(v) * (until - at) for (at, v), (until, _) in pairwise(rows))
    rises = [(Fraction(one), Fraction(two)) for (_, one), (_, two) in pairwise(rows)]
    span = rows[-1][0] - rows[0][0]
    asked = {"rate": agg.rate("v")}
    wanted = {"rate": float(sum(two if two < one else two - one for one, two in rises)) / span}
    if kind != "decimal(36,18)":
        asked |= {"area": agg.integral("v"), "mean": agg.time_weighted_avg("v")}
        wanted |= {"area": float(area), "mean": float(area) / span}
    found = fl.over(df, spec, time="at").agg(**asked).first()
    assert {name: found[name] for name in asked} == wanted
