"""Sliding windows over points: one kind, or a list of them that share their slices."""

from __future__ import annotations

from typing import Self

from fanlight.spark.windows.placed import PlacedWindows


class SlidingWindows(PlacedWindows):
    """Points seen through one kind of sliding windows or several; made by :func:`fanlight.over`.

    Frozen: :meth:`using` gives another one.
    """

    __slots__ = ()

    def using(
        self, strategy: str = "auto", *, rate: float | None = None, groups: float | None = None
    ) -> Self:
        """Force a strategy, or give the cost model what it cannot know.

        Parameters
        ----------
        strategy
            ``"auto"``: the cheapest by the cost model. For one kind of windows: ``"panes"``,
            ``"pairs"``, ``"differential"`` (running totals; exact and invertible aggregates only)
            or ``"expand"`` (Spark's own way, for comparison). For levels and lists:
            ``"granules"`` (shared by all, rolled up natively), ``"chain"`` (streams: granules into
            the stairwise chain, one stateful operator) or ``"separate"`` (each by itself, for
            comparison: the source is read once for each).
        rate
            Rows per second over all keys (per unit of a numeric time). Nothing is read to find it
            out; by default a busy stream is assumed.
        groups
            How many distinct keys (the paper's G).

        Returns
        -------
        SlidingWindows
            The same windows with these hints.

        Raises
        ------
        FanlightError
            If the strategy is unknown, or a hint is not positive. Whether a strategy fits the
            aggregates is checked by :meth:`agg`.

        Examples
        --------
        >>> import fanlight as fl
        >>> bids = spark.sql("SELECT timestamp_seconds(id) AS ts, id AS price FROM range(600)")
        >>> windows = fl.over(bids, fl.Sliding("4 minutes", "1 minute"), time="ts")
        >>> windows.using("panes", rate=1.0).agg(fl.agg.max("price")).count()
        13

        """
        return self._given(strategy, rate=rate, groups=groups)
