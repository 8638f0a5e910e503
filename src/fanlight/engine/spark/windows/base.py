"""What every kind of window over a DataFrame has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from inspect import isfunction
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from pyspark.errors import PySparkException

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.arithmetic import Arithmetic
from fanlight.engine.algebra.expression import Expression, SqlExpression
from fanlight.engine.kinds.options import EARLY, POSTPONE
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.options import ask
from fanlight.engine.spark.ordered.late_rows import add_late_rows
from fanlight.engine.spark.quiet import quietly
from fanlight.engine.spark.windows.missing import refuse_attribute
from fanlight.engine.spec.arguments import check_flag
from fanlight.engine.spec.errors import FanlightError, explain_wrong_calls, refuse
from fanlight.engine.spec.pictures import Picture, Pictured
from fanlight.types import Aggregated, Duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame


class Windowed(Pictured, ABC):
    """A DataFrame seen through windows; made by :func:`fanlight.over`, frozen.

    Nothing is computed until the DataFrame that a terminal method returns is acted on. What a kind
    of windows can do in addition is in its own class: ``agg`` in most, ``early`` in those that a
    stream can give while they are open, ``wide`` in those that time places, ``fit`` and
    ``recurring`` in :class:`fanlight.LevelWindows`, ``frames``, ``rows``, ``fill`` and ``split`` in
    :class:`fanlight.FrameWindows`, ``at`` and ``attach`` in
    :class:`fanlight.TrailingWindows`, ``detect`` in :class:`fanlight.WideningWindows`.
    """

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        """Have each method explain calls with wrong arguments."""
        for name, method in [*vars(cls).items()]:
            if isfunction(method) and not name.startswith("_"):
                setattr(cls, name, explain_wrong_calls()(method))

    @abstractmethod
    def using(
        self,
        strategy: str = "auto",
        *,
        rate: float | None = None,
        groups: float | None = None,
        partitions: int | None = None,
    ) -> Self:
        """Force a strategy, give the cost model the rows a second and the number of keys.

        Or say into how many partitions a stream divides the keys whose state Python keeps.
        """

    @abstractmethod
    def explain(self, *args: Any, **named: Any) -> str:
        """What is computed, how, what a stream keeps, and why this strategy."""

    def _complete(self, result: DataFrame, kept: Sequence[str] = ()) -> DataFrame:
        """The result, analysed, with the late rows beside it if they are collected.

        ``kept`` names the columns of the source that are columns of the result.
        """
        return check_analysis(add_late_rows(self._bound, result, kept))

    @abstractmethod
    def rejected(self) -> DataFrame:
        """The rows that are in no window because their time is null or cannot be placed."""

    _bound: Any

    @abstractmethod
    def _with_bound(self, bound: Any) -> Self:
        """The same windows of another bound."""

    def _ask(self, verb: str, **arguments: Any) -> Self:
        """The same windows, asked by a verb."""
        return self._with_bound(ask(self._bound, verb, arguments))

    @explain_wrong_calls("windows.postpone('2 hours')")
    def postpone(self, wait: Duration) -> Self:
        """Wait so much longer for rows of a stream: windows are released, and rows late, later.

        For rows that come later than the watermark's delay allows for, because of what they are.
        An event that lasts, made of a frame or a session, is known when that has ended: in windows
        over such events postpone by how long frames last. Of frames with ``max_duration`` that is
        the default; of others :meth:`agg` asks for it.

        Parameters
        ----------
        wait
            How much longer: a duration, ``"0 seconds"`` for no longer at all.

        Returns
        -------
        Windowed
            The same windows, postponed. A batch has no late rows, and gives the same in any case.

        Raises
        ------
        FanlightError
            If ``wait`` is not a duration, or is negative.

        Notes
        -----
        A window is released when the watermark is that far past its end, so its result comes as
        much later, and a stream keeps as much more. A row is late once the first of its windows
        has been released.

        See Also
        --------
        Suzanne et al., *Slicing Techniques for Temporal Aggregation in Spanning Event Streams*,
        section 2 (the time to postpone, TTP).

        Examples
        --------
        >>> import fanlight as fl
        >>> from pyspark.sql import functions as F
        >>> calls = spark.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
        >>> hours = fl.over(calls, fl.Sliding("1 hour"), time="timestamp").agg(n=fl.agg.count())
        >>> events = hours.withColumn("start", F.col("window.start"))
        >>> events = events.withColumn("stop", F.window_time("window"))
        >>> days = fl.over(events, fl.Sliding("1 day"), time=("start", "stop"))
        >>> days.postpone("2 hours").agg(fl.agg.sum("n")).columns
        ['window', 'sum(n)']

        """
        return self._ask(POSTPONE, wait=wait)

    @property
    def _spec(self) -> Any:
        """The windows, as a user wrote them."""
        return self._bound.spec

    def _picture_(self) -> Picture:
        """What a notebook shows: the windows; nothing is asked of Spark."""
        by = ", ".join(self._bound.names)
        note = f"{f'by {by}' if by else 'no keys'}; write .explain() to see how they are computed"
        return Picture(self._spec, heading=repr(self), note=note)

    if not TYPE_CHECKING:  # a type checker knows what there is

        def __getattr__(self, name: str) -> NoReturn:
            """Say what to write instead of what is not there, such as a DataFrame's methods."""
            if name.startswith("_"):  # what copy, pickle or a notebook looks for
                raise AttributeError(name)
            raise refuse_attribute(self, name)


