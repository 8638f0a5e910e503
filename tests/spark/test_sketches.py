"""Sketches as values: asked by Spark's functions, held against plain Python, and what is refused.

Other tests of aggregates leave them out: the bytes of equal sketches differ.
"""

from __future__ import annotations

import math
from collections import defaultdict

import pytest
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg
from fanlight.engine.spark.fields import check_version
from fanlight.engine.spec.errors import FanlightError
from tests.helpers.aggregates import REGISTRY, is_compared
from tests.helpers.dataframes import SENTINEL, collected, frame
from tests.helpers.events import MINUTE
from tests.helpers.sparks import VERSION
from tests.helpers.streams import ended, stream_of
from tests.law.data import minute

MINUTES = [at for at in range(60) if at % 10 != 8]
ROWS = [
    minute(at, k="xy"[at % 3 == 1], n=(at * 5 % 11, None)[at % 7 == 3], s="abcde"[at * 3 % 5],
           v=(at * 7 % 13 / 2, None, math.nan)[(at % 9 == 4) + (at % 9 == 5) * 2], seq=at,
           began=minute(at - 2)["ts"])
    for at in MINUTES
]  # fmt: skip
FIVE = fl.Sliding("5 minutes", "1 minute")
LEVELS = fl.MultiGranular(["5 minutes", "10 minutes"], ["5 minutes", "10 minutes"])
HLL = {"words": agg.hll_sketch_agg("s"), "some": agg.hll_sketch_agg("n", 9).where("n > 3")}
ALL = HLL | {
    "thetas": agg.theta_sketch_agg("v", log_size=10),
    "whole": agg.kll_sketch_agg_bigint("n"),
    "real": agg.kll_sketch_agg_double("v", size=100),
    "short": agg.kll_sketch_agg_float("f"),
}
ASKED = ALL if VERSION >= (4, 1) else HLL  # the first Spark with theta and KLL sketches
READ = {
    "words": "hll_sketch_estimate(words)",
    "some": "hll_sketch_estimate(some)",
    "thetas": "theta_sketch_estimate(thetas)",
    "whole": "if(kll_sketch_get_n_bigint(whole) = 0, null, kll_sketch_get_quantile_bigint(whole, "
    "0.5D))",
    "real": "kll_sketch_get_n_double(real)",
    "short": "kll_sketch_get_n_float(short)",
}
needs_kll = pytest.mark.skipif(VERSION < (4, 1), reason="Spark has these sketches since 4.1")


def with_floats(df):
    return df.selectExpr("*", "cast(v as float) as f")


def read_sketches(df, *kept):
    """What sketches tell, by window and key."""
    read = [f"cast({READ[name]} as bigint) as {name}" for name in ASKED]
    found = {}
    for row in collected(df.selectExpr(*(kept or ("window", "k")), *read)):
        window = row.pop("window")
        key = (window["start"], window["end"]), row.pop("k")
        assert key not in found
        found[key] = row
    return found


def expected(rows):
    """The same of rows, from their definition: exact, as long as values are few."""
    whole = sorted(row["n"] for row in rows if row["n"] is not None)
    real = [row["v"] for row in rows if row["v"] is not None]
    numbers = [value for value in real if not math.isnan(value)]
    every = {
        "words": len({row["s"] for row in rows}),
        "some": len({value for value in whole if value > 3}),
        "thetas": len(set(numbers)) + (len(numbers) < len(real)),
        "whole": whole[math.ceil(len(whole) / 2) - 1] if whole else None,
        "real": len(numbers),
        "short": len(numbers),
    }
    return {name: every[name] for name in ASKED}


