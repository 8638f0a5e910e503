"""Events that last, and lists of windows, side by side: by counting what each window holds."""

from __future__ import annotations

import random

import pytest

import fanlight as fl
from fanlight import agg
from tests.helpers.dataframes import collected, frame
from tests.helpers.events import MINUTE
from tests.helpers.refusals import refused
from tests.helpers.streams import stream

DRAW = random.Random(11)
STOPS = sorted(DRAW.randrange(120) for _ in range(50))
ROWS = [
    {"case": 0, "k": DRAW.choice(["a", "b", None]), "ts": stop * MINUTE, "n": stop, "seq": seq,
     "began": (stop - DRAW.choice([0, 0, 1, 3, 8, 25])) * MINUTE,
     "v": DRAW.choice([None, 1.0, 2.0, 4.0])}
    for seq, stop in enumerate(STOPS, 1)
]  # fmt: skip
# In order of the stop but for some minutes, which the watermark waits for, as for long events.
ARRIVING = sorted(ROWS, key=lambda row: row["n"] + row["seq"] * 7 % 5)
BATCHES = [part for at in range(0, len(ROWS), 7) for part in (ARRIVING[at : at + 7], [])]
DELAY = "40 minutes"
LEVELS = (4, 2, 0), (9, 3, 0), (18, 6, 0)  # length, slide and offset in minutes
LISTED = (4, 2, 0), (9, 3, 1), (1, 6, 3), (30, 30, 0)  # gaps, and ends that seldom meet


def text(minutes):
    return f"{minutes} minutes"


SPEC = fl.MultiGranular([text(r) for r, *_ in LEVELS], [text(s) for _, s, _ in LEVELS])
LIST = [fl.Sliding(text(r), text(s), offset=text(o)) for r, s, o in LISTED]


def lasts_in(row, start, end):
    """Whether an event shares an instant with a window; one without duration has its instant."""
    began, stop = row["began"] // MINUTE, row["n"]
    return began < end and (stop > start or began == stop >= start)


def lies_in(row, start, end):
    return start <= row["n"] < end


def lies_after(row, start, end):  # closed="right"
    return start < row["n"] <= end


def expected(windows, holds):
    """By key and minute: the counts, then the sums, of the windows that end then."""
    found = {}
    for key in {row["k"] for row in ROWS}:
        mine = [row for row in ROWS if row["k"] == key]
        for at in range(-40, 200):
            told = []
            for n, (length, slide, offset) in enumerate(windows):
                ends = (at - length - offset) % slide == 0
                test = holds[n] if isinstance(holds, list) else holds
                held = [row["v"] for row in mine if ends and test(row, at - length, at)]
                values = [v for v in held if v is not None]
                told.append((len(held) or None, sum(values) if values else None))
            if any(count for count, _ in told):
                found[key, at] = (*(n for n, _ in told), *(s for _, s in told))
    return found


def wide_rows(windows, **more):
    wide = windows.wide(calls=agg.count(), s=agg.sum("v"), **more)
    return wide.selectExpr("*", f"unix_micros(at) div {MINUTE} as minute").drop("at")


def by_key(rows, count):
    names = [f"{name}_{k}" for name in ("calls", "s") for k in range(count)]
    found = {(row["k"], row["minute"]): tuple(row[one] for one in names) for row in rows}
    assert len(found) == len(rows)
    return found


