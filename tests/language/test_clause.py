"""The clause between the brackets: printed and read back, and read as what it says."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import fanlight as fl
from fanlight import agg
from fanlight.engine.algebra.sql_text import split_path
from fanlight.engine.kinds import kind_of
from fanlight.engine.kinds.kind import EMPTY, SIDES
from fanlight.engine.kinds.options import list_options
from fanlight.engine.spec.units import read_extent
from fanlight.language.clause_reader import read_clause
from tests.helpers.shown import shown
from tests.language.specs import LABELS, NAMES, SPECS, meaning
from tests.language.texts import READ

LENGTHS = st.sampled_from((None, "30 days", "90 seconds", "PT90S", 2.5, 7))
THRESHOLDS = st.floats(1.001, 1e9) | st.integers(2, 99)
CALLS = st.sampled_from((agg.count(), agg.max("a b"), agg.sum("a.b"), agg.corr("x", "end")))
LEVELS = fl.MultiGranular(["1 minute", "1 hour"], ["1 minute", "1 minute"])
FRAME = fl.ThresholdFrame("x > 1")
WIDENING = fl.ProgressiveWidening("1 second", max_duration="1 day", max_rows=9)


def clause(text):
    return read_clause(text, 0, len(text))


def paths(names):
    return tuple(tuple(split_path(name)) for name in names)


INSTANTS = st.sampled_from(("2025-03-01T00:00:00Z", "it's \\", 5, 2.5))
SHORT = st.sampled_from(("6 hours", "90 seconds", 2.5))
# What an option may be asked with; each argument may be left out, unless it is needed.
ASKED = {
    "running": st.fixed_dictionaries(
        {"id": NAMES}, optional={"as_of": INSTANTS, "max_duration": SHORT}
    ),
    "postpone": st.fixed_dictionaries({"wait": st.sampled_from(("2 hours", "0 seconds"))}),
    "early": st.fixed_dictionaries({}, optional={"every": SHORT}),
    "with_empty": st.fixed_dictionaries(
        {"values": st.sampled_from(EMPTY)},
        optional={"most": st.integers(1, 99), "between": st.tuples(INSTANTS, INSTANTS)},
    ),
    "complete_only": st.fixed_dictionaries(
        {}, optional={"since": INSTANTS, "side": st.sampled_from(SIDES[1:])}
    ),
}


def test_every_option_that_has_words_is_asked():
    assert [*ASKED] == [option.verb for option in list_options() if option.words is not None]


@shown(2000)
@given(SPECS, st.lists(NAMES, max_size=3), st.lists(NAMES, max_size=2), st.data())
def test_every_spec_prints_as_a_clause_that_is_read_back(spec, by, tiebreak, data):
    time = data.draw(st.one_of(NAMES, st.tuples(NAMES, NAMES)))
    late = data.draw(st.sampled_from(("drop", "open")))
    silence = data.draw(st.sampled_from((None, "30 days", "90 seconds", 2.5, 7)))
    asked = {
        option.verb: data.draw(ASKED[option.verb])
        for option in list_options()
        if option.verb in ASKED
        and kind_of(spec).family in option.families
        and (not option.lasting or isinstance(time, tuple))
        and data.draw(st.booleans())
    }
    more = {"late": late, "forget_after": silence, "options": asked}
    text = fl.clause(spec, time=time, by=by, tiebreak=tiebreak, **more)
    found = clause(text)
    assert meaning(found.spec) == meaning(spec), text
    assert found.time == paths([time] if isinstance(time, str) else time)
    assert found.by == paths(by)
    assert found.tiebreak == paths(tiebreak)
    assert found.late == late
    assert length(found.forget_after) == length(silence)
    assert ("final" in found.outputs) == ("early" in asked)
    assert {verb: as_asked(given) for verb, given in found.options.items()} == {
        verb: as_asked(given, paths) for verb, given in asked.items()
    }


def as_asked(given, named=lambda one: one):
    """Arguments for comparison: lengths by what they are, a column by its path."""
    lengths = ("wait", "every", "max_duration")
    found = {n: length(one) if n in lengths else one for n, one in given.items()}
    return {
        **found,
        **({"id": named([given["id"]])[0]} if "id" in given and named is paths else {}),
    }


VERBS = {
    "fit": {"column": NAMES, "filled": st.booleans(), "instant": LENGTHS, "ahead": LENGTHS},
    "recurring": {"column": NAMES, "counts": st.booleans()},
    "wide": {},
    "bursts": {"threshold": THRESHOLDS | st.lists(THRESHOLDS, min_size=1, max_size=3)},
    "fill": {
        "other": NAMES, "time": NAMES, "by": st.none() | st.lists(NAMES, max_size=2),
        "max_duration": LENGTHS, "how": st.sampled_from(("inner", "left")),
        "own": st.none() | st.dictionaries(LABELS, CALLS, max_size=2),
    },
    "split": {"every": LENGTHS.filter(bool)},
    "accumulate": {"every": LENGTHS.filter(bool)},
    "detect": {
        "function": st.builds(fl.Episode, st.sampled_from((
            "a x=y; b x=y | c", "a x='it''s' => 1\n b", r"a x='\\n \\'; b x=2",
        )), event=NAMES, result=NAMES),
    },
}  # fmt: skip


@shown(1000)
@given(SPECS, st.data())
def test_every_method_prints_as_words_that_are_read_back(spec, data):
    kind = kind_of(spec)
    alone = isinstance(spec, fl.Sliding)  # has nothing to put side by side
    assume(kind.family.verbs and not alone)
    method = data.draw(st.sampled_from(kind.family.verbs))
    arguments = {name: data.draw(one) for name, one in VERBS[method].items()}
    time = ("a", "b c") if method == "wide" and data.draw(st.booleans()) else "ts"
    text = fl.clause(spec, time=time, method=method, arguments=arguments)
    found = clause(text)
    assert meaning(found.spec) == meaning(spec), text
    assert (found.verb.name, found.verb.arguments.keys()) == (method, said(method, arguments))
    for name, value in found.verb.arguments.items():
        assert meaning_in(name, value) == wanted(name, arguments), text


def said(method, arguments):
    """What the clause says: what is not left as it is by default, by the names that it has."""
    if method == "detect":
        return {"text", "event", "result"}
    names = {name for name, one in arguments.items() if one not in (None, False, {})}
    return {"on" if name == "time" else name for name in names}


def meaning_in(name, value):
    """A value of a clause, to be compared with :func:`wanted`."""
    if name in ("instant", "ahead", "max_duration", "every"):
        return length(value)
    return {one: meaning(call) for one, call in value.items()} if name == "own" else value


def wanted(name, arguments):
    """What a clause has to say for an argument of a method."""
    episode, calls = arguments.get("function"), arguments.get("own")
    if name == "text":
        return episode.text
    if name == "own":
        return {one: meaning(call) for one, call in calls.items()}
    given = getattr(episode, name) if episode else arguments["time" if name == "on" else name]
    if name in ("column", "other", "on", "event", "result"):
        return tuple(split_path(given))
    if name == "by":
        return paths(given)
    if name == "threshold":
        return given[0] if isinstance(given, list) and len(given) == 1 else given
    return length(given) if name in ("instant", "ahead", "max_duration", "every") else given


@pytest.mark.parametrize(
    ("spec", "method", "arguments", "why"),
    [
        (LEVELS, "agg", None, "not a method that has words in SQL"),
        (LEVELS, None, {"column": "x"}, "are of no method"),
        (LEVELS, "fit", None, "needs 'column'"),
        (LEVELS, "fit", {"column": None}, "needs 'column'"),
        (LEVELS, "fit", "x", "is not a mapping"),
        (LEVELS, "fit", {"column": 1}, "not text"),
        (LEVELS, "fit", {"column": "x", "every": True}, "every=True has no words after FIT"),
        (LEVELS, "fit", {"column": "x", "filled": 1}, "neither True nor False"),
        (LEVELS, "wide", {"calls": agg.count()}, "has no words after WIDE; leave it out"),
        (LEVELS, "bursts", {"threshold": True}, "neither a number above 1 nor a list"),
        (LEVELS, "bursts", {"threshold": [2, float("nan")]}, "neither a number above 1"),
        (LEVELS, "bursts", {"threshold": []}, "neither a number above 1"),
        (LEVELS, "fill", {"other": "gps", "time": "at"}, "FILL does not apply"),
        (fl.Sliding("1 hour"), "wide", None, "WIDE does not apply to these windows"),
        (FRAME, "fill", {"other": "gps"}, "needs 'time'"),
        (FRAME, "fill", {"other": "gps", "time": "at", "how": "right"}, "not a way to join"),
        (FRAME, "fill", {"other": "gps", "time": "at", "own": agg.max("x")}, "not a mapping from"),
        (FRAME, "fill", {"other": "gps", "time": "at", "own": {"m": agg.max("x").where("y")}},
         "options"),
        (FRAME, "split", {"every": fl.Rows(3)}, "counts rows"),
        (WIDENING, "detect", {"function": len}, "is not an Episode"),
    ],
)  # fmt: skip
def test_a_method_that_cannot_be_written_is_refused(spec, method, arguments, why):
    with pytest.raises(fl.FanlightError, match=why):
        fl.clause(spec, time="ts", method=method, arguments=arguments)


def length(given):
    if given is None or isinstance(given, bool):
        return given
    return read_extent("x", given, positive=False).value


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
        ("RANGES 1, 2 SLIDES 1, 1 FIT x AHEAD 2.5", "fit", {"column": ("x",), "ahead": 2.5}),
        ("RANGES 1, 2 SLIDES 1, 1 FIT ahead INSTANT 1 ahead 1 MINUTE TIEBREAK ahead", "fit",
         {"column": ("ahead",), "instant": 1, "ahead": "1 minute"}),
        ("RANGES 1, 2 SLIDES 1, 1 BURSTS THRESHOLD 5/2", "bursts", {"threshold": 2.5}),
        ("RANGES 1, 2, 9 SLIDES 1, 1, 1 bursts threshold 2, 3", "bursts", {"threshold": [2, 3]}),
        ("BURSTS THRESHOLD 3, 2 RANGES 9, 2, 1 SLIDES 1, 1, 1", "bursts", {"threshold": [2, 3]}),
        ("RANGES 1, 2 SLIDES 1, 1 WIDE", "wide", {}),
        ("wide RANGES 1, 2 SLIDES 1, 1 LATE OPEN", "wide", {}),
        ("RANGE 1 HOUR, RANGE 1 DAY SLIDE 1 HOUR WIDE", "wide", {}),
        ("RANGES 1, 2 SLIDES 1, 1 FIT `a b` FILLED INSTANT 1", "fit",
         {"column": ("a b",), "filled": True, "instant": 1}),
        ("RANGES 1, 2 SLIDES 1, 1 RECURRING s.host COUNTS", "recurring",
         {"column": ("s", "host"), "counts": True}),
        ("FRAME THRESHOLD x FILL gps ON at BY ship, crew MAX 1 HOUR", "fill",
         {"other": ("gps",), "on": ("at",), "by": (("ship",), ("crew",)),
          "max_duration": "1 hour"}),
        ("FRAME THRESHOLD x FILL gps ON at BY ( )", "fill",
         {"other": ("gps",), "on": ("at",), "by": ()}),
        ("FRAME THRESHOLD x FILL gps ON at BY ship HOW LEFT OWN max(a.b) AS `a b`, count(*) AS own",
         "fill", {"other": ("gps",), "on": ("at",), "by": (("ship",),), "how": "left",
                  "own": {"a b": agg.max("a.b"), "own": agg.count()}}),
        ("FRAME THRESHOLD x SPLIT EVERY 1 SECOND", "split", {"every": "1 second"}),
        ("FRAME THRESHOLD x SPLIT EVERY 1 SECOND SO  FAR", "accumulate",
         {"every": "1 second"}),
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
        ({}, "not a window"),
        ({"": fl.Trailing()}, "label of a window"),
        ({1: fl.Trailing()}, "label of a window"),
        ({"1h": fl.Trailing(), "1d": [fl.Sliding("1 day")]}, "is not a Trailing"),
    ],
)
def test_what_cannot_be_written_is_refused(spec, why):
    with pytest.raises(fl.FanlightError, match=why):
        fl.clause(spec, time="ts")


@pytest.mark.parametrize("spec", [fl.Trailing("1 hour"), {"1h": fl.Trailing("1 hour")}, WIDENING])
def test_early_is_not_written_after_windows_that_have_no_early_form(spec):
    assert "EARLY" not in fl.clause(spec, time="ts")
    for early in ({}, {"every": "5 minutes"}):
        with pytest.raises(fl.FanlightError, match="EARLY does not apply to these windows"):
            fl.clause(spec, time="ts", options={"early": early})


def test_a_column_may_be_called_wide_or_bursts():
    for text, verb in (
        ("WATTR wide PARTITION BY wide, w RANGES 1, 2 SLIDES 1, 1", None),
        ("WATTR wide RANGES 1, 2 SLIDES 1, 1 FIT wide TIEBREAK wide", "fit"),
        ("WATTR ts FRAME THRESHOLD v > 1 AND wide > 2 AND (x < wide)", None),
        ("WATTR ts PARTITION BY wide WIDE RANGES 1, 2 SLIDES 1, 1", "wide"),
        ("WATTR bursts TIEBREAK bursts FRAME THRESHOLD bursts > threshold AND bursts", None),
    ):
        found = clause(f"[{text}]").verb
        assert (found and found.name) == verb


def test_a_column_may_be_called_early():
    for text, early in (
        (
            "WATTR early PARTITION BY early, every FRAME DELTA early BY 1 EARLY EVERY 5",
            {"every": 5},
        ),
        ("WATTR ts FRAME BOUNDARY early EVERY 4 EARLY", {}),
        ("WATTR ts FRAME THRESHOLD early > 2 AND (NOT early) EARLY", {}),
        ("WATTR ts FRAME STATE early, every", None),
        ("WATTR ts TIEBREAK early SESSION early", None),
        (
            "EARLY EVERY INTERVAL '90' SECONDS WATTR ts RANGE 1 HOUR",
            {"every": timedelta(seconds=90)},
        ),
    ):
        assert clause(f"[{text}]").options.get("early") == early


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("call", "is not a mapping; write for example options['running']={}"),
        ({"key": "call"}, "has no words after RUNNING; choose from as_of, id, max_duration"),
        ({"as_of": True}, "is not a time; write for example as_of="),
        ({"id": 5}, "id"),
        ({"max_duration": "2 weeks ago"}, "max_duration"),
    ],
)
def test_what_cannot_be_said_of_running_events(given, told):
    with pytest.raises(fl.FanlightError, match=re.escape(told)):
        fl.clause(fl.Sliding("1 hour"), time=("a", "b"), options={"running": given})
