"""Frames that end once an aggregate has reached a limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from fanlight.engine.spec.arguments import check_flag, read_exact, read_positive
from fanlight.engine.spec.errors import explain_wrong_calls, is_column, refuse, show
from fanlight.engine.spec.frames.base import (
    Frame,
    Guarantee,
    Input,
    Least,
    Most,
    describe_crossing,
    read_optional_sizes,
    set_fields,
    write_crossing,
    write_sizes,
)
from fanlight.engine.spec.frames.limits import RUNNING, Formula, read_formula
from fanlight.types import Calls, Duration, Limit

_LIMIT = "limit of a row"


@dataclass(frozen=True, init=False)
class AggregateFrame(Frame):
    """A new frame begins once an aggregate over the frame has reached a limit.

    Parameters
    ----------
    aggregate
        One that grows as rows come in: ``agg.count``, ``agg.sum`` (of what is not negative),
        ``agg.max``, ``agg.count_distinct``; or a list of several.
    limit
        The limit, or one for each aggregate; the frame ends when any is reached. A number; or SQL
        text or a Column, calculated for each row. A null is not reached, nor any limit by a count
        of nothing.

        The text may ask for exponential means of what came before in the key: ``mean_rows(n)`` of
        the numbers of rows of its last ``n`` frames, ``mean_value(n)`` of the last ``n`` values of
        the column that the aggregate watches. The one that is ``k`` back weighs
        ``(1 - 2 / (n + 1)) ** k``. With a second number, ``mean_value(n, m)``, a mean is null
        before there are ``m`` (by default, one). A frame takes the means of the rows and frames
        before it; those that are null, of the rows up to each of its own rows, until they are not.
        With a mean, the limit is a double, and the text arithmetic: ``+ - * /``, ``abs``,
        ``greatest``, ``least`` and ``coalesce``; what has no mean may be any SQL. Dividing by zero
        gives null.
    include_crossing
        ``True``: the row that reaches the limit is the last of its frame (the paper's Table 3).
        ``False``: it begins the next frame, and all frames stay below the limit; a row that reaches
        the limit alone is then in no frame.
    strict
        The frame ends only once an aggregate is beyond its limit.
    absolute
        What is held against the limit is how far the aggregate is from 0: ``agg.sum`` of positive
        and negative values, or ``agg.avg`` with ``may_fall``.
    below
        The frame ends once an aggregate has fallen to its limit: ``agg.min``, ``agg.sum`` (of what
        is not positive, to a negative limit), or ``agg.avg`` with ``may_fall``.
    may_fall
        Allow aggregates that can fall again (``agg.avg``, a variance or deviation): the frame then
        ends when the running value *first* reaches the limit. Without it they are refused.
    min_rows, min_duration, max_rows, max_duration, max_gap
        The least and the greatest size of a frame, as for :class:`ThresholdFrame`.

    Raises
    ------
    FanlightError
        If an aggregate has no running value or may fall, or a limit is neither a positive number
        nor SQL that gives numbers.

    See Also
    --------
    Grossniklaus et al., *Frames*, 3.2 (aggregate frames) and 5.2.4.

    Examples
    --------
    >>> import fanlight as fl
    >>> fl.AggregateFrame(fl.agg.sum("bytes"), 1_000_000)
    AggregateFrame(sum(bytes), 1000000)
    >>> fl.AggregateFrame(  # imbalance bars
    ...     fl.agg.sum("signed"),
    ...     "coalesce(mean_rows(3), 20000) * abs(mean_value(10000, 20000))",
    ...     strict=True,
    ...     absolute=True,
    ... )
    AggregateFrame(sum(signed), 'coalesce(mean_rows(3), 20000) * abs(mean_value(10000, 20000))', \
strict=True, absolute=True)
    >>> fl.AggregateFrame(fl.agg.avg("bytes"), 10)
    Traceback (most recent call last):
    ...
    fanlight.FanlightError: AggregateFrame(avg(bytes), 10) watches a value that can \
fall again, so that 'the limit is reached' could mean several things; pass may_fall=True: the \
frame then ends when the running value first reaches it

    """

    scheme_cause: ClassVar[str] = "limit"
    aggregates: tuple[Any, ...]
    limits: tuple[Fraction | Formula, ...]
    include_crossing: bool
    below: bool
    least: Least | None
    most: Most | None
    strict: bool
    absolute: bool

    @explain_wrong_calls("fl.AggregateFrame(agg.sum('bytes'), 1_000_000)")
    def __init__(
        self,
        aggregate: Calls,
        limit: Limit | Sequence[Limit],
        *,
        include_crossing: bool = True,
        below: bool = False,
        strict: bool = False,
        absolute: bool = False,
        may_fall: bool = False,
        min_rows: int = 1,
        min_duration: Duration | None = None,
        max_rows: int | None = None,
        max_duration: Duration | None = None,
        max_gap: Duration | None = None,
    ) -> None:
        check_flag("include_crossing", include_crossing)
        for name, flag in (("below", below), ("strict", strict), ("absolute", absolute)):
            check_flag(name, flag)
        check_flag("may_fall", may_fall)
        aggregates = tuple(aggregate) if isinstance(aggregate, (list, tuple)) else (aggregate,)
        limits = tuple(limit) if isinstance(limit, (list, tuple)) else (limit,)
        if not aggregates or len(aggregates) != len(limits):
            raise refuse(
                f"AggregateFrame of {len(aggregates)} aggregates and {len(limits)} limits",
                "cannot match them one to one",
                "give one limit for each aggregate",
            )
        pairs = list(zip(aggregates, limits, strict=True))
        for call, value in pairs:
            _check_aggregate(call, value, below=below, absolute=absolute, may_fall=may_fall)
        exact = tuple(_read_limit(*pair, below=below, absolute=absolute) for pair in pairs)
        sizes = read_optional_sizes(min_rows, min_duration, max_rows, max_duration, max_gap)
        set_fields(
            self,
            aggregates=aggregates,
            limits=exact,
            include_crossing=include_crossing,
            below=below,
            strict=strict,
            absolute=absolute,
            **sizes,
        )

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The arguments of the aggregates, and what limits are calculated from."""
        calls = [Input(call.label, column) for call in self.aggregates for column in call.columns]
        return (
            *calls,
            *(Input("limit", text, _LIMIT) for one in self.formulas for text in one.rows),
        )

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """The limits that are calculated."""
        return tuple(limit for limit in self.limits if isinstance(limit, Formula))

    @property
    def scheme_ends(self) -> str:
        """Where the scheme ends a frame, in words."""
        if self.strict:
            reached = "fallen below" if self.below else "exceeded"
        else:
            reached = "fallen to" if self.below else "reached"
        limit = "its limit, on either side of 0" if self.absolute else "its limit"
        return f"once an aggregate has {reached} {limit}{describe_crossing(self.include_crossing)}"

    @property
    def scheme_guarantees(self) -> frozenset[Guarantee]:
        """Unique (Lemma 2); a partition, except for rows that alone reach the limit."""
        some: frozenset[Guarantee] = frozenset({"unique", "drained", "non-overlapping"})
        return some | {"partitions"} if self.include_crossing else some

    def __repr__(self) -> str:
        names = [call.label for call in self.aggregates]
        numbers = [
            repr(limit) if isinstance(limit, Formula) else str(_as_number(limit))
            for limit in self.limits
        ]
        one = len(names) == 1
        shown = (
            f"{names[0]}, {numbers[0]}" if one else f"[{', '.join(names)}], [{', '.join(numbers)}]"
        )
        more = write_crossing(self.include_crossing, default=True)
        flags = {"below": self.below, "strict": self.strict, "absolute": self.absolute}
        more += "".join(f", {name}=True" for name, flag in flags.items() if flag)
        more += write_sizes(self)
        return f"AggregateFrame({shown}{more})"


def _as_number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def _read_limit(call: Any, value: Any, *, below: bool, absolute: bool) -> Fraction | Formula:
    about = f"limit={value!r} of {call.label}"
    if isinstance(value, str) or is_column(value):
        return _read_formula(call, value)
    if absolute:
        return read_positive(about, value, "limit=1000", what="limit")
    if below:
        exact = read_exact(about, value, "limit=-1000")
        if RUNNING[call.aggregate.watched].positive and exact >= 0:
            raise refuse(about, "is not below 0, where a sum begins", "write limit=-1000")
        return exact
    if RUNNING[call.aggregate.watched].positive:
        return read_positive(about, value, "limit=1000", what="limit")
    return read_exact(about, value, "limit=1000")


def _read_formula(call: Any, value: Any) -> Formula:
    formula = read_formula(value)
    counted = call.aggregate.watched in ("count", "distinct")
    if counted and any(mean.of == "value" for mean in formula.means):
        raise refuse(
            f"limit={value!r} of {call.label}",
            "asks for the mean of values, but what is counted has none",
            "write mean_rows, or watch agg.sum",
        )
    return formula


def _check_aggregate(call: Any, value: Any, *, below: bool, absolute: bool, may_fall: bool) -> None:
    if is_column(call):  # which has any attribute that one asks it for
        raise refuse(
            f"AggregateFrame({show(call)}, {show(value)})",
            "watches a Column of Spark's, and a limit is held against an aggregate row by row",
            "write for example fl.AggregateFrame(agg.sum('bytes'), 1_000_000)",
        )
    watched = getattr(getattr(call, "aggregate", None), "watched", None)
    if watched is None:
        raise refuse(
            f"AggregateFrame({call!r}, {value!r})",
            "watches something that is not an aggregate of fanlight",
            "write for example agg.sum('bytes') after 'from fanlight import agg'",
        )
    about = f"AggregateFrame({call.label}, {value!r})"
    if call.conditions:
        raise refuse(
            about,
            "watches some rows only, but a limit is on all rows of a frame",
            "compute a column that is null in the other rows, and watch that: "
            "df.withColumn('some', F.expr('if(condition, value, null)'))",
        )
    running = RUNNING[watched]
    if absolute and (below or not running.absolute):
        raise refuse(
            f"{about}, absolute=True",
            "holds the limit against how far a value is from 0, which is for agg.sum and agg.avg, "
            "and without below=True",
            "leave absolute out",
        )
    if below and not running.below:
        raise refuse(
            f"{about}, below=True",
            "ends a frame once its value has fallen to the limit, but a "
            f"{call.aggregate.name} does not fall, or is not followed so",
            "choose agg.min, agg.sum or agg.avg, or leave below out",
        )
    if running.why_not and not below:
        why = f"but a {call.aggregate.name} {running.why_not}"
        others = ", ".join(call.watchable)
        raise refuse(
            about,
            f"ends a frame once its value has reached the limit, {why}",
            f"{running.instead}choose one of {others}, or write a PredicateFrame",
        )
    if running.falls and not may_fall:
        raise refuse(
            about,
            "watches a value that can fall again, so that 'the limit is reached' could mean "
            "several things",
            "pass may_fall=True: the frame then ends when the running value first reaches it",
        )
