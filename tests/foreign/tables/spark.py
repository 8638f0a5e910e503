"""Spark's own tests of time windows, session windows and watermarks."""

from __future__ import annotations

import fanlight as fl
from tests.foreign.facts import CLOCK, MILLISECOND, SECOND, Case, Suite, facts, given, steps

SUITES = "sql/core/src/test/scala/org/apache/spark/sql/"
WINDOWS = Suite("apache/spark", SUITES + "DataFrameTimeWindowingSuite.scala")
SESSIONS = Suite("apache/spark", SUITES + "DataFrameSessionWindowingSuite.scala")
WATERMARKS = Suite("apache/spark", SUITES + "streaming/EventTimeWatermarkSuite.scala")
STREAMED = Suite("apache/spark", SUITES + "streaming/StreamingSessionWindowSuite.scala")

NINE = 1_459_069_200 * SECOND  # 2016-03-27 09:00
THREE = given("k ts n", ("a", 34, 1), ("a", 56, 2), ("b", 27, 4), base=CLOCK)
TWO = given("ts n", (30, 1), (25, 2), base=CLOCK)
ALONE = given("k ts n", ("a", 30, 1), base=CLOCK)


def clock(header, *lines):
    return facts(header, *lines, base=CLOCK)


SHIFTED = clock("start end count sum", (25, 35, 2, 5), (55, 65, 1, 2))
TEN = fl.Sliding("10 seconds")
PLACED = (
    Case(
        WINDOWS, "simple tumbling window with record at window start",
        TEN, ALONE, clock("start end count", (30, 40, 1)),
    ),
    Case(
        WINDOWS, "SPARK-21590: tumbling window using negative start time",
        fl.Sliding("10 seconds", offset="-5 seconds"), TWO, clock("start end count", (25, 35, 2)),
    ),
    Case(
        WINDOWS, "tumbling window groupBy statement",
        TEN, given("ts", (34,), (56,), (27,), base=CLOCK), facts("count", (1,), (1,), (1,)),
    ),
    Case(
        WINDOWS, "tumbling window groupBy statement with startTime",
        fl.Sliding("10 seconds", offset="5 seconds"), THREE,
        facts("k count", ("a", 1), ("a", 1), ("b", 1)),
    ),
    Case(
        WINDOWS, "SPARK-21590: tumbling window groupBy statement with negative startTime",
        fl.Sliding("10 seconds", offset="-5 seconds"), THREE,
        facts("k count", ("a", 1), ("a", 1), ("b", 1)),
    ),
    Case(
        WINDOWS, "tumbling window with multi-column projection",
        TEN, THREE, clock("start end sum", (20, 30, 4), (30, 40, 1), (50, 60, 2)),
    ),
    Case(
        WINDOWS, "sliding window grouping",
        fl.Sliding("10 seconds", "3 seconds"),
        given("ts", (34,), (56,), (27,), base=CLOCK),
        clock(
            "start end count", (18, 28, 1), (21, 31, 1), (24, 34, 1), (27, 37, 2), (30, 40, 1),
            (33, 43, 1), (48, 58, 1), (51, 61, 1), (54, 64, 1),
        ),
    ),
    Case(
        WINDOWS, "sliding window projection",
        fl.Sliding("10 seconds", "3 seconds"),
        given("k ts n", ("1", 34, 1), ("2", 56, 2), ("4", 27, 4), base=CLOCK),
        facts("sum", *[(4,)] * 4, *[(1,)] * 3, *[(2,)] * 3),
    ),
    Case(
        WINDOWS, "null timestamps",
        TEN, given("ts n", (5, 1), (32, 2), (None, 3), (None, 4), base=NINE),
        facts("sum", (1,), (2,)),
    ),
    Case(
        WINDOWS, "negative timestamps",
        fl.Sliding("10 seconds", offset="5 seconds"), given("ts n", (2, 1), (12, 2)),
        facts("start end sum", (-5, 5, 1), (5, 15, 2)),
    ),
    Case(
        WINDOWS, "millisecond precision sliding windows",
        fl.Sliding("200 milliseconds", "40 milliseconds"),
        given("ts n", (410, 3), (620, 6), (715, 8), base=NINE, unit=MILLISECOND),
        facts(
            "start end count", (240, 440, 1), (280, 480, 1), (320, 520, 1), (360, 560, 1),
            (400, 600, 1), (440, 640, 1), (480, 680, 1), (520, 720, 2), (560, 760, 2),
            (600, 800, 2), (640, 840, 1), (680, 880, 1), base=NINE, unit=MILLISECOND,
        ),
    ),
    Case(
        WINDOWS, "time window in SQL with three expressions",
        fl.Sliding("10 seconds", "10 seconds", offset="5 seconds"),
        given("ts n", (34, 1), (56, 2), (27, 4), base=CLOCK), SHIFTED,
    ),
    Case(
        WINDOWS,
        "SPARK-21590: time window in SQL with three expressions including negative start time",
        fl.Sliding("10 seconds", "10 seconds", offset="-5 seconds"),
        given("ts n", (34, 1), (56, 2), (27, 4), base=CLOCK), SHIFTED,
    ),
    Case(  # what that mode gives in the end: no row is late there
        WATERMARKS, "complete mode",
        fl.Sliding("5 seconds"), given("ts", (10,), (11,), (12,), (25,), (25,), (10,), (25,)),
        facts("start count", (10, 4), (25, 3)),
    ),
)  # fmt: skip

