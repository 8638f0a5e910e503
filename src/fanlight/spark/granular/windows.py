"""Several windows over a DataFrame: the request, checked, planned, and built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fanlight.algebra.aggregate import Call
from fanlight.plan.cost import Workload
from fanlight.plan.explain_granular import explain_granular
from fanlight.plan.granular import GranularPlan, Strategy, check_strategy, plan_granular
from fanlight.spark.fields import Fields, collect_calls, fields_of
from fanlight.spark.granular import batch, results, stream
from fanlight.spark.granular.aging import check_weighted
from fanlight.spark.granular.apart import apart
from fanlight.spark.granular.binding import GranularBound, bind
from fanlight.spark.ordered import chain
from fanlight.spark.rejected import rejected_rows
from fanlight.spark.windowed import Windowed, analysed, asked_for, check_hints
from fanlight.spec.errors import refuse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class GranularWindows(Windowed):
    """A DataFrame seen through several windows at once; made by :func:`fanlight.over`, frozen."""

    __slots__ = ("_bound", "_groups", "_rate", "_strategy")

    def __init__(
        self,
        bound: GranularBound,
        strategy: Strategy = "auto",
        rate: float | None = None,
        groups: float | None = None,
    ) -> None:
        self._bound = bound
        self._strategy: Strategy = strategy
        self._rate = rate
        self._groups = groups

    @classmethod
    def open(cls, df: Any, spec: Any, time: Any, by: Any, tiebreak: Any) -> GranularWindows:
        """Check the request against the DataFrame."""
        return cls(bind(df, spec, time, by, tiebreak))

    def using(
        self, strategy: str = "auto", *, rate: float | None = None, groups: float | None = None
    ) -> GranularWindows:
        """Force a technique, or tell the cost model what to expect.

        Parameters
        ----------
        strategy
            ``"auto"``, ``"granules"`` (granules shared by all, rolled up natively), ``"chain"``
            (streams: granules into the stairwise chain, one stateful operator) or ``"separate"``
            (each level by itself, for comparison: the source is read once for each).
        rate
            Rows per second over all keys (per unit of a numeric time).
        groups
            How many distinct keys.

        Raises
        ------
        FanlightError
            If the strategy is unknown or a hint is not positive. Whether it fits is checked by
            :meth:`agg`.

        Examples
        --------
        >>> import fanlight as fl
        >>> bids = spark.sql("SELECT timestamp_seconds(id) AS ts, id AS price FROM range(600)")
        >>> spec = fl.MultiGranular(["1 minute", "4 minutes"], ["1 minute", "2 minutes"])
        >>> windows = fl.over(bids, spec, time="ts").using("granules", rate=1.0)
        >>> windows.agg(fl.agg.max("price")).groupBy("level").count().orderBy("level").collect()
        [Row(level=0, count=10), Row(level=1, count=6)]

        """
        check_hints(rate=rate, groups=groups)
        return type(self)(
            self._bound,
            check_strategy(strategy),
            self._rate if rate is None else rate,
            self._groups if groups is None else groups,
        )

    def agg(self, *aggregates: Call, **named: Call) -> DataFrame:
        """One row a window, key and level: the ``by`` columns, ``window``, ``level``, aggregates.

        For a list of queries the column is ``query``: the place in the list. In a stream each row
        is emitted once, when the watermark passes the window's end (append mode).

        Cost: each row is touched once. Each level adds the roll-up of its own granules, which are
        fewer the coarser it is; in a stream, each granule joins the windows that it lies in.

        Raises
        ------
        FanlightError
            If an aggregate is unknown, of a column that is not there or not of its type, if output
            names clash, if weights are asked of an aggregate that has none, or if the forced
            strategy does not fit.

        Examples
        --------
        >>> import fanlight as fl
        >>> from fanlight import agg
        >>> bids = spark.sql("SELECT timestamp_seconds(id) AS ts, id AS price FROM range(600)")
        >>> spec = fl.MultiGranular(["1 minute", "4 minutes"], ["1 minute", "2 minutes"])
        >>> found = fl.over(bids, spec, time="ts").agg(agg.max("price"), bids=agg.count())
        >>> found.orderBy("window", "level").select("level", "max(price)", "bids").head(2)
        [Row(level=1, max(price)=119, bids=120), Row(level=0, max(price)=59, bids=60)]

        See Also
        --------
        Patroumpas and Sellis, *Multi-granular Time-based Sliding Windows over Data Streams*, IV.A.

        """
        bound = self._bound
        calls = collect_calls(bound, aggregates, named, bound.own)
        if bound.weights is not None:
            check_weighted(bound, calls)
        fields, plan = self._planned(calls)
        return analysed(lambda: self._built(calls, fields, plan), asked_for(calls))

    def _built(self, calls: Sequence[Call], fields: Fields, plan: GranularPlan) -> DataFrame:
        bound, streaming = self._bound, self._bound.df.isStreaming
        labels = [output.label for output in fields.outputs]
        if plan.chosen.strategy == "separate":
            return apart(bound, bound.time, calls)
        if plan.chosen.strategy == "chain":
            if bound.changes_only:
                raise refuse(
                    "changes_only=True with the chain operator",
                    "is not there: the operator keeps partials, not the results read off them",
                    "compare results behind it, or use levels over time with 'granules'",
                )
            found = results.lowered(bound, fields, chain.windows(bound, fields, plan))
            return results.finished(bound, found, labels)
        if streaming and bound.changes_only:
            return results.finished(bound, stream.changes(bound, fields, plan), labels)
        build = stream.windows if streaming else batch.windows
        found = results.lowered(bound, fields, build(bound, fields, plan))
        if bound.changes_only:
            found = results.changed(bound, found, len(labels))
        return results.finished(bound, found, labels)

    def explain(self, *aggregates: Call, **named: Call) -> str:
        """The granules, who is made from whose, the strategy and the estimated cost of each.

        Without aggregates, for ``count(*)``.

        Examples
        --------
        >>> import fanlight as fl
        >>> bids = spark.sql("SELECT timestamp_seconds(id) AS ts, id AS price FROM range(600)")
        >>> spec = fl.MultiGranular(["1 minute", "4 minutes"], ["1 minute", "2 minutes"])
        >>> print(fl.over(bids, spec, time="ts").explain())
        ... # doctest: +ELLIPSIS
        MultiGranular(['1 minute', '4 minutes'], ['1 minute', '2 minutes']) over 'ts', batch
        ...

        """
        from fanlight.algebra.library import count

        asked = aggregates or (() if named else (count(),))
        calls = collect_calls(self._bound, asked, named, self._bound.own)
        _, plan = self._planned(calls)
        bound = self._bound
        asked_for = [call.label for call in calls]
        return explain_granular(
            plan, bound.spec, bound.label, bound.labels, bound.time, list(bound.names), asked_for
        )

    def rejected(self) -> DataFrame:
        """The rows that are in no window, with a column ``reason``."""
        return rejected_rows(self._bound)

    def _planned(self, calls: Sequence[Call]) -> tuple[Fields, GranularPlan]:
        bound, streaming = self._bound, self._bound.df.isStreaming
        rows = bound.coordinate.counted
        fields = fields_of(bound, calls, exact=rows or self._strategy == "chain")
        together = ""
        if bound.weights is not None or bound.since is not None or bound.changes_only:
            together = "weights, an initiation time and changes_only are not said level by level"
        operator = "a stream's rows are put in order and counted by one operator"
        unkept = ""
        if streaming and bound.weights is not None:
            unkept = "weights are applied where granules join their windows"
        plan = plan_granular(
            bound.axes,
            [field.facts for field in fields.all],
            strategy=self._strategy,
            workload=self._workload(),
            streaming=streaming,
            only_operator=operator if streaming and rows else "",
            no_operator=unkept,
            shared_only=together,
        )
        return fields, plan

    def _workload(self) -> Workload:
        bound, default = self._bound, Workload()
        axis = bound.axis
        groups = self._groups or (default.groups if bound.by else 1.0)
        if axis.coordinate.counted:
            return Workload(axis.slide * groups, groups, assumed=self._groups is None)
        if self._rate is None:
            return Workload(default.rows_per_slide, groups)
        seconds = axis.slide * float(axis.coordinate.unit) / axis.coordinate.per_second
        return Workload(self._rate * seconds, groups, assumed=False)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._bound.spec!r} over {self._bound.time!r})"
