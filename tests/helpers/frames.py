"""Framing schemes for the tests, and rows for the operators as Spark would lift them."""

from __future__ import annotations

import math
from fractions import Fraction

import pyarrow as pa

import fanlight as fl
from fanlight import agg
from fanlight.engine.algebra.monoids import Count, Max, Sum
from fanlight.engine.kinds import scheme_of
from fanlight.engine.operators.frames.operator import FrameQuery
from tests.helpers.events import MINUTE

TYPES = {"v": "double", "n": "bigint", "d": "decimal(12,2)", "s": "string", "w": "double"}


def _greater(value, limit):
    """SQL's ``value > limit``: NaN is the greatest."""
    return None if value is None else bool(math.isnan(value) or value > limit)


def _less(value, limit):
    return None if value is None else bool(not math.isnan(value) and value < limit)


OWN_GAP = "if(n > 30, 30, n) * interval '1' minute"  # null where n is
HOLDS = {
    OWN_GAP: lambda row: None if row["n"] is None else min(row["n"], 30) * MINUTE,
    "v > 1": lambda row: _greater(row["v"], 1),
    "v < 1": lambda row: _less(row["v"], 1),
    "n >= 1": lambda row: None if row["n"] is None else row["n"] >= 1,
    "n < 0": lambda row: None if row["n"] is None else row["n"] < 0,
    "s is not null": lambda row: row["s"] is not None,
    "v * 2": lambda row: None if row["v"] is None else row["v"] * 2,
    "n + 3": lambda row: None if row["n"] is None else row["n"] + 3,
    # Of what came before: the mean number of rows of frames, and that of values. No limit is ever
    # reached exactly, where another order of adding up could give another double.
    "coalesce(mean_rows(2), 2) * abs(mean_value(3)) + 0.013": lambda _, rows, value: (
        None if value(3) is None else (rows(2) or 2) * abs(value(3)) + 0.013
    ),
    "1.517 + mean_rows(3, 2) / 2": lambda _, rows, __: (
        None if rows(3, 2) is None else 1.517 + rows(3, 2) / 2
    ),
    "greatest(mean_value(4, 2), n, 0.507)": lambda row, _, value: max(
        one for one in (value(4, 2), row["n"], 0.507) if one is not None
    ),
}


def _nth(rows, mapped, name, place, column):
    """The column of the place-th row that is a variable, from the end if it is negative."""
    found = [row for row, one, _ in mapped if one == name]
    return rows[found[place]][column] if -len(found) <= place < len(found) else None


def _than(one, other, *, least=False):
    if one is None or other is None:
        return None
    return one >= other if least else one > other


# Of patterns: definitions that look at other rows, by the rows and what is mapped so far, the row
# itself included; and the patterns, as tuples.
HOLDS |= {
    "n > prev(n)": lambda rows, mapped: _than(*_steps(rows, mapped)),
    "n < prev(n)": lambda rows, mapped: _than(*reversed(_steps(rows, mapped))),
    "n >= first(a.n) + 1": lambda rows, mapped: _than(
        rows[mapped[-1][0]]["n"], _and(_nth(rows, mapped, "a", 0, "n")), least=True
    ),
    "count(rest.*) <= 2 and coalesce(start.n, 0) <= 1": lambda rows, mapped: (
        sum(name == "rest" for _, name, _ in mapped) <= 2
        and (_nth(rows, mapped, "start", -1, "n") or 0) <= 1
    ),
    "low high+": ("seq", ("row", "low"), ("many", ("row", "high"), 1, None, False)),
    "up+ down": ("seq", ("many", ("row", "up"), 1, None, False), ("row", "down")),
    "a b*? c": (
        "seq", ("row", "a"), ("many", ("row", "b"), 0, None, True), ("row", "c"),
    ),
    "some !none": ("seq", ("row", "some"), ("never", "none")),
    "a !(b | d) c": ("seq", ("row", "a"), ("not", "b", "d"), ("row", "c")),
    "{- start -} rest+": (
        "seq", ("out", ("row", "start")), ("many", ("row", "rest"), 1, None, False),
    ),
    "^ PERMUTE(low, high) | high{2}": (
        "or",
        ("seq", ("first",), ("permute", ("row", "low"), ("row", "high"))),
        ("many", ("row", "high"), 2, 2, False),
    ),
}  # fmt: skip


