"""Windows that time places, over a DataFrame: the checked request, planned and built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any, Self

from fanlight.algebra.aggregate import Call
from fanlight.plan.candidate import Plan
from fanlight.plan.explain_placed import explain_placed
from fanlight.plan.placed import check_strategy, plan_placed
from fanlight.plan.request import Hints, Request
from fanlight.spark import result
from fanlight.spark.binding.placed import Lasting, Placed
from fanlight.spark.cuts import by_query
from fanlight.spark.fields import Fields, collect_calls, fields_of
from fanlight.spark.placed import batch, changes, stream
from fanlight.spark.placed.aging import check_weighted
from fanlight.spark.rejected import rejected_rows
from fanlight.spark.sql import quote
from fanlight.spark.windows.base import Windowed, analysed, asked_for, check_hints
from fanlight.spec.errors import refuse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ORDERED = "in a stream rows are put in order and counted by one operator"
_WEIGHTED = "weights are applied when granules are copied to their windows"
_TOGETHER = "weights, an initiation time and changes_only are about all levels together"


class PlacedWindows(Windowed):
    """A DataFrame seen through windows that time places; frozen."""

    __slots__ = ("_bound", "_hints")
    _bound: Placed
    _hints: Hints

    def __init__(self, bound: Placed, hints: Hints | None = None) -> None:
        self._bound = bound
        self._hints = hints or Hints()

    def _given(
        self, strategy: str, *, rate: float | None, groups: float | None, **hints: Any
    ) -> Self:
        """The same windows with these hints, once strategy and workload are checked."""
        check_hints(rate=rate, groups=groups)
        bound = self._bound
        known = check_strategy(strategy, lasting=bound.lasting, several=bound.queries.several)
        return type(self)(bound, self._hints.given(known, rate=rate, groups=groups, **hints))

    def agg(self, *aggregates: Call, **named: Call) -> DataFrame:
        """One row a window and key: the ``by`` columns, ``window``, then the aggregates.

        Several windows have a label in a column after ``window``: ``level`` for levels, ``query``
        (the place in the list) for a list. In a stream each row is emitted once, when the
        watermark passes the window's end (append mode). The result does not depend on the
        technique, on partitioning, or on how the rows fell into micro-batches.

        Cost: each row is touched once, however many windows it is in, and an event with a duration
        is inserted twice, however long it is. A window touches a constant number of partials (or
        each of its slices, if that is cheaper or the aggregate keeps lists or moments).

        Parameters
        ----------
        aggregates
            Aggregates of :mod:`fanlight.agg`, for example ``agg.max("price")``.
        named
            The same under output names of their own: ``highest=agg.max("price")``.

        Returns
        -------
        DataFrame
            A plain DataFrame; streaming if the source is.

        Raises
        ------
        FanlightError
            If an aggregate is unknown, its column is missing or of the wrong type, if output names
            clash, if an aggregate has no weighted form, or if the forced strategy cannot compute
            the windows.

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
        Li et al., *No Pane, No Gain*, section 3; Patroumpas and Sellis, *Multi-granular Time-based
        Sliding Windows over Data Streams*, IV.A; Suzanne et al., *Slicing Techniques for Temporal
        Aggregation in Spanning Event Streams*, sections 3 to 5.

        """
        bound = self._bound
        calls = collect_calls(bound, aggregates, named, bound.own)
        if bound.weights is not None:
            check_weighted(bound, calls)
        fields, _, plan = self._planned(calls)
        return analysed(lambda: self._built(calls, fields, plan), asked_for(calls))

    def explain(self, *aggregates: Call, **named: Call) -> str:
        """The cut, the strategy, why, and the estimated cost of each candidate.

        Parameters
        ----------
        aggregates, named
            As for :meth:`agg`; without any, for ``count(*)``, which most strategies can compute.

        Returns
        -------
        str
            A page to print.

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

        bound = self._bound
        asked = aggregates or (() if named else (count(),))
        calls = collect_calls(bound, asked, named, bound.own)
        _, request, plan = self._planned(calls)
        time: str | tuple[str, str] = bound.time
        ttp = None
        if isinstance(bound, Lasting):
            time, ttp = (bound.start, bound.time), bound.ttp
        labels = [call.label for call in calls]
        return explain_placed(plan, request, bound.spec, time, bound.names, labels, ttp)

    def rejected(self) -> DataFrame:
        """The rows that are in no window, with a column ``reason``; see :func:`fanlight.rejected`.

        Returns
        -------
        DataFrame
            The source's columns and ``reason``.

        Examples
        --------
        >>> import fanlight as fl
        >>> bids = spark.sql("SELECT timestamp_seconds(nullif(id, 3)) AS ts FROM range(5)")
        >>> fl.over(bids, fl.Sliding("1 minute"), time="ts").rejected().collect()
        [Row(ts=None, reason='ts is null')]

        """
        return rejected_rows(self._bound)

    def _planned(self, calls: Sequence[Call]) -> tuple[Fields, Request, Plan[Any]]:
        bound = self._bound
        ordered = bound.at_every_row or bound.coordinate.counted
        exact = ordered or self._hints.strategy == "chain"
        fields = fields_of(bound, calls, exact=exact)
        request, plan = self._plan(fields)
        if bound.lasting and plan.chosen.rollup == "operator":
            # An operator combines partials in Python, where sketches are exact counts instead.
            fields = fields_of(bound, calls, exact=True)
            request, plan = self._plan(fields)
        return fields, request, plan

    def _plan(self, fields: Fields) -> tuple[Request, Plan[Any]]:
        bound = self._bound
        streaming, counted = bound.df.isStreaming, bound.coordinate.counted
        several = bound.queries.several
        apart = bound.weights is None and bound.since is None and not bound.changes_only
        request = Request(
            bound.coordinate,
            bound.queries,
            [field.facts for field in fields.all],
            self._hints.workload(
                bound.coordinate,
                bound.grid,
                keyed=bool(bound.by),
                at_every_row=bound.at_every_row,
            ),
            streaming=streaming,
            lasting=bound.lasting,
            at_every_row=bound.at_every_row,
            height=self._hints.height,
            alone="" if apart else _TOGETHER,
            operator=_ORDERED if streaming and counted and several else "",
            native=_WEIGHTED if streaming and bound.weights is not None else "",
        )
        return request, plan_placed(request, self._hints.strategy)

    def _built(self, calls: Sequence[Call], fields: Fields, plan: Plan[Any]) -> DataFrame:
        bound, streaming = self._bound, self._bound.df.isStreaming
        if plan.chosen.strategy == "separate":
            return self._apart(calls)
        labels = [output.label for output in fields.outputs]
        if bound.changes_only and plan.chosen.rollup == "operator":
            raise refuse(
                "changes_only=True with the chain operator",
                "is not supported: the operator keeps partials, not the results made from them",
                "compare the results afterwards, or use levels over time with 'granules'",
            )
        if bound.changes_only and streaming:
            return finished(bound, changes.of_stream(bound, fields, plan), numbered(labels))
        if plan.chosen.rollup == "operator":
            found = self._operated(fields, plan)
        else:
            engine = stream if streaming else batch
            found = engine.windows(bound, fields, plan)
        lowered = result.lowered(fields, bound.shown_start)
        if not bound.changes_only:
            return finished(bound, found, lowered)
        texts = [f"{text} as r{n}" for n, (text, _) in enumerate(lowered)]
        results = found.selectExpr(*bound.keys, *bound.which, "start", *texts)
        return finished(bound, changes.of_batch(bound, results, len(texts)), numbered(labels))

    def _operated(self, fields: Fields, plan: Plan[Any]) -> DataFrame:
        """Windows by one of the operators of the ordered engine."""
        from fanlight.spark.ordered import chain, counted, techniques

        bound = self._bound
        if isinstance(bound, Lasting):
            return techniques.windows(bound, fields, plan.chosen, self._hints.height)
        if not bound.which:
            return counted.windows(bound, fields, plan.chosen)
        if bound.coordinate.counted:
            return chain.of_rows(bound, fields)
        monoids = [field.monoid for field in fields.all]
        return chain.through(bound, stream.granules(bound, fields, plan), monoids)

    def _apart(self, calls: Sequence[Call]) -> DataFrame:
        """Each of several windows by itself: what a user would write, for comparison."""
        bound = self._bound
        keys = [quote(name) for name in bound.names]
        outputs = [quote(call.label) for call in calls]
        found = []
        for query, spec in zip(bound.queries.queries, _each(bound.spec), strict=True):
            own = replace(bound.queries, queries=(query,), name="")
            one = type(self)(replace(bound, spec=spec, queries=own))
            label = f"{query.label} as {quote(bound.queries.name)}"
            found.append(one.agg(*calls).selectExpr(*keys, "window", label, *outputs))
        return reduce(lambda a, b: a.unionAll(b), found)

    def __repr__(self) -> str:
        bound = self._bound
        time = (bound.start, bound.time) if isinstance(bound, Lasting) else bound.time
        spec = list(bound.spec) if isinstance(bound.spec, tuple) else bound.spec
        return f"{type(self).__name__}({spec!r} over {time!r})"


