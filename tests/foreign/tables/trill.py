"""Trill's own tests: windows over points and over events that last, and session windows."""

from __future__ import annotations

import fanlight as fl
from tests.foreign.facts import SECOND, Case, Suite, facts, given, steps

FOLDER = "Sources/Test/SimpleTesting/"
SNAPSHOTS = Suite("microsoft/Trill", FOLDER + "SnapshotTests.cs")
QUANTIZED = Suite("microsoft/Trill", FOLDER + "Streamables/QuantizeLifetimeTests.cs")
PARTITIONED = Suite("microsoft/Trill", FOLDER + "Partitioned/PartitionedStreamTests.cs")
COUNT, SUM, LEAST, MOST, MEAN = (
    Suite("microsoft/Trill", f"{FOLDER}Aggregates/{name}Aggregate.cs")
    for name in ("Count", "Sum", "Min", "Max", "Average")
)


def reported(columns, length, period, *outputs, lag=0):
    """Windows of ours for outputs of Trill, which hold ``[from, to)`` on its time line.

    Trill reports a hopping window at its end, and until the next one: an output that lasts from s
    to e is that of our windows that end at s, s + period, ... before e (at ``lag`` after them).
    """
    lines = [
        (*before, end + lag - length, end + lag, *values)
        for before, (begin, stop), values in outputs
        for end in range(begin, stop, period)
    ]
    return facts(columns, *lines)


def hopping(test, length, rows, aggregate, *outputs, keyed=False):
    """``HoppingWindowLifetime(length, 10)``."""
    columns = f"{'k ' if keyed else ''}start end {aggregate}"
    lines = [(line[:1] if keyed else (), line[-3:-1], line[-1:]) for line in outputs]
    lines = [(key, span, values) for key, span, values in lines]
    header = "k ts n" if keyed else "ts n"
    given_rows = given(header, *(rows if keyed else [row[1:] for row in rows]))
    return Case(
        SNAPSHOTS, test, fl.Sliding(f"{length} seconds", "10 seconds"), given_rows,
        reported(columns, length, 10, *lines),
    )  # fmt: skip


ONE = [("A", 11, 1), ("A", 12, 1), ("D", 21, 2), ("D", 25, 2)]
TWO = [("A", 11, 1), ("A", 12, 1), ("A", 21, 2), ("D", 25, 2)]
FAR = [("A", 11, 1), ("A", 12, 1), ("A", 41, 2), ("D", 45, 2)]


def quantized(test, points, lifetimes, length, *, offset=0):
    """``QuantizeLifetime(length, 10, offset)`` of points: for how long each counts."""
    lines = [((str(at),), lifetimes(at), ()) for at in points]
    return Case(
        QUANTIZED, test, fl.Sliding(f"{length} seconds", "10 seconds", offset=f"{offset} seconds"),
        given("k ts", *[(str(at), at) for at in points]),
        reported("k start end", length, 10, *lines, lag=10),
    )  # fmt: skip


SPREAD = (*range(24), 49_990, 49_999)
PLACED = (
    hopping("TumblingSnapshot1Row", 10, ONE, "sum", ("A", 20, 30, 2), ("D", 30, 40, 4), keyed=True),
    hopping("TumblingSnapshot2Row", 10, TWO, "sum",
            ("A", 20, 30, 2), ("D", 30, 40, 2), ("A", 30, 40, 2), keyed=True),
    hopping("TumblingSnapshot3Row", 10, FAR, "sum",
            ("A", 20, 30, 2), ("D", 50, 60, 2), ("A", 50, 60, 2), keyed=True),
    hopping("TumblingSnapshot4Row", 10, TWO, "sum", (20, 30, 2), (30, 40, 4)),
    hopping("TumblingSnapshot5Row", 10, TWO, "most", (20, 30, 1), (30, 40, 2)),
    hopping("TumblingSnapshot6Row", 10, TWO, "least", (20, 30, 1), (30, 40, 2)),
    hopping("HoppingSnapshot1Row", 20, ONE, "sum", ("A", 20, 40, 2), ("D", 30, 50, 4), keyed=True),
    hopping("HoppingSnapshot2Row", 20, TWO, "sum", ("A", 20, 30, 2), ("D", 30, 50, 2),
            ("A", 30, 40, 4), ("A", 40, 50, 2), keyed=True),
    hopping("HoppingSnapshot3Row", 20, FAR, "sum",
            ("A", 20, 40, 2), ("A", 50, 70, 2), ("D", 50, 70, 2), keyed=True),
    hopping("HoppingSnapshot4Row", 20, TWO, "sum", (20, 30, 2), (30, 40, 6), (40, 50, 4)),
    hopping("HoppingSnapshot5Row", 20, TWO, "most", (20, 30, 1), (30, 40, 2), (40, 50, 2)),
    hopping("HoppingSnapshot6Row", 20, TWO, "least", (20, 30, 1), (30, 40, 1), (40, 50, 2)),
    quantized("QuantizeLifetimeTumblingConsecutiveRow", SPREAD,
              lambda at: (at - at % 10, at - at % 10 + 10), 10),
    quantized("QuantizeLifetimeHoppingConsecutiveRow", SPREAD,
              lambda at: (at - at % 10, at - at % 10 + 100), 100),
    quantized("QuantizeLifetimeTumblingOffsetConsecutiveRow", SPREAD,
              lambda at: (at - (at + 5) % 10, at - (at + 5) % 10 + 10), 10, offset=5),
    quantized("QuantizeLifetimeHoppingOffsetConsecutiveRow", SPREAD,
              lambda at: (at - (at + 5) % 10, at - (at + 5) % 10 + 100), 100, offset=5),
)  # fmt: skip

