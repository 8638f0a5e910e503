"""Streams of events that have not ended yet: final windows are those of a batch of that time."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

import fanlight as fl
from fanlight import agg
from tests.helpers.dataframes import collected
from tests.helpers.events import MINUTE
from tests.helpers.streams import finish, gather_batches, stream_of

DELAY = 2  # minutes
SPECS = {
    "sliding": fl.Sliding("6 minutes", "3 minutes"),
    "gaps": fl.Sliding("2 minutes", "7 minutes"),
    "levels": fl.MultiGranular(["3 minutes", "9 minutes"], ["3 minutes", "9 minutes"]),
    "list": [fl.Sliding("3 minutes"), fl.Sliding("10 minutes", "5 minutes")],
    "calendar": fl.Calendar("1 hour", zone="Asia/Kolkata"),
    "so far": fl.Cumulative("30 minutes", "6 minutes"),
}
DDL = "`the id` long, k string, a long, b long, v long"
NAMED = ("`the id`", "k", "v", "timestamp_micros(a) as start", "timestamp_micros(b) as stop")


def rows_of(seed):
    """Starts and stops in the order of their times, up to a delay; a stop is corrected once."""
    rnd, rows = random.Random(seed), []
    for number in range(40):
        start = rnd.randrange(120) * MINUTE // 2
        stop = start + rnd.randrange(1, 80) * MINUTE // 2
        key, value = rnd.choice("ab"), rnd.randrange(100)
        rows.append((start, (number, key, start, None, value)))
        if number % 8:  # one in eight never ends
            rows.append((stop, (number, key, start, stop, value)))
        if number % 10 == 1:
            rows.append((stop, (None, key, stop - MINUTE // 4, stop, value)))
            rows.append((start, (None, key, start, None, value)))  # of nobody knows what
    late = [(at + rnd.randrange(DELAY) * MINUTE, row) for at, row in rows]
    late.sort(key=lambda one: one[0])
    return [row for _, row in late]


def arriving(spark, folder, batches):
    batches = [spark.createDataFrame(rows, DDL).selectExpr(*NAMED) for rows in batches]
    return stream_of(spark, folder, batches, f"{DELAY} minutes", "stop")


def three_aggregates(df, spec, make):
    windows = make(fl.over(df, spec, time=("start", "stop"), by="k"))
    return windows.agg(n=agg.count(), s=agg.sum("v"), m=agg.min("the id"))


def place(row):
    return (row["k"], *row["window"].values(), row.get("level", row.get("query")))


def test_of_rows_without_a_stop_those_of_no_event_are_rejected(classic, tmp_path):
    start = 5 * MINUTE
    rows = [(1, "a", start, None, 1), (None, "a", start, None, 2), (2, "a", 9, 3, 4)]
    df = arriving(classic, tmp_path, [rows])
    windows = fl.over(df, fl.Sliding("1 minute"), time=("start", "stop"))
    found = windows.running(id="the id").agg(n=agg.count())
    assert fl.progress(finish(found, tmp_path)).rejected == 2  # and one that stops before it starts


@pytest.mark.streaming
@pytest.mark.sampled(6)
@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("name", SPECS)
def test_final_windows_are_those_of_a_batch(classic, tmp_path, name, early):
    rows, spec = rows_of(len(name)), SPECS[name]
    given, step = [], len(rows) // 6 + 1

    def make(windows):
        windows = windows.running(id="the id")
        return windows.early() if early else windows

    for half in (range(0, 3 * step, step), range(3 * step, len(rows), step)):
        df = arriving(classic, tmp_path, [rows[at : at + step] for at in half])
        batches = gather_batches(
            three_aggregates(df, spec, make), tmp_path, "update" if early else "append"
        )
        given += [row for batch in batches for row in batch]  # goes on after a stop
    shown, finals = {}, {}
    for row in given:
        assert place(row) not in finals
        shown[place(row)] = row
        if row.pop("final", True):
            finals[place(row)] = row
    watermark = max(row[3] for row in rows if row[3]) - DELAY * MINUTE
    at = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=watermark)
    df = classic.createDataFrame(rows, DDL).where("`the id` is not null or b is not null")
    df = df.selectExpr(*NAMED)
    whole = three_aggregates(df, spec, lambda windows: windows.running(as_of=at, id="the id"))
    wanted = {place(row): row for row in collected(whole)}
    ended = {w: row for w, row in wanted.items() if w[2] <= watermark}
    assert {w: row for w, row in finals.items() if row["n"]} == ended
    assert len(ended) > 1
    if early:
        reached = {w: row for w, row in wanted.items() if w[1] < watermark}
        assert {w: row for w, row in shown.items() if row["n"] and w in reached} == reached


def test_what_cannot_be_is_refused(spark, tmp_path):
    events = arriving(spark, tmp_path, [rows_of(1)])
    windows = fl.over(events, SPECS["sliding"], time=("start", "stop"), by="k")
    for given, told in (
        ({"as_of": "1970-01-01T00:20:00Z"}, "takes its time from the watermark"),
        ({}, "write running\\(id='call'\\)"),
        ({"id": "nothing"}, "is not a column"),
        ({"id": "start"}, "cast it to string"),
        ({"id": "the id", "max_duration": "2 months"}, "max_duration"),
        ({"id": "the id", "max_duration": -1}, "max_duration"),
    ):
        with pytest.raises(fl.FanlightError, match=told):
            windows.running(**given)
    running = windows.running(id="the id", max_duration="1 hour")
    assert "running" in running.explain()
    for aggregate in (
        agg.overlap(),
        agg.covered(),
        agg.peak(),
        agg.peak("v"),
        agg.first("v"),
        agg.collect_list("v"),
    ):
        with pytest.raises(fl.FanlightError, match="reads when events end"):
            running.agg(aggregate)
    with pytest.raises(fl.FanlightError, match="kept by one stateful operator"):
        running.using("cells").agg(agg.count())
    batch = spark.createDataFrame(rows_of(1), DDL).selectExpr(*NAMED)
    with pytest.raises(fl.FanlightError, match="as_of says until when"):
        fl.over(batch, SPECS["sliding"], time=("start", "stop")).running(
            id="the id", max_duration="1 hour"
        )
    for late in ("open", "collect"):
        opened = fl.over(events, SPECS["sliding"], time=("start", "stop"), by="k", late=late)
        with pytest.raises(fl.FanlightError, match=f"leave late='{late}' out"):
            opened.running(id="the id")
    snapshots = fl.over(events, fl.Snapshot(), time=("start", "stop"), by="k")
    with pytest.raises(fl.FanlightError, match="of snapshots in a stream"):
        snapshots.running(id="the id")
