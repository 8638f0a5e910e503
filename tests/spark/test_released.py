"""When a stream gives a result, and what it says of rows that are late."""

from __future__ import annotations

import pytest

import fanlight as fl
from tests.helpers.dataframes import calls, over
from tests.helpers.events import MINUTE
from tests.helpers.streams import finish, stream, stream_of
from tests.law.data import LATE_EVENTS, MIDNIGHT, SOME_MINUTE, event, minute, today

pytestmark = [pytest.mark.streaming]
PAIR = ("began", "ts")
PLACE = {"time": PAIR, "by": ["case", "k"], "tiebreak": ["seq"]}


def test_a_result_waits_for_the_watermark_and_no_longer(classic, tmp_path):
    """Without a later row nothing is known to be complete; what is, has come.

    A slice waits for the end of the first window that it is in, and is in its windows at once.
    """
    spec = fl.Sliding("7 minutes", "5 minutes")
    batches = [[today(0.5, 1)], [today(6, 2)], [today(14, 3)]]
    got = stream(
        classic,
        tmp_path,
        batches,
        lambda df: over(df, spec, {"s": ("sum", "n")}),
        delay="2 minutes",
        close=False,
    )
    found = {((one["window"]["end"] - MIDNIGHT) / MINUTE, one["s"]) for one in got}
    assert found == {(2, 1), (7, 3), (12, 2)}  # not the one that ends at minute 17


def test_late_events_are_counted(classic, tmp_path):
    spec = fl.Sliding("4 minutes", "2 minutes")
    df = stream_of(classic, tmp_path, LATE_EVENTS, "20 minutes")
    result = fl.over(df, spec, time=PAIR, by="k").agg(**calls({"s": ("sum", "n")}))
    dropped = [
        state["numRowsDroppedByWatermark"]
        for progress in finish(result, tmp_path).recentProgress
        for state in progress["stateOperators"]
    ]
    assert sum(dropped) == 3


def test_a_window_is_released_at_its_end_plus_ttp(classic, tmp_path):
    spec = fl.Sliding("4 minutes", "2 minutes")
    batches = [[event(0, 3, 1)], [event(10, 24, 2)], [event(23, 25, 3)]]

    def query(df):
        return over(df, spec, {"s": ("sum", "n")}, **PLACE)

    got = stream(classic, tmp_path, batches, query, delay="20 minutes", close=False)
    ends = {(row["window"]["end"] - SOME_MINUTE) / MINUTE for row in got}
    assert ends
    assert max(ends) <= 25 - 20
    assert {row["s"] for row in got} == {1}


def test_a_key_of_two_zeros_is_one_as_in_a_batch(classic, tmp_path):
    """Whichever of them comes first."""
    zeros = [minute(at, v=-0.0 if at % 3 == 0 else 0.0) for at in range(4)]
    spec = fl.Sliding(fl.Rows(2))

    def query(df):
        return over(df, spec, {"n": ("count",)}, by=["case", "v"])

    got = stream(classic, tmp_path, [zeros[:2], zeros[2:]], query, delay="1 minute")
    assert [(str(one["v"]), one["n"]) for one in got] == [("0.0", 2), ("0.0", 2)]