LIVES = ((1, 5), (1, 3), (2, 3), (2, 4), (3, 4))
TENS, HALVES, BITS = (10, 20, 30, 40, 50), (50, 40, 30, 20, 10), (1, 2, 4, 8, 16)


def lasting(suite, test, values, aggregate, *answers):
    """Aggregates of what is open at 1, 2, 3 and 4: windows of one instant."""
    lines = [(begin, stop, value) for (begin, stop), value in zip(LIVES, values, strict=True)]
    rows = given("began ts n", *lines)
    return Case(
        suite, test, fl.Sliding("1 second"), rows,
        facts(f"start end {aggregate}", *[(at, at + 1, one) for at, one in enumerate(answers, 1)]),
        time=("began", "ts"),
    )  # fmt: skip


def through(test, offset):
    """Events that last from one boundary to the next are in that one window."""
    lines = [(str(at), 10 * at + offset, 10 * at + 10 + offset) for at in range(5)]
    return Case(
        QUANTIZED, test, fl.Sliding("10 seconds", offset=f"{offset} seconds"),
        given("k began ts", *lines), facts("k start end", *lines), time=("began", "ts"),
    )  # fmt: skip


SPANNING = (
    lasting(COUNT, "TestCountAggregate_NoNulls", TENS, "count", 2, 4, 3, 1),
    lasting(SUM, "TestSumAggregate_INT", BITS, "sum", 3, 15, 25, 1),
    lasting(LEAST, "TestMinAggregate", HALVES, "least", 40, 20, 10, 50),
    lasting(MOST, "TestMaxAggregate", TENS, "most", 20, 40, 50, 10),
    lasting(MEAN, "TestAverageAggregate_Int", BITS, "mean", 3 / 2, 15 / 4, 25 / 3, 1.0),
    Case(
        COUNT, "TestCountNotNullAggregate_WithNulls", fl.Sliding("1 second"),
        given("began ts s", *[(*life, text) for life, text in zip(
            LIVES, ("10", None, "30", "40", "50"), strict=True)]),
        facts("start end known", (1, 2, 1), (2, 3, 3), (3, 4, 3), (4, 5, 1)),
        time=("began", "ts"),
    ),
    through("QuantizeLifetimeTumblingPassthroughRow", 0),
    through("QuantizeLifetimeTumblingOffsetPassthroughRow", 5),
)  # fmt: skip

ALIVE = given("began ts n", *[(*life, n) for life, n in zip(LIVES, BITS, strict=True)])
STREAM = (
    Case(
        SUM, "TestSumAggregate_Long", fl.Sliding("1 second"), ALIVE,
        facts("start end sum", *[(at, at + 1, n) for at, n in enumerate((3, 15, 25, 1), 1)]),
        time=("began", "ts"), steps=steps(ALIVE, (5, 8 * SECOND)),
    ),
)  # fmt: skip

# Trill shows the running sum of a session; its last one, and how long that holds, is the session.
AVERAGED = given(
    "k ts n",
    ("0", 0, 0), ("0", 1, 1), ("0", 2, 2), ("0", 8, 4), ("0", 9, 7),
    ("1", 1, 1), ("1", 2, 2), ("1", 3, 3), ("2", 8, 2), ("2", 20, 3), ("2", 22, 4),
    ("3", 3, 3), ("3", 4, 4), ("3", 5, 5),
)  # fmt: skip
SUMMED = given("ts n", (0, 1), (1, 2), (2, 3), (5, 4), (6, 5), (9, 6))
LONG = given("ts n", (11, 1), (12, 1), (21, 2), (25, 2), (31, 1), (32, 1), (41, 2), (45, 2))
SHORT = given("ts n", *[row[1:] for row in TWO])
SESSION = (
    Case(
        SNAPSHOTS, "SessionSnapshot1Row", fl.Session("50 seconds"), SHORT,
        facts("start end sum", (11, 75, 6)),
    ),
    Case(
        SNAPSHOTS, "SessionSnapshot2Row", fl.Session("6 seconds"), SHORT,
        facts("start end sum", (11, 18, 2), (21, 31, 4)),
    ),
    Case(
        SNAPSHOTS, "SessionSnapshot3Row",
        fl.Session("20 seconds", max_duration="30 seconds"), LONG,
        facts("start end sum", (11, 60, 12)),
        ours=facts("start end sum", (11, 41, 8), (41, 65, 4)),
        why="max_duration is counted from a session's first row; Trill ends sessions at multiples "
            "of the longest duration, so that one may last nearly twice as long",
    ),
    Case(
        PARTITIONED, "AverageSessionWindow",
        fl.Session("5 seconds", max_duration="10 seconds"), AVERAGED,
        facts("k start end mean", ("0", 0, 7, 1.0), ("0", 8, 14, 5.5), ("1", 1, 8, 2.0),
              ("2", 8, 13, 2.0), ("2", 20, 27, 3.5), ("3", 3, 10, 4.0)),
    ),
    Case(
        PARTITIONED, "SumSessionWindow",
        fl.Session("2 seconds", max_duration="5 seconds"), SUMMED,
        facts("start end sum", (0, 4, 6), (5, 8, 9), (9, 11, 6)),
    ),
)  # fmt: skip
