"""Each query that the documentation shows gives what the same query by the API gives."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import fanlight as fl
from fanlight import agg, algebra
from fanlight.engine.spark.sql import expr as expression
from tests.helpers.dataframes import all_of
from tests.helpers.streams import ended, stream_of

PAGE = (Path(__file__).resolve().parents[2] / "docs/sql.md").read_text("utf-8")
SHOWN = re.findall(r"^```sql\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
CALLS = """
    SELECT timestamp_seconds(1700000000 + id * 7) AS ts,
           timestamp_seconds(1700000000 + id * 7 + id % 60) AS stop,
           concat('antenna ', id % 2) AS antenna,
           concat('phone ', id * id % 11) AS phone,
           elt(1 + id * id % 7 % 3, 'answered', 'busy', 'dropped') AS outcome,
           id % 60 AS seconds,
           sin(id / 50) AS signal
    FROM range(800)
"""
LEVELS = fl.MultiGranular(["5 minutes", "1 hour"], ["1 minute", "5 minutes"])
WIDENING = fl.ProgressiveWidening("1 minute", max_duration="1 hour", max_rows=50)
PAIR = fl.Episode("busy phone=p; answered phone=p", event="outcome")


def by(df, *keys):
    return lambda spec, **more: fl.over(df, spec, time="ts", by=list(keys), **more)


# What each query of the page is by the API, in the same order.
BY_API = [
    lambda df: by(df, "antenna")(fl.Sliding("4 minutes", "1 minute")).agg(agg.max("seconds"))
        .select("antenna", "max(seconds)"),
    lambda df: by(df)(fl.Sliding("4 minutes", fl.Rows(1)), tiebreak="phone")
        .agg(agg.max("seconds")).select("max(seconds)"),
    lambda df: by(df)(fl.MultiGranular(
        ["1 minute", "10 minutes", "1 hour"], ["10 seconds", "1 minute", "5 minutes"]
    )).agg(agg.avg("seconds")),
    lambda df: fl.over(df, fl.Sliding("15 minutes", "5 minutes"), time=("ts", "stop"), by="antenna")
        .agg(calls=agg.count()).select("antenna", "calls"),
    lambda df: by(df, "antenna")(fl.ThresholdFrame("signal > 0.2", min_rows=20))
        .agg(agg.max("signal")),
    lambda df: by(df)(fl.Session("10 seconds", max_duration="1 hour")).frames(),
    lambda df: by(df, "antenna")(fl.PredicateFrame("signal > 0.5", "signal < 0.3")).rows()
        .select("phone", "frame_id"),
    lambda df: by(df, "antenna")(LEVELS).fit("signal"),
    lambda df: by(df)(fl.MultiGranular(["5 minutes", "1 hour"], ["5 minutes", "1 hour"]))
        .recurring("phone", counts=True),
    lambda df: by(df.where("seconds < 50"), "antenna")(LEVELS)
        .fit("signal", filled=True, instant="5 seconds", ahead="1 minute").where("level = 0")
        .select("antenna", "window", "forecast"),
    lambda df: by(df, "antenna")(LEVELS).wide(calls=agg.count(), longest=agg.max("seconds")),
    lambda df: by(df, "antenna")(LEVELS).complete_only().bursts(1.2, busy=agg.sum("seconds"))
        .select("antenna", "window", "level", "expected", "ratio", "busy"),
    lambda df: by(df, "antenna")(WIDENING).detect(PAIR).select("p", "level", "found_at"),
    lambda df: by(df, "antenna")(fl.Sliding("1 hour", "1 minute")).agg(calls=agg.count())
        .selectExpr("window.start as window_start", "window.end as window_end", "antenna", "calls"),
    lambda df: by(df, "antenna")(fl.PatternFrame(
        "failed{2,} answered",
        {"failed": "outcome <> 'answered'", "answered": "outcome = 'answered'"},
        within="10 minutes",
    )).agg(
        since=agg.first("ts").of("failed"), failures=agg.count().of("failed"),
        phone=agg.last("phone").of("answered"), mean=agg.avg("seconds"),
    ).where("failures < 5")
        .selectExpr("antenna", "since", "failures", "phone", "round(mean, 1) as mean"),
    lambda df: by(df, "antenna")(fl.PatternFrame("failed{2,} longer", {
        "failed": "outcome <> 'answered'",
        "longer": "seconds > prev(seconds) and outcome = 'answered'",
    })).rows().where("frame_id is not null")
        .selectExpr("antenna", "ts", "phone", "frame_id + 1 as outage", "classifier as what"),
]  # fmt: skip


def same(found, wanted):
    assert found.columns == wanted.columns
    assert [field.dataType for field in found.schema] == [f.dataType for f in wanted.schema]
    left, right = map(all_of, (found, wanted))
    assert left == right
    assert left


@pytest.fixture
def calls(spark):
    return spark.sql(CALLS)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", range(len(BY_API)))
def test_a_query_of_the_page_is_the_same_by_the_api(calls, number):
    assert len(SHOWN) == len(BY_API)
    same(fl.sql(SHOWN[number], calls=calls), BY_API[number](calls))


# Further queries, with the names that are hard, and what they are by the API.
HARD = [
    (
        """SELECT `Lane No`, `a.b`, s.f, max(`select`) AS `x.y` FROM odd
        [WATTR `end` RANGE 10 MINUTES] GROUP BY `Lane No`, `a.b`, s.f""",
        lambda df: fl.over(
            df, fl.Sliding("10 minutes"), time="end", by=["Lane No", "a.b", "s.f"]
        ).agg(agg.max("select").alias("x.y")).drop("window"),
    ),
    (
        """SELECT upper(o.`a.b`) AS big, s.f % 2, count(*) FILTER (WHERE o.`select` > 3) AS n
        FROM odd AS o [WATTR o.`end` RANGE 10 MINUTES] WHERE o.`select` % 7 <> 0
        GROUP BY big, s.f % 2 HAVING sum(`select`) > 40""",
        lambda df: fl.over(
            df.where("`select` % 7 <> 0").withColumn("big", made(df, "upper(`a.b`)"))
            .withColumn("s.f % 2", made(df, "s.f % 2"))
            .withColumn("taken", made(df, "CASE WHEN `select` > 3 THEN 1 END")),
            fl.Sliding("10 minutes"), time="end", by=["big", "`s.f % 2`"],
        ).agg(agg.count("taken").alias("n"), agg.sum("select").alias("t")).where("t > 40")
        .drop("window", "t"),
    ),
    (
        """WITH big AS (SELECT * FROM odd WHERE `select` > 5), w AS (SELECT window, max(`select`)
        AS m FROM big [WATTR `end` RANGE 10 MINUTES]) SELECT w.*, '{}' AS b FROM w JOIN (SELECT
        count(*) AS n FROM odd) ON m < n WHERE m IN (SELECT `select` FROM big) -- }""",
        lambda df: fl.over(df.where("`select` > 5"), fl.Sliding("10 minutes"), time="end")
        .agg(agg.max("select").alias("m")).selectExpr("*", "'{}' as b"),
    ),
    (
        """SELECT max(m) FROM (SELECT window.start AS at, max(`select`) AS m FROM odd [WATTR `end`
        RANGE 1 MINUTE]) [WATTR at RANGE 10 MINUTES] UNION ALL SELECT -1 AS x""",
        lambda df: fl.over(df, fl.Sliding("10 minutes"), time="end").agg(agg.max("select"))
        .selectExpr("`max(select)` as `max(m)`")
        .unionByName(df.sparkSession.sql("SELECT -1L AS `max(m)`")),
    ),
]  # fmt: skip


def made(df, text):  # a Column of the DataFrame's own kind
    return expression(df, text)


LEVELS_OF = "[WATTR ts RANGES 1 HOUR, 5 MINUTES SLIDES 5 MINUTES, 1 MINUTE"
# What else levels can do, and what it is by the API.
LEVEL_WORDS = [
    (
        """SELECT *, count(*) FROM calls
        [WATTR ts RANGES 1 HOUR, 5 MINUTES SLIDES 5 MINUTES, 1 MINUTE
         WEIGHTS DECAY HALF LIFE INTERVAL '10' MINUTES] GROUP BY antenna""",
        lambda df: by(df, "antenna")(fl.MultiGranular(
            ["5 minutes", "1 hour"], ["1 minute", "5 minutes"], weights=fl.decay("10 minutes")
        )).agg(agg.count()),
    ),
    (
        f"""SELECT *, sum(seconds) + 1 AS more, count(*) FROM calls {LEVELS_OF} WIDE COMPLETE
        EMPTY ZERO PARTITION BY antenna] HAVING at < '2023-11-14T23:30:00Z' ORDER BY at""",
        lambda df: by(df, "antenna")(LEVELS)
        .complete_only().with_empty("zero").wide(agg.sum("seconds"), agg.count())
        .where("at < '2023-11-14T23:30:00Z'").selectExpr(
            "antenna", "at", "`sum(seconds)_0` + 1 as more_0", "`sum(seconds)_1` + 1 as more_1",
            "`count(1)_0`", "`count(1)_1`",
        ),
    ),
    (
        """SELECT * FROM (SELECT ts, seconds AS `ahead` FROM calls) AS ahead
        [WATTR ts RANGES 1 HOUR, 5 MINUTES SLIDES 5 MINUTES, 1 MINUTE
         FIT ahead AHEAD INTERVAL '90' SECONDS COMPLETE END]""",
        lambda df: by(df.selectExpr("ts", "seconds as ahead"))(LEVELS)
        .complete_only(side="end").fit("ahead", ahead="90 seconds"),
    ),
    (
        """SELECT ratio, level, sum(seconds) AS `x.y`, sum(seconds) / 2 AS half, `Lane No`
        FROM (SELECT *, antenna AS `Lane No` FROM calls) bursts
        [WATTR ts RANGES 1 HOUR, 10 MINUTES, 2 MINUTES SLIDES 2 MINUTES, 2 MINUTES, 2 MINUTES
         BURSTS THRESHOLD 1.05, 1.2 PARTITION BY `Lane No`] HAVING expected > 10""",
        lambda df: by(df.withColumnRenamed("antenna", "Lane No"), "Lane No")(fl.MultiGranular(
            ["2 minutes", "10 minutes", "1 hour"], ["2 minutes"] * 3
        )).bursts([1.2, 1.05], agg.sum("seconds").alias("x.y")).where("expected > 10")
        .selectExpr("ratio", "level", "`x.y`", "`x.y` / 2 as half", "`Lane No`"),
    ),
    (
        """SELECT `Lane No`, `at`, max(`select`) AS `x.y` FROM (SELECT ts AS `wide`, antenna AS
        `Lane No`, seconds AS `select` FROM calls) AS wide
        [WATTR `wide` RANGES 10 MINUTES, 5 MINUTES SLIDES 5 MINUTES, 5 MINUTES WIDE]
        GROUP BY at, `Lane No`""",
        lambda df: fl.over(
            df.selectExpr("ts as wide", "antenna as `Lane No`", "seconds as select"),
            fl.MultiGranular(["5 minutes", "10 minutes"], ["5 minutes"] * 2), time="wide",
            by="Lane No",
        ).wide(agg.max("select").alias("x.y")),
    ),
    (
        """SELECT antenna, at, count(*) AS calls, max(seconds) - min(seconds) AS spread FROM calls
        [SPAN ts, stop RANGES 1 HOUR, 5 MINUTES SLIDES 5 MINUTES, 1 MINUTE WIDE]
        GROUP BY antenna""",
        lambda df: fl.over(df, LEVELS, time=("ts", "stop"), by="antenna")
        .wide(agg.count(), agg.max("seconds"), agg.min("seconds")).selectExpr(
            "antenna", "at", *(f"`count(1)_{k}` as calls_{k}" for k in (0, 1)),
            *(f"`max(seconds)_{k}` - `min(seconds)_{k}` as spread_{k}" for k in (0, 1)),
        ),
    ),
    (
        """SELECT *, count(*) AS calls FROM calls
        [WATTR ts RANGE 1 HOUR SLIDE 20 MINUTES, RANGE 5 MINUTES, RANGE 7 MINUTES SLIDE 2 MINUTES
         WIDE COMPLETE] WHERE seconds > 5""",
        lambda df: by(df.where("seconds > 5"))([
            fl.Sliding("1 hour", "20 minutes"), fl.Sliding("5 minutes"),
            fl.Sliding("7 minutes", "2 minutes"),
        ]).complete_only().wide(calls=agg.count()),
    ),
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("text", "wanted"), LEVEL_WORDS, ids=range(len(LEVEL_WORDS)))
def test_what_else_levels_can_do(calls, text, wanted):
    same(fl.sql(text, calls=calls), wanted(calls))


@pytest.fixture
def odd(spark):
    return spark.sql("""
        SELECT timestamp_seconds(1700000000 + id * 30) AS `end`, id % 3 AS `Lane No`,
               if(id % 2 = 0, 'x', 'y') AS `a.b`, named_struct('f', id % 5) AS s, id AS `select`
        FROM range(100)""")


@pytest.mark.parametrize(("text", "wanted"), HARD, ids=range(len(HARD)))
def test_names_sub_queries_and_expressions(odd, text, wanted):
    same(fl.sql(text, odd=odd), wanted(odd))


def test_a_table_is_one_of_the_session_unless_it_is_given(spark, odd):
    odd.createOrReplaceTempView("fanlight_odd")
    text = "SELECT count(*) FROM {} [WATTR `end` RANGE 10 MINUTES]"
    same(fl.sql(text.format("fanlight_odd"), other=odd.limit(1)), fl.sql(text.format("x"), x=odd))
    spark.catalog.dropTempView("fanlight_odd")


def test_frames_filled_and_split(calls):
    frames = by(calls, "antenna")(fl.ThresholdFrame("signal > 0.5"))
    clause = "FROM calls [WATTR ts PARTITION BY antenna FRAME THRESHOLD signal > 0.5"
    same(
        fl.sql(f"SELECT *, max(seconds) {clause} FILL other ON ts]", calls=calls, other=calls),
        frames.fill(calls, time="ts").agg(agg.max("seconds")),
    )
    few = calls.filter("seconds > 58")
    same(
        fl.sql(f"SELECT *, count(*) {clause} FILL few ON ts HOW LEFT]", calls=calls, few=few),
        frames.fill(few, time="ts", how="left").agg(agg.count()),
    )
    same(
        fl.sql(f"SELECT *, count(*) {clause} FILL few ON ts BY ()]", calls=calls, few=few),
        frames.fill(few, time="ts", by=()).agg(agg.count()),
    )
    own = "OWN max(signal) AS `high est`, count(*) FILTER (WHERE outcome IN ('busy', 'a)')) AS n"
    busy = agg.count().where("outcome IN ('busy', 'a)')")
    same(
        fl.sql(f"SELECT *, max(signal) {clause} FILL few ON ts {own}]", calls=calls, few=few),
        frames.fill(few, time="ts", own={"high est": agg.max("signal"), "n": busy}).agg(
            agg.max("signal")
        ),
    )
    same(
        fl.sql(f"SELECT *, max(seconds) {clause} SPLIT EVERY 1 MINUTE]", calls=calls),
        frames.split("1 minute", agg.max("seconds")),
    )
    same(
        fl.sql(f"SELECT *, max(seconds) {clause} SPLIT EVERY 1 MINUTE SO FAR]", calls=calls),
        frames.accumulate("1 minute", agg.max("seconds")),
    )


def test_techniques_and_own_aggregates(calls):
    spread = algebra.Aggregate(
        "spread", {"hi": algebra.Max("{x}"), "lo": algebra.Min("{x}")}, "{hi} - {lo}"
    )
    text = "SELECT window, spread(signal) FROM calls [WATTR ts RANGE 1 HOUR USING pairs GROUPS 2]"
    same(
        fl.sql(text, calls=calls, spread=spread),
        by(calls)(fl.Sliding("1 hour")).agg(spread("signal")),
    )


@pytest.mark.streaming
@pytest.mark.parametrize("number", [0, 2, 4, 10])
def test_a_stream_is_asked_as_a_batch_is(spark, calls, tmp_path, number):
    found = fl.sql(SHOWN[number], calls=stream_of(spark, tmp_path, [calls], "1 minute"))
    assert found.isStreaming
    got = all_of(ended(found, tmp_path))
    assert got
    assert set(got) <= set(all_of(BY_API[number](calls)))


# What levels can do, asked of a stream.
STREAMED = [
    (
        f"""SELECT *, sum(seconds) AS busy FROM calls {LEVELS_OF} BURSTS THRESHOLD 1.05]
        GROUP BY antenna""",
        lambda df: by(df, "antenna")(LEVELS).bursts(1.05, busy=agg.sum("seconds"))
        .select("antenna", "window", "level", "expected", "ratio", "busy"),
        "window.end",
    ),
    (
        f"""SELECT *, count(*) AS calls, sum(seconds) AS s FROM calls {LEVELS_OF}
        WEIGHTS DECAY HALF LIFE 10 MINUTES PARTITION BY antenna]""",
        lambda df: by(df, "antenna")(fl.MultiGranular(
            ["5 minutes", "1 hour"], ["1 minute", "5 minutes"], weights=fl.decay("10 minutes")
        )).agg(calls=agg.count(), s=agg.sum("seconds")),
        "window.end",
    ),
    (
        """SELECT *, count(*) AS calls FROM calls
        [SPAN ts, stop RANGE 5 MINUTES SLIDE 1 MINUTE, RANGE 7 MINUTES WIDE] GROUP BY antenna""",
        lambda df: fl.over(
            df, [fl.Sliding("5 minutes", "1 minute"), fl.Sliding("7 minutes")],
            time=("ts", "stop"), by="antenna",
        ).wide(calls=agg.count()),
        "at",
    ),
]  # fmt: skip


@pytest.mark.streaming
@pytest.mark.parametrize(("text", "wanted", "end"), STREAMED, ids=["bursts", "decay", "wide"])
def test_a_stream_gives_all_that_a_batch_gives_up_to_its_watermark(
    classic, tmp_path, text, wanted, end
):
    calls = classic.sql(CALLS)
    time = "stop" if "SPAN" in text else "ts"
    rows = stream_of(classic, tmp_path, [calls], "2 minutes", time)
    got = ended(fl.sql(text, calls=rows), tmp_path)
    (last,) = calls.selectExpr(f"unix_micros(max({time}) - interval 2 minutes)").first()
    there = wanted(calls).where(f"unix_micros({end}) <= {last}")
    assert got.columns == there.columns
    assert rounded(got) == rounded(there) != []


def rounded(df):
    """The rows in one order; a stream may add doubles up in another one."""
    return sorted(
        repr([round(one, 6) if isinstance(one, float) else one for one in row])
        for row in df.collect()
    )


WRONG = [
    ("SELECT ^nope^, max(seconds) FROM calls [WATTR ts RANGE 1 HOUR]", "add it to GROUP BY"),
    ("SELECT sum(^nope^) FROM calls [WATTR ts RANGE 1 HOUR]", "not a column"),
    ("SELECT count(*) + sum(^phone^) FROM calls [WATTR ts RANGE 1 HOUR]", "needs a number"),
    ("SELECT count(*) FROM calls [WATTR ^nope^ RANGE 1 HOUR]", "not a column"),
    ("SELECT count(*) FROM calls [WATTR ts RANGE ^10^]", "number"),
    ("SELECT count(*) FROM ^nobody^ [WATTR ts RANGE 1 HOUR]", "not a table"),
    ("SELECT ^maxi^(seconds) FROM calls [WATTR ts RANGE 1 HOUR]", "write max"),
    ("SELECT count(*), ^maxi^(seconds) FROM calls [WATTR ts RANGE 1 HOUR]", "did you mean max"),
    ("SELECT count(*), ^nunique^(seconds) FROM calls [WATTR ts RANGE 1 HOUR]",
     "did you mean count_distinct"),
    ("SELECT count(*) FROM calls GROUP BY ^TUMBLE^(ts, INTERVAL '1' HOUR)",
     r"FROM TABLE\(TUMBLE\(TABLE bids, DESCRIPTOR\(ts\), INTERVAL '1' HOUR\)\)"),
    ("SELECT count(*) AS n FROM calls [WATTR ts RANGE 1 HOUR] GROUP BY phone ^HAVNIG^ n > 3",
     "write HAVING"),
    ("SELECT count(*) AS n FROM calls ^WEHRE^ seconds > 3", "write WHERE"),
    ("SELECT count(*) AS n FROM calls [WATTR ts RANGE 1 HOUR] HAVING ^m^ > 3",
     "cannot be resolved"),
    ("SELECT ^tdigest(seconds, 100)^ FROM calls [WATTR ts RANGE 1 HOUR]",
     r"no such sketch; write kll_sketch_agg_double\(seconds\)"),
    ("^SELECT^ phone FROM calls [WATTR ts RANGE 1 HOUR]", "computes nothing"),
    ("SELECT count(*) FROM calls [WATTR ts RANGE 1 HOUR] WHERE ^nope^ > 1", "cannot be resolved"),
    ("SELECT count(*) FROM calls [WATTR ts RANGE 1 HOUR] GROUP BY ^7^", "number of one"),
    ("SELECT count(*) FROM calls [WATTR ts RANGE 1 HOUR] GROUP BY ^count(*)^", "not a key"),
    ("SELECT count(*) FROM calls [WATTR ts PARTITION BY phone RANGE 1 HOUR] GROUP BY ^antenna^",
     "other keys"),
    ("SELECT count(*) FROM TUMBLE(TABLE calls, DESCRIPTOR(ts), INTERVAL '1' HOUR) GROUP BY ^phone^",
     "window_start, window_end"),
    ("SELECT count(*) FROM calls [WATTR ts RANGE 1 HOUR USING ^nothing^]", "strategy"),
    ("SELECT count(*) FROM calls [WATTR ts RANGE 1 HOUR USING panes ^HEIGHT 2^]", "leave it out"),
    ("SELECT ^count(*)^ FROM calls [WATTR ts RANGES 1, 2 SLIDES 1, 1 FIT seconds]", "each"),
]  # fmt: skip


@pytest.mark.parametrize(("marked", "words"), WRONG, ids=[text for text, _ in WRONG])
def test_errors_of_spark_and_of_the_api_point_at_the_word(classic, marked, words):
    before, part, after = marked.split("^")
    with pytest.raises(fl.FanlightError, match=words) as raised:
        fl.sql(before + part + after, calls=classic.sql(CALLS))
    message, line, carets = str(raised.value).split("\n")
    assert message.startswith(f"line 1, column {len(before) + 1}: "), message
    assert line[carets.index("^") :][: carets.count("^")] == part


NAMED = [
    ("first(seconds) IGNORE NULLS", "first(seconds)"),
    ("first(seconds) RESPECT NULLS", "first(seconds)"),
    ("last(seconds) ignore nulls", "last(seconds)"),
    ("first(seconds IGNORE NULLS)", "first(seconds)"),
    ("first(seconds) IGNORE NULLS AS nulls", "nulls"),
    ("first(seconds) IGNORE NULLS NULLS", "NULLS"),
    ("1 + last(seconds) IGNORE NULLS", "1 + last(seconds) IGNORE NULLS"),
    ("sum(seconds) FILTER (WHERE seconds > 3)", "sum(seconds) FILTER (WHERE seconds > 3)"),
    ("sum(seconds) FILTER (WHERE seconds > 3) nulls", "nulls"),
    ("mode() WITHIN GROUP (ORDER BY seconds)", "mode() WITHIN GROUP (ORDER BY seconds)"),
    ("mode() WITHIN GROUP (ORDER BY seconds) within", "within"),
]


@pytest.mark.parametrize(("text", "name"), NAMED)
def test_an_aggregate_without_a_name_is_called_as_it_is_written(classic, text, name):
    calls = classic.sql(CALLS)
    assert fl.sql(f"SELECT {text} FROM calls [WATTR ts RANGE 1 HOUR]", calls=calls).columns == [
        name
    ]


# What is read of WITHIN GROUP, or is advised instead, and what Spark has.
ORDERED = {
    "percentile_cont(0.3) WITHIN GROUP (ORDER BY signal)": "",
    "percentile_cont(array(0.1, 0.9)) WITHIN GROUP (ORDER BY -seconds ASC NULLS LAST)": "",
    "percentile_disc(0.3) WITHIN GROUP (ORDER BY signal) FILTER (WHERE seconds > 3)": "",
    "mode() WITHIN GROUP (ORDER BY seconds)": "",
    "listagg(phone, '-') WITHIN GROUP (ORDER BY ts)": "",
    "string_agg(phone) WITHIN GROUP (ORDER BY ts, id NULLS FIRST)": "",
    "-percentile_cont(0.3) WITHIN GROUP (ORDER BY -signal)":
        "percentile_cont(0.3) WITHIN GROUP (ORDER BY signal DESC)",
    "-percentile_disc(0.3) WITHIN GROUP (ORDER BY -signal)":
        "percentile_disc(0.3) WITHIN GROUP (ORDER BY signal DESC)",
    "-mode() WITHIN GROUP (ORDER BY -seconds)": "mode() WITHIN GROUP (ORDER BY seconds DESC)",
    "array_join(sort_array(collect_list(phone), false), ', ')":
        "listagg(phone, ', ') WITHIN GROUP (ORDER BY phone DESC)",
    "array_join(sort_array(collect_set(phone)), '')":
        "listagg(DISTINCT phone) WITHIN GROUP (ORDER BY phone)",
    "array_join(transform(sort_array(collect_list(struct(id, phone AS text)), false), "
    "e -> e.text), '')": "listagg(phone) WITHIN GROUP (ORDER BY id DESC)",
}  # fmt: skip


def test_within_group_is_what_spark_makes_of_it(classic):
    rows = classic.sql(
        "SELECT timestamp_seconds(id * 7) AS ts, id * 37 % 101 AS id, id * 29 % 17 AS signal, "
        "if(id % 5 = 0, null, concat('p', id % 4)) AS phone, id * id % 6 AS seconds FROM range(60)"
    )
    rows.createOrReplaceTempView("rows_in_order")
    ours = ", ".join(f"{text} AS `{at}`" for at, text in enumerate(ORDERED))
    theirs = ", ".join(f"{spark or text} AS `{at}`" for at, (text, spark) in
                       enumerate(ORDERED.items()))  # fmt: skip
    clause = "[WATTR ts TIEBREAK id RANGE 1 MINUTE]"
    found = fl.sql(f"SELECT window, {ours} FROM rows_in_order {clause}", rows_in_order=rows)
    wanted = classic.sql(
        f"SELECT window(ts, '1 minute'), {theirs} FROM rows_in_order "
        "GROUP BY window(ts, '1 minute')"
    )
    for one, other in zip(sorted(found.collect()), sorted(wanted.collect()), strict=True):
        assert one == other


HAVING = (
    "n > 3", "N > 3 AND half > 2", "n BETWEEN 3 AND 4 OR `high` = 9", "k > 1", "high > n * k",
    "sum(v) > n AND NOT high < 9", "abs(n - half) > 2", "n IN (SELECT n FROM VALUES (3) AS t(n))",
)  # fmt: skip


@pytest.mark.parametrize("order", ["", " ORDER BY n"])
@pytest.mark.parametrize("condition", HAVING)
def test_having_names_what_is_selected_as_in_spark(classic, condition, order):
    """An alias stands for what it is of, unless a key has the name."""
    items = "k + 10 AS k, count(*) n, max(v) AS high, count(*) / 2 half"
    rows = classic.sql("SELECT timestamp_seconds(id) AS ts, id % 4 AS k, id AS v FROM range(14)")
    rows.createOrReplaceTempView("rows_of_having")
    clause = "[WATTR ts RANGE 1 HOUR]"
    ours = fl.sql(f"SELECT {items} FROM r {clause} GROUP BY k HAVING {condition}{order}", r=rows)
    theirs = classic.sql(f"SELECT {items} FROM rows_of_having GROUP BY k HAVING {condition}{order}")
    assert sorted(ours.collect()) == sorted(theirs.collect())


@pytest.mark.parametrize("word", ["`${env:HOME}`", "'${spark.app.name}'", "`a${x}`"])
def test_settings_that_spark_would_put_in_are_refused(classic, word):
    """A column may have such a name; Spark would read the value of the setting instead."""
    df = classic.sql("select timestamp_seconds(id) as ts, id from range(9)")
    df = df.withColumnRenamed("id", word.strip("`'"))
    text = f"SELECT max({word}) FROM t [WATTR ts RANGE 1 MINUTE]"
    with pytest.raises(fl.FanlightError, match=r"column 12: .*spark\.conf\.set") as caught:
        fl.sql(text, t=df)
    switched = re.search(r"spark\.conf\.set\(.*\)", str(caught.value))[0]
    eval(switched, {"spark": classic})  # noqa: S307 - the advice, followed
    try:
        found = fl.sql(text, t=df).collect()
    finally:
        classic.conf.unset("spark.sql.variable.substitute")
    assert [row[-1] for row in found] == [8 if word[0] == "`" else word[1:-1]]


@pytest.mark.parametrize("given", [None, 1, b"SELECT 1", "\ud800", [], ""])
def test_what_is_no_text_is_refused(given):
    with pytest.raises(fl.FanlightError):
        fl.sql(given)


@pytest.mark.parametrize("given", [None, 1, "calls", lambda rows: rows])
def test_what_is_no_table_is_refused(given):
    with pytest.raises(fl.FanlightError, match="neither a DataFrame nor an"):
        fl.sql("SELECT count(*) FROM calls [WATTR ts RANGE 1 HOUR]", calls=given)


def test_a_path_is_a_field_though_a_column_has_its_name(classic):
    """A column of that name is written in backticks, as in all SQL."""
    df = classic.sql(
        "SELECT timestamp_seconds(id) AS ts, named_struct('b', id % 3) AS a, 'flat' AS `a.b` "
        "FROM range(9)"
    )
    clause = "FROM t [WATTR ts RANGE 1 HOUR] WHERE a.b > 0"
    found = fl.sql(f"SELECT a.b, count(*) AS n, max(a.b) AS m {clause} GROUP BY a.b", t=df)
    assert found.columns == ["b", "n", "m"]
    assert sorted(map(tuple, found.collect())) == [(1, 3, 1), (2, 3, 2)]
    flat = fl.sql(f"SELECT `a.b`, max(`a.b`) AS m {clause} GROUP BY `a.b`", t=df)
    assert [tuple(row) for row in flat.collect()] == [("flat", "flat")]
