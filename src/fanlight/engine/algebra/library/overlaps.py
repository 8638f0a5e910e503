"""Events that last: how much of them lies in a window, and how many are running at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fanlight.engine.algebra.aggregate import Aggregate, Call
from fanlight.engine.algebra.collections import Collect
from fanlight.engine.algebra.monoids import WholeArea
from fanlight.engine.algebra.registry import aggregate, sample

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


# An event begins and ends at an edge, in this order at one instant: others end, events begin, those
# without duration end.
@dataclass(frozen=True)
class AtOnce(Collect):
    """The numbers of running events, ``n``, each with the time from which and to which it holds."""

    value: str = "named_struct('begins', {begins}, 'ends', {ends}, 'n', 1L)"
    at_once: ClassVar[bool] = True


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


@aggregate(sample(gives="struct<running:bigint,at:bigint>"))
def peak() -> Call:
    """The most events that are running at once within the window, and since when.

    Returns
    -------
    Call
        A struct: ``running``, a bigint, and ``at``, the first instant at which so many are running,
        of the time column's type; null where there is none.

    Raises
    ------
    FanlightError
        By the windows' agg: if rows are at an instant and not events that last, or the time
        is a double.

    Notes
    -----
    An event is running from its start until before its stop; one without duration at its instant.
    Rows whose start or stop is null are in no window.

    Examples
    --------
    >>> from fanlight import agg
    >>> stays = spark.sql("select * from values (0, 4), (3, 12), (4, 6) as t(start, stop)")
    >>> windows = fl.over(stays, fl.Sliding(10), time=("start", "stop"))
    >>> [row.a for row in windows.agg(a=agg.peak()).orderBy("window").collect()]
    [Row(running=2, at=3), Row(running=1, at=10)]

    """
    return Call(_PEAK, ())