def _each(spec: Any) -> list[Any]:
    return list(spec) if isinstance(spec, tuple) else [level.windows for level in spec.levels]


def numbered(labels: Sequence[str]) -> list[result.Named]:
    """Results ``r0`` and so on, under the names ``labels``."""
    return [(f"r{n}", label) for n, label in enumerate(labels)]


def finished(bound: Placed, found: DataFrame, columns: Sequence[result.Named]) -> DataFrame:
    """Keys, ``window``, the label of the query where there are several, then ``columns``."""
    start, end = result.times(bound, bound.shown_start, f"(start + {bound.lengths})")
    end = "ending" if "ending" in found.columns else end
    labels = []
    if bound.which:
        labels.append((f"cast({by_query(bound.queries.labels)} as int)", bound.queries.name))
    return result.finished(bound, found, start, end, [*labels, *columns])


def finished_items(bound: Placed, found: DataFrame, name: str, *, counts: bool) -> DataFrame:
    """Recurring items (keys, ``level``, ``start``, ``upto``, ``item``, ``n``) as reported."""
    start, end = result.times(bound, "start", "upto")
    columns = [("cast(level as int)", "level"), ("item", name)]
    columns += [("n", "count")] if counts else []
    end = "ending" if "ending" in found.columns else end
    return result.finished(bound, found, start, end, columns)
