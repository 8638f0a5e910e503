"""Levels side by side: a row for a key and an instant, by counting the rows before it."""

from __future__ import annotations

import random

import pytest

import fanlight as fl
from fanlight import agg
from tests.helpers.dataframes import collected, frame
from tests.helpers.events import MINUTE
from tests.helpers.refusals import refused
from tests.helpers.sparks import DEFAULT, PROVIDER, ROCKSDB, configured
from tests.helpers.streams import stream

RANGES, SLIDES = (4, 9, 18), (2, 3, 6)  # in minutes; slides that do not divide one another
SPEC = fl.MultiGranular([f"{n} minutes" for n in RANGES], [f"{n} minutes" for n in SLIDES])
DRAW = random.Random(7)
MINUTES = sorted(DRAW.randrange(100) for _ in range(60))
ROWS = [
    {"case": 0, "k": DRAW.choice(["a", "b", None]), "ts": minute * MINUTE + 1,
     "v": DRAW.choice([None, 1.0, 2.0, 4.0]), "n": minute, "seq": seq}
    for seq, minute in enumerate(MINUTES)
]  # fmt: skip
# In order but for some minutes, which the watermark of five minutes waits for.
ARRIVING = sorted(ROWS, key=lambda row: row["n"] + row["seq"] * 7 % 5)


def expected(rows=ROWS, ranges=RANGES, slides=SLIDES, begun=None):
    """By key and minute: the count and the sum of each level's last minutes, if it ends there."""
    found = {}
    for key in {row["k"] for row in rows}:
        mine = [row for row in rows if row["k"] == key and (begun is None or row["n"] >= begun)]
        for at in range(200):
            told = []
            for length, step in zip(ranges, slides, strict=True):
                held = [row["v"] for row in mine if at - length <= row["n"] < at]
                if at % step or not held:
                    told.append((None, None))
                else:
                    values = [v for v in held if v is not None]
                    told.append((len(held), sum(values) if values else None))
            if any(count is not None for count, _ in told):
                found[key, at] = (*(n for n, _ in told), *(s for _, s in told))
    return found


def wide_rows(windows, **more):
    wide = windows.wide(calls=agg.count(), s=agg.sum("v"), **more)
    return wide.selectExpr("*", f"unix_micros(at) div {MINUTE} as minute").drop("at")


def by_key(rows):
    names = [f"{name}_{k}" for name in ("calls", "s") for k in range(3)]
    found = {(row["k"], row["minute"]): tuple(row[one] for one in names) for row in rows}
    assert len(found) == len(rows)
    return found


def test_a_batch(spark):
    windows = fl.over(frame(spark, ROWS), SPEC, time="ts", by=["case", "k"])
    wide = windows.wide(calls=agg.count(), s=agg.sum("v"))
    assert wide.columns == [
        "case", "k", "at", "calls_0", "calls_1", "calls_2", "s_0", "s_1", "s_2"
    ]  # fmt: skip
    there = by_key(collected(wide_rows(windows)))
    assert there == expected()
    assert any(None not in row for row in there.values())


@pytest.mark.streaming
@pytest.mark.parametrize("every", [7, 1, 60])
def test_a_stream_gives_what_a_batch_gives(spark, tmp_path, every):
    """Each row once, with all its levels; on Spark's own state store."""
    batches = [ARRIVING[at : at + every] for at in range(0, len(ARRIVING), every)]
    batches = [part for some in batches for part in (some, [])]  # the watermark goes on, alone

    def query(df):
        return wide_rows(fl.over(df, SPEC, time="ts", by=["case", "k"]))

    with configured(spark, PROVIDER, DEFAULT):
        assert by_key(stream(spark, tmp_path, batches, query, delay="5 minutes")) == expected()


@pytest.mark.streaming
@pytest.mark.parametrize("how", ["chain", "separate", "open", "continuous", "changes"])
def test_whatever_makes_the_levels_of_a_stream(classic, tmp_path, how):
    """Windows that end at an instant leave each operator in one micro-batch, or are still right."""
    spec, more = SPEC, {}
    lengths = [f"{n} minutes" for n in RANGES], [f"{n} minutes" for n in SLIDES]
    if how == "open":
        more = {"late": "open"}
    elif how in ("continuous", "changes"):
        given = {"report": "continuous"} if how == "continuous" else {"changes_only": True}
        spec = fl.MultiGranular(*lengths, **given)
    batches = [ARRIVING[at : at + 7] for at in range(0, len(ARRIVING), 7)]
    strategy = how if how in ("chain", "separate") else "auto"

    def query(df):
        windows = fl.over(df, spec, time="ts", by=["case", "k"], **(more if df.isStreaming else {}))
        return wide_rows(windows.using(strategy if df.isStreaming else "auto"))

    with configured(classic, PROVIDER, ROCKSDB if how == "chain" else DEFAULT):
        found = by_key(stream(classic, tmp_path, batches, query, delay="5 minutes"))
    if how in ("continuous", "changes"):
        assert found == by_key(collected(query(frame(classic, ROWS))))
    else:
        assert found == expected()


