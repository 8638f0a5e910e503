"""Where a text asks for windows, and how it is taken apart; all else is Spark's as it is."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight import agg, algebra
from fanlight.language.query import Query, selected_columns
from fanlight.language.tokens import tokenize
from tests.language.texts import column

MINUTE = "[WATTR ts RANGE 1 MINUTE]"


def selects(text, own=None):
    return Query(text, own).selects


def parts(text):
    """The one SELECT of a text over windows: its parts as text."""
    query = Query(text)
    (one,) = query.selects

    def shown(place):
        return None if place is None else query.call_reader.one_line(*place)

    return {
        "items": [(shown(item.place), item.name) for item in one.items],
        "from": shown(one.relation),
        "alias": one.alias,
        "where": shown(one.where),
        "keys": None if one.keys is None else [shown(key) for key in one.keys],
        "having": shown(one.having),
        "tail": shown(one.tail),
    }


def test_a_select_is_taken_apart():
    text = f"""SELECT DISTINCT b.item AS i, max(price) top, CASE WHEN x THEN y END, a.b, -x,
        'a, b' c, INTERVAL 1 DAY, x IS NULL FROM db.bids AS b {MINUTE} WHERE a IS DISTINCT FROM b
        GROUP BY b.item, f(x, y) HAVING count(*) > 1 ORDER BY top LIMIT 3 -- done"""
    assert parts(text) == {
        "items": [("b.item", "i"), ("max(price)", "top"), ("CASE WHEN x THEN y END", ""),
                  ("a.b", ""), ("-x", ""), ("'a, b'", "c"), ("INTERVAL 1 DAY", ""),
                  ("x IS NULL", "")],
        "from": "db.bids", "alias": "b", "where": "a IS DISTINCT FROM b",
        "keys": ["b.item", "f(x, y)"], "having": "count(*) > 1", "tail": "ORDER BY top LIMIT 3",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "relation", "alias"),
    [
        (f"SELECT max(x) FROM `a b` {MINUTE}", "`a b`", "`a b`"),
        (f"SELECT max(x) FROM bids {MINUTE} AS b", "bids", "b"),
        (f"SELECT max(x) FROM bids {MINUTE} b", "bids", "b"),
        (f"SELECT max(x) FROM (SELECT * FROM t) q {MINUTE}", "(SELECT * FROM t)", "q"),
        (f"SELECT max(x) FROM range(10) {MINUTE}", "range(10)", ""),
        (f"SELECT max(x) FROM (VALUES (1, 2)) AS t(ts, x) {MINUTE}",
         "(VALUES (1, 2)) AS t(ts, x)", "t"),
        (f"SELECT count(*) FROM bids GROUP BY item {MINUTE}", "bids", "bids"),
        ("SELECT 1 FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' HOUR)) t GROUP BY 1",
         "bids", "t"),
    ],
)  # fmt: skip
def test_the_table_of_windows(text, relation, alias):
    found = parts(text)
    assert (found["from"], found["alias"]) == (relation, alias)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a[0], b[wattr], c['[WATTR ts RANGE 1 HOUR]'] FROM t WHERE x[1] > 2",
        "SELECT 1 -- FROM bids [WATTR ts RANGE 1 HOUR]",
        "SELECT 1 /* FROM bids /* nested */ [WATTR ts RANGE 1 HOUR] */ FROM t",
        "SELECT `FROM bids [WATTR ts RANGE 1 HOUR]` FROM t",
        "SELECT r'\\' AS a, \"[\" AS b, '\\']' AS c FROM t",
        "SELECT extract(YEAR FROM ts), trim(BOTH ' ' FROM x) FROM t",
        "SELECT * FROM session WHERE hop > 1",
        "SELECT '{}', '{', map('a', '}}')['a']",
        "SELECT DISTINCT from_json(x, 'a int')[0] FROM t",
    ],
)
def test_what_is_sparks_stays_as_it_is(text):
    query = Query(text)
    assert query.selects == []
    body = query.replace_parts(0, query.end, {}).replace("{{", "{").replace("}}", "}")
    assert text.startswith(body)
    assert [one.text for one in tokenize(body)] == [one.text for one in query.tokens]


def test_windows_in_every_place_of_a_text():
    text = f"""WITH a AS (SELECT max(x) FROM t {MINUTE}), b AS (SELECT * FROM a)
        SELECT count(*) FROM (SELECT max(y) AS ts FROM u {MINUTE}) {MINUTE}
        WHERE z IN (SELECT min(z) FROM b {MINUTE}) UNION ALL (SELECT sum(q) FROM v {MINUTE})"""
    query = Query(text)
    found = {query.call_reader.one_line(*one.relation): one for one in query.selects}
    assert len(found) == 5
    assert [name for name, _ in found["t"].visible] == []
    assert [name for name, _ in found["b"].visible] == ["a", "b"]
    outer = query.outermost_selects(0, query.end)
    assert [one.alias for one in outer] == ["t", "", "v"]


@pytest.mark.parametrize(
    ("text", "spec", "by"),
    [
        ("HOP(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR)",
         fl.Sliding("1 hour", "1 minute"), ()),
        ("HOP(DATA => TABLE b, TIMECOL => DESCRIPTOR(`ts`), SIZE => '1 hour', SLIDE => '1 minute')",
         fl.Sliding("1 hour", "1 minute"), ()),
        ("TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '5' MINUTE)",
         fl.Sliding("1 hour", offset="5 minutes"), ()),
        ("SESSION(TABLE bids PARTITION BY (item, seller), DESCRIPTOR(ts), INTERVAL '5' MINUTES)",
         fl.Session("5 minutes"), (("item",), ("seller",))),
        ("SESSION(TABLE bids PARTITION BY item, seller, DESCRIPTOR(ts), INTERVAL '5' MINUTES)",
         fl.Session("5 minutes"), (("item",), ("seller",))),
    ],
)  # fmt: skip
@pytest.mark.parametrize("around", ["TABLE({})", "TABLE ( {} ) AS t", "{}"])
def test_windows_as_flink_has_them(text, spec, by, around):
    query = f"SELECT count(*) FROM {around.format(text)} GROUP BY window_start, window_end"
    (one,) = selects(query)
    assert one.clause.spec == spec
    assert one.clause.by == by
    assert one.clause.time == (("ts",),)


SPREAD = algebra.Aggregate(
    "spread", {"hi": algebra.Max("{x}"), "lo": algebra.Min("{x}")}, "{hi} - {lo}"
)


def label(text):
    """The one aggregate of a text, by its name and columns."""
    query = Query(f"SELECT {text} FROM t {MINUTE}", {"spread": SPREAD})
    (one,) = query.selects
    (call,) = query.call_reader.find_calls(*one.items[0].place)
    return query.call_reader.build(call, column)


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("count(*)", agg.count()),
        ("COUNT(1)", agg.count()),
        ("count(x)", agg.count("x")),
        ("1 + count(DISTINCT x, `a b`)", agg.count_distinct("x", "a b")),
        ("max(DISTINCT t.x) * 2", agg.max("x")),
        ("sum(x + 1)", agg.sum("<x + 1>")),
        ("stddev(x)", agg.stddev_samp("x")),
        ("first(x, true)", agg.first("x", ignorenulls=True)),
        ("last(x) IGNORE NULLS", agg.last("x", ignorenulls=True)),
        ("first_value(x IGNORE NULLS)", agg.first("x", ignorenulls=True)),
        ("any_value(x) RESPECT NULLS", agg.first("x")),
        ("string_agg(x, ', ')", agg.listagg("x", ", ")),
        ("listagg(DISTINCT x, ', ')", agg.listagg("x", ", ", distinct=True)),
        ("avg(DISTINCT x)", agg.avg("x", distinct=True)),
        ("any(x)", agg.bool_or("x")),
        ("regr_slope(y, x)", agg.regr_slope("y", "x")),
        ("max_by(x, y)", agg.max_by("x", "y")),
        ("percentile(x, 0.9)", agg.percentile("x", 0.9)),
        ("percentile(x, array(0.25, 0.5))", agg.percentile("x", [0.25, 0.5])),
        ("percentile_cont(0.9) WITHIN GROUP (ORDER BY x)", agg.percentile("x", 0.9)),
        (
            "percentile_cont(array(0.1, 0.5)) within group (order by t.x ASC NULLS LAST)",
            agg.percentile("x", [0.1, 0.5]),
        ),
        (
            "1 - percentile_disc(0.5) WITHIN GROUP (ORDER BY x + 1) / 2",
            agg.percentile_disc("<x + 1>", 0.5),
        ),
        ("mode() WITHIN GROUP (ORDER BY x) FILTER (WHERE y > 1)", agg.mode("x").where("y > 1")),
        ("percentile_cont(0.5) WITHIN GROUP (ORDER BY y) OVER (ORDER BY y) + min(x)", agg.min("x")),
        ("percentile_approx(x, 0.5, accuracy => 100)", agg.approx_percentile("x", 0.5, 100)),
        ("approx_count_distinct(x, 0.02)", agg.approx_count_distinct("x", 0.02)),
        ("heavy_hitters(x, 0.1)", agg.heavy_hitters("x", 0.1)),
        ("count(*) FILTER (WHERE x > 1)", agg.count().where("x > 1")),
        ("sum(y) FILTER (WHERE x > 1)", agg.sum("y").where("x > 1")),
        ("first(y) FILTER (WHERE x = ')')", agg.first("y").where("x = ')'")),
        ("spread(x) FILTER (WHERE x > 1)", SPREAD("x").where("x > 1")),
        ("concat(max(x), 'a')", agg.max("x")),
        ("spread(x)", SPREAD("x")),
        ("sum(max(x)) OVER (ORDER BY window)", agg.max("x")),
        ("(SELECT max(y) FROM u) + min(x)", agg.min("x")),
    ],
)
def test_aggregates_are_those_of_the_library(text, call):
    made = label(text)
    assert made.aggregate.name == call.aggregate.name
    assert (made.columns, made.shown) == (call.columns, call.shown)
    assert made.conditions == call.conditions


def test_columns_that_a_text_alone_does_not_tell():
    text = "SELECT at, count(*) AS n FROM t [WATTR ts RANGES 1, 2 SLIDES 1, 1{}]"
    assert selected_columns(text.format("")) == ("at", "n")
    assert selected_columns(text.format(" WIDE")) is None


def test_texts_are_joined_in_the_order_of_rows():
    text = "listagg(x, '-') WITHIN GROUP (ORDER BY {}) FILTER (WHERE x > '')"

    def read(order):
        reader = Query(f"SELECT {text.format(order)} FROM t [WATTR ts RANGE 1]").call_reader
        (call,) = reader.find_calls(0, len(reader.tokens) - 1)
        return reader.build(call, column, ["ts", "id"])

    for order in ("ts", "t.ts ASC NULLS FIRST, id"):
        assert read(order).label == agg.listagg("x", "-").where("x > ''").label
    for order in ("id", "ts, x", "ts DESC", "ts, id NULLS LAST", "ts, id, ts", "ts + 1"):
        with pytest.raises(fl.FanlightError, match="than that of rows, ORDER BY ts, id; "):
            read(order)
