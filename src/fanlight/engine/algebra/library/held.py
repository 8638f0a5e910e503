"""Values that hold until the next row: the area under them, their mean over time, a counter's rate.

Each keeps the readings of a window with their instants and goes through them in order once all are
there, so that the result is the same however the rows fell into pieces and micro-batches. Whole
numbers and decimals are added up exactly.

With ``carry`` a reading holds for so long at most, also beyond the edge of a window. A window then
has the readings that are that much older than its start, too. Of those of a whole piece of time,
only the first and the last matter to windows, with what lies between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from fanlight.engine.algebra.aggregate import (
    INTEGRAL,
    LONG_DIGITS,
    Accepts,
    Aggregate,
    Call,
    Partials,
    Recipe,
    base_type,
    digits_of,
    sum_type,
)
from fanlight.engine.algebra.collections import Collect
from fanlight.engine.algebra.library.overlaps import TIME_WITH_VALUE, TOTAL
from fanlight.engine.algebra.lowering import let
from fanlight.engine.algebra.lowering_values import (
    LowerValues,
    area_over_time,
    increase_over_time,
    mean_over_time,
    rate_over_time,
)
from fanlight.engine.algebra.monoids import Area, Monoid, Sum
from fanlight.engine.algebra.registry import aggregate, sample
from fanlight.engine.algebra.sql_text import fill, literal, struct
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.units import LONGEST, Extent, read_extent
from fanlight.types import ColumnOrName, Condition, Duration


def _reading(value: str, more: Iterable[tuple[str, str]] = ()) -> str:
    fields = [("t", "{time}"), ("o", "{order}"), ("v", value), *more]
    return f"if({{x}} is null, null, {struct(fields)})"


@dataclass(frozen=True)
class Readings(Collect):
    """Every number with its instant and its place in the order of rows."""

    value: str = _reading("cast({x} as double)")
    whole_time: ClassVar[bool] = True
    at_instants: ClassVar[bool] = True


@dataclass(frozen=True)
class Carried(Readings):
    """Readings that count in windows which begin at most ``carry`` later.

    What is read off those of a window, or of a piece of time, is a struct: ``walk`` is its SQL, of
    readings ``{p}``, of the instants at which it is said to begin and to end, and of the first one
    in it. That of a window is the sum of what its pieces have, by the monoids ``sums`` (with the
    types of fields), and ``known`` is whether there is anything. ``condensing`` is SQL of what
    matters to windows of the readings of a whole piece.
    """

    carry: Extent | None = None
    condensing: str = field(default="{p}", repr=False)
    walk: str = field(default="", repr=False)
    sums: tuple[tuple[str, Monoid, str], ...] = ()
    known: str = field(default="", repr=False)

    def condense(self, p: str) -> str:
        """SQL: the first and the last reading, with what lies between them."""
        return fill(self.condensing, p=p)


def read_carry(given: Duration) -> Extent:
    """How long a reading holds at most."""
    carry = read_extent("carry", given, counted=False)
    if carry.measure not in ("time", "number") or carry.value > LONGEST // 4:
        raise refuse(
            f"carry={given!r}",
            "is not how long a reading may hold",
            "write a duration such as '1 hour', or a number of units of a numeric time",
        )
    return carry


_FARTHEST = f"(-{LONGEST}L)"  # before all times
_SPAN, _SUM = "cast(a.t - a.since as double)", "cast(a.sum as double)"
_AREA = "cast({p} as double)"


class _Kinds(NamedTuple):
    """The types of a reading, of what is computed with it, and of the sum.

    Where the result may have more than 38 digits, Spark leaves out the last ones after the point.
    """

    value: str = "double"
    term: str = "double"
    sum: str = "double"


def _kinds_of(kind: str, digits: int) -> _Kinds:
    """How numbers of a type are added up: decimals of more ``digits`` as doubles."""
    if base_type(kind) in INTEGRAL:
        return _Kinds(kind, "decimal(19, 0)", "decimal(38, 0)")
    if base_type(kind) == "decimal" and digits_of(kind)[0] <= digits:
        return _Kinds(kind, kind, f"decimal(37, {digits_of(kind)[1]})")
    return _Kinds()


def _pass(kinds: _Kinds, added: str, finish: str) -> str:
    """SQL: one pass over the readings ``e`` in order; null without any.

    What it knows is ``a``: the instants of the first and of the reading before, the value of that,
    and the sum so far, of which each reading adds what it says of the one before.
    """
    begin = (
        "named_struct('since', cast(null as bigint), 't', cast(null as bigint), "
        f"'v', cast(null as {kinds.value}), 'sum', cast(0 as {kinds.sum}))"
    )
    step = (
        "named_struct('since', coalesce(a.since, e.t), 't', e.t, 'v', e.v, "
        f"'sum', cast(a.sum + cast({added} as {kinds.sum}) as {kinds.sum}))"
    )
    found = f"aggregate(sort_array({{p}}), {begin}, (a, e) -> {step}, a -> {finish})"
    return f"if(size({{p}}) > 0, {found}, null)"


@dataclass(frozen=True)
class _Measure:
    """What is read off numbers that hold: an area under them, or of a counter what it has counted.

    ``finish`` is the result of a pass over the readings of a window, and ``carried`` that where
    they hold beyond it, of ``a``. Decimals of more ``digits`` become doubles. A condition
    (``of_condition``) is 1 or 0.
    """

    name: str
    finish: Callable[[_Kinds], str]
    carried: Callable[[_Kinds], str]
    lower_values: LowerValues
    counter: bool = False
    digits: int = LONG_DIGITS
    of_condition: bool = False
    of_events: Aggregate | None = None
    accepts: Accepts = "numeric"

    def kinds_of(self, kind: str) -> tuple[_Kinds, str]:
        """The types for a column of a type, and SQL of a reading."""
        if self.of_condition:
            return _kinds_of("int", self.digits), "if({x}, 1, if({x} is null, null, 0))"
        kinds = _kinds_of(kind, self.digits)
        return kinds, "cast({x} as double)" if kinds == _Kinds() else "{x}"

    def plain(self) -> Aggregate:
        """The aggregate of the readings of a window."""

        def recipe(types: tuple[str, ...]) -> Partials:
            kinds, value = self.kinds_of(types[0])
            added = _rise(self.name, kinds) if self.counter else _area(kinds)
            lower = _pass(kinds, added, self.finish(kinds))
            return Partials({"p": Readings(_reading(value))}, lower, lower_values=self.lower_values)

        return self._aggregate(recipe, self.of_events)

    def holding(self, carry: Extent) -> Aggregate:
        """The aggregate of readings that hold for at most ``carry``, also beyond the window."""

        def recipe(types: tuple[str, ...]) -> Partials:
            kinds, value = self.kinds_of(types[0])
            walk = _Walk(kinds, int(carry.value), self.name if self.counter else "")
            reading = _reading(value, (("sum", f"cast(null as {kinds.sum})"),
                                       ("time", "cast(null as bigint)")))  # fmt: skip
            readings = Carried(
                reading, carry, walk.condensing, walk.whole, walk.sums, "{time} > 0L or {n} > 0L"
            )
            return Partials({"p": readings}, let("a", "{p}", self.carried(kinds)))

        return self._aggregate(recipe)

    def _aggregate(self, recipe: Recipe, of_events: Aggregate | None = None) -> Aggregate:
        return Aggregate(
            self.name, accepts=self.accepts, algebra="holistic", recipe=recipe, of_events=of_events
        )

    def call(self, column: Any, carry: Duration | None) -> Call:
        """The call of the function of its name."""
        if carry is None:
            return Call(_PLAIN[self.name], (column,))
        return Call(self.holding(read_carry(carry)), (column,), shown=(carry,))


def _area(kinds: _Kinds) -> str:
    """SQL: the area under the reading before, which is 0 if it holds for no time."""
    return f"if(e.t > a.t, {_times(kinds, 'a.v', 'e.t - a.t')}, cast(0 as {kinds.sum}))"


def _times(kinds: _Kinds, value: str, time: str) -> str:
    """SQL: a value times the time for which it holds."""
    kind = "double" if kinds.term == "double" else "decimal(19, 0)"
    return f"cast({value} as {kinds.term}) * cast({time} as {kind})"


@dataclass(frozen=True)
class _Walk:
    """A pass over readings ``e`` in order, each of which holds for ``carry`` at most.

    What it knows is ``a``: the reading before, ``t`` and ``v``, the ``sum`` so far, the ``time``
    that it is of, and how many readings of the window there were, ``n``. A reading that stands for
    those of a whole piece has the ``sum`` and ``time`` since the piece's first one, which is just
    before it. A ``counter`` is called so in an error.
    """

    kinds: _Kinds
    carry: int
    counter: str = ""

    @property
    def condensing(self) -> str:
        """SQL: the first and the last reading of a piece ``{p}``, with what lies between them."""
        last = "element_at(s, -1)"
        found = self._pass("s", _FARTHEST, _FARTHEST, "a", condensed=False)
        pair = let(
            "w", found,
            f"array(s[0], named_struct('t', {last}.t, 'o', {last}.o, 'v', {last}.v, "
            "'sum', w.sum, 'time', w.time))",
        )  # fmt: skip
        return let("s", "sort_array({p})", f"if(size(s) > 1, {pair}, s)")

    @property
    def whole(self) -> str:
        """SQL: the sum, its time and the readings, with the last one held up to the end."""
        found = "named_struct('sum', a.sum, 'time', a.time, 'n', a.n)"
        return self._pass("sort_array({p})", "{begun}", "{first}", f"a -> {self._end(found)}")

    @property
    def sums(self) -> tuple[tuple[str, Monoid, str], ...]:
        """What a piece has."""
        return (
            ("sum", Sum(), self.kinds.sum), ("time", Sum(), "bigint"), ("n", Sum(), "bigint"),
        )  # fmt: skip

    def _pass(
        self, readings: str, begun: str, first: str, finish: str, *, condensed: bool = True
    ) -> str:
        kinds, nothing = self.kinds, f"cast(0 as {self.kinds.sum})"
        if self.counter:
            counts = f"a.t is not null and e.t - a.t <= {self.carry}L and e.t >= {first}"
            more, time = _rise(self.counter, kinds), "e.t - a.t"
        else:
            time = self._held("e.t", begun)
            counts, more = f"a.t is not null and {time} > 0L", _times(kinds, "a.v", time)
        begin = (
            f"named_struct('t', cast(null as bigint), 'v', cast(null as {kinds.value}), "
            f"'sum', {nothing}, 'time', 0L, 'n', 0L)"
        )
        known = f"when e.sum is not null then if(e.t >= {first}, e"
        of_sum, of_time = (
            (f"{known}.sum, {nothing})", f"{known}.time, 0L)") if condensed else ("", "")
        )
        step = (
            "named_struct('t', e.t, 'v', e.v, "
            f"'sum', cast(a.sum + cast(case {of_sum} when {counts} then {more} "
            f"else {nothing} end as {kinds.sum}) as {kinds.sum}), "
            f"'time', a.time + case {of_time} when {counts} then {time} else 0L end, "
            f"'n', a.n + if(e.t >= {first}, 1L, 0L))"
        )
        end = "" if finish == "a" else f", {finish}"
        return f"aggregate({readings}, {begin}, (a, e) -> {step}{end})"

    def _held(self, upto: str, begun: str) -> str:
        """SQL: for how long the reading before holds in the window."""
        return f"(least({upto}, a.t + {self.carry}L) - greatest(a.t, {begun}))"

    def _end(self, result: str) -> str:
        """SQL: the result, once the last reading has held up to the end of the window."""
        if self.counter:
            return result
        kinds, time = self.kinds, self._held("{over}", "{begun}")
        holds = f"a.t is not null and {time} > 0L"  # without a reading it would be all the time
        more = f"if({holds}, {_times(kinds, 'a.v', time)}, cast(0 as {kinds.sum}))"
        last = (
            f"named_struct('sum', cast(a.sum + cast({more} as {kinds.sum}) as {kinds.sum}), "
            f"'time', a.time + if({holds}, {time}, 0L), 'n', a.n)"
        )
        return let("a", last, result)


def _of_events(
    name: str,
    lower: str,
    more: Mapping[str, Area],
    value: str = "{x}",
    accepts: Accepts = "numeric",
) -> Aggregate:
    """An aggregate of events that last: a number holds from an event's start to its stop."""

    def recipe(types: tuple[str, ...]) -> Partials:
        kinds = _kinds_of(types[0], LONG_DIGITS)
        area = f"if({{ends}} > {{begins}}, {_times(kinds, value, '{ends} - {begins}')}, 0)"
        area = f"if({{x}} is null, null, cast({area} as {kinds.sum}))"
        return Partials({"p": Area(area), **more}, lower)

    return Aggregate(name, accepts=accepts, recipe=recipe)


