"""IoTDB's own tests, and examples of its guide: GROUP BY VARIATION, CONDITION, SESSION, COUNT."""

from __future__ import annotations

import fanlight as fl
from fanlight import agg
from tests.foreign.facts import MILLISECOND, Case, Suite, facts, given

FOLDER = "integration-test/src/test/java/org/apache/iotdb/db/it/groupby/IoTDBGroupBy"
VARIATION, CONDITION, SESSIONS, COUNT = (
    Suite("apache/iotdb", f"{FOLDER}{name}IT.java")
    for name in ("Variation", "Condition", "Session", "Count")
)
GUIDE = Suite("apache/iotdb", "docs/UserGuide/Query-Data/Group-By.md")


def ms(header, *lines):
    return facts(header, *lines, unit=MILLISECOND)


def rows(header, *lines):
    return given(header, *lines, unit=MILLISECOND)


# Time, temperature (v), status (x, and s for counts), hardware (n).
WEATHER = tuple(
    {**row, "s": None if row["x"] is None else "known"}
    for row in rows(
        "ts v x n",
        (1, 35.7, 0.0, 11), (2, 35.8, 1.0, 22), (3, 35.4, 0.0, 33), (4, 36.4, 0.0, 44),
        (5, 36.8, 0.0, 55), (10, 36.8, 0.0, 110), (20, 37.8, 1.0, 220), (30, 37.5, 0.0, 330),
        (40, 37.4, 0.0, 440), (50, 37.9, 0.0, 550), (100, 38.0, 0.0, 110), (150, 38.8, 1.0, 220),
        (200, 38.6, 0.0, 330), (250, 38.4, 0.0, 440), (300, 38.3, 0.0, 550),
        (400, None, None, None), (440, None, None, None), (480, None, None, None),
        (500, 38.2, 0.0, 110), (510, 37.5, 1.0, 220), (520, 37.4, 0.0, 330),
        (530, 36.8, 0.0, 440), (540, 37.4, 0.0, 550), (580, 37.8, 0.0, 110),
        (590, 37.9, 1.0, 220), (600, 36.9, 1.0, 330), (610, 38.2, 1.0, 440),
        (620, 39.2, 1.0, 550), (1500, 9.8, 0.0, 666), (1550, 10.2, 1.0, 888),
    )
)  # fmt: skip
MEASURED = "start last known mean_v sum"
BY_ONE = ms(
    MEASURED, (1, 4, 4, 35.825, 110), (5, 40, 5, 37.26, 1155), (50, 520, 9, 38.122222, 2860),
    (530, 580, 3, 37.333333, 1100), (590, 610, 3, 37.666667, 990), (620, 620, 1, 39.2, 550),
    (1500, 1550, 2, 10.0, 1554),
)  # fmt: skip
SERIES = rows(
    "ts v x",  # v is s6, x is s5
    (0, 8.25, 9.0), (10, 8.25, 19.0), (20, None, 29.0), (30, None, None), (40, 8.25, 49.0),
    (50, 6.25, 59.0), (60, None, 69.0), (70, 3.25, 79.0), (80, 3.25, 89.0), (90, 3.25, 99.0),
    (150, 9.25, 99.0),
)  # fmt: skip
ADDED = tuple({**row, "v": None if row["v"] is None else row["v"] + row["x"]} for row in SERIES)


def within(delta):
    """A frame that a row at exactly ``delta`` from its first still belongs to."""
    return fl.DeltaFrame({"v": delta}, against="first", strict=True)


def equal(column):
    """A run of equal values."""
    return fl.StateFrame(column)


# Time, charging_status (n), soc (v).
CAR = rows(
    "ts n v",
    (1, 1, 14.0), (2, 1, 16.0), (3, 0, 16.0), (4, 0, 16.0), (5, 1, 18.0), (6, 1, 24.0),
    (7, 1, 36.0), (8, None, 36.0), (9, 1, 45.0), (10, 1, 60.0), (110_000_000, None, 60.0),
    *[(at * 10_000_000, None, None) for at in range(12, 19)],
    (1_900_000_000, 1, 55.0), (2_000_000_000, 1, 70.0), (2_100_000_000, None, 70.0),
    (2_200_000_000, None, 70.0), (2_300_000_000, None, 69.0), (2_400_000_000, 1, 80.0),
    (2_500_000_000, 1, 100.0),
)  # fmt: skip
COUNTED = rows(
    "ts n v",
    (1, 1, 14.0), (2, 1, 16.0), (3, 0, 16.0), (4, 0, 16.0), (5, 1, 18.0), (6, 1, 24.0),
    (7, 1, 36.0), (8, None, 36.0), (9, 1, 45.0), (10, 1, 60.0), (1_100_000_000, None, 60.0),
    (1_200_000_000, None, 0.0), (1_900_000_000, 1, 55.0), (2_000_000_000, 1, 70.0),
    (2_100_000_000, None, 70.0), (2_200_000_000, None, 70.0), (2_300_000_000, None, 69.0),
    (2_400_000_000, 1, 80.0), (2_500_000_000, 1, 100.0), (2_600_000_000, 0, 101.0),
)  # fmt: skip
NO_N, NO_V = "n is null", "v is null"
RUN = "start last count last_v"
CHARGING = "n = 1"


