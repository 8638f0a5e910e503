"""What every kind of window over a DataFrame has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from inspect import isfunction
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.arithmetic import Arithmetic
from fanlight.engine.algebra.expression import Expression, SqlExpression
from fanlight.engine.algebra.registry import AGGREGATES
from fanlight.engine.algebra.sql_text import fill
from fanlight.engine.algebra.suggestions import advise_called, advise_of_rows
from fanlight.engine.kinds.options import EARLY, POSTPONE
from fanlight.engine.plan.candidate import Plan
from fanlight.engine.plan.explain import About, Explained
from fanlight.engine.plan.request import Hints
from fanlight.engine.plan.ways import Strategy
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.fingerprint import (
    BATCH_BYTES,
    COUNT_ROWS_ALONE,
    counts_bytes,
    describe_state,
    read_setting,
)
from fanlight.engine.spark.foreign_frames import in_kind
from fanlight.engine.spark.options import ask, name_options
from fanlight.engine.spark.ordered.late_rows import add_late_rows
from fanlight.engine.spark.quiet import quietly
from fanlight.engine.spark.rejected import rejected_rows
from fanlight.engine.spark.row_estimate import estimated_rows
from fanlight.engine.spec.arguments import check_flag
from fanlight.engine.spec.errors import (
    FanlightError,
    MissingError,
    explain_wrong_calls,
    guess,
    refuse,
)
from fanlight.engine.spec.pictures import Picture, Pictured
from fanlight.types import Aggregated, Duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

_VERY_MANY = 1e15  # rows


class Windowed(Pictured, ABC):
    """A DataFrame seen through windows; made by :func:`fanlight.over`, frozen.

    Nothing is computed until the DataFrame that a terminal method returns is acted on. What a kind
    of windows can do in addition is in its own class: ``agg`` in most, ``early`` in those that a
    stream can give while they are open, ``wide`` in those that time places, ``fit`` and
    ``recurring`` in :class:`fanlight.LevelWindows`, ``frames``, ``rows``, ``fill`` and ``split`` in
    :class:`fanlight.FrameWindows`, ``at`` and ``attach`` in
    :class:`fanlight.TrailingWindows`, ``detect`` in :class:`fanlight.WideningWindows`.
    """

    __slots__ = ("_bound", "_hints")
    _bound: Any
    _hints: Hints

    def __init__(self, bound: Any, hints: Hints | None = None) -> None:
        self._bound = bound
        self._hints = hints or Hints()

    def __init_subclass__(cls) -> None:
        """Have each method explain calls with wrong arguments."""
        for name, method in [*vars(cls).items()]:
            if isfunction(method) and not name.startswith("_"):
                setattr(cls, name, explain_wrong_calls()(method))

    @explain_wrong_calls()
    def using(
        self,
        strategy: str | None = None,
        *,
        rate: float | None = None,
        groups: float | None = None,
        partitions: int | None = None,
    ) -> Self:
        """Choose how windows are computed, or give the cost model facts that it cannot know.

        What a later call leaves out stays as an earlier one said.

        Parameters
        ----------
        strategy
            ``"auto"``, the default: the cheapest by the cost model; snapshots and widening windows
            have no other. A single kind of windows over time: ``"panes"``, ``"pairs"``,
            ``"differential"`` (running totals; exact and invertible aggregates only) or
            ``"expand"`` (Spark's own way, for comparison). Levels and lists: ``"granules"`` (shared
            by all, rolled up natively), ``"chain"`` (streams: granules pass through the stairwise
            chain, in one stateful operator) or ``"separate"`` (each computed separately, for
            comparison: the source is read once for each). Both, in a batch: ``"lifetimes"``
            (distinct values as events that last), for aggregates that count distinct values, and
            ``"ranks"`` (values are ranked, and a compiled loop reads the windows in one pass), for
            aggregates that need exact percentiles, frequent or distinct values. Frames and features
            as of a row: ``"arrow"`` (compiled loops over sorted rows, in Python workers), or in a
            batch ``"native"`` (Spark SQL alone, for clusters whose Python workers have no
            fanlight): threshold and boundary frames, and sessions, unless limits on time or rows
            end them; windows over time that include the row itself, with aggregates whose partials
            have a fixed size and need no order. Both, in a batch: ``"chunks"`` (the rows of one key
            in many tasks), for threshold, boundary and state frames, for sessions, and for features
            as of a row whose windows have a range in time.
        rate
            Rows per second over all keys (per unit of a numeric time). fanlight does not read data
            to find it; by default it assumes a busy stream. Widening windows warn if a first batch
            would be longer than ``max_rows``.
        groups
            The number of distinct keys (the paper's G). Where so few keys would leave cores idle,
            ``"auto"`` may divide the rows of each among tasks (``"chunks"``).
        partitions
            For a stream with state in Python: the number of groups into which its keys are divided,
            each for one of Spark's tasks. By default the number of tasks,
            ``spark.sql.shuffle.partitions`` when the stream begins; the checkpoint keeps it.

        Returns
        -------
        Self
            The same windows with these hints.

        Raises
        ------
        FanlightError
            If the strategy is unknown or not available for these windows, or a hint is not
            positive. The last method checks whether it fits the aggregates.

        Examples
        --------
        >>> import fanlight as fl
        >>> bids = spark.sql("SELECT timestamp_seconds(id) AS ts, id AS price FROM range(600)")
        >>> windows = fl.over(bids, fl.Sliding("4 minutes", "1 minute"), time="ts")
        >>> windows.using("panes", rate=1.0).agg(fl.agg.max("price")).count()
        13
        >>> frames = fl.over(bids, fl.ThresholdFrame("price % 4 > 1"), time="ts")
        >>> frames.using("native").frames().count()
        150

        """
        check_hints(rate=rate, groups=groups)
        return self._with_hints(strategy, partitions, rate=rate, groups=groups)

    def _with_hints(self, strategy: str | None, partitions: int | None, **hints: Any) -> Self:
        """The same windows with a strategy, once it is checked, and these hints."""
        known = self._hints.strategy if strategy is None else self._find_strategy(strategy)
        given = self._hints.with_hints(known, **hints)
        return type(self)(with_partitions(self._bound, partitions), given)

    @abstractmethod
    def _find_strategy(self, strategy: str) -> Strategy:
        """The strategy of a name; an error says why these windows have no such one."""

    @explain_wrong_calls()
    def explain(
        self, /, *aggregates: Aggregated, verbose: bool = False, **named: Aggregated
    ) -> str:
        """Explain what is computed, how often and how, the state that a stream keeps, and why.

        Parameters
        ----------
        aggregates, named
            As for the last method of the windows. Without any, windows over time are explained for
            ``count(*)``. Widening windows have none.
        verbose
            Also list every candidate, with its estimated cost or the reason why it cannot be used,
            and how time is cut.

        Returns
        -------
        str
            A page to print.

        Examples
        --------
        >>> import fanlight as fl
        >>> paid = spark.range(50_000_000).selectExpr("timestamp_seconds(id) AS ts")
        >>> print(fl.over(paid, fl.Trailing("1 minute"), time="ts").explain(fl.agg.count()))
        ... # doctest: +ELLIPSIS
        Trailing('1 minute') over 'ts', batch
          computes    count(1)
          how         the rows of a key are read once, in order of time; each enters and ...
          strategy    arrow, the cheapest of 3 ways that fit, by the cost model; explain(ver...

        """
        verbose, named = read_verbose(verbose, named)
        return self._explain(aggregates, named, verbose=verbose)

    @property
    def _keys(self) -> float | None:
        """How many keys there are, if that was told, or there is none to tell."""
        return self._hints.groups if self._bound.by else 1

    def _rows_for(
        self, plan: Callable[..., Plan[Any]], *, explained: bool, divisible: bool = False
    ) -> float | None:
        """About how many rows there are; Spark is asked only if it makes a difference to a plan.

        If ``explained``, what ``"auto"`` would choose makes a difference, too; if ``divisible``,
        that there are very many.
        """
        plans = [plan(rows=rows) for rows in (1.0, None, *([_VERY_MANY] if divisible else []))]
        names = {(one.chosen.name, one.by_auto.name if explained else "") for one in plans}
        return estimated_rows(self._bound.df) if len(names) > 1 else None

    def _about(self, *, verbose: bool) -> About:
        """What is said of the windows, whatever is computed."""
        bound, streaming = self._bound, self._bound.df.isStreaming
        counted = verbose and counts_bytes(read_setting(bound.df.sparkSession, BATCH_BYTES))
        return About(
            self._spec, bound.times, bound.names, streaming,
            state=describe_state(bound) if streaming else "", silence=bound.source.forget_after,
            late=bound.lateness, options=name_options(bound), early=bound.early is not None,
            verbose=verbose, faster=COUNT_ROWS_ALONE if counted else "",
        )  # fmt: skip

    @abstractmethod
    def _explain(self, aggregates: Several, named: Named, *, verbose: bool) -> Explained:
        """The page of what is computed and how."""

    @explain_wrong_calls()
    @in_kind
    def rejected(self) -> DataFrame:
        """Return the rows that are in no window because of their time, with a column ``reason``.

        Their time is null, not a number, or too large for the grid of the windows. For a pair of
        times also if the stop is before the start; for sessions also if the gap of the row is null
        or not positive. Late rows of a stream are not included: :func:`fanlight.progress` counts
        them.

        Returns
        -------
        DataFrame
            The source's columns and ``reason``.

        Examples
        --------
        >>> import fanlight as fl
        >>> bids = spark.sql("SELECT timestamp_seconds(nullif(id, 3)) AS ts, id FROM range(5)")
        >>> fl.over(bids, fl.Sliding("1 minute"), time="ts").rejected().collect()
        [Row(ts=None, id=3, reason='ts is null')]

        """
        return rejected_rows(self._bound)

    def _complete(self, result: DataFrame, kept: Sequence[str] = ()) -> DataFrame:
        """The result, analysed, with the late rows beside it if they are collected.

        ``kept`` names the columns of the source that are columns of the result.
        """
        return check_analysis(add_late_rows(self._bound, result, kept))

    def _with_bound(self, bound: Any) -> Self:
        """The same windows of another bound."""
        return type(self)(bound, self._hints)

    def _ask(self, verb: str, **arguments: Any) -> Self:
        """The same windows, asked by a verb."""
        return self._with_bound(ask(self._bound, verb, arguments))

    @explain_wrong_calls("windows.postpone('2 hours')")
    def postpone(self, wait: Duration) -> Self:
        """Wait longer for rows of a stream: windows are released later, and rows are late later.

        For rows that always arrive later than the watermark's delay allows. An event that lasts,
        made from a frame or a session, is known only when the frame has ended: for windows over
        such events, postpone by the duration of the frames. For frames with ``max_duration`` this
        is the default; for others :meth:`agg` requires it.

        Parameters
        ----------
        wait
            How much longer to wait: a duration, ``"0 seconds"`` for no additional wait.

        Returns
        -------
        Windowed
            The same windows, postponed. A batch has no late rows, and its result does not change.

        Raises
        ------
        FanlightError
            If ``wait`` is not a duration, or is negative.

        Notes
        -----
        A window is released when the watermark is that far past its end, so its result is emitted
        that much later, and a stream keeps more state accordingly. A row is late once the first of
        its windows has been released.

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

    def __repr__(self) -> str:
        spec = list(self._spec) if isinstance(self._spec, tuple) else self._spec
        return f"{type(self).__name__}({spec!r} over {self._bound.times!r})"

    def _picture_(self) -> Picture:
        """What a notebook shows: the windows; nothing is asked of Spark."""
        by = ", ".join(self._bound.names)
        note = f"{f'by {by}' if by else 'no keys'}; write .explain() to see how they are computed"
        return Picture(self._spec, heading=repr(self), note=note)

    if not TYPE_CHECKING:  # a type checker knows what there is

        def __getattr__(self, name: str) -> NoReturn:
            """Advise on attributes that windows lack, such as a DataFrame's methods."""
            if name.startswith("_"):  # what copy, pickle or a notebook looks for
                raise AttributeError(name)
            raise refuse_attribute(self, name)


class WindowedEarly(Windowed):
    """Windows that a stream can also give while they are open."""

    __slots__ = ()

    def early(self, every: Duration | None = None) -> Self:
        """Also emit the open windows of a stream, each again when it has changed.

        For ``outputMode("update")``. The result has a column ``final``: false for a window that
        rows may still change, true once, when the watermark has passed its end; that result is the
        one that append mode emits. A later result replaces an earlier one: write windows over time
        by key and window, and frames by key and ``frame_id``, with :func:`fanlight.upsert`.

        An open frame or session has the rows that the watermark has passed, ends a microsecond
        after the last of them, and is not ``closed``. ``agg`` and ``frames`` emit it.

        Parameters
        ----------
        every
            Emit changes at most once in this time, a duration, as the watermark advances; by
            default with each micro-batch.

        Returns
        -------
        Windowed
            The same windows, with early results.

        Raises
        ------
        FanlightError
            If it is a batch, or ``every`` is not a positive duration. Windows over time: if they
            are counted in rows, or with ``late="open"``, weights or ``changes_only``. Frames: if an
            open one may still become too small (``leave_for`` with ``min_rows`` or
            ``min_duration``).

        Notes
        -----
        Cost: windows over time go to a stateful operator in Python, which keeps the pieces of open
        windows, and computes a window from its pieces each time it is emitted. Frames always use a
        stateful operator, which keeps one more number for each key. It needs RocksDB.

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
Several = Sequence[Aggregated]
Named = Mapping[str, Aggregated]
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


# Methods of a DataFrame that have a place before the windows, and what to write there.
_BEFORE = {
    **dict.fromkeys(("groupBy", "groupby", "rollup", "cube"), "fl.over(df, …, by='key')"),
    **dict.fromkeys(
        ("select", "selectExpr", "filter", "where", "withColumn", "withColumns", "join"),
        "fl.over(df.{name}(…), …)",
    ),
    "withWatermark": "fl.over(df.withWatermark(…), …)",
    "orderBy": "fl.over(df, …, tiebreak='seq') for the order of rows of one time",
}

# Methods that windows of another kind have, and what to write for such windows.
_OTHER_KINDS = {
    **dict.fromkeys(("at", "attach"), "fl.over(df, fl.Trailing('1 hour'), …).{name}(…)"),
    **dict.fromkeys(
        ("bursts", "fit", "recurring", "reversals", "wide"),
        "fl.over(df, fl.MultiGranular(…), …).{name}(…)",
    ),
    **dict.fromkeys(
        ("accumulate", "fill", "frames", "repair", "rows", "split"),
        "fl.over(df, fl.ThresholdFrame('v > 1'), …).{name}(…)",
    ),
    "running": "fl.over(df, fl.Sliding('1 hour'), time=('start', 'stop')).{name}(…)",
    "detect": "fl.over(df, fl.ProgressiveWidening(…), …).{name}(…)",
    **dict.fromkeys(
        ("agg", "complete_only", "early", "pieces", "with_empty"),
        "fl.over(df, fl.Sliding('1 hour', '1 minute'), …).{name}(…)",
    ),
}


def refuse_attribute(windowed: object, name: str) -> MissingError:
    """The error for an attribute ``name``."""
    kind = type(windowed)
    own = [method for method in dir(kind) if not method.startswith("_")]
    results = ("agg(agg.count())", "attach(agg.count())", "detect(…)")
    result = next(method for method in results if method.split("(")[0] in own)
    of = f"{kind.__name__} has no {name!r}"
    if name in _OTHER_KINDS:
        instead = f"windows.{result}, or " if name == "agg" else ""
        there = fill(_OTHER_KINDS[name], name=name)
        return MissingError(
            f"{of}, which other windows have; write {instead}{there}; these have {', '.join(own)}"
        )
    method = result.split("(", maxsplit=1)[0]
    name = name if hasattr(DataFrame, name) else AGGREGATES.names.get(name, name)
    if method != "detect" and not hasattr(DataFrame, name) and (call := advise_called(name)):
        return MissingError(
            f"{of}: aggregates are arguments of {method}(); write windows.{method}({call}), after "
            "'from fanlight import agg'"
        )
    if each := advise_of_rows(name):
        return MissingError(f"{of}; write {each}, after 'from fanlight import agg'")
    if name in AGGREGATES and method != "detect":
        instead = f"windows.{method}(agg.{name}({'' if name == 'count' else '…'}))"
        rows = (
            f", or windows.{result}.count() for the rows of the result" if name == "count" else ""
        )
        return MissingError(
            f"{of}: aggregates are arguments of {method}(); write {instead}{rows}, after "
            "'from fanlight import agg'"
        )
    if hasattr(DataFrame, name):
        where = fill(_BEFORE.get(name, ""), name=name)
        return MissingError(
            f"{of}: it is not a DataFrame, its methods return one; write windows.{result}.{name}"
            f"{f', or {where}' if where else ''}"
        )
    close = guess(name, own)
    asked = f"write {close!r}" if close else f"choose one of {', '.join(own)}"
    return MissingError(f"{of}; {asked}")