@pytest.mark.streaming
def test_late_rows_come_beside_it(classic, tmp_path):
    late = {"case": 0, "k": "a", "ts": 5, "v": 1.0, "n": 0, "seq": 99}

    def query(df):
        windows = fl.over(df, SPEC, time="ts", by=["case", "k"], late="collect")
        return wide_rows(windows).selectExpr("* except (late)", "late.row.seq as missed")

    found = stream(classic, tmp_path, [ARRIVING, [], [late]], query, delay="5 minutes")
    assert [row["missed"] for row in found if row["minute"] is None] == [99]
    assert by_key([row for row in found if row["minute"] is not None]) == expected()


def test_options_of_agg_keys_of_any_name_and_numbers(classic):
    df = frame(classic, ROWS)
    windows = fl.over(df, SPEC, time="ts", by=["case", "k"])
    there = expected()
    zero = by_key(collected(wide_rows(windows.with_empty("zero"))))
    full = {key: row[:3] for key, row in zero.items() if any(row[:3])}
    assert full.keys() == there.keys()
    for key, counts in full.items():
        assert [count or None for count in counts] == list(there[key][:3])
    assert any(0 in counts for counts in full.values())
    whole = by_key(
        collected(wide_rows(windows.complete_only("1970-01-01T00:30:00Z", side="start")))
    )
    assert whole == {
        key: row for key, row in (
            (key, tuple(
                None if key[1] - RANGES[n % 3] < 30 else value for n, value in enumerate(row)
            )) for key, row in there.items()
        ) if any(value is not None for value in row[:3])
    }  # fmt: skip
    odd = df.withColumnRenamed("k", "a.`b")
    spec = fl.MultiGranular(list(RANGES), list(SLIDES))
    wide = fl.over(odd, spec, time="n", by="`a.``b`").wide(**{"x y": agg.count()})
    assert wide.columns == ["a.`b", "at", "x y_0", "x y_1", "x y_2"]
    told = {(row[0], row[1]): tuple(row[2:]) for row in wide.collect()}
    assert told == {key: row[:3] for key, row in there.items()}
    rows = fl.MultiGranular([fl.Rows(4), fl.Rows(9)], [fl.Rows(2), fl.Rows(3)])
    counted = fl.over(df, rows, time="ts").wide(n=agg.count()).orderBy("at").collect()
    assert [(row.at, row.n_0, row.n_1) for row in counted[:4]] == [
        (2, 2, None), (3, None, 3), (4, 4, None), (6, 4, 6)
    ]  # fmt: skip


def test_what_cannot_be_side_by_side(classic):
    df = frame(classic, ROWS)
    windows = fl.over(df, SPEC, time="ts", by="k")
    refused(windows.wide, "aggregate")
    refused(lambda: windows.wide(k=agg.max("no")), "'no'")
    clashing = fl.over(df.withColumnRenamed("k", "at"), SPEC, time="ts", by="at")
    refused(lambda: clashing.wide(agg.count()), "wide by 'at' clashes", "rename it first")
    clashing = fl.over(df.withColumnRenamed("k", "n_1"), SPEC, time="ts", by="n_1")
    refused(lambda: clashing.wide(n=agg.count()), "wide by 'n_1' clashes")
    further = fl.MultiGranular(
        ["4 minutes", "9 minutes"], ["1 minute"] * 2, report="continuous", horizons=["2 minutes"]
    )
    refused(lambda: fl.over(df, further, time="ts").wide(agg.count()), "wide with horizons")
    rate = classic.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
    rows = fl.MultiGranular([fl.Rows(4), fl.Rows(9)], [fl.Rows(2), fl.Rows(3)])
    counted = fl.over(rate, rows, time="timestamp")
    refused(lambda: counted.wide(agg.count()), "levels counted in rows in a stream")
    text = rate.selectExpr("timestamp", "collate('a', 'UTF8_LCASE') as k")
    of_text = fl.over(text, SPEC, time="timestamp", by="k")
    refused(lambda: of_text.wide(agg.count()), "strings with a collation", "lower(")