KINDS = {
    "events": (SPEC, ("began", "ts"), LEVELS, lasts_in),
    "a list": (LIST, "ts", LISTED, lies_in),
    "a list of events": (LIST, ("began", "ts"), LISTED, lasts_in),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch(spark, kind):
    spec, time, windows, holds = KINDS[kind]
    given = fl.over(frame(spark, ROWS), spec, time=time, by=["case", "k"])
    wide = given.wide(calls=agg.count(), s=agg.sum("v"))
    places = range(len(windows))
    assert wide.columns == [
        "case", "k", "at", *(f"calls_{k}" for k in places), *(f"s_{k}" for k in places)
    ]  # fmt: skip
    there = by_key(collected(wide_rows(given)), len(windows))
    assert there == expected(windows, holds)
    assert any(row.count(None) < len(row) - 4 for row in there.values())  # of three or more


@pytest.mark.streaming
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("strategy", ["auto", "separate"])
def test_a_stream_gives_what_a_batch_gives(classic, tmp_path, kind, strategy):
    spec, time, windows, holds = KINDS[kind]

    def query(df):
        given = fl.over(df, spec, time=time, by=["case", "k"])
        return wide_rows(given.using(strategy if df.isStreaming else "auto"))

    found = stream(classic, tmp_path, BATCHES, query, delay=DELAY)
    there = expected(windows, holds)
    assert by_key(found, len(windows)) == there
    assert any(at <= 0 for _, at in there) == (time != "ts")  # before 1970, where watermarks begin


def test_ends_that_are_in_windows(classic):
    df = frame(classic, ROWS)
    two = [fl.Sliding("4 minutes", "2 minutes", closed="right"), LIST[1]]
    found = by_key(collected(wide_rows(fl.over(df, two, time="ts", by=["case", "k"]))), 2)
    assert found == expected(LISTED[:2], [lies_after, lies_in])


def test_calendars_rows_and_numbers(classic):
    df = frame(classic, ROWS)
    days = [fl.Calendar("1 day", zone="UTC"), fl.Cumulative("1 day", "1 hour", zone="UTC")]
    wide = fl.over(df, days, time="ts").wide(n=agg.count()).orderBy("at")
    hours = wide.selectExpr(f"unix_micros(at) div {60 * MINUTE} as hour", "n_0", "n_1")
    assert [tuple(row) for row in hours.collect()] == [
        (hour, len(STOPS) if hour == 24 else None, sum(n < 60 * hour for n in STOPS))
        for hour in range(1, 25)
    ]
    numbers = [fl.Sliding(r, s, offset=o) for r, s, o in LISTED[:2]]
    wide = fl.over(df, numbers, time="n", by=["case", "k"]).wide(agg.count().alias("calls"))
    there = {(row.k, row.at): (row.calls_0, row.calls_1) for row in wide.collect()}
    assert there == {at: row[:2] for at, row in expected(LISTED[:2], lies_in).items()}
    rows = [fl.Sliding(fl.Rows(4), fl.Rows(2)), fl.Sliding(fl.Rows(3))]
    counted = fl.over(df, rows, time="ts", tiebreak="seq").wide(n=agg.count()).orderBy("at").take(4)
    assert [(row.at, row.n_0, row.n_1) for row in counted] == [
        (2, 2, None), (3, None, 3), (4, 4, None), (6, 4, 3)
    ]  # fmt: skip


def test_what_cannot_be_side_by_side(classic):
    df = frame(classic, ROWS)
    for time in ("ts", ("began", "ts")):
        one = fl.over(df, fl.Sliding("4 minutes"), time=time)
        refused(lambda one=one: one.wide(agg.count()), "wide of Sliding(", "alone", "MultiGranular")
    rate = classic.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
    rows = fl.over(rate, [fl.Sliding(fl.Rows(4)), fl.Sliding(fl.Rows(3))], time="timestamp")
    refused(lambda: rows.wide(agg.count()), "wide of windows counted in rows in a stream")
    closed = fl.over(
        rate, [fl.Sliding("1 minute", closed="both"), fl.Sliding("1 hour")], time="timestamp"
    )
    refused(lambda: closed.wide(agg.count()), "whose ends are in them", "leave closed out")
    clashing = fl.over(df.withColumnRenamed("k", "n_3"), LIST, time="ts", by="n_3")
    refused(lambda: clashing.wide(n=agg.count()), "wide by 'n_3' clashes")
    further = fl.MultiGranular(
        ["4 minutes", "9 minutes"], ["1 minute"] * 2, report="continuous", horizons=["2 minutes"]
    )
    horizons = fl.over(df, further, time=("began", "ts"))
    refused(lambda: horizons.wide(agg.count()), "wide with horizons")
