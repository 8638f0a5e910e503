"""What ``suggest`` says of rows, against the sentences of its docstring in plain Python."""

from __future__ import annotations

import html
import json
import math
import random
from fractions import Fraction
from itertools import pairwise

import pytest

import fanlight as fl
from fanlight.engine.spec.units import parse_duration
from tests.helpers.sparks import configured

SECOND = 1_000_000
SCHEMA = "t long, s long, key string, place long, v double"
COLUMNS = [
    "timestamp_micros(t) as `a.b`", "timestamp_micros(s) as start", "key as `Lane No`",
    "place as came", "v as `the value`",
]  # fmt: skip
NAMES = {"time": "`a.b`", "by": ["Lane No"], "value": "the value", "arrived": "came"}


def draw_rows(seed=7, count=600):
    """Rows of three keys with pauses, late and early ones, equal times and arrivals, and nulls."""
    drawn = random.Random(seed)
    clock, level, rows = dict.fromkeys("xyz", 0), dict.fromkeys("xyz", 0.0), []
    for place in range(count):
        key = drawn.choice("xxyz")
        pause = drawn.choice([0, 1, 2, 3, 5, 8] * 5 + [1_900])
        clock[key] += pause * SECOND + drawn.choice([0, 17])
        level[key] += drawn.gauss(0, 1)
        stop = clock[key] - drawn.choice([0, 0, 0, 40, 200]) * SECOND
        lasts = drawn.choice([0, 5, 33, 700]) * SECOND
        rows.append((stop, stop - lasts, key, place // 2, level[key]))
    for at in (0, 100, 200):
        rows[at] = (None, *rows[at][1:])
        rows[at + 1] = (*rows[at + 1][:3], None, rows[at + 1][4])
        rows[at + 2] = (*rows[at + 2][:4], drawn.choice([None, math.nan, math.inf]))
    return rows


ROWS = draw_rows()
KNOWN = [row for row in ROWS if row[0] is not None]


def frame(spark, rows=ROWS):
    return spark.createDataFrame(rows, SCHEMA).selectExpr(*COLUMNS)


def find_greatest_before(rows):
    """Rows that say when they came, each with the greatest time that came before, or its own."""
    came = [row for row in rows if row[3] is not None]
    for row in came:
        yield row, max([row[0], *(other[0] for other in came if other[3] < row[3])])


def by_key(rows):
    for key in sorted({row[2] for row in rows}):
        own = [row for row in rows if row[2] == key]
        yield sorted(own, key=lambda row: (row[0], row[4] is not None, row[4] or 0))


def list_silences(rows):
    times = [[row[0] for row in own] for own in by_key(rows)]
    return [b - a for own in times for a, b in pairwise(own)]


def check_late(found, name, needs, tolerated):
    """Late with a delay is what needs as much or more; no much shorter delay would do."""
    for row in found.table:
        delay = parse_duration(name, row[name])
        late = sum(need >= delay for need in needs)
        assert row["late rows"] == late
        assert row["share"] == late / len(needs) <= 1 - row["quantile"]
    delay = parse_duration(name, found.value)
    assert sum(need >= delay for need in needs) <= tolerated * len(needs)
    shorter = delay * Fraction(19, 20) - 1_000
    assert shorter <= 0 or sum(need >= shorter for need in needs) > tolerated * len(needs)


@pytest.mark.parametrize("share", [0, 0.02, 0.3])
def test_a_delay_leaves_so_few_late(spark, share):
    found = fl.suggest(frame(spark), time="`a.b`", arrived="came", share=share)
    needs = [before - row[0] for row, before in find_greatest_before(KNOWN)]
    assert max(needs) > 100 * SECOND
    check_late(found.watermark, "delay", needs, share)
    assert found.rows == len(ROWS)
    assert list(found.left_out.values()) == [3, 3]
    assert found.session is found.delta is found.ttp is None
    assert found.suggestions == (found.watermark,)


@pytest.mark.parametrize("arrived", [None, "came"])
def test_a_time_to_postpone_is_a_duration_and_lateness(spark, arrived):
    found = fl.suggest(frame(spark), time=("start", "`a.b`"), arrived=arrived, share=0.1)
    needs = [before - row[1] for row, before in find_greatest_before(KNOWN)]
    if arrived is None:
        needs = [row[0] - row[1] for row in KNOWN]
    check_late(found.ttp, "TTP", needs, 0.1)
    assert found.watermark is None


def test_what_stops_before_it_starts_is_left_out(spark):
    rows = [(5, 9, "x", 0, 0.0), (5, 3, "x", 0, 0.0), (5, None, "x", 0, 0.0)]
    found = fl.suggest(frame(spark, rows), time=("start", "`a.b`"))
    assert found.title == "Measured 1 of 3 rows."
    assert list(found.left_out.values()) == [1, 1]


def test_a_gap_lies_between_pauses_and_silences(spark):
    df = frame(spark)
    found = fl.suggest(df, time="`a.b`", by="Lane No").session
    silences = list_silences(KNOWN)
    for row in found.table:
        gap = parse_duration("gap", row["gap"])
        assert row["longer"] == sum(silence > gap for silence in silences)
        assert row["sessions"] == row["longer"] + 3
        assert sum(silence <= gap for silence in silences) >= row["quantile"] * len(silences)
    gap = parse_duration("gap", found.value)
    assert 100 * SECOND < gap < 1_900 * SECOND
    session = eval(found.write, {"fl": fl})  # noqa: S307 - what it says to write
    sessions = fl.over(df, session, time="`a.b`", by="Lane No").frames().count()
    assert f"{sessions:,} sessions of 3 keys" in found.why
    assert sessions == 3 + sum(silence > gap for silence in silences)


def test_no_gap_where_all_silences_are_alike(spark):
    rows = [(at * SECOND, None, "x", at, 1.0) for at in range(9)]
    found = fl.suggest(frame(spark, rows), time="`a.b`", by=())
    assert found.session.value is found.session.write is None
    assert [row["sessions"] for row in found.session.table] == [1] * 5


SIGNALS = {
    "walk": lambda noise: noise.walk,
    "wave": lambda noise: 100 + math.sin(noise.at / 40),
    "slope": lambda noise: noise.at / 7 - 50,
    "noise": lambda noise: noise.drawn,
}


class Noise:
    def __init__(self):
        self.random, self.walk, self.at = random.Random(3), 0.0, -1

    def step(self):
        self.at += 1
        self.drawn = self.random.gauss(0, 1)
        self.walk += self.drawn
        return self


@pytest.mark.sampled(3)
@pytest.mark.parametrize("signal", SIGNALS)
def test_a_delta_gives_about_so_many_frames(spark, signal):
    noise = Noise()
    rows = [
        (at * SECOND, None, "xy"[at % 2], at, SIGNALS[signal](noise.step())) for at in range(4_000)
    ]
    df = frame(spark, rows)
    found = fl.suggest(df, time="`a.b`", by="Lane No", value="the value", frames=50)
    delta = eval(found.delta.write, {"fl": fl})  # noqa: S307
    frames = fl.over(df, delta, time="`a.b`", by="Lane No").frames().count()
    assert found.delta.table[0]["frames, about"] == 100
    assert 50 <= frames <= 200
    above = eval(found.threshold.write, {"fl": fl})  # noqa: S307
    frames = fl.over(df, above, time="`a.b`", by="Lane No").frames().count()
    assert f": {frames:,} frames." in found.threshold.why


def count_runs(rows, threshold):
    """Runs of rows of a key whose values are above; a row without a value ends one."""
    runs = 0
    for own in by_key(rows):
        above = [row[4] is not None and row[4] > threshold for row in own]
        runs += sum(b and not a for a, b in zip([False, *above], above, strict=False))
    return runs


def test_frames_above_a_threshold_are_counted(spark):
    found = fl.suggest(frame(spark), time="`a.b`", by="Lane No", value="the value", frames=9)
    finite = [
        (*row[:4], row[4] if row[4] is not None and math.isfinite(row[4]) else None)
        for row in KNOWN
    ]
    values = [row[4] for row in finite if row[4] is not None]
    (row,) = found.threshold.table
    assert row["frames"] == count_runs(finite, row["threshold"])
    assert row["share of rows"] == sum(v > row["threshold"] for v in values) / len(values)
    near = {v: abs(count_runs(finite, v) - 27) for v in values}  # nine frames of three keys
    assert abs(row["frames"] - 27) == min(near.values())
    assert found.left_out["without a finite value"] == 3


def test_values_that_do_not_change_have_no_delta(spark):
    rows = [(at * SECOND, None, "x", at, 1.0) for at in range(9)]
    found = fl.suggest(frame(spark, rows), time="`a.b`", value="the value", frames=3)
    assert found.delta.value is found.threshold.value is None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("setting", ["spark.sql.session.timeZone", "spark.sql.ansi.enabled"])
def test_no_setting_changes_what_is_suggested(spark, setting):
    values = ("Asia/Kathmandu", "America/New_York") if "Zone" in setting else ("true", "false")
    found = []
    for value in values:
        with configured(spark, setting, value):
            df = frame(spark)
            found.append(fl.suggest(df, **NAMES, frames=9).to_dict())
            local = df.selectExpr("*", "timestamp_ntz'2024-03-31 00:00:00' + "
                                  "(`a.b` - timestamp_seconds(0)) as local")  # fmt: skip
            found[-1]["local"] = fl.suggest(local, time="local", arrived="came").to_dict()
    assert found[0] == found[1]
    assert found[0]["local"]["watermark"]["table"] == found[0]["watermark"]["table"]
    json.dumps(found)


def test_it_prints_as_tables_with_lines_to_write(spark):
    found = fl.suggest(frame(spark), **NAMES, frames=9)
    assert len(found.suggestions) == 4
    for one in found.suggestions:
        assert f"    write: {one.write}" in str(found).splitlines()
        assert str(one) in str(found)
        assert all(name in str(one) for name in one.table[0])
    assert found._repr_html_() == f"<pre>{html.escape(str(found))}</pre>"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "asks for nothing; add arrived="),
        ({"by": "nowhere"}, "by='nowhere' is not a column of the DataFrame; choose one of"),
        ({"arrived": "nowhere"}, "arrived='nowhere' is not a column"),
        ({"arrived": 3}, "arrived=3 is not the name of a column; write the name of one"),
        ({"by": (), "time": "came"}, "time='came' is of type bigint, and delays and gaps"),
        ({"time": ("start",)}, "is not a pair of column names; write time=('start', 'stop')"),
        ({"value": "the value"}, "value='the value', frames=None is half of what frames need"),
        ({"frames": 3}, "value=None, frames=3 is half of what frames need"),
        ({"value": "Lane No", "frames": 3}, "value='Lane No' is of type string"),
        ({"value": "the value", "frames": 0}, "frames=0 is not a positive number"),
        ({"by": (), "share": 1}, "share=1 is not a number from 0 to below 1"),
        ({"by": (), "share": math.nan}, "share=nan is not a number from 0 to below 1"),
        ({"value": "v", "frames": 3, "time": ("start", "`a.b`")}, "asks for frames of points"),
    ],
)
def test_what_cannot_be_suggested_is_said(classic, arguments, said):
    with pytest.raises(fl.FanlightError) as caught:
        fl.suggest(frame(classic, ROWS[:9]), **{"time": "`a.b`", **arguments})
    assert said in str(caught.value)


def test_a_stream_and_no_rows_are_refused(classic):
    stream = classic.readStream.format("rate").load()
    with pytest.raises(fl.FanlightError, match=r"is given a stream.*pass a batch"):
        fl.suggest(stream, time="timestamp", by=())
    with pytest.raises(fl.FanlightError, match="has no row that could be measured, of 0"):
        fl.suggest(frame(classic, []), time="`a.b`", by=())
    with pytest.raises(fl.FanlightError, match=r"suggest\(int\) is not a Spark DataFrame"):
        fl.suggest(3, time="ts", by=())
