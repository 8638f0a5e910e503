"""Flink's own tests of window assigners and of the window operator."""

from __future__ import annotations

import fanlight as fl
from tests.foreign.facts import MILLISECOND, SECOND, Case, Suite, facts, given, steps

FOLDER = (
    "flink-streaming-java/src/test/java/org/apache/flink/streaming/runtime/operators/windowing/"
)
SLIDING = Suite("apache/flink", FOLDER + "SlidingEventTimeWindowsTest.java")
TUMBLING = Suite("apache/flink", FOLDER + "TumblingEventTimeWindowsTest.java")
STARTS = Suite("apache/flink", FOLDER + "TimeWindowTest.java")
SESSIONS = Suite("apache/flink", FOLDER + "EventTimeSessionWindowsTest.java")
OPERATOR = Suite("apache/flink", FOLDER + "WindowOperatorTest.java")


def ms(header, *lines):
    return facts(header, *lines, unit=MILLISECOND)


def rows(header, *lines):
    return given(header, *lines, unit=MILLISECOND)


def assigned(suite, test, spec, size, windows):
    """Elements, each under a key of its own, and the starts of the windows that it is put into."""
    found = [(str(at), start, start + size) for at, starts in windows.items() for start in starts]
    return Case(
        suite, test, spec, rows("k ts", *[(str(at), at) for at in windows]),
        ms("k start end", *found),
    )  # fmt: skip


def every(first, slide, count):
    return [first + slide * number for number in range(count)]


EARLY = rows(
    "k ts n",
    ("key2", 3999, 1), ("key2", 3000, 1), ("key1", 20, 1), ("key1", 0, 1), ("key1", 999, 1),
    ("key2", 1998, 1), ("key2", 1999, 1), ("key2", 1000, 1),
)  # fmt: skip
PLACED = (
    assigned(
        SLIDING, "testWindowAssignment", fl.Sliding("5000 ms", "1000 ms"), 5000,
        {0: every(-4000, 1000, 5), 4999: every(0, 1000, 5), 5000: every(1000, 1000, 5)},
    ),
    assigned(
        SLIDING, "testWindowAssignmentWithOffset",
        fl.Sliding("5000 ms", "1000 ms", offset="100 ms"), 5000,
        {100: every(-3900, 1000, 5), 5099: every(100, 1000, 5), 5100: every(1100, 1000, 5)},
    ),
    assigned(
        SLIDING, "testWindowAssignmentWithNegativeOffset",
        fl.Sliding("5000 ms", "1000 ms", offset="-100 ms"), 5000,
        {0: every(-4100, 1000, 5), 4899: every(-100, 1000, 5), 4900: every(900, 1000, 5)},
    ),
    assigned(
        SLIDING, "testTimeUnits", fl.Sliding("5 seconds", "1 second", offset="500 ms"), 5000,
        {100: every(-4500, 1000, 5), 5499: every(500, 1000, 5), 5100: every(500, 1000, 5)},
    ),
    assigned(
        TUMBLING, "testWindowAssignment", fl.Sliding("5000 ms"), 5000,
        {0: [0], 4999: [0], 5000: [5000]},
    ),
    assigned(
        TUMBLING, "testWindowAssignmentWithGlobalOffset",
        fl.Sliding("5000 ms", offset="100 ms"), 5000, {100: [100], 5099: [100], 5100: [5100]},
    ),
    assigned(
        TUMBLING, "testWindowAssignmentWithNegativeGlobalOffset",
        fl.Sliding("5000 ms", offset="-100 ms"), 5000, {0: [-100], 4899: [-100], 4900: [4900]},
    ),
    assigned(
        TUMBLING, "testTimeUnits", fl.Sliding("5 seconds", offset="1 second"), 5000,
        {1000: [1000], 5999: [1000], 6000: [6000]},
    ),
    assigned(
        STARTS, "testGetWindowStartWithOffset, 0", fl.Sliding("7 ms"), 7,
        {1: [0], 6: [0], 7: [7], 8: [7]},
    ),
    assigned(
        STARTS, "testGetWindowStartWithOffset, 3", fl.Sliding("7 ms", offset="3 ms"), 7,
        {1: [-4], 2: [-4], 3: [3], 9: [3], 10: [10]},
    ),
    Case(
        OPERATOR, "testTumblingEventTimeWindows", fl.Sliding("3 seconds"), EARLY,
        ms("k start end sum", ("key1", 0, 3000, 3), ("key2", 0, 3000, 3), ("key2", 3000, 6000, 2)),
    ),
    assigned(
        STARTS, "testGetWindowStartWithOffset, -2", fl.Sliding("7 ms", offset="-2 ms"), 7,
        {1: [-2], -2: [-2], 3: [-2], 4: [-2], 7: [5], 12: [12]},
    ),
    assigned(
        STARTS, "testGetWindowStartWithOffset, GMT+8", fl.Sliding("1 day", offset="-8 hours"),
        86_400_000, {1470902048450: [1470844800000]},
    ),
)  # fmt: skip