_CARRIED_SUM, _CARRIED_TIME = "cast(a.sum as double)", "cast(a.time as double)"
_INTEGRAL = _Measure(
    "integral",
    lambda _: f"{_SUM} / {{scale}}",
    lambda _: f"if(a.time > 0L, {_CARRIED_SUM} / {{scale}}, null)",
    area_over_time,
    of_events=_of_events("integral", f"{_AREA} / {{scale}}", {}),
)
_MEAN = _Measure(
    "time_weighted_avg",
    lambda _: f"if(a.t > a.since, {_SUM} / {_SPAN}, double(a.v))",
    lambda _: f"if(a.time > 0L, {_CARRIED_SUM} / {_CARRIED_TIME}, null)",
    mean_over_time,
    of_events=_of_events(
        "time_weighted_avg", f"if({TOTAL} > 0D, {_AREA} / {TOTAL}, null)", TIME_WITH_VALUE
    ),
)


@aggregate(*(sample(kind, gives="double") for kind in ("double", "bigint", "decimal(12,2)")))
def integral(column: ColumnOrName, *, carry: Duration | None = None) -> Call:
    """The area under a number over time: energy from power, litres from a flow, cost from a rate.

    Parameters
    ----------
    column
        A number: a column's name or a Column.
    carry
        How long a reading holds at most, also beyond the edge of a window: a duration. A window
        then begins with the value that is there, and its last one holds up to its end.

    Returns
    -------
    Call
        A double: the number times seconds (times units of a numeric time), exact up to its last
        digit for whole numbers and decimals of at most 18 digits. 0 for one reading, null for none.

    Raises
    ------
    FanlightError
        Also if the time is neither a timestamp nor a whole number.

    Notes
    -----
    A reading holds until the next one of the window, so the area is that from the window's first
    reading to its last. Of several at one instant the last in order holds. Rows where the column is
    null are left out. Every reading of a window is kept until its result is out. Of events that
    last it is the sum of each one's number times the seconds of it that lie in the window.

    With ``carry`` a reading holds until the next one, whatever windows there are, so areas of
    windows that do not overlap add up to the whole. Windows without rows in which a reading holds
    are in the result, too: a count of theirs is 0. The first and the last reading of a piece of
    time are kept once it is complete. All windows must be ``closed`` on the left, or all on the
    right.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.0D), (3, 5.0D), (4, 1.0D) as t(at, watts)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(joules=agg.integral("watts")).first().joules
    11.0

    """
    return _INTEGRAL.call(column, carry)


