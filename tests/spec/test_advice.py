"""What a message of a spec says to write is written, and then there is a spec."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from datetime import timedelta

import pytest

import fanlight as fl
from fanlight import agg

# Calls that are right; in each, one argument after the other is then made wrong.
RIGHT = {
    "sliding": (fl.Sliding, {"range": "4 minutes", "slide": "1 minute", "offset": "0 minutes"}),
    "numbers": (fl.Sliding, {"range": 4, "slide": 2}),
    "rows": (fl.Sliding, {"range": fl.Rows(4), "slide": fl.Rows(2)}),
    "levels": (
        fl.MultiGranular,
        {"ranges": ["1 minute", "10 minutes"], "slides": ["1 minute", "5 minutes"]},
    ),
    "horizons": (
        fl.MultiGranular,
        {"ranges": ["1 minute", "1 hour"], "slides": ["1 minute", "1 minute"],
         "horizons": ["30 minutes"], "report": "continuous"},
    ),
    "session": (fl.Session, {"gap": "5 minutes", "max_duration": "1 day", "min_rows": 2}),
    "threshold": (
        fl.ThresholdFrame, {"predicate": "v > 1", "min_rows": 2, "min_duration": "1 minute"},
    ),
    "sizes": (
        fl.ThresholdFrame,
        {"predicate": "v > 1", "min_rows": 2, "min_duration": "1 minute", "max_rows": 9,
         "max_duration": "1 hour", "max_gap": "5 minutes"},
    ),
    "dwell": (
        fl.ThresholdFrame,
        {"predicate": "v > 1", "enter_for": "1 minute", "leave": "v < 0", "leave_for": "1 minute",
         "max_rows": 9, "max_duration": "1 hour"},
    ),
    "state": (fl.StateFrame, {"state": ["s", "v > 1"], "nulls": "skip", "max_rows": 9}),
    "delta": (fl.DeltaFrame, {"deltas": {"v": 0.5}, "against": "first"}),
    "boundary": (
        fl.BoundaryFrame, {"cells": {"v": 0.5}, "overlapping": True, "max_gap": "5 minutes"},
    ),
    "aggregate": (fl.AggregateFrame, {"aggregate": agg.sum("v"), "limit": 10, "may_fall": True}),
    "own": (fl.PredicateFrame, {"open": "v > 1", "close": "v < 1"}),
    "widening": (
        fl.ProgressiveWidening,
        {"first": "1 minute", "max_duration": "1 hour", "max_rows": 100, "factor": 2},
    ),
}  # fmt: skip
WRONG = [
    None, "", " ", 0, -1, 1, 1.5, float("nan"), True, "five", "5", "-5 minutes", "0 minutes",
    "1 month", "1.5 minutes", "7 minutes", "3 hours", fl.Rows(3), timedelta(0),
    timedelta(minutes=7), [], ["1 minute"], ["7 minutes", "10 minutes"], ["1 hour", "1 minute"],
    [0, 1], {}, {"v": 0}, {"v": -1}, {"v": []}, {"": 1}, object,
]  # fmt: skip
# What comes before a value: an argument in whole, or an item of it; or nothing, as in "write 4".
BEFORE = (re.compile(r"\b(\w+)(?:\[(\d+)\])?="), re.compile(r"write (?:for example )?()()"))
ROWS = "fl.Rows(n)"
MOST = 4  # messages until the call is right


def advised(message):
    """The argument, the item of it or None, and the value; None where no value is advised."""
    asked, _, advice = message.replace("\n", " ").partition("; ")
    for before in BEFORE:
        for found in before.finditer(advice):
            value = first_value(advice[found.end() :])
            if value is not MISSING:
                argument = found[1] or asked.partition("=")[0].partition("[")[0]
                return argument, int(found[2]) if found[2] else None, value
    return None


MISSING = object()


def first_value(text):
    """The longest value in Python that a text begins with; a tuple is text that goes on."""
    for end in range(len(text), 0, -1):
        if text[end - 1] not in ", ":
            with suppress(SyntaxError, ValueError):
                return ast.literal_eval(text[:end])
    return MISSING


def followed(make, given):
    """The messages until there is a spec, or one that advises no value; and whether that came."""
    messages = []
    while len(messages) <= MOST:
        try:
            make(**given)
        except fl.FanlightError as error:
            messages.append(str(error))
        else:
            return messages, True
        advice = advised(messages[-1])
        if advice is None:
            return messages, True
        name, item, value = advice
        asked = re.match(r"\w*", messages[-1])[0]
        if asked != name:  # another argument instead
            given = {key: kept for key, kept in given.items() if key != asked}
        if item is not None:
            value = [*given[name][:item], value, *given[name][item + 1 :]]
        given = {**given, name: value}
    return messages, False


def counted(make, given, message):
    """What a message says of rows, where it has advised to count them."""
    argument = re.match(r"\w*", message)[0]
    try:
        make(**{**given, argument: fl.Rows(2)})
    except fl.FanlightError as error:
        return str(error)
    return ""


def test_levels_are_turned_as_a_whole():
    with pytest.raises(fl.FanlightError) as caught:
        fl.MultiGranular(["1 day", "1 hour"], ["1 hour", "1 minute"])
    written = str(caught.value).partition("finest level first: ")[2]
    turned = fl.MultiGranular(["1 hour", "1 day"], ["1 minute", "1 hour"])
    assert eval(written, {"fl": fl}) == turned  # noqa: S307 - what the message says to write


@pytest.mark.parametrize("kind", RIGHT)
def test_what_is_advised_is_a_spec(kind):
    make, right = RIGHT[kind]
    assert make(**right)
    count = 0
    for name in right:
        for wrong in WRONG:
            messages, ended = followed(make, {**right, name: wrong})
            assert ended, (name, wrong, messages)
            if messages and ROWS in messages[0]:
                said = counted(make, {**right, name: wrong}, messages[0])
                assert "counts rows" not in said, messages[0]
                assert "is a number of rows, but batches" not in said, messages[0]
            count += any(advised(message) for message in messages)
    assert count > 5