def _steps(rows, mapped):
    at = mapped[-1][0]
    return rows[at]["n"], rows[at - 1]["n"] if at else None


def _and(value):
    return None if value is None else value + 1


NUMBERS = {"v * 2": "double", "n + 3": "bigint"}  # what is no condition, by its type


def opens(row, _):
    return row.n is not None and row.n >= 1


def closes(row, state):
    return state.get("seen", 0) >= 3 or row.n == 7


def update(_, state):
    return {"seen": state.get("seen", 0) + 1}


def opens_beside(row, states):
    return row.n is not None and row.n >= 0 and not any(state["seen"] == 0 for state in states)


def opens_if_few(row, states):
    return opens(row, {}) and len(states) < 2


def closes_by_its_own(row, state):
    """Frames that begin with a great value outlast those that begin after them."""
    return row.n is not None and (row.n == 7 or row.n < 0 or state["seen"] >= state["first"] + 1)


def remember(row, state):
    first = state.get("first", row.n if row.n is not None and row.n < 5 else 5)
    return {"first": first, "seen": state.get("seen", -1) + 1}


def weakens(row, states):
    return row.v < 1 and len(states) < 3


def recovers(row, state):
    return row.v >= state["weak"] + 2


def keep_first(row, state):
    return state or {"weak": row.v}


