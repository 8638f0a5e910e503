"""Specs of every kind as Hypothesis draws them, and what two of them have to share to be the same.

SQL text is drawn from parts that are easily taken for something else.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from datetime import timedelta
from fractions import Fraction

from hypothesis import strategies as st

import fanlight as fl
from fanlight import agg
from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.registry import AGGREGATES
from fanlight.engine.algebra.sql_text import split_path
from fanlight.engine.spec.frames.limits import RUNNING
from fanlight.engine.spec.units import Extent, write_duration

MINUTE = 60_000_000
UNITS = {"milliseconds": 1000, "seconds": 10**6, "minutes": MINUTE, "hours": 60 * MINUTE,
         "days": 1440 * MINUTE, "weeks": 10080 * MINUTE, "microseconds": 1}  # fmt: skip

NAMES = st.sampled_from((
    "ts", "Lane No", "a.b", "a b.c", "`a.b`", "end", "range", "min", "late", "open", "x`y", "1a",
    "[", "]", "'", "ä", "row", "select", "with space ", "--", "/*", "wattr", "partition", "a..b",
))  # fmt: skip
SQL = st.sampled_from((
    "x > 1", "flsp > 0.2", "x IN (1, 2)", "a[0] > 1 AND b = ']'", "late > 5 OR min(x) < 3",
    "`a b` = 'it''s'", "range > 1 AND slide < 2", "CASE WHEN open THEN x ELSE close END > 2",
    "x = '\\'' OR y", "(a) = (b)", "x > 1 /* ) ] */ AND y", "(x > 1)", " x ", 'x = "]"',
    "transform(l, e -> e[1]) = array(1)", "a.b.c > -1", "min_by(x, y) = 2", "-x < 1e-3",
    "x::int = 1", "x % 2 = 0 AND NOT y", "x <=> null", "exists(a, e -> e > 1)",
))  # fmt: skip
NUMBERS = st.one_of(
    st.integers(1, 10**12),
    st.floats(1e-9, 1e15, allow_nan=False),
    st.fractions(Fraction(1, 100), 1000, max_denominator=997),
    st.decimals(min_value="0.001", max_value=1000, places=3),
)


@st.composite
def durations(draw, least=1, most=5000):
    unit = draw(st.sampled_from(sorted(UNITS)))
    count = draw(st.integers(least, most))
    form = draw(st.sampled_from(("{0} {1}", "PT{2}M", "INTERVAL '{0}' {3}")))
    if form.startswith("INTERVAL") and unit not in ("microseconds", "milliseconds", "weeks"):
        return form.format(count, unit, count, unit.removesuffix("s"))
    return form.format(count, unit, count) if form.startswith("PT") else f"{count} {unit}"


def small(draw, least, kind):
    """Lengths of one kind."""
    if kind == "time":
        return write_duration(draw(st.integers(1, 500)) * MINUTE * least)
    if kind == "rows":
        return fl.Rows(draw(st.integers(1, 500)) * least)
    return draw(st.integers(1, 500)) * least


@st.composite
def slidings(draw):
    kind = draw(st.sampled_from(("time", "number", "rows", "at rows", "last rows")))
    if kind == "at rows":
        return fl.Sliding(draw(durations()), fl.Rows(draw(st.integers(1, 9))))
    if kind == "last rows":
        return fl.Sliding(small(draw, 1, "rows"), draw(durations()), offset=draw(durations()))
    if kind == "rows":
        offset = draw(st.integers(-50, 50))
        return fl.Sliding(small(draw, 1, "rows"), small(draw, 1, "rows"), offset=offset)
    length = durations() if kind == "time" else st.one_of(
        st.integers(1, 10**9), st.floats(1e-6, 1e9)
    )  # fmt: skip
    offset = draw(st.one_of(st.just(0), length))
    if kind == "time" and offset and draw(st.booleans()):
        offset = f"-{draw(st.integers(1, 99))} minutes"
    return fl.Sliding(draw(length), draw(st.one_of(st.none(), length)), offset=offset)


@st.composite
def granulars(draw):
    kind = draw(st.sampled_from(("time", "number", "rows", "calendar")))
    count = draw(st.integers(2, 4))
    base, unit = draw(st.integers(1, 30)), draw(st.sampled_from(("days", "weeks", "months")))
    steps = [base * 2**k for k in range(count)]
    ranges = [step * (k + 1) for k, step in enumerate(steps)]

    def made(value):
        if kind == "rows":
            return fl.Rows(value)
        if kind == "calendar":
            return f"{value} {unit}"
        return write_duration(value * 1000) if kind == "time" else value

    more = {}
    if kind == "calendar":
        more["zone"] = draw(st.sampled_from(("Europe/Berlin", "+05:30")))
        more["week_starts"] = draw(st.sampled_from(("monday", "sunday")))
    elif draw(st.booleans()):
        more["offset"] = draw(st.sampled_from((0, made(3))))
    if draw(st.booleans()):
        more["report"] = "continuous"
        if draw(st.booleans()) and ranges[-1] > ranges[0] + 1:
            free = next((n for n in range(1, ranges[-1]) if n not in ranges), None)
            more["horizons"] = [made(free)] if free else []
    elif draw(st.booleans()):
        more["weights"] = draw(st.lists(st.floats(0, 9), min_size=count, max_size=count))
    more["changes_only"] = draw(st.booleans())
    return fl.MultiGranular([made(one) for one in ranges], [made(one) for one in steps], **more)


def sizes(draw):
    more = {"min_rows": draw(st.integers(1, 30))}
    if draw(st.booleans()):
        more["min_duration"] = draw(st.one_of(durations(), st.integers(1, 100)))
    if draw(st.booleans()):
        more["max_rows"] = draw(st.integers(30, 60))
    if draw(st.booleans()):
        more["max_duration"] = draw(
            st.one_of(st.integers(36_000, 99_000).map("{} days".format), st.integers(101, 999))
        )
    if draw(st.booleans()):
        more["max_gap"] = draw(st.one_of(durations(), st.integers(1, 100)))
    return more


@st.composite
def frames(draw):
    kind = draw(st.sampled_from(("threshold", "predicate", "boundary", "delta", "aggregate")))
    names = st.lists(NAMES, min_size=1, max_size=3, unique_by=lambda one: tuple(split_path(one)))
    if kind == "threshold":
        if draw(st.booleans()):
            more = sizes(draw)
            if "max_duration" not in more:
                more["enter_for"] = draw(st.none() | durations())
            return fl.ThresholdFrame(
                draw(SQL), leave=draw(st.none() | SQL), leave_for=draw(durations()), **more
            )
        return fl.ThresholdFrame(draw(SQL), **sizes(draw))
    if kind == "predicate":
        return fl.PredicateFrame(draw(SQL), draw(SQL), **sizes(draw))
    if kind == "boundary":
        points = st.lists(st.integers(-99, 99), min_size=1, max_size=4, unique=True).map(sorted)
        cells = {name: draw(st.one_of(NUMBERS, points)) for name in draw(names)}
        overlapping = len(cells) == 1 and draw(st.booleans())
        return fl.BoundaryFrame(cells, overlapping=overlapping, **sizes(draw))
    if kind == "delta":
        return fl.DeltaFrame(
            {name: draw(NUMBERS) for name in draw(names)},
            against=draw(st.sampled_from(("range", "first"))),
            strict=draw(st.booleans()),
            include_crossing=draw(st.booleans()),
            **sizes(draw),
        )
    calls = [agg.count(), agg.count(draw(NAMES)), agg.sum(draw(NAMES)), agg.max(draw(NAMES)),
             agg.count_distinct(draw(NAMES), draw(NAMES)), agg.approx_count_distinct("x"),
             *(getattr(agg, name)(draw(NAMES)) for name in AGGREGATES.watchable
               if RUNNING[getattr(agg, name)("x").aggregate.watched].falls)]  # fmt: skip
    chosen = draw(st.lists(st.sampled_from(range(len(calls))), min_size=1, max_size=3))
    return fl.AggregateFrame(
        [calls[n] for n in chosen],
        [draw(st.one_of(NUMBERS, LIMITS)) for _ in chosen],
        include_crossing=draw(st.booleans()),
        strict=draw(st.booleans()),
        may_fall=True,
        **sizes(draw),
    )


LIMITS = st.sampled_from(("x", "x + 1", "mean_rows(3) * 2", "`a b`"))


@st.composite
def sessions(draw):
    gap = draw(st.one_of(
        st.integers(1, 59).map("{} minutes".format),
        st.sampled_from(("1 day", "2 weeks", "1 month", "PT90S", "1 hour 30 minutes", "wait",
                         "CASE WHEN x THEN '1 hour' ELSE wait END")),
        st.sampled_from(("24 hours", "PT48H", timedelta(days=3))),
        st.integers(1, 99),
    ))  # fmt: skip
    longest = None
    if draw(st.booleans()):
        longest = 1000 if isinstance(gap, int) else "365 days"
    more = {"max_rows": draw(st.integers(5, 9))} if draw(st.booleans()) else {}
    return fl.Session(gap, max_duration=longest, min_rows=draw(st.integers(1, 5)), **more)


@st.composite
def widenings(draw):
    timed = draw(st.booleans())
    listed = draw(st.booleans())
    sizes = [draw(st.integers(1, 50))]
    for _ in range(draw(st.integers(1, 4))):
        sizes.append(sizes[-1] * draw(st.integers(2, 5)))
    made = [write_duration(size * 1000) if timed else size for size in sizes]
    more = {} if listed else {"factor": draw(st.integers(2, 5))}
    rows = draw(st.integers(1, 10**6))
    first = made if listed else made[0]
    return fl.ProgressiveWidening(first, max_duration=made[-1], max_rows=rows, **more)


@st.composite
def trailings(draw):
    kind = draw(st.sampled_from(("time", "number", "rows", "ever")))
    length = {"time": durations(), "number": st.integers(1, 99), "ever": st.none(),
              "rows": st.integers(1, 99).map(fl.Rows)}[kind]  # fmt: skip
    delay = durations() if kind == "time" else st.integers(0, 99)
    closed = ("right", "neither") if kind == "rows" else ("right", "left", "both", "neither")
    return fl.Trailing(
        draw(length),
        delay=draw(st.one_of(st.just(0), delay)),
        closed=draw(st.sampled_from(closed)),
        include_self=draw(st.booleans()),
    )


LABELS = st.one_of(NAMES, st.sampled_from(("1h", "7", "as", "all", "self", "${x}", "{}", "``", ",",
                                           "x] --", "\U0001f6b2", "\n")))  # fmt: skip


@st.composite
def snapshots(draw):
    least = draw(st.one_of(st.none(), durations(), st.integers(1, 99)))
    return fl.Snapshot(min_duration=least, merge_equal=draw(st.booleans()))


SPECS = st.one_of(
    slidings(),
    st.lists(slidings(), min_size=2, max_size=4),
    granulars(),
    frames(),
    sessions(),
    widenings(),
    trailings(),
    snapshots(),
    st.dictionaries(LABELS, trailings(), min_size=1, max_size=4),
)


def meaning(spec):
    """What a spec means: lengths by their value, names by their parts, not as they were written."""
    if isinstance(spec, Extent):
        return spec.measure, spec.value
    if isinstance(spec, Call):
        return spec.aggregate.name, tuple(tuple(split_path(one)) for one in spec.columns)
    if isinstance(spec, dict):
        spec = tuple(spec.items())
    if isinstance(spec, (list, tuple)):
        return tuple(map(meaning, spec))
    if isinstance(spec, (fl.BoundaryFrame, fl.DeltaFrame)):
        (pairs, *rest) = [getattr(spec, one.name) for one in fields(spec) if one.name != "shown"]
        return (
            type(spec),
            tuple((tuple(split_path(name)), given) for name, given in pairs),
            *(map(meaning, rest)),
        )
    if is_dataclass(spec):
        values = [getattr(spec, one.name) for one in fields(spec) if one.name != "shown"]
        return type(spec), *map(meaning, values)
    return spec
