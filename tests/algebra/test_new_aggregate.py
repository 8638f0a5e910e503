"""A new aggregate is one entry and its oracle, as CONTRIBUTING.md says: all else follows."""

from __future__ import annotations

from typing import Any

import pytest

import fanlight as fl
from fanlight import agg, algebra
from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.registry import AGGREGATES, Registry, sample
from fanlight.language.clause_writer import clause
from scripts import aggregates as written
from tests.algebra.explained import unexplained
from tests.algebra.in_sql import complaints
from tests.algebra.monoids import check_monoid, in_python
from tests.helpers import events
from tests.helpers.aggregates import call, compared_samples, requests
from tests.helpers.dataframes import all_of, collected, frame
from tests.helpers.events import examples, splits
from tests.helpers.streams import stream
from tests.law.ask import Arrivals, Ask
from tests.law.comparison import agree
from tests.law.data import points, recent
from tests.law.oracle import sliding
from tests.oracle import aggregates as oracle
from tests.oracle.values import rank

MINE, MORE = Registry(), Registry()
PLACE = {"time": "ts", "by": ["case", "k"], "tiebreak": ["seq"]}
_MIDRANGE = algebra.Aggregate(
    "midrange", {"lo": algebra.Min(), "hi": algebra.Max()}, "(cast({lo} as double) + {hi}) / 2D"
)


@MINE.aggregate(sample("double", gives="double"), sample("bigint", gives="double"))
def midrange(column: Any) -> Call:
    """Half-way between the least value and the greatest.

    Parameters
    ----------
    column
        A number: a column's name or a Column.

    Returns
    -------
    Call
        A double.

    Raises
    ------
    FanlightError
        By ``agg`` of the windows: if there is no such column, or it is not a number.

    Notes
    -----
    Nulls are left out; null if nothing else is there. NaN is greater than all numbers.

    Examples
    --------
    >>> agg.midrange("price").label
    'midrange(price)'

    """
    return _MIDRANGE(column)


# Further ones, for what is said of an aggregate: the same as a sum, and what nothing is said of.
_TRAFFIC = algebra.Aggregate(
    "traffic", {"p": algebra.Sum("cast({x} as double)")}, "{p}", watched="sum"
)
_LINES = algebra.Aggregate("lines", {"n": algebra.Count("1")}, "cast({n} as bigint)")


@MORE.aggregate(sample("double", gives="double"), names=("load",))
def traffic(column: Any) -> Call:
    return _TRAFFIC(column)


@MORE.aggregate(sample("double", gives="bigint"))
def lines(column: Any) -> Call:
    return _LINES(column)


@pytest.fixture
def entered(monkeypatch):
    """All of them in the library, for the time of a test."""
    everything = {**AGGREGATES._entries, **MINE._entries, **MORE._entries}
    monkeypatch.setattr(AGGREGATES, "_entries", everything)


@pytest.fixture(autouse=True)
def oracles(monkeypatch):
    """The oracle of the new aggregate, for the time of a test."""
    monkeypatch.setattr(oracle, "FUNCTIONS", {**oracle.FUNCTIONS})
    monkeypatch.setattr(oracle, "ARITY", {**oracle.ARITY})

    @oracle.oracle("midrange")
    def _midrange(rows: oracle.Rows) -> float | None:
        values = sorted(rows.values(), key=rank)
        return (float(values[0]) + values[-1]) / 2 if values else None


def asking(windows):
    return windows.agg(**{name: call(one, MINE) for name, one in requests(MINE).items()})


def over(df, spec):
    return asking(fl.over(df, spec, **PLACE))


def test_it_goes_through_the_laws(classic):
    assert in_python(MINE) == [algebra.Max(), algebra.Min()]
    for monoid in in_python(MINE):
        check_monoid(monoid, 50)
    assert set(map(tuple, complaints(classic, compared_samples(MINE)).values())) == {()}


def test_it_is_listed_and_explained():
    assert unexplained(midrange) == set()
    assert '    "midrange",' in written.module(MINE.values())
    page = written.page(MINE.values())
    assert "| [`midrange`](#midrange) | number | algebraic, cumulative | a few values |" in page
    assert "`bigint` → `double`" in page


@pytest.mark.parametrize("spec", [events.TIME_SPECS[1], events.ROW_SPECS[2]], ids=repr)
def test_it_agrees_in_a_batch(classic, spec):
    ask = Ask("sliding", "mine", spec, points(spec, 6), requests(MINE))
    agree(collected(over(frame(classic, ask.data.rows), spec)), sliding(ask, ask.data.rows))


