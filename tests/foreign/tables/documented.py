"""Row patterns as the pages of other systems document them, over their rows or such as theirs.

Texts are abridged, days and times are numbers. Snowflake's and Flink's pages show the results, and
where one is another here, ``why`` says so. Oracle's and Trino's are worked out by hand.
"""

from __future__ import annotations

from typing import NamedTuple


class Documented(NamedTuple):
    """A query of a page over one of ``TABLES``, and its rows; ``theirs`` if a page has others."""

    name: str
    table: str
    text: str  # what stands in MATCH_RECOGNIZE (…)
    columns: str
    rows: tuple[tuple[object, ...], ...]
    where: str = ""
    theirs: tuple[tuple[object, ...], ...] | None = None
    why: str = ""


def series(key, values, first=1, step=1):
    """Rows of a key, one a step, with its values."""
    return [(key, first + step * at, value) for at, value in enumerate(values)]


# Of each, a key, a time (days or seconds from its first row, from 1 on), and what is watched.
TABLES = {
    "ticker": series("ACME", (12, 17, 19, 21, 25, 12, 15, 20, 24, 25, 19, 15, 25, 25, 14, 12, 14,
                              24, 23, 22)),
    "flat": series("ACME", (12, 17, 19, 21, 25, 12, 15, 20, 24, 25, 19, 15, 25, 25, 14, 12, 12,
                            24, 23, 22)),
    "waves": series("ACME", (1000, 775, 900, 775, 900, 775, 900, 775, 800, 550, 900, 800, 1100,
                             800, 550, 800, 875, 950, 600, 300)),
    "cents": series("ACME", (3625, 3647, 3636, 3625, 3636, 3670, 3650, 3666, 3698, 3708, 3743,
                             3768, 3766, 3732, 3716, 3698, 3719, 3745, 3779, 3749, 3730, 3708,
                             3734, 3754, 3769, 3760, 3793, 3817)),
    "clicks": [(who, at, 0) for who, times in (
        ("Mary", (1, 11, 23, 34, 44, 53, 63)), ("Richard", (3, 13, 23, 33, 43, 54, 63)),
        ("Sam", (2, 12, 22, 32, 43, 47, 48, 59, 60, 68))) for at in times],
    "calls": [("1 to 7", start, end) for start, end in (
        (1354, 1575), (1603, 1829), (1857, 2301), (2320, 2819), (2840, 2964), (64342, 64457),
        (85753, 85790), (85808, 85985), (86011, 86412), (86437, 86546), (163436, 163505),
        (163534, 163967), (163982, 164454))],
    "volumes": [("ACME", minute, volume) for minute, volume in (
        (0, 35000), (5, 15000), (10, 5000), (11, 42000), (16, 7000), (19, 5000), (20, 5000),
        (33, 55000), (36, 15000), (48, 15000), (59, 15000))],
    "transfers": [("john", day, amount) for day, amount in (
        (6, 1000), (15, 1500), (20, 1500), (23, 1000), (26, 1000000))],
    "stocks": series("ABCD", (50, 36, 39, 42, 30, 47, 71, 80, 75, 63))
    + series("XYZ", (89, 24, 37, 63, 65, 56, 50, 54, 30, 32)),
    "seconds": series("ACME", (12, 17, 19, 21, 25, 18, 15, 14, 24, 25, 19), 0),
    "means": series("ACME", (12, 17, 13, 16, 25, 2, 4, 10, 15, 25, 25, 30), 0),
    "greedy": series("XYZ", (10, 11, 12, 13, 14, 16), 2),
    "drops": series("ACME", (20, 17, 18, 11, 14, 9, 15, 14, 24, 1, 19), 0, 1200),
    "top": series("XYZ", (10, 12, 13, 11), 2),
    "skips": series("XYZ", (7, 9, 10, 5, 10, 7, 14)),
    "orders": series("cust_1", (100, 200, 100, 50, 100, 200))
    + series("cust_2", (8, 4, 8, 13, 6, 4, 2, 17)),
}  # fmt: skip
VEE = """PATTERN (STRT DOWN+ UP+)
    DEFINE DOWN AS DOWN.price < PREV(DOWN.price), UP AS UP.price > PREV(UP.price)"""