THRESHOLDS = (
    fl.ThresholdFrame("v > 1"),
    fl.ThresholdFrame("n >= 1", min_rows=2),
    fl.ThresholdFrame("s is not null", min_rows=2, min_duration="90 seconds"),
    fl.PredicateFrame(open="n >= 1", close="n < 0"),
    fl.PredicateFrame(open="v > 1", close="v < 1", min_duration="1 minute"),
    fl.PredicateFrame(opens, closes, columns=["n"], update=update),
)
BOUNDARIES = (
    fl.BoundaryFrame({"v": 1.5}),
    fl.BoundaryFrame({"v": [-1, 0.5, 2]}),
    fl.BoundaryFrame({"n": 2}),
    fl.BoundaryFrame({"n": 1.5}),
    fl.BoundaryFrame({"n": [0, 1.5, 2], "w": 1}),
    fl.BoundaryFrame({"d": 1.5}),
)
DELTAS = (
    fl.DeltaFrame({"v": 1.5}),
    fl.DeltaFrame({"v": 2}, include_crossing=True),
    fl.DeltaFrame({"v": 2}, against="first"),
    fl.DeltaFrame({"n": 2}),
    fl.DeltaFrame({"n": 2}, against="first", include_crossing=True),
    fl.DeltaFrame({"n": 3}, include_crossing=True),
    fl.DeltaFrame({"v": 2, "n": 3, "d": 2}),
    fl.DeltaFrame({"d": 0.005}),
    fl.DeltaFrame({"v": 2, "n": 3}, against="first", include_crossing=True),
    fl.DeltaFrame({"v": 2}, strict=True),
    fl.DeltaFrame({"n": 3, "d": 2.5}, strict=True, include_crossing=True),
)
AGGREGATES = (
    fl.AggregateFrame(agg.count(), 3),
    fl.AggregateFrame(agg.count("v"), 2, include_crossing=False),
    fl.AggregateFrame(agg.sum("n"), 4),
    fl.AggregateFrame(agg.sum("n"), 4, include_crossing=False),
    fl.AggregateFrame(agg.sum("v"), 3.5),
    fl.AggregateFrame(agg.sum("v"), 3.5, include_crossing=False),
    fl.AggregateFrame(agg.sum("d"), 9999.5),
    fl.AggregateFrame([agg.max("n"), agg.count()], [7, 3]),
    fl.AggregateFrame([agg.sum("v"), agg.max("v")], [5, 2.5], include_crossing=False),
    fl.AggregateFrame(agg.count_distinct("s"), 3),
    fl.AggregateFrame([agg.count_distinct("v"), agg.sum("n")], [3, 8], include_crossing=False),
    fl.AggregateFrame(agg.avg("n"), 1.5, may_fall=True),
    fl.AggregateFrame(agg.min("v"), 0.5, below=True),
    fl.AggregateFrame([agg.sum("n"), agg.min("d")], [-3, -2], below=True, include_crossing=False),
    fl.AggregateFrame(agg.avg("n"), 0.5, below=True, may_fall=True),
)
TIMES_MEANS = "coalesce(mean_rows(2), 2) * abs(mean_value(3)) + 0.013"
OF_FRAMES, OF_ROW = "1.517 + mean_rows(3, 2) / 2", "greatest(mean_value(4, 2), n, 0.507)"
CALCULATED = (
    fl.AggregateFrame(agg.sum("n"), 3, strict=True, absolute=True),
    fl.AggregateFrame(agg.sum("v"), 2.5, absolute=True, include_crossing=False),
    fl.AggregateFrame([agg.avg("n"), agg.avg("v")], [2, 1.5], absolute=True, may_fall=True),
    fl.AggregateFrame(agg.count(), 2, strict=True),
    fl.AggregateFrame(agg.min("v"), 0.5, below=True, strict=True),
    fl.AggregateFrame(agg.sum("n"), "n"),
    fl.AggregateFrame(agg.sum("v"), "v * 2", include_crossing=False),
    fl.AggregateFrame(agg.sum("d"), "n + 3", strict=True),
    fl.AggregateFrame(agg.sum("n"), "d", below=True),
    fl.AggregateFrame([agg.count(), agg.max("v")], ["n + 3", 2], max_rows=4),
    fl.AggregateFrame([agg.count_distinct("s"), agg.max("n")], ["n", 5], max_gap="2 minutes"),
    fl.AggregateFrame(agg.sum("v"), TIMES_MEANS, absolute=True, strict=True),
    fl.AggregateFrame(agg.sum("n"), TIMES_MEANS, absolute=True, include_crossing=False),
    fl.AggregateFrame(agg.count(), OF_FRAMES, max_rows=3),
    fl.AggregateFrame(agg.sum("d"), OF_ROW, max_gap="90 seconds", min_rows=2),
    fl.AggregateFrame([agg.sum("v"), agg.sum("n")], [OF_ROW, TIMES_MEANS]),
    fl.AggregateFrame(agg.sum("n"), TIMES_MEANS, below=True, max_duration="3 minutes"),
)
DISTINCT = (  # without Spark, to which these are as the others
    fl.AggregateFrame(agg.count_distinct("s"), 2, include_crossing=False),
    fl.AggregateFrame([agg.count_distinct("s"), agg.max("n")], [3, 7]),
    fl.AggregateFrame([agg.count_distinct("s", "n"), agg.stddev_pop("v")], [3, 2], may_fall=True),
)
DWELLING = (
    fl.ThresholdFrame("n >= 1", enter_for="1 minute"),
    fl.ThresholdFrame("v > 1", enter_for="1 minute", leave_for="1 minute"),
    fl.ThresholdFrame("n >= 1", leave="n < 0", leave_for="1 minute", min_rows=2),
    fl.ThresholdFrame("v > 1", leave="v < 1"),
    fl.ThresholdFrame("s is not null", leave_for="2 minutes", min_duration="90 seconds"),
    fl.ThresholdFrame("n >= 1", enter_for="1 minute", max_gap="2 minutes"),
    fl.ThresholdFrame("n >= 1", enter_for="30 seconds", leave_for="2 minutes", max_rows=3),
    fl.ThresholdFrame("v > 1", enter_for="1 minute", leave="v < 1", max_duration="3 minutes"),
    fl.ThresholdFrame(
        "n >= 1", leave="n < 0", leave_for="1 minute", max_gap="90 seconds", max_rows=4, min_rows=2
    ),
)
OVERLAPPING = (
    fl.BoundaryFrame({"v": 1.5}, overlapping=True),
    fl.BoundaryFrame({"n": 1}, overlapping=True),
    fl.BoundaryFrame({"v": 1.5}, overlapping=True, max_rows=3),
    fl.BoundaryFrame({"n": 1}, overlapping=True, max_duration="2 minutes", min_rows=2),
    fl.BoundaryFrame({"n": 2}, overlapping=True, max_gap="1 minute", max_rows=4),
    fl.BoundaryFrame({"v": 4}, overlapping=True, max_duration="3 minutes", max_gap="2 minutes"),
)
SEVERAL = tuple(
    fl.PredicateFrame(
        begins, closes_by_its_own, columns=["n"], update=remember, overlapping=True, **sizes
    )
    for begins, sizes in (
        (opens_beside, {}),
        (opens_if_few, {"min_rows": 2}),
        (opens_beside, {"max_rows": 3, "min_duration": "30 seconds"}),
        (opens_beside, {"max_duration": "3 minutes", "max_gap": "2 minutes"}),
        (opens_if_few, {"max_gap": "61 seconds"}),
        (opens_beside, {"max_duration": "2 minutes", "min_rows": 2}),
    )
)
RECOVERY = fl.PredicateFrame(weakens, recovers, columns=["v"], update=keep_first, overlapping=True)
SESSIONS = (
    fl.Session("1 minute"),
    fl.Session("61 seconds", min_rows=2),
    fl.Session("1 minute", max_duration="2 minutes"),
    fl.Session(OWN_GAP),
    fl.Session(OWN_GAP, max_duration="4 minutes", min_rows=2),
    fl.Session("1 minute", max_rows=3, min_duration="90 seconds"),
)
STATES = (
    fl.StateFrame("s"),
    fl.StateFrame("s", nulls="skip"),
    fl.StateFrame(["v > 1", "n >= 1"], nulls="end", min_rows=2),
    fl.StateFrame("v > 1"),
    fl.StateFrame(["d", "v"], nulls="skip", max_gap="1 minute", max_rows=3),
    fl.StateFrame("n", nulls="end", max_duration="3 minutes"),
    fl.StateFrame("n", nulls="carry"),
    fl.StateFrame(["v > 1", "n >= 1"], nulls="carry", min_rows=2),
    fl.StateFrame(["d", "n >= 1"], nulls="carry", max_gap="1 minute", max_rows=3),
    fl.StateFrame("s", nulls="carry", max_duration="2 minutes"),
)
PATTERNS = (
    fl.PatternFrame("low high+", {"low": "v < 1", "high": "v > 1"}, within="3 minutes"),
    fl.PatternFrame("up+ down", {"up": "n > prev(n)", "down": "n < prev(n)"}, max_rows=6),
    fl.PatternFrame(
        "a b*? c", {"a": "n >= 1", "c": "n >= first(a.n) + 1"}, max_rows=4, after_match="next row"
    ),
    fl.PatternFrame("some !none", {"some": "v > 1", "none": "n < 0"}, within="2 minutes"),
    fl.PatternFrame(
        "a !(b | d) c",
        {"a": "n >= 1", "b": "n < 0", "c": "v < 1", "d": "s is not null"},
        within="4 minutes",
        after_match="last c",
    ),
    fl.PatternFrame(
        "{- start -} rest+",
        {"start": "v > 1", "rest": "count(rest.*) <= 2 and coalesce(start.n, 0) <= 1"},
        within="5 minutes",
    ),
    fl.PatternFrame(
        "^ PERMUTE(low, high) | high{2}",
        {"low": "v < 1", "high": "v > 1"},
        within="3 minutes",
        matches="first",
    ),
)
SIZED = (
    fl.ThresholdFrame("v > 1", max_rows=2),
    fl.ThresholdFrame("n >= 1", max_gap="1 minute", min_rows=2),
    fl.PredicateFrame(open="n >= 1", close="n < 0", max_duration="2 minutes"),
    fl.PredicateFrame(
        opens, closes, columns=["n"], update=update, max_rows=2, max_gap="90 seconds"
    ),
    fl.BoundaryFrame({"v": 1.5}, max_duration="2 minutes", min_duration="30 seconds"),
    fl.BoundaryFrame({"n": [0, 1.5, 2], "w": 1}, max_rows=3, max_gap="1 minute"),
    fl.DeltaFrame({"v": 1.5}, max_duration="3 minutes"),
    fl.DeltaFrame({"n": 2}, against="first", include_crossing=True, max_rows=3, max_gap="1 minute"),
    fl.DeltaFrame({"v": 4, "n": 9}, max_gap="2 minutes", min_rows=2),
    fl.AggregateFrame(agg.sum("n"), 4, max_gap="2 minutes"),
    fl.AggregateFrame(agg.sum("v"), 3.5, include_crossing=False, max_rows=2),
    fl.AggregateFrame(agg.count_distinct("s"), 3, max_duration="3 minutes", max_rows=4),
    fl.AggregateFrame(
        [agg.max("n"), agg.count()], [7, 3], max_gap="1 minute", min_duration="1 minute"
    ),
)
SPECS = (*THRESHOLDS, *BOUNDARIES, *DELTAS, *AGGREGATES, *SESSIONS, *SIZED, *STATES)