@aggregate(*(sample(kind, gives="double") for kind in ("double", "bigint", "decimal(12,2)")))
def time_weighted_avg(column: ColumnOrName, *, carry: Duration | None = None) -> Call:
    """The mean of a number over time: each reading counts as long as it holds.

    Parameters
    ----------
    column
        A number: a column's name or a Column.
    carry
        How long a reading holds at most, also beyond the edge of a window: a duration. A window
        then begins with the value that is there, and its last one holds up to its end.

    Returns
    -------
    Call
        A double, exact up to its last digit for whole numbers and decimals of at most 18 digits;
        null if there is no reading.

    Raises
    ------
    FanlightError
        Also if the time is neither a timestamp nor a whole number.

    Notes
    -----
    A reading holds until the next one of the window, so the mean is over the time from the window's
    first reading to its last; where all are at one instant, it is the last in order. Rows where the
    column is null are left out. Every reading of a window is kept until its result is out. Of
    events that last each counts by how much of it lies in the window; null if that is no time.

    With ``carry`` the mean is over the part of the window in which a reading holds, as
    :func:`integral` says.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.0D), (3, 5.0D), (4, 1.0D) as t(at, watts)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(watts=agg.time_weighted_avg("watts")).first().watts
    2.75
    >>> carried = windows.agg(watts=agg.time_weighted_avg("watts", carry=10)).orderBy("window")
    >>> [row.watts for row in carried.collect()]
    [1.7, 1.0]

    """
    return _MEAN.call(column, carry)


