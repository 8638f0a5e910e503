"""Each line of the README answers the question beside it, as Python answers it row by row."""

from __future__ import annotations

import random
import re
import sys
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise, product
from math import sin

import numpy as np
import pytest

from tests.helpers.house import ROOT
from tests.spark.documents import run, start_of

README = (ROOT / "README.md").read_text("utf-8")
LINES = dict(re.findall(r"^\| (.*) \| `(fl\.over\(calls.*)` \|$", README, re.MULTILINE))
SECOND = timedelta(seconds=1)
BASE = datetime.fromtimestamp(1_700_000_000, UTC).replace(tzinfo=None)
CALLS = [
    {
        "ts": BASE + 7 * n * SECOND,
        "stop": BASE + (7 * n + n % 60) * SECOND,
        "antenna": f"antenna {n % 2}",
        "phone": f"phone {n * n % 11}",
        "outcome": ("answered", "busy", "dropped")[n * n % 7 % 3],
        "seconds": n % 60,
        "signal": sin(n / 50),
    }
    for n in range(2_000)
]


def few_calls():
    """Five dropped calls of each phone, that lie a day apart at most, or more, and other calls."""
    draw, dropped = random.Random(3), []
    for number, hours in enumerate((10, 23, 24, 25, 29, 47)):
        first = draw.randrange(86_400)
        dropped += [(first + hours * 900 * n, number, "dropped") for n in range(5)]
    others = [(draw.randrange(4 * 86_400), draw.randrange(6), "busy") for _ in range(90)]
    calls = []
    for at, phone, outcome in sorted({call[0]: call for call in dropped + others}.values()):
        seconds = draw.choice((0, 30, 40, 50, 59))
        ts = BASE + at * SECOND
        calls.append({
            "ts": ts, "stop": ts + seconds * 60 * SECOND, "antenna": f"antenna {at % 2}",
            "phone": f"phone {phone}", "outcome": outcome, "seconds": seconds,
            "signal": draw.choice((0.0, 0.1, 0.3, 1.0)),
        })  # fmt: skip
    return calls


DATA = {"as in the example": CALLS, "few calls": few_calls()}


def by(key):
    """The calls of each key, in order of time."""
    found = defaultdict(list)
    for call in CALLS:
        found[call[key]].append(call)
    return found


def starts(length, step, first, last):
    """Where windows of a length begin that step begins apart, and hold something of a stretch."""
    at = datetime(2023, 11, 1)  # a multiple of every step here
    at += (first - length - at) // step * step
    while at <= last:
        if at + length > first:
            yield at
        at += step


def within(calls, start, end):
    return [call for call in calls if start <= call["ts"] < end]


def counted_by_outcome():
    levels = [(1, 1 / 60), (12, 1), (24, 1)]
    found = Counter()
    for level, hours in enumerate(levels):
        length, step = (3_600 * part * SECOND for part in hours)
        for call in CALLS:
            for start in starts(length, step, call["ts"], call["ts"]):
                found[call["outcome"], start, start + length, level] += 1
    return {(*place, n) for place, n in found.items()}


def going_on():
    found = Counter()
    for call in CALLS:
        last = max(call["ts"], call["stop"] - timedelta(microseconds=1))
        for start in starts(60 * SECOND, 60 * SECOND, call["ts"], last):
            found[call["antenna"], start, start + 60 * SECOND] += 1
    return {(*place, n) for place, n in found.items()}


def until_silent():
    found = set()
    for phone, calls in by("phone").items():
        parts = [[calls[0]]]
        for before, call in pairwise(calls):
            if call["ts"] - before["ts"] >= 300 * SECOND:
                parts.append([])
            parts[-1].append(call)
        found |= {(phone, p[0]["ts"], p[-1]["ts"] + 300 * SECOND, len(p)) for p in parts}
    return found


def steady():
    found = set()
    for antenna, calls in by("antenna").items():
        parts = [[calls[0]]]
        for call in calls[1:]:
            values = [one["signal"] for one in (*parts[-1], call)]
            if max(values) - min(values) >= 0.2:
                parts.append([])
            parts[-1].append(call)
        ends = [part[0]["ts"] for part in parts[1:]]
        ends.append(parts[-1][-1]["ts"] + timedelta(microseconds=1))
        for part, end in zip(parts, ends, strict=True):
            if end - part[0]["ts"] >= 120 * SECOND:
                found.add((antenna, part[0]["ts"], end))
    return found


def congested():
    found = set()
    for antenna, calls in by("antenna").items():
        longs = enumerate(call["seconds"] > 20 for call in calls)
        for is_long, places in groupby(longs, lambda one: one[1]):
            at = [place for place, _ in places]
            if is_long and len(at) >= 5:
                start = calls[at[0]]["ts"]
                last = calls[at[-1]]["ts"] + timedelta(microseconds=1)
                end = calls[at[-1] + 1]["ts"] if at[-1] + 1 < len(calls) else last
                phones = {call["phone"] for call in within(CALLS, start, end)}
                found.add((antenna, start, end, len(phones)))
    return found