GAP = fl.Session("10 seconds")
KEYED = given(
    "k ts n", ("a", 34, 1), ("a", 39, 1), ("a", 56, 2), ("a", 64, 2), ("b", 27, 4), base=CLOCK
)
# Of a projection of session_window() each row is a session of its own: here, of a key of its own.
EACH = given(
    "k ts n s", ("1", 34, 1, "10 seconds"), ("2", 56, 2, "20 seconds"), ("4", 27, 4, "30 seconds"),
    base=CLOCK,
)  # fmt: skip
CONDITION = "case when n = 1 then '2 seconds' when n = 2 then '10 seconds' else '20 seconds' end"
FILTERED = "case when n = 1 then '0 seconds' when n = 2 then '-10 seconds' else '5 seconds' end"
INVALID = (
    "case when n = 1 then '2 seconds' when n = 2 then 'invalid gap duration' else '20 seconds' end"
)
SESSION = (
    Case(
        SESSIONS, "simple session window with record at window start",
        GAP, ALONE, clock("start end count", (30, 40, 1)),
    ),
    Case(
        SESSIONS, "session window groupBy statement",
        GAP, given("ts", (34,), (56,), (27,), base=CLOCK), facts("count", (2,), (1,)),
    ),
    Case(
        SESSIONS, "session window groupBy with multiple keys statement",
        GAP, KEYED,
        clock(
            "k start end count sum",
            ("b", 27, 37, 1, 4), ("a", 34, 49, 2, 2), ("a", 56, 74, 2, 4),
        ),
    ),
    Case(
        SESSIONS,
        "session window groupBy with multiple keys statement - keys overlapped with sessions",
        GAP,
        given(
            "k ts n", ("a", 34, 1), ("b", 39, 1), ("a", 40, 2), ("b", 45, 2), ("b", 27, 4),
            base=CLOCK,
        ),
        clock(
            "k start end count sum",
            ("b", 27, 37, 1, 4), ("a", 34, 50, 2, 3), ("b", 39, 55, 2, 3),
        ),
    ),
    Case(
        SESSIONS, "session window with multi-column projection",
        GAP, EACH, clock("start end sum", (27, 37, 4), (34, 44, 1), (56, 66, 2)),
    ),
    Case(
        SESSIONS, "null timestamps",
        GAP, given("ts n", (5, 1), (32, 2), (None, 3), (None, 4), base=NINE),
        facts("sum", (1,), (2,)),
    ),
    Case(
        SESSIONS, "SPARK-36465: time window in SQL with dynamic string expression",
        fl.Session("s"), EACH, clock("start end sum", (27, 57, 4), (34, 44, 1), (56, 76, 2)),
    ),
    Case(
        SESSIONS, "SPARK-36465: time window in SQL with UDF as gap duration",
        fl.Session("(n * 10) || ' seconds'"), EACH,
        clock("start end sum", (27, 67, 4), (34, 44, 1), (56, 76, 2)),
    ),
    Case(
        SESSIONS, "SPARK-36465: time window in SQL with conditional expression as gap duration",
        fl.Session(CONDITION), EACH,
        clock("start end sum", (27, 47, 4), (34, 36, 1), (56, 66, 2)),
    ),
    Case(
        SESSIONS, "SPARK-36465: filter out events with negative/zero gap duration",
        fl.Session(FILTERED), EACH, clock("start end count", (27, 32, 1)),
    ),
    Case(
        SESSIONS, "SPARK-36465: filter out events with invalid gap duration.",
        fl.Session(INVALID), EACH, clock("start end sum", (27, 47, 4), (34, 36, 1)),
    ),
    Case(
        SESSIONS, "SPARK-36724: Support timestamp_ntz as a type of time column for SessionWindow",
        GAP, TWO, clock("start end count", (25, 40, 2)),
    ),
    Case(  # what that mode gives in the end: no row is late there
        STREAMED, "complete mode - session window",
        GAP,
        given("k ts", *[
            (word, at) for text, at in (
                ("hello world spark streaming", 40), ("world hello structured streaming", 41),
                ("spark streaming", 25), ("spark streaming", 30), ("hello apache spark", 60),
                ("structured streaming", 90),
            ) for word in text.split()
        ]),
        facts("k start end count", ("spark", 25, 50, 3), ("streaming", 25, 51, 4),
              ("hello", 40, 51, 2), ("world", 40, 51, 2), ("structured", 41, 51, 1),
              ("hello", 60, 70, 1), ("apache", 60, 70, 1), ("spark", 60, 70, 1),
              ("structured", 90, 100, 1), ("streaming", 90, 100, 1)),
    ),
)  # fmt: skip

