"""Micro-batches as each Spark tells of them: in 3.5 as dicts, later as objects."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight.cli import running
from fanlight.watching import progress
from fanlight.watching.progress import QueryPoller
from tests.watching.queries import Query, micro_batch


def as_dict(told):
    """The progress as Spark 3.5 has it."""
    values = vars(told) | {"stateOperators": [vars(one) for one in told.stateOperators]}
    values["durationMs"] = values["durationMs"] | {"triggerExecution": values.pop("batchDuration")}
    return values


class OldQuery(Query):
    """A query of Spark 3.5."""

    recentProgress = property(lambda self: [as_dict(one) for one in self.told])  # noqa: N815
    lastProgress = property(lambda self: as_dict(self.told[-1]) if self.told else None)  # noqa: N815


@pytest.fixture(params=[Query, OldQuery])
def query(request):
    asked = request.param(batches=2)
    asked.more(rows=5, late=3)
    return asked


def test_progress_and_late_rows_of_a_query(query):
    found = fl.progress(query)
    assert (found.batch, found.rows, found.late, found.seconds) == (2, 25, 3, 6.0)
    assert (found.state_rows, found.state[0].disk) == (7, 678)
    assert fl.progress(query).late == 3


def test_a_page_and_a_command_hear_of_each(query, monkeypatch):
    monkeypatch.setattr(progress, "LEAST", 0)
    poller, totals = QueryPoller(query), running.StreamTotals()
    assert poller.poll().trouble is None
    assert [one.rows for one in totals.take_new(query)] == [10, 10, 5]
    query.more(rows=1)
    assert [one.rows for one in poller.poll().batches] == [10, 10, 5, 1]
    assert [one.rows for one in totals.take_new(query)] == [1]


def test_one_progress_as_a_dict_is_that_of_an_object():
    told = micro_batch(3, late=2)
    assert fl.progress(as_dict(told)) == fl.progress(told)
    bare = {"batchId": 0, "numInputRows": 0, "processedRowsPerSecond": 0.0, "timestamp": "…"}
    assert fl.progress(bare).late == fl.progress(bare).state_rows == 0


def test_a_dict_that_is_no_progress_is_refused():
    with pytest.raises(fl.FanlightError, match="is neither a streaming query nor its progress"):
        fl.progress({"rows": 1})
