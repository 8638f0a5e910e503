"""``MATCH_RECOGNIZE``: queries as others document them, with results that were found by hand."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight.language.running.run import explain
from tests.helpers.dataframes import all_of
from tests.helpers.streams import ended, stream_of

# Prices of two shares, a row a minute; the first falls twice and rises again, the second once.
PRICES = {"ACME": [12, 17, 19, 21, 25, 18, 15, 14, 24, 20, 26, 19], "EMCA": [9, 8, 8, 7, 9]}
ROWS = [
    f"('{symbol}', {60 * at}, {price}, {1 + at % 3})"
    for symbol, prices in PRICES.items()
    for at, price in enumerate(prices)
]
TICKER = f"""
    SELECT symbol, timestamp_seconds(at) AS rowtime, price, tax
    FROM VALUES {", ".join(ROWS)} AS t(symbol, at, price, tax)
"""


@pytest.fixture
def ticker(spark):
    return spark.sql(TICKER)


def rows_of(df):
    """The rows as tuples of plain values, in the order of their texts; times as minutes."""
    times = [name for name, kind in df.dtypes if kind == "timestamp"]
    shown = [
        f"unix_seconds(`{name}`) div 60 as `{name}`" if name in times else f"`{name}`"
        for name in df.columns
    ]
    return sorted((tuple(row) for row in df.selectExpr(*shown).collect()), key=repr)


def recognized(ticker, text, **more):
    return rows_of(fl.sql(text, Ticker=ticker, **more))


# Falls that end, as in Flink's documentation; a price may not stay the same.
FALLS = """
    DEFINE
        PRICE_DOWN AS
            (LAST(PRICE_DOWN.price, 1) IS NULL AND PRICE_DOWN.price < START_ROW.price) OR
                PRICE_DOWN.price < LAST(PRICE_DOWN.price, 1),
        PRICE_UP AS
            PRICE_UP.price > LAST(PRICE_DOWN.price)
