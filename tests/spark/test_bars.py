"""Bars of trades, as the page of frames makes them, beside those of mlfinpy."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight import agg
from tests.foreign.bars.ticks import FEWEST, FRAMES, LIMITS, MOST, ROWS, VALUES, recorded, ticks

SIGNED = {"tick": "side", "volume": "side * volume", "dollar": "side * volume * price"}
FILLED = {"tick": agg.count(), "volume": agg.sum("volume"), "dollar": agg.sum("worth")}
EXPECTED = f"coalesce(mean_rows({FRAMES}), {ROWS})"
CLAMPED = f"greatest({FEWEST}, least({MOST}, {EXPECTED}))"


def spec_of(bars):
    kind, *imbalance = bars.split(" ", 1)
    if not imbalance:
        return fl.AggregateFrame(FILLED[kind], LIMITS[kind])
    rows = ROWS if "constant" in bars else CLAMPED
    limit = f"{rows} * abs(mean_value({VALUES}, {ROWS}))"
    return fl.AggregateFrame(agg.sum(f"signed_{kind}"), limit, strict=True, absolute=True)


@pytest.fixture(scope="module")
def trades(spark):
    """Trades with their side by the tick rule: that of the last price that differed."""
    read = ("timestamp_seconds(at) AS ts", "price", "volume")
    given = spark.createDataFrame(ticks()).selectExpr(*read)
    moved = given.selectExpr("*", "sign(price - lag(price) OVER (ORDER BY ts)) AS moved")
    side = "coalesce(last(nullif(moved, 0), true) OVER (ORDER BY ts), 0)"
    sided = moved.selectExpr("*", f"{side} AS side", "price * volume AS worth")
    return sided.selectExpr(
        "*", *(f"{text} AS signed_{kind}" for kind, text in SIGNED.items())
    ).cache()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("bars", recorded())
def test_bars_are_those_of_mlfinpy(trades, bars):
    found = fl.over(trades, spec_of(bars), time="ts").frames().where("closed").orderBy("frame_id")
    sizes = [row.rows for row in found.collect()]
    # The last bar may be full and yet open: a further trade would show it.
    assert sizes == recorded()[bars][: len(sizes)]
    assert 0 <= len(recorded()[bars]) - len(sizes) <= 1
