"""Multi-granular windows: several nested horizons over one stream."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, get_args

from fanlight.engine.spec.arguments import check_choice, check_flag
from fanlight.engine.spec.calendar import (
    WEEKDAYS,
    Calendar,
    check_zone,
    has_months,
    read_units,
    refuse_week_starts,
)
from fanlight.engine.spec.decay import Decay
from fanlight.engine.spec.errors import explain_wrong_calls, refuse
from fanlight.engine.spec.pictures import Pictured
from fanlight.engine.spec.sliding import Sliding, make_windows
from fanlight.engine.spec.units import (
    Extent,
    Measure,
    Rows,
    read_extent,
    write_duration,
    write_units,
)
from fanlight.types import Length, Report, Weekday

Read = Callable[[str, object], Extent]


@dataclass(frozen=True)
class Level:
    """One horizon: its number, and its sliding windows."""

    number: int
    windows: Sliding


class MultiGranular(Pictured):
    """Nested horizons, each with its own slide: level *k* is the last ``ranges[k]``.

    Level *k* is reported at every multiple of ``slides[k]``, counted from ``offset``, as the window
    ``[t - ranges[k], t)``, if at least one row lies in it. Each row is read once, however many
    levels there are.

    Parameters
    ----------
    ranges
        The length of each level, finest first, strictly growing: durations where ``time`` is a
        timestamp, numbers where it is numeric, ``fl.Rows(n)`` for the last *n* rows of a key.
    slides
        How often each level is reported, never shrinking; each divides its range.
    offset
        The initiation time (the paper's τ0), of the same kind: for durations the time since
        1970-01-01 00:00 UTC, for numbers the number itself, for rows how many of each key come
        before. Reports are counted from it, rows before it are in no window,
        and the first windows begin there, shorter than the others. ``None``: reports are counted
        from 0, and nothing is cut off.
    report
        ``"periodic"``: each level at its own slide. ``"continuous"``: every level, and every
        horizon of ``horizons``, at each multiple of the finest slide: windows end there, whatever
        their length.
    horizons
        Further lengths to report, in the continuous mode; none beyond the widest level. Their
        ``level`` is the first one that covers them.
    weights
        Aging: one weight per level, or :func:`fanlight.decay`. A row counts with the weight of the
        finest level that it is in at the time of the report. For counts, sums and means, which
        become doubles.
    changes_only
        Report a level only if one of its values differs from the previous report (doubles: by more
        than 1e-9 of it), or if the previous report had no window.
    zone
        Days, weeks, months, quarters and years are those of this zone's calendar, as in
        :class:`fanlight.Calendar`: the day, the month and the year to each midnight. ``None``: a
        day is 24 hours; with months, times are local already.
    week_starts
        With which day weeks of a calendar begin.

    Raises
    ------
    FanlightError
        If ranges do not grow, slides shrink, a range is not a multiple of its slide, the lists
        differ in length or have only one level, kinds of unit are mixed (months with days, too),
        weights do not fit, a calendar has an initiation time, or a horizon exceeds the widest
        level. The message names the level and the value.

    See Also
    --------
    Patroumpas and Sellis, *Multi-granular Time-based Sliding Windows over Data Streams*, III.A
    (levels, scope, τ0), III.C (reporting), IV.A (aging).

    Examples
    --------
    >>> import fanlight as fl
    >>> fl.MultiGranular(["1 minute", "1 hour"], ["1 second", "5 minutes"])
    MultiGranular(['1 minute', '1 hour'], ['1 second', '5 minutes'])
    >>> fl.MultiGranular(["1 hour", "100 minutes"], ["5 minutes", "7 minutes"])
    Traceback (most recent call last):
    ...
    fanlight.FanlightError: ranges[1]='100 minutes' is not a multiple of \
slides[1]='7 minutes'; write ranges[1]='98 minutes', or another slide

    """

    __slots__ = (
        "changes_only", "horizons", "offset", "ranges", "report", "slides", "week_starts",
        "weights", "zone",
    )  # fmt: skip
    ranges: tuple[Extent, ...]
    slides: tuple[Extent, ...]
    offset: Extent | None
    report: Report
    horizons: tuple[Extent, ...]
    weights: tuple[float, ...] | None
    changes_only: bool
    zone: str | None
    week_starts: Weekday | None  # None without a calendar

    @explain_wrong_calls("fl.MultiGranular(['1 minute', '1 hour'], ['1 second', '5 minutes'])")
    def __init__(
        self,
        ranges: Sequence[Length],
        slides: Sequence[Length],
        *,
        offset: Length | None = None,
        report: Report = "periodic",
        horizons: Sequence[Length] = (),
        weights: Sequence[float] | Decay | None = None,
        changes_only: bool = False,
        zone: str | None = None,
        week_starts: Weekday = "monday",
    ) -> None:
        first = check_choice("week_starts", week_starts, WEEKDAYS, "a day of the week")
        local = zone is not None or _have_months(ranges)
        if not local and first != "monday":
            raise refuse_week_starts(first)
        read = read_units if local else read_extent
        lengths, steps = (
            _read_lengths("ranges", ranges, read),
            _read_lengths("slides", slides, read),
        )
        _check_lists(lengths, steps)
        _check_measures(lengths, steps)
        _check_nesting(lengths, steps)
        check_choice("report", report, get_args(Report), "a way to report")
        check_flag("changes_only", changes_only)
        set_once = object.__setattr__
        set_once(self, "ranges", lengths)
        set_once(self, "slides", steps)
        if local and offset is not None:
            raise refuse(
                f"offset={offset!r} with zone={zone!r}",
                "is an initiation time, and levels of a calendar are counted from 1970",
                "leave it out, and filter the rows from before it",
            )
        set_once(self, "zone", check_zone(zone))
        set_once(self, "week_starts", first if local else None)
        set_once(self, "offset", None if offset is None else _read_offset(offset, lengths[0]))
        set_once(self, "report", report)
        set_once(self, "horizons", _read_horizons(horizons, lengths, report, read))
        set_once(self, "weights", _read_weights(weights, lengths, report))
        set_once(self, "changes_only", changes_only)

    @property
    def measure(self) -> Measure:
        """What the levels are measured in: ``"time"``, ``"number"`` or ``"rows"``."""
        return self.ranges[0].measure

    @property
    def levels(self) -> tuple[Level, ...]:
        """What is reported: each level with its windows, then the further horizons."""
        steps = self.slides
        if self.report == "continuous":
            steps = (self.slides[0],) * len(self.slides)
        pairs = zip(self.ranges, steps, strict=True)
        levels = [Level(k, self._make_windows(r, s)) for k, (r, s) in enumerate(pairs)]
        for horizon in self.horizons:
            covers = next(k for k, r in enumerate(self.ranges) if r.value >= horizon.value)
            levels.append(Level(covers, self._make_windows(horizon, self.slides[0])))
        return tuple(levels)

    @property
    def subwindows(self) -> tuple[Sliding, ...]:
        """The levels as the paper's subwindows, each with its own slide."""
        return tuple(
            self._make_windows(r, s) for r, s in zip(self.ranges, self.slides, strict=True)
        )

    def _make_windows(self, length: Extent, step: Extent) -> Sliding:
        """Windows of a length that end at each multiple of a step, counted from the offset."""
        start = self.offset or Extent(length.measure, Fraction(0), "0")
        if (
            ahead := -length.value % step.value
        ):  # ends are multiples of the step, so starts lie between two
            moved = start.value + ahead
            start = Extent(length.measure, moved, _write_length(moved, length))
        if self.week_starts is None:
            return make_windows(Sliding, length, step, start, "left")
        placed = (0, self.zone, self.week_starts, None)
        return make_windows(Calendar, length, step, start, "left", *placed)

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"MultiGranular is frozen: make a new one instead of setting {name}"
        raise AttributeError(msg)

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, tuple(getattr(self, name) for name in self.__slots__)

    def _key(self) -> tuple[object, ...]:
        def comparable(part: Any) -> object:
            if isinstance(part, Extent):
                return part.measure, part.value
            return tuple(map(comparable, part)) if isinstance(part, tuple) else part

        return tuple(comparable(getattr(self, name)) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MultiGranular) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        parts = [_write_list(self.ranges), _write_list(self.slides)]
        if self.offset is not None:
            parts.append(f"offset={self.offset}")
        if self.report != "periodic":
            parts.append(f"report={self.report!r}")
        if self.horizons:
            parts.append(f"horizons={_write_list(self.horizons)}")
        if self.weights is not None:
            parts.append(f"weights={list(self.weights)}")
        if self.changes_only:
            parts.append("changes_only=True")
        if self.zone is not None:
            parts.append(f"zone={self.zone!r}")
        if self.week_starts not in (None, "monday"):
            parts.append(f"week_starts={self.week_starts!r}")
        return f"MultiGranular({', '.join(parts)})"


def _restore(*parts: object) -> MultiGranular:
    spec = object.__new__(MultiGranular)
    for name, part in zip(MultiGranular.__slots__, parts, strict=True):
        object.__setattr__(spec, name, part)
    return spec


def _write_list(extents: Sequence[Extent]) -> str:
    return "[" + ", ".join(map(str, extents)) + "]"


def _write_length(value: Fraction, like: Extent) -> str:
    """A length in Python, as a user would write it."""
    if like.measure == "time":
        return repr(write_duration(int(value)))
    if like.measure in ("months", "hours"):
        return repr(write_units(int(value), in_months=like.measure == "months"))
    if like.measure == "rows":
        return f"fl.Rows({int(value)})"
    return repr(int(value) if value.denominator == 1 else float(value))


def _have_months(ranges: Any) -> bool:
    """Whether levels are in months, so that only a calendar can place their windows."""
    listed = isinstance(ranges, Sequence) and not isinstance(ranges, str)
    return listed and all(has_months(f"ranges[{k}]", one) for k, one in enumerate(ranges))


def _read_lengths(argument: str, given: object, read: Read) -> tuple[Extent, ...]:
    if isinstance(given, (str, Rows)) or not isinstance(given, Sequence):
        raise refuse(
            f"{argument}={given!r}",
            "is not a list with a length for each level",
            f"write for example {argument}=['1 minute', '10 minutes']",
        )
    return tuple(read(f"{argument}[{k}]", one) for k, one in enumerate(given))


def _check_lists(lengths: Sequence[Extent], steps: Sequence[Extent]) -> None:
    if len(lengths) != len(steps):
        raise refuse(
            f"ranges={_write_list(lengths)} with slides={_write_list(steps)}",
            f"name {len(lengths)} ranges but {len(steps)} slides",
            "give each level a range and a slide",
        )
    if not lengths:
        raise refuse(
            "ranges=[]", "lists no level", "write for example ranges=['1 minute', '1 hour']"
        )
    if len(lengths) == 1:
        raise refuse(
            f"ranges={_write_list(lengths)}",
            "has only one level",
            f"write fl.Sliding({lengths[0]}, {steps[0]}), or add a level",
        )


_OR_LIST = "; or list windows: fl.Calendar('1 month', '1 day', zone='UTC') beside days"


def _check_measures(lengths: Sequence[Extent], steps: Sequence[Extent]) -> None:
    first = lengths[0]
    for argument, parts in (("ranges", lengths), ("slides", steps)):
        for k, part in enumerate(parts):
            if part.measure != first.measure:
                mixed = {part.measure, first.measure} == {"months", "hours"}
                raise refuse(
                    f"{argument}[{k}]={part}",
                    f"is {part.kind_in_words}, but ranges[0]={first} is {first.kind_in_words}",
                    "give all levels in the same kind of unit" + (_OR_LIST if mixed else ""),
                )


def _check_nesting(lengths: Sequence[Extent], steps: Sequence[Extent]) -> None:
    for k, (length, step) in enumerate(zip(lengths, steps, strict=True)):
        shorter = lengths[k - 1].value if k else Fraction(0)
        if k and length.value <= shorter:
            if all(a.value > b.value for a, b in pairwise(lengths)):
                turned = (sorted(parts, key=lambda one: one.value) for parts in (lengths, steps))
                lists = (", ".join(_write_length(one.value, one) for one in o) for o in turned)
                hint = f"list the finest level first: fl.MultiGranular([{'], ['.join(lists)}])"
            else:
                whole = (math.floor(shorter / step.value) + 1) * step.value
                hint = f"write for example ranges[{k}]={_write_length(whole, length)}"
            raise refuse(
                f"ranges[{k}]={length}", f"does not exceed ranges[{k - 1}]={lengths[k - 1]}", hint
            )
        if k and step.value < steps[k - 1].value:
            raise refuse(
                f"slides[{k}]={step}",
                f"is shorter than slides[{k - 1}]={steps[k - 1]}",
                f"write slides[{k}]={_write_length(steps[k - 1].value, step)} or longer",
            )
        if length.value % step.value:
            near = max(round(length.value / step.value), 1) * step.value
            if near <= shorter:
                near = (math.floor(shorter / step.value) + 1) * step.value
            raise refuse(
                f"ranges[{k}]={length}",
                f"is not a multiple of slides[{k}]={step}",
                f"write ranges[{k}]={_write_length(near, length)}, or another slide",
            )


def _read_offset(given: object, like: Extent) -> Extent:
    start = read_extent("offset", given, positive=False)
    if start.measure == like.measure:
        return start
    whole = start.measure == "number" and start.value % 1 == 0
    if start.value == 0 or (whole and like.measure == "rows"):
        return Extent(like.measure, start.value, start.text)
    raise refuse(
        f"offset={start}",
        f"is {start.kind_in_words}, but ranges[0]={like} is {like.kind_in_words}",
        "give it in the same kind, or leave it out",
    )


def _read_horizons(
    given: object, lengths: Sequence[Extent], report: str, read: Read
) -> tuple[Extent, ...]:
    if isinstance(given, (str, Rows)) or not isinstance(given, Sequence):
        raise refuse(
            f"horizons={given!r}", "is not a list", "write for example horizons=['5 minutes']"
        )
    horizons = tuple(read(f"horizons[{h}]", one) for h, one in enumerate(given))
    if horizons and report != "continuous":
        raise refuse(
            f"horizons={_write_list(horizons)}",
            "have no slides of their own, so they can only be reported continuously",
            "add report='continuous', or make them levels",
        )
    widest = lengths[-1]
    for h, horizon in enumerate(horizons):
        named = f"horizons[{h}]={horizon}"
        if horizon.measure != widest.measure:
            why = f"is {horizon.kind_in_words}, but each level is {widest.kind_in_words}"
            raise refuse(named, why, "give it in the same kind")
        if horizon.value > widest.value:
            longest = _write_length(widest.value, widest)
            raise refuse(
                named,
                f"reaches beyond the widest level, ranges[{len(lengths) - 1}]={widest}",
                f"write horizons[{h}]={longest} or shorter, or add a level",
            )
        taken = {part.value for part in (*lengths, *horizons[:h])}
        if horizon.value in taken:
            raise refuse(named, "is already reported", "leave it out")
    return horizons


def _read_weights(
    given: object, lengths: Sequence[Extent], report: str
) -> tuple[float, ...] | None:
    if given is None:
        return None
    if isinstance(given, Decay):
        given = given.weigh(lengths)
    levels = len(lengths)
    example = [round(1 / (k + 1), 2) for k in range(levels)]
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != levels:
        more = ", or fl.decay(half_life)" if isinstance(given, str) else ""
        count = f"has {len(given)} weights" if isinstance(given, (list, tuple)) else "is not a list"
        raise refuse(
            f"weights={given!r}",
            f"{count} for {levels} levels",
            f"write for example {example}{more}",
        )
    for k, weight in enumerate(given):
        number = isinstance(weight, (int, float)) and not isinstance(weight, bool)
        if not number or not math.isfinite(weight) or weight < 0:
            raise refuse(
                f"weights[{k}]={weight!r}",
                "is not a number of at least 0",
                f"write for example weights[{k}]={example[k]}",
            )
    if report != "periodic":
        raise refuse(
            "weights with report='continuous'",
            "would weight rows by levels that are not reported at that time",
            "use report='periodic'",
        )
    return tuple(float(weight) for weight in given)
