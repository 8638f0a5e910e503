"""Trend lines of several columns, their errors and forecasts: by least squares over the rows."""

from __future__ import annotations

import math
import random

import pytest

import fanlight as fl
from tests.helpers.dataframes import collected, frame
from tests.helpers.events import MINUTE
from tests.helpers.refusals import refused
from tests.helpers.sparks import DEFAULT, PROVIDER, ROCKSDB, configured
from tests.helpers.streams import stream
from tests.oracle import fit

SPEC = fl.MultiGranular(["4 minutes", "9 minutes"], ["2 minutes", "3 minutes"])
DRAW = random.Random(11)
ROWS = [
    {"case": 0, "k": DRAW.choice(["a", "b", None]), "ts": minute * MINUTE, "seq": seq,
     "v": DRAW.choice([None, 1.0, 2.5, -4.0]), "w": 0.5 * minute if minute > 20 else None}
    for seq, minute in enumerate(sorted(DRAW.randrange(50) for _ in range(60)))
]  # fmt: skip
PLACE = {"time": "ts", "by": ["case", "k"]}
PARTS = ("slope", "intercept", "r2", "slope_error", "forecast")
AHEAD = 300  # seconds


def expected(column, *, filled):
    """The oracle's lines, by window; and the value so long after the window's end."""
    found = {}
    for row in fit(ROWS, SPEC, column, filled=filled, instant_length=MINUTE, **PLACE):
        window = row["window"]
        slope, first, *_ = line = [row[part] for part in PARTS[:-1]]
        after = (window["end"] - window["start"]) // 1_000_000 + AHEAD
        line.append(None if slope is None else first + slope * after)
        found[row["k"], row["level"], window["start"], window["end"]] = line
    return found


def lines_of(df, columns, *, filled):
    windows = fl.over(df, SPEC, **PLACE)
    more = {"instant": "1 minute"} if filled else {}
    return windows.fit(*columns, filled=filled, ahead=f"{AHEAD} seconds", **more)


def check(rows, columns, *, filled):
    told = {column: expected(column, filled=filled) for column in columns}
    places = {
        (row["k"], row["level"], row["window"]["start"], row["window"]["end"]): row for row in rows
    }
    assert len(places) == len(rows)
    assert places.keys() == set().union(*told.values())
    for place, row in places.items():
        for column, lines in told.items():
            line = row[column] if len(columns) > 1 else tuple(row[part] for part in PARTS)
            wanted = lines.get(place, [None] * len(PARTS))
            for got, value in zip(line or [None] * len(PARTS), wanted, strict=True):
                assert (got is None) == (value is None)
                assert got is None or math.isclose(got, value, rel_tol=1e-6, abs_tol=1e-7)
    errors = [line[3] for line in told["v"].values()]
    assert None in errors
    assert any(error and error > 0.001 for error in errors)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("filled", [False, True])
@pytest.mark.parametrize("columns", [("v",), ("v", "w")])
def test_a_batch(spark, columns, filled):
    found = lines_of(frame(spark, ROWS), columns, filled=filled)
    parts = PARTS if len(columns) == 1 else columns
    assert found.columns == ["case", "k", "window", "level", *parts]
    if len(columns) > 1:
        assert found.selectExpr("v.*").columns == list(PARTS)
    check(collected(found), columns, filled=filled)


@pytest.mark.streaming
@pytest.mark.parametrize("filled", [False, True])
@pytest.mark.parametrize("columns", [("v", "w"), ("v",)])
def test_a_stream(spark, tmp_path, columns, filled):
    batches = [ROWS[at : at + 13] for at in range(0, len(ROWS), 13)]
    batches = [part for some in batches for part in (some, [])]

    def query(df):
        return lines_of(df, columns, filled=filled)

    with configured(spark, PROVIDER, ROCKSDB if filled else DEFAULT):
        rows = stream(spark, tmp_path, batches, query, delay="1 minute")
    check(rows, columns, filled=filled)


def test_an_error_by_hand(classic):
    """Of (0, 0), (1, 3), (2, 0): a flat line at 1, missed by 1, 2 and 1; sxx is 2."""
    df = classic.sql("SELECT * FROM VALUES (0L, 0D), (1L, 3D), (2L, 0D) AS t(at, v)")
    windows = fl.over(df, fl.MultiGranular([2, 4], [2, 4]), time="at")
    lines = windows.fit("v", ahead=1).where("window.start = 0")
    short, long = lines.orderBy("window.end").collect()
    assert (short.slope, short.slope_error, short.forecast) == (3, None, 9)
    assert long.slope == pytest.approx(0)
    assert long.slope_error == pytest.approx(math.sqrt(6 / 1 / 2))
    assert long.forecast == pytest.approx(1)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "windows",
    [
        lambda df: fl.over(df, SPEC, **PLACE, forget_after="9 minutes"),
        lambda df: fl.over(df, SPEC, **PLACE).complete_only("1970-01-01T00:10:00Z"),
        lambda df: fl.over(df, SPEC, **PLACE, late="collect"),
    ],
    ids=["lives", "complete", "late rows"],
)
def test_lives_completeness_and_late_rows_go_on_with_several_columns(classic, windows):
    windows = windows(frame(classic, ROWS))
    both = windows.fit("v", "w", filled=True)
    for column in ("v", "w"):
        place = ["case", "k", "window", "level"]
        alone = windows.fit(column, filled=True).selectExpr(*place, *PARTS[:-1])
        own = both.selectExpr(*place, f"{column}.*")
        lines = [
            sorted(repr(row) for row in found.where("slope is not null").collect())
            for found in (own, alone)
        ]
        assert lines[0] == lines[1] != []


def test_what_no_lines_are_fitted_to(classic):
    df = frame(classic, ROWS).withColumnRenamed("i", "level")
    windows = fl.over(df, SPEC, time="ts", by="k")
    refused(lambda: windows.fit("v", "s"), "needs a number")
    refused(lambda: windows.fit("v", "no"), "fit='no' is not a column")
    refused(lambda: windows.fit("v", "v"), "two columns of that name", "name each column once")
    refused(lambda: windows.fit("v", "level"), "'level'", "two columns of that name")
    refused(lambda: fl.over(df, SPEC, time="ts", by="w").fit("v", "w"), "'w' clashes")
    refused(lambda: windows.fit(*("v", True)), "write filled=True")
    for ahead in ("0 seconds", 5, "soon", fl.Rows(2)):
        refused(lambda ahead=ahead: windows.fit("v", ahead=ahead), "ahead=")
    for name in ("forecast", "slope_error"):
        named = fl.over(df.withColumnRenamed("k", name), SPEC, time="ts", by=name)
        refused(lambda named=named: named.fit("v", ahead="1 minute"), f"'{name}' clashes")
    rows = fl.MultiGranular([fl.Rows(2), fl.Rows(4)], [fl.Rows(2)] * 2)
    counted = fl.over(df, rows, time="ts")
    refused(lambda: counted.fit("v", ahead="1 minute"), "counted in rows")
    changes = fl.MultiGranular(["3 minutes", "9 minutes"], ["3 minutes"] * 2, changes_only=True)
    refused(lambda: fl.over(df, changes, time="ts").fit("v", "w"), "several", "by itself")