def placed(rows, length, slide, *, lasting=False):
    """What each window of minutes that begins at a multiple of ``slide`` holds, by key."""
    inside = defaultdict(list)
    for row in rows:
        at, began = row["ts"] // MINUTE, row["began"] // MINUTE if lasting else row["ts"] // MINUTE
        for start in range((began - length) // slide * slide, at + slide, slide):
            overlaps = start < at and began < start + length if lasting else None
            if overlaps or (not lasting and start <= at < start + length):
                inside[(start * MINUTE, (start + length) * MINUTE), row["k"]].append(row)
    return {key: expected(held) for key, held in inside.items()}


@pytest.fixture
def df(classic):
    return with_floats(frame(classic, ROWS))


@pytest.mark.parametrize("strategy", ["auto", "panes", "pairs", "expand"])
def test_of_windows(df, strategy):
    windows = fl.over(df, FIVE, time="ts", by="k").using(strategy)
    assert read_sketches(windows.agg(**ASKED)) == placed(ROWS, 5, 1)


def test_of_levels(df):
    found = read_sketches(fl.over(df, LEVELS, time="ts", by="k").agg(**ASKED))
    assert found == placed(ROWS, 5, 5) | placed(ROWS, 10, 10)


def test_of_events_that_last(df):
    windows = fl.over(df, fl.Sliding("5 minutes", "5 minutes"), time=("began", "ts"), by="k")
    assert read_sketches(windows.agg(**ASKED)) == placed(ROWS, 5, 5, lasting=True)


def test_of_frames(df):
    frames = fl.over(df, fl.Session("90 seconds"), time="ts").agg(**ASKED)
    found = read_sketches(frames.orderBy("window"), "window", "'' as k")
    parts = defaultdict(list)
    for at, row in zip(MINUTES, ROWS, strict=True):
        parts[(at + 1) // 10].append(row)
    assert [found[key] for key in sorted(found)] == [expected(rows) for rows in parts.values()]


def test_of_a_stream(classic, tmp_path):
    batches = [*(ROWS[at : at + 18] for at in (0, 18, 36)), [SENTINEL]]
    rows = with_floats(stream_of(classic, tmp_path, batches, "1 minute"))
    result = fl.over(rows, FIVE, time="ts", by="k").agg(**ASKED)
    assert read_sketches(ended(result, tmp_path).where("k != '~'")) == placed(ROWS[:54], 5, 1)


def test_of_stored_pieces(classic, df, tmp_path):
    windows = fl.over(df, fl.Sliding("1 minute"), time="ts", by="k")
    windows.pieces(**ASKED).write.parquet(str(tmp_path / "pieces"))
    stored = classic.read.parquet(str(tmp_path / "pieces"))
    assert read_sketches(fl.roll_up(stored, FIVE)) == placed(ROWS, 5, 1)


def test_in_sql_distinct_makes_no_difference_or_is_refused(df):
    text = """SELECT *, hll_sketch_agg(s) AS words, hll_sketch_agg(DISTINCT n, 9) FILTER
        (WHERE n > 3) AS some FROM df [WATTR ts PARTITION BY k RANGE 5 MINUTES SLIDE 1 MINUTE]"""
    read = [f"{READ[name]} as {name}" for name in HLL]
    own = fl.over(df, FIVE, time="ts", by="k").agg(**HLL).selectExpr("k", "window", *read)
    assert sorted(fl.sql(text, df=df).selectExpr("k", "window", *read).collect()) == sorted(
        own.collect()
    )
    with pytest.raises(FanlightError, match="has no form with DISTINCT; leave DISTINCT out"):
        fl.sql("SELECT kll_sketch_agg_bigint(DISTINCT n) FROM df [WATTR ts RANGE 1 HOUR]", df=df)


def test_spark_s_own_column_is_read_and_keeps_its_name(df):
    columns = [F.hll_sketch_agg("s"), F.hll_sketch_agg("n", 9)]
    if VERSION >= (4, 1):
        columns += [F.theta_sketch_agg("v"), F.kll_sketch_agg_bigint("n"),
                    F.kll_sketch_agg_double("v", 99)]  # fmt: skip
    found = fl.over(df, FIVE, time="ts").agg(*columns)
    assert found.columns == ["window", *df.agg(*columns).columns]


def test_a_sketch_of_many_values_is_near_and_can_be_united_with_spark_s(classic):
    rows = classic.range(40_000).selectExpr("timestamp_seconds(id div 10) as ts", "id % 9000 as x")
    kept = fl.over(rows, fl.Sliding("10 minutes"), time="ts").agg(h=agg.hll_sketch_agg("x"))
    theirs = rows.selectExpr("hll_sketch_agg(x) as h", "count(distinct x) as n")
    ours = kept.selectExpr("hll_union_agg(h) as ours").crossJoin(theirs)
    found = ours.selectExpr(
        "hll_sketch_estimate(ours) as ours", "hll_sketch_estimate(hll_union(ours, h)) as both", "n"
    ).first()
    for about in (found.ours, found.both):  # 1.04 / sqrt(2**12) is 1.6 %
        assert found.n == 9000
        assert about == pytest.approx(found.n, rel=0.08)


@needs_kll
def test_theta_and_kll_sketches_can_be_united_with_spark_s(classic):
    rows = classic.range(6000).selectExpr("timestamp_seconds(id) as ts", "id as x")
    kept = fl.over(rows, fl.Sliding("10 minutes"), time="ts").agg(
        t=agg.theta_sketch_agg("x", 14), q=agg.kll_sketch_agg_bigint("x")
    )
    ours = kept.selectExpr("theta_union_agg(t, 14) as t", "kll_merge_agg_bigint(q) as q")
    theirs = rows.where("x < 3000").selectExpr(
        "theta_sketch_agg(x, 14) as t2", "kll_sketch_agg_bigint(x) as q2"
    )
    found = ours.crossJoin(theirs).selectExpr(
        "theta_sketch_estimate(theta_union(t, t2, 14)) as united",
        "theta_sketch_estimate(theta_intersection(t, t2)) as shared",
        "kll_sketch_get_n_bigint(kll_sketch_merge_bigint(q, q2)) as n",
        "kll_sketch_get_quantile_bigint(q, 0.5D) as middle",
    ).first()  # fmt: skip
    assert (found.united, found.shared, found.n) == (6000, 3000, 9000)
    assert found.middle == pytest.approx(3000, abs=300)


def test_where_there_is_no_value_it_is_empty(df):
    nothing = df.selectExpr("ts", "k", "cast(null as string) as s")
    kept = fl.over(nothing, fl.Sliding("1 hour"), time="ts").agg(h=agg.hll_sketch_agg("s"))
    assert kept.selectExpr("hll_sketch_estimate(h) as n").first().n == 0


def opened(df, spec, **more):
    return fl.over(df, spec, time="ts", by="k", **more)


# What makes its windows row by row or in an operator, in a batch and in a stream.
BATCH = {
    "rows": lambda df, one: opened(df, fl.Sliding(fl.Rows(3))).agg(one),
    "range by rows": lambda df, one: opened(df, fl.Sliding("5 minutes", fl.Rows(2))).agg(one),
    "trailing": lambda df, one: opened(df, fl.Trailing("5 minutes")).attach(one),
    "spine": lambda df, one: opened(df, fl.Trailing("5 minutes"))
    .at(df.selectExpr("k", "ts as at"), time="at")
    .attach(one),
    "so far": lambda df, one: opened(df, fl.Session("1 minute")).accumulate("1 minute", one),
}  # fmt: skip
STREAM = {
    "frames": lambda df, one: opened(df, fl.ThresholdFrame("v > 1")).agg(one),
    "sessions": lambda df, one: opened(df, fl.Session("1 minute")).agg(one),
    "early": lambda df, one: opened(df, FIVE).early().agg(one),
    "chain": lambda df, one: opened(df, LEVELS).using("chain").agg(one),
    "snapshots": lambda df, one: fl.over(df, fl.Snapshot(), time=("began", "ts"), by="k").agg(one),
}
SAYS = "keeps a sketch, which only Spark's own grouping adds to, .*; ask it of windows that time "


@pytest.mark.parametrize("about", BATCH)
@pytest.mark.parametrize("name", ASKED)
def test_what_takes_rows_one_by_one_refuses_it(df, about, name):
    with pytest.raises(FanlightError, match=SAYS):
        BATCH[about](df, ASKED[name])


@pytest.mark.parametrize("about", STREAM)
def test_a_stream_that_takes_rows_one_by_one_refuses_it(classic, tmp_path, about):
    rows = stream_of(classic, tmp_path, [ROWS[:1]], "1 minute")
    with pytest.raises(FanlightError, match=SAYS):
        STREAM[about](rows, HLL["words"])


def test_pieces_that_are_given_early_refuse_it(classic, tmp_path):
    rows = stream_of(classic, tmp_path, [ROWS[:1]], "1 minute")
    with pytest.raises(FanlightError, match="keeps a sketch, which an operator"):
        opened(rows, fl.Sliding("1 minute")).early().pieces(HLL["words"])


def test_within_an_expression_it_is_refused(df):
    both = agg.approx_count_distinct("s") + agg.hll_sketch_agg("s")
    with pytest.raises(FanlightError, match=SAYS):
        BATCH["rows"](df, both)


def test_a_server_and_rows_that_look_back_refuse_it(df):
    pieces = opened(df, fl.Sliding("1 minute")).pieces(**HLL)
    with pytest.raises(FanlightError, match="'words' has partials of hll_sketch_agg"):
        fl.serve(pieces, fl.Trailing("5 minutes"))
    with pytest.raises(FanlightError, match="'words' has sketches"):
        fl.roll_up(pieces, fl.Trailing("5 minutes"), spine=df.select("k", "ts"), time="ts")


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (agg.hll_sketch_agg("v"), "'v' is of type double, but hll_sketch_agg needs an int, a big"),
        (agg.hll_sketch_agg("short"), "'short' is of type smallint, but hll_sketch_agg needs"),
        (agg.theta_sketch_agg("d"), r"'d' is of type decimal\(12,2\), but theta_sketch_agg needs"),
        (agg.theta_sketch_agg("list"), "'list' is of type array<string>, but theta_sketch_agg"),
        (agg.kll_sketch_agg_bigint("v"), "'v' is of type double, but .* needs a whole number"),
        (agg.kll_sketch_agg_double("n"), "'n' is of type bigint, but .* needs a float or a double"),
        (agg.kll_sketch_agg_float("v"), "'v' is of type double, but .* needs a float"),
    ],
)
def test_a_type_that_spark_s_sketch_does_not_take_is_refused(df, call, why):
    rows = df.selectExpr("*", "cast(n as smallint) as short", "array(s) as list")
    with pytest.raises(FanlightError, match=why):
        opened(rows, FIVE).agg(call)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: agg.hll_sketch_agg("x", 3), r"log_size=3\) is not a whole number from 4 to 21"),
        (lambda: agg.theta_sketch_agg("x", 27), "from 4 to 26"),
        (lambda: agg.kll_sketch_agg_float("x", 7), "from 8 to 65535"),
        (lambda: agg.hll_sketch_agg("x", log_size=True), "is not a whole number"),
        (lambda: agg.hll_sketch_agg("x", distinct=True), "distinct"),
    ],
)
def test_a_size_that_spark_does_not_take_is_refused(make, why):
    with pytest.raises(FanlightError, match=why):
        make()


def test_a_spark_that_lacks_it_is_named():
    for name, entry in REGISTRY.items():
        for one in entry.samples:
            if not is_compared(one):
                (monoid,) = entry.monoids(one)
                if name == "hll_sketch_agg":
                    check_version("3.5.1", monoid, name)
                    continue
                with pytest.raises(FanlightError, match=r"needs Spark 4\.1 or newer, .* 4\.0\.1"):
                    check_version("4.0.1", monoid, name)