# What their tests of TimeWindow read as durations, in microseconds; and what they refuse.
DURATIONS = Suite(
    "apache/spark",
    "sql/catalyst/src/test/scala/org/apache/spark/sql/catalyst/expressions/TimeWindowSuite.scala",
)
LENGTHS = {"1 second": 1_000_000, "1 minute": 60_000_000, "2 hours": 7_200_000_000}
STARTS = {"-10 seconds": -10_000_000, "-1 minute": -60_000_000, "-1 hour": -3_600_000_000}
UNREADABLE = (None, " ", "\n", "\t", "2 apples", "1 month")
NOT_POSITIVE = (
    ("-2 seconds", "1 seconds"), ("1 seconds", "-2 seconds"), ("0 seconds", "1 seconds"),
    ("1 seconds", "0 seconds"), ("-2 seconds", "-2 seconds"), ("-2 seconds", "-2 hours"),
    ("0 seconds", "0 seconds"), (-2, 2), (2, -2),
)  # fmt: skip


def marked(rows, *parts):
    """Micro-batches, and the second up to which the watermark is after each."""
    return steps(rows, *[(count, second * SECOND) for count, second in parts])


FIVE = fl.Sliding("5 seconds")
BURST = given("ts", *[(at,) for at in (10, 11, 12, 13, 14, 15, 25, 10)])
RESUMED = given("ts", *[(at,) for at in (10, 11, 12, 13, 14, 15, 25, 10, 27, 30, 17, 40)])
UPDATED = given("ts", *[(at,) for at in (10, 11, 12, 13, 14, 15, 25, 10, 25, 10)])
MEASURED = given("ts", *[(at,) for at in (15, 10, 12, 14, 25)])
ONCE = given("ts", *[(at,) for at in (15, 10, 12, 14, 25, 50, 50)])
OUTPUT = "start count"
TUMBLING_STREAM = (
    Case(
        WATERMARKS, "append mode", FIVE, BURST, facts(OUTPUT, (10, 5)),
        steps=marked(BURST, (6, 5), (1, 15), (1, 15)),
    ),
    Case(  # its last answer of each window that the watermark has passed
        WATERMARKS, "update mode", FIVE, UPDATED, facts(OUTPUT, (10, 5)),
        steps=marked(UPDATED, (6, 5), (1, 15), (2, 15), (1, 15)),
    ),
    Case(
        WATERMARKS, "event time and watermark metrics", FIVE, MEASURED, facts(OUTPUT, (10, 3)),
        steps=marked(MEASURED, (1, 5), (3, 5), (1, 15)),
    ),
    Case(
        WATERMARKS, "recovery", FIVE, RESUMED, facts(OUTPUT, (10, 5), (15, 1), (25, 2)),
        steps=marked(RESUMED, (6, 5), (1, 15), (3, 20), (1, 20), (1, 30)),
    ),
    Case(
        WATERMARKS, "event time and watermark metrics with Trigger.Once (SPARK-24699)", FIVE, ONCE,
        facts(OUTPUT, (10, 3), (15, 1), (25, 1)),
        steps=marked(ONCE, (1, 5), (3, 5), (1, 15), (1, 40), (1, 40)),
    ),
)  # fmt: skip


