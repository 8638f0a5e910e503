"""reference == batch == stream, classic == Connect, for progressively widened windows."""

from __future__ import annotations

import json
import uuid
from collections import Counter

import pytest
from hypothesis import strategies as st

import fanlight as fl
from fanlight.reference.widening import detected
from tests.dataframes import SENTINEL, collected, frame, readable, source, stream, write_batch
from tests.events import KEYS, SPRING, examples, splits
from tests.widened import by_span, by_value, every_row, oracle, pair_of_rows, same_row

pytestmark = [pytest.mark.streaming, pytest.mark.slow]

TODAY = 1_700_000_000_000_000
SECOND = 1_000_000
DELAY = "20 seconds"
PLACE = {"time": "ts", "by": ["case", "k"], "tiebreak": ["seq"]}
DOUBLING = fl.ProgressiveWidening("1 second", longest="20 seconds", max_rows=3)
SPECS = (
    DOUBLING,
    fl.ProgressiveWidening("2 seconds", longest="1 minute", max_rows=2, factor=3),
    fl.ProgressiveWidening(
        ["1 second", "4 seconds", "40 seconds"], longest="40 seconds", max_rows=4
    ),
)
STEPS = (0, 0, 1, 400_000, SECOND, SECOND, 3 * SECOND, 11 * SECOND, 100 * SECOND)


@st.composite
def case(draw, origin):
    """Rows of some keys in bursts; ties in time are broken by ``seq``."""
    rows, at = [], origin
    keys = draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=3, unique=True))
    for n, step in enumerate(draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=30))):
        at += step
        rows.append({"k": draw(st.sampled_from(keys)), "ts": at, "n": n, "seq": -n})
    return rows


def packed(count, origin):
    cases = examples(case(origin), count)
    return [{"case": number, **row} for number, rows in enumerate(cases) for row in rows]


def on_n(window):
    return oracle(window, "n")


def values_of(spec):
    return lambda df: fl.over(df, spec, **PLACE).detect(by_value, "what bigint")


def spans_of(spec):
    schema = "what bigint, began timestamp, ended timestamp"
    return lambda df: (
        fl.over(df, spec, **PLACE)
        .detect(by_span, schema, span=("began", "ended"), columns=["ts", "n"])
        .drop("began", "ended")
    )


def micros(time):
    return time if isinstance(time, int) else round(time.timestamp() * 1_000_000)


def counted(rows):
    return Counter(
        (row["case"], row["k"], row["level"], json.dumps(row["window"]), row["what"])
        for row in rows
    )


def found_at_ends(rows):
    return all(micros(row["found_at"]) == row["window"]["end"] for row in rows)


def expected(rows, spec):
    found = detected(rows, spec, on_n, **PLACE)
    return counted([{**row, "what": row["match"]} for row in found])


@pytest.mark.parametrize("spec", SPECS, ids=repr)
@pytest.mark.parametrize("origin", [TODAY, -5 * SECOND, SPRING], ids=["today", "1970", "spring"])
def test_batch_is_the_reference(spark, spec, origin):
    rows = packed(12, origin)
    df = frame(spark, rows)
    wanted = expected(rows, spec)
    assert len(wanted) > 20
    for query in (values_of(spec), spans_of(spec)):
        got = collected(query(df))
        assert counted(got) == wanted
        assert found_at_ends(got)


def test_the_number_of_partitions_does_not_show(classic):
    rows = packed(12, TODAY)
    before = classic.conf.get("spark.sql.shuffle.partitions")
    classic.conf.set("spark.sql.shuffle.partitions", "7")
    try:
        got = collected(values_of(DOUBLING)(frame(classic, rows).repartition(5)))
    finally:
        classic.conf.set("spark.sql.shuffle.partitions", before)
    assert counted(got) == expected(rows, DOUBLING)


@pytest.mark.parametrize(
    ("spec", "which"), [(SPECS[0], 0), (SPECS[0], 4), (SPECS[1], 3), (SPECS[2], 2)]
)
def test_a_stream_is_the_reference(classic, tmp_path, spec, which):
    rows = packed(8, TODAY)
    batches = examples(splits(rows, 20 * SECOND), which + 1)[which]
    got = stream(classic, tmp_path, batches, values_of(spec), delay=DELAY)
    assert counted(got) == expected(rows, spec)
    assert found_at_ends(got)


def test_a_stream_by_span(classic, tmp_path):
    rows = packed(8, TODAY)
    batches = examples(splits(rows, 20 * SECOND), 6)[5]
    got = stream(classic, tmp_path, batches, spans_of(DOUBLING), delay=DELAY)
    assert counted(got) == expected(rows, DOUBLING)


@pytest.mark.connect
def test_a_stream_over_connect(sessions, tmp_path):
    rows = packed(6, TODAY)
    batches = examples(splits(rows, 20 * SECOND), 2)[1]
    got = stream(sessions["connect"], tmp_path, batches, values_of(DOUBLING), delay=DELAY)
    assert counted(got) == expected(rows, DOUBLING)


def test_a_stream_that_is_started_again_goes_on(classic, tmp_path):
    """Each start has other files: what lies between is in the state alone."""
    rows = packed(8, TODAY)
    batches = [batch for batch in examples(splits(rows, 20 * SECOND), 9)[8] if batch]
    (tmp_path / "in").mkdir()
    got = []
    for number, batch in enumerate([*batches, [SENTINEL]]):
        write_batch(tmp_path / "in", number, batch)
        result = readable(values_of(DOUBLING)(source(classic, tmp_path / "in", DELAY)))
        name = f"t{uuid.uuid4().hex}"
        writer = result.writeStream.format("parquet").outputMode("append")
        writer = writer.option("checkpointLocation", str(tmp_path / "state"))
        writer = writer.option("path", str(tmp_path / "out"))
        query = writer.queryName(name).trigger(availableNow=True).start()
        query.awaitTermination()
    assert len(batches) > 1
    got = collected(classic.read.parquet(str(tmp_path / "out")))
    kept = [row for row in got if row["case"] != SENTINEL["case"]]
    assert counted(kept) == expected(rows, DOUBLING)


