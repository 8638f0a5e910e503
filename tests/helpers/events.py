"""Events, specs and batch splits: what Hypothesis draws for the agreement tests.

A *case* is a list of rows under one spec. Many cases go through one Spark job, told apart by the
column ``case``, which is one of the keys.
"""

from __future__ import annotations

import contextlib
import threading
from decimal import Decimal
from itertools import pairwise
from unittest import mock

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

import fanlight as fl
import tests.helpers.shown  # noqa: F401 - the profile of all properties, in programs, too

NAN, INF = float("nan"), float("inf")
MINUTE = 60_000_000
DAY = 86_400_000_000

# Where on the time line events lie: before and around 1970, today, and where clocks change.
SPRING = 1_710_054_000_000_000  # 2024-03-10 07:00 UTC: New York loses an hour
AUTUMN = 1_730_613_600_000_000  # 2024-11-03 06:00 UTC: New York gains one
ORIGINS = (0, -31_536_000_123_457, -1, 1_700_000_000_000_000, SPRING, AUTUMN)

TIME_SPECS = (
    fl.Sliding("4 minutes", "1 minute"),
    fl.Sliding("9 minutes", "6 minutes"),
    fl.Sliding("5 minutes", offset="1 minute"),
    fl.Sliding("1 minute", "4 minutes"),
    fl.Sliding("10 seconds", "3 seconds", offset="-2 seconds"),
    fl.Sliding("7 microseconds", "3 microseconds"),
    fl.Sliding("2 weeks", "3 days", offset="5 hours"),
    fl.Sliding("2 minutes", "5 minutes", offset="7 minutes"),
)
ROW_SPECS = (
    fl.Sliding(fl.Rows(4), fl.Rows(1)),
    fl.Sliding(fl.Rows(5)),
    fl.Sliding(fl.Rows(5), fl.Rows(3)),
    fl.Sliding(fl.Rows(2), fl.Rows(5)),
    fl.Sliding(fl.Rows(6), fl.Rows(4), offset=1),
)
TUPLE_SPECS = (
    fl.Sliding("4 minutes", fl.Rows(1)),
    fl.Sliding("3 microseconds", fl.Rows(1)),
)
BY_ROWS = (
    fl.Sliding("4 minutes", fl.Rows(3)),
    fl.Sliding("90 seconds", fl.Rows(4), offset=-1),
    fl.Sliding(4, fl.Rows(2), offset=1),
)
LAST_ROWS = (
    fl.Sliding(fl.Rows(3), "2 minutes"),
    fl.Sliding(fl.Rows(5), "10 seconds", offset="-2 seconds"),
    fl.Sliding(fl.Rows(2), 3, offset=1),
)
WHOLE_SPECS = (
    fl.Sliding(4, 1),
    fl.Sliding(9, 6, offset=1),
    fl.Sliding(2, 5, offset=-3),
)
REAL_SPECS = (
    fl.Sliding(0.1),
    fl.Sliding(0.3, 0.1),
    fl.Sliding(2.5, 0.7, offset=0.05),
    fl.Sliding(0.2, 0.5),
)

KEYS = ("a", "b", None, "α", "")
WORDS = ("", "a", "b", "ab", "é", "z", "日", None)
PLAIN = (0.0, 1.0, 2.0, 2.0, -1.5, 3.25)
SIZES = (1e15, -1e15, 1e-3, 2.5e-3, 1e15 + 2, 7e14, 0.1, -1e-3)
ODD = (*PLAIN, NAN, INF, -INF, -0.0)

# A case takes all its doubles from one of these, so that one NaN does not drown every sum.
FLAVOURS = (
    PLAIN, SIZES, (*PLAIN, *SIZES, None), (*PLAIN, None, None), (None,), (0.1,), ODD,
    (1e9, 1e9 + 1, 1e9 + 2), (*PLAIN, NAN),
)  # fmt: skip


@st.composite
def values(draw, flavour):
    """Everything of a row but its key and its time."""
    found = {
        "seq": draw(st.integers(0, 2)),
        "v": draw(st.sampled_from(flavour)),
        "n": draw(st.sampled_from((0, 1, 1, 2, -3, 7, 2**40, None))),
        "d": draw(st.sampled_from((Decimal("0.10"), Decimal("-2.25"), Decimal("9999.99"), None))),
        "s": draw(st.sampled_from(WORDS)),
        "w": draw(st.sampled_from((0.0, 1.0, 1.0, -2.0, NAN, None))),
    }
    number = found["seq"] if found["n"] is None else found["seq"] + found["n"]
    ok, counter = (True, False, None, True)[number % 4], (0.0, 2.0, 0.5, 8.0, None)[number % 5]
    return {**found, "ok": ok, "c": counter}


