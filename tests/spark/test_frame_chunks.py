"""Frames in chunks: what the definition says of all rows, however they are divided among tasks."""

from __future__ import annotations

import re
from contextlib import contextmanager

import pytest

import fanlight as fl
from fanlight import agg
from fanlight.engine.spark.fingerprint import count_tasks
from fanlight.engine.spark.windows import frames as frame_windows
from fanlight.engine.spark.windows import trailing as trailing_windows
from fanlight.engine.spec.frames.base import Least
from tests.helpers.dataframes import BLANK, calls, collected, frame
from tests.helpers.frames import HOLDS
from tests.helpers.refusals import refused
from tests.helpers.sparks import configured
from tests.law.data import minute
from tests.law.kinds.frames import DIVISIBLE
from tests.oracle.frames import framed, frames
from tests.oracle.values import instant

SUMS = {"n": ("count",), "total": ("sum", "n"), "most": ("max", "v"), "least": ("min", "s")}
SESSIONS = (fl.Session("2 minutes"), fl.Session("1 minute", min_rows=4))
KEYS = ("case", "k")
# Keys that begin and end anywhere, rows of one time, and values that are null or not a number.
ROWS = [
    minute(at // 3 * 2 + (at % 7 == 0) * 3, k=key, n=at % 5, s=f"{at % 4}",
           v=None if at % 9 == 4 else float("nan") if at % 13 == 5 else float(at // 4 % 4))
    for key, count in (("a", 23), (None, 9), ("b", 1), ("c", 40))
    for at in range(count)
]  # fmt: skip
UNTIMED = [{**ROWS[at], "ts": None} for at in (0, 30)]
RENAMED = {"k": "Lane No", "n": "end", "s": "a.b"}
NUMBERED = [spec for spec in (*DIVISIBLE, *SESSIONS) if spec.least in (None, Least())]

MANY, FEW = 40, 32  # ranges, and rows: some have one, others none


@contextmanager
def partitions(spark, count):
    """Ranges of rows are so many, some of which may be empty."""
    with (
        configured(spark, "spark.sql.shuffle.partitions", count),
        configured(spark, "spark.sql.adaptive.enabled", "false"),
    ):
        yield


def wanted(rows, spec, by):
    return frames(rows, spec, time="ts", by=by, aggregates=SUMS, holds=HOLDS)


def numbered(rows, spec, by):
    """Each row that has a time, with the number of its frame, null if it is in none."""
    timed = [row for row in rows if row["ts"] is not None]
    found = framed(timed, spec, time="ts", by=by, values=list(BLANK), holds=HOLDS)
    ids = {id(row): one.number for one in found for row in one.rows}
    return [{**row, "frame_id": ids.get(id(row))} for row in timed]


def found_rows(df):
    return [{**row, "ts": instant(row["ts"])} for row in collected(df)]


def in_order(rows):
    return sorted(str(sorted(row.items())) for row in rows)


@pytest.mark.parametrize("count", [5, pytest.param(30, marks=pytest.mark.thorough), MANY])
@pytest.mark.parametrize("by", [KEYS, ()], ids=["by keys", "without keys"])
def test_frames_are_those_of_all_rows(classic, count, by):
    """Chunks of many rows, of two, and of one or none."""
    rows = ROWS[:FEW] if count == MANY else ROWS
    with partitions(classic, count):
        for spec in (*DIVISIBLE, *SESSIONS):
            windows = fl.over(frame(classic, rows), spec, time="ts", by=list(by)).using("chunks")
            found = collected(windows.agg(**calls(SUMS)))
            assert in_order(found) == in_order(wanted(rows, spec, by)), spec


@pytest.mark.parametrize("count", [5, pytest.param(30, marks=pytest.mark.thorough), MANY])
@pytest.mark.parametrize("by", [KEYS, ()], ids=["by keys", "without keys"])
def test_rows_have_the_numbers_of_frames_of_all_rows(classic, count, by):
    rows = [*(ROWS[:FEW] if count == MANY else ROWS), *UNTIMED]
    with partitions(classic, count):
        for spec in NUMBERED:
            windows = fl.over(frame(classic, rows), spec, time="ts", by=list(by))
            found = found_rows(windows.using("chunks").rows())
            assert in_order(found) == in_order(numbered(rows, spec, by)), spec


def test_rows_keep_their_columns_and_names(classic):
    df = frame(classic, ROWS).withColumnsRenamed(RENAMED)
    windows = fl.over(df, NUMBERED[0], time="ts", by="Lane No").using("chunks")
    with partitions(classic, 5):
        rows = windows.rows()
        assert rows.columns == [*df.columns, "frame_id"]
        assert rows.schema.fields[:-1] == windows.using("arrow").rows().schema.fields[:-1]
        back = {new: old for old, new in RENAMED.items()}
        found = found_rows(rows.withColumnsRenamed(back))
    assert in_order(found) == in_order(numbered(ROWS, NUMBERED[0], ("k",)))


@pytest.mark.parametrize("key", ["pair", "nan"])
def test_keys_and_columns_may_be_of_any_type(classic, key):
    """Structs whose fields are never null, and keys that are not a number, or are structs."""
    pair = "named_struct('k', id % 2, 'of', named_struct('one', 1))"
    df = classic.range(60).selectExpr(
        "timestamp_seconds(id) as ts", "id % 7 as v", f"{pair} as pair",
        "if(id % 2 = 0, double('nan'), null) as nan",
    )  # fmt: skip
    windows = fl.over(df, fl.ThresholdFrame("v > 1"), time="ts", by=key)
    with partitions(classic, 5):
        for ask in (lambda one: one.rows(), lambda one: one.agg(agg.first("pair"))):
            divided, whole = (collected(ask(windows.using(by))) for by in ("chunks", "arrow"))
            assert in_order(divided) == in_order(whole)


def test_what_cannot_be_divided_is_told(classic):
    df = frame(classic, ROWS)

    def using(spec, **more):
        return fl.over(df, spec, time="ts", by="k", **more).using("chunks")

    high = fl.ThresholdFrame("v > 1")
    for act, words in [
        (lambda: using(fl.DeltaFrame({"v": 2})), "another task may have those"),
        (lambda: using(fl.PredicateFrame(open="v > 1", close="v < 0")), "whether a frame is open"),
        (
            lambda: using(fl.ThresholdFrame("v > 1", enter_for="1 minute")),
            "may have begun to hold at",
        ),
        (lambda: using(fl.ThresholdFrame("v > 1", max_rows=3)), "decides where it ends"),
        (lambda: using(fl.ThresholdFrame("v > 1", max_duration="1 hour")), "decides where it ends"),
        (lambda: using(fl.StateFrame("s", nulls="carry")), "of one long before it"),
        (lambda: using(fl.Session("n * interval '1' minute")), "a gap of its own"),
        (lambda: using(fl.Session("1 day")), "days of the calendar"),
        (lambda: using(high, forget_after="1 hour").frames(), "begins anew"),
        (lambda: using(fl.ThresholdFrame("v > 1", min_rows=3)).rows(), "how large the frame"),
        (lambda: using(high).agg(agg.approx_count_distinct("s")), "is of Spark alone"),
        (lambda: using(high).explain(agg.approx_count_distinct("s")), "is of Spark alone"),
    ]:
        refused(act, "using('chunks') cannot compute this", words, "use 'auto'")
    assert "joined" in using(high).explain(agg.count())
    gaps = df.selectExpr("*", "make_interval(0, 0, 0, cast(n as int)) as gap")
    apart = fl.over(gaps, high, time="ts", by="gap").using("chunks")
    refused(apart.frames, "a column of type interval", "cannot go through Python", "cast it")


def test_auto_divides_many_rows_where_cores_would_be_idle(classic, monkeypatch):
    rows = classic.range(10**10).selectExpr("timestamp_seconds(id) as ts", "id % 7 as k", "id as v")
    high = fl.ThresholdFrame("v > 1")
    hour = fl.over(rows, fl.Trailing("1 hour"), time="ts")
    for module in (frame_windows, trailing_windows):
        monkeypatch.setattr(module, "count_tasks", lambda _: 100.0)
    for windows, chosen in [
        (fl.over(rows, high, time="ts"), "chunks"),
        (fl.over(rows, high, time="ts", by="k"), "arrow"),  # keys may be many
        (fl.over(rows, high, time="ts", by="k").using(groups=7), "chunks"),
        (fl.over(rows.limit(9), high, time="ts"), "native"),
        (hour, "arrow"),  # all rows may be within an hour
        (hour.using(rate=1), "chunks"),
    ]:
        (told,) = re.findall(r"^  strategy +(\w+)", windows.explain(agg.count()), re.MULTILINE)
        assert told == chosen, windows


def test_how_many_tasks_run_at_a_time_is_asked_of_spark(spark):
    connect = ".connect." in type(spark).__module__
    with configured(spark, "spark.sql.shuffle.partitions", 1):
        assert count_tasks(spark) == (None if connect else 1)
