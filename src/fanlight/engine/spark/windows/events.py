"""Windows over events that last: one kind, levels, or a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from fanlight.engine.plan.events import check_height
from fanlight.engine.spark.windows.placed import PlacedWindows
from fanlight.engine.spec.units import read_extent

if TYPE_CHECKING:
    from datetime import timedelta


class EventWindows(PlacedWindows):
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
        strategy: str = "auto",
        *,
        rate: float | None = None,
        groups: float | None = None,
        partitions: int | None = None,
        duration: str | timedelta | float | None = None,
        height: int | None = None,
    ) -> Self:
        """Force a strategy, or give the cost model what it cannot know.

        Parameters
        ----------
        strategy
            ``"auto"`` (the cheapest by the cost model); ours: ``"levels"`` (batch: two entries an
            event), ``"cells"`` (events of the same windows are combined first); the paper's:
            ``"aggregate-buckets"`` (each event into each window). For one kind of windows also, in
            a Python operator, for comparison, ``"tuple-buckets"``, ``"cumulative-sweeping"`` (exact
            sums and counts), ``"selective-sweeping"`` (minima and maxima), ``"se-slicing"``,
            ``"se-ml-slicing"``; for levels and lists ``"separate"`` (each by itself).
        rate
            Events per second over all keys (per unit of a numeric time).
        groups
            How many distinct keys.
        partitions
            A stream whose state is kept in Python: into how many groups its keys are divided, each
            for one of Spark's tasks. By default as many as there are tasks,
            ``spark.sql.shuffle.partitions`` when the stream begins; the checkpoint keeps them.
        duration
            How long events last on average: a duration, or a number for a numeric time. By default
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
        levels = None if height is None else check_height(height)
        length = None
        if duration is not None:
            given = read_extent("duration", duration)
            self._bound.check_length("duration", given, whole=False)
            length = given.value
        return self._with_hints(
            strategy,
            rate=rate,
            groups=groups,
            partitions=partitions,
            duration=length,
            height=levels,
        )
