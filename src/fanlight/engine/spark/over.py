"""``over``: the entry point of the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

from fanlight.engine.kinds import kind_of
from fanlight.engine.kinds.kind import FRAMED, LEVELLED, PLACED, SNAPPED, TRAILED, WIDENED, Family
from fanlight.engine.plan.late_rows import check_late, refuse_open_windows
from fanlight.engine.spark import translation
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.binding.frames import bind_frames, check_ends
from fanlight.engine.spark.binding.placed import bind_lasting, bind_points
from fanlight.engine.spark.binding.snapshot import bind_snapshot
from fanlight.engine.spark.binding.trailing import bind_trailing
from fanlight.engine.spark.binding.widening import bind_widening
from fanlight.engine.spark.foreign_frames import open_frame, remember
from fanlight.engine.spark.lives import forget_keys
from fanlight.engine.spark.rejected import count_rejected
from fanlight.engine.spark.windows.events import EventWindows, SnapshotWindows
from fanlight.engine.spark.windows.frames import FrameWindows
from fanlight.engine.spark.windows.levels import LevelWindows
from fanlight.engine.spark.windows.placed import SlidingWindows
from fanlight.engine.spark.windows.trailing import TrailingWindows
from fanlight.engine.spark.windows.widening import WideningWindows
from fanlight.engine.spec.errors import CallError, explain_wrong_calls, refuse, shorten
from fanlight.engine.spec.frames import Frame
from fanlight.engine.spec.granular import MultiGranular
from fanlight.engine.spec.sliding import Sliding
from fanlight.engine.spec.snapshot import Snapshot
from fanlight.engine.spec.trailing import Trailing
from fanlight.engine.spec.widening import ProgressiveWidening
from fanlight.types import DataFrameLike, Duration, Keys, Late, LateInOrder, Spec

if TYPE_CHECKING:
    from pyspark.sql import Column

    from fanlight.engine.spark.windows.base import Windowed


@overload
def over(
    df: DataFrameLike,
    spec: Sliding | Sequence[Sliding],
    *,
    time: str,
    by: Keys = (),
    tiebreak: Keys = (),
    late: Late = "drop",
    forget_after: Duration | None = None,
) -> SlidingWindows: ...


@overload
def over(
    df: DataFrameLike,
    spec: MultiGranular,
    *,
    time: str,
    by: Keys = (),
    tiebreak: Keys = (),
    late: Late = "drop",
    forget_after: Duration | None = None,
) -> LevelWindows: ...


@overload
def over(
    df: DataFrameLike,
    spec: Sliding | MultiGranular | Sequence[Sliding],
    *,
    time: tuple[str, str],
    by: Keys = (),
    tiebreak: Keys = (),
    late: Late = "drop",
    forget_after: Duration | None = None,
) -> EventWindows: ...


@overload
def over(
    df: DataFrameLike,
    spec: Frame,
    *,
    time: str,
    by: Keys = (),
    tiebreak: Keys = (),
    late: LateInOrder = "drop",
    forget_after: Duration | None = None,
) -> FrameWindows: ...


@overload
def over(
    df: DataFrameLike,
    spec: Trailing | Mapping[str, Trailing],
    *,
    time: str,
    by: Keys = (),
    tiebreak: Keys = (),
    late: LateInOrder = "drop",
    forget_after: Duration | None = None,
) -> TrailingWindows: ...


@overload
def over(
    df: DataFrameLike,
    spec: Snapshot,
    *,
    time: tuple[str, str],
    by: Keys = (),
    tiebreak: Keys = (),
    late: LateInOrder = "drop",
    forget_after: Duration | None = None,
) -> SnapshotWindows: ...


@overload
def over(
    df: DataFrameLike,
    spec: ProgressiveWidening,
    *,
    time: str,
    by: Keys = (),
    tiebreak: Keys = (),
    late: LateInOrder = "drop",
    forget_after: Duration | None = None,
) -> WideningWindows: ...


@overload
def over(
    df: DataFrameLike,
    spec: Column,
    *,
    time: str = ...,
    by: Keys = (),
    tiebreak: Keys = (),
    late: Late = "drop",
    forget_after: Duration | None = None,
) -> SlidingWindows | FrameWindows: ...


@explain_wrong_calls("fl.over(df, fl.Sliding('1 hour', '1 minute'), time='ts', by='key')")
def over(
    df: DataFrameLike,
    spec: Spec | Column,
    *,
    time: str | tuple[str, str] = ...,  # type: ignore[assignment]
    by: Keys = (),
    tiebreak: Keys = (),
    late: Late = "drop",
    forget_after: Duration | None = None,
) -> Windowed:
    """Assign the rows of a DataFrame to windows: the entry point of the library.

    =====================================================  ===============================
    windows                                                are
    =====================================================  ===============================
    ``Sliding``, ``Calendar``, ``Cumulative``, a list      :class:`fanlight.SlidingWindows`
    ``MultiGranular``                                      :class:`fanlight.LevelWindows`
    any of these, with a pair as ``time``                  :class:`fanlight.EventWindows`
    ``Snapshot``, with a pair as ``time``                  :class:`fanlight.SnapshotWindows`
    frames and sessions                                    :class:`fanlight.FrameWindows`
    ``Trailing``, or several by their labels               :class:`fanlight.TrailingWindows`
    ``ProgressiveWidening``                                :class:`fanlight.WideningWindows`
    =====================================================  ===============================

    Parameters
    ----------
    df
        A batch or streaming DataFrame, classic or Spark Connect. A stream needs a watermark on
        ``time``. Also a DataFrame of narwhals or ibis over PySpark: results are then of the same
        kind.
    spec
        The windows: :class:`fanlight.Sliding`, :class:`fanlight.MultiGranular`, one of the frames,
        such as :class:`fanlight.DeltaFrame`, :class:`fanlight.ProgressiveWidening`, a list of
        :class:`fanlight.Sliding`, which share their slices; or :class:`fanlight.Trailing`, one or
        several by their labels. Spark's ``F.window(…)`` and ``F.session_window(…)`` are also
        accepted; they also name the time column.
    time
        The windowing attribute: a timestamp (with or without time zone), or in a batch an integer,
        a double, a date, or a time as text. Leave it out only with windows of Spark, such as
        ``F.window(…)``, which name it. Rows without a time are dropped;
        :meth:`fanlight.SlidingWindows.rejected` lists them. A pair ``(start, stop)`` of the same
        type for events with a duration: an event is then in every window that shares an instant of
        ``[start, stop)`` with it, one without length in those that hold its start. In a stream,
        set the watermark on ``stop``.
    by
        The key: a column, several, or none (``()`` or ``None``). Null is a key like any other.
    tiebreak
        Columns that order rows of equal time, for aggregates and windows that depend on order.
    late
        What happens to a late row of a stream. ``"drop"``: once the watermark has passed the end of
        the first of its windows, the row is dropped from all of them, whatever the strategy.
        ``"open"``: the row is added to those of its windows that the watermark has not passed, as
        in Spark's ``window()``; only strategies that copy each row into its windows support this.
        ``"collect"``: as ``"drop"``, but the same stream also emits the late rows, with a column
        ``late``: a struct of the ``row`` and, for windows over time, the ``windows`` that it
        missed. In the rows of windows ``late`` is null. This costs a second read of the source, and
        one more stateful operator in Python. Data-driven windows (frames, windows over rows,
        progressive widening) do not support ``"open"``: a row is late once the watermark has passed
        its time. A batch has no late rows.
    forget_after
        A duration, with the same effect in a batch and in a stream: the first row of a key after a
        longer silence counts as the first row of a new key, so numbers begin at 0 again and earlier
        rows have no effect. In a stream, the state of a key is removed as soon as the watermark
        shows that the key was silent that long; its open frame is then emitted as at the end of a
        batch. By default a stream keeps state for every key for as long as the query lives: for
        frames, windows over rows and trend lines a few numbers. Windows over time keep no state of
        a key after its last window, so for them the duration has to be at least the longest RANGE,
        and changes no aggregate.

    Returns
    -------
    Windowed
        An object of the class in the table above, with the methods of these windows.

    Raises
    ------
    FanlightError
        If a column is missing or has the wrong type, a key is named ``window``, a stream has no
        watermark or a numeric time, or the windows do not support this rule for late rows.

    Examples
    --------
    >>> import fanlight as fl
    >>> from fanlight import agg
    >>> bids = spark.sql("SELECT timestamp_seconds(id) AS ts, id % 2 AS item FROM range(120)")
    >>> counts = fl.over(bids, fl.Sliding("1 minute"), time="ts", by="item").agg(agg.count())
    >>> sorted(counts.select("item", "count(1)").collect())
    [Row(item=0, count(1)=30), Row(item=0, count(1)=30), Row(item=1, count(1)=30), \
Row(item=1, count(1)=30)]

    """
    rows, back = open_frame(df)
    return remember(_bind_windows(rows, spec, time, by, tiebreak, late, forget_after), back)


def _read_windows_of_spark(df: Any, given: Any, time: Any) -> tuple[Spec, str]:
    """Spark's own windows, given as a Column, and their time."""
    own = translation.read_windows(df, given)
    if own is None:
        usual = "pass a spec, for example fl.Sliding('1 hour', '1 minute')"
        advice = translation.advise_windows(df, given)
        raise refuse(
            f"over(df, {given!r})",
            "is not a window that fanlight knows",
            f"write {advice}" if advice else usual,
        )
    spec, named = own
    if time is not ... and not (isinstance(time, str) and time == named):
        raise refuse(
            f"over(df, {given!r}, time={time!r})", f"are windows over {named!r}",
            "leave time out, or write it the same",
        )  # fmt: skip
    return spec, named