_FALLS = (
    ": the counter falls below 0, so it has not begun anew at 0; "
    "ask for linear_fit of a number that rises and falls"
)


def _rise(name: str, kinds: _Kinds) -> str:
    """SQL: what a counter has counted since the reading before; all of it if it has begun anew."""
    goes_on = "e.v >= a.v or isnan(a.v)" if kinds.term == "double" else "e.v >= a.v"
    rise = f"cast(e.v as {kinds.term}) - cast(a.v as {kinds.term})"
    return (
        f"case when a.v is null then cast(0 as {kinds.sum}) when {goes_on} then {rise} "
        f"when e.v < 0 then cast(raise_error({literal(name + _FALLS)}) as {kinds.sum}) "
        f"else cast(e.v as {kinds.sum}) end"
    )


def _summed(kinds: _Kinds) -> str:
    """The type of an increase: that of Spark's sum, but whole numbers stay of 64 bits."""
    if base_type(kinds.value) in INTEGRAL:
        return "bigint"
    return sum_type(kinds.value) if base_type(kinds.value) == "decimal" else "double"


_RATE = _Measure(
    "rate",
    lambda _: f"if(a.t > a.since, {_SUM} / ({_SPAN} / {{scale}}), null)",
    lambda _: f"if(a.time > 0L, {_CARRIED_SUM} / ({_CARRIED_TIME} / {{scale}}), null)",
    rate_over_time,
    counter=True,
    digits=36,
)
_INCREASE = _Measure(
    "increase",
    lambda kinds: f"cast(a.sum as {_summed(kinds)})",
    lambda kinds: f"if(a.n > 0L, cast(a.sum as {_summed(kinds)}), null)",
    increase_over_time,
    counter=True,
    digits=36,
)
_DURATION = _Measure(
    "duration",
    lambda _: f"{_SUM} / {{scale}}",
    lambda _: f"if(a.time > 0L, {_CARRIED_SUM} / {{scale}}, null)",
    area_over_time,
    of_condition=True,
    accepts="boolean",
    of_events=_of_events("duration", f"{_AREA} / {{scale}}", {}, "if({x}, 1, 0)", "boolean"),
)
_PLAIN = {one.name: one.plain() for one in (_INTEGRAL, _MEAN, _RATE, _INCREASE, _DURATION)}