@st.composite
def near(draw, spec, origin):
    """A place on the time line, often on the edge of a window or one unit beside it."""
    length, step = spec.range.value, spec.slide.value
    offset = spec.offset.value
    if spec.slide_by_tuple:
        step, offset = max(length // 2, 1), 0
    elif spec.range_of_tuples:
        length = step
    start = offset + (origin // step + draw(st.integers(-2, 3))) * step
    edge = start + draw(st.sampled_from((0, length)))
    return int(edge + draw(st.sampled_from((0, 0, -1, 1)) | st.integers(0, int(step))))


@st.composite
def fractions(draw, spec):
    """A double near a boundary of decimal windows: 0.1 + 0.2 is not 0.3 here."""
    at = spec.offset.value + draw(st.integers(-4, 6)) * spec.slide.value
    edge = float(at + draw(st.sampled_from((0, spec.range.value))))
    return draw(
        st.sampled_from((edge, edge + 0.0, edge - 2**-53, edge + 0.01))
        | st.sampled_from((0.1 + 0.2, 0.3, 1.1 + 2.2, 0.7, 1.4, -0.1, -0.30000000000000004))
    )


@st.composite
def case(draw, spec, *, origins=ORIGINS, most=16):
    """Rows of a few keys under one spec; times may be null, tie, and lie before 1970."""
    flavour = draw(st.sampled_from(FLAVOURS))
    origin = draw(st.sampled_from(origins))
    placed = {spec.measure, spec.slide.measure}
    whole = near(spec, 0) if "number" in placed else st.just(0)
    real = fractions(spec) if "number" in placed and not spec.mixed else st.just(0.0)
    timed = spec if "time" in placed else fl.Sliding("4 minutes", "1 minute")
    rows = []
    for key in draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=3, unique=True)):
        count = draw(st.sampled_from((1, most // 2, most)))
        there = [draw(st.integers(0, 15)) > 0 for _ in range(3 * count)]  # or null, now and then
        rows += [
            {
                "k": key,
                "ts": draw(near(timed, origin)) if there[at] else None,
                "i": draw(whole) if there[at + count] else None,
                "x": draw(real) if there[at - count] else None,
                **draw(values(flavour)),
            }
            for at in range(count)
        ]
    return rows


# Queries run side by side, and what is changed of Hypothesis below is one for all threads.
ONE_AT_A_TIME = threading.RLock()


@contextlib.contextmanager
def unmixed():
    """Hypothesis without the numbers that it finds in the source and mixes in.

    With them every change of the source, and every other module that is loaded, would change what
    is drawn.
    """
    nothing = providers.Constants()
    providers.CONSTANTS_CACHE.cache.clear()
    try:
        with mock.patch.object(providers, "_get_local_constants", return_value=nothing):
            yield
    finally:
        providers.CONSTANTS_CACHE.cache.clear()


def examples(strategy, count):
    """The same ``count`` examples in every run, in a list."""
    found = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(example):
        found.append(example)

    with ONE_AT_A_TIME, unmixed():
        collect()
    return found


def packed(spec, count, **how):
    """The rows of many cases, each told apart by its ``case``."""
    cases = examples(case(spec, **how), count)
    return [{"case": number, **row} for number, rows in enumerate(cases) for row in rows]


@st.composite
def splits(draw, rows, delay):
    """The rows in micro-batches, as they may arrive: late by less than ``delay`` microseconds."""
    arriving = []
    for row in rows:
        at = row["ts"] if row["ts"] is not None else draw(st.sampled_from(rows))["ts"] or 0
        arriving.append((at + draw(st.integers(0, delay - 1)), len(arriving), row))
    ordered = [row for *_, row in sorted(arriving, key=lambda one: one[:2])]
    size = st.integers(0, len(ordered))
    cuts = sorted(draw(st.lists(size, min_size=1, max_size=3)))
    edges = [0, *cuts, len(ordered)]
    return [ordered[low:high] for low, high in pairwise(edges)]
