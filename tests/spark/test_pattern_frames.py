"""Patterns on Spark: what streams give is what batches give, and values of any type are read."""

from __future__ import annotations

import random
import re

import pytest
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import FanlightError, agg
from tests.helpers.dataframes import collected, frame
from tests.helpers.streams import gather_batches, stream, stream_of
from tests.law.data import minute

DEFINE = {"a": "s = 'x'", "b": "s = 'y'", "c": "v > 1", "d": "n < prev(n)"}
RISES = {"low": "v < 3", "up": "v > low.v and (n > last(up.n, 1) or count(up.*) < 2)"}


def pattern(text, **more):
    """A pattern with the definitions of the variables that it has."""
    named = {name: one for name, one in DEFINE.items() if name in text}
    return fl.PatternFrame(text, named, **more)


SPECS = {
    "repeated": pattern("a+ b{1,2} c", within="15 minutes"),
    "in few rows": pattern("a (b | c)*? d", max_rows=6),
    "of three rows": pattern("a d? b"),
    "absent between": pattern("a !(b | c) d", within="9 minutes"),
    "absent after": pattern("a b? !c", within="4 minutes"),
    "running": fl.PatternFrame("low+ up{1,3}", RISES, within="20 minutes", after_match="last up"),
    "overlapping": pattern("a c+", within="9 minutes", after_match="next row"),
    "the first": pattern("^ b | a c{0,3} b", matches="first"),
}  # fmt: skip
ASKED = {
    "many": agg.count(), "least": agg.min("v"), "texts": agg.collect_list("s"),
}  # fmt: skip


def draw_rows(seed, count=150):
    """Rows of two keys in order of time, now and then two at one time."""
    draw, at, rows = random.Random(seed), 0, []
    for seq in range(count):
        at += draw.choice([0, 1, 1, 2, 3])
        values = {"s": draw.choice(["x", "y", None]), "v": draw.choice([None, 0.0, 2.0, 3.5])}
        rows.append(minute(at, k=draw.choice(["a", "b"]), seq=seq, n=draw.randrange(9), **values))
    return rows


def search(df, spec, **more):
    return fl.over(df, spec, **{"time": "ts", "by": "k", "tiebreak": "seq", **more})


def ask(df, spec, **more):
    of = {name: agg.count().of(name) for name in spec.variables}
    return search(df, spec, **more).agg(**ASKED, **of)


def shown(rows):
    return sorted((row["k"], row["frame_id"], repr(row)) for row in rows)


