"""An operator gives the same on each version of Spark, whose state and timers differ.

Spark itself is what `tests/law` asks, with the PySpark that is installed. Here stand-ins keep the
rules that its documentation has for state and timers, and all versions run at once.
"""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import Row

from fanlight.engine.algebra.monoids import Count, Sum
from fanlight.engine.operators.arrow_tables import pack, table_of_rows, unpack
from fanlight.engine.operators.chain import ChainQuery
from fanlight.engine.operators.tuple_windows import TupleQuery
from fanlight.engine.plan.granules import cut_into_panes
from fanlight.engine.plan.grid import Grid
from fanlight.engine.spark.ordered import versions
from fanlight.engine.spark.ordered.processor import GroupProcessor, PandasProcessor
from fanlight.engine.spark.ordered.versions import WholeState
from fanlight.engine.spec.errors import FanlightError
from tests.helpers.kept import Kept

SECOND = 1_000_000
SCHEMA = pa.schema([(name, pa.int64()) for name in ("k", "t", "f0", "f1")])
GRIDS = (Grid(4 * SECOND, 2 * SECOND, 0), Grid(8 * SECOND, 4 * SECOND, 0))
# One takes what Spark has aggregated, of which nothing is late; the other each row.
QUERIES = {
    "windows in a chain": (ChainQuery(SCHEMA, 1, (Sum(), Count()), GRIDS), ["k", "query", "start"]),
    "windows over rows": (
        TupleQuery(SCHEMA, 1, (Sum(), Count()), cut_into_panes(Grid(3, 1)), Grid(3, 1)),
        ["k", "start"],
    ),
}
ASKED = {"windows": "of a test"}
# Micro-batches: the watermark in seconds, and rows of key, seconds, value. It stands at the end of
# windows, moves while no row comes, and by less than the rows are apart.
BATCHES = [
    (0, [(1, 1, 10), (2, 1, 7), (1, 3, 20)]),
    (2, []),
    (2, [(1, 5, 1), (2, 2, 50), (1, 2, 60)]),
    (4, [(1, 1, 99), (2, 9, 3)]),
    (8, []),
    (8.001, [(1, 8, 1000), (1, 12, 5)]),
    (30, []),
]


def packed(rows):
    table = table_of_rows([(k, t * SECOND, v, 1) for k, t, v in rows], SCHEMA)
    return Row(groups=1, rows=pack([table]))


def results(rows, out):
    """(late, results) of packed results, as rows or in data frames of pandas."""
    late, found = 0, []
    for row in rows:
        late += row.late
        if row.found is not None:
            found += unpack(row.found, [out])[0].to_pylist()
    return late, sorted(found, key=lambda one: tuple(one.values()))


def processed(made, out, as_rows=lambda rows: rows, as_given=lambda row: iter([row])):
    """What a processor gives in each micro-batch: its timers fire when the watermark is there."""
    kept, found = Kept(), []
    made.init(kept)
    for watermark, rows in BATCHES:
        kept.watermark, given = int(watermark * 1000), []
        if rows:
            given += as_rows(made.handleInputRows(0, as_given(packed(rows)), kept))
        for timer in [timer for timer in kept.timers if timer <= kept.watermark]:
            kept.timers.remove(timer)
            given += as_rows(made.handleExpiredTimer(0, kept, None))
        found.append(results(given, out))
    return found


class Value:
    """One value of state, with one timer, which each call takes off."""

    def __init__(self):
        self.value, self.timer, self.watermark, self.hasTimedOut = None, None, 0, False

    @property
    def exists(self):
        return self.value is not None

    @property
    def get(self):
        return self.value

    def update(self, value):
        self.value = value

    def getCurrentWatermarkMs(self):  # noqa: N802 - Spark's interface
        return self.watermark

    def setTimeoutTimestamp(self, time):  # noqa: N802
        assert time > self.watermark
        self.timer = time


def called(query, out):
    """What the function of Spark 3.5 gives: its timer fires when the watermark has passed it."""
    value, found = Value(), []
    for watermark, rows in BATCHES:
        value.watermark, given = int(watermark * 1000), []
        if rows:
            value.timer, value.hasTimedOut = None, False
            given += WholeState(query, ASKED, out).call((0,), frames(packed(rows)), value)
        elif value.timer is not None and value.timer < value.watermark:
            value.timer, value.hasTimedOut = None, True
            given += WholeState(query, ASKED, out).call((0,), iter(()), value)
        found.append(results((one for frame in given for one in frame.itertuples()), out))
    return found


def frames(row):
    """A row as Spark gives it in a data frame of pandas."""
    yield pa.table({name: [value] for name, value in row.asDict().items()}).to_pandas()


@pytest.fixture(params=QUERIES)
def asked(request):
    """A query, and the schema of its results."""
    query, names = QUERIES[request.param]
    return query, pa.schema([(name, pa.int64()) for name in (*names, "f0", "f1")])


@pytest.fixture
def newest(asked):
    query, out = asked
    return processed(GroupProcessor(query, ASKED, out), out)


def test_there_is_something_to_compare(newest, asked):
    late = 0 if asked[0].has_no_late_rows else 4
    assert sum(late for late, _ in newest) == late
    assert sum(bool(found) for _, found in newest) >= 3


def test_spark_4_0_gives_the_same(newest, asked):
    def unframed(found):
        return [one for frame in found for one in frame.itertuples()]

    query, out = asked
    assert processed(PandasProcessor(query, ASKED, out), out, unframed, frames) == newest


def test_spark_3_5_gives_the_same(newest, asked):
    assert called(*asked) == newest


def test_spark_3_5_has_one_operator_and_none_after_an_aggregation(monkeypatch):
    versions.check_place("windows in a chain", aggregated=True, collects=True)
    monkeypatch.setattr(versions, "INSTALLED", (3, 5))
    versions.check_place("frames", aggregated=False, collects=False)
    with pytest.raises(FanlightError, match=r"windows in a chain in a stream would follow .* 4\.0"):
        versions.check_place("windows in a chain", aggregated=True, collects=False)
    with pytest.raises(FanlightError, match=r"late='collect' would be a second function .* 4\.0"):
        versions.check_place("frames", aggregated=False, collects=True)
