"""``roll_up``: windows from a table of pieces, long after its rows are gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fanlight.engine.algebra.aggregate import Aggregate, Call
from fanlight.engine.spark.binding.placed import know_calendar
from fanlight.engine.spark.binding.source import bind_source
from fanlight.engine.spark.foreign_frames import in_kind
from fanlight.engine.spark.over import over
from fanlight.engine.spark.pieces import PieceTable
from fanlight.engine.spark.windows.placed import PlacedWindows
from fanlight.engine.spec.errors import explain_wrong_calls, refuse
from fanlight.engine.spec.trailing import Trailing, read_labelled
from fanlight.types import DataFrameLike, Keys

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fanlight.engine.spark.windows.base import Windowed
    from fanlight.engine.spark.windows.trailing import TrailingWindows
    from fanlight.engine.spec.granular import MultiGranular
    from fanlight.engine.spec.sliding import Sliding


@explain_wrong_calls("fl.roll_up(pieces, fl.Sliding('7 days', '1 day'))")
@in_kind
def roll_up(
    pieces: DataFrameLike,
    spec: Sliding | MultiGranular | Sequence[Sliding] | Trailing | Mapping[str, Trailing],
    *,
    spine: DataFrameLike | None = None,
    time: str | None = None,
    by: Keys = None,
    aggregates: Sequence[Aggregate] = (),
) -> DataFrame:
    """Compute windows from stored pieces: the same results as from the rows, without the rows.

    The pieces come from :meth:`fanlight.SlidingWindows.pieces`. You can compute any windows that
    begin and end where pieces do, now or later. Rows of the table with the same key and piece are
    combined, so you may append to the table.

    Parameters
    ----------
    pieces
        The table: a batch, as it was written.
    spec
        The windows: :class:`fanlight.Sliding`, :class:`fanlight.Calendar`,
        :class:`fanlight.Cumulative`, :class:`fanlight.MultiGranular`, or a list of windows; or
        :class:`fanlight.Trailing`, one or several by labels, as of the rows of ``spine``.
    spine, time, by
        For trailing windows: the rows that need features, their time, and their keys in the order
        of the table's keys; by default columns of the same names. Windows end where a piece does: a
        row gets its features as of the latest such end that is not after its own time.
    aggregates
        Your own aggregates whose partials are in the table.

    Returns
    -------
    DataFrame
        As from ``agg`` and ``attach``, with a column for each aggregate of the table.

    Raises
    ------
    FanlightError
        If ``pieces`` is not a table of pieces, or windows begin or end within a piece. During the
        computation, Spark raises an error if a piece does not have the length in the schema, or if
        windows of a calendar begin within it.

    Notes
    -----
    Cost: that of the windows over as many rows as there are pieces.

    See Also
    --------
    Li et al., *No Pane, No Gain*, section 3 (PLQ and WLQ).

    Examples
    --------
    >>> import fanlight as fl
    >>> from fanlight import agg
    >>> bids = spark.sql("SELECT timestamp_seconds(id) AS ts, id AS price FROM range(600)")
    >>> minutes = fl.over(bids, fl.Sliding("1 minute"), time="ts").pieces(high=agg.max("price"))
    >>> fl.roll_up(minutes, fl.Sliding("4 minutes", "1 minute")).orderBy("window").first().high
    59
    >>> asks = spark.sql("SELECT timestamp_seconds(150) AS at")
    >>> fl.roll_up(minutes, fl.Trailing("2 minutes"), spine=asks, time="at").first().high
    119

    """
    table = PieceTable.of(pieces)
    calls = table.merging_calls(aggregates)
    if isinstance(spec, (Trailing, Mapping)):
        return _look_back(table, calls, spec, spine, time, by)
    if spine is not None or time is not None or by is not None:
        raise refuse(
            f"roll_up(pieces, {spec!r}, spine=…, time=…, by=…)",
            "has windows that time places, as of no row",
            "leave these out, or ask for fl.Trailing(…)",
        )
    rows, at = table.select_rows()
    return bind_pieces(table, rows, at, spec, f"roll_up(pieces, {spec!r})").agg(*calls)


def bind_pieces(
    table: PieceTable, rows: DataFrame, at: str, spec: Any, asked: str
) -> PlacedWindows:
    """Pieces as rows at the time ``at``, in the windows that are asked of them."""
    windows: Windowed = over(rows, spec, time=at, by=table.pieces.by)
    bound = windows._bound  # noqa: SLF001 - of this house
    if not isinstance(windows, PlacedWindows) or bound.event.ordered:
        raise refuse(
            asked,
            "needs rows, and pieces have none",
            "ask for windows of time, such as fl.Sliding('7 days', '1 day')",
        )
    table.pieces.check_grids(spec, bound.coordinate, bound.grids)
    if bound.coordinate.calendar is not None:
        whole = table.refuse_cut(rows, at, know_calendar(bound).coordinate, spec)
        return windows._with_bound(bound.with_source(df=whole))  # noqa: SLF001 - of this house
    return windows


def _look_back(
    table: PieceTable, calls: list[Call], spec: Any, spine: Any, time: Any, by: Any
) -> DataFrame:
    """The rows of ``spine`` with what pieces tell as of the last edge before each."""
    labelled = read_labelled(spec)
    if spine is None or time is None:
        raise refuse(
            f"roll_up(pieces, {labelled!r})",
            "looks back from rows, and none are given"
            if spine is None
            else "looks back from the rows of spine=, and nothing names their time",
            "write roll_up(pieces, spec, spine=labels, time='asked_at')",
        )
    for call in calls:
        if not all(monoid.in_python for monoid in call.aggregate.monoids):
            raise refuse(
                f"the column {call.label!r}",
                "has sketches, which only Spark's own windows combine",
                "drop it, or ask for windows that time places",
            )
    table.pieces.check_trailing(labelled)
    rows, at = table.select_rows()
    keys = table.pieces.by if by is None else by
    asking, asked = table.with_edges(bind_source(spine, time, keys, (), ()), labelled)
    past: TrailingWindows = over(rows, spec, time=at, by=table.pieces.by)
    return past.at(asking, time=asked, by=keys).attach(*calls).drop(asked)
