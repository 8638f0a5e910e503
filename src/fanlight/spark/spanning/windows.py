"""Sliding windows over events that last: the request, checked, planned, and built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fanlight.algebra.aggregate import Call
from fanlight.algebra.monoids import Max, Min
from fanlight.plan.explain_spanning import explain_spanning
from fanlight.plan.spanning import (
    SpanningPlan,
    check_spanning_strategy,
    load_of,
    plan_spanning,
)
from fanlight.spark.fields import Fields, collect_calls, fields_of
from fanlight.spark.ordered import techniques
from fanlight.spark.rejected import rejected_rows
from fanlight.spark.spanning import batch, stream
from fanlight.spark.spanning.binding import SpanningBound, bind
from fanlight.spark.spanning.hints import Hints, length_of
from fanlight.spark.windowed import Windowed, analysed, asked_for, check_hints
from fanlight.spec.sliding import Sliding

if TYPE_CHECKING:
    from datetime import timedelta

    from pyspark.sql import DataFrame


class SpanningWindows(Windowed):
    """Events that last, seen through sliding windows; made by :func:`fanlight.over`, frozen."""

    __slots__ = ("_bound", "_hints")

    def __init__(self, bound: SpanningBound, hints: Hints | None = None) -> None:
        self._bound = bound
        self._hints = hints or Hints()

    @classmethod
    def open(cls, df: Any, spec: Sliding, time: Any, by: Any, tiebreak: Any) -> SpanningWindows:
        """Check the request against the DataFrame."""
        return cls(bind(df, spec, time, by, tiebreak))

    def using(
        self,
        strategy: str = "auto",
        *,
        rate: float | None = None,
        groups: float | None = None,
        duration: str | timedelta | float | None = None,
        height: int | None = None,
    ) -> SpanningWindows:
        """Force a technique, or tell the cost model what to expect.

        Parameters
        ----------
        strategy
            ``"auto"`` (the cheapest by the cost model); ours: ``"levels"`` (batch), ``"cells"``;
            the paper's: ``"aggregate-buckets"``, and in a Python operator, for comparison,
            ``"tuple-buckets"``, ``"cumulative-sweeping"`` (exact sums and counts),
            ``"selective-sweeping"`` (minima and maxima), ``"se-slicing"``, ``"se-ml-slicing"``.
        rate
            Events per second over all keys (per unit of a numeric time).
        groups
            How many distinct keys.
        duration
            How long events last on average: a duration, or a number for a numeric time. Without
            it, as long as a window.
        height
            The levels of ``"se-ml-slicing"``, at least 1.

        Raises
        ------
        FanlightError
            If the strategy is unknown, or a hint is not positive. Whether a strategy fits the
            aggregates is checked by :meth:`agg`.

        Examples
        --------
        >>> import fanlight as fl
        >>> calls = spark.sql("SELECT timestamp_seconds(id) AS a, timestamp_seconds(id + 90) AS b "
        ...     "FROM range(600)")
        >>> windows = fl.over(calls, fl.Sliding("4 minutes", "1 minute"), time=("a", "b"))
        >>> windows.using("cells", duration="90 seconds").agg(fl.agg.count()).count()
        15

        """
        check_hints(rate=rate, groups=groups)
        before = self._hints
        known, levels = check_spanning_strategy(
            strategy, before.height if height is None else height
        )
        length = length_of(duration, self._bound.spec)
        return SpanningWindows(self._bound, before.told(known, rate, groups, length, levels))

    def agg(self, *aggregates: Call, **named: Call) -> DataFrame:
        """One row a window and key: the ``by`` columns, ``window``, then the aggregates.

        An event ``[start, stop)`` is in each window that shares an instant with it, once. Where an
        aggregate needs an order or one instant of an event (first, collect_list, linear_fit), that
        is its stop, then its start.

        In a stream each row is emitted once, when the watermark on the stop passes the window's
        end: at the window's end + TTP. An event that arrives after its first window was released
        is late, and dropped whole.

        Cost: two insertions an event, however long it lasts; a window touches one partial a level,
        of which there are about log2 of its events' windows.

        Raises
        ------
        FanlightError
            As for windows over points; also if the forced technique cannot do an aggregate.

        Examples
        --------
        >>> import fanlight as fl
        >>> from fanlight import agg
        >>> calls = spark.sql("SELECT timestamp_seconds(id) AS a, timestamp_seconds(id + 90) AS b "
        ...     "FROM range(600)")
        >>> windows = fl.over(calls, fl.Sliding("4 minutes", "1 minute"), time=("a", "b"))
        >>> windows.agg(calls=agg.count()).orderBy("window").select("calls").take(3)
        [Row(calls=60), Row(calls=120), Row(calls=180)]

        See Also
        --------
        Suzanne et al., *Slicing Techniques for Temporal Aggregation in Spanning Event Streams*,
        sections 3 to 5.

        """
        calls = collect_calls(self._bound, aggregates, named)
        fields, plan = self._planned(calls)
        build = stream.spanning if self._bound.df.isStreaming else batch.spanning
        if plan.chosen.rollup == "operator":
            build = techniques.spanning
        return analysed(lambda: build(self._bound, fields, plan), asked_for(calls))

    def explain(self, *aggregates: Call, **named: Call) -> str:
        """The strategy, why, and the estimated cost of each candidate.

        Without aggregates, for ``count(*)``, which nearly every technique can do.

        Examples
        --------
        >>> import fanlight as fl
        >>> calls = spark.sql("SELECT timestamp_seconds(id) AS a, timestamp_seconds(id + 90) AS b "
        ...     "FROM range(600)")
        >>> print(fl.over(calls, fl.Sliding("9 minutes", "6 minutes"), time=("a", "b")).explain())
        ... # doctest: +ELLIPSIS
        Sliding('9 minutes', '6 minutes') over events from 'a' to 'b', batch
        ...

        """
        from fanlight.algebra.library import count

        asked = aggregates or (() if named else (count(),))
        calls = collect_calls(self._bound, asked, named)
        _, plan = self._planned(calls)
        bound = self._bound
        pair = (bound.start, bound.time)
        labels = [call.label for call in calls]
        return explain_spanning(plan, bound.spec, pair, list(bound.names), labels, bound.ttp)

    def rejected(self) -> DataFrame:
        """The events that are in no window, with a column ``reason``."""
        return rejected_rows(self._bound)

    def _planned(self, calls: Sequence[Call]) -> tuple[Fields, SpanningPlan]:
        fields = fields_of(self._bound, calls)
        plan = self._plan(fields)
        if plan.chosen.rollup == "operator":
            # An operator joins partials in Python, where sketches are exact counts instead.
            fields = fields_of(self._bound, calls, exact=True)
            plan = self._plan(fields)
        return fields, plan

    def _plan(self, fields: Fields) -> SpanningPlan:
        bound, hints, axis = self._bound, self._hints, self._bound.axis
        load = load_of(
            axis, rate=hints.rate, groups=hints.groups_of(bound), length=hints.coordinates(axis)
        )
        selective = [isinstance(field.monoid, (Min, Max)) for field in fields.all]
        return plan_spanning(
            axis,
            [field.facts for field in fields.all],
            selective,
            load,
            strategy=hints.strategy,
            height=hints.height,
            streaming=bound.df.isStreaming,
        )

    def __repr__(self) -> str:
        pair = (self._bound.start, self._bound.time)
        return f"SpanningWindows({self._bound.spec!r} over {pair!r})"