@aggregate(sample("float", gives="double"))
def rate(column: ColumnOrName, *, carry: Duration | None = None) -> Call:
    """How fast a counter rises, by the second, also where it began anew within the window.

    Parameters
    ----------
    column
        A number that only rises, until it begins anew at 0: a column's name or a Column.
    carry
        Also count from the last reading before the window: a duration, by which it may be older
        than the next one. Without it the first reading of a window has nothing to compare with.

    Returns
    -------
    Call
        A double: the increase from the window's first reading to its last, divided by the seconds
        between them (of a numeric time: by the units), exact up to its last digit for whole numbers
        and decimals of at most 36 digits. Null where all readings are at one instant.

    Raises
    ------
    FanlightError
        Also if the time is neither a timestamp nor a whole number. Where the counter falls below 0,
        Spark raises an error as it runs.

    Notes
    -----
    Where the counter falls, it has begun anew, and what it shows then is counted from 0. Rows where
    the column is null are left out. Readings at one instant are taken in order. Every reading of a
    window is kept until its result is out. With ``carry`` it is what :func:`increase` counts,
    divided by the time since the readings that this is compared with.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 40), (2, 50), (4, 6) as t(at, requests)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(rate=agg.rate("requests")).first().rate
    4.0

    """
    return _RATE.call(column, carry)


@aggregate(sample("float", gives="double"))
def increase(column: ColumnOrName, *, carry: Duration | None = None) -> Call:
    """How much a counter has counted in the window, also where it began anew.

    Parameters
    ----------
    column
        A number that only rises, until it begins anew at 0: a column's name or a Column.
    carry
        Also count from the last reading before the window, if it is at most this much older than
        the next one: a duration. Increases of windows that do not overlap then add up to the whole.

    Returns
    -------
    Call
        Of the type that a sum has: a bigint for whole numbers, a double or a decimal for others. 0
        if there is nothing to compare the only reading with, null if the window has none.

    Raises
    ------
    FanlightError
        As :func:`integral`. Where the counter falls below 0, Spark raises an error as it runs.

    Notes
    -----
    Where the counter falls, it has begun anew, and what it shows then is counted from 0. Rows where
    the column is null are left out. With ``carry`` two readings further apart than that count
    nothing.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (8, 40), (12, 50), (14, 6) as t(at, requests)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> found = windows.agg(plain=agg.increase("requests"), all=agg.increase("requests", carry=5))
    >>> [(row.plain, row.all) for row in found.orderBy("window").collect()]
    [(0, 0), (6, 16)]

    """
    return _INCREASE.call(column, carry)


@aggregate(sample("boolean", gives="double"))
def duration(condition: Condition, *, carry: Duration | None = None) -> Call:
    """For how long a condition holds: the time in a state, of readings of it.

    Parameters
    ----------
    condition
        A column's name or a Column that is true or false: ``F.col("state") == "on"``.
    carry
        How long a reading holds at most, also beyond the edge of a window, as for
        :func:`integral`.

    Returns
    -------
    Call
        A double, the seconds (units of a numeric time); null if there is no reading, with ``carry``
        if none holds.

    Raises
    ------
    FanlightError
        As :func:`integral`.

    Notes
    -----
    A reading holds until the next one of the window, and with ``carry`` until the next one. Rows
    where the condition is null are left out. Of events that last, their seconds that lie in the
    window are added up, of those for which the condition is true.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (4, 'on'), (9, 'off'), (27, 'on') as t(at, state)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> on = agg.duration(df["state"] == "on", carry=100)
    >>> [row.on for row in windows.agg(on=on).orderBy("window").collect()][:3]
    [5.0, 0.0, 3.0]

    """
    return _DURATION.call(condition, carry)