def name_of(spec):
    return repr(spec)


def types_of(spec):
    """The Spark types of what a scheme looks at."""
    given = [read.given for read in spec.inputs]
    return [_type(one) for one in given]


def _type(given):
    if given == OWN_GAP:
        return "interval day to second"
    if given in NUMBERS:
        return NUMBERS[given]
    return "boolean" if given in HOLDS else TYPES[given]


def lifted(rows, spec):
    """(schema, tuples) of rows as Spark hands them to an operator: keys, t, order, inputs,
    partials.

    The partials are a sum of ``n``, a count of ``v``, and the greatest ``s`` (a text: no kernel).
    """
    scheme = scheme_of(spec, types_of(spec), "timestamp")
    given = [read.given for read in spec.inputs]
    fields = [("k0", pa.string()), ("t", pa.int64())]
    fields += [(f"x{at}", _cut_type(column)) for at, column in enumerate(given)]
    fields += [("y0", pa.int64()), ("y1", pa.float64()), ("y2", pa.string())]
    fields += [(f"a{at}", _input_type(read)) for at, read in enumerate(scheme.inputs)]
    fields += [("f0", pa.int64()), ("f1", pa.int64()), ("f2", pa.string())]
    schema = pa.schema(fields)
    made = []
    for row in rows:
        if row["ts"] is None:
            continue
        cut = [HOLDS[column](row) if column in HOLDS else row[column] for column in given]
        if OWN_GAP in given and (cut[0] is None or cut[0] <= 0):
            continue
        columns = iter(cut)
        inputs = [
            _input(row["ts"], read, None if read.column is None else next(columns))
            for read in scheme.inputs
        ]
        made.append((
            row["k"], row["ts"], *cut, row["n"], row["v"], row["s"], *inputs,
            row["n"], int(row["v"] is not None), row["s"],
        ))  # fmt: skip
    return scheme, schema, made


