"""Windows over events that last: one kind, levels, or a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from fanlight.engine.algebra.sql_text import find_places
from fanlight.engine.kinds.options import RUNNING
from fanlight.engine.plan.candidate import find_strategy, strategy_error
from fanlight.engine.plan.events import check_height
from fanlight.engine.plan.explain import explain_snapshot
from fanlight.engine.plan.ways import ARROW, NATIVE, Strategy
from fanlight.engine.spark import result
from fanlight.engine.spark.binding.placed import bind_lasting
from fanlight.engine.spark.binding.snapshot import SnapshotBound
from fanlight.engine.spark.fields import Fields, build_fields
from fanlight.engine.spark.foreign_frames import in_kind
from fanlight.engine.spark.ordered.windows import release_snapshots, why_not_in_a_pass
from fanlight.engine.spark.placed.events import merge_equal, take_snapshots
from fanlight.engine.spark.requested_aggregates import collect_calls
from fanlight.engine.spark.windows.base import (
    Named,
    Several,
    Windowed,
    check_hints,
    errors_of_call,
    name_call,
)
from fanlight.engine.spark.windows.placed import PlacedWindows
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.sliding import Sliding
from fanlight.engine.spec.units import read_extent
from fanlight.types import Aggregated, Duration, Instant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from fanlight.engine.algebra.aggregate import Call
    from fanlight.engine.plan.explain import Explained


class WithRunning(Windowed):
    """Windows over events that last, some of which may not have ended yet."""

    __slots__ = ()

    def running(
        self,
        *,
        as_of: Instant | None = None,
        id: str | None = None,
        max_duration: Duration | None = None,
    ) -> Self:
        """Count events that have no stop yet, and use one row for each event.

        In a stream, a row without a stop reports that an event has begun, and a later row with the
        same ``id`` reports when it ended. Until then the event is running, at least up to the
        watermark, because an earlier stop would have arrived. So it is in every window from its
        start up to the watermark, a window is exact once it is final, and the watermark's delay
        does not have to be as long as events last: it is how late rows about starts and stops may
        be. With :meth:`early` open windows are emitted, too, again when events start, continue or
        are corrected.

        Parameters
        ----------
        as_of
            When the batch was taken: a ``datetime``, a text such as ``"2025-03-01T00:00:00Z"``, or
            a number. An event whose stop is null is running until then: it is in every window from
            its start up to this time. An event that starts then or later is in no window, and
            ``rejected()`` shows it. Without it, rows without a stop are in no window.
        id
            A column that identifies the event of a row. If an event has several rows, the latest
            counts: the one with the latest stop, a row without a stop only if no other has one,
            then the one with the latest start. Null does not identify an event: each such row
            counts, but in a stream only with a stop. A stream requires ``id``, a text or a whole
            number; there it distinguishes the events of one key.
        max_duration
            In a stream: the maximum time for which an event without a stop is running, a duration.
            Without it, an event whose stop never arrives is kept, and counted, forever.

        Returns
        -------
        Self
            The same windows.

        Raises
        ------
        FanlightError
            If both are missing; if ``as_of`` is not a time of the same kind as the columns, or is
            given for a stream, where the watermark replaces it; or if there is no such column. For
            a stream, if ``id`` is missing, or with ``late="collect"`` or ``late="open"``; and from
            ``agg``, if an aggregate needs the end of events: ``overlap``, ``peak``, ``first``,
            ``max_by``, lists.

        Notes
        -----
        Cost: in a batch ``id`` sorts the rows of each event. A stream keeps the events that are
        running or in an open window in a stateful operator in Python, which needs RocksDB.

        Examples
        --------
        >>> import fanlight as fl
        >>> stays = spark.sql("select * from values (0, 4), (3, null) as t(start, stop)")
        >>> windows = fl.over(stays, fl.Sliding(5), time=("start", "stop")).running(as_of=9)
        >>> [row.n for row in windows.agg(n=fl.agg.count()).orderBy("window").collect()]
        [2, 1]

        """
        return self._ask(RUNNING, as_of=as_of, id=id, max_duration=max_duration)


class EventWindows(PlacedWindows, WithRunning):
    """Events that last, seen through windows; made by :func:`fanlight.over` from a pair of times.

    An event ``[start, stop)`` is in each window that shares an instant with it, once; with the
    ``offset`` of levels, only its part after that counts. If an aggregate needs an order or one
    instant of an event (first, collect_list, linear_fit), that is its stop, then its start.

    In a stream each row is emitted once, when the watermark on the stop passes the window's end: at
    the window's end + TTP. An event that arrives after its first window was emitted is late, and
    dropped from all its windows.
    """

    __slots__ = ()

    def using(
        self,
        strategy: str | None = None,
        *,
        rate: float | None = None,
        groups: float | None = None,
        partitions: int | None = None,
        duration: Duration | None = None,
        height: int | None = None,
    ) -> Self:
        """Force a strategy, or give the cost model facts that it cannot know.

        What a later call leaves out stays as an earlier one said.

        Parameters
        ----------
        strategy
            ``"auto"`` (the cheapest by the cost model); fanlight's own: ``"levels"`` (batch: two
            entries per event), ``"cells"`` (events of the same windows are combined first); the
            paper's: ``"aggregate-buckets"`` (each event is copied into each window). For aggregates
            of the parts of events, in a batch, ``"panes"`` (events are cut at their edges). For a
            single kind of windows, in a Python operator, for comparison, also ``"tuple-buckets"``,
            ``"cumulative-sweeping"`` (exact sums and counts), ``"selective-sweeping"`` (minima and
            maxima), ``"se-slicing"``, ``"se-ml-slicing"``; for levels and lists ``"separate"``
            (each computed separately).
        rate
            Events per second over all keys (per unit of a numeric time).
        groups
            The number of distinct keys.
        partitions
            For a stream with state in Python: the number of groups into which its keys are divided,
            each for one of Spark's tasks. By default the number of tasks,
            ``spark.sql.shuffle.partitions`` when the stream begins; the checkpoint keeps it.
        duration
            The average duration of events: a duration, or a number for a numeric time. By default
            as long as a window of the first kind.
        height
            The levels of ``"se-ml-slicing"``, at least 1.

        Returns
        -------
        EventWindows
            The same windows with these hints.

        Raises
        ------
        FanlightError
            If the strategy is unknown, or a hint is not positive. :meth:`agg` checks whether a
            strategy fits the aggregates.

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
        levels = None if height is None else check_height(height)
        length = None
        if duration is not None:
            given = read_extent("duration", duration)
            self._bound.check_length("duration", given, whole=False)
            length = given.value
        return self._with_hints(
            strategy, partitions, rate=rate, groups=groups, duration=length, height=levels
        )