def test_late_rows_are_dropped_and_a_long_silence_is_bridged(classic, tmp_path):
    def row(second, n, **more):
        return {"case": 0, "k": "a", "ts": TODAY + second * SECOND, "seq": n, "n": n, **more}

    # Spark, too, asks of a row whether it is behind the watermark of the batch before.
    batches = [
        [row(0, 5), row(1, 10), row(2, 15)],
        [row(500, 20)],
        [row(500, 25)],
        [row(0, 1000), row(501, 30), row(-50, 1000)],
        [row(502, 35), row(1, 1000), row(497, 40), {**row(0, 1000), "ts": None}],
    ]
    got = stream(classic, tmp_path, batches, values_of(DOUBLING), delay=DELAY)
    kept = [one for batch in batches for one in batch if one["n"] < 1000]
    assert counted(got) == expected(kept, DOUBLING)
    assert len(got) > 10


EPISODE = fl.Episode("a n=x; b | c", event="s")


def test_an_episode_in_batch_and_stream(sessions, tmp_path):
    rows = [{**row, "s": "abcb"[row["n"] * 7 % 4], "v": 0.0} for row in packed(25, TODAY)]
    spec = fl.ProgressiveWidening("1 second", longest="20 seconds", max_rows=6)

    def query(df):
        return fl.over(df, spec, **PLACE).detect(EPISODE).drop("started", "ended")

    def plainly(found):
        return Counter(json.dumps(row, default=str) for row in found)

    batch = collected(query(frame(sessions["classic"], rows)))
    assert len(batch) > 10
    assert all(2 < row["rows"] <= 6 for row in batch)
    assert found_at_ends(batch)
    assert plainly(collected(query(frame(sessions["connect"], rows)))) == plainly(batch)
    batches = examples(splits(rows, 20 * SECOND), 3)[2]
    assert plainly(stream(sessions["classic"], tmp_path, batches, query, delay=DELAY)) == plainly(
        batch
    )


def test_whole_numbers_as_times(classic):
    rows = [{**row, "i": row["n"] * 3} for row in packed(6, TODAY)]
    spec = fl.ProgressiveWidening(2, longest=30, max_rows=3)
    place = {**PLACE, "time": "i"}
    got = collected(fl.over(frame(classic, rows), spec, **place).detect(by_value, "what bigint"))
    found = detected(rows, spec, on_n, **place)
    assert counted(got) == counted([{**row, "what": row["match"]} for row in found])
    assert all(row["found_at"] == row["window"]["end"] for row in got)


def test_no_key_no_rows_and_rows_without_a_time(classic):
    rows = [{"case": 0, "k": "a", "ts": TODAY + n * SECOND, "n": 5 * n} for n in range(4)]
    lost = {**rows[0], "ts": None, "n": 0}
    df = frame(classic, [*rows, lost])

    windowed = fl.over(df, DOUBLING, time="ts")
    got = windowed.detect(every_row, "n bigint")
    assert got.columns == ["window", "level", "found_at", "n"]
    assert sorted(row["n"] for row in got.collect()) == [0, 5, 10, 15]
    assert [row["n"] for row in fl.rejected(df, DOUBLING, time="ts").collect()] == [0]
    none = fl.over(df.filter("false"), DOUBLING, time="ts").detect(every_row, "n bigint")
    assert none.count() == 0


def test_keys_that_are_doubles_and_keys_that_are_computed(spark):
    values = (0.0, -0.0, float("nan"), float("nan"), None, None, 1.0, 2.0)
    rows = [{"ts": TODAY + n, "n": 5 * n + 1, "seq": n, "x": x} for n, x in enumerate(values)]
    df = frame(spark, rows)

    def reported(by):
        return fl.over(df, DOUBLING, time="ts", by=by).detect(pair_of_rows, "n bigint").collect()

    assert sorted(row["n"] for row in reported("x")) == [1, 11, 21]
    computed = reported((df["n"] % 10).alias("rest"))
    assert sorted({row["rest"] for row in computed}) == [1, 6]
    assert len(computed) == 6


TYPES = """
    timestamp'2024-03-10 03:30:00' as ts, timestamp_ntz'2024-03-10 02:30:00' as wall,
    date'1969-12-31' as day, interval '1' day as apart, cast(1.5 as decimal(9, 2)) as price,
    binary('x') as raw, true as yes, cast(null as void) is null as empty, 2.5D as real,
    named_struct('at', timestamp'1965-01-01 00:00:00', 'days', array(date'2000-02-29')) as deep
"""


def test_types_come_through_python_as_they_are(spark):
    df = spark.sql(f"select {TYPES}")
    schema = ", ".join(f"{name}2 {kind}" for name, kind in df.dtypes)

    spec = fl.ProgressiveWidening("1 hour", longest="2 hours", max_rows=1)
    found = fl.over(df, spec, time="ts", by=["day", "deep"]).detect(same_row, schema)
    wrong = " or ".join(f"not ({name} <=> {name}2)" for name in df.columns)
    both = found.join(df.drop("day", "deep"))
    assert both.count() == 1
    assert both.filter(wrong).count() == 0
    assert dict(found.dtypes)["deep"] == dict(df.dtypes)["deep"]