@pytest.mark.streaming
@pytest.mark.slow
@pytest.mark.parametrize("spec", [events.TIME_SPECS[1], events.ROW_SPECS[2]], ids=repr)
def test_it_agrees_in_a_stream(classic, tmp_path, spec):
    ask = Ask("sliding", "mine", spec, recent(spec, 3), requests(MINE), arrivals=Arrivals())
    (batches,) = examples(splits(ask.data.rows, 600_000_000), 1)
    got = stream(classic, tmp_path, batches, lambda df: over(df, spec), delay="10 minutes")
    agree(got, sliding(ask, ask.data.rows))


def test_a_wrong_oracle_is_seen(classic):
    oracle.FUNCTIONS["midrange"] = lambda rows: len(rows.columns)
    assert all(complaints(classic, compared_samples(MINE)).values())


# What is said of it is in the entry, or follows from its monoids: no other file is changed.

WEIGHTED = fl.MultiGranular(
    ["4 minutes", "9 minutes"], ["2 minutes", "3 minutes"], weights=[1, 0.5]
)
DATA = points(events.TIME_SPECS[1], 6).rows


def alike(one, other):
    assert all_of(one) == all_of(other) != []


def found_by(classic, text):
    return fl.sql(text.replace("[]", "[WATTR ts RANGE 2 MINUTES]"), df=frame(classic, DATA))


@pytest.mark.usefixtures("entered")
def test_its_filter_is_a_condition(classic):
    text = "SELECT window, {} AS a, {} AS b, {} AS c FROM df [] WHERE n IS NOT NULL"
    names = ("midrange(v)", "load(v)", "lines(v)")
    asked_for = [f"{name} FILTER (WHERE n > 1)" for name in names]
    theirs = ["(min(CASE WHEN n > 1 THEN v END) + max(CASE WHEN n > 1 THEN v END)) / 2D",
              "sum(CASE WHEN n > 1 THEN v END)", "count(CASE WHEN n > 1 THEN 1 END)"]  # fmt: skip
    alike(found_by(classic, text.format(*asked_for)), found_by(classic, text.format(*theirs)))


@pytest.mark.usefixtures("entered")
def test_it_is_the_same_of_distinct_values_where_nothing_is_added_up(classic):
    text = "SELECT window, midrange({} v) AS m FROM df []"
    alike(found_by(classic, text.format("DISTINCT")), found_by(classic, text.format("")))
    with pytest.raises(fl.FanlightError, match=r"traffic\(DISTINCT v\).*leave DISTINCT out"):
        found_by(classic, "SELECT traffic(DISTINCT v) FROM df []")


@pytest.mark.usefixtures("entered")
def test_its_rows_can_have_weights(classic):
    windows = fl.over(frame(classic, DATA), WEIGHTED, time="ts", by="k")
    alike(windows.agg(a=_TRAFFIC("n")), windows.agg(a=agg.sum("n")))


@pytest.mark.usefixtures("entered")
@pytest.mark.parametrize("column", ["v", "n"])
def test_a_limit_can_watch_it(classic, column):
    def cut(call):
        spec = fl.AggregateFrame(call, 3)
        return fl.over(frame(classic, DATA), spec, time="ts", by="k", tiebreak="seq").frames()

    alike(cut(_TRAFFIC(column)), cut(agg.sum(column)))
    told = clause(fl.AggregateFrame(_TRAFFIC("v"), 3), time="ts")
    assert "FRAME AGGREGATE traffic(v) REACHES 3" in told
    assert "traffic" in AGGREGATES.watchable
    with pytest.raises(fl.FanlightError, match=r"limit=0 of .*not positive"):
        fl.AggregateFrame(_TRAFFIC("v"), 0)


@pytest.mark.usefixtures("entered")
def test_what_nothing_is_said_of_is_refused_with_a_reason(classic):
    for made in (_LINES("v"), _MIDRANGE("v")):
        with pytest.raises(fl.FanlightError, match=r"not followed row by row.*choose.*traffic"):
            fl.AggregateFrame(made, 3)
    windows = fl.over(frame(classic, DATA), WEIGHTED, time="ts", by="k")
    with pytest.raises(fl.FanlightError, match=r"midrange\(v\) with weights.*only counts, sums"):
        windows.agg(_MIDRANGE("v"))
    with pytest.raises(fl.FanlightError, match=r"lines\(v\) with weights.*doubles.*leave weights"):
        windows.agg(_LINES("v"))


def test_a_name_says_nothing():
    mine = algebra.Aggregate("sum", {"p": algebra.Sum("{x} * {x}")}, "{p}")
    with pytest.raises(fl.FanlightError, match="a sum is not followed row by row"):
        fl.AggregateFrame(mine("v"), 3)
