"""Durations as ISO 8601 and SQL write them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fanlight as fl
from fanlight.engine.spec.units import parse_duration, write_duration
from tests.helpers.shown import shown

WRITTEN = {
    "PT5M": timedelta(minutes=5),
    "pt90s": timedelta(seconds=90),
    "P1DT2H30M": timedelta(days=1, hours=2, minutes=30),
    "P2W": timedelta(weeks=2),
    "PT0.25S": timedelta(milliseconds=250),
    "-PT1M30S": timedelta(seconds=-90),
    "PT1M-30S": timedelta(seconds=30),
    "INTERVAL '5' MINUTE": timedelta(minutes=5),
    "interval '90' seconds": timedelta(seconds=90),
    "INTERVAL 5 MINUTES": timedelta(minutes=5),
    "INTERVAL '5 minutes 3 seconds'": timedelta(minutes=5, seconds=3),
    "INTERVAL '1 02:03:04.5' DAY TO SECOND": timedelta(days=1, hours=2, minutes=3, seconds=4.5),
    "INTERVAL '02:03' HOUR TO MINUTE": timedelta(hours=2, minutes=3),
    "INTERVAL '-1 02' DAY TO HOUR": timedelta(days=-1, hours=-2),
    "INTERVAL -'5' MINUTE": timedelta(minutes=-5),
    "1h 30m": timedelta(hours=1, minutes=30),
    "5ms": timedelta(milliseconds=5),
}


@pytest.mark.parametrize("text", WRITTEN)
def test_a_duration_that_is_written_so(text):
    assert timedelta(microseconds=parse_duration("range", text)) == WRITTEN[text]


@pytest.mark.parametrize(
    "text", ["P", "PT", "PT5", "PT5M3", "P1DT", "P5", "INTERVAL '5'",
             "INTERVAL '1 2 3' DAY TO HOUR", "INTERVAL '' MINUTE",
             "INTERVAL '5' PARSEC", "INTERVAL '1' DAY TO PARSEC"]
)  # fmt: skip
def test_a_text_that_is_no_duration(text):
    with pytest.raises(fl.FanlightError, match=r"is not a duration|unknown unit"):
        fl.Sliding(text)


@pytest.mark.parametrize(
    "text", ["P1M", "P1Y", "1mo", "1Q", "1y", "INTERVAL '1' MONTH", "INTERVAL '1-2' YEAR TO MONTH"]
)
def test_months_have_no_fixed_length(text):
    with pytest.raises(fl.FanlightError, match="no fixed length"):
        fl.Sliding(text)


@pytest.mark.parametrize(("text", "write"), [("2M", "2 minutes"), ("1 MS", "1 millisecond")])
def test_letters_that_are_months_to_pandas(text, write):
    with pytest.raises(fl.FanlightError, match=f"write '{write}', or .*'1 month'") as caught:
        fl.Sliding(text)
    assert fl.Sliding(write)
    written = str(caught.value).partition("calendar: ")[2]
    assert eval(written, {"fl": fl})  # noqa: S307 - what the message says to write


def test_short_months_are_counted_by_a_calendar():
    for text, month in (("1mo", "1 month"), ("2Q", "2 quarters"), ("1y", "1 year")):
        with pytest.raises(fl.FanlightError, match="no fixed length") as caught:
            fl.Sliding(text)
        written = eval(str(caught.value).rpartition(": ")[2], {"fl": fl})  # noqa: S307
        assert written == fl.Calendar(text, zone="Europe/Berlin")
        assert written == fl.Calendar(month, zone="Europe/Berlin")


@pytest.mark.parametrize("text", ["1 day 3 foos", "1 month and", "2 days 5"])
def test_a_gap_is_read_to_its_end(text):
    with pytest.raises(
        fl.FanlightError, match=rf"gap='{text}' (is not a duration|has the unknown)"
    ):
        fl.Session(text)


def test_no_time_is_spelled_in_seconds():
    assert write_duration(0) == "0 seconds"


@shown(300)
@given(st.tuples(*(st.integers(0, 99) for _ in range(4))), st.booleans())
def test_any_parts(numbers, negative):
    sign = "-" if negative else ""
    days, hours, minutes, seconds = numbers
    meant = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    for text in (
        f"{sign}P{days}DT{hours}H{minutes}M{seconds}S",
        f"INTERVAL '{sign}{days} {hours}:{minutes}:{seconds}' DAY TO SECOND",
    ):
        found = timedelta(microseconds=parse_duration("gap", text))
        assert found == (-meant if negative else meant)


def test_every_kind_takes_them():
    assert fl.Sliding("PT5M", "INTERVAL '1' MINUTE") == fl.Sliding("5 minutes", "1 minute")
    levels = fl.MultiGranular(["PT1M", "PT2M"], ["PT1M", "PT2M"])
    assert levels == fl.MultiGranular(["1 minute", "2 minutes"], ["1 minute", "2 minutes"])
    assert fl.Session("PT5M").gap.value == fl.Session("5 minutes").gap.value
    assert fl.Session(timedelta(minutes=5)).gap.value == fl.Session("PT5M").gap.value
    widened = fl.ProgressiveWidening("PT1S", max_duration="PT1H", max_rows=9)
    assert widened == fl.ProgressiveWidening("1 second", max_duration="1 hour", max_rows=9)
    large = fl.ThresholdFrame("v > 1", min_duration="PT1M")
    assert large.least.duration.value == 60_000_000
