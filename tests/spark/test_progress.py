"""Where a query stands, in one value."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from pyspark.errors import AnalysisException

import fanlight as fl
from fanlight import agg
from fanlight.engine.plan.late_rows import COLLECTING
from fanlight.engine.spark.result import MODES
from fanlight.watching.progress import add_late, count_late_by_windows, count_late_rows
from tests.helpers.dataframes import all_of
from tests.helpers.house import ROOT
from tests.helpers.streams import ended, finish, stream_of

BEGIN = datetime(2024, 5, 1, 12)
WATCHING = (ROOT / "docs/watching.md").read_text("utf-8")
SWITCH = "spark.sql.streaming.statefulOperator.checkCorrectness.enabled"


@pytest.fixture
def rows(classic, tmp_path):
    """Files that are read one after the other; the last has three rows that are late for all."""
    batches = [
        classic.createDataFrame(
            [(BEGIN + timedelta(minutes=minute), 1) for minute in minutes], "ts timestamp, k long"
        )
        for minutes in ([0, 1, 30], [31, 32], [0, 0, 0, 33])
    ]
    return stream_of(classic, tmp_path, batches, "1 minute")


@pytest.mark.streaming
@pytest.mark.parametrize(
    ("spec", "counted"),
    [(fl.Sliding("2 minutes", "1 minute"), "dropped"), (fl.Session("1 minute"), "late")],
    ids=["placed", "ordered"],
)
def test_rows_watermark_state_and_late_rows_are_told(rows, spec, counted, tmp_path):
    windows = fl.over(rows, spec, time="ts", by="k")
    query = finish(windows.agg(calls=agg.count()), tmp_path, name=f"progress_{counted}")
    found = fl.progress(query)
    assert (found.name, found.rows) == (f"progress_{counted}", 9)
    # of sliding windows Spark counts groups: the three rows are of one key and slice
    assert (found.late, found.dropped) == ((3, 0) if counted == "late" else (None, 1))
    assert found.watermark == "2024-05-01T12:32:00.000Z"
    assert found.state
    windows, where = ("sessions", "keys of sessions") if counted == "late" else (None, "slices or")
    assert found.late_by == ({windows: 3} if windows else {})
    assert all(kept.keeps.startswith(where) for kept in found.state)
    assert all(kept.disk is None or kept.disk > 0 for kept in found.state)
    assert datetime.fromisoformat(found.begun) > BEGIN.replace(tzinfo=UTC)
    assert found.state_rows == sum(kept.rows for kept in found.state) > 0
    assert found.rows_per_second > 0 < found.seconds
    assert json.loads(json.dumps(found.to_dict()))["rows"] == 9
    assert str(found).endswith("late 3" if counted == "late" else "late 1 group")
    batches = [fl.progress(one) for one in query.recentProgress]
    assert [one.rows for one in batches if one.rows] == [3, 2, 4]
    late = [one.late for one in batches]
    assert add_late(late) == found.late == fl.progress(query).late
    # Spark 3.5 has dicts, as the JSON of later ones, without the duration.
    dicts = [json.loads(one.json) for one in query.recentProgress]
    for one, batch in zip(dicts, batches, strict=True):
        one.pop("batchDuration", None)
        told = fl.progress(one)
        assert replace(told, seconds=batch.seconds) == batch
        assert abs(told.seconds - batch.seconds) < 0.5  # by which Spark measures
    assert add_late(fl.progress(one).late for one in dicts) == found.late


HOURS, CHANGES = fl.Sliding("2 minutes", "1 minute"), fl.DeltaFrame({"n": 1})
# how many rows of one group were late: known, and in words
COUNTED = {
    "dropped": (HOURS, "drop", None, "1 group"),
    "collected": (HOURS, "collect", 100, "100"),
    "frames": (CHANGES, "drop", 100, "100"),
}


@pytest.mark.streaming
@pytest.mark.parametrize("case", COUNTED)
def test_a_number_of_late_rows_that_is_not_known_is_not_0(spark, tmp_path, case):
    spec, late, known, words = COUNTED[case]
    times = [BEGIN, BEGIN + timedelta(hours=1), BEGIN + timedelta(hours=1, minutes=1)]
    batches = [
        [{"ts": int(ts.timestamp()) * 1_000_000, "n": 1} for ts in made]
        for made in (times[:2], times[2:], [BEGIN] * 100, times[2:])
    ]
    df = stream_of(spark, tmp_path, batches, "1 minute")
    windows = fl.over(df, spec, time="ts", by="case", late=late)
    query = finish(windows.agg(calls=agg.count()), tmp_path)
    found = fl.progress(query)
    assert (fl.progress(query).late, found.late) == (known, known)
    assert str(found).endswith(f"late {words}")
    each = [fl.progress(one).late for one in query.recentProgress]
    assert [one for one in each if one != 0] == [known]


# Windows of each family, their time, and what gives their result.
OF_EACH_FAMILY = {
    "sliding": (HOURS, "ts", lambda asked: asked.agg(n=agg.count())),
    "levels": (
        fl.MultiGranular(["1 minute", "2 minutes"], ["1 minute", "1 minute"],
                         offset="28576081 minutes"),
        "ts", lambda asked: asked.agg(n=agg.max("n")),
    ),
    "events": (HOURS, ("began", "ts"), lambda asked: asked.agg(n=agg.count())),
    "snapshots": (fl.Snapshot(), ("began", "ts"), lambda asked: asked.agg(n=agg.count())),
    "frames": (CHANGES, "ts", lambda asked: asked.frames()),
    "sessions": (fl.Session("gap"), "ts",
                 lambda asked: asked.rows()),
    "trailing": (fl.Trailing("1 minute"), "ts", lambda asked: asked.attach(m=agg.max("n"))),
    "widening": (fl.ProgressiveWidening("1 minute", max_duration="4 minutes", max_rows=9), "ts",
                 lambda asked: asked.detect(fl.Episode("a k=x", event="name"))),
}  # fmt: skip


@pytest.mark.streaming
@pytest.mark.parametrize("family", OF_EACH_FAMILY)
def test_rows_that_no_window_can_hold_are_counted(spark, tmp_path, family):
    spec, time, ask = OF_EACH_FAMILY[family]
    schema = "ts timestamp, began timestamp, n int, gap string, name string, k long"
    minutes = [(1, 0), (2, 4), (None, 1), (3, None), (None, None), (0, 0), (5, 3)]
    made = [
        (
            *(None if one is None else BEGIN + timedelta(minutes=one) for one in pair),
            n % 3,
            f"{n % 3} seconds",
            "a",
            1,
        )
        for n, pair in enumerate(minutes)
    ]
    df = spark.createDataFrame(made, schema)
    rows = stream_of(spark, tmp_path, [df], "1 minute")
    wanted = fl.over(df, spec, time=time, by="k").rejected().count()
    assert wanted >= 2
    found = fl.progress(finish(ask(fl.over(rows, spec, time=time, by="k")), tmp_path))
    assert found.rejected == wanted
    assert str(found).endswith(f", rejected {wanted}")


@pytest.mark.streaming
@pytest.mark.parametrize(
    ("spec", "refused"),
    [
        (fl.Sliding("2 minutes", "1 minute"), True),
        (fl.MultiGranular(["1 minute", "2 minutes"], ["1 minute", "1 minute"]), True),
        ([fl.Sliding("1 minute"), fl.Sliding("2 minutes", "1 minute")], True),
        (fl.Session("1 minute"), False),
        (fl.Sliding(fl.Rows(2)), False),
    ],
    ids=["sliding", "levels", "list", "sessions", "rows"],
)
def test_update_gives_nothing_earlier_as_explain_says(rows, spec, refused, tmp_path):
    windows = fl.over(rows, spec, time="ts", by="k")
    assert "append: each window once, when it is final" in windows.explain(n=agg.count())

    def written(mode):
        return all_of(ended(windows.agg(calls=agg.count()), tmp_path, mode))

    final = written("append")
    assert final
    if refused:
        (heading,) = re.findall(r"^## (Detected .+)", WATCHING, re.MULTILINE)
        for mode in ("update", "complete"):
            with pytest.raises(AnalysisException, match=heading) as caught:
                written(mode)
            assert SWITCH in str(caught.value)
            assert MODES in str(caught.value).splitlines()[2]
            assert SWITCH in WATCHING
    else:
        assert written("update") == final


class MicroBatch:
    """The progress of a query with several data-driven windows, and what Spark dropped of it."""

    def __init__(self, dropped=0, **metrics):
        self.stateOperators = [SimpleNamespace(numRowsDroppedByWatermark=dropped)]
        self.observedMetrics = {
            name.replace("_", " "): {"rows": rows} for name, rows in metrics.items()
        }


def test_late_rows_are_told_by_the_windows_that_they_were_for():
    found = count_late_by_windows(MicroBatch(**{
        "fanlight late rows 12: sessions": 3,
        "fanlight late rows 9: delta frames": None,
        "fanlight late rows 7: sessions": 5,
        "mine": 100,
    }))  # fmt: skip
    assert found == {"sessions": 5, "sessions (2)": 3, "delta frames": 0}


def test_rows_that_are_counted_do_not_hide_those_that_are_not():
    sessions, collected = (
        {f"fanlight late rows 7: {what}": 5} for what in ("sessions", COLLECTING)
    )
    assert count_late_rows(MicroBatch(**sessions)) == 5
    assert count_late_rows(MicroBatch(2, **sessions)) is None
    assert count_late_rows(MicroBatch(2, **collected)) == 5


def test_what_is_no_query_is_refused():
    with pytest.raises(fl.FanlightError, match="neither a streaming query"):
        fl.progress(3)
