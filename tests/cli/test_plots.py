"""Pictures show what the results say: every peak, every gap, the right clock."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

import fanlight as fl
from fanlight import plots

pytest.importorskip("plotly")

NOON = datetime(2024, 5, 1, 12)
MINUTE = timedelta(minutes=1)


def rows(values, *, item=None, skip=()):
    """A window of four minutes every minute, for each value."""
    return [
        {
            **({} if item is None else {"item": item}),
            "window": {"start": NOON + k * MINUTE, "end": NOON + (k + 4) * MINUTE},
            "n": value,
        }
        for k, value in enumerate(values)
        if k not in skip
    ]


def test_a_point_stands_at_the_end_of_its_window():
    (line,) = plots.sliding(rows([5, 6, 7])).data
    assert list(line.y) == [5, 6, 7]
    assert line.x[0] == np.datetime64("2024-05-01T12:04")
    (line,) = plots.sliding(rows([5, 6, 7]), at="start", zone="Europe/Vienna").data
    assert line.x[0] == np.datetime64("2024-05-01T14:00")


def test_a_line_a_key():
    figure = plots.sliding(rows([1, 2], item="b") + rows([3], item="a") + rows([4], item=None))
    assert [line.name for line in figure.data][:2] == ["None", "a"]
    assert [list(line.y) for line in figure.data] == [[4], [3], [1, 2]]


def test_a_line_breaks_where_there_is_no_window():
    (line,) = plots.sliding(rows(range(10), skip=(4, 5, 6))).data
    assert np.isnan(line.y).sum() == 2
    (line,) = plots.sliding(rows(range(10), skip=(4, 5, 6)), empty=0).data
    assert list(line.y) == [0, 1, 2, 3, 0, 0, 7, 8, 9]
    assert list(line.x) == sorted(line.x)


def test_a_long_line_keeps_its_peaks():
    values = np.zeros(10_000)
    values[[17, 5_000]] = 9, -9
    (line,) = plots.sliding(rows(values.tolist()), points=100).data
    assert len(line.y) <= 100
    assert (max(line.y), min(line.y)) == (9, -9)


def test_arrow_tables_are_taken():
    table = pa.Table.from_pylist(rows([1.0, 2.0], item="a"))
    (line,) = plots.sliding(table, "n", by="item").data
    assert list(line.y) == [1, 2]


@pytest.mark.parametrize(
    ("result", "arguments", "message"),
    [
        (rows([1]), {"value": "m"}, "no column 'm' among window, n"),
        (rows([1]), {"by": "k"}, "no column 'k'"),
        ([{"n": 1}], {}, "no column 'window'"),
        ([{"window": {"start": 1, "end": 2}, "n": 1}], {}, "no column 'window' of times"),
        ([], {}, "no rows to draw"),
        ("text", {}, "a str cannot be drawn"),
        ([3], {}, "a row is a int"),
        (rows([1, 2, 3]), {"points": 1}, "points=1 is too few"),
    ],
)
def test_what_cannot_be_drawn_is_refused(result, arguments, message):
    with pytest.raises(fl.FanlightError, match=message):
        plots.sliding(result, **arguments)


@pytest.mark.parametrize(
    ("utc", "local"),
    [
        ("2013-03-10T06:59", "2013-03-10T01:59"),
        ("2013-03-10T07:00", "2013-03-10T03:00"),
        ("2013-11-03T05:30", "2013-11-03T01:30"),
        ("2013-11-03T06:30", "2013-11-03T01:30"),
        ("1969-07-20T20:17:40.000001", "1969-07-20T16:17:40.000001"),
    ],
)
def test_the_clock_of_a_time_zone(utc, local):
    times = np.array([utc], "datetime64[us]")
    assert plots.local_time(times, "America/New_York")[0] == np.datetime64(local)
