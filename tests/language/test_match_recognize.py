"""What is read of ``MATCH_RECOGNIZE``, and what is refused by name, without Spark."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

import fanlight as fl
from fanlight.engine.spec.frames.row_patterns import parse_pattern
from fanlight.language.match_recognize import last_variables
from fanlight.language.query import Query, selected_columns

TABLE = "SELECT * FROM bids MATCH_RECOGNIZE ("


def read(text):
    (one,) = Query(text).recognitions
    return one


def within(text):
    return read(f"{TABLE}{text})")


def refused(text):
    with pytest.raises(fl.FanlightError) as raised:
        Query(text)
    return str(raised.value)


def same(one, other):
    return repr(one) == repr(other)


def test_all_parts_are_read():
    text = """SELECT m.item FROM db.bids AS b MATCH_RECOGNIZE (
        PARTITION BY item, s.`Lane No` ORDER BY ts ASC, id
        MEASURES FIRST(Low.ts) AS since, MAX(low.price + 1) AS `the most`, MATCH_NUMBER() AS "nr"
        ONE ROW PER MATCH AFTER MATCH SKIP TO LAST high
        PATTERN (low{2,} /* two or more */ (HIGH | peak)+?) WITHIN INTERVAL '1' HOUR
        SUBSET top = (high, "peak"), each = (LOW, peak)
        DEFINE low AS price < 3, -- cheap
               High AS RUNNING LAST(price) > 9 AND x IN (1, 2)) AS m WHERE m.nr > 1"""
    one = read(text)
    wanted = fl.PatternFrame(
        "low{2,} (HIGH | peak)+?",
        {"low": "price < 3", "HIGH": "LAST(price) > 9 AND x IN (1, 2)"},
        within="1 hour",
        after_match="last HIGH",
    )
    assert same(one.clause.spec, wanted)
    assert one.clause.time == (("ts",),)
    assert one.clause.by == (("item",), ("s", "Lane No"))
    assert one.clause.tiebreak == (("id",),)
    assert [measure.name for measure in one.measures] == ["since", "the most", "nr"]
    assert one.variables == {
        "low": ("low",), "high": ("HIGH",), "peak": ("peak",), "top": ("HIGH", "peak"),
        "each": ("low", "peak"),
    }  # fmt: skip
    assert (one.alias, one.all_rows) == ("b", False)
    bounded = within("ORDER BY ts ALL ROWS PER MATCH PATTERN (a b $) MAX 9 ROWS "
                     "FORGET AFTER INTERVAL '1' DAY DEFINE a AS x > 3")  # fmt: skip
    assert same(bounded.clause.spec, fl.PatternFrame("a b $", {"a": "x > 3"}, max_rows=9))
    assert bounded.clause.forget_after == timedelta(days=1)


SHORT = "ORDER BY ts ALL ROWS PER MATCH PATTERN (a b+) DEFINE b AS x > PREV(x)"


@pytest.mark.parametrize(
    ("before", "relation", "alias"),
    [
        ("bids", "bids", ""),
        ("`a b`.bids", "`a b`.bids", ""),
        ("bids b", "bids", "b"),
        ("bids AS b", "bids", "b"),
        ("(SELECT * FROM t) q", "(SELECT * FROM t)", "q"),
        ("(SELECT * FROM t)", "(SELECT * FROM t)", ""),
        ("(VALUES (1, 2)) AS t(ts, x)", "(VALUES (1, 2)) AS t(ts, x)", ""),
        ("range(10)", "range(10)", ""),
        ("other JOIN bids b", "bids", "b"),
        ("other, bids", "bids", ""),
        ("other CROSS JOIN (bids", "bids", ""),
    ],
)
def test_the_table_stands_before_it(before, relation, alias):
    text = f"SELECT 1 FROM {before} MATCH_RECOGNIZE ({SHORT})"
    query = Query(text + ")" * (text.count("(") - text.count(")")))
    (one,) = query.recognitions
    assert query.call_reader.one_line(*one.relation) == relation
    assert one.alias == alias


def test_it_may_stand_in_every_place_of_a_text():
    it = f"MATCH_RECOGNIZE ({SHORT})"
    text = f"""WITH a AS (SELECT * FROM t {it}), b AS (SELECT * FROM a)
        SELECT count(*) FROM (SELECT max(x) AS x, window.start AS ts FROM u {it} AS m
        [WATTR ts RANGE 1 HOUR]) {it} WHERE 1 IN (SELECT x FROM b {it}) UNION ALL
        (SELECT count(*) FROM (SELECT * FROM v {it}) AS v {it})"""
    query = Query(text)
    found = {query.call_reader.one_line(*one.relation): one for one in query.recognitions}
    assert len(found) == 6
    assert [name for name, _ in found["b"].visible] == ["a", "b"]
    assert [name for name, _ in found["t"].visible] == []
    assert len(query.selects) == 1
    outer = query.outermost_recognitions(0, query.end)
    assert len(outer) == 4
    assert found["u"] not in outer
    assert found["v"] not in outer


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("PAST LAST ROW", "past last row"),
        ("to next row", "next row"),
        ("TO FIRST B", "first b"),
        ("TO LAST b", "last b"),
        ('TO "b"', "last b"),
    ],
)
def test_where_the_next_match_begins(written, wanted):
    text = f"ORDER BY ts MEASURES a.x AS x AFTER MATCH SKIP {written} PATTERN (a b)"
    assert within(text).clause.spec.after_match == wanted


def test_a_time_that_is_a_number_has_a_number_within():
    spec = within("ORDER BY n MEASURES 1 AS x PATTERN (a b) WITHIN 3").clause.spec
    assert same(spec, fl.PatternFrame("a b", {}, within=3))


def test_names_of_parts_may_be_names_of_columns():
    one = within(
        "PARTITION BY define ORDER BY pattern, measures MEASURES a.within AS subset, a.define AS "
        "pattern ALL ROWS PER MATCH OMIT EMPTY MATCHES PATTERN (a within) DEFINE within AS "
        "within > 3 AND subset = 1"
    )
    assert one.clause.by == (("define",),)
    assert one.clause.tiebreak == (("measures",),)
    assert [measure.name for measure in one.measures] == ["subset", "pattern"]
    assert same(
        one.clause.spec,
        fl.PatternFrame("a within", {"within": "within > 3 AND subset = 1"}),
    )


def test_the_columns_of_a_query_around_it_are_known():
    assert selected_columns(f"SELECT k, max(n) AS most FROM t MATCH_RECOGNIZE ({SHORT})") == (
        "k", "most",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("a b+", ["b"]),
        ("a b? c*", ["c", "b", "a"]),
        ("a (b | {- c -})", ["c", "b"]),
        ("PERMUTE(a, b)", ["b", "a"]),
        ("a $", ["a"]),
    ],
)
def test_variables_of_the_last_row(pattern, names):
    assert last_variables(parse_pattern(pattern)) == names


# The part between ^ is what the error points at.
def test_names_stand_without_as():
    one = within("""ORDER BY ts MEASURES MATCH_NUMBER() nr, a.x > 3 high, LAST(a.s) = 'x' AS same,
        a.s LIKE 'x' odd, CASE WHEN x > 1 THEN 2 END two PATTERN (a)""")
    assert [measure.name for measure in one.measures] == ["nr", "high", "same", "odd", "two"]


def test_a_quoted_name_of_a_measure_is_a_name_in_all_of_the_text():
    text = f"""SELECT "n 1", 'n 1', "a" FROM (
        SELECT "n 1" {TABLE.removeprefix("SELECT *")}ORDER BY ts MEASURES COUNT(*) AS "n 1"
        PATTERN ("n 1" "a") DEFINE "a" AS x > "y")) ORDER BY "n 1" """
    asked = Query(text)
    assert asked.text == text.replace('SELECT "n 1"', "SELECT `n 1`").replace(
        'AS "n 1"', "AS `n 1`"
    ).replace('BY "n 1"', "BY `n 1`")
    assert asked.recognitions[0].clause.spec.pattern == '"n 1" "a"'


def test_an_earlier_row_has_another_name():
    said = "x>LAG(x) OR RUNNING LAST(x) < lag (y, 2)"
    one = within(f"PARTITION BY k ORDER BY ts PATTERN (a) DEFINE a AS {said}")
    wanted = fl.PatternFrame("a", {"a": "x> PREV (x) OR LAST(x) < PREV (y, 2)"})
    assert same(one.clause.spec, wanted)


@pytest.mark.parametrize(
    ("pattern", "left_out", "read"),
    [
        ("a {- b+ -} c", ("b",), "a ( b+ ) c"),
        ('({- b | "{-" -} c?)+', ("b", "{-"), '(( b | "{-" ) c?)+'),
        ("{- PERMUTE(a, b) -} c", ("a", "b"), "( PERMUTE(a, b) ) c"),
        ("a {- a -} b", (), "a {- a -} b"),
        ("a b", (), "a b"),
    ],
)
def test_variables_that_are_left_out(pattern, left_out, read):
    one = within(f"ORDER BY ts ALL ROWS PER MATCH SHOW EMPTY MATCHES PATTERN ({pattern})")
    assert (one.left_out, one.clause.spec.pattern) == (left_out, read)
    assert within(f"ORDER BY ts MEASURES 1 AS x PATTERN ({pattern})").left_out == ()


WRONG = [
    ("MEASURES a.x AS x PATTERN (a)", "has no ORDER BY; write"),
    ("ORDER BY ts MEASURES a.x AS x", "has no PATTERN; write"),
    ("ORDER BY ^ts DESC^ PATTERN (a)", "falling order.*leave DESC out"),
    ("ORDER BY ts ^NULLS LAST^ PATTERN (a)", "orders nulls"),
    ("ORDER BY ^ts + 1^ PATTERN (a)", "is not a column"),
    ("ORDER BY ts^,^ PATTERN (a)", "nothing on one side"),
    ("^PARTITON^ BY k ORDER BY ts PATTERN (a)", "write PARTITION"),
    ("ORDER BY ts ^ORDER BY^ ts PATTERN (a)", "is written twice"),
    ("ORDER BY ts ^MEASURES^ PATTERN (a)", "has nothing after it"),
    ("ORDER BY ts MEASURES ^a.x^ PATTERN (a)", "has no name; write a.x AS x"),
    ("PARTITION BY k ORDER BY ts MEASURES a.k AS ^K^ PATTERN (a)", "another column"),
    ("ORDER BY ts ^MESURES^ 1 AS x PATTERN (a)", "write MEASURES"),
    ("ORDER BY ts MEASURES 1 AS x ^PATERN^ (a)", "write PATTERN"),
    ("ORDER BY ts MEASURES 1 AS x ^AFTER MATCH SKP^ TO NEXT ROW PATTERN (a)", "MATCH SKIP PAST"),
    ("ORDER BY ts MEASURES 1 AS x PATTERN (a) MAX 3 ROWS ^PER MATCH^", "leave it out"),
    ("ORDER BY ts MEASURES 1 AS x PATTERN (a) ^MAX 3^", "after the pattern"),
    ("ORDER BY ts MEASURES ^PREV(a.x)^ AS x PATTERN (a)", "beside those that match"),
    ("ORDER BY ts MEASURES ^NEXT(a.x)^ AS x PATTERN (a)", "beside those that match"),
    ("ORDER BY ts MEASURES sum(a.x) ^OVER ()^ AS x PATTERN (a)", "not of one match"),
    ("ORDER BY ts MEASURES ^(SELECT 1)^ AS x PATTERN (a)", "sub-query"),
    ("ORDER BY ts MEASURES 1 AS x ONE ROW PER MATCH ^ALL ROWS PER MATCH^ PATTERN (a)",
     "contradicts ONE ROW PER MATCH"),
    ("ORDER BY ts MEASURES ^LAG(a.x)^ AS x PATTERN (a)", "beside those that match"),
    ("ORDER BY ts MEASURES a.x AS x ^ALL ROW PER MATCH^ PATTERN (a)", "ALL ROWS PER MATCH"),
    ("ORDER BY ts MEASURES ^x IS NULL^ PATTERN (a)", "has no name; write x IS NULL AS x"),
    ("ORDER BY ts MEASURES ^CASE WHEN x > 1 THEN 2 END^ PATTERN (a)", "has no name"),
    ("ORDER BY ts MEASURES ^x + INTERVAL '1' HOUR^ PATTERN (a)", "has no name"),
    ('ORDER BY ^"ts"^ PATTERN (a)', "write `ts` for the column"),
    ("^LIMIT DURATION (minute, 1)^ ORDER BY ts PATTERN (a)", r"write PATTERN \(…\) WITHIN"),
    ("ORDER BY ts ^LIMIT DURATION^ PATTERN (a)", "and ORDER BY the time"),
    ("ORDER BY ts AFTER MATCH SKIP TO LAST ^u^ PATTERN (a b) SUBSET u = (a, b)", "a or b"),
    ("ORDER BY ts PATTERN (a b) DEFINE a AS x > 1 ^b AS^ x > 2", "write , b AS …"),
    ("ORDER BY ts PATTERN (a b) DEFINE b AS x > ^LAG(x, 1, 0)^",
     r"write COALESCE\(LAG\(x, 1\), 0\)"),
    ("ORDER BY ts PATTERN (a b) DEFINE b AS x > avg(x) ^OVER ()^", "compute it in a sub-query"),
    ("ORDER BY ts PATTERN (a b) DEFINE b AS ^DATEDIFF(ts, PREV(ts)) < 2^", "subtract: ts - prev"),
    ("ORDER BY ts ALL ROWS PER MATCH ^WITH UNMATCHED ROWS^ PATTERN (a ({- b -} c)+)",
     "leave out WITH UNMATCHED ROWS, or"),
    ("ORDER BY ts MEASURES 1 AS x ONE ROW PER MATCH ^WITH UNMATCHED ROWS^ PATTERN (a)",
     "is not expected after ONE ROW"),
    ("ORDER BY ts ALL ROWS PER MATCH ^OMIT^ PATTERN (a)", "is not expected after ALL ROWS"),
    ("ORDER BY ts ALL ROWS PER MATCH ^AFTER MATCH SKIP TO NEXT ROW^ PATTERN (a !b c)",
     "several matches.*PAST LAST ROW"),
    ("ORDER BY ts ALL ROWS PER MATCH ^AFTER MATCH SKIP TO LAST b^ PATTERN (a {- a -} b)",
     "several matches.*PAST LAST ROW"),
    ("ORDER BY ts ALL ROWS PER MATCH WITH UNMATCHED ROWS ^AFTER MATCH SKIP TO b^ PATTERN (a b)",
     "several matches.*PAST LAST ROW"),
    ("ORDER BY ts MEASURES 1 AS x AFTER MATCH SKIP ^TO THE NEXT^ PATTERN (a)", "PAST LAST ROW"),
    ("ORDER BY ts MEASURES 1 AS x AFTER MATCH SKIP TO FIRST ^lowe^ PATTERN (low)", "write low"),
    ("ORDER BY ts PATTERN (a ^(?! b)^)", "regular expressions.*!b"),
    ("ORDER BY ts PATTERN (^() | ()+^)", "names no variable"),
    ("ORDER BY ts PATTERN (^a | ()^)", "may match no row"),
    ("ORDER BY ts PATTERN (a) WITHIN ^0^", "WITHIN 0 must be positive; write.* WITHIN 1"),
    ("ORDER BY ts PATTERN (^a*^)", "may match no row"),
    ("ORDER BY ts PATTERN (^a +?* b^)", "has nothing before it"),
    ("ORDER BY ts PATTERN (^a !b^) DEFINE b AS x > 1", "WITHIN INTERVAL '10' MINUTE"),
    ("ORDER BY ts PATTERN (a) ^b^ DEFINE a AS x > 1", "not expected after the pattern"),
    ("ORDER BY ts PATTERN (a) WITHIN ^INTERVAL '1' MONTH^", "no fixed length"),
    ("ORDER BY ts PATTERN (a b) SUBSET u = (a, ^c^)", "not a variable of the pattern"),
    ("ORDER BY ts PATTERN (a b) SUBSET ^A^ = (a, b)", "already a variable"),
    ("ORDER BY ts PATTERN (a b) SUBSET ^u = a^", r"write SUBSET u = \(a, b\)"),
    ("ORDER BY ts PATTERN (a b) SUBSET u = (a, b) DEFINE ^u^ AS x > 1", "is a SUBSET"),
    ("ORDER BY ts PATTERN (a b) SUBSET u = (a, b) DEFINE b AS x > ^u.x^",
     r"only MEASURES.*greatest\(max\(a\.x\), max\(b\.x\)\).*count\(a\.\*\) \+ count\(b\.\*\)"),
    ("ORDER BY ts PATTERN (a b) DEFINE ^c^ AS x > 1", "not a variable of the pattern"),
    ("ORDER BY ts PATTERN (a b) DEFINE a AS x > 1, ^A^ AS x < 1", "is defined twice"),
    ("ORDER BY ts PATTERN (a b) DEFINE a AS x > 1, ^b x^", "is not a definition"),
    ("ORDER BY ts PATTERN (a b) DEFINE b AS x < ^NEXT(x)^", "beside those that match"),
    ("ORDER BY ts PATTERN (a b) DEFINE b AS ^CLASSIFIER() = 'a'^", "which variable"),
    ("ORDER BY ts PATTERN (a b) DEFINE b AS ^FINAL LAST^(x) > 1", "leave FINAL out"),
    ("ORDER BY ts PATTERN (a b) DEFINE b AS x > ^(SELECT 1)^", "sub-query"),
]  # fmt: skip


@pytest.mark.parametrize(("marked", "words"), WRONG, ids=[text for text, _ in WRONG])
def test_errors_point_at_the_word(marked, words):
    before, part, after = marked.split("^") if "^" in marked else ("", "", marked)
    message, line, carets = refused(f"{TABLE}{before}{part}{after})").split("\n")
    at = carets.index("^")
    assert line[at : at + carets.count("^")] == (part or "MATCH_RECOGNIZE")
    column = len(TABLE + before) if part else TABLE.index("MATCH")
    assert message.startswith(f"line 1, column {column + 1}: ")
    assert re.search(words, message), message


def test_a_misspelt_word_is_told():
    assert "write MATCH_RECOGNIZE" in refused(f"SELECT 1 FROM t MATCH_RECOGNISE ({SHORT})")


def test_matches_without_columns_are_refused():
    text = f"{TABLE}ORDER BY ts PATTERN (a) DEFINE a AS x > 1)"
    assert "gives no columns; write MEASURES" in refused(text)


def test_the_words_of_a_stream_stand_in_the_brackets():
    text = f"SELECT * FROM bids TIMESTAMP BY at {TABLE.partition('bids')[2]}{SHORT})"
    assert "TIMESTAMP BY at is not how rows are ordered here; write ORDER BY at" in refused(text)


def test_it_follows_a_table():
    assert "follows no table" in refused(f"SELECT 1 FROM MATCH_RECOGNIZE ({SHORT})")
