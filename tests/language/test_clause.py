"""The clause between the brackets: printed and read back, and read as what it says."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fanlight as fl
from fanlight import agg
from fanlight.engine.algebra.text import parts
from fanlight.language.reading import read
from tests.helpers.shown import shown
from tests.language.specs import NAMES, SPECS, meaning


def clause(text):
    return read(text, 0, len(text))


def paths(names):
    return tuple(tuple(parts(name)) for name in names)


@shown(2000)
@given(SPECS, st.lists(NAMES, max_size=3), st.lists(NAMES, max_size=2), st.data())
def test_every_spec_prints_as_a_clause_that_is_read_back(spec, by, tiebreak, data):
    time = data.draw(st.one_of(NAMES, st.tuples(NAMES, NAMES)))
    late = data.draw(st.sampled_from(("drop", "open")))
    text = fl.clause(spec, time=time, by=by, tiebreak=tiebreak, late=late)
    found = clause(text)
    assert meaning(found.spec) == meaning(spec), text
    assert found.time == paths([time] if isinstance(time, str) else time)
    assert found.by == paths(by)
    assert found.tiebreak == paths(tiebreak)
    assert found.late == late


READ = {
    "RANGE 4 MINUTES SLIDE 1 MINUTE": fl.Sliding("4 minutes", "1 minute"),
    "range 4 min slide 1 tuple": fl.Sliding("4 minutes", fl.rows(1)),
    "RANGE 1 HOUR 30 MINUTES OFFSET -5 MINUTES": fl.Sliding("90 minutes", offset="-5 minutes"),
    "RANGE INTERVAL '1 02:30' DAY TO MINUTE": fl.Sliding("26 hours 30 minutes"),
    "RANGE INTERVAL 4 MINUTES": fl.Sliding("4 minutes"),
    "RANGE 'PT4M' SLIDE '60 seconds'": fl.Sliding("4 minutes", "1 minute"),
    "RANGE 10 SLIDE 2.5 OFFSET 1": fl.Sliding(10, 2.5, offset=1),
    "RANGE 1000 ROWS SLIDE 10 ROWS": fl.Sliding(fl.rows(1000), fl.rows(10)),
    "RANGE 1 HOUR, RANGE 1 DAY SLIDE 1 HOUR": (
        fl.Sliding("1 hour"), fl.Sliding("1 day", "1 hour")
    ),
    "RANGES 1 HOUR, 10 MINUTES, 1 MINUTE SLIDES 5 MINUTES, 1 MINUTE, 1 SECOND WEIGHTS 0, .5, 1": (
        fl.MultiGranular(["1 minute", "10 minutes", "1 hour"],
                         ["1 second", "1 minute", "5 minutes"], weights=[1, 0.5, 0])
    ),
    "RANGES 1, 4 SLIDES 1, 2 OFFSET 3 REPORT CONTINUOUS HORIZONS 2, 3 CHANGES ONLY": (
        fl.MultiGranular([1, 4], [1, 2], offset=3, report="continuous", horizons=[2, 3],
                         changes_only=True)
    ),
    "FRAME THRESHOLD flsp > 0.2 MIN 20 ROWS": fl.ThresholdFrame("flsp > 0.2", min_rows=20),
    "FRAME THRESHOLD (a OR b) AND c": fl.ThresholdFrame("(a OR b) AND c"),
    "FRAME THRESHOLD late > range MIN 5 SECONDS": (
        fl.ThresholdFrame("late > range", min_duration="5 seconds")
    ),
    "FRAME OPEN speed > 50 CLOSE speed < 30": fl.PredicateFrame("speed > 50", "speed < 30"),
    "FRAME BOUNDARY x EVERY 4.2, y AT (-1, 10, 25)": (
        fl.BoundaryFrame({"x": 4.2, "y": [-1, 10, 25]})
    ),
    "FRAME BOUNDARY x EVERY 1 OVERLAPPING": fl.BoundaryFrame({"x": 1}, overlapping=True),
    "FRAME DELTA density BY 0.01, dye BY 0.02 AGAINST FIRST INCLUDE CROSSING": (
        fl.DeltaFrame({"density": 0.01, "dye": 0.02}, against="first", include_crossing=True)
    ),
    "FRAME AGGREGATE sum(bytes) REACHES 1e6, count(*) REACHES 1000 EXCLUDE CROSSING": (
        fl.AggregateFrame([agg.sum("bytes"), agg.count()], [1_000_000, 1000],
                          include_crossing=False)
    ),
    "FRAME AGGREGATE avg(`a b`) REACHES 5 MAY FALL": (
        fl.AggregateFrame([agg.avg("a b")], [5], may_fall=True)
    ),
    "SESSION 5 MINUTES MAX 8 HOURS MIN 3 ROWS": (
        fl.Session("5 minutes", max_duration="8 hours", min_rows=3)
    ),
    "SESSION 1 DAY": fl.Session("1 day"),
    "SESSION INTERVAL '1' DAY": fl.Session(timedelta(days=1)),
    "SESSION wait": fl.Session("wait"),
    "SESSION (CASE WHEN app = 'tv' THEN '2 hours' ELSE '5 minutes' END)": (
        fl.Session("CASE WHEN app = 'tv' THEN '2 hours' ELSE '5 minutes' END")
    ),
    "WIDENING 1 SECOND TO 1 DAY MAX 100 ROWS FACTOR 3": (
        fl.ProgressiveWidening("1 second", longest="1 day", max_rows=100, factor=3)
    ),
    "WIDENING 1 SECOND, 1 MINUTE, 1 HOUR TO 1 HOUR MAX 50 ROWS": (
        fl.ProgressiveWidening(["1 second", "1 minute", "1 hour"], longest="1 hour", max_rows=50)
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", READ)
def test_windows_are_what_they_say(text):
    for whole in (f"[WATTR ts {text}]", f"[{text} WATTR ts]", f"[\n wattr ts\n\t{text}\n]"):
        found = clause(whole)
        assert meaning(found.spec) == meaning(READ[text])
        assert found.time == (("ts",),)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("USING panes", ("panes", {})),
        ("USING se-ml-slicing HEIGHT 2 DURATION 5 MINUTES",
         ("se-ml-slicing", {"height": 2, "duration": "5 minutes"})),
        ("USING auto RATE 1000 GROUPS 50 PARTITIONS 16",
         ("auto", {"rate": 1000.0, "groups": 50.0, "partitions": 16})),
    ],
)  # fmt: skip
def test_a_technique_and_hints(text, values):
    found = clause(f"[WATTR ts RANGE 1 HOUR {text}]")
    assert (found.strategy, found.hints) == values


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("RANGES 1, 2 SLIDES 1, 1 FIT `a b` PER ROW INSTANT 1", "fit",
         {"column": ("a b",), "per_row": True, "instant": 1}),
        ("RANGES 1, 2 SLIDES 1, 1 RECURRING s.host COUNTS", "recurring",
         {"column": ("s", "host"), "counts": True}),
        ("FRAME THRESHOLD x FILL gps ON at BY ship, crew LONGEST 1 HOUR", "fill",
         {"other": ("gps",), "on": ("at",), "by": (("ship",), ("crew",)), "longest": "1 hour"}),
        ("FRAME THRESHOLD x SPLIT EVERY 1 SECOND", "split", {"every": "1 second"}),
        ("WIDENING 1 TO 8 MAX 9 ROWS DETECT 'a x=y; b' EVENT what RESULT r", "detect",
         {"text": "a x=y; b", "event": ("what",), "result": ("r",)}),
    ],
)  # fmt: skip
def test_what_else_can_be_asked(text, name, arguments):
    verb = clause(f"[WATTR ts {text}]").verb
    assert (verb.name, verb.arguments) == (name, arguments)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (fl.PredicateFrame(lambda *_: True, lambda *_: False, columns=["x"]), "not SQL text"),
        (fl.ThresholdFrame("a) OR (b"), "brackets do not match"),
        (fl.ThresholdFrame("a) MIN 20 ROWS --"), "brackets do not match"),
        (fl.ThresholdFrame("a 'b"), "cannot be written"),
        (fl.AggregateFrame(agg.approx_count_distinct("x", 0.02), 9), "options"),
        ("x", "not a window"),
        ([], "not a window"),
    ],
)
def test_what_cannot_be_written_is_refused(spec, why):
    with pytest.raises(fl.FanlightError, match=why):
        fl.clause(spec, time="ts")
