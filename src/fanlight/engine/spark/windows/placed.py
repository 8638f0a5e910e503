"""Time windows, over a DataFrame: the checked request, planned and built.

Those over points are here: sliding windows, one kind or a list of them that share their slices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any, Self

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.sql_text import quote
from fanlight.engine.kinds.options import COMPLETE_ONLY, WITH_EMPTY
from fanlight.engine.plan import ways
from fanlight.engine.plan.candidate import Plan
from fanlight.engine.plan.events import ANEW, CALENDAR
from fanlight.engine.plan.explain_placed import explain_placed
from fanlight.engine.plan.granules import Pieces
from fanlight.engine.plan.placed import READ, check_strategy, plan_in_parts, plan_placed
from fanlight.engine.plan.request import FieldFacts, Queries, Request, rule_out
from fanlight.engine.plan.ways import AUTO, Strategy
from fanlight.engine.spark import result
from fanlight.engine.spark.binding.placed import Lasting, Placed
from fanlight.engine.spark.carried import settled_fields
from fanlight.engine.spark.fields import Fields, build_fields
from fanlight.engine.spark.foreign_frames import in_kind, open_frame
from fanlight.engine.spark.options import check_options, run_steps
from fanlight.engine.spark.ordered.windows import follow_windows
from fanlight.engine.spark.pieces import keep_pieces
from fanlight.engine.spark.placed.aging import check_weighted
from fanlight.engine.spark.placed.side_by_side import (
    check_at_instants,
    check_several,
    lower_by_number,
    put_beside,
    put_beside_by_end,
)
from fanlight.engine.spark.placed.spark_windows import has_spark_windows
from fanlight.engine.spark.placed.window_sets import (
    Empty,
    fill_empty,
    is_number,
    make_doubles,
    read_empty,
)
from fanlight.engine.spark.requested_aggregates import collect_calls
from fanlight.engine.spark.row_estimate import estimated_rows
from fanlight.engine.spark.spark_aggregates import (
    Handed,
    aggregate_placed,
    explain_handed,
    find_handed,
)
from fanlight.engine.spark.sql import free_name, types_in
from fanlight.engine.spark.way_runs import WayRequest, run_results, run_windows
from fanlight.engine.spark.windows.base import (
    Named,
    Several,
    WindowedEarly,
    check_analysis,
    errors_of_call,
    name_call,
)
from fanlight.engine.spec.errors import refuse
from fanlight.types import Aggregated, DataFrameLike, Filling, Instant, Side

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fanlight.engine.plan.explain import Explained


Part = tuple[Fields, Request, Plan[Pieces]]  # aggregates that are computed together

_ORDERED = "in a stream rows are put in order and counted by one operator"
_WEIGHTED = "weights are applied when granules are copied to their windows"
_TOGETHER = "weights, an initiation time and changes_only are about all levels together"


class PlacedWindows(WindowedEarly):
    """A DataFrame seen through time windows; frozen."""

    __slots__ = ()
    _bound: Placed

    def _find_strategy(self, strategy: str) -> Strategy:
        bound = self._bound
        return check_strategy(strategy, lasting=bound.lasting, several=bound.queries.several)

    def with_empty(
        self,
        values: Filling,
        *,
        most: int | None = None,
        between: tuple[Instant, Instant] | None = None,
        keys: DataFrameLike | None = None,
    ) -> Self:
        """Also return empty windows, between the first and the last window of a key.

        Parameters
        ----------
        values
            The values of empty windows. ``"null"``: nulls; ``"zero"``: 0 for numbers, which is
            right for counts and sums; ``"last"``: the results of the previous window; ``"linear"``:
            for numbers, values interpolated between the previous and the next window with rows, by
            the steps between them (for a calendar, the steps of its clock). With ``"linear"``
            numbers become doubles. Values that are not numbers are null, except with ``"last"``.
        most
            The maximum number of empty windows after a window with rows: those before the next one,
            and as many after the last. A stream requires it, and emits empty windows as the
            watermark advances; with ``"linear"`` once the next window is final, or once ``most``
            windows are empty. If more are empty, none of them has a number.
        between
            The start and end of the windows that a batch then returns, for every key. Each is a
            ``datetime``, a text such as ``"2025-03-01T00:00:00Z"``, or a number.
        keys
            A DataFrame with the ``by`` columns: the result also includes its keys, even without any
            row.

        Returns
        -------
        Self
            The same windows, including empty ones, for :meth:`agg` and :meth:`wide`.

        Raises
        ------
        FanlightError
            If it is not known which windows are empty: if rows end windows, in a stream without
            ``most``, with early results, or if only changes are reported.

        Notes
        -----
        Cost: in a batch one more window function over the results; no table is joined. In a stream
        an operator in Python follows, which keeps the last window of each key and needs RocksDB.

        Examples
        --------
        >>> import fanlight as fl
        >>> from fanlight import agg
        >>> bids = spark.sql("SELECT timestamp_seconds(id * 240) AS ts, id FROM range(3)")
        >>> minutes = fl.over(bids, fl.Sliding("1 minute"), time="ts")
        >>> found = minutes.with_empty("zero").agg(n=agg.count()).orderBy("window")
        >>> [row.n for row in found.collect()]
        [1, 0, 0, 0, 1, 0, 0, 0, 1]
        >>> found = minutes.with_empty("linear").agg(id=agg.max("id")).orderBy("window")
        >>> [row.id for row in found.collect()]
        [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0]

        """
        opened, _ = open_frame(keys)
        return self._ask(WITH_EMPTY, values=values, most=most, between=between, keys=opened)

    def complete_only(self, since: Instant | None = None, *, side: Side = "both") -> Self:
        """Return only the windows that the edges of the data do not cut.

        Windows are dropped if they begin before the first row of their key, or end after the last
        row of the batch, of any key. Windows over rows are dropped if they have fewer rows than
        RANGE.

        Parameters
        ----------
        since
            The time at which the data of all keys begin: a ``datetime``, a text such as
            ``"2025-03-01T00:00:00Z"``, or a number. A stream requires it, because it does not store
            the first row of each key. A stream never emits a window before time has passed its end.
        side
            ``"start"``: windows may end after the last row. ``"end"``: windows may begin before the
            first row.

        Returns
        -------
        Self
            The same windows, but only complete ones.

        Raises
        ------
        FanlightError
            For windows over time in a stream without ``since``; with ``changes_only``; with
            ``side`` for windows over rows.

        Notes
        -----
        Cost: a batch reads the rows once more, to find the first and the last row of each key.

        Examples
        --------
        >>> import fanlight as fl
        >>> from fanlight import agg
        >>> bids = spark.sql("SELECT timestamp_seconds(id) AS ts, id AS price FROM range(600)")
        >>> windows = fl.over(bids, fl.Sliding("4 minutes", "1 minute"), time="ts")
        >>> whole = windows.complete_only().agg(bids=agg.count()).orderBy("window").collect()
        >>> [row.bids for row in whole]
        [240, 240, 240, 240, 240, 240]

        """
        return self._ask(COMPLETE_ONLY, since=since, side=side)

    @in_kind
    def agg(self, /, *aggregates: Aggregated, **named: Aggregated) -> DataFrame:
        """Return one row per window and key: the ``by`` columns, ``window``, then the aggregates.

        If there are several windows, a column after ``window`` labels them: ``level`` for levels,
        ``query`` (the position in the list) for a list. A stream emits each row once, when the
        watermark passes the window's end (append mode). The result does not depend on the
        technique, on partitioning, or on how the rows were split into micro-batches.

        Cost: each row is processed once, no matter how many windows contain it, and an event with a
        duration is inserted twice, no matter how long it is. A window reads a constant number of
        partials (or each of its slices, if that is cheaper or the aggregate keeps lists or
        moments).

        Parameters
        ----------
        aggregates
            Aggregates of :mod:`fanlight.agg`, for example ``agg.max("price")``;
            ``.transform(function)`` of one is a function of its result.
        named
            The same under output names of their own: ``highest=agg.max("price")``.

        Returns
        -------
        DataFrame
            A plain DataFrame; streaming if the source is.

        Raises
        ------
        FanlightError
            If an aggregate is unknown, its column is missing or has the wrong type, if output names
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
        check_options(self._bound, "agg", named)
        return self._complete(
            run_steps(
                self._bound,
                lambda bound, calls: self._with_bound(bound)._aggregate(  # noqa: SLF001 - of this class
                    aggregates, {**named, **calls}
                ),
            )
        )

    def _aggregate(self, aggregates: Several, named: Named) -> DataFrame:
        """The results of a request whose steps have been taken."""
        bound = self._bound
        empty = read_empty(bound)
        handed, asked, called = self._find_handed(aggregates, named, plain=empty is None)
        if handed is not None:
            with errors_of_call(", ".join(handed)):
                return check_analysis(aggregate_placed(bound, handed))
        calls, parts = self._plan_parts(asked, called, followed=empty is not None)
        if bound.weights is not None:
            check_weighted(bound, calls)
        with errors_of_call(name_call(calls)):
            fields, _, plan = parts[0]
            if plan.chosen.way.one_by_one:
                found = self._compute_one_by_one(self._asked(calls, parts))
            elif len(parts) > 1 or empty is not None or fields.carries:
                found = self._compute_parts(calls, parts, empty)
            else:
                found = run_results(self._asked_of(fields, plan))
            return check_analysis(found)

    @in_kind
    def wide(self, /, *aggregates: Aggregated, **named: Aggregated) -> DataFrame:
        """Put several windows side by side: one row per key and instant at which windows end.

        Parameters
        ----------
        aggregates, named
            As for :meth:`agg`.

        Returns
        -------
        DataFrame
            The ``by`` columns, ``at`` (when the windows end), and a column for each aggregate and
            level, or for each window of a list, numbered by position: ``calls_0``, ``calls_1``, … A
            column is null if no such window ends at that instant, or if the window has no rows. A
            stream emits each row once, when the watermark passes ``at``; the column keeps the
            watermark.

        Raises
        ------
        FanlightError
            As :meth:`agg`; also for a single kind of windows, with ``horizons``, after
            :meth:`early`, if a key has the name of an output, and in a stream if windows are
            counted in rows, if a window includes its end (``closed``) or if a key has a collation.

        Notes
        -----
        It is the result of :meth:`agg`, aggregated once more by key and instant. With ``by`` a
        stream keeps one more row for each key while the watermark stands at an instant.

        Examples
        --------
        >>> import fanlight as fl
        >>> from fanlight import agg
        >>> rings = spark.sql("SELECT timestamp_seconds(id) AS ts FROM range(120)")
        >>> spec = fl.MultiGranular(["30 seconds", "1 minute"], ["30 seconds", "1 minute"])
        >>> wide = fl.over(rings, spec, time="ts").wide(calls=agg.count())
        >>> wide.orderBy("at").drop("at").take(2)
        [Row(calls_0=30, calls_1=None), Row(calls_0=30, calls_1=60)]

        """
        bound = self._bound
        check_options(bound, "wide", named)
        check_several(bound, "wide")
        check_at_instants(bound, "wide")
        return self._complete(put_beside_by_end(bound, self._alone.agg(*aggregates, **named)))

    @property
    def _alone(self) -> Self:
        """The same windows, without late rows among their results."""
        return self._with_bound(replace(self._bound, collects=False))

    def _explain(self, aggregates: Several, named: Named, *, verbose: bool) -> Explained:
        from fanlight.engine.algebra.library import count

        bound = self._bound
        plain = read_empty(bound) is None
        handed, asked, called = self._find_handed(aggregates, named, plain=plain)
        if handed is not None:
            return explain_handed(bound, handed)
        asked = asked or (() if called else (count(),))
        calls, parts = self._plan_parts(asked, called, followed=read_empty(bound) is not None)
        about = self._about(verbose=verbose)
        ttp = bound.ttp if isinstance(bound, Lasting) else None
        labels = [call.label for call in self._asked(calls, parts)]
        pages = []
        for fields, asked_for, plan in parts:
            own = [one.label for one in fields.outputs if one.label in labels]
            if not own:
                continue
            others = [label for label in labels if label not in own]
            known = self._with_known_costs(plan, asked_for)
            request = replace(asked_for, queries=bound.queries)  # as they are said to be
            pages.append(explain_placed(known, request, about, own, others=others, ttp=ttp))
        return pages[0].with_text("\n\n".join(pages))

    def _with_known_costs(self, plan: Plan[Pieces], request: Request) -> Plan[Pieces]:
        """The plan of a forced strategy, with the costs from which ``"auto"`` would choose."""
        if not plan.forced or request.streaming or request.queries.several:
            return plan

        def with_rows(rows: float | None) -> Plan[Pieces]:
            return plan_placed(request.with_rows(rows), self._hints.strategy)

        known = with_rows(self._rows_for(with_rows, explained=True))
        chosen = next(one for one in known.candidates if one.name == plan.chosen.name)
        return replace(known, chosen=chosen)

    def _plan_parts(
        self, aggregates: Several, named: Named, *, followed: bool = False
    ) -> tuple[list[Call], list[Part]]:
        """The aggregates, with their fields and plan: together, or in parts.

        Where some are of what is carried into windows of a stream, a count is the last: it tells
        the windows that have rows.
        """
        calls, fields, request = self._make_request(aggregates, named)
        if fields.carries and request.streaming:
            calls.append(_count_rows(call.label for call in calls))
            _, fields, request = self._make_request(calls)
        return calls, self._plan_alike(calls, fields, request, followed=followed)

    def _plan_alike(
        self, calls: Sequence[Call], fields: Fields, request: Request, *, followed: bool
    ) -> list[Part]:
        """Aggregates in the same windows, with their plan: together, or in parts."""
        strategy = self._hints.strategy
        batch = not request.streaming
        kinds = [fields.kind_of(output) for output in fields.outputs]
        split = request.can_split_aggregates and (strategy == AUTO or not request.lasting)
        split = split and len(set(kinds)) > 1 and not request.carried
        request = replace(request, followed=followed and not batch)
        rows = None
        if strategy == AUTO and batch and not request.queries.several:
            # Spark is asked only if it makes a difference: it takes as long as the plan itself.
            few, many = (plan_placed(request.with_rows(one), strategy) for one in (1.0, None))
            if split or few.chosen.name != many.chosen.name:
                rows = estimated_rows(self._bound.df)
        request = request.with_rows(rows)
        if split:
            alike = [
                [call for call, kind in zip(calls, kinds, strict=True) if kind == one]
                for one in dict.fromkeys(kinds)
            ]
            asked = [self._make_request(some) for some in alike]
            parts = [part.with_rows(rows) for _, _, part in asked]
            plans = plan_in_parts(request, parts, strategy)
            if plans is not None:
                return list(zip([own for _, own, _ in asked], parts, plans, strict=True))
        plan = plan_placed(request, strategy)
        if request.lasting and plan.chosen.rollup.in_operator:
            # An operator combines partials in Python, where sketches are exact counts instead.
            _, fields, request = self._make_request(calls, exact=True)
            plan = plan_placed(request, strategy)
        return [(fields, request, plan)]

    def _make_request(
        self, aggregates: Several, named: Named | None = None, *, exact: bool = False
    ) -> tuple[list[Call], Fields, Request]:
        """The aggregates, their fields, and the request to plan."""
        bound, streaming = self._bound, self._bound.df.isStreaming
        counted, several = bound.coordinate.counted, bound.queries.several
        early = bound.early is not None
        unended = isinstance(bound, Lasting) and bound.unended is not None
        exact = exact or early or unended or bound.event.ordered or self._hints.strategy.exact
        weighted = bound.weights is not None
        calls = collect_calls(bound, aggregates, named or {}, bound.window_columns)
        fields = build_fields(bound, calls, exact=exact, weighted=weighted)
        if fields.carries:
            _check_carried(bound, fields)
        wide = bound.reaching(fields.carries)
        apart = bound.weights is None and bound.since is None and not bound.changes_only
        # Weights, and what has changed, are of partials.
        reads = frozenset({""}) if weighted or bound.changes_only else fields.reads
        request = self._request(
            _facts_of(fields, streaming=streaming),
            together="" if apart else _TOGETHER,
            operator=_ORDERED if streaming and counted and several else "",
            native=_why_not_in_operator(bound) or fields.why_not_in_python,
        )
        all_native = all(one.native or not one.counts for one in fields.outputs)
        request = replace(
            request,
            queries=wide.queries if streaming else bound.queries,
            carried=str(max(fields.carries, key=lambda one: one.value, default="")).strip("'"),
            reads=frozenset({""}) if fields.carries else reads,
            early=early,
            unended=unended,
            by_spark=not weighted and all_native and not fields.carries,
            native_windows=not fields.carries and apart and has_spark_windows(bound) and all_native,
        )
        if reads <= READ and request.is_placed_batch:
            from fanlight.engine.spark.ordered.ranked_values import refusal

            why = refusal(bound, fields)
            request = replace(request, ruled_out={**request.ruled_out, ways.RANKS: why})
        return calls, fields, request

    def _request(self, facts: Sequence[FieldFacts], **why_not: str) -> Request:
        """The request of fields; ``why_not``: which strategies are ruled out."""
        bound = self._bound
        work = self._hints.estimate_workload(
            bound.coordinate, bound.grid, keyed=bool(bound.by), ends=bound.row_ends
        )
        return Request(
            bound.coordinate, bound.queries, facts, work, event=bound.event, ends=bound.row_ends,
            release=bound.release, height=self._hints.height, ruled_out=rule_out(**why_not),
        )  # fmt: skip

    def _find_handed(
        self, aggregates: Several, named: Named, *, plain: bool = True
    ) -> tuple[Handed | None, Several, Named]:
        """The aggregates, where only Spark has some and can be given the rows of windows.

        And the same as they were read; not ``plain``: more than aggregates is asked for.
        """
        bound = self._bound
        kept = bound.weights is None and bound.since is None and not bound.changes_only
        plain = plain and kept and bound.early is None and not bound.event.ordered
        plain = plain and not bound.coordinate.counted and self._hints.strategy == AUTO
        if bound.df.isStreaming:
            plain = plain and bound.late != "open" and has_spark_windows(bound)
        if not plain:
            return None, aggregates, named
        return find_handed(bound, aggregates, named, bound.window_columns)

    def _asked_of(self, fields: Fields, plan: Plan[Pieces]) -> WayRequest:
        """What a plan is run for."""
        return WayRequest(self._bound, fields, plan.chosen, self._hints.height)

    def _compute_parts(
        self, calls: Sequence[Call], parts: Sequence[Part], empty: Empty | None = None
    ) -> DataFrame:
        """The results of parts, computed apart, in one row a window; also of empty windows."""
        bound, labels = self._bound, [call.label for call in calls]
        lowered = []
        for fields, _, plan in parts:
            windows = run_windows(self._asked_of(fields, plan))
            numbers = [labels.index(output.label) for output in fields.outputs]
            own = settled_fields(fields).lowering(plan.chosen.lift)
            lowered.append(lower_by_number(bound, windows, own, numbers))
        windows = put_beside(bound, lowered) if len(lowered) > 1 else lowered[0]
        asked = self._asked(calls, parts)
        if len(asked) < len(calls):
            windows, labels = windows.drop(f"r{len(asked)}"), labels[:-1]
        if empty is not None and empty.linear:
            windows = make_doubles(bound, windows)
        if empty is not None and bound.df.isStreaming:
            types = types_in(windows)
            windows = follow_windows(
                bound,
                parts[0][0],
                windows,
                rule=empty.rule,
                most=empty.most or 0,
                numbers=[name for name in types if is_number(types[name])],
            )
        elif empty is not None:
            windows = fill_empty(bound, windows, empty)
        if empty is not None:
            windows = bound.keep_existing(windows, filled=True)
        return result.finish_windows(bound, windows, result.name_by_number(labels))

    def _asked(self, calls: Sequence[Call], parts: Sequence[Part]) -> Sequence[Call]:
        """The aggregates that were asked for, without the count of rows that is added to them."""
        added = self._bound.df.isStreaming and any(fields.carries for fields, *_ in parts)
        return calls[:-1] if added else calls

    def _compute_one_by_one(self, calls: Sequence[Call]) -> DataFrame:
        """Each of several windows by itself: what a user would write, for comparison."""
        bound = self._bound
        keys = [quote(name) for name in bound.names]
        outputs = [quote(call.label) for call in calls]
        results = []
        for query, spec in zip(bound.queries.queries, _specs_of(bound.spec), strict=True):
            own = Queries((query,), asked=bound.grids)
            one = type(self)(replace(bound, spec=spec, queries=own, collects=False))
            label = f"{query.label} as {quote(bound.queries.name)}"
            results.append(one.agg(*calls).selectExpr(*keys, "window", label, *outputs))
        return reduce(lambda a, b: a.unionAll(b), results)