# Of sizes, slides and offsets these are refused by Flink.
REFUSED = (("-2 seconds", "1 second", 0), ("2 seconds", "-1 second", 0),
           ("-20 seconds", "10 seconds", "-1 second"), ("-1 second", None, 0))  # fmt: skip
# These, too: an offset must be shorter than a slide. Here counting may start anywhere.
SHIFTED = (("20 seconds", "10 seconds", "-11 seconds"), ("20 seconds", "10 seconds", "11 seconds"),
           ("10 seconds", None, "20 seconds"), ("10 seconds", None, "-11 seconds"))  # fmt: skip
REFUSED_GAPS = ("-1 second", "0 seconds")

MERGED = fl.Session("make_dt_interval(0, 0, 0, n / 1000)")  # windows of n milliseconds
OUT = "k start end sum"
KEYED = rows(
    "k ts n",
    ("key2", 0, 1), ("key2", 1000, 2), ("key2", 2500, 3), ("key1", 10, 1), ("key1", 1000, 2),
    ("key1", 2500, 3), ("key2", 5501, 4), ("key2", 6000, 5), ("key2", 6000, 5), ("key2", 6050, 6),
    ("key2", 15000, 10), ("key2", 15000, 20),
)  # fmt: skip
MERGING = rows(
    "k ts n",
    ("key2", 0, 1), ("key2", 1000, 2), ("key2", 2500, 3), ("key2", 3500, 4), ("key1", 10, 1),
    ("key1", 1000, 2), ("key1", 2500, 3), ("key1", 6000, 1), ("key1", 6500, 2), ("key1", 7000, 3),
    ("key1", 4500, 10),
)  # fmt: skip
SESSION = (
    assigned(
        SESSIONS, "testWindowAssignment", fl.Session("5000 ms"), 5000,
        {0: [0], 4999: [4999], 5000: [5000]},
    ),
    Case(
        SESSIONS, "testMergeConsecutiveWindows", MERGED,
        rows("ts n", (0, 1), (1, 1), (2, 1), (4, 1), (5, 1)), ms("start end", (0, 3), (4, 6)),
    ),
    Case(
        SESSIONS, "testMergeCoveringWindow", MERGED,
        rows("ts n", (1, 0), (0, 2), (4, 3), (5, 1)), ms("start end", (0, 2), (4, 7)),
    ),
    Case(
        OPERATOR, "testSessionWindows", fl.Session("3 seconds"), KEYED,
        ms(OUT, ("key1", 10, 5500, 6), ("key2", 0, 5500, 6), ("key2", 5501, 9050, 20),
           ("key2", 15000, 18000, 30)),
    ),
    Case(
        OPERATOR, "testSessionWindowsWithCountTrigger", fl.Session("3 seconds"), MERGING,
        ms(OUT, ("key2", 0, 6500, 10), ("key1", 10, 10000, 22)),
    ),
)  # fmt: skip