def sessions(test, lines, wanted, parts, *, header="k ts n", **more):
    """A stream of sessions, each row with the text of its gap in ``s``."""
    rows = given(header, *lines)
    gapped = tuple({**row, "s": row["s"] or "5 seconds"} for row in rows)
    return Case(
        more.pop("suite", WATERMARKS), test, fl.Session("s"), gapped, wanted,
        steps=marked(gapped, *parts), **more,
    )  # fmt: skip


def words(*lines, gap="10 seconds", gaps=()):
    """Words as keys: a row for each."""
    gaps = dict(gaps)
    return [(word, at, gaps.get(word, gap)) for text, at in lines for word in text.split()]


SPOKEN = (
    ("hello world spark streaming", 40), ("world hello structured streaming", 41),
    ("spark streaming", 25), ("spark streaming", 0), ("spark streaming", 30),
    ("hello apache spark", 60), ("structured streaming", 90),
)  # fmt: skip
HEARD = ((8, 11), (2, 11), (2, 11), (2, 11), (3, 30), (2, 60))
APPENDED = ((2, 1), (1, 7), (1, 15), (1, 25), (1, 25), (1, 30))
SESSION_STREAM = (
    sessions(
        "append mode - session",
        [("1", 10, 10), ("1", 11, 11), ("1", 17, 17), ("2", 25, 25), ("3", 35, 35), ("1", 10, 10),
         ("4", 40, 40)],
        facts("k start end count sum", ("1", 10, 16, 2, 21), ("1", 17, 22, 1, 17),
              ("2", 25, 30, 1, 25)),
        APPENDED,
    ),
    sessions(
        "append mode - session - no key",
        [("", at, at) for at in (10, 11, 17, 25, 35, 10, 40)],
        facts("k start end count sum", ("", 10, 16, 2, 21), ("", 17, 22, 1, 17),
              ("", 25, 30, 1, 25)),
        APPENDED,
    ),
    sessions(
        "update mode - session",
        [(str(at // 10), at, at) for at in (10, 11, 17, 25, 35, 10, 40)],
        facts("k start end count sum", ("1", 10, 16, 2, 21), ("1", 17, 22, 1, 17),
              ("2", 25, 30, 1, 25)),
        APPENDED,
    ),
    sessions(
        "update mode - session - no key",
        [("", at, at) for at in (10, 11, 17, 25, 35, 10, 40)],
        facts("k start end count sum", ("", 10, 16, 2, 21), ("", 17, 22, 1, 17),
              ("", 25, 30, 1, 25)),
        APPENDED,
    ),
    sessions(
        "update mode - session - keys overlapped with sessions",
        [(str(at % 2), at, at) for at in (10, 11, 12, 13, 17, 25, 35, 27, 10, 40)],
        facts("k start end count sum", ("0", 10, 17, 2, 22), ("1", 11, 22, 3, 41)),
        ((4, 3), (1, 7), (1, 15), (1, 25), (1, 25), (1, 25), (1, 30)),
    ),
    sessions(
        "append mode - session window",
        words(*SPOKEN),
        facts("k start end count", ("spark", 25, 50, 3), ("streaming", 25, 51, 4),
              ("hello", 40, 51, 2), ("world", 40, 51, 2), ("structured", 41, 51, 1)),
        HEARD, header="k ts s", suite=STREAMED,
    ),
    sessions(
        "SPARK-36465: dynamic gap duration",
        words(*SPOKEN, gaps={
            "hello": "1 second", "structured": "0 second", "world": "-10 seconds",
        }),
        facts("k start end count", ("spark", 25, 50, 3), ("streaming", 25, 51, 4),
              ("hello", 40, 42, 2)),
        HEARD, header="k ts s", suite=STREAMED,
    ),
    sessions(
        "session window with first/last function",
        [("a", 41, 41, "10 seconds"), ("a", 42, 42, "10 seconds"), ("a", 40, 40, "10 seconds"),
         ("b", 100, 100, "10 seconds"), ("b", 101, 101, "10 seconds")],
        facts("k start end least most", ("a", 40, 52, 40, 42)),
        ((3, 12), (2, 71)), header="k ts n s", suite=STREAMED,
    ),
    sessions(
        "session window - with more aggregation functions and UDAFs",
        [("a", 41, 41, "10 seconds"), ("a", 42, 42, "10 seconds"), ("a", 40, 40, "10 seconds"),
         ("b", 100, 100, "10 seconds"), ("b", 101, 101, "10 seconds")],
        facts("k start end count sum mean", ("a", 40, 52, 3, 123, 41.0)),
        ((3, 12), (2, 71)), header="k ts n s", suite=STREAMED,
    ),
)  # fmt: skip

# Their tests of streams that stand in no table, and why.
ELSEWHERE = {
    WATERMARKS: {
        "EventTimeStats": "asks Spark's statistics alone",
        "EventTimeStats: avg on large values": "asks Spark's statistics alone",
        "error on bad column": "`withWatermark` is Spark's",
        "error on wrong type": "`withWatermark` is Spark's",
        "recovery from Spark ver 2.3.1 commit log without commit metadata (SPARK-24699)":
            "the checkpoint is one of Spark's own files",
        "delay in months and years handled correctly": "asks for the watermark alone",
        "watermark with 2 streams": "asks for the watermark alone",
        "group by on raw timestamp": "has no window",
        "delay threshold should not be negative.": "`withWatermark` is Spark's",
        "the new watermark should override the old one": "`withWatermark` is Spark's",
        "EventTime watermark should be ignored in batch query.": "has no window",
        "SPARK-21565: watermark operator accepts attributes from replacement": "has no window",
        "test no-data flag": 'the rows are those of "append mode"',
        "MultipleWatermarkPolicy: max": "asks for the watermark alone",
        "MultipleWatermarkPolicy: min": "asks for the watermark alone",
        "MultipleWatermarkPolicy: recovery from checkpoints ignores session conf":
            "asks for the watermark alone",
        "MultipleWatermarkPolicy: recovery from Spark ver 2.3.1 checkpoints ensures min policy":
            "asks for the watermark alone",
        "MultipleWatermarkPolicy: fail on incorrect conf values": "asks for the watermark alone",
    },
    STREAMED: {
        "complete mode - session window - nested tuple key": "the same with another key",
        "complete mode - session window - multiple col key": "the same with another key",
        "complete mode - session window - no key": "Spark refuses it; here a key is not needed",
        "dynamic gap duration - nested tuple key": "the same with another key",
        "dynamic gap duration - multiple col key": "the same with another key",
        "append mode - session window - no key": "Spark refuses it; here a key is not needed",
        "update mode - session window": "Spark refuses it, and so does fanlight",
        "update mode - session window - no key": "Spark refuses it, and so does fanlight",
        "session window with async state checkpointing": "a setting that Spark has not",
    },
}  # fmt: skip

UNITS = {"second": SECOND, "seconds": SECOND}


def length(text):
    """A text such as ``10 seconds`` in microseconds; null if it is none."""
    number, _, unit = text.partition(" ")
    return int(number) * UNITS[unit] if unit in UNITS else None


IN_PYTHON = {  # what SQL text in the specs is, for the oracle
    "s": lambda row: length(row["s"]),
    "(n * 10) || ' seconds'": lambda row: row["n"] * 10 * SECOND,
    CONDITION: lambda row: {1: 2, 2: 10}.get(row["n"], 20) * SECOND,
    FILTERED: lambda row: {1: 0, 2: -10}.get(row["n"], 5) * SECOND,
    INVALID: lambda row: {1: 2 * SECOND, 2: None}.get(row["n"], 20 * SECOND),
}
