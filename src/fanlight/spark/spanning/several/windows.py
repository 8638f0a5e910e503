"""Several windows over events that last: the request, checked, planned, and built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from fanlight.algebra.aggregate import Call
from fanlight.plan.explain_spanning_several import explain_several
from fanlight.plan.spanning import load_of
from fanlight.plan.spanning_several import SeveralPlan, check_several_strategy, plan_several
from fanlight.spark.fields import Fields, collect_calls, fields_of
from fanlight.spark.granular import results
from fanlight.spark.granular.apart import apart
from fanlight.spark.rejected import rejected_rows
from fanlight.spark.spanning.hints import Hints, length_of
from fanlight.spark.spanning.several import batch, stream
from fanlight.spark.spanning.several.binding import SeveralBound, bind
from fanlight.spark.windowed import Windowed, analysed, asked_for, check_hints
from fanlight.spec.errors import refuse

if TYPE_CHECKING:
    from datetime import timedelta

    from pyspark.sql import DataFrame


class SeveralWindows(Windowed):
    """Events that last, seen through several windows at once; made by :func:`fanlight.over`.

    The windows are the levels of a :class:`fanlight.MultiGranular`, or a list of
    :class:`fanlight.Sliding`.
    """

    __slots__ = ("_bound", "_hints")

    def __init__(self, bound: SeveralBound, hints: Hints | None = None) -> None:
        self._bound = bound
        self._hints = hints or Hints()

    @classmethod
    def open(cls, df: Any, spec: Any, time: Any, by: Any, tiebreak: Any) -> SeveralWindows:
        """Check the request against the DataFrame."""
        return cls(bind(df, spec, time, by, tiebreak))

    def using(
        self,
        strategy: str = "auto",
        *,
        rate: float | None = None,
        groups: float | None = None,
        duration: str | timedelta | float | None = None,
    ) -> SeveralWindows:
        """Force a technique, or tell the cost model what to expect.

        Parameters
        ----------
        strategy
            ``"auto"`` (the cheapest by the cost model), ``"levels"`` (batch: two marks an event
            and level), ``"cells"`` (events of the same windows are added up once for all levels),
            ``"aggregate-buckets"`` (each event into each window) or ``"separate"`` (each level by
            itself, for comparison: the source is read once for each).
        rate
            Events per second over all keys (per unit of a numeric time).
        groups
            How many distinct keys.
        duration
            How long events last on average: a duration, or a number for a numeric time. Without
            it, as long as a window of the first level.

        Raises
        ------
        FanlightError
            If the strategy is unknown, or a hint is not positive.

        Examples
        --------
        >>> import fanlight as fl
        >>> calls = spark.sql("SELECT timestamp_seconds(id) AS a, timestamp_seconds(id + 90) AS b "
        ...     "FROM range(600)")
        >>> spec = fl.MultiGranular(["1 minute", "4 minutes"], ["1 minute", "2 minutes"])
        >>> windows = fl.over(calls, spec, time=("a", "b")).using("cells", duration="90 seconds")
        >>> windows.agg(fl.agg.count()).groupBy("level").count().orderBy("level").collect()
        [Row(level=0, count=12), Row(level=1, count=7)]

        """
        check_hints(rate=rate, groups=groups)
        return SeveralWindows(
            self._bound,
            self._hints.told(
                check_several_strategy(strategy),
                rate,
                groups,
                length_of(duration, self._bound.spec),
            ),
        )

    def agg(self, *aggregates: Call, **named: Call) -> DataFrame:
        """One row a window, key and level: the ``by`` columns, ``window``, ``level``, aggregates.

        For a list of windows the column is ``query``: the place in the list. An event is in each
        window of each level that shares an instant with it, once; with an ``offset``, only what of
        it lies behind that counts. In a stream each row is emitted once, at the window's end + TTP;
        an event that comes after the first of its windows, of any level, is late, and dropped
        whole.

        Cost: one pass over the source. In a batch two insertions an event and level, however long
        it lasts; with cells, and in a stream, one insertion an event for all levels together.

        Raises
        ------
        FanlightError
            As for one kind of windows over events that last; in a stream also with
            ``changes_only``.

        Examples
        --------
        >>> import fanlight as fl
        >>> from fanlight import agg
        >>> calls = spark.sql("SELECT timestamp_seconds(id) AS a, timestamp_seconds(id + 90) AS b "
        ...     "FROM range(600)")
        >>> spec = fl.MultiGranular(["1 minute", "4 minutes"], ["1 minute", "2 minutes"])
        >>> running = fl.over(calls, spec, time=("a", "b")).agg(calls=agg.count())
        >>> running.orderBy("window.end", "level").select("level", "calls").take(3)
        [Row(level=0, calls=60), Row(level=0, calls=120), Row(level=1, calls=120)]

        See Also
        --------
        Suzanne et al., *Slicing Techniques for Temporal Aggregation in Spanning Event Streams*;
        Patroumpas and Sellis, *Multi-granular Time-based Sliding Windows over Data Streams*.

        """
        bound = self._bound
        calls = collect_calls(bound, aggregates, named, bound.own)
        fields, plan = self._planned(calls)
        return analysed(lambda: self._built(calls, fields, plan), asked_for(calls))

    def _built(self, calls: Sequence[Call], fields: Fields, plan: SeveralPlan) -> DataFrame:
        bound = self._bound
        if plan.chosen.strategy == "separate":
            return apart(bound, (bound.start, bound.time), calls)
        build = stream.windows if bound.df.isStreaming else batch.windows
        found = results.lowered(bound, fields, build(bound, fields, plan))
        labels = [output.label for output in fields.outputs]
        if bound.changes_only:
            found = results.changed(bound, found, len(labels))
        return results.finished(bound, found, labels)

    def explain(self, *aggregates: Call, **named: Call) -> str:
        """The strategy, why, and the estimated cost of each candidate.

        Without aggregates, for ``count(*)``.

        Examples
        --------
        >>> import fanlight as fl
        >>> calls = spark.sql("SELECT timestamp_seconds(id) AS a, timestamp_seconds(id + 90) AS b "
        ...     "FROM range(600)")
        >>> spec = fl.MultiGranular(["1 minute", "4 minutes"], ["1 minute", "2 minutes"])
        >>> print(fl.over(calls, spec, time=("a", "b")).explain())
        ... # doctest: +ELLIPSIS
        MultiGranular(['1 minute', '4 minutes'], ['1 minute', '2 minutes']) over events from 'a' ...

        """
        from fanlight.algebra.library import count

        asked = aggregates or (() if named else (count(),))
        bound = self._bound
        calls = collect_calls(bound, asked, named, bound.own)
        _, plan = self._planned(calls)
        return explain_several(
            plan,
            bound.spec,
            bound.label,
            bound.labels,
            (bound.start, bound.time),
            list(bound.names),
            [call.label for call in calls],
            bound.ttp,
        )

    def fit(self, *_: Any, **__: Any) -> NoReturn:
        """Refused: a trend line is through points."""
        pair, stop = (self._bound.start, self._bound.time), self._bound.time
        raise refuse(
            f"fit over time={pair!r}",
            "is a line through points in time, and events that last have none",
            f"write time={stop!r} for a line over the stops, or agg.linear_fit(…)",
        )

    def recurring(self, *_: Any, **__: Any) -> NoReturn:
        """Refused: the intervals between levels take an item each at one instant."""
        pair, stop = (self._bound.start, self._bound.time), self._bound.time
        raise refuse(
            f"recurring over time={pair!r}",
            "asks in which interval an item was seen, and an event that lasts may be in several",
            f"write time={stop!r}, or agg.heavy_hitters(…) a level",
        )

    def rejected(self) -> DataFrame:
        """The events that are in no window, with a column ``reason``."""
        return rejected_rows(self._bound)

    def _planned(self, calls: Sequence[Call]) -> tuple[Fields, SeveralPlan]:
        bound, hints = self._bound, self._hints
        fields = fields_of(bound, calls)
        loads = [
            load_of(
                axis,
                rate=hints.rate,
                groups=hints.groups_of(bound),
                length=hints.coordinates(bound.axis),
                finest=bound.axis,
            )
            for axis in bound.axes
        ]
        together = ""
        if bound.since is not None or bound.changes_only:
            together = "an initiation time and changes_only are not said level by level"
        plan = plan_several(
            bound.axes,
            [field.facts for field in fields.all],
            loads,
            strategy=hints.strategy,
            streaming=bound.df.isStreaming,
            together=together,
        )
        return fields, plan

    def __repr__(self) -> str:
        pair = (self._bound.start, self._bound.time)
        return f"SeveralWindows({self._bound.spec!r} over {pair!r})"