"""


def test_falling_prices_as_flink_writes_them(ticker):
    text = f"""
        SELECT * FROM Ticker
            MATCH_RECOGNIZE (
                PARTITION BY symbol
                ORDER BY rowtime
                MEASURES
                    START_ROW.rowtime AS start_tstamp,
                    LAST(PRICE_DOWN.rowtime) AS bottom_tstamp,
                    LAST(PRICE_UP.rowtime) AS end_tstamp
                ONE ROW PER MATCH
                AFTER MATCH SKIP TO LAST PRICE_UP
                PATTERN (START_ROW PRICE_DOWN+ PRICE_UP)
                {FALLS}
            ) MR
    """
    assert recognized(ticker, text) == [
        ("ACME", 4, 7, 8), ("ACME", 8, 9, 10), ("EMCA", 2, 3, 4),
    ]  # fmt: skip


def test_an_average_that_stays_low_as_flink_writes_it(ticker):
    text = """
        SELECT * FROM Ticker MATCH_RECOGNIZE (
            PARTITION BY symbol ORDER BY rowtime
            MEASURES FIRST(A.rowtime) AS start_tstamp, LAST(A.rowtime) AS end_tstamp,
                     AVG(A.price) AS avgPrice
            ONE ROW PER MATCH
            AFTER MATCH SKIP PAST LAST ROW
            PATTERN (A+ B)
            DEFINE A AS AVG(A.price) < 18
        ) MR
    """
    # 12, 17, 19, 21 have an average of 17.25, and with 25 of 18.8; 15, 14, 24 of 17.7, and with 20
    # of 18.25. The last row has to be left for B.
    assert recognized(ticker, text) == [
        ("ACME", 0, 3, 17.25), ("ACME", 6, 8, 53 / 3), ("EMCA", 0, 3, 8.0),
    ]  # fmt: skip


def test_a_time_between_as_flink_writes_it(ticker):
    """A price that falls by 10 or more within a time, and is higher in between."""
    text = """
        SELECT * FROM Ticker MATCH_RECOGNIZE (
            PARTITION BY symbol ORDER BY rowtime
            MEASURES C.rowtime AS dropTime, A.price - C.price AS dropDiff
            ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
            PATTERN (A B* C) WITHIN INTERVAL '{}' MINUTE
            DEFINE B AS B.price > A.price - 10, C AS C.price <= A.price - 10
        )
    """
    # From 25 at 4: 18 is B at 5, and 15 at 6 is C. A row at the end of the time is outside it.
    assert recognized(ticker, text.format(2)) == []
    assert recognized(ticker, text.format(3)) == [("ACME", 6, 10)]


def test_all_rows_of_a_v_as_oracle_writes_it(ticker):
    text = """
        SELECT * FROM Ticker MATCH_RECOGNIZE (
            PARTITION BY symbol ORDER BY rowtime
            MEASURES MATCH_NUMBER() AS match_num, CLASSIFIER() AS var_match, price + tax AS gross
            ALL ROWS PER MATCH
            AFTER MATCH SKIP PAST LAST ROW
            PATTERN (STRT DOWN+ UP+)
            DEFINE DOWN AS DOWN.price < PREV(DOWN.price), UP AS UP.price > PREV(UP.price)
        ) MR WHERE MR.symbol = 'ACME' ORDER BY MR.symbol, MR.match_num, MR.rowtime
    """
    df = fl.sql(text, Ticker=ticker)
    assert df.columns == ["symbol", "rowtime", "match_num", "var_match", "gross", "price", "tax"]
    assert [tuple(row)[2:] for row in df.collect()] == [
        (1, "STRT", 27, 25, 2), (1, "DOWN", 21, 18, 3), (1, "DOWN", 16, 15, 1),
        (1, "DOWN", 16, 14, 2), (1, "UP", 27, 24, 3),
    ]  # fmt: skip


def test_rows_of_no_match_as_the_standard_has_them(spark):
    prices = spark.sql("""SELECT posexplode(array(50, 60, 49, 40, 35, 45, 45, 45, 43, 47, 52, 70,
        60)) AS (day, price)""")
    text = """
        SELECT * FROM Ticker MATCH_RECOGNIZE (
            ORDER BY day
            MEASURES MATCH_NUMBER() AS nr, CLASSIFIER() AS what, 2 * price AS twice, 42 AS same,
                COALESCE(NULLIF(day, day), 7) AS always
            ALL ROWS PER MATCH WITH UNMATCHED ROWS
            PATTERN (A B+ C+) DEFINE B AS price < PREV(price), C AS price > PREV(price)
        )
    """
    df = fl.sql(text, Ticker=prices)
    assert df.columns == ["day", "nr", "what", "twice", "same", "always", "price"]
    assert [tuple(row) for row in df.orderBy("day").collect()] == [
        (0, None, None, None, None, None, 50),
        (1, 1, "A", 120, 42, 7, 60), (2, 1, "B", 98, 42, 7, 49), (3, 1, "B", 80, 42, 7, 40),
        (4, 1, "B", 70, 42, 7, 35), (5, 1, "C", 90, 42, 7, 45),
        (6, None, None, None, None, None, 45),
        (7, 2, "A", 90, 42, 7, 45), (8, 2, "B", 86, 42, 7, 43), (9, 2, "C", 94, 42, 7, 47),
        (10, 2, "C", 104, 42, 7, 52), (11, 2, "C", 140, 42, 7, 70),
        (12, None, None, None, None, None, 60),
    ]  # fmt: skip


def test_running_and_final_measures_as_oracle_writes_them(ticker):
    text = """
        SELECT nr, what, bottom, top, up, ups, change, earlier, taxed, price, tax
        FROM Ticker MATCH_RECOGNIZE (
            PARTITION BY symbol ORDER BY rowtime
            MEASURES MATCH_NUMBER() AS nr, CLASSIFIER() AS what,
                unix_seconds(LAST(DOWN.rowtime)) div 60 AS bottom, FINAL LAST(UP.price) AS top,
                COUNT(UP.price) AS up, FINAL COUNT(UP.price) AS ups,
                price - STRT.price AS change, LAST(DOWN.price, 1) AS earlier,
                RUNNING SUM(tax) FILTER (WHERE tax > 1) AS taxed
            ALL ROWS PER MATCH {}
            PATTERN (STRT DOWN+ UP+)
            DEFINE DOWN AS DOWN.price < PREV(DOWN.price), UP AS UP.price > PREV(UP.price)
        ) MR WHERE MR.symbol = 'ACME' ORDER BY MR.rowtime
    """
    found = [tuple(row) for row in fl.sql(text.format(""), Ticker=ticker).collect()]
    assert found == [
        (1, "STRT", None, 24, 0, 1, 0, None, 2, 25, 2),
        (1, "DOWN", 5, 24, 0, 1, -7, None, 5, 18, 3),
        (1, "DOWN", 6, 24, 0, 1, -10, 18, 5, 15, 1),
        (1, "DOWN", 7, 24, 0, 1, -11, 15, 7, 14, 2),
        (1, "UP", 7, 24, 1, 1, -1, 15, 10, 24, 3),
    ]
    every = fl.sql(text.format("WITH UNMATCHED ROWS"), Ticker=ticker).collect()
    assert [tuple(row) for row in every if row["nr"]] == found
    outside = [tuple(row)[:-2] for row in every if row["nr"] is None]
    assert set(outside) == {(None,) * 9}


def test_one_row_of_a_v_as_trino_writes_it(ticker):
    text = """
        SELECT m.symbol, m.starting, m.bottom, m.top, m.how_many, m.c, m.n FROM Ticker AS t
        MATCH_RECOGNIZE (
            PARTITION BY symbol ORDER BY rowtime
            MEASURES A.price AS starting, LAST(B.price) AS bottom, FINAL LAST(U.price) AS top,
                COUNT(U.*) AS how_many, MAX(U.price) AS c, MATCH_NUMBER() AS n
            ONE ROW PER MATCH
            AFTER MATCH SKIP PAST LAST ROW
            PATTERN (A B+ C+ D?)
            SUBSET U = (C, D)
            DEFINE B AS price < PREV(price), C AS price > PREV(price),
                   D AS price < PREV(price) AND price >= FIRST(B.price)
        ) AS m
    """
    # 25, 18 15 14, 24, 20; then 26 is A, 19 is B, and nothing rises. 8, 7, 9: the 9 before it, 8
    # and another 8 are no fall that ends.
    assert recognized(ticker, text) == [("ACME", 25, 14, 20, 2, 24, 1), ("EMCA", 8, 7, 9, 1, 9, 1)]


def test_measures_are_what_the_same_aggregates_are_by_the_api(ticker):
    text = """
        SELECT * FROM Ticker MATCH_RECOGNIZE (
            PARTITION BY symbol ORDER BY rowtime
            MEASURES COUNT(*) AS n, COUNT(down.*) AS downs, SUM(down.price * down.tax) AS paid,
                count(DISTINCT u.tax) FILTER (WHERE u.price > 14) AS taxes, median(price) AS middle,
                LAST(up.price) - FIRST(price) AS gain, price AS final, RUNNING MAX(price) AS most,
                CASE WHEN up.price > 10 THEN 'it''s {much}' END AS said,
                unix_seconds(FIRST(down.rowtime) + INTERVAL '1' HOUR) AS hour_later,
                CAST(FINAL AVG(price) AS INT) AS average, rows AS rows_too, spread(u.price) AS s
            PATTERN (any down+ up) SUBSET u = (down, UP)
            DEFINE down AS price < PREV(price), up AS price > PREV(price)
        )
    """
    found = recognized(ticker, text, spread=SPREAD)
    assert found == [
        ("ACME", 5, 3, 18 * 3 + 15 * 1 + 14 * 2, 2, 18.0, -1, 24, 25, "it's {much}", 3900, 19,
         5, 10),
        ("EMCA", 3, 1, 7, 0, 8.0, 1, 9, 9, None, 3780, 8, 3, 2),
    ]  # fmt: skip


SPREAD = fl.algebra.Aggregate(
    "spread", fields={"hi": fl.algebra.Max("{x}"), "lo": fl.algebra.Min("{x}")}, lower="{hi} - {lo}"
)


def test_matches_are_a_table_like_any_other(ticker):
    it = """MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY rowtime
        MEASURES LAST(b.rowtime) AS at, COUNT(b.*) AS n PATTERN (a b+)
        DEFINE b AS price > PREV(price))"""
    joined = f"""WITH low AS (SELECT * FROM Ticker WHERE price < 25)
        SELECT m.symbol, sum(m.n) AS n, max(t.price) AS price FROM low {it} AS m
        JOIN Ticker AS t ON t.symbol = m.symbol AND t.rowtime = m.at
        GROUP BY m.symbol HAVING count(*) > 0 UNION ALL SELECT 'none', 0, 0"""
    # Without 25 and 26: 12 17 19 21 | 18 15 14 24 | 20 19 and 9 8 8 7 9.
    assert recognized(ticker, joined) == [("ACME", 4, 24), ("EMCA", 1, 9), ("none", 0, 0)]
    windows = (
        f"SELECT window.start AS s, sum(n) AS n FROM Ticker {it} AS m [WATTR at RANGE 5 MINUTES]"
    )
    assert recognized(ticker, windows) == [(0, 5), (10, 1), (5, 1)]
    inner = """SELECT * FROM (SELECT window.start AS s, max(price) AS p
        FROM Ticker [WATTR rowtime RANGE 2 MINUTES] WHERE symbol = 'ACME')
        MATCH_RECOGNIZE (ORDER BY s MEASURES FIRST(p) AS one, LAST(p) AS two PATTERN (a b)
        DEFINE b AS p < PREV(p))"""
    # The most of two minutes each: 17 21 25 15 24 26.
    assert recognized(ticker, inner) == [(25, 15)]


def test_columns_with_hard_names(spark):
    odd = spark.sql("""SELECT id AS ts, named_struct('f', 'k', 'g', id) AS s,
        id * id % 7 AS `Lane No`, id AS window, id + 1 AS rows, array(id) AS arr, id AS hour,
        id AS `select` FROM range(12)""")
    text = """SELECT * FROM Ticker MATCH_RECOGNIZE (PARTITION BY s.f ORDER BY ts
        MEASURES a.s.g AS g, LAST("b".`Lane No`) AS `x.y`, s.f AS window, window AS w, rows AS r,
            a.arr[0] AS e, MATCH_NUMBER() AS frame_id, COUNT(*) AS rows, hour + a.`select` AS h,
            EXTRACT(HOUR FROM make_dt_interval(0, ts)) AS hour,
            TIMESTAMPDIFF(HOUR, timestamp_seconds(0), timestamp_seconds(3600 * ts)) AS hours
        PATTERN (a b+) DEFINE b AS `Lane No` > PREV(`Lane No`))"""
    df = fl.sql(text, Ticker=odd)
    assert df.columns == [
        "f", "g", "x.y", "window", "w", "r", "e", "frame_id", "rows", "h", "hour", "hours",
    ]  # fmt: skip
    # The lanes are 0 1 4 2 2 4 1 0 1 4 2 2.
    assert rows_of(df) == [
        ("k", 0, 4, "k", 2, 3, 0, 1, 3, 2, 2, 2),
        ("k", 4, 4, "k", 5, 6, 4, 2, 2, 9, 5, 5),
        ("k", 7, 4, "k", 9, 10, 7, 3, 3, 16, 9, 9),
    ]
    taken = """SELECT * FROM Ticker MATCH_RECOGNIZE (ORDER BY ts ALL ROWS PER MATCH
        AFTER MATCH SKIP {} PATTERN (a))"""
    for name in ("frame_id", "classifier"):
        for skip in ("PAST LAST ROW", "TO NEXT ROW"):
            with pytest.raises(fl.FanlightError, match=f"{name}.*rename yours in a sub-query"):
                fl.sql(taken.format(skip), Ticker=odd.withColumn(name, odd.ts))


def test_a_view_and_matches_of_matches(ticker):
    ticker.createOrReplaceTempView("fanlight_ticker")
    it = """MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY rowtime
        MEASURES FIRST(b.rowtime) AS rowtime, COUNT(b.*) AS price PATTERN (a b+)
        DEFINE b AS price > PREV(price))"""
    twice = f"SELECT * FROM (SELECT * FROM fanlight_ticker {it}) AS f {it}"
    # Rises of ACME: 4 from minute 1, 1 from 8, 1 from 10.
    assert rows_of(fl.sql(f"SELECT * FROM fanlight_ticker {it}")) == [
        ("ACME", 1, 4), ("ACME", 10, 1), ("ACME", 8, 1), ("EMCA", 4, 1),
    ]  # fmt: skip
    assert rows_of(fl.sql(twice)) == []


WRONG = [
    ("a.nope AS x", "", "nope .*is not a column of the table", "a.nope"),
    ("nope + 1 AS x", "", "is not a column of the table", "nope"),
    ("SUM(a.symbol) AS x", "", "needs a number", "SUM(a.symbol)"),
    ("FROB(a.price) AS x", "", "Cannot resolve routine", "FROB"),
    (
        "SUM(a.price * b.price) AS x",
        "",
        "several variables; write SUBSET",
        "SUM(a.price * b.price)",
    ),
    ("LAST(price)", "", r"write LAST\(price\) AS x", "LAST(price)"),
    ("CLASSIFIER() AS x", "", "may be b or a in the last row", "CLASSIFIER()"),
    ("LAST(CLASSIFIER()) AS x", "", "may be b or a in the last row", "CLASSIFIER()"),
    ('MAX("price") AS x', "", "write `price` for the column, 'price' for the text", '"price"'),
    ("MATCH_PROCTIME() AS x", "", r"write current_timestamp\(\)", "MATCH_PROCTIME()"),
    ("a.* AS x", "", r"write COUNT\(a\.\*\)", "a.*"),
    ("MEDIAN(a.tax) AS x", "ALL ROWS PER MATCH", "ONE ROW PER MATCH", "MEDIAN(a.tax)"),
    ("tax AS price", "ALL ROWS PER MATCH", "give it another name", "tax"),
]


@pytest.mark.parametrize(("measure", "rows", "words", "part"), WRONG)
def test_measures_that_cannot_be(ticker, measure, rows, words, part):
    text = f"""SELECT * FROM Ticker MATCH_RECOGNIZE (ORDER BY rowtime, symbol
    MEASURES {measure} {rows} PATTERN (a b?) DEFINE b AS price > PREV(price))"""
    with pytest.raises(fl.FanlightError, match=words) as raised:
        fl.sql(text, Ticker=ticker)
    message, line, carets = str(raised.value).split("\n")
    assert message.startswith("line 2, ")
    at = carets.index("^")
    assert line[at : at + carets.count("^")] == part


OWN = "give that row a variable of its own in the pattern, and write LAST(v.x)"
WHICH = "CASE WHEN LAST(b.rowtime) = LAST(rowtime) THEN 'b' {} END"
NONE = "MEASURES 1 AS x ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN"
BOTH = "price > greatest(max(a.price), max(b.price))"
# What is refused, what its error says to write, and a query that follows it.
FOLLOWED = [
    ("MEASURES PREV(a.price) AS x PATTERN (a b)", OWN,
     "MEASURES LAST(v.price) AS x PATTERN (v a b)"),
    ("MEASURES PREV(LAST(a.price)) AS x PATTERN (a b)", OWN,
     "MEASURES LAST(v.price) AS x PATTERN (v a b)"),
    ("MEASURES CLASSIFIER() AS x PATTERN (a b?)", WHICH.format("…"),
     f"MEASURES {WHICH.replace('{}', 'ELSE NULL')} AS x PATTERN (a b?)"),
    ("MEASURES a.* AS x PATTERN (a b?)", "COUNT(a.*)", "MEASURES COUNT(a.*) AS x PATTERN (a b?)"),
    ("MEASURES SUM(a.price * b.price) AS x PATTERN (a b)", "SUBSET u = (a, b), and name u",
     "MEASURES SUM(u.price * u.price) AS x PATTERN (a b) SUBSET u = (a, b)"),
    ("MEASURES 1 AS x PATTERN (a b) WITHIN 3", "INTERVAL '5' MINUTE",
     "MEASURES 1 AS x PATTERN (a b) WITHIN INTERVAL '5' MINUTE"),
    ("MEASURES MEDIAN(price) AS x ALL ROWS PER MATCH PATTERN (a b)", "write ONE ROW PER MATCH",
     "MEASURES MEDIAN(price) AS x ONE ROW PER MATCH PATTERN (a b)"),
    ("MEASURES LAST(a.price * b.tax) AS x PATTERN (a b)", "write LAST(a.x) and LAST(b.y)",
     "MEASURES LAST(a.price) * LAST(b.tax) AS x PATTERN (a b)"),
    ("MEASURES COUNT(*) AS x ALL ROWS PER MATCH PATTERN (a {- a -} b)", "without {- and -}",
     "MEASURES COUNT(*) AS x ALL ROWS PER MATCH PATTERN (a a b)"),
    ("MEASURES MAX(CLASSIFIER()) AS x PATTERN (a b)",
     "write ALL ROWS PER MATCH with CLASSIFIER() AS x, and max(x) in a query around this one",
     "MEASURES CLASSIFIER() AS x ALL ROWS PER MATCH PATTERN (a b)"),
    ("MEASURES MAX(CLASSIFIER()) AS x ALL ROWS PER MATCH PATTERN (a b)",
     "write CLASSIFIER() AS x, and max(x) in a query around this one",
     "MEASURES CLASSIFIER() AS x ALL ROWS PER MATCH PATTERN (a b)"),
    ("MEASURES 1 AS x AFTER MATCH SKIP TO LAST u PATTERN (a b) SUBSET u = (a, b)",
     "write one of its variables: a or b",
     "MEASURES 1 AS x AFTER MATCH SKIP TO LAST b PATTERN (a b)"),
    ("MEASURES 1 AS x PATTERN (a b) DEFINE a AS rowtime - FIRST(rowtime) < '0 01:00:00',",
     "write durations as interval '1' day, or interval '01:30' hour to minute",
     "MEASURES 1 AS x PATTERN (a b) DEFINE a AS rowtime - FIRST(rowtime) < INTERVAL '1' HOUR,"),
    ("MEASURES 1 AS x PATTERN (a b) DEFINE a AS price > LAG(price, 2, 9),",
     "write COALESCE(LAG(price, 2), 9)",
     "MEASURES 1 AS x PATTERN (a b) DEFINE a AS price > COALESCE(LAG(price, 2), 9),"),
    ("MEASURES 1 AS x PATTERN (a b) DEFINE a AS DATEDIFF(rowtime, PREV(rowtime)) < 2,",
     "subtract: ts - prev(ts) < interval '1' hour",
     "MEASURES 1 AS x PATTERN (a b) DEFINE a AS rowtime - PREV(rowtime) < INTERVAL '2' DAY,"),
    ("MEASURES 1 AS x PATTERN (a b) DEFINE a AS price > 3", "write , b AS …",
     "MEASURES 1 AS x PATTERN (a b) DEFINE a AS price > 3,"),
    ("MEASURES 1 AS x PATTERN (a c b) DEFINE c AS price > STDDEV(a.price),", "use count, sum, avg",
     "MEASURES 1 AS x PATTERN (a c b) DEFINE c AS price > AVG(a.price),"),
    ("MEASURES 1 AS x PATTERN (a b c) SUBSET u = (a, b) DEFINE c AS price > max(u.price),",
     "greatest(max(a.x), max(b.x)) for a maximum, count(a.*) + count(b.*) for a number",
     f"MEASURES 1 AS x PATTERN (a b c) DEFINE c AS {BOTH} AND count(a.*) + count(b.*) = 2,"),
    (f"{NONE} ({{- a -}} b)", "or write the pattern without {- and -}", f"{NONE} (a b)"),
    (f"{NONE} ({{- a -}} b)", "leave out WITH UNMATCHED ROWS",
     "MEASURES 1 AS x ALL ROWS PER MATCH PATTERN ({- a -} b)"),
]  # fmt: skip


BESIDE = "(SELECT *, {}(price) OVER (PARTITION BY symbol ORDER BY rowtime) AS {} FROM Ticker)"
# Prices of ACME from minute 1 on: 12 17 19 21 25 …; the rows beside each match stay outside it.
OF_ROWS_BESIDE = [
    ("MEASURES PREV(a.price) AS x PATTERN (a b)", "price > PREV(price)", "lag", "previous_x",
     ("MEASURES a.previous_x AS x PATTERN (a b)", "price > PREV(price)")),
    ("MEASURES b.price AS x PATTERN (a b)", "price > NEXT(price)", "lead", "next_x",
     ("MEASURES b.price AS x PATTERN (a b)", "price > next_x")),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "define", "word", "name", "instead"), OF_ROWS_BESIDE)
def test_rows_beside_a_match_are_of_a_window_around_the_table(
    ticker, asked, define, word, name, instead
):
    text = (
        "SELECT * FROM {} MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY rowtime {} DEFINE b AS {})"
    )
    with pytest.raises(fl.FanlightError) as raised:
        fl.sql(text.format("Ticker", asked, define), Ticker=ticker)
    around = BESIDE.format(word, name)
    assert f"{name} of FROM {around}".replace("(price)", "(x)").replace("Ticker", "…") in str(
        raised.value
    ).replace(f", or a.{name},", "")
    found = recognized(ticker, text.format(around, *instead))
    prices = {}
    for row in ticker.orderBy("rowtime").collect():
        prices.setdefault(row["symbol"], []).append(row["price"])
    told = [
        (symbol, of[at - 1] if word == "lag" and at else None if word == "lag" else of[at + 1])
        for symbol, of in prices.items()
        for at in matched(of, word)
    ]
    assert found == sorted(told, key=repr)


def matched(prices, word):
    """Where matches of two rows begin, one after the other."""
    found, at = [], 0
    while at + 1 < len(prices):
        following = prices[at + 2 : at + 3]
        if word == "lag":
            holds = prices[at + 1] > prices[at]
        else:
            holds = bool(following) and prices[at + 1] > following[0]
        found += [at] * holds
        at += 2 if holds else 1
    return found


@pytest.mark.parametrize(("refused", "advice", "followed"), FOLLOWED)
def test_what_is_advised_is_read(ticker, refused, advice, followed):
    text = """SELECT * FROM Ticker MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY rowtime {}
        b AS price > PREV(price))"""
    texts = [
        text.format(one if " DEFINE" in one else f"{one} DEFINE") for one in (refused, followed)
    ]
    with pytest.raises(fl.FanlightError) as raised:
        fl.sql(texts[0], Ticker=ticker)
    assert advice in str(raised.value)
    assert "x" in fl.sql(texts[1], Ticker=ticker).columns


@pytest.mark.parametrize(
    ("text", "words", "part"),
    [
        ("ORDER BY tim PATTERN (a) DEFINE a AS price > 3", "not a column", "tim"),
        ("PARTITION BY k ORDER BY rowtime PATTERN (a)", "not a column", "k"),
        ("ORDER BY rowtime PATTERN (a) DEFINE a AS no > PREV(price)", "Spark understands", "no"),
        ("ORDER BY rowtime PATTERN (a) DEFINE a AS price", "not a condition", "price"),
        ("ORDER BY rowtime PATTERN (a) DEFINE a AS symbol > LAST(price)", "a text and a number",
         "symbol > LAST(price)"),
    ],
)  # fmt: skip
def test_patterns_that_cannot_be(ticker, text, words, part):
    with pytest.raises(fl.FanlightError, match=words) as raised:
        fl.sql(f"SELECT 1 FROM Ticker MATCH_RECOGNIZE (\nALL ROWS PER MATCH {text})", Ticker=ticker)
    message, line, carets = str(raised.value).split("\n")
    assert message.startswith("line 2, ")
    assert line[carets.index("^") :][: carets.count("^")] == part


STREAMED = f"""SELECT symbol, since, round(mean) AS mean FROM Ticker MATCH_RECOGNIZE (
    PARTITION BY symbol ORDER BY rowtime
    MEASURES FIRST(PRICE_DOWN.rowtime) AS since, AVG(price_down.price) AS mean
    PATTERN (START_ROW PRICE_DOWN+ PRICE_UP) WITHIN INTERVAL '1' HOUR {FALLS})"""


@pytest.mark.streaming
@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("MEASURES LAST(x) AS y ALL ROWS PER MATCH PATTERN (a{1,9})", "write ONE ROW PER MATCH"),
        (
            "ALL ROWS PER MATCH PATTERN (a+)",
            r"for ever; write WITHIN INTERVAL '1' HOUR after PATTERN \(…\) or MAX 100 ROWS\n",
        ),
        (
            "ALL ROWS PER MATCH PATTERN (a $)",
            r"write FORGET AFTER INTERVAL '1' DAY after PATTERN \(…\), whose silence",
        ),
    ],
)
def test_what_a_stream_cannot_be_asked(spark, asked, words):
    rows = (
        spark.readStream.format("rate")
        .load()
        .withColumnsRenamed({"value": "x"})
        .withWatermark("timestamp", "1 minute")
    )
    text = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY timestamp {asked})"
    with pytest.raises(fl.FanlightError, match=words):
        fl.sql(text, t=rows)
    bounded = asked.replace("(a+)", "(a+) MAX 100 ROWS")
    bounded = bounded.replace("(a $)", "(a $) FORGET AFTER INTERVAL '1' DAY")
    bounded = bounded.replace("ALL ROWS PER MATCH PATTERN (a{", "ONE ROW PER MATCH PATTERN (a{")
    assert fl.sql(text.replace(asked, bounded), t=rows).isStreaming


LISTED = """SELECT * FROM Ticker MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY rowtime
    MEASURES MATCH_NUMBER() AS number, CLASSIFIER() AS what ALL ROWS PER MATCH {}
    WITHIN INTERVAL '1' HOUR DEFINE down AS price < PREV(price), up AS price > PREV(price))"""


@pytest.mark.streaming
@pytest.mark.parametrize(
    "asked",
    [
        STREAMED,
        LISTED.format("PATTERN (top {- down+ -} up)"),
        LISTED.format("AFTER MATCH SKIP TO LAST up PATTERN (top down+ up)"),
    ],
)
def test_a_stream_gives_what_a_batch_gives(ticker, tmp_path, asked):
    batch = fl.sql(asked, Ticker=ticker)
    late = ticker.selectExpr(
        "'END' AS symbol", "rowtime + interval 1 day AS rowtime", "price", "tax"
    )
    stream = stream_of(
        ticker.sparkSession, tmp_path, [ticker, late.limit(1), late.limit(1)], "1 minute", "rowtime"
    )
    found = fl.sql(asked, Ticker=stream)
    assert found.isStreaming
    got = ended(found, tmp_path)
    assert all_of(got) == all_of(batch) != []


def test_it_is_explained(ticker):
    page = explain(STREAMED, {"Ticker": ticker})
    assert page.startswith("PatternFrame('START_ROW PRICE_DOWN+ PRICE_UP'")
    both = explain(f"{STREAMED} UNION ALL {STREAMED}", {"Ticker": ticker})
    assert both.count(": MATCH_RECOGNIZE ( PARTITION BY symbol") == 2