@pytest.mark.streaming
@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_a_stream_out_of_order_gives_what_a_batch_gives(classic, tmp_path, spec):
    rows = draw_rows(3)
    mixed = sorted(rows, key=lambda row: (row["seq"] // 8, row["n"]))
    batches = [mixed[at : at + 25] for at in range(0, len(mixed), 25)]
    found = stream(
        classic, tmp_path, batches, delay="40 minutes", query=lambda df: ask(df, spec)
    )  # fmt: skip
    found = [row for row in found if row["k"] in ("a", "b")]
    expected = collected(ask(frame(classic, rows), spec).where("closed"))
    assert shown(found) == shown(expected)
    assert found


@pytest.mark.streaming
@pytest.mark.parametrize(
    "spec", [SPECS["absent after"], SPECS["running"]], ids=["absent", "running"]
)
def test_a_stream_of_one_row_at_a_time_that_is_restarted(classic, tmp_path, spec):
    rows = draw_rows(5, 24)
    found = []
    for part in (rows[:10], rows[10:], [minute(999, k="z", seq=99)]):
        df = stream_of(classic, tmp_path, [[row] for row in part], "1 minute")
        found += [
            one for given in gather_batches(ask(df, spec), tmp_path, "append") for one in given
        ]
    expected = collected(ask(frame(classic, rows), spec).where("closed"))
    assert shown(found) == shown(expected)
    assert len(found) > 1


@pytest.mark.streaming
@pytest.mark.parametrize("name", ["repeated", "running"])
def test_rows_of_a_stream_have_their_match(classic, tmp_path, name):
    spec = (
        pattern("a {- b -} (c | d)")
        if name == "repeated"
        else fl.PatternFrame("low+ up{1,3}", RISES, within="20 minutes")
    )
    rows = draw_rows(8, 90)
    batches = [rows[at : at + 30] for at in range(0, len(rows), 30)]
    found = stream(
        classic, tmp_path, batches, delay="1 minute", query=lambda df: search(df, spec).rows()
    )
    found = {row["seq"]: row for row in found if row["k"] in ("a", "b")}
    expected = {row["seq"]: row for row in collected(search(frame(classic, rows), spec).rows())}
    assert found == {seq: expected[seq] for seq in found}
    late = {seq for seq in expected if seq not in found}
    assert len(found) > 60
    assert all(seq > 60 for seq in late)
    assert {row["classifier"] for row in found.values()} > {None}


@pytest.mark.streaming
def test_the_end_of_a_key_that_is_forgotten(classic, tmp_path):
    spec = pattern("a+ $", max_rows=3)
    rows = [minute(at, k="a", seq=at, s=s) for at, s in enumerate("xyxx")]
    rows += [minute(100 + at, k="a", seq=100 + at, s=s) for at, s in enumerate("yx")]
    found = stream(
        classic, tmp_path, [rows, [minute(300, k="z")]], delay="1 minute",
        query=lambda df: ask(df, spec, forget_after="20 minutes"),
    )  # fmt: skip
    batch = collected(ask(frame(classic, rows), spec, forget_after="20 minutes"))
    assert [row["many"] for row in sorted(batch, key=lambda row: row["window"]["start"])] == [2, 1]
    assert shown(row for row in found if row["k"] == "a") == shown(batch)


@pytest.mark.streaming
def test_early_matches(classic, tmp_path):
    """A match that may still grow is given early, and then finally."""
    spec = pattern("a+", within="1 hour")
    batches = [[minute(at, k="a", seq=at, s=s)] for at, s in enumerate("xxxyz")]
    df = stream_of(classic, tmp_path, batches, "0 seconds")
    early = search(df, spec).early("1 minute").agg(n=agg.count())
    given = gather_batches(early, tmp_path)
    found = [(row["n"], row["final"]) for rows in given for row in rows]
    assert found[-1] == (3, True)
    assert (2, False) in found


TYPES = {
    "a text": ("s", "s <> prev(s) and s > first(s)"),
    "a time": ("ts", "ts - prev(ts) >= interval 2 minutes"),
    "a date": ("cast(ts as date)", "x = prev(x)"),
    "a decimal": ("cast(v * 1.5 as decimal(9, 3))", "x - prev(x) > 0.75 and x <> 5.25"),
    "a whole number": ("n", "x % 2 = 1 and x >= coalesce(prev(x, 2), 3)"),
    "a float": ("cast(v as float)", "x / nullif(prev(x), 0) > 1.1 or prev(x) is null"),
    "a flag": ("v > 1", "x and not prev(x)"),
    "a duration": ("(n * interval 1 minute)", "x > prev(x) and sum(x) < interval 12 minutes"),
}


@pytest.mark.parametrize("kind", TYPES)
def test_definitions_agree_with_sql_of_the_row(classic, kind):
    """A pattern of one row has one row as match: what ``lag`` and the row itself say."""
    text, given = TYPES[kind]
    rows = draw_rows(11, 60)
    df = frame(classic, rows).withColumn("x", F.expr(text))
    found = {
        row["seq"]
        for row in collected(search(df, fl.PatternFrame("p", {"p": given})).rows())
        if row["classifier"] == "p"
    }
    over = "over (partition by k order by ts, seq)"
    sql = given.replace("first(s)", "s").replace("sum(x)", "x")
    for name in ("ts", "s", "x"):
        sql = sql.replace(f"prev({name}, 2)", f"lag({name}, 2) {over}")
        sql = sql.replace(f"prev({name})", f"lag({name}) {over}")
    expected = {
        row["seq"] for row in collected(df.selectExpr("*", f"{sql} as holds")) if row["holds"]
    }
    assert found == expected
    assert len(expected) > 3 or kind == "a text"


REFUSED = {
    "unbounded": (pattern("a+ b"), "write within='1 hour' or max_rows=100"),
    "an end": (pattern("a b $"), "forget_after='1 day'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_streams_that_would_not_end_are_refused(classic, tmp_path, name):
    spec, words = REFUSED[name]
    df = stream_of(classic, tmp_path, [[minute(0, s="x")]], "1 minute")
    with pytest.raises(FanlightError, match=words):
        search(df, spec)


def test_explain_says_what_a_stream_keeps_and_when_it_gives_a_match(classic, tmp_path):
    df = stream_of(classic, tmp_path, [[minute(0, s="x")]], "1 minute")
    page = search(df, pattern("a+ b", within="3 minutes")).explain()
    assert re.search(r"emits +a match once no row that may yet come can change it\n", page)
    assert re.search(r"keeps +for each key, the rows from .* may still begin a match; in ", page)


def test_early_matches_that_a_row_may_refute_are_refused(classic, tmp_path):
    df = stream_of(classic, tmp_path, [[minute(0, s="x")]], "1 minute")
    spec = pattern("a !b", within="3 minutes")
    with pytest.raises(FanlightError, match="a later row refutes; leave out"):
        search(df, spec).early("1 minute").agg(n=agg.count())


def test_long_numbers_are_compared_exactly(classic):
    top = 2**62
    df = classic.range(6).selectExpr("id as t", f"id + {top} as b")
    for said, seen in (
        (f"last(b) = {top + 1}", [1]),
        (f"last(b) in ({top + 1}, 7)", [1]),
        (f"prev(b) > {top + 1}", [3, 4, 5]),
        (f"last(t) + {top + 1} = b + 1", [0, 1, 2, 3, 4, 5]),
        ("sum(case when a.t > 3 then 1 end) = 1", [4, 5]),
    ):
        found = fl.over(df, fl.PatternFrame("a", {"a": said}), time="t").rows()
        matched = found.where("classifier = 'a'").orderBy("t").collect()
        assert [row["t"] for row in matched] == seen, said


ALIKE = (
    "{y} > 3", "not ({y} < 3)", "{y} = {y}", "{y} between 1 and 100", "{y} * 2 > 6", "{y} is null",
    "{big} + 100 > 0", "{n} + 100 < 0", "1 / {x} > 0", "{x} in (0, 7)", "{x} + x > 6",
    "{e} = 'p'", "{e} < 'q' or {x} = 7", "abs({x} - 3) > 3",
)  # fmt: skip


def test_a_column_of_a_variable_is_its_last_value(classic):
    """Whatever is around it: also where a number is NaN, too large, or divided by zero."""
    df = classic.sql("""SELECT *, 9223372036854775800L + x AS n, cast(2147483640 + x AS int) AS big
        FROM VALUES (1, 0, 9.5D, 'p'), (2, 6, double('nan'), 'q'), (3, 7, 7D, 'r'), (4, 1, 6D, null)
        AS t(t, x, y, e)""")

    def found(condition):
        spec = fl.PatternFrame("a b", {"b": condition}, after_match="next row")
        matches = fl.over(df, spec, time="t").agg(t=agg.first("t"))
        return sorted(row["t"] for row in matches.collect())

    for text in ALIKE:
        given, told = (found(re.sub(r"{(\w+)}", form, text)) for form in (r"a.\1", r"last(a.\1)"))
        assert given == told, text


def test_variables_are_spelled_in_any_case(classic):
    df = frame(classic, draw_rows(1, 40))
    found = search(df, pattern("a+")).agg(one=agg.count().of("a"), other=agg.count().of("A"))
    assert [(row["one"], row["other"]) for row in found.collect()] == [
        (row["one"],) * 2 for row in found.collect()
    ]
    with pytest.raises(FanlightError, match="name all variables together"):
        agg.count().of("a").of("b")


WRONG = {
    "a window function": ({"a": "row_number() over (order by n) = 2"}, "write prev\\(x\\)"),
    "lag": ({"a": "n > lag(n)"}, "write prev\\(x\\)"),
    "another number than one of 64 bits": ({"a": f"prev(n) < {10**30}"}, "64 bits do not hold"),
    "not a condition": ({"a": "n + 1"}, "not a condition"),
    "not a condition of matched rows": ({"a": "n + prev(n)"}, "is not a condition"),
    "unlike types": ({"a": "s > prev(n)"}, "has > with a text and a number"),
    "a type that is not read": ({"a": "array(n) = prev(array(n))"}, "of type array<"),
    "a column that is not there": ({"a": "speed > prev(speed)"}, "speed"),
    "a sum of texts": ({"a": "sum(s) > 3"}, "sum\\(…\\) of texts"),
    "an aggregate": ({"a": "stddev(n) > 3"}, "use count, sum, avg, min or max"),
    "a local time": (
        {"a": "prev(cast(ts as timestamp_ntz)) < timestamp'2024-01-01'"},
        "cast inside: prev\\(cast\\(x as timestamp\\)\\), and",
    ),
    "rows back, below none": ({"a": "prev(n, -1) > 3"}, "prev\\(…, -1\\), which is not a whole"),
    "a subquery": ({"a": "n > (select 3)"}, "has a subquery"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_definitions_are_refused(classic, name):
    define, words = WRONG[name]
    with pytest.raises(FanlightError, match=words):
        ask(frame(classic, draw_rows(1, 5)), fl.PatternFrame("a b", define)).collect()


def test_variables_of_other_windows(classic):
    df = frame(classic, draw_rows(1, 5))
    with pytest.raises(FanlightError, match="only a pattern has variables"):
        fl.over(df, fl.Sliding("1 minute"), time="ts").agg(agg.count().of("a"))
    with pytest.raises(FanlightError, match="'bb', which is not a variable"):
        search(df, SPECS["repeated"]).agg(agg.count().of("bb"))
    with pytest.raises(FanlightError, match="these frames overlap"):
        search(df, SPECS["overlapping"]).rows()


def test_columns_of_hostile_names_without_keys(classic):
    df = frame(classic, draw_rows(2)).withColumnsRenamed({"s": "a.b", "v": "Lane No", "n": "end"})
    spec = fl.PatternFrame(
        "p q+", {"p": "`a.b` = 'x'", "q": "`Lane No` > prev(`Lane No`, 1) or end < p.end"}
    )
    found = fl.over(df, spec, time="ts", tiebreak="seq").agg(
        agg.count().of("q"), most=agg.max("Lane No").of("p", "q")
    )
    assert found.count() > 3
    assert "count(1) OF q" in found.columns
