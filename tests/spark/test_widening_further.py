"""Episodes, keys and types through progressively widened windows."""

from __future__ import annotations

import json
from collections import Counter

import fanlight as fl
from tests.helpers.dataframes import collected, frame
from tests.helpers.events import examples, splits
from tests.helpers.streams import stream
from tests.helpers.widened import every_row, pair_of_rows, same_row
from tests.law.data import TODAY
from tests.law.kinds.widening import DELAY, DOUBLING, SECOND, bursts

PLACE = {"time": "ts", "by": ["case", "k"], "tiebreak": ["seq"]}


def micros(time):
    return time if isinstance(time, int) else round(time.timestamp() * 1_000_000)


EPISODE = fl.Episode("a n=x; b | c", event="s")


def test_an_episode_in_batch_and_stream(sessions, tmp_path):
    rows = [{**row, "s": "abcb"[row["n"] * 7 % 4], "v": 0.0} for row in bursts(25).rows]
    spec = fl.ProgressiveWidening("1 second", max_duration="20 seconds", max_rows=6)

    def query(df):
        return fl.over(df, spec, **PLACE).detect(EPISODE).drop("started", "ended")

    def plainly(found):
        return Counter(json.dumps(row, default=str) for row in found)

    batch = collected(query(frame(sessions["classic"], rows)))
    assert len(batch) > 10
    assert all(2 < row["rows"] <= 6 for row in batch)
    assert all(micros(row["found_at"]) == row["window"]["end"] for row in batch)
    assert plainly(collected(query(frame(sessions["connect"], rows)))) == plainly(batch)
    batches = examples(splits(rows, 20 * SECOND), 3)[2]
    assert plainly(stream(sessions["classic"], tmp_path, batches, query, delay=DELAY)) == plainly(
        batch
    )


def test_no_key_no_rows_and_rows_without_a_time(classic):
    rows = [{"case": 0, "k": "a", "ts": TODAY + n * SECOND, "n": 5 * n} for n in range(4)]
    lost = {**rows[0], "ts": None, "n": 0}
    df = frame(classic, [*rows, lost])

    windowed = fl.over(df, DOUBLING, time="ts")
    got = windowed.detect(every_row, "n bigint")
    assert got.columns == ["window", "level", "found_at", "n"]
    assert sorted(row["n"] for row in got.collect()) == [0, 5, 10, 15]
    assert [row["n"] for row in fl.over(df, DOUBLING, time="ts").rejected().collect()] == [0]
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

    spec = fl.ProgressiveWidening("1 hour", max_duration="2 hours", max_rows=1)
    found = fl.over(df, spec, time="ts", by=["day", "deep"]).detect(same_row, schema)
    wrong = " or ".join(f"not ({name} <=> {name}2)" for name in df.columns)
    both = found.join(df.drop("day", "deep"))
    assert both.count() == 1
    assert both.filter(wrong).count() == 0
    assert dict(found.dtypes)["deep"] == dict(df.dtypes)["deep"]
