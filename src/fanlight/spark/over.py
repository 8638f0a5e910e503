"""``over`` and ``rejected``: the doors; each kind of window has its own room behind them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

from fanlight.spark.granular.levels import LevelWindows
from fanlight.spark.granular.windows import GranularWindows
from fanlight.spark.ordered.frame_windows import FrameWindows
from fanlight.spark.ordered.widening_windows import WideningWindows
from fanlight.spark.sliding.windows import SlidingWindows
from fanlight.spark.spanning.several.windows import SeveralWindows
from fanlight.spark.spanning.windows import SpanningWindows
from fanlight.spec.errors import refuse
from fanlight.spec.frames import Frame
from fanlight.spec.granular import MultiGranular
from fanlight.spec.sliding import Sliding
from fanlight.spec.widening import ProgressiveWidening

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from fanlight.spark.windowed import Windowed

# For each kind of spec, what makes its windows of (df, spec, time, by, tiebreak): over points,
KINDS: dict[type, Callable[..., Windowed]] = {
    Sliding: SlidingWindows.open,
    Frame: FrameWindows.open,
    MultiGranular: LevelWindows.open,
    list: GranularWindows.open,
    tuple: GranularWindows.open,
    ProgressiveWidening: WideningWindows.open,
}
# and over events that last, where ``time`` is a pair.
SPANNING: dict[type, Callable[..., Windowed]] = {
    Sliding: SpanningWindows.open,
    MultiGranular: SeveralWindows.open,
    list: SeveralWindows.open,
    tuple: SeveralWindows.open,
}

Time = str | tuple[str, str]


@overload
def over(
    df: DataFrame,
    spec: MultiGranular,
    *,
    time: str,
    by: str | Column | Sequence[str | Column] = (),
    tiebreak: str | Column | Sequence[str | Column] = (),
) -> LevelWindows: ...


@overload
def over(
    df: DataFrame,
    spec: MultiGranular,
    *,
    time: tuple[str, str],
    by: str | Column | Sequence[str | Column] = (),
    tiebreak: str | Column | Sequence[str | Column] = (),
) -> SeveralWindows: ...


@overload
def over(
    df: DataFrame,
    spec: Frame,
    *,
    time: str,
    by: str | Column | Sequence[str | Column] = (),
    tiebreak: str | Column | Sequence[str | Column] = (),
) -> FrameWindows: ...


@overload
def over(
    df: DataFrame,
    spec: ProgressiveWidening,
    *,
    time: str,
    by: str | Column | Sequence[str | Column] = (),
    tiebreak: str | Column | Sequence[str | Column] = (),
) -> WideningWindows: ...


@overload
def over(
    df: DataFrame,
    spec: Sliding | Sequence[Sliding],
    *,
    time: Time,
    by: str | Column | Sequence[str | Column] = (),
    tiebreak: str | Column | Sequence[str | Column] = (),
) -> SlidingWindows | SpanningWindows | GranularWindows | SeveralWindows: ...


def over(
    df: DataFrame,
    spec: Sliding | MultiGranular | Frame | ProgressiveWidening | Sequence[Sliding],
    *,
    time: Time,
    by: str | Column | Sequence[str | Column] = (),
    tiebreak: str | Column | Sequence[str | Column] = (),
) -> Windowed:
    """See a DataFrame through windows: the one door of the library.

    Parameters
    ----------
    df
        A batch or streaming DataFrame, classic or Spark Connect. A stream needs a watermark on
        ``time``.
    spec
        The windows: :class:`fanlight.Sliding`, :class:`fanlight.MultiGranular`, one of the frames,
        such as :class:`fanlight.DeltaFrame`, :class:`fanlight.ProgressiveWidening`, or a list of
        :class:`fanlight.Sliding`, which share their slices.
    time
        The windowing attribute: a timestamp (with or without time zone), or in a batch an integer
        or a double. Rows without a time are left out; :func:`fanlight.rejected` shows them.
        A pair ``(start, stop)`` of the same type for events that last: an event is then in every
        window that shares an instant of ``[start, stop)`` with it, and a stream's watermark
        stands on ``stop``.
    by
        The key: a column, several, or none. Null is a key like any other.
    tiebreak
        Columns that order rows of equal time, for aggregates and windows that depend on order.

    Raises
    ------
    FanlightError
        If a column is missing or of the wrong type, a key is called ``window``, a stream has no
        watermark or a numeric time.

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
    return _opened(df, spec, time, by, tiebreak)


def rejected(
    df: DataFrame,
    spec: Sliding | MultiGranular | Frame | ProgressiveWidening | Sequence[Sliding],
    *,
    time: Time,
    by: str | Column | Sequence[str | Column] = (),
) -> DataFrame:
    """The rows that :func:`over` leaves out, as they stand, with a column ``reason``.

    A time that is null, not a number, or too large to be placed on the windows' grid; of a pair of
    times also a stop before the start. Works on
    batches and streams; late rows are not here (Spark counts those it drops in the query's
    progress, ``numRowsDroppedByWatermark``).

    Raises
    ------
    FanlightError
        As :func:`over`; also if the DataFrame has a column ``reason``.

    Examples
    --------
    >>> import fanlight as fl
    >>> bids = spark.sql("SELECT timestamp_seconds(nullif(id, 3)) AS ts, id FROM range(5)")
    >>> fl.rejected(bids, fl.Sliding("1 minute"), time="ts").collect()
    [Row(ts=None, id=3, reason='ts is null')]

    """
    return _opened(df, spec, time, by, ()).rejected()


def _opened(df: Any, spec: Any, time: Any, by: Any, tiebreak: Any) -> Windowed:
    lasting = isinstance(time, (tuple, list))
    for kind, opened in (SPANNING if lasting else KINDS).items():
        if isinstance(spec, kind):
            return opened(df, spec, time, by, tiebreak)
    if lasting and isinstance(spec, tuple(KINDS)):
        raise refuse(
            f"time={time!r}",
            f"is a pair, which means events that last, and {type(spec).__name__} is for points",
            "name one column, or use a kind of window that takes a pair, for example fl.Sliding",
        )
    raise refuse(
        f"over(df, {spec!r})",
        "is no window this version knows",
        "pass a spec, for example fl.Sliding('1 hour', '1 minute')",
    )