# A watermark w of Flink means that rows up to w have come; Spark's, that rows before it have.
LATE_TUMBLING = rows(
    "k ts n", ("key2", 1000, 1), ("key2", 1980, 1), ("key2", 1998, 1), ("key2", 2001, 1)
)
LATE_SLIDING = rows(
    "k ts n",
    ("key2", 1000, 1), ("key2", 2000, 1), ("key1", 3001, 1), ("key2", 2400, 1), ("key2", 2400, 1),
    ("key1", 3001, 1), ("key2", 3900, 1), ("key1", 3001, 1),
)  # fmt: skip
HELD = ms(
    OUT, ("key1", -2000, 1000, 3), ("key1", -1000, 2000, 3), ("key2", -1000, 2000, 3),
    ("key1", 0, 3000, 3), ("key2", 0, 3000, 3), ("key2", 1000, 4000, 5), ("key2", 2000, 5000, 2),
    ("key2", 3000, 6000, 2),
)  # fmt: skip
# The two rows of 2400 come when one of their windows, [0, 3000), is complete.
ALL_OR_NONE = ms(
    OUT, ("key2", -1000, 2000, 1), ("key2", 0, 3000, 2), ("key2", 1000, 4000, 3),
    ("key1", 1000, 4000, 2), ("key2", 2000, 5000, 2), ("key1", 2000, 5000, 2),
    ("key2", 3000, 6000, 1), ("key1", 3000, 6000, 2),
)  # fmt: skip
SLIDING_STREAM = (
    Case(
        OPERATOR, "testSlidingEventTimeWindows", fl.Sliding("3 seconds", "1 second"), EARLY, HELD,
        steps=steps(EARLY, (8, 8 * SECOND)),
    ),
    Case(
        OPERATOR, "testDropDueToLatenessSliding", fl.Sliding("3 seconds", "1 second"), LATE_SLIDING,
        ms(
            OUT, ("key2", -1000, 2000, 1), ("key2", 0, 3000, 2), ("key2", 1000, 4000, 5),
            ("key1", 1000, 4000, 2), ("key2", 2000, 5000, 4), ("key1", 2000, 5000, 2),
            ("key2", 3000, 6000, 1), ("key1", 3000, 6000, 2),
        ),
        ours=ALL_OR_NONE,
        why="a row is in all of its windows or in none; Flink and Spark keep a late row in those "
            "that are open",
        steps=steps(LATE_SLIDING, (1, 2 * SECOND), (1, 3_001_000), (5, 6_001_000), (1, 25_001_000)),
    ),
)  # fmt: skip
TUMBLING_STREAM = (
    Case(
        OPERATOR, "testDropDueToLatenessTumbling", fl.Sliding("2 seconds"), LATE_TUMBLING,
        ms(OUT, ("key2", 0, 2000, 2), ("key2", 2000, 4000, 1)),
        steps=steps(LATE_TUMBLING, (1, 1_986_000), (1, 2 * SECOND), (2, 4 * SECOND)),
    ),
)  # fmt: skip
LATE_SESSIONS = given(
    "k ts n s",
    *[("key2", at, 1, "3 seconds")
      for at in (1000, 2000, 4500, 8500, 7000, 11600, 10000, 10100, 14500)],
    unit=MILLISECOND,
)  # fmt: skip
SESSION_STREAM = (
    Case(
        OPERATOR, "testDropDueToLatenessSessionZeroLatenessPurgingTrigger", fl.Session("s"),
        LATE_SESSIONS,
        ms(OUT, ("key2", 1000, 11500, 5), ("key2", 11600, 14600, 1), ("key2", 14500, 17500, 1)),
        ours=ms(OUT, ("key2", 1000, 4000, 1), ("key2", 8500, 11500, 1), ("key2", 11600, 14600, 1)),
        why="a row no later than the watermark is late, though its session may still be open",
        steps=steps(
            LATE_SESSIONS, (1, 2 * SECOND), (1, 4_999_000), (2, 7_401_000), (1, 11_502_000),
            (1, 14_601_000), (3, 100_000_000),
        ),
    ),
)  # fmt: skip
IN_PYTHON = {"make_dt_interval(0, 0, 0, n / 1000)": lambda row: row["n"] * MILLISECOND}