def often_dropped():
    found = set()
    for phone, calls in by("phone").items():
        times = [call["ts"] for call in calls if call["outcome"] == "dropped"]
        spans = (last - first for first, last in zip(times, times[4:], strict=False))
        if any(span <= 86_400 * SECOND for span in spans):
            found.add(phone)
    return found


def looked_back():
    found = set()
    for phone, calls in by("phone").items():
        for call in calls:
            ago = call["ts"] - 3_600 * SECOND
            lengths = [one["seconds"] for one in calls if ago < one["ts"] < call["ts"]]
            found.add((phone, call["ts"], len(lengths), max(lengths, default=None)))
    return found


def trends():
    found = {}
    levels = [(60, 60), (3_600, 600), (86_400, 3_600)]
    for (antenna, calls), (level, seconds) in product(by("antenna").items(), enumerate(levels)):
        length, step = (part * SECOND for part in seconds)
        for start in starts(length, step, calls[0]["ts"], calls[-1]["ts"]):
            inside = within(calls, start, start + length)
            if len(inside) > 1:
                times = [(call["ts"] - start).total_seconds() for call in inside]
                slope, _ = np.polyfit(times, [call["signal"] for call in inside], 1)
                found[antenna, start, level] = slope
    return found


def calling_most():
    found = {}
    for start in starts(3_600 * SECOND, 600 * SECOND, CALLS[0]["ts"], CALLS[-1]["ts"]):
        phones = Counter(call["phone"] for call in within(CALLS, start, start + 3_600 * SECOND))
        if phones:
            share = 0.1 * phones.total()
            found[start] = {phone: n for phone, n in phones.items() if n >= share}
    return found


def highest():
    signals = [call["signal"] for call in CALLS]
    return {
        (end - 1_000, max(signals[max(end - 1_000, 0) : end]))
        for end in range(10, len(signals) + 1_000, 10)
    }  # fmt: skip


def bounds(row):
    return row["window"]["start"], row["window"]["end"]


READ = {
    "how many calls there were": (
        lambda rows: {(r["outcome"], *bounds(r), r["level"], r["count(1)"]) for r in rows},
        counted_by_outcome,
    ),
    "how many calls were going on": (
        lambda rows: {(r["antenna"], *bounds(r), r["count(1)"]) for r in rows},
        going_on,
    ),
    "what each phone did": (
        lambda rows: {(r["phone"], *bounds(r), r["count(1)"]) for r in rows},
        until_silent,
    ),
    "the signal in pieces": (
        lambda rows: {(r["antenna"], *bounds(r)) for r in rows},
        steady,
    ),
    "when an antenna was busy": (
        lambda rows: {(r["antenna"], *bounds(r), r["count(DISTINCT phone)"]) for r in rows},
        congested,
    ),
    "which phones had five": (lambda rows: {r["phone"] for r in rows}, often_dropped),
    "beside each call": (
        lambda rows: {
            (r["phone"], r["ts"].replace(tzinfo=None), r["before"], r["longest"]) for r in rows
        },
        looked_back,
    ),
    "how the signal develops": (
        lambda rows: {
            (r["antenna"], r["window"]["start"], r["level"]): r["slope"]
            for r in rows
            if not np.isnan(r["slope"] if r["slope"] is not None else np.nan)
        },
        trends,
    ),
    "which phones call most": (
        lambda rows: {
            r["window"]["start"]: {one["value"]: one["count"] for one in r[1]} for r in rows
        },
        calling_most,
    ),
    "the highest signal": (
        lambda rows: {(r["window"]["start"], r["max(signal)"]) for r in rows},
        highest,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def names():
    return {}


def test_every_line_has_its_answer():
    assert len(LINES) == len(READ)
    for question in LINES:
        assert sum(question.startswith(start) for start in READ) == 1


@pytest.mark.usefixtures("page_session")
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("question", READ)
def test_a_line_answers_its_question(question, data, names, monkeypatch):
    if not names:
        run("README.md", start_of(README), names)
        names["example"] = names["calls"]
    example, given = names["example"], DATA[data]
    if given is not CALLS:
        aware = [call | {n: call[n].replace(tzinfo=UTC) for n in ("ts", "stop")} for call in given]
        rows = [tuple(call.values()) for call in aware]
        names["calls"] = example.sparkSession.createDataFrame(rows, example.schema)
    else:
        names["calls"] = example
    monkeypatch.setattr(sys.modules[__name__], "CALLS", given)
    (line,) = (line for asked, line in LINES.items() if asked.startswith(question))
    rows = eval(line, names).toArrow().to_pylist()  # noqa: S307 - the README's own line
    for row in rows:  # times as Python has them here: UTC, without saying so
        ends = row.get("window", {})
        row["window"] = {
            name: one.replace(tzinfo=None) if isinstance(one, datetime) else one
            for name, one in ends.items()
        }
    read, answer = READ[question]
    for row in rows:
        row.setdefault(1, next(iter(reversed(row.values()))))
    found, expected = read(rows), answer()
    assert expected
    if isinstance(expected, dict) and isinstance(next(iter(expected.values())), float):
        assert found.keys() == expected.keys()
        assert all(abs(found[key] - expected[key]) < 1e-9 for key in expected)
    else:
        assert found == expected
