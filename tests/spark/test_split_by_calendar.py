"""Frames split where days and months of a calendar begin: by Python's own dates, part by part."""

from __future__ import annotations

import random

import pytest

import fanlight as fl
from fanlight import agg
from tests.helpers.streams import gather, stream_of
from tests.law.data import minute
from tests.oracle.calendars import bounds_near

HOUR = 3_600_000_000
# Days on which a clock skips an hour, half an hour, midnight or a day, or shows some time again.
STEPS = {
    "days of Berlin": ("1 day", "Europe/Berlin", 1_743_120_000),
    "days of Havana": ("1 day", "America/Havana", 1_741_320_000),
    "days of Apia": ("1 day", "Pacific/Apia", 1_325_000_000),
    "hours of Lord Howe": ("1 hour", "Australia/Lord_Howe", 1_743_780_000),
    "hours of Troll": ("1 hour", "Antarctica/Troll", 1_761_433_200),
    "days of St John's": ("1 day", "America/St_Johns", 1_289_092_000),
    "weeks": ("1 week", "America/New_York", 1_730_400_000),
    "months": ("1 month", "Europe/Berlin", 1_743_120_000),
    "quarters by a fixed offset": ("1 quarter", "+05:30", 1_743_120_000),
}


def rows_of(about):
    """Instants of some days, or of some months, each with a state."""
    every, _, begin = STEPS[about]
    drawn = random.Random(about)
    long = 40 * 24 if every[2:] in ("month", "quarter") else 60
    at, rows = begin * 1_000_000, []
    for number in range(50):
        far = drawn.randrange(long) * HOUR if number > 20 else HOUR // 3
        at += drawn.choice((1, HOUR // 6, HOUR // 2, far))
        rows.append(
            {**minute(0, k="a", n=drawn.randrange(9)), "ts": at, "ok": drawn.random() < 0.6}
        )
    return rows


def frame(spark, rows):
    df = spark.createDataFrame([(r["k"], r["ts"], r["ok"], r["n"]) for r in rows],
                               "k string, at bigint, ok boolean, n bigint")  # fmt: skip
    return df.selectExpr("k", "timestamp_micros(at) as ts", "ok", "n")


def ask(df):
    return fl.over(df, fl.StateFrame("ok"), time="ts", by="k")


def cut(about, start, end):
    """The parts of what is between two instants."""
    every, zone, _ = STEPS[about]
    edges = {at for unit in bounds_near(fl.Calendar(every, zone=zone), start, end) for at in unit}
    inner = sorted(at for at in edges if start < at < end)
    return list(zip([start, *inner], [*inner, end], strict=True)) if start < end else []


def frames_of(rows):
    """Runs of one state: bounds, rows, and whether a row ends them."""
    runs = []
    for row in rows:
        if not runs or runs[-1][-1]["ok"] != row["ok"]:
            runs.append([])
        runs[-1].append(row)
    for run, after in zip(runs, [*runs[1:], None], strict=True):
        yield run, after[0]["ts"] if after else run[-1]["ts"] + 1, after is not None


def shown(found, *columns):
    ends = ("unix_micros(window.start) as a", "unix_micros(window.end) as b")
    return sorted(tuple(row) for row in found.selectExpr(*ends, "frame_id", *columns).collect())


@pytest.mark.parametrize("about", STEPS)
def test_parts_of_a_batch(classic, about):
    """Whatever the session's zone; in parts so far, each has the rows before its end."""
    every, zone, _ = STEPS[about]
    rows = rows_of(about)
    windows = ask(frame(classic, rows))
    wanted, so_far = [], []
    for number, (run, end, closed) in enumerate(frames_of(rows)):
        for a, b in cut(about, run[0]["ts"], end):
            whole = sum(row["n"] for row in run)
            wanted.append((a, b, number, whole))
            some = [row for row in run if row["ts"] < b]
            so_far.append((a, b, number, sum(row["n"] for row in some), closed or b != end))
    assert shown(windows.split(every, s=agg.sum("n"), zone=zone), "s") == sorted(wanted)
    parts = windows.accumulate(every, s=agg.sum("n"), zone=zone)
    assert shown(parts, "s", "closed") == sorted(so_far)
    clause = f"FROM df [WATTR ts PARTITION BY k FRAME STATE ok SPLIT EVERY {every.upper()}"
    for words, wanted_too in ((f" ZONE '{zone}'", wanted), (f" ZONE '{zone}' SO FAR", so_far)):
        text = f"SELECT window, frame_id, sum(n) AS s {clause}{words}]"
        found = fl.sql(text, df=frame(classic, rows))
        assert shown(found, "s") == sorted(part[:4] for part in wanted_too)
    method = fl.clause(fl.StateFrame("ok"), time="ts", method="accumulate",
                       arguments={"every": every, "zone": zone})  # fmt: skip
    assert method.endswith(f" ZONE '{zone}' SO FAR]")


@pytest.mark.streaming
@pytest.mark.parametrize("about", ["days of Berlin", "months"])
def test_parts_of_a_stream(classic, tmp_path, about):
    """A stream gives the parts of a batch that are complete."""
    every, zone, _ = STEPS[about]
    rows = rows_of(about)
    batches = [rows[low : low + 9] for low in range(0, len(rows), 9)]
    columns = ("unix_micros(window.start) as a", "unix_micros(window.end) as b", "frame_id", "s")

    def query(df):
        windows = fl.over(df, fl.StateFrame("ok", max_gap="200 days"), time="ts", by="k")
        return windows.accumulate(every, s=agg.sum("n"), zone=zone).selectExpr(*columns)

    last = {**rows[-1], "ts": rows[-1]["ts"] + 10 * 24 * HOUR}
    batch = sorted(map(tuple, query(frame(classic, [*rows, last])).collect()))
    got = gather(query(stream_of(classic, tmp_path, [*batches, [last], []], "1 minute")), tmp_path)
    found = sorted((row["a"], row["b"], row["frame_id"], row["s"]) for row in got)
    assert found == [part for part in batch if part[1] <= last["ts"] - 60_000_000]
    assert len(found) > 10


def test_local_times_and_what_is_refused(classic):
    df = classic.sql(
        "select timestamp_ntz'2025-01-30 22:00:00' + make_dt_interval(id * 9) as ts, id, "
        "true as ok from range(9)"
    )
    windows = fl.over(df, fl.StateFrame("ok"), time="ts")
    found = windows.split("1 month", n=agg.count()).selectExpr("date(window.start)", "n")
    months = [str(row[0]) for row in found.orderBy("window.start").collect()]
    assert months == ["2025-01-30", "2025-02-01", "2025-03-01", "2025-04-01"]
    instants = fl.over(df.withColumn("ts", df.ts.cast("timestamp")), fl.StateFrame("ok"), time="ts")
    dates = fl.over(df.withColumn("ts", df.ts.cast("date")), fl.StateFrame("ok"), time="ts")
    numbers = fl.over(df, fl.StateFrame("ok"), time="id")
    for act, words in [
        (lambda: windows.split("1 day", zone="Europe/Berlin"), "its times are local already"),
        (lambda: instants.split("1 month"), "name the zone"),
        (lambda: instants.split("1 day", zone="Europe/Berln"), "is not a time zone"),
        (lambda: instants.split("90 minutes", zone="UTC"), "has the unit minute"),
        (lambda: instants.split("1 day", zone=agg.count()), "not the name of a time zone"),
        (lambda: numbers.accumulate("1 day", zone="UTC"), "is for timestamps"),
        (lambda: numbers.accumulate("1 month"), "is for timestamps"),
        (lambda: dates.split("1 month"), "cast\\('timestamp_ntz'\\)"),
        (lambda: dates.accumulate("1 day", zone="Asia/Tokyo"), "cuts local time"),
    ]:
        with pytest.raises(fl.FanlightError, match=words):
            act()
