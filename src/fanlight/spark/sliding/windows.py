"""Sliding windows over a DataFrame: the request, checked, planned, and built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fanlight.algebra.aggregate import Call
from fanlight.plan.cost import Workload
from fanlight.plan.explain_sliding import explain_sliding
from fanlight.plan.sliding import SlidingPlan, Strategy, check_strategy, plan_sliding
from fanlight.spark.fields import Fields, collect_calls, fields_of
from fanlight.spark.ordered import numbered
from fanlight.spark.rejected import rejected_rows
from fanlight.spark.sliding import batch, stream
from fanlight.spark.sliding.binding import SlidingBound, bind
from fanlight.spark.windowed import Windowed, analysed, asked_for, check_hints
from fanlight.spec.sliding import Sliding

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class SlidingWindows(Windowed):
    """A DataFrame seen through sliding windows; made by :func:`fanlight.over`, frozen."""

    __slots__ = ("_bound", "_groups", "_rate", "_strategy")

    def __init__(
        self,
        bound: SlidingBound,
        strategy: Strategy = "auto",
        rate: float | None = None,
        groups: float | None = None,
    ) -> None:
        self._bound = bound
        self._strategy: Strategy = strategy
        self._rate = rate
        self._groups = groups

    @classmethod
    def open(cls, df: Any, spec: Sliding, time: Any, by: Any, tiebreak: Any) -> SlidingWindows:
        """Check the request against the DataFrame."""
        return cls(bind(df, spec, time, by, tiebreak))

    def using(
        self, strategy: str = "auto", *, rate: float | None = None, groups: float | None = None
    ) -> SlidingWindows:
        """Force a technique, or tell the cost model what to expect.

        Parameters
        ----------
        strategy
            ``"auto"`` (the cheapest by the cost model), ``"panes"``, ``"pairs"``,
            ``"differential"`` (running totals; exact and invertible aggregates only) or
            ``"expand"`` (Spark's own way, for comparison).
        rate
            Rows per second over all keys (per unit of a numeric time), as you know your data.
            Nothing is read to find it out; where it is not given, a busy stream is assumed.
        groups
            How many distinct keys (the paper's G).

        Raises
        ------
        FanlightError
            If the strategy is unknown, or a hint is not positive. Whether a strategy fits the
            aggregates is checked by :meth:`agg`.

        Examples
        --------
        >>> import fanlight as fl
        >>> bids = spark.sql("SELECT timestamp_seconds(id) AS ts, id AS price FROM range(600)")
        >>> windows = fl.over(bids, fl.Sliding("4 minutes", "1 minute"), time="ts")
        >>> windows.using("panes", rate=1.0).agg(fl.agg.max("price")).count()
        13

        """
        check_hints(rate=rate, groups=groups)
        return SlidingWindows(
            self._bound,
            check_strategy(strategy),
            self._rate if rate is None else rate,
            self._groups if groups is None else groups,
        )

    def agg(self, *aggregates: Call, **named: Call) -> DataFrame:
        """One row a window and key: the ``by`` columns, ``window``, then the aggregates.

        In a stream each row is emitted once, when the watermark passes the window's end (append
        mode). The result does not depend on the strategy, on partitioning, or on how the rows fell
        into micro-batches.

        Cost: each row is touched once; a window touches a constant number of partials (or each of
        its slices, where that is cheaper or the aggregate keeps lists or moments).

        Raises
        ------
        FanlightError
            If an aggregate is unknown, of a column that is not there or not of its type, if output
            names clash, or if the forced strategy does not fit.

        Examples
        --------
        >>> import fanlight as fl
        >>> from fanlight import agg
        >>> bids = spark.sql("SELECT timestamp_seconds(id) AS ts, id AS price FROM range(600)")
        >>> windows = fl.over(bids, fl.Sliding("4 minutes", "1 minute"), time="ts")
        >>> highest = windows.agg(agg.max("price"), bids=agg.count())
        >>> highest.orderBy("window").select("max(price)", "bids").first()
        Row(max(price)=59, bids=60)

        See Also
        --------
        Li et al., *No Pane, No Gain*, section 3.

        """
        calls = collect_calls(self._bound, aggregates, named)
        fields, plan = self._planned(calls)
        bound = self._bound
        build = stream.sliding if bound.df.isStreaming else batch.sliding
        if bound.coordinate.counted or bound.spec.slide_by_tuple:
            build = numbered.windows
        return analysed(lambda: build(bound, fields, plan), asked_for(calls))

    def explain(self, *aggregates: Call, **named: Call) -> str:
        """The cut, the strategy, why, and the estimated cost of each candidate.

        Without aggregates, for ``count(*)``, which every technique can do.

        Examples
        --------
        >>> import fanlight as fl
        >>> bids = spark.sql("SELECT timestamp_seconds(id) AS ts, id AS price FROM range(600)")
        >>> print(fl.over(bids, fl.Sliding("9 minutes", "6 minutes"), time="ts").explain())
        ... # doctest: +ELLIPSIS
        Sliding('9 minutes', '6 minutes') over 'ts', batch
        ...

        """
        from fanlight.algebra.library import count

        asked = aggregates or (() if named else (count(),))
        calls = collect_calls(self._bound, asked, named)
        _, plan = self._planned(calls)
        bound = self._bound
        return explain_sliding(
            plan, bound.spec, bound.time, list(bound.names), [call.label for call in calls]
        )

    def rejected(self) -> DataFrame:
        """The rows that are in no window, with a column ``reason``."""
        return rejected_rows(self._bound)

    def _planned(self, calls: Sequence[Call]) -> tuple[Fields, SlidingPlan]:
        bound = self._bound
        by_tuple = bound.spec.slide_by_tuple
        fields = fields_of(bound, calls, exact=by_tuple or bound.coordinate.counted)
        plan = plan_sliding(
            bound.axis,
            [field.facts for field in fields.all],
            strategy=self._strategy,
            workload=self._workload(),
            streaming=bound.df.isStreaming,
            by_tuple=by_tuple,
            ordered=by_tuple or bound.coordinate.counted,
        )
        return fields, plan

    def _workload(self) -> Workload:
        bound, default = self._bound, Workload()
        groups = self._groups or (default.groups if bound.by else 1.0)
        if bound.coordinate.counted:
            return Workload(bound.axis.slide * groups, groups, assumed=self._groups is None)
        if self._rate is None:
            rows = 100.0 * groups if bound.spec.slide_by_tuple else default.rows_per_slide
            return Workload(rows, groups)
        length = bound.axis.range if bound.spec.slide_by_tuple else bound.axis.slide
        seconds = length * float(bound.coordinate.unit) / bound.coordinate.per_second
        return Workload(self._rate * seconds, groups, assumed=False)

    def __repr__(self) -> str:
        return f"SlidingWindows({self._bound.spec!r} over {self._bound.time!r})"