def _cut_type(column):
    kinds = {"double": pa.float64(), "bigint": pa.int64(), "string": pa.string()}
    if column == OWN_GAP:
        return pa.int64()
    if column in NUMBERS:
        return kinds[NUMBERS[column]]
    return pa.bool_() if column in HOLDS else kinds.get(TYPES[column], pa.decimal128(12, 2))


def _input_type(read):
    if read.type == "any":
        return _cut_type(read.column)
    if read.type in ("whole", "until", "limit"):
        return pa.int64()
    return pa.float64() if read.type == "real" else pa.bool_()


def _input(t, read, value):
    if read.type == "until":
        return t + value
    if read.type == "there":
        return read.column is None or value is not None
    if read.type == "flag":
        return bool(value)
    if value is None or read.type == "any":
        return value
    if read.type == "limit":
        limit = Fraction(value) * 10**read.scale * (-1 if read.negated else 1)
        return math.floor(limit) + 1 if read.beyond else math.ceil(limit)
    number = float(value) if read.type == "real" else int(value * 10**read.scale)
    return -number if read.negated else number


def query(rows, spec, **more):
    """The operators' question about a scheme, and the rows for it."""
    scheme, schema, made = lifted(rows, spec)
    order = tuple(n for n in schema.names if n[0] in "xy")
    inputs = tuple(n for n in schema.names if n[0] == "a")
    asked = FrameQuery(
        scheme, schema, ("k0",), order, inputs,
        ("f0", "f1", "f2"), (Sum(), Count(), Max()),
        carried=inputs if scheme.nulls == "carry" else (), **more,
    )  # fmt: skip
    return asked, made


REQUESTS = {"f0": ("sum", "n"), "f1": ("count", "v"), "f2": ("max", "s")}

__all__ = ["HOLDS", "MINUTE", "REQUESTS", "SPECS", "lifted", "query"]