def of(n, rows):
    """Groups of n rows; a last one that is short of that is left out."""
    return fl.AggregateFrame(agg.count(), n), rows, f"rows = {n}"


def counted(test, n, wanted, *, unless=NO_N):
    spec, rows, having = of(n, COUNTED)
    return Case(COUNT, test, spec, rows, wanted, unless=unless, having=having)


FRAMES = (
    Case(VARIATION, "groupByVariationTestWithEndTime", within(1.0), WEATHER, BY_ONE, unless=NO_V),
    Case(
        VARIATION, "groupByVariationTestWithEndTime, the same delta",
        fl.DeltaFrame({"v": 1}, against="first"), WEATHER, BY_ONE,
        ours=ms(
            "start last known sum", (1, 4, 4, 110), (5, 10, 2, 165), (20, 100, 5, 1650),
            (150, 500, 5, 1650), (510, 610, 8, 2640), (620, 620, 1, 550), (1500, 1550, 2, 1554),
        ),
        why="a delta frame ends at the row that has changed by its delta, as the paper has it; "
            "IoTDB keeps a row at exactly delta",
        unless=NO_V,
    ),
    Case(
        VARIATION, "groupByVariationEqualTestWithEndTime", equal("x"), WEATHER,
        ms(MEASURED, (1, 1, 1, 35.7, 11), (2, 2, 1, 35.8, 22), (3, 10, 4, 36.35, 242),
           (20, 20, 1, 37.8, 220), (30, 100, 4, 37.7, 1430), (150, 150, 1, 38.8, 220),
           (200, 500, 4, 38.375, 1430), (510, 510, 1, 37.5, 220), (520, 580, 4, 37.35, 1430),
           (590, 620, 4, 38.05, 1540), (1500, 1500, 1, 9.8, 666), (1550, 1550, 1, 10.2, 888)),
        unless=NO_V,
    ),
    Case(
        GUIDE, "group by variation(s6)", equal("v"), SERIES,
        ms("start last count", (0, 40, 3), (50, 50, 1), (70, 90, 3), (150, 150, 1)), unless=NO_V,
    ),
    Case(
        GUIDE, "group by variation(s6, 4)", within(4.0), SERIES,
        ms("start last count", (0, 50, 4), (70, 90, 3), (150, 150, 1)), unless=NO_V,
    ),
    Case(
        GUIDE, "group by variation(s6+s5, 10)", within(10.0), ADDED,
        ms("start last count", (0, 10, 2), (40, 50, 2), (70, 80, 2), (90, 150, 2)), unless=NO_V,
    ),
    Case(
        CONDITION, "groupByConditionTest1", fl.ThresholdFrame(CHARGING, min_rows=2), CAR,
        ms(RUN, (1, 2, 2, 16.0), (5, 7, 3, 36.0), (9, 10, 2, 60.0),
           (1_900_000_000, 2_000_000_000, 2, 70.0), (2_400_000_000, 2_500_000_000, 2, 100.0)),
    ),
    Case(
        CONDITION, "groupByConditionTest2", fl.ThresholdFrame(CHARGING, min_rows=2), CAR,
        ms(RUN, (1, 2, 2, 16.0), (5, 2_500_000_000, 9, 100.0)), unless=NO_N,
    ),
    Case(
        CONDITION, "groupByConditionTest3", fl.ThresholdFrame(CHARGING, min_rows=3), CAR,
        ms(RUN, (5, 2_500_000_000, 9, 100.0)), unless=NO_N,
    ),
    Case(
        CONDITION, "groupByConditionTest4", fl.ThresholdFrame(CHARGING, min_rows=3), CAR,
        ms(RUN, (5, 7, 3, 36.0)),
    ),
    Case(
        CONDITION, "groupByConditionTest5", fl.ThresholdFrame("n = 0"), CAR,
        ms(RUN, (3, 4, 2, 16.0)), unless=NO_N, having="rows = 2",
    ),
    Case(
        CONDITION, "groupByConditionTest6", fl.ThresholdFrame("v >= 24"), CAR,
        ms(RUN, (6, 2_500_000_000, 13, 100.0)), unless=NO_V, having="rows <= 15",
    ),
    counted("groupByCountNormalTest1", 5,
            ms(f"{RUN} sum", (1, 5, 5, 18.0, 3), (6, 1_900_000_000, 5, 55.0, 5))),
    counted("groupByCountNormalTest2", 12, ms(f"{RUN} sum", (1, 2_400_000_000, 12, 80.0, 10))),
    counted("groupByCountNormalTest4", 7,
            ms("start last first_v", (1, 7, 14.0), (9, 2_600_000_000, 45.0))),
    counted("groupByCountNormalTest6", 2,
            ms(f"{RUN} sum", (1, 2, 2, 16.0, 2), (3, 4, 2, 16.0, 0), (5, 6, 2, 24.0, 2),
               (7, 9, 2, 45.0, 2), (10, 1_900_000_000, 2, 55.0, 2),
               (2_000_000_000, 2_400_000_000, 2, 80.0, 2),
               (2_500_000_000, 2_600_000_000, 2, 101.0, 1))),
    counted("groupByCountNormalTest8", 5,
            ms(f"{RUN} sum", (1, 5, 5, 18.0, 3), (6, 10, 5, 60.0, 4),
               (1_100_000_000, 2_100_000_000, 5, 70.0, 2),
               (2_200_000_000, 2_600_000_000, 5, 101.0, 2)), unless=None),
    counted("groupByCountNormalTest10", 12,
            ms(f"{RUN} sum", (1, 1_200_000_000, 12, 0.0, 7)), unless=None),
)  # fmt: skip