RECOVERY = """PATTERN (A {}) SUBSET U = (C, D)
    DEFINE B AS price < PREV(price), C AS price > PREV(price) AND price <= A.price,
        D AS price > PREV(price)"""
LAGGED = "UP as price > lag(price), DOWN as price < lag(price)"
SUMS = """MEASURES SUM(A.price) AS sumPrice, FIRST(at) AS startTime, LAST(at) AS endTime
    ONE ROW PER MATCH AFTER MATCH SKIP {} PATTERN (A+ C) DEFINE A AS SUM(A.price) < 30"""
GIVES_BACK = (
    "a repetition gives rows back where this leads to a match, and a batch also has the match that "
    "its last row ends"
)


def oracle(name, table, text, columns, *rows, **more):
    """A query of the Data Warehousing Guide, SQL for Pattern Matching."""
    return Documented(f"Oracle: {name}", table, text, columns, rows, **more)


def snowflake(name, text, columns, *rows, **more):
    """A query of Identifying Sequences of Rows That Match a Pattern, or of MATCH_RECOGNIZE."""
    return Documented(f"Snowflake: {name}", "stocks", text, columns, rows, **more)


def flink(name, table, text, columns, *rows, **more):
    """A query of the page Pattern Recognition."""
    return Documented(f"Flink: {name}", table, text, columns, rows, **more)


def trino(name, text, columns, *rows):
    """A query of the page MATCH_RECOGNIZE, which has no rows: these are invented."""
    return Documented(f"Trino: {name}", "orders", text, columns, rows)