class SlidingWindows(PlacedWindows):
    """Points seen through one kind of sliding windows or several; made by :func:`fanlight.over`.

    Frozen: :meth:`using` gives another one.
    """

    __slots__ = ()

    @in_kind
    def pieces(self, /, *aggregates: Aggregated, **named: Aggregated) -> DataFrame:
        """Return the pieces of time of these windows, with partials, to store them.

        :func:`fanlight.roll_up` computes windows from them later, these or any others that begin
        and end where pieces do, and :func:`fanlight.serve` answers requests for one key without
        Spark. A stream emits each piece once, when the watermark passes its end; after
        :meth:`early` also open pieces, each again when it has changed: write them by key and
        ``window``.

        Parameters
        ----------
        aggregates, named
            As for :meth:`agg`.

        Returns
        -------
        DataFrame
            The ``by`` columns, ``window`` (the piece), and a struct of partials for each aggregate.
            The metadata of the columns describe them, and formats that keep the schema of a
            DataFrame keep the metadata: Parquet, Delta, Spark's tables.

        Raises
        ------
        FanlightError
            As :meth:`agg`; also if windows are counted in rows, or events last.

        Notes
        -----
        Pieces are as long as the greatest common divisor of all RANGEs, SLIDEs and offsets. Cost:
        each row is processed once.

        See Also
        --------
        Li et al., *No Pane, No Gain*, section 3 (the pane-level query, PLQ).

        Examples
        --------
        >>> import fanlight as fl
        >>> from fanlight import agg
        >>> bids = spark.sql("SELECT timestamp_seconds(id) AS ts, id AS price FROM range(600)")
        >>> week = fl.over(bids, fl.Sliding("4 minutes", "1 minute"), time="ts")
        >>> pieces = week.pieces(bids=agg.count(), mean=agg.avg("price"))
        >>> pieces.orderBy("window").drop("window").first()
        Row(bids=Row(p=60), mean=Row(s=1770.0, n=60))

        """
        bound = self._bound
        check_options(bound, "pieces", named)
        if any(grid.opened or grid.closed for grid in bound.grids):
            raise refuse(
                f"{self!r}.pieces(…)",
                "have ends that are pieces of their own",
                "leave closed out",
            )
        if bound.event.ordered or bound.coordinate.calendar:
            raise refuse(
                f"{self!r}.pieces(…)",
                "are not cut from points by time, in pieces of one length",
                "write for example fl.over(df, fl.Sliding('1 hour'), time='ts').pieces(…)",
            )
        calls = collect_calls(bound, aggregates, named)
        with errors_of_call(name_call(calls)):
            return self._complete(keep_pieces(bound, calls))