class WindowedEarly(Windowed):
    """Windows that a stream can also give while they are open."""

    __slots__ = ()

    def early(self, every: Duration | None = None) -> Self:
        """The windows of a stream also while they are open: each again when it has changed.

        For ``outputMode("update")``. The result has a column ``final``: false for a window that
        rows may still change, true once, when the watermark has passed its end; that result is
        the one that append mode gives. A later result replaces an earlier one: write windows over
        time by key and window, and frames by key and ``frame_id``, with :func:`fanlight.upsert`.

        An open frame, or session, has the rows that the watermark has passed, ends a microsecond
        after the last of them, and is not ``closed``. It is given by ``agg`` and ``frames``.

        Parameters
        ----------
        every
            Changes are given at most once in this time, a duration, as the watermark goes on; by
            default with each micro-batch.

        Returns
        -------
        Windowed
            The same windows, given early.

        Raises
        ------
        FanlightError
            If it is a batch, or ``every`` is no positive duration. Windows over time: if they are
            counted in rows, or ``late="open"``, weights or ``changes_only`` are asked for. Frames:
            if one that is open may yet turn out too small (``leave_for`` with ``min_rows`` or
            ``min_duration``).

        Notes
        -----
        Cost: windows over time go to a stateful operator in Python, which keeps the pieces of open
        ones, and a window is made of its pieces each time it is given. Frames are found by one
        anyway, which keeps one more number of each key. It needs RocksDB.

        Examples
        --------
        >>> import fanlight as fl
        >>> bids = spark.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
        >>> spark.conf.set(
        ...     "spark.sql.streaming.stateStore.providerClass",
        ...     "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        ... )
        >>> windows = fl.over(bids, fl.Sliding("1 hour", "1 minute"), time="timestamp").early()
        >>> windows.agg(fl.agg.count()).columns
        ['window', 'final', 'count(1)']
        >>> sessions = fl.over(bids, fl.Session("5 minutes"), time="timestamp")
        >>> sessions.early("1 minute").agg(fl.agg.count()).columns
        ['window', 'frame_id', 'rows', 'closed', 'final', 'count(1)']

        """
        return self._ask(EARLY, every=every)


_MOST = 1e18  # rows a second, or keys
SOME = range(1, 100_001)
B = TypeVar("B", bound=Bound)


@contextmanager
def errors_of_call(asked: str) -> Iterator[None]:
    """Context manager: Spark's error about a DataFrame made inside becomes one about the call."""
    try:
        with quietly():
            yield
    except PySparkException as error:
        raise FanlightError(f"Spark cannot analyse {asked}: {error}") from error


def check_analysis(df: DataFrame) -> DataFrame:
    """Have the DataFrame analysed now, since Connect does it only when asked; return it."""
    df.schema  # noqa: B018
    return df


def name_call(calls: Sequence[Aggregated]) -> str:
    """The call of ``agg`` as text, for errors."""
    return ", ".join(
        call.label if isinstance(call, (Arithmetic, SqlExpression)) else repr(call)
        for call in calls
    )


def read_verbose(
    verbose: bool | Call | Expression, named: dict[str, Aggregated]
) -> tuple[bool, dict[str, Aggregated]]:
    """Whether a page is asked for in full, and the aggregates by name: one may be named verbose."""
    if isinstance(verbose, Arithmetic):
        return False, {**named, "verbose": verbose}
    return check_flag("verbose", verbose), named


def with_partitions(bound: B, partitions: int | None) -> B:
    """The bound source with this number of partitions of state, if it is given."""
    if partitions is None:
        return bound
    if isinstance(partitions, bool) or not isinstance(partitions, int) or partitions not in SOME:
        raise refuse(
            f"partitions={partitions!r}",
            f"is not a whole number from 1 to {SOME[-1]:,}",
            "write for example partitions=16, or leave it out: one for each task",
        )
    return bound.with_source(partitions=partitions)


def check_hints(**hints: float | None) -> None:
    """Refuse hints that are not positive numbers."""
    for argument, hint in hints.items():
        if hint is not None and not (isinstance(hint, (int, float)) and 0 < hint <= _MOST):
            raise refuse(
                f"{argument}={hint!r}", "is not a positive number", f"write {argument}=100"
            )