ORACLE = (
    oracle("V", "ticker", f"""MEASURES STRT.at AS start_tstamp, LAST(DOWN.at) AS bottom_tstamp,
        LAST(UP.at) AS end_tstamp ONE ROW PER MATCH AFTER MATCH SKIP TO LAST UP {VEE}""",
        "start_tstamp, bottom_tstamp, end_tstamp", (5, 6, 10), (10, 12, 13), (14, 16, 18)),
    oracle("aggregates on variables", "ticker", f"""MEASURES MATCH_NUMBER() AS match_num,
        CLASSIFIER() AS var_match, FINAL COUNT(UP.at) AS up_days, FINAL COUNT(at) AS total_days,
        RUNNING COUNT(at) AS cnt_days, price - STRT.price AS price_dif
        ALL ROWS PER MATCH AFTER MATCH SKIP TO LAST UP {VEE}""",
        "match_num, at, var_match, up_days, total_days, cnt_days, price_dif",
        (1, 5, "STRT", 4, 6, 1, 0), (1, 6, "DOWN", 4, 6, 2, -13), (1, 7, "UP", 4, 6, 3, -10),
        (1, 8, "UP", 4, 6, 4, -5), (1, 9, "UP", 4, 6, 5, -1), (1, 10, "UP", 4, 6, 6, 0),
        (2, 10, "STRT", 1, 4, 1, 0), (2, 11, "DOWN", 1, 4, 2, -6), (2, 12, "DOWN", 1, 4, 3, -10),
        (2, 13, "UP", 1, 4, 4, 0), (3, 14, "STRT", 2, 5, 1, 0), (3, 15, "DOWN", 2, 5, 2, -11),
        (3, 16, "DOWN", 2, 5, 3, -13), (3, 17, "UP", 2, 5, 4, -11), (3, 18, "UP", 2, 5, 5, -1)),
    oracle("W", "ticker", """MEASURES CLASSIFIER() AS var_match, STRT.at AS start_tstamp,
        FINAL LAST(UP.at) AS end_tstamp ALL ROWS PER MATCH AFTER MATCH SKIP TO LAST UP
        PATTERN (STRT DOWN+ UP+ DOWN+ UP+)
        DEFINE DOWN AS DOWN.price < PREV(DOWN.price), UP AS UP.price > PREV(UP.price)""",
        "at, var_match, start_tstamp, end_tstamp",
        (5, "STRT", 5, 13), (6, "DOWN", 5, 13), (7, "UP", 5, 13), (8, "UP", 5, 13),
        (9, "UP", 5, 13), (10, "UP", 5, 13), (11, "DOWN", 5, 13), (12, "DOWN", 5, 13),
        (13, "UP", 5, 13)),
    oracle("falls of 24 percent", "waves", """MEASURES b.at AS fell, a.price AS aprice,
        b.price AS bprice, ((b.price - a.price) * 100) / a.price AS pctdrop ONE ROW PER MATCH
        AFTER MATCH SKIP TO b PATTERN (a b) DEFINE b AS (b.price - a.price) / a.price < -0.24""",
        "fell, aprice, bprice, pctdrop", (10, 800, 550, -31.25), (14, 1100, 800, -300 / 11),
        (15, 800, 550, -31.25), (19, 950, 600, -700 / 19), (20, 600, 300, -50)),
    oracle("falls of 8 percent, and back", "waves", """MEASURES a.at AS start_timestamp,
        a.price AS start_price, b.price AS drop_price, count (c.*) + 1 AS cnt_days,
        d.at AS end_timestamp, d.price AS end_price PATTERN (a b c* d)
        DEFINE b AS (b.price - a.price) / a.price < -0.08, c AS c.price < a.price,
            d AS d.price >= a.price""",
        "start_timestamp, start_price, drop_price, cnt_days, end_timestamp, end_price",
        (1, 1000, 775, 11, 13, 1100), (14, 800, 550, 1, 16, 800)),
    oracle("V and U", "flat", """MEASURES strt.at AS start_tstamp, down.at AS bottom_tstamp,
        up.at AS end_tstamp AFTER MATCH SKIP TO LAST up PATTERN (strt down+ flat* up+)
        DEFINE down AS down.price < PREV (down.price), flat AS flat.price = PREV (flat.price),
            up AS up.price > PREV (up.price)""",
        "start_tstamp, bottom_tstamp, end_tstamp", (5, 6, 10), (10, 12, 13), (14, 16, 18)),
    oracle("Elliott waves of bounded length", "cents", """MEASURES v.at start_t, z.at end_t,
        COUNT (v.price) v, COUNT (w.price) w, COUNT (x.price) x, COUNT (y.price) y,
        COUNT (z.price) z ONE ROW PER MATCH AFTER MATCH SKIP TO LAST z
        PATTERN (v w{3,4} x{3,4} y{3,4} z{3,4})
        DEFINE w AS w.price > PREV (w.price), x AS x.price < PREV (x.price),
            y AS y.price > PREV (y.price), z AS z.price < PREV (z.price)""",
        "start_t, end_t, v, w, x, y, z", (8, 22, 1, 4, 4, 3, 3)),
    oracle("a W that shares its middle", "waves", """MEASURES MATCH_NUMBER () AS mno,
        p.at AS start_t, t.at AS end_t, MIN (s.price) AS s, MAX (t.price) AS t
        AFTER MATCH SKIP TO LAST r PATTERN (p q+ r+ s+ t+)
        DEFINE q AS q.price < PREV (q.price), r AS r.price > PREV (r.price),
            s AS s.price < PREV (s.price), t AS t.price > PREV (t.price)""",
        "mno, start_t, end_t, s, t", (1, 1, 5, 775, 900), (2, 3, 7, 775, 900), (3, 5, 9, 775, 800),
        (4, 7, 11, 550, 900), (5, 9, 13, 800, 1100), (6, 11, 18, 550, 950)),
    oracle("a rise within what is left out", "ticker", """MEASURES FINAL AVG (s.price) AS avgp,
        MATCH_NUMBER () AS matchno ALL ROWS PER MATCH AFTER MATCH SKIP TO LAST b
        PATTERN ({- a -} b+ {- c+ -}) SUBSET s = (a, b) DEFINE a AS a.price >= 10,
            b AS b.price > PREV (b.price), c AS c.price <= PREV (c.price)""",
        "at, matchno, avgp", (2, 1, 18.8), (3, 1, 18.8), (4, 1, 18.8), (5, 1, 18.8), (7, 2, 19.2),
        (8, 2, 19.2), (9, 2, 19.2), (10, 2, 19.2), (13, 3, 20), (17, 4, 50 / 3), (18, 4, 50 / 3)),
    oracle("large volumes within an hour", "volumes", """MEASURES SUM (a.price) AS sum_of_large
        ALL ROWS PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (a {- b* -} a {- b* -} a)
        DEFINE a AS (a.price > 30000 AND a.at - FIRST (a.at) < 60),
            b AS (b.price <= 30000 AND b.at - FIRST (a.at) < 60)""",
        "at, price, sum_of_large", (0, 35000, 35000), (11, 42000, 77000), (33, 55000, 132000)),
    oracle("sessions", "clicks", """MEASURES MATCH_NUMBER() session_id, COUNT(*) AS no_of_events,
        FIRST(at) start_time, LAST(at) - FIRST(at) AS duration
        PATTERN (b s*) DEFINE s AS (s.at - PREV(at) <= 10)""",
        "key, session_id, start_time, no_of_events, duration",
        ("Mary", 1, 1, 2, 10), ("Mary", 2, 23, 1, 0), ("Mary", 3, 34, 4, 29),
        ("Richard", 1, 3, 5, 40), ("Richard", 2, 54, 2, 9), ("Sam", 1, 2, 4, 30),
        ("Sam", 2, 43, 3, 5), ("Sam", 3, 59, 3, 9)),
    oracle("calls that were dropped", "calls", """MEASURES a.at AS start_time, price AS end_time,
        SUM (price - at) AS effective, COUNT (b.*) AS restarts, MATCH_NUMBER () AS session_id
        PATTERN (a b*) DEFINE b AS b.at - PREV (b.price) < 60""",
        "start_time, effective, (end_time - start_time) - effective AS interrupted, restarts",
        (1354, 1514, 96, 4), (64342, 115, 0, 0), (85753, 724, 69, 3), (163436, 974, 44, 2)),
    oracle("suspicious transfers", "transfers", """MEASURES z.at AS first_t, y.at AS last_t,
        y.price AS amount PATTERN (z x{2,} y) DEFINE z AS price < 2000,
            x AS price <= 2000 AND PREV (x.at) <> 6,
            y AS price >= 1000000 AND LAST (x.at) - z.at < 30 AND y.at - LAST (x.at) < 10
                AND SUM (x.price) + z.price < 20000""",
        "first_t, last_t, amount", (15, 26, 1000000)),
)  # fmt: skip
SNOWFLAKE = (
    snowflake("V", """MEASURES MATCH_NUMBER() AS match_number, FIRST(at) AS start_date,
        LAST(at) AS end_date, COUNT(*) AS rows_in_sequence, COUNT(fell.*) AS num_decreases,
        COUNT(rose.*) AS num_increases ONE ROW PER MATCH AFTER MATCH SKIP TO LAST rose
        PATTERN(before fell+ rose+)
        DEFINE fell AS price < LAG(price), rose AS price > LAG(price)""",
        "key, match_number, start_date, end_date, rows_in_sequence, num_decreases, num_increases",
        ("ABCD", 1, 1, 4, 4, 1, 2), ("ABCD", 2, 4, 8, 5, 1, 3), ("XYZ", 1, 1, 5, 5, 1, 3),
        ("XYZ", 2, 5, 8, 4, 2, 1), ("XYZ", 3, 8, 10, 3, 1, 1)),
    snowflake("all rows", """measures match_number() as "MATCH_NUMBER",
        match_sequence_number() as msq, classifier() as cl all rows per match
        pattern(ANY_ROW UP+) define ANY_ROW AS TRUE, UP as price > lag(price)""",
        "at, match_number, msq, price, cl",
        (2, 1, 1, 36, "ANY_ROW"), (3, 1, 2, 39, "UP"), (4, 1, 3, 42, "UP"),
        (5, 2, 1, 30, "ANY_ROW"), (6, 2, 2, 47, "UP"), (7, 2, 3, 71, "UP"), (8, 2, 4, 80, "UP"),
        where="key = 'ABCD'"),
    snowflake("two rises", """MEASURES MATCH_NUMBER() AS "Match #",
        MATCH_SEQUENCE_NUMBER() AS "Match Sequence #" ALL ROWS PER MATCH
        PATTERN (MINIMUM_37 UP UP) DEFINE MINIMUM_37 AS price >= 37.00, UP AS price > LAG(price)""",
        'key, at, price, "Match #", "Match Sequence #"',
        ("ABCD", 6, 47, 1, 1), ("ABCD", 7, 71, 1, 2), ("ABCD", 8, 80, 1, 3), ("XYZ", 3, 37, 1, 1),
        ("XYZ", 4, 63, 1, 2), ("XYZ", 5, 65, 1, 3)),
    snowflake("values of a symbol", """MEASURES
        FINAL FIRST(LT45.price) AS "FINAL FIRST(LT45.price)",
        FINAL LAST(LT45.price) AS "FINAL LAST(LT45.price)" ALL ROWS PER MATCH
        AFTER MATCH SKIP PAST LAST ROW PATTERN (LT45 LT45) DEFINE LT45 AS price < 45.00""",
        'at, price, "FINAL FIRST(LT45.price)", "FINAL LAST(LT45.price)"',
        (2, 36, 36, 39), (3, 39, 36, 39), (4, 42, 42, 30), (5, 30, 42, 30), where="key = 'ABCD'"),
    snowflake("PERMUTE", f"""measures match_number() as "MATCH_NUMBER", first(at) as "START",
        last(at) as "END", count(up.price) as ups, count(*) as "PRICE_COUNT"
        after match skip to next row pattern(ANY_ROW PERMUTE(UP{{2}}, DOWN+))
        define ANY_ROW AS TRUE, {LAGGED}""",
        'key, match_number, "START", "END", ups, price_count', ("ABCD", 1, 1, 4, 2, 4),
        ("ABCD", 2, 2, 5, 2, 4), ("ABCD", 3, 4, 7, 2, 4), ("ABCD", 4, 6, 10, 2, 5),
        ("XYZ", 1, 1, 4, 2, 4), ("XYZ", 2, 3, 7, 2, 5)),
    snowflake("W that overlap", f"""measures match_number() as "MATCH_NUMBER",
        first(at) as "START", last(at) as "END", count(*) as "PRICE_COUNT"
        after match skip to next row pattern(ANY_ROW DOWN+ UP+ DOWN+ UP+)
        define ANY_ROW AS TRUE, {LAGGED}""",
        'key, match_number, "START", "END", price_count',
        ("ABCD", 1, 1, 8, 8), ("XYZ", 1, 1, 8, 8), ("XYZ", 2, 5, 10, 6), ("XYZ", 3, 6, 10, 5)),
    snowflake("exclusion", f"""measures match_number() as "MATCH_NUMBER", classifier as cl,
        count(*) as "PRICE_COUNT" all rows per match
        pattern(ANY_ROW {{- DOWN+ -}} UP+ {{- DOWN+ -}} UP+) define ANY_ROW AS TRUE, {LAGGED}""",
        "key, at, price, match_number, cl, price_count", ("ABCD", 1, 50, 1, "ANY_ROW", 1),
        ("ABCD", 3, 39, 1, "UP", 3), ("ABCD", 4, 42, 1, "UP", 4), ("ABCD", 6, 47, 1, "UP", 6),
        ("ABCD", 7, 71, 1, "UP", 7), ("ABCD", 8, 80, 1, "UP", 8),
        ("XYZ", 1, 89, 1, "ANY_ROW", 1), ("XYZ", 3, 37, 1, "UP", 3), ("XYZ", 4, 63, 1, "UP", 4),
        ("XYZ", 5, 65, 1, "UP", 5), ("XYZ", 8, 54, 1, "UP", 8)),
)  # fmt: skip
FLINK = (
    flink("falling prices", "seconds", """MEASURES START_ROW.at AS start_tstamp,
        LAST(PRICE_DOWN.at) AS bottom_tstamp, LAST(PRICE_UP.at) AS end_tstamp
        ONE ROW PER MATCH AFTER MATCH SKIP TO LAST PRICE_UP
        PATTERN (START_ROW PRICE_DOWN+ PRICE_UP) DEFINE PRICE_DOWN AS
            (LAST(PRICE_DOWN.price, 1) IS NULL AND PRICE_DOWN.price < START_ROW.price) OR
                PRICE_DOWN.price < LAST(PRICE_DOWN.price, 1),
        PRICE_UP AS PRICE_UP.price > LAST(PRICE_DOWN.price, 1)""",
        "start_tstamp, bottom_tstamp, end_tstamp", (4, 7, 8)),
    flink("a mean below 15", "means", """MEASURES FIRST(A.at) AS start_tstamp,
        LAST(A.at) AS end_tstamp, AVG(A.price) AS avgPrice ONE ROW PER MATCH
        AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B) DEFINE A AS AVG(A.price) < 15""",
        "start_tstamp, end_tstamp, avgPrice", (0, 3, 14.5), (5, 10, 13.5)),
    flink("greedy", "greedy", """MEASURES C.price AS lastPrice PATTERN (A B* C)
        DEFINE A AS A.price > 10, B AS B.price < 15, C AS C.price > 12""", "lastPrice", (16,)),
    flink("reluctant", "greedy", """MEASURES C.price AS lastPrice PATTERN (A B*? C)
        DEFINE A AS A.price > 10, B AS B.price < 15, C AS C.price > 12""", "lastPrice",
        (13,), (16,)),
    flink("within an hour", "drops", """MEASURES MATCH_ROWTIME() AS dropTime,
        A.price - C.price AS dropDiff PATTERN (A B* C) WITHIN 3600
        DEFINE B AS B.price > A.price - 10, C AS C.price < A.price - 10""", "dropTime, dropDiff",
        (10800, 13), theirs=((10800, 14),),
        why="a whole hour is no longer within an hour, nor is it in Flink's code"),
    flink("output", "top", """MEASURES FIRST(A.price) AS startPrice, LAST(A.price) AS topPrice,
        B.price AS lastPrice PATTERN (A+ B)
        DEFINE A AS LAST(A.price, 1) IS NULL OR A.price > LAST(A.price, 1),
            B AS B.price < LAST(A.price)""",
        "startPrice, topPrice, lastPrice", (10, 13, 11)),
    flink("skip past last row", "skips", SUMS.format("PAST LAST ROW"),
        "startTime, endTime, sumPrice", (1, 4, 26), (5, 7, 17)),
    flink("skip to next row", "skips", SUMS.format("TO NEXT ROW"), "startTime, endTime, sumPrice",
        (1, 4, 26), (2, 5, 24), (3, 6, 25), (4, 7, 22), (5, 7, 17), (6, 7, 7),
        theirs=((1, 4, 26), (2, 5, 24), (3, 6, 25), (4, 7, 22), (5, 7, 17)), why=GIVES_BACK),
    flink("skip to last A", "skips", SUMS.format("TO LAST A"), "startTime, endTime, sumPrice",
        (1, 4, 26), (3, 6, 25), (5, 7, 17), (6, 7, 7),
        theirs=((1, 4, 26), (3, 6, 25), (5, 7, 17)), why=GIVES_BACK),
)  # fmt: skip
TRINO = (
    trino("V", "MEASURES A.price AS starting_price, LAST(B.price) AS bottom_price,"
        f" LAST(U.price) AS top_price ONE ROW PER MATCH {RECOVERY.format('B+ C+ D+')}",
        "key, starting_price, bottom_price, top_price", ("cust_1", 200, 50, 200),
        ("cust_2", 8, 4, 13)),
    trino("all rows, and the variable of a union", "MEASURES LAST(B.price) AS bottom_price,"
        " LAST(U.price) AS top_price, CLASSIFIER(U) AS which, FINAL LAST(CLASSIFIER()) AS ends"
        f" ALL ROWS PER MATCH SHOW EMPTY MATCHES {RECOVERY.format('B{1,} C+ D+')}",
        "key, at, bottom_price, top_price, which, ends",
        ("cust_1", 2, None, None, None, "D"), ("cust_1", 3, 100, None, None, "D"),
        ("cust_1", 4, 50, None, None, "D"), ("cust_1", 5, 50, 100, "C", "D"),
        ("cust_1", 6, 50, 200, "D", "D"), ("cust_2", 1, None, None, None, "D"),
        ("cust_2", 2, 4, None, None, "D"), ("cust_2", 3, 4, 8, "C", "D"),
        ("cust_2", 4, 4, 13, "D", "D")),
    trino("exclusion", "MEASURES A.price AS starting_price, CLASSIFIER() AS which"
        f" ALL ROWS PER MATCH {RECOVERY.format('{- B+ C{,} -} D+')}",
        "key, at, starting_price, which", ("cust_1", 2, 200, "A"), ("cust_1", 6, 200, "D"),
        ("cust_2", 1, 8, "A"), ("cust_2", 4, 8, "D"), ("cust_2", 5, 6, "A"), ("cust_2", 8, 6, "D"),
    ),
)  # fmt: skip
DOCUMENTED = (*ORACLE, *SNOWFLAKE, *FLINK, *TRINO)
