"""Events that last: how much of them lies in a window, and how many are running at once.

What needs the order of their ends keeps the parts of a window's events, as they come in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fanlight.engine.algebra.aggregate import (
    INTEGRAL,
    Aggregate,
    Call,
    Partials,
    base_type,
    digits_of,
    sum_type,
)
from fanlight.engine.algebra.collections import Collect
from fanlight.engine.algebra.monoids import WholeArea
from fanlight.engine.algebra.registry import aggregate, sample
from fanlight.engine.algebra.sql_text import struct
from fanlight.types import ColumnOrName

# The time of events within a window, in two sums of doubles that lose nothing, whatever the order.
_PARTS = {
    "high": "cast(shiftright({ends} - {begins}, 20) as double)",
    "low": "cast(({ends} - {begins}) & 1048575L as double)",
}
TIME = {name: WholeArea(value) for name, value in _PARTS.items()}
TIME_WITH_VALUE = {
    name: WholeArea(f"if({{x}} is null, null, {value})") for name, value in _PARTS.items()
}
TOTAL = "({high} * 1048576D + {low})"
_TOTAL = f"coalesce({TOTAL}, 0D)"
_OVERLAP = Aggregate("overlap", TIME, f"{_TOTAL} / {{scale}}", arity=0)
_MEAN = Aggregate("mean_running", TIME, f"{_TOTAL} / {{length}}", arity=0)


@aggregate(sample(gives="double"))
def overlap() -> Call:
    """How long events are within the window, all together: downtime, machine hours.

    Returns
    -------
    Call
        A double, the seconds (units of a numeric time) that lie in the window, added up over its
        events; never null.

    Raises
    ------
    FanlightError
        By the windows' agg: if rows are at an instant and not events that last, or the time
        is a double.

    Notes
    -----
    Rows whose start or stop is null are in no window. With ``where`` it is of some events:
    ``agg.overlap().where("state = 'down'") / 3600``. For the sum of seconds times a number, ask for
    :func:`integral` of it.

    Examples
    --------
    >>> from fanlight import agg
    >>> stays = spark.sql("select * from values (0, 4), (3, 12) as t(start, stop)")
    >>> windows = fl.over(stays, fl.Sliding(10), time=("start", "stop"))
    >>> [row.a for row in windows.agg(a=agg.overlap()).orderBy("window").collect()]
    [11.0, 2.0]

    """
    return Call(_OVERLAP, ())


@aggregate(sample(gives="double"))
def mean_running() -> Call:
    """How many events are running on average over the window.

    Returns
    -------
    Call
        A double: what :func:`overlap` gives, by the length of the window; never null.

    Raises
    ------
    FanlightError
        By the windows' agg: if rows are at an instant and not events that last, or the time
        is a double.

    Notes
    -----
    Rows whose start or stop is null are in no window. Of events that exclude one another, such as
    the jobs of a machine, it is the utilisation. A window is as long as its column says: with the
    initiation time of levels it begins there.

    Examples
    --------
    >>> from fanlight import agg
    >>> stays = spark.sql("select * from values (0, 4), (3, 12) as t(start, stop)")
    >>> windows = fl.over(stays, fl.Sliding(10), time=("start", "stop"))
    >>> [row.a for row in windows.agg(a=agg.mean_running()).orderBy("window").collect()]
    [1.1, 0.2]

    """
    return Call(_MEAN, ())


def _part(number: str) -> str:
    """SQL: the part of an event that lies in the window, with a number that holds there."""
    return struct([("begins", "{begins}"), ("ends", "{ends}"), ("n", number)])


@dataclass(frozen=True)
class RunningParts(Collect):
    """Numbers of running events, ``n``, each with the time from which and to which it holds."""

    value: str = _part("1L")


@dataclass(frozen=True)
class AtOnce(RunningParts):
    """The same, of which only the most that they add up to at once matters."""

    at_once: ClassVar[bool] = True


@dataclass(frozen=True)
class United(RunningParts):
    """The same, of which only when at least one is running matters."""

    united: ClassVar[bool] = True


_UNITED = (
    "aggregate(sort_array({p}), named_struct('time', 0L, 'upto', cast(null as bigint)), "
    "(a, w) -> named_struct('time', a.time + greatest(w.ends - greatest(w.begins, a.upto), 0L), "
    "'upto', greatest(a.upto, w.ends)), a -> a.time)"
)
_COVERED = Aggregate(
    "covered", {"p": United()}, f"coalesce(cast({_UNITED} as double) / {{scale}}, 0D)",
    arity=0, algebra="holistic",
)  # fmt: skip


@aggregate(sample(gives="double"))
def covered() -> Call:
    """For how long at least one event is running within the window.

    Returns
    -------
    Call
        A double, the seconds (units of a numeric time), at most as many as the window has; 0 if no
        event lasts, never null.

    Raises
    ------
    FanlightError
        By the windows' agg: if rows are at an instant and not events that last, or the time
        is a double.

    Notes
    -----
    Where events overlap, the time counts once; :func:`overlap` counts it for each. Rows whose start
    or stop is null are in no window. With ``where`` it is of some events:
    ``agg.covered().where("state = 'down'")``.

    Examples
    --------
    >>> from fanlight import agg
    >>> stays = spark.sql("select * from values (0, 4), (3, 6), (8, 12) as t(start, stop)")
    >>> windows = fl.over(stays, fl.Sliding(10), time=("start", "stop"))
    >>> [row.a for row in windows.agg(a=agg.covered()).orderBy("window").collect()]
    [8.0, 2.0]

    """
    return Call(_COVERED, ())


# An event begins and ends at an edge, in this order at one instant: others end, events begin, those
# without duration end.
_EDGES = (
    "flatten(transform(coalesce({p}, array()), w -> array("
    "named_struct('at', w.begins, 'place', 1, 'step', w.n), "
    "named_struct('at', w.ends, 'place', if(w.begins = w.ends, 2, 0), 'step', -w.n))))"
)
_STEP = (
    "named_struct('now', a.now + e.step, 'most', greatest(a.most, a.now + e.step), "
    "'at', if(a.now + e.step > a.most, e.at, a.at))"
)
_TO_TIME = "at -> {instant})[0]"
# Where the most of windows is known already, no edges need be put in order.
_MOST = (
    "if(size({p}) = 1, "
    f"named_struct('running', {{p}}[0].n, 'at', transform(array({{p}}[0].begins), {_TO_TIME}), "
    f"aggregate(sort_array({_EDGES}), "
    "named_struct('now', 0L, 'most', 0L, 'at', cast(null as bigint)), "
    f"(a, e) -> {_STEP}, "
    f"a -> named_struct('running', a.most, 'at', transform(array(a.at), {_TO_TIME})))"
)
_PEAK = Aggregate(
    "peak", {"p": AtOnce()}, _MOST,
    arity=0, algebra="holistic",
)  # fmt: skip


# Of numbers, which may be below 0, the sum of an instant is known once all of its edges are. An
# event without duration is over at the next instant, as times are whole numbers.
_NUMBERED_EDGES = (
    "flatten(transform(coalesce({p}, array()), w -> array("
    "named_struct('at', w.begins, 'came', 1L, 'n', w.n), "
    "named_struct('at', if(w.begins = w.ends, w.ends + 1L, w.ends), 'came', -1L, 'n', w.n))))"
)
_DIGITS = 36  # of a decimal; with more there is no room for a sum


@dataclass(frozen=True)
class _RunningSum:
    """A sum of running numbers: what a pass keeps of it in ``a``, and what an edge ``e`` changes.

    ``number`` is SQL of a number as events keep it, ``given`` the type of the result, ``now`` the
    sum, and ``kept`` the fields that it is made of: a name, the value before the first edge, and
    the one after an edge.
    """

    number: str
    given: str
    now: str
    kept: tuple[tuple[str, str, str], ...]

    def most(self) -> str:
        """SQL: the greatest sum while an event is running, and the first instant with it."""
        known = f"a.running > 0L and e.at > a.at and (a.most is null or {self.now} > a.most)"
        begin = struct([
            ("at", "cast(null as bigint)"), ("running", "0L"), ("since", "cast(null as bigint)"),
            ("most", f"cast(null as {self.given})"), *((name, zero) for name, zero, _ in self.kept),
        ])  # fmt: skip
        step = struct([
            ("at", "e.at"), ("running", "a.running + e.came"),
            ("since", f"if({known}, a.at, a.since)"),
            ("most", f"if({known}, cast({self.now} as {self.given}), a.most)"),
            *((name, after) for name, _, after in self.kept),
        ])  # fmt: skip
        since = f"transform(array(a.since), {_TO_TIME}"
        result = struct([("running", "a.most"), ("at", since)])
        return f"aggregate(sort_array({_NUMBERED_EDGES}), {begin}, (a, e) -> {step}, a -> {result})"


def _exact_sum(number: str, inside: str, given: str) -> _RunningSum:
    """The sum of numbers that are added up, and taken back, exactly in the type ``inside``."""
    after = f"cast(if(e.came > 0L, a.now + e.n, a.now - e.n) as {inside})"
    return _RunningSum(number, given, "a.now", (("now", f"cast(0 as {inside})", after),))


def _double_sum() -> _RunningSum:
    """The sum of doubles, as several that lose nothing, so that no trace of ended ones stays.

    As in ``math.fsum``; those that are not finite are counted.
    """
    up, down, odd = "double('infinity')", "double('-infinity')", "double('nan')"
    one = f"if(e.n in ({up}, {down}, {odd}), 0D, e.n * e.came)"
    none = "cast(array() as array<double>)"
    total = "(s.x + y)"
    lost = f"((s.x - ({total} - ({total} - s.x))) + (y - ({total} - s.x)))"
    added = (
        f"aggregate(a.terms, named_struct('x', {one}, 'kept', {none}), (s, y) -> named_struct("
        f"'x', {total}, 'kept', if({lost} = 0D, s.kept, concat(s.kept, array({lost})))), "
        "s -> if(s.x = 0D, s.kept, concat(s.kept, array(s.x))))"
    )
    counts = [
        (name, "0L", f"a.{name} + if(e.n = {value}, e.came, 0L)")
        for name, value in (("up", up), ("down", down), ("odd", odd))
    ]
    now = (
        f"(case when a.odd > 0L or (a.up > 0L and a.down > 0L) then {odd} "
        f"when a.up > 0L then {up} when a.down > 0L then {down} "
        "else aggregate(a.terms, 0D, (s, y) -> s + y) end)"
    )
    return _RunningSum("cast({x} as double)", "double", now, (("terms", none, added), *counts))


def _sum_of(kind: str) -> _RunningSum:
    """How numbers of a type are added up while events are running."""
    if base_type(kind) in INTEGRAL:
        inside = "decimal(37, 0)" if base_type(kind) == "bigint" else "bigint"
        return _exact_sum("cast({x} as bigint)", inside, "bigint")
    if base_type(kind) == "decimal" and digits_of(kind)[0] <= _DIGITS:
        return _exact_sum("{x}", f"decimal(37, {digits_of(kind)[1]})", sum_type(kind))
    return _double_sum()


def _peak_partials(types: tuple[str, ...]) -> Partials:
    total = _sum_of(types[0])
    part = f"if({{x}} is null, null, {_part(total.number)})"
    return Partials({"p": RunningParts(part)}, total.most())


_PEAK_OF_NUMBERS = Aggregate("peak", recipe=_peak_partials, algebra="holistic")


@aggregate(
    sample("bigint", gives="struct<running:bigint,at:bigint>"),
    sample("double", gives="struct<running:double,at:bigint>"),
    sample("decimal(12,2)", gives="struct<running:decimal(22,2),at:bigint>"),
    sample(gives="struct<running:bigint,at:bigint>"),
)
def peak(column: ColumnOrName | None = None) -> Call:
    """The most events that are running at once within the window, and since when.

    Parameters
    ----------
    column
        A number, to add up those of the running events: a column's name or a Column. Without it
        events are counted.

    Returns
    -------
    Call
        A struct: ``running``, a bigint, and ``at``, the first instant at which so many are running,
        of the time column's type; null where there is none. The most that a column adds up to is
        of the type that a sum has: a bigint, a double or a decimal, null where there is none.
        Decimals of more than 36 digits are added up as doubles.

    Raises
    ------
    FanlightError
        Also if rows are at an instant and not events that last, or the time is a double.

    Notes
    -----
    An event is running from its start until before its stop; one without duration at its instant.
    Rows whose start or stop is null are in no window. Events whose column is null do not count.
    Numbers may be below 0: it is the greatest sum of all instants at which an event with a number
    is running. Sums of doubles lose nothing before they are rounded, so that nothing stays of those
    that have ended.

    Examples
    --------
    >>> from fanlight import agg
    >>> rows = "(0, 4, 2), (3, 12, 1), (4, 6, 5)"
    >>> stays = spark.sql(f"select * from values {rows} as t(start, stop, guests)")
    >>> windows = fl.over(stays, fl.Sliding(10), time=("start", "stop"))
    >>> [row.a for row in windows.agg(a=agg.peak()).orderBy("window").collect()]
    [Row(running=2, at=3), Row(running=1, at=10)]
    >>> [row.a for row in windows.agg(a=agg.peak("guests")).orderBy("window").collect()]
    [Row(running=6, at=4), Row(running=1, at=10)]

    """
    if column is None:
        return Call(_PEAK, ())
    return Call(_PEAK_OF_NUMBERS, (column,))
