"""Pictures show what the results say: every peak, every gap, the right clock."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import Row

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


def several(label, *windows):
    """Windows of several kinds, as levels and lists report them: (number, minutes, end, value)."""
    return [
        {
            "window": {"start": NOON + (end - minutes) * MINUTE, "end": NOON + end * MINUTE},
            label: number,
            "n": value,
        }
        for number, minutes, end, value in windows
    ]


@pytest.mark.parametrize("label", ["level", "query"])
def test_a_line_a_level(label):
    short = [(0, 1, end, end) for end in range(1, 11)]
    long = [(1, 5, end, 10 * end) for end in (5, 10)]
    figure = plots.sliding(several(label, *long, *short))
    assert [line.name for line in figure.data] == [f"{label} 0", f"{label} 1"]
    assert [list(line.y) for line in figure.data] == [list(range(1, 11)), [50, 100]]
    minutes = [(line.x - np.datetime64(NOON)) // np.timedelta64(1, "m") for line in figure.data]
    assert [list(one) for one in minutes] == [list(range(1, 11)), [5, 10]]
    assert figure.layout.showlegend


def test_levels_of_a_key_follow_in_order():
    windows = [
        {"k": k, **row} for k in "ba" for row in several("level", (10, 2, 2, 7), (9, 1, 1, 8))
    ]
    figure = plots.sliding(windows)
    names = ["a, level 9", "a, level 10", "b, level 9", "b, level 10"]
    assert [line.name for line in figure.data] == names


def test_lengths_of_a_level_are_lines_of_their_own():
    figure = plots.sliding(several("level", (1, 5, 5, 1), (1, 3, 5, 2), (1, 5, 6, 3), (0, 1, 5, 4)))
    assert {line.name: list(line.y) for line in figure.data} == {
        "level 0": [4], "level 1, 0:03:00": [2], "level 1, 0:05:00": [1, 3]
    }  # fmt: skip


def test_a_result_of_the_level_alone_is_a_value():
    """`agg(level=agg.max("height"))` over sliding windows."""
    windows = [{name: row[name] for name in ("window", "level")}
               for row in several("level", (3, 1, 1, 0), (4, 1, 2, 0))]  # fmt: skip
    (line,) = plots.sliding(windows).data
    assert list(line.y) == [3, 4]
    (line,) = plots.sliding(several("level", (3, 1, 1, 0), (4, 1, 2, 0)), "level").data
    assert list(line.y) == [3, 4]


def test_each_level_has_gaps_of_its_own():
    ends = [1, 2, 3, 7, 8]
    windows = [(0, 1, end, 1) for end in ends] + [(1, 5, end, 1) for end in (5, 10, 20)]
    short, long = plots.sliding(several("level", *windows), empty=0).data
    assert list(short.y) == [1, 1, 1, 0, 0, 1, 1]
    assert list(long.y) == [1, 1, 0, 0, 1]


def test_a_window_alone_is_seen():
    (line,) = plots.sliding(rows([5])).data
    assert line.mode == "lines+markers"
    (line,) = plots.sliding(rows([5, 6])).data
    assert line.mode == "lines"
    (line,) = plots.sliding(rows([5, 6, 0, 0, 7, 0, 0, 8], skip=(2, 3, 5, 6))).data
    assert line.mode == "lines+markers"


@pytest.mark.parametrize("as_rows", [True, False])
def test_pandas_is_taken(as_rows):
    pandas = pytest.importorskip("pandas")
    table = rows([1, None, 3], item="a") + rows([4.5], item=None)
    for row in table:
        row["window"] = Row(**row["window"]) if as_rows else row["window"]
    figure = plots.sliding(pandas.DataFrame(table))
    assert [line.name for line in figure.data] == ["None", "a"]
    assert [np.nan_to_num(line.y, nan=-1).tolist() for line in figure.data] == [[4.5], [1, -1, 3]]
    assert figure.data[1].x[0] == np.datetime64("2024-05-01T12:04")


def matches():
    """What `detect` returns."""
    return [
        {"host": "a", **one, "found_at": one["window"]["end"], "user": "u"}
        for one in several("level", (0, 1, 4, 0), (2, 4, 9, 0))
        for _ in [one.pop("n")]
    ]


def test_matches_are_drawn_by_their_level():
    lines = plots.frames(matches()).data
    assert [(line.name, list(line.y[:2]), list(line.y[3:5])) for line in lines] == [
        ("a", [0, 0], [2, 2])
    ]


def test_text_is_passed_over():
    windows = [{"window": row["window"], "s": "x", "n": row["n"]} for row in rows([1, 2])]
    (line,) = plots.sliding(windows).data
    assert (line.name, list(line.y)) == ("n", [1, 2])


class Streaming:
    isStreaming = True  # noqa: N815 - Spark's name


@pytest.mark.parametrize(
    ("result", "arguments", "message"),
    [
        (rows([1]), {"value": "m"}, "'m' is not a column of the result; choose one of window, n"),
        (rows([1]), {"by": "k"}, "'k' is not a column of the result"),
        ([{"n": 1}], {}, "no column 'window'"),
        ([{"window": {"start": "a", "end": "b"}, "n": 1}], {}, "no column 'window' of times"),
        ([], {}, "no rows to draw"),
        ("text", {}, "a str cannot be drawn"),
        ([3], {}, "a row is an int"),
        (rows([1, 2, 3]), {"points": 1}, "points=1 is too few"),
        (matches(), {}, r"these are matches.*plots\.frames"),
        ([{**row, "frame_id": 0} for row in rows([1])], {}, r"these are frames.*plots\.frames"),
        (rows(["a"]), {}, "there is no column of numbers after 'window', among window, n"),
        (rows(["a"]), {"value": "n"}, "column 'n' is of type string"),
        (Streaming(), {}, "a stream has no end"),
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