class SnapshotWindows(WithRunning):
    """Events that last, seen through snapshots; made by :func:`fanlight.over`, frozen."""

    __slots__ = ()
    _bound: SnapshotBound

    @property
    def _spec(self) -> Any:
        """The windows, as a user wrote them: those of the bound are a grid over time."""
        return self._bound.snapshot

    def _find_strategy(self, strategy: str) -> Strategy:
        asked = find_strategy(strategy, (NATIVE, ARROW), of=" of snapshots")
        if asked == NATIVE and self._bound.df.isStreaming:
            raise strategy_error(asked, "a stream is read by a stateful operator")
        return asked

    @in_kind
    def agg(self, /, *aggregates: Aggregated, **named: Aggregated) -> DataFrame:
        """Return one row per window and key: the ``by`` columns, ``window``, then the aggregates.

        The aggregates cover the events that are running in the window. A stream emits each row
        once, when the watermark on the stop passes the window's end (append mode).

        Cost: one shuffle by key; then an event is combined into as many nodes of a tree as the
        logarithm of the number of its windows. For counts, sums, and least and greatest values, a
        batch uses one pass in Python, which keeps the running events. For other aggregates, Spark
        sorts the starts and stops of each key, and joins events with their numbers twice and
        windows once.

        Parameters
        ----------
        aggregates
            Aggregates of :mod:`fanlight.agg`, for example ``agg.count()``;
            ``.transform(function)`` of one is a function of its result.
        named
            The same under output names of their own: ``running=agg.count()``.

        Returns
        -------
        DataFrame
            A plain DataFrame; streaming if the source is.

        Raises
        ------
        FanlightError
            If an aggregate is unknown, its column is missing or has the wrong type, output names
            clash, or it depends on the instants of rows (``linear_fit``); in a stream also for
            ``merge_equal`` with an aggregate whose results may be equal although their states
            differ, such as a mean.

        Examples
        --------
        >>> import fanlight as fl
        >>> from fanlight import agg
        >>> stays = spark.sql("select * from values (0, 10), (4, 6), (6, 12) as t(start, stop)")
        >>> windows = fl.over(stays, fl.Snapshot(merge_equal=True), time=("start", "stop"))
        >>> taken = windows.agg(taken=agg.count()).orderBy("window").collect()
        >>> [(row.window.start, row.window.end, row.taken) for row in taken]
        [(0, 4, 1), (4, 10, 2), (10, 12, 1)]

        """
        bound = self._bound
        calls = collect_calls(bound, aggregates, named, bound.window_columns)
        with errors_of_call(name_call(calls)):
            fields = build_fields(bound, calls, exact=bound.df.isStreaming)
            _refuse_instants(fields)
            in_a_pass = not self._why_natively(fields)
            windows = (
                release_snapshots(bound, fields) if in_a_pass else self._in_batch(calls, fields)
            )
            if bound.least:
                windows = windows.filter(f"upto - start >= {bound.least}")
            start, stop = "start", "upto"
            if not bound.coordinate.is_unit_number:
                start, stop = result.window_times(bound, start, stop)
            columns = result.name_by_number([call.label for call in calls])
            if in_a_pass:
                columns = result.lower_outputs(fields, "start")
            return self._complete(result.finish_result(bound, windows, start, stop, columns))

    def _why_natively(self, fields: Fields) -> str:
        """The reason to take Spark's own plan, not a pass in Python. It is empty for a pass."""
        if self._bound.df.isStreaming:
            return ""
        if self._hints.strategy == NATIVE:
            return "as asked for"
        why = why_not_in_a_pass(self._bound, fields)
        if why and self._hints.strategy == ARROW:
            raise strategy_error(ARROW, why)
        return why

    def _in_batch(self, calls: Sequence[Call], fields: Fields) -> DataFrame:
        bound = self._bound
        windows = take_snapshots(bound, calls, fields, _over_numbers)
        if not bound.snapshot.merge_equal:
            return windows
        return merge_equal(windows, bound.keys, [f"r{n}" for n, _ in enumerate(calls)])

    def _explain(self, aggregates: Several, named: Named, *, verbose: bool) -> Explained:
        bound, fields = self._bound, Fields()
        if aggregates or named:
            calls = collect_calls(bound, aggregates, named, bound.window_columns)
            fields = build_fields(bound, calls, exact=bound.df.isStreaming)
        return explain_snapshot(self._why_natively(fields), self._about(verbose=verbose))


def _refuse_instants(fields: Fields) -> None:
    """Refuse aggregates of when rows are: a window has events, and no instants of them."""
    for output in fields.outputs:
        kept = {name for part in output.parts.values() for name in part.names}
        timed = (find_places(one.monoid.value) for one in fields.all if one.name in kept)
        if "start" in find_places(output.lower) or any("time" in places for places in timed):
            raise refuse(
                output.label,
                "is of the instants of rows, and events that are running have many",
                "ask for it over points: time='stop'",
            )


def _over_numbers(
    rows: DataFrame, keys: Sequence[str], ties: Sequence[str], calls: Sequence[Call]
) -> DataFrame:
    """Aggregates over events that last from ``low`` to ``high``, in windows of length 1."""
    bound = bind_lasting(rows, Sliding(1), ("low", "high"), list(keys), list(ties), "drop")
    return EventWindows(bound).agg(*calls)