VISITED = tuple({**row, "n": row["n"] or 0} for row in WEATHER) + tuple(
    {**row, "s": "known"}
    for row in rows("ts v x n", (3550, 10.8, 1.0, 999), (5550, 10.6, 0.0, 1888),
                    (7550, 10.2, 1.0, 2888))
)  # fmt: skip
STILL = ((3550, 1, 10.8, 999), (5550, 1, 10.6, 1888), (7550, 1, 10.2, 2888))
CALM = ((100, 1, 38.0, 110), (150, 1, 38.8, 220), (200, 1, 38.6, 330), (250, 1, 38.4, 440),
        (300, 1, 38.3, 550))  # fmt: skip
COLUMNS = "start known mean_v sum"
SESSION = (
    Case(
        SESSIONS, "groupBySessionTest1", fl.Session("99 ms"), VISITED,
        ms(COLUMNS, (1, 15, 37.306667, 3465), (400, 10, 37.73, 3300), (1500, 2, 10.0, 1554),
           *STILL),
    ),
    Case(
        SESSIONS, "groupBySessionTest3", fl.Session("49 ms"), VISITED,
        ms(COLUMNS, (1, 10, 36.75, 1815), *CALM, (400, 10, 37.73, 3300), (1500, 1, 9.8, 666),
           (1550, 1, 10.2, 888), *STILL),
    ),
    Case(
        SESSIONS, "groupBySessionTest5", fl.Session("1 second"), VISITED,
        ms(COLUMNS, (1, 27, 35.441, 8319), *STILL),
    ),
    Case(
        SESSIONS, "groupBySessionTest2", fl.Session("10 ms"), VISITED,
        ms("start known", (1, 10), (100, 1), (150, 1), (200, 1), (250, 1), (300, 1), (500, 5),
           (580, 5), (1500, 1), (1550, 1), (3550, 1), (5550, 1), (7550, 1)),
        unless=NO_V,
    ),
)  # fmt: skip
IN_PYTHON = {
    CHARGING: lambda row: None if row["n"] is None else row["n"] == 1,
    "n = 0": lambda row: None if row["n"] is None else row["n"] == 0,
    "v >= 24": lambda row: None if row["v"] is None else row["v"] >= 24,
    NO_N: lambda row: row["n"] is None,
    NO_V: lambda row: row["v"] is None,
    **{f"rows = {n}": lambda row, n=n: row["rows"] == n for n in (2, 5, 7, 12)},
    "rows <= 15": lambda row: row["rows"] <= 15,
}
