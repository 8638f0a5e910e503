"""Levels over points: aggregates, trend lines and recurring items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fanlight.engine.algebra.aggregate import contains_type
from fanlight.engine.algebra.library import count, linear_fit
from fanlight.engine.algebra.library.lines import LINE_WITH_ERROR
from fanlight.engine.algebra.sql_text import quote
from fanlight.engine.plan.candidate import Plan
from fanlight.engine.plan.granules import Pieces
from fanlight.engine.plan.placed import plan_placed
from fanlight.engine.spark import result
from fanlight.engine.spark.binding.placed import Placed, know_calendar
from fanlight.engine.spark.binding.source import UNGROUPED, schema_of
from fanlight.engine.spark.foreign_frames import in_kind
from fanlight.engine.spark.lives import divide_into_lives, drop_lives
from fanlight.engine.spark.options import check_options
from fanlight.engine.spark.placed import levels, trend
from fanlight.engine.spark.placed.window_sets import keep_complete
from fanlight.engine.spark.requested_aggregates import collect_calls
from fanlight.engine.spark.sql import is_taken, type_text
from fanlight.engine.spark.windows.placed import SlidingWindows
from fanlight.engine.spec.arguments import check_flag
from fanlight.engine.spec.errors import refuse
from fanlight.types import Aggregated, ColumnOrName, Duration, Number

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class LevelWindows(SlidingWindows):
    """Levels of granularity; made by :func:`fanlight.over` from a ``MultiGranular``, frozen."""

    __slots__ = ()

    @in_kind
    def bursts(
        self, threshold: Number | Sequence[Number], /, *aggregates: Aggregated, **named: Aggregated
    ) -> DataFrame:
        """Return the windows with far more in them than expected from the next coarser level.

        A rate is the value of the aggregate divided by the length of the window. A window is a
        burst if its rate is at least ``threshold`` times the rate of the next coarser level's
        window that ends at the same instant. If no such window ends then, or its rate is not above
        zero, nothing is compared. To compare most windows, use slides that divide the coarser ones,
        or ``report="continuous"``.

        Parameters
        ----------
        threshold
            The factor over the coarser rate: a number above 1, or a list with one number for each
            level except the coarsest, the finest first.
        aggregates, named
            One additive aggregate, so that the value of a window is the sum of the values of its
            parts: counts and sums, such as ``calls=agg.count()``, and sums and multiples of these.

        Returns
        -------
        DataFrame
            The ``by`` columns, ``window`` and ``level`` (0 is the finest; not the coarsest), the
            aggregate under its name, ``expected`` (the value that the coarser rate predicts for the
            window's length, a double) and ``ratio`` (value / expected). A stream emits each row
            once, when the watermark passes the window's end.

        Raises
        ------
        FanlightError
            If a threshold is not above 1, if there is not exactly one aggregate, if it is not a
            number or is not additive, such as a mean or a maximum, with ``weights``,
            ``changes_only`` or ``horizons``, after :meth:`early`, if a name clashes with an output,
            and in a stream if levels are counted in rows or a key has a collation.

        Notes
        -----
        It is the result of :meth:`agg`, aggregated once more by key and instant, as :meth:`wide`. A
        coarser window that is not yet full has a rate that is too low: :meth:`complete_only` drops
        it.

        Examples
        --------
        >>> import fanlight as fl
        >>> from fanlight import agg
        >>> rings = spark.sql("SELECT timestamp_seconds(id * id) AS ts FROM range(11)")
        >>> spec = fl.MultiGranular(["10 seconds", "1 minute"], ["10 seconds", "10 seconds"])
        >>> found = fl.over(rings, spec, time="ts").bursts(2, calls=agg.count())
        >>> found.orderBy("window").select("level", "calls", "expected", "ratio").first()
        Row(level=0, calls=4, expected=0.6666666666666666, ratio=6.0)

        See Also
        --------
        Zhu and Shasha, *Efficient Elastic Burst Detection in Data Streams*, KDD 2003.

        """
        bound = self._bound
        limits = levels.read_thresholds(threshold, len(bound.levels.ranges))
        check_options(bound, "bursts", named)
        levels.check_compared(bound, "bursts")
        levels.check_single(len(aggregates) + len(named))
        found = self._alone.agg(*aggregates, **named)
        handed, asked, called = self._find_handed(aggregates, named)
        given = (asked, called) if handed is None else ((), {})
        calls = collect_calls(bound, *given, bound.window_columns) if any(given) else []
        return self._complete(levels.find_bursts(bound, found, calls, named, limits))

    @in_kind
    def fit(
        self,
        column: ColumnOrName,
        *columns: ColumnOrName,
        filled: bool = False,
        instant: Duration | None = None,
        ahead: Duration | None = None,
    ) -> DataFrame:
        """Fit a least-squares line to a number over time, for each window of each level.

        Each row is a point, as for ``regr_slope``. Rows whose value is null do not count.

        Parameters
        ----------
        column
            The number.
        columns
            More numbers, each with its own line.
        filled
            Fit a series that has one value per instant, as the paper does: rows of the same instant
            are averaged, and an instant without a row takes the latest value before it, however
            old; instants before the first row of a key have no value.
        instant
            The length of an instant of a filled series: a duration (a number for a numeric time)
            that divides the granules of the levels. By default a second (1 for a numeric time), or
            the granule if that is not a multiple of a second.
        ahead
            Adds ``forecast``: the line's value this long after the window's end, a duration (a
            number for a numeric time).

        Returns
        -------
        DataFrame
            The ``by`` columns, ``window``, ``level``, ``slope`` (per second; per unit of a numeric
            time), ``intercept`` (the line's value at the window's start), ``r2``, ``slope_error``
            (the standard error of the slope) and ``forecast``. Null if fewer than two instants have
            a value; the error is null for fewer than three points. With several columns, each has a
            struct of these values, under its name, in the windows where any has a value. A stream
            emits them once a window is complete.

        Raises
        ------
        FanlightError
            If a column is not a number, ``filled`` if levels are counted in rows, or the
            instant does not fit, or with ``weights``; with ``ahead`` if levels are counted in
            rows, with several columns if one has the name of another, of a key or of an output, or
            with ``changes_only``.

        Notes
        -----
        Moments are centred and kept with the granules, so combining them is exact up to rounding,
        also near 1.7e15 microseconds. For a filled series a stream keeps the latest value of each
        key, unless keys are forgotten (``forget_after``), in one stateful operator, which needs the
        RocksDB state store, and the source is read once for each column. Otherwise the source is
        read once for all columns.

        The error assumes that points deviate from the line independently: a filled series repeats
        values, so its error is too small if rows are rarer than instants.

        Examples
        --------
        >>> import fanlight as fl
        >>> bids = spark.sql("SELECT timestamp_seconds(id) AS ts, 3 * id AS price FROM range(60)")
        >>> spec = fl.MultiGranular(["30 seconds", "1 minute"], ["30 seconds", "30 seconds"])
        >>> lines = fl.over(bids, spec, time="ts").fit("price", ahead="10 seconds")
        >>> lines.orderBy("window", "level").selectExpr(
        ...     "level", "round(slope, 9) as slope", "round(forecast, 6) as forecast"
        ... ).first()
        Row(level=1, slope=3.0, forecast=120.0)

        See Also
        --------
        Patroumpas and Sellis, *Multi-granular Time-based Sliding Windows over Data Streams*, IV.B.

        """
        check_options(self._bound, "fit", {})
        check_flag("filled", filled)
        if instant is not None and not filled:
            raise refuse(
                f"instant={instant!r}",
                "says how long an instant of a filled series is, and each row is a point here",
                "add filled=True, or leave instant out",
            )
        asked = (column, *columns)
        names = trend.read_columns(self._bound, asked)
        outputs = (*trend.LINE, trend.FORECAST) if ahead is not None else trend.LINE
        bound = self._check_column(column, "fit", tuple(names) if columns else outputs)
        for one in asked:
            collect_calls(bound, [linear_fit(one).alias("slope")], {}, bound.window_columns)
        trend.check_several(bound, names)
        after = trend.read_ahead(bound, ahead)
        if not filled:
            lines = self._alone._fit_rows(asked)  # noqa: SLF001 - of this class
        else:
            fit = self._alone._fit_series  # noqa: SLF001 - of this class
            lines = trend.put_lines_beside(bound, [fit(one, instant) for one in asked])
        return self._complete(trend.finish_lines(bound, lines, names, after))

    @in_kind
    def reversals(
        self,
        column: ColumnOrName,
        *,
        filled: bool = False,
        instant: Duration | None = None,
    ) -> DataFrame:
        """Return the windows whose trend line runs opposite to that of the next coarser level.

        The signs of the slopes of :meth:`fit` are compared where windows of both levels end at the
        same instant; a slope of 0 has no sign. A slope that is 0 except for rounding may have a
        sign.

        Parameters
        ----------
        column
            The number.
        filled, instant
            As for :meth:`fit`.

        Returns
        -------
        DataFrame
            The ``by`` columns, ``window`` and ``level`` (0 is the finest; not the coarsest),
            ``slope`` (per second; per unit of a numeric time) and ``coarser_slope``. A stream emits
            each row once, when the watermark passes the window's end.

        Raises
        ------
        FanlightError
            As :meth:`fit`; also with ``weights``, ``changes_only`` or ``horizons``, after
            :meth:`early`, if a key has the name of an output, and in a stream if levels are counted
            in rows or a key has a collation.

        Notes
        -----
        It is the result of :meth:`fit`, aggregated once more by key and instant, as :meth:`wide`.

        Examples
        --------
        >>> import fanlight as fl
        >>> bids = spark.sql(
        ...     "SELECT timestamp_seconds(id) AS ts, if(id < 50, id, 100 - id) AS price "
        ...     "FROM range(60)"
        ... )
        >>> spec = fl.MultiGranular(["10 seconds", "1 minute"], ["10 seconds", "10 seconds"])
        >>> turns = fl.over(bids, spec, time="ts").reversals("price")
        >>> turns.selectExpr("level", "round(slope, 3) as slope", "coarser_slope > 0 as up").first()
        Row(level=0, slope=-1.0, up=True)

        """
        bound = self._bound
        check_options(bound, "reversals", {})
        levels.check_compared(bound, "reversals")
        lines = self._alone.fit(column, filled=filled, instant=instant)
        return self._complete(levels.find_reversals(bound, lines))

    def _fit_rows(self, columns: Sequence[Any]) -> DataFrame:
        """The lines of rows: keys, ``window``, ``level``, and `` line0``, … of the columns."""
        lines = [LINE_WITH_ERROR(one).alias(f" line{n}") for n, one in enumerate(columns)]
        counts = [count(one).alias(f" n{n}") for n, one in enumerate(columns)]
        found = self.agg(*lines, *counts)
        # Rows without a value are left out only here: Spark would push an earlier filter below
        # the watermark, and they would not move it.
        return found.filter(" or ".join(f"{quote(f' n{n}')} > 0" for n, _ in enumerate(columns)))

    def _fit_series(self, column: Any, instant: Any) -> DataFrame:
        """The lines of one filled series: keys, ``window``, ``level``, the parts of a line."""
        bound = self._bound
        trend.check_fit(bound)
        if bound.forget_after is not None and not bound.df.isStreaming:
            known = bound.with_source(df=trend.rows_with_value(bound, column))
            divided = self._with_bound(divide_into_lives(known))
            lines = divided._fit_series(column, instant)  # noqa: SLF001 - of this class
            return drop_lives(lines)
        operator = "what a key had before is kept by the chain operator"
        cut = self._plan_levels(operator, "trend lines are fitted to levels together").chosen.pieces
        length = trend.instant_of(bound, cut.granules, instant)
        if bound.changes_only and bound.df.isStreaming:
            raise refuse(
                "changes_only=True with fit in a stream",
                "is not supported: the operator keeps moments, not the lines made from them",
                "compare the lines afterwards",
            )
        if bound.df.isStreaming:
            from fanlight.engine.spark.ordered import windows

            granules = trend.lift_series(bound, cut.granules, column, length)
            series = trend.series_fields(column)
            lines = windows.chain_granules(
                bound, granules, cut.granules, series, bound.forget_after, instant=length
            )
            lines = trend.fit_windows(bound, lines, length)
        else:
            lines = trend.fit_batch(bound, cut, column, length)
        if bound.changes_only:  # the error of a line without one is what rounding leaves
            lines = levels.keep_changed_rows(bound, lines, len(trend.LINE) - 1)
        named = result.finish_windows(bound, lines, result.name_by_number(trend.LINE))
        return keep_complete(bound, named)

    @in_kind
    def recurring(self, column: ColumnOrName, counts: bool = False) -> DataFrame:
        """Return the items that occur at least once in every interval between the levels.

        The levels cut the widest window into intervals: the finest level, then the part of each
        coarser level beyond the finer one. An item recurs if it occurs in each of them. Items are
        reported whenever the widest level is. Nulls are not items.

        Parameters
        ----------
        column
            The item: any type that can be grouped.
        counts
            Also return how often: one row per level, with the number of the item's rows in that
            level's window.

        Returns
        -------
        DataFrame
            The ``by`` columns, ``window``, ``level`` (the widest, or each with ``counts``), the
            item under its own name, and ``count`` if asked for.

        Raises
        ------
        FanlightError
            If the column cannot be grouped, clashes with a key, if levels are counted in rows, or
            with ``weights`` or ``changes_only``.

        Notes
        -----
        Cost: one row per distinct item and granule, then one for each window of the widest level
        that contains the granule; bounded by the bits that are set.

        Examples
        --------
        >>> import fanlight as fl
        >>> logins = spark.sql(
        ...     "SELECT timestamp_seconds(id) AS ts, if(id % 9 = 0, 'a', 'b' || id) AS host "
        ...     "FROM range(60)"
        ... )
        >>> spec = fl.MultiGranular(["20 seconds", "1 minute"], ["20 seconds", "1 minute"])
        >>> fl.over(logins, spec, time="ts").recurring("host").select("level", "host").collect()
        [Row(level=1, host='a')]

        See Also
        --------
        Patroumpas and Sellis, *Multi-granular Time-based Sliding Windows over Data Streams*, IV.C.

        """
        check_options(self._bound, "recurring", {})
        check_flag("counts", counts)
        known = know_calendar(self._bound)
        if known is not self._bound:
            return self._with_bound(known).recurring(column, counts)
        (item,) = schema_of(self._bound.df, [("recurring", column)], "recurring")
        name, kind = item.name, type_text(item.dataType)
        bound = self._check_column(column, "recurring", (name, "count") if counts else (name,))
        if contains_type(kind, UNGROUPED):
            raise refuse(
                f"recurring({name!r})", f"is of type {kind}, which cannot be grouped", "use a field"
            )
        if bound.coordinate.counted or bound.changes_only:
            what = "changes_only=True" if bound.changes_only else "levels counted in rows"
            raise refuse(
                f"recurring({name!r}) with {what}", "is not supported", "use levels over time alone"
            )
        chosen = self._plan_levels("", "items recur over the levels together").chosen
        rows = levels.find_recurring(bound, chosen, column, counts=counts)
        named = result.finish_items(bound, rows, name, counts=counts)
        return self._complete(keep_complete(bound, named))

    def _check_column(self, column: Any, what: str, outputs: tuple[str, ...]) -> Placed:
        """The request, once the names and options of a method are checked."""
        bound = self._bound
        (checked,) = schema_of(bound.df, [(what, column)], what)
        taken = [name for name in bound.names if is_taken(bound.df, name, outputs)]
        own = ("window", "level", "count") if what == "recurring" else ()
        if taken or is_taken(bound.df, checked.name, own):
            name = taken[0] if taken else checked.name
            raise refuse(
                f"{what} by {name!r}",
                "clashes with an output column of the same name",
                f"rename it first: df.withColumnRenamed({name!r}, …)",
            )
        if bound.weights is not None:
            raise refuse(f"{what} with weights", "has no weighted form", "leave weights out")
        return bound

    def _plan_levels(self, operator: str, together: str) -> Plan[Pieces]:
        """The plan of levels that must be computed together; ``operator`` as in a request."""
        streaming = self._bound.df.isStreaming
        request = self._request(
            [trend.FACTS],
            together=together,
            operator=operator if streaming else "",
            native="" if streaming and operator else "items are counted natively",
        )
        return plan_placed(request, self._hints.strategy)