def _count_rows(labels: Iterable[str]) -> Call:
    """A count of rows under a name that no other result has."""
    from fanlight.engine.algebra.library import count

    return count().alias(free_name("rows", list(labels)))


def _facts_of(fields: Fields, *, streaming: bool) -> list[FieldFacts]:
    """What a plan needs to know of the fields; readings of a batch are settled in pieces."""
    if streaming or not fields.carries:  # a stream goes through readings once all are there
        return [one.facts for one in fields.all]
    return [replace(one.facts, counted=False) for one in settled_fields(fields).all]


def _check_carried(bound: Placed, fields: Fields) -> None:
    """Refuse what is carried into windows beside options that know only the rows of a window."""
    label = next(one.label for one in fields.outputs if fields.carried(one))
    ends = {(grid.opened, grid.closed) for grid in bound.grids}
    if len(ends) > 1 or any(opened != closed for opened, closed in ends):
        raise refuse(
            f"{label} with carry in {bound.spec!r}",
            "is of values that hold from one instant to the next, and no instant may be in two "
            "windows that follow one another, or in neither",
            "write closed='left' or closed='right', the same for all windows",
        )
    for wrong, asked, why in (
        (bound.early is not None, "early()", "keeps the pieces of a window until it is final"),
        (bound.weights is not None, "weights", "are of rows, by the level that they are in"),
        (bound.changes_only, "changes_only", "compares windows that rows have changed"),
        (bound.late == "open", "late='open'", "adds single rows to windows that are open"),
    ):
        if wrong:
            raise refuse(
                f"{label} with carry and {asked}",
                f"counts what was there before a window begins, and {asked} {why}",
                f"leave {asked} out, or carry",
            )


def _why_not_in_operator(bound: Placed) -> str:
    """Explain why no stateful operator can combine slices of a stream. Empty if one can."""
    if bound.df.isStreaming and bound.coordinate.calendar is not None:
        return CALENDAR
    if any(grid.begins for grid in bound.grids):
        return ANEW
    return _WEIGHTED if bound.df.isStreaming and bound.weights is not None else ""


def _specs_of(spec: Any) -> list[Any]:
    return list(spec) if isinstance(spec, tuple) else [level.windows for level in spec.levels]