def _bind_windows(
    df: Any, spec: Any, time: Any, by: Any, tiebreak: Any, late: Any, forget_after: Any
) -> Windowed:
    """The windows of a request, bound to the DataFrame."""
    if kind_of(df) is not None:
        raise refuse(
            f"over({shorten(repr(df))}, {shorten(repr(spec))})",
            "has the windows in the place of the DataFrame",
            "write fl.over(df, fl.Sliding('1 hour', '1 minute'), time='ts')",
        )
    kind = kind_of(spec)
    several = isinstance(spec, (list, tuple, Mapping))
    if kind is None and not several:
        spec, time = _read_windows_of_spark(df, spec, time)
        kind = kind_of(spec)
    elif time is ...:
        raise CallError(
            "over(…): missing a required argument: 'time'; write for example "
            "fl.over(df, fl.Sliding('1 hour', '1 minute'), time='ts', by='key')"
        )
    collects = check_late(late) == "collect"
    rule = "drop" if collects else late

    def finish(bound: Any) -> Any:
        asked = forget_keys(bound, forget_after)
        check_ends(asked)
        return replace(count_rejected(asked), collects=collects)

    # What is wrong in a list or a mapping is told below.
    listed = TRAILED if isinstance(spec, Mapping) else PLACED
    family = listed if kind is None else kind.family
    pair = isinstance(time, (tuple, list))
    found = _OPENED.get((family, pair))
    if found is None and pair:
        raise refuse(
            f"time={time!r}",
            f"is a pair, for events with a duration, and {type(spec).__name__} is for points",
            "name one column, or use a kind of window that takes a pair, for example fl.Sliding",
        )
    opened, bind = found or _OPENED[family, True]  # which says what is wrong of one column
    if family.droppable:
        refuse_open_windows(late, f"{type(spec).__name__} windows")
    rules = () if family.droppable else (rule,)
    return opened(finish(bind(df, spec, time, by, tiebreak, *rules)))


# By the family of a kind, and whether times are pairs: its windows, and what binds them.
_OPENED: dict[tuple[Family, bool], tuple[Callable[..., Windowed], Callable[..., Bound]]] = {
    (PLACED, False): (SlidingWindows, bind_points),
    (PLACED, True): (EventWindows, bind_lasting),
    (LEVELLED, False): (LevelWindows, bind_points),
    (LEVELLED, True): (EventWindows, bind_lasting),
    (SNAPPED, True): (SnapshotWindows, bind_snapshot),
    (FRAMED, False): (FrameWindows, bind_frames),
    (WIDENED, False): (WideningWindows, bind_widening),
    (TRAILED, False): (TrailingWindows, bind_trailing),
}
