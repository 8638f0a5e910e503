"""A new aggregate is one entry and its oracle, as CONTRIBUTING.md says: all else follows."""

from __future__ import annotations

from typing import Any

import pytest

import fanlight as fl
from fanlight import agg
from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.registry import Registry, sample
from scripts import aggregates as written
from tests.helpers import events
from tests.helpers.aggregates import asked, call, requests
from tests.helpers.dataframes import collected, frame, stream
from tests.helpers.events import examples, splits
from tests.law.ask import Arrivals, Ask
from tests.law.comparison import agree
from tests.law.data import points, recent
from tests.law.oracle import sliding
from tests.laws.explained import unexplained
from tests.laws.in_sql import complaints
from tests.laws.monoids import check_monoid, in_python
from tests.oracle import aggregates as oracle
from tests.oracle.values import rank

MINE = Registry()
PLACE = {"time": "ts", "by": ["case", "k"], "tiebreak": ["seq"]}
_MIDRANGE = agg.Aggregate(
    "midrange", {"lo": agg.Min(), "hi": agg.Max()}, "(cast({lo} as double) + {hi}) / 2D"
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
    assert in_python(MINE) == [agg.Max(), agg.Min()]
    for monoid in in_python(MINE):
        check_monoid(monoid, 50)
    assert set(map(tuple, complaints(classic, asked(MINE)).values())) == {()}


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
    assert all(complaints(classic, asked(MINE)).values())
