"""Events that last, seen through the windows in which the same of them are running."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fanlight.engine.algebra.sql_text import find_places
from fanlight.engine.plan.candidate import find_strategy, strategy_error
from fanlight.engine.plan.explain_kinds import explain_snapshot
from fanlight.engine.plan.ways import ARROW, NATIVE, Strategy
from fanlight.engine.spark import result
from fanlight.engine.spark.asked import collect_calls
from fanlight.engine.spark.binding.placed import bind_lasting
from fanlight.engine.spark.binding.snapshot import SnapshotBound
from fanlight.engine.spark.fields import Fields, build_fields
from fanlight.engine.spark.foreign_frames import in_kind
from fanlight.engine.spark.ordered.event_windows import release_snapshots, why_not_in_a_pass
from fanlight.engine.spark.placed.snapshots import merge_equal, take_snapshots
from fanlight.engine.spark.windows.base import Named, Several, errors_of_call, name_call
from fanlight.engine.spark.windows.events import EventWindows, WithRunning
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.sliding import Sliding
from fanlight.types import Aggregated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from fanlight.engine.algebra.aggregate import Call
    from fanlight.engine.plan.explain import Explained


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
