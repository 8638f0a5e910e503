"""Frames over a DataFrame: the checked request, planned and built."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.library.in_order import first
from fanlight.engine.kinds.kind import FINAL
from fanlight.engine.kinds.options import FILL
from fanlight.engine.plan.candidate import FRAME_STRATEGIES, Plan, find_strategy, plan_frames
from fanlight.engine.plan.explain import explain_frames
from fanlight.engine.plan.frames import Scheme
from fanlight.engine.plan.ways import ARROW, NATIVE, Strategy
from fanlight.engine.spark import result
from fanlight.engine.spark.binding.frames import FrameBound
from fanlight.engine.spark.fields import Fields, build_fields
from fanlight.engine.spark.fingerprint import count_tasks
from fanlight.engine.spark.foreign_frames import in_kind, open_frame, remember
from fanlight.engine.spark.options import check_options
from fanlight.engine.spark.ordered.frame_fill import Fill, fill_frames, find_filling, read_fill
from fanlight.engine.spark.ordered.frame_repair import repair_frames
from fanlight.engine.spark.ordered.frames import (
    CLASSIFIER,
    check_parts,
    check_split,
    finish_parts,
    in_one_pass,
    split_frames,
)
from fanlight.engine.spark.requested_aggregates import collect_calls
from fanlight.engine.spark.spark_aggregates import (
    Handed,
    aggregate_frames,
    explain_handed,
    find_handed,
)
from fanlight.engine.spark.sql import is_taken
from fanlight.engine.spark.way_runs import frames_module
from fanlight.engine.spark.windows.base import (
    Named,
    Several,
    WindowedEarly,
    check_analysis,
    errors_of_call,
    name_call,
)
from fanlight.engine.spec.errors import refuse
from fanlight.types import Aggregated, Calls, DataFrameLike, Duration, How, Keys

if TYPE_CHECKING:
    from types import ModuleType

    from pyspark.sql import DataFrame

    from fanlight.engine.plan.explain import Explained


class FrameWindows(WindowedEarly):
    """A DataFrame cut into frames; made by :func:`fanlight.over`, frozen."""

    __slots__ = ()
    _bound: FrameBound

    def _find_strategy(self, strategy: str) -> Strategy:
        asked = find_strategy(strategy, FRAME_STRATEGIES, of=" of frames")
        self._plan_by(asked)()  # or refused
        return asked

    @in_kind
    def frames(self) -> DataFrame:
        """Return one row per frame: ``by`` columns, ``window``, ``frame_id``, ``rows``, ``closed``.

        ``window`` begins at the frame's first row and ends at the row that closes the frame, which
        is the first row not in it, or where ``max_duration`` or ``max_gap`` ends it. A batch also
        returns the last frame of a key if nothing closes it (``closed`` is false); it ends one
        microsecond after its last row. A stream emits closed frames, once the watermark has passed
        the row or time that closes them, and an open frame only when its key is forgotten
        (``forget_after``). ``frame_id`` numbers the frames of a key from 0.

        Cost: one shuffle and sort by key; then O(1) per row.

        Returns
        -------
        DataFrame
            A row a frame.

        Examples
        --------
        >>> import fanlight as fl
        >>> tow = spark.sql("SELECT timestamp_seconds(id) AS ts, id % 4 / 10 AS dye FROM range(8)")
        >>> fl.over(tow, fl.ThresholdFrame("dye > 0.1"), time="ts").frames().select(
        ...     "frame_id", "rows", "closed"
        ... ).orderBy("frame_id").collect()
        [Row(frame_id=0, rows=2, closed=True), Row(frame_id=1, rows=2, closed=False)]

        """
        check_options(self._bound, "frames")
        with errors_of_call("frames()"):
            return self._complete(self._finish_frames(self._find_fields((), {})))

    @in_kind
    def agg(self, /, *aggregates: Aggregated, **named: Aggregated) -> DataFrame:
        """Return one row per frame, as from :meth:`frames`, with aggregates of its rows.

        Parameters
        ----------
        aggregates
            Aggregates of :mod:`fanlight.agg`, for example ``agg.max("dye")``;
            ``.transform(function)`` of one is a function of its result.
        named
            The same under output names of their own: ``highest=agg.max("dye")``.

        Returns
        -------
        DataFrame
            One row per frame: the columns of :meth:`frames`, then the aggregates.

        Raises
        ------
        FanlightError
            If an aggregate is unknown, its column is missing or of the wrong type, or if
            output names clash.

        Examples
        --------
        >>> import fanlight as fl
        >>> from fanlight import agg
        >>> net = spark.sql("SELECT timestamp_seconds(id) AS ts, 40 AS bytes FROM range(6)")
        >>> frames = fl.over(net, fl.AggregateFrame(agg.sum("bytes"), 100), time="ts")
        >>> frames.agg(agg.sum("bytes")).select("frame_id", "rows", "sum(bytes)").orderBy(
        ...     "frame_id"
        ... ).collect()
        [Row(frame_id=0, rows=3, sum(bytes)=120), Row(frame_id=1, rows=3, sum(bytes)=120)]

        """
        check_options(self._bound, "agg", named)
        if filling := read_fill(self._bound):
            if not (aggregates or named):
                raise refuse(
                    "fill(…).agg()", "names no aggregate",
                    "write fill(…).agg(n=agg.count()), or fill(…).rows() for the rows themselves",
                )  # fmt: skip
            return self._fill(filling, aggregates, named)
        handed, asked, called = self._find_handed(aggregates, named)
        if handed is not None:
            with errors_of_call(", ".join(handed)):
                found = aggregate_frames(self._bound, self.frames(), self.rows(), handed)
                return self._complete(found)
        calls = (*asked, *called.values())
        with errors_of_call(name_call(calls)):
            fields = self._find_fields(asked, called, needed=True)
            return self._complete(self._finish_frames(fields))

    @in_kind
    def rows(self) -> DataFrame:
        """Return every row unchanged, with the ``frame_id`` of its frame, or null if it is in none.

        A stream emits a row as soon as the watermark has passed it and its frame is certain. The
        row does not wait for the frame to close, unless the frame may still be dropped because it
        is too small.

        Returns
        -------
        DataFrame
            The source's columns and ``frame_id``.

        Raises
        ------
        FanlightError
            If frames overlap, so that a row may be in several, or a column is called ``frame_id``.

        Examples
        --------
        >>> import fanlight as fl
        >>> tow = spark.sql("SELECT timestamp_seconds(id) AS ts, id % 3 AS dye FROM range(6)")
        >>> fl.over(tow, fl.ThresholdFrame("dye > 0"), time="ts").rows().orderBy("ts").select(
        ...     "dye", "frame_id"
        ... ).limit(4).collect()
        [Row(dye=0, frame_id=None), Row(dye=1, frame_id=0), Row(dye=2, frame_id=0), \
Row(dye=0, frame_id=None)]

        """
        bound = self._bound
        check_options(bound, "rows")
        if filling := read_fill(bound):
            return self._fill(filling, (), {})
        if bound.scheme.is_unnumbered and not bound.scheme.is_listed:
            raise refuse(
                f"rows() of {bound.spec!r}",
                "would give a row two numbers: these frames overlap"
                if bound.scheme.overlapping
                else "would have to hold each row back until later ones decide about it",
                "join frames() with the rows, or write fill(df, time=…).rows()",
            )
        if is_taken(bound.df, "frame_id", bound.df.columns):
            raise refuse(
                "rows()",
                "adds a column 'frame_id', which already exists in the DataFrame",
                "rename yours first: df.withColumnRenamed('frame_id', …)",
            )
        if bound.scheme.is_listed and is_taken(bound.df, CLASSIFIER, bound.df.columns):
            raise refuse(
                "rows()",
                f"adds a column {CLASSIFIER!r}, which already exists in the DataFrame",
                f"rename yours first: df.withColumnRenamed({CLASSIFIER!r}, …)",
            )
        with errors_of_call("rows()"):
            module = self._choose_module(Fields(), of_rows=True)
            return self._complete(module.rows(bound), bound.df.columns)

    def fill(
        self,
        other: DataFrameLike,
        *,
        time: str,
        by: Keys = None,
        max_duration: Duration | None = None,
        how: How = "inner",
        own: Calls | Mapping[str, Call] | None = None,
    ) -> Self:
        """Join another DataFrame to each frame by time.

        Then :meth:`rows` returns the rows of the other DataFrame within each frame, and :meth:`agg`
        aggregates of them.

        Parameters
        ----------
        other
            The other DataFrame: a batch for a batch, a stream with a watermark for a stream.
        time, by
            The time of ``other``, and its keys in the order of the frames' own; by default columns
            of the same names. If there are fewer keys than the frames have, they are matched by
            name: a frame gets the rows with equal values in these keys, and with ``by=()`` all rows
            in its time.
        max_duration
            The maximum time before the end of a frame in which rows of ``other`` count. A stream
            requires it: it keeps a row until the watermark of the slower stream is that far past
            the row. Results do not wait for that: rows are emitted once their frame is known,
            aggregates and frames without a row once that watermark has passed the frame's end.
        how
            ``"inner"``: frames that have a row of ``other``. ``"left"``: all frames; a frame
            without a row has 0 for counts, and null for other aggregates.
        own
            Aggregates of the frame's own rows in addition to those of ``other``: one, a list, or a
            mapping from output names.

        Returns
        -------
        FrameWindows
            The same frames, filled. Their :meth:`rows` are the keys, the columns of ``other``,
            ``window``, ``frame_id`` and the frame's own aggregates. Their :meth:`agg` has one row
            per frame: the keys, ``window``, ``frame_id``, the frame's own aggregates, then those of
            ``other``.

        Raises
        ------
        FanlightError
            If keys or times do not match, a stream is combined with a batch, or ``max_duration`` is
            missing.

        Notes
        -----
        Cost: that of :meth:`agg` with the ``own`` aggregates, plus a sort of both DataFrames by key
        and time, or in a stream, or with fewer keys, their join. With ``by=()`` a batch copies each
        row about twelve times for the join; in a stream one task joins all rows.

        Examples
        --------
        >>> import fanlight as fl
        >>> from fanlight import agg
        >>> dye = spark.sql("SELECT timestamp_seconds(id) AS ts, id % 4 / 10 AS dye FROM range(8)")
        >>> gps = spark.sql("SELECT timestamp_seconds(id) AS at, id AS lat FROM range(8)")
        >>> frames = fl.over(dye, fl.ThresholdFrame("dye > 0.1"), time="ts")
        >>> frames.fill(gps, time="at").agg(agg.min("lat"), agg.max("lat")).select(
        ...     "frame_id", "min(lat)", "max(lat)"
        ... ).orderBy("frame_id").collect()
        [Row(frame_id=0, min(lat)=2, max(lat)=3), Row(frame_id=1, min(lat)=6, max(lat)=7)]
        >>> filled = frames.fill(gps, time="at", own={"most": agg.max("dye")})
        >>> filled.agg(agg.min("lat")).select("frame_id", "most", "min(lat)").orderBy(
        ...     "frame_id"
        ... ).first()
        Row(frame_id=0, most=0.3, min(lat)=2)

        See Also
        --------
        Grossniklaus et al., *Frames: Data-driven Windows*, section 2 (FILLFRAME).

        """
        opened, back = open_frame(other)
        filled = self._ask(
            FILL, other=opened, time=time, by=by, max_duration=max_duration, how=how, own=own
        )
        return remember(filled, self._bound.source.back or back)

    def _fill(self, filling: Fill, aggregates: Several, named: Named) -> DataFrame:
        """The rows of another DataFrame in each frame, or aggregates of them."""
        bound = self._bound.without(FILL)
        with errors_of_call("fill()"):
            kept = (
                build_fields(bound, filling.own, exact=self._is_exact) if filling.own else Fields()
            )
            found = self._find_frames(kept)
            return self._complete(fill_frames(bound, found, filling, aggregates, named, kept))

    @in_kind
    def split(
        self,
        every: Duration,
        /,
        *aggregates: Aggregated,
        zone: str | None = None,
        **named: Aggregated,
    ) -> DataFrame:
        """Split the frames of a batch at regular times: one row per part, with whole aggregates.

        Use it for windows that sum up parts, for example for a heat map. A part has the keys, its
        own ``window``, the frame's ``frame_id`` and ``closed``, and aggregates of the *whole*
        frame. A frame that begins and ends at the same instant has no part. With
        :meth:`accumulate`, each part has the aggregates of the rows before its end instead, also in
        a stream.

        Parameters
        ----------
        every
            The interval between the times at which frames are split: a duration for a timestamp,
            otherwise a whole number. With ``zone``, or in months, quarters or years, they are split
            where the units of the calendar begin: ``"1 day"`` at midnight.
        aggregates, named
            Aggregates of each frame, as for :meth:`agg`.
        zone
            The time zone of the calendar, such as ``"Europe/Berlin"``. ``None``: a day has 24 hours
            and begins at 0:00 UTC; months are then those of times without time zone
            (``timestamp_ntz``).

        Returns
        -------
        DataFrame
            The ``by`` columns, ``window``, ``frame_id``, ``closed``, then the aggregates.

        Raises
        ------
        FanlightError
            If ``every`` or ``zone`` does not fit the time column, in a stream, and as :meth:`agg`.

        Notes
        -----
        Cost: that of :meth:`agg`, and O(1) per part.

        Examples
        --------
        How long something was in each cell, within each 4 seconds:

        >>> import fanlight as fl
        >>> from fanlight import agg
        >>> tow = spark.sql("SELECT timestamp_seconds(id) AS ts, id div 5 AS x FROM range(10)")
        >>> stays = fl.over(tow, fl.BoundaryFrame({"x": 1}), time="ts")
        >>> parts = stays.split("4 seconds", cell=agg.max("x")).selectExpr(
        ...     "window.start AS at", "cell", "unix_micros(window.end) - unix_micros(window.start)"
        ...     " AS stay"
        ... )
        >>> spec = fl.Sliding("4 seconds")
        >>> maps = fl.over(parts, spec, time="at", by="cell").agg(stay=agg.sum("stay"))
        >>> [(m.cell, m.stay) for m in maps.orderBy("window", "cell").collect()]
        [(0, 4000000), (0, 1000000), (1, 3000000), (1, 1000001)]

        """
        bound = self._bound
        check_options(bound, "split", named)
        step = check_split(bound, every, zone, so_far=False)
        fields = self._find_fields(aggregates, named)
        with errors_of_call(f"split({every!r})"):
            return self._complete(split_frames(bound, fields, self._find_frames(fields), step))

    @in_kind
    def accumulate(
        self,
        every: Duration,
        /,
        *aggregates: Aggregated,
        zone: str | None = None,
        **named: Aggregated,
    ) -> DataFrame:
        """Report frames at regular times while they are open, with aggregates of the rows so far.

        A frame is split as by :meth:`split`, and each part has the aggregates of the rows of its
        frame before the end of the part. A stream emits a part as soon as the watermark has passed
        its end, even if no row has come since the previous part. ``closed`` then refers to the
        part: it is false only for the last part of a frame that nothing closes, in a batch or when
        its key is forgotten.

        Parameters
        ----------
        every
            The interval between report times: a duration for a timestamp, otherwise a whole number.
        aggregates, named
            Aggregates of the rows so far, as for :meth:`agg`.
        zone
            The time zone of a calendar whose units begin at report times, as for :meth:`split`.

        Returns
        -------
        DataFrame
            The ``by`` columns, ``window``, ``frame_id``, ``closed``, then the aggregates.

        Raises
        ------
        FanlightError
            If ``every`` or ``zone`` does not fit the time column, as :meth:`agg`, and if frames may
            be dropped because they are too small, or share rows, or later rows decide where they
            begin and end.

        Notes
        -----
        Cost: that of :meth:`agg`, and O(1) per part. In a stream the open frame of a silent key
        continues, with a part for each ``every``, until ``max_gap``, ``max_duration`` or
        ``forget_after`` ends it. A batch has no parts after the last row of a key, unless one of
        these options is given.

        Examples
        --------
        How many rows a stay has had by each report time:

        >>> import fanlight as fl
        >>> tow = spark.sql("SELECT timestamp_seconds(id) AS ts, id div 5 AS x FROM range(10)")
        >>> stays = fl.over(tow, fl.BoundaryFrame({"x": 1}), time="ts")
        >>> parts = stays.accumulate("4 seconds", n=fl.agg.count())
        >>> [(p.frame_id, p.n, p.closed) for p in parts.orderBy("window").collect()]
        [(0, 4, True), (0, 5, True), (1, 3, True), (1, 5, False)]

        """
        bound = self._bound
        check_options(bound, "accumulate", named)
        step = check_split(bound, every, zone, so_far=True)
        fields = self._find_fields(aggregates, named, exact=True)
        check_parts(fields)
        with errors_of_call(f"accumulate({every!r})"):
            module = frames_module(self._plan_parts().chosen.way)
            parts = finish_parts(bound, fields, module.frames(bound, fields, every=step))
            return self._complete(parts)

    @in_kind
    def repair(
        self,
        late_rows: DataFrameLike,
        results: DataFrameLike,
        /,
        *aggregates: Aggregated,
        **named: Aggregated,
    ) -> DataFrame:
        """Recompute the stored frames that late rows change, and list those that are gone.

        Use it for rows that came too late for a stream, or that are corrected afterwards. Write the
        result over the stored table by key and ``frame_id``, and delete the frames that are gone:
        the table is then the same as after one batch over all rows. ``fl.upsert(…, gone="gone")``
        does both.

        Parameters
        ----------
        late_rows
            The late rows, with the same columns as the rows of these frames, which must not include
            them.
        results
            The stored table of results: the result of :meth:`agg` with the same aggregates, or of
            :meth:`frames`, for the rows without the late ones. Windows may be two columns,
            ``window_start`` and ``window_end``.
        aggregates, named
            As for :meth:`agg`; none if the table has the result of :meth:`frames`.

        Returns
        -------
        DataFrame
            The columns of the results and ``gone``, one row for each key and ``frame_id`` that is
            new, has changed, or is not a frame any more (``gone`` is true), only for the keys of
            late rows. An additional or missing frame changes the numbers of the frames after it.

        Raises
        ------
        FanlightError
            If the rows are those of a stream; if ``late_rows`` or ``results`` lacks a column, has
            additional columns, or columns of another type; and as :meth:`agg`.

        Notes
        -----
        Cost: that of :meth:`agg` over the rows of the keys of late rows; for threshold frames and
        sessions, only from the last frame that began before them. If one frame begins as another
        ends, frames share rows, frames of some size are dropped, or a key may be forgotten, it
        reads all rows of those keys.

        Examples
        --------
        >>> import fanlight as fl
        >>> from fanlight import agg
        >>> seen = spark.sql("SELECT timestamp_seconds(id * 10) AS ts, id AS n FROM range(6)")
        >>> stored = fl.over(seen.where("n <> 3"), fl.Session("15 seconds"), time="ts")
        >>> before = stored.agg(n=agg.count())
        >>> [(row.frame_id, row.n) for row in before.orderBy("frame_id").collect()]
        [(0, 3), (1, 2)]
        >>> repaired = stored.repair(seen.where("n = 3"), before, n=agg.count())
        >>> [(row.frame_id, row.n, row.gone) for row in repaired.orderBy("frame_id").collect()]
        [(0, 6, False), (1, 2, True)]

        """
        bound = self._bound
        check_options(bound, "repair", named)
        some = bool(aggregates or named)

        def frames(of: FrameBound) -> DataFrame:
            windows = self._with_bound(of)
            return windows.agg(*aggregates, **named) if some else windows.frames()

        with errors_of_call("repair(…)"):
            return check_analysis(repair_frames(bound, late_rows, results, frames))

    def _explain(self, aggregates: Several, named: Named, *, verbose: bool) -> Explained:
        bound = self._bound
        filling = read_fill(bound)
        if filling is not None:  # aggregates are of the other DataFrame
            own = filling.own
            fields = build_fields(bound, own, exact=self._is_exact) if own else Fields()
            others = ["the rows of the other DataFrame"]
            if aggregates or named:
                filled = find_filling(bound, filling, aggregates, named)
                others = [output.label for output in filled.outputs]
        else:
            others = []
            handed, asked, called = self._find_handed(aggregates, named)
            if handed is not None:
                return explain_handed(bound, handed)
            fields = self._find_fields(asked, called)
        by_spark = not in_one_pass(bound, fields)
        undivided = self._why_undivided(fields)
        plan = self._plan(by_spark=by_spark, undivided=undivided, explained=True)
        about = self._about(verbose=verbose)
        labels = [*(output.label for output in fields.outputs), *others]
        return explain_frames(bound.spec, plan, about, labels, by_spark=by_spark)

    def _find_handed(
        self, aggregates: Several, named: Named
    ) -> tuple[Handed | None, Several, Named]:
        """The aggregates, where only Spark has some and rows of a batch have one frame each."""
        bound = self._bound
        apart = not (bound.scheme.is_unnumbered or bound.df.isStreaming)
        if not apart or is_taken(bound.df, "frame_id", bound.df.columns):
            return None, aggregates, named
        return find_handed(bound, aggregates, named, bound.outputs)

    def _find_fields(
        self, aggregates: Several, named: Named, *, exact: bool = False, needed: bool = False
    ) -> Fields:
        """What is asked of each frame, if not ``needed`` perhaps nothing, after what it shows."""
        bound, asked = self._bound, needed or aggregates or named
        calls = [first(one, ignorenulls=True).alias(name) for one, name in bound.shown]
        calls += collect_calls(bound, aggregates, named, bound.outputs) if asked else []
        return build_fields(bound, calls, exact=exact or self._is_exact) if calls else Fields()

    @property
    def _is_exact(self) -> bool:
        """Whether values are counted instead of sketched: Python cannot combine sketches."""
        return self._bound.df.isStreaming or self._bound.scheme.is_unnumbered

    def _find_frames(self, fields: Fields) -> DataFrame:
        frames: DataFrame = self._choose_module(fields).frames(self._bound, fields)
        return frames

    def _plan_by(self, strategy: Strategy) -> partial[Plan[Scheme]]:
        bound = self._bound
        return partial(
            plan_frames, bound.scheme, streaming=bound.df.isStreaming, strategy=strategy,
            incomparable=bound.source.why_not_in_python, undivided=self._why_undivided(Fields()),
        )  # fmt: skip

    def _why_undivided(self, fields: Fields, *, of_rows: bool = False) -> str:
        """Explain why the rows of a key cannot be divided among tasks. Empty if they can."""
        if of_rows and self._bound.scheme.drops_small_frames:
            return (
                "how large the frame of a row is, so whether it has a number, is known once all of "
                "its rows are found, and they may be in many tasks"
            )
        if self._bound.forget_after is not None:
            return "a key that is forgotten begins anew"
        alone = next((one for one in fields.all if not one.monoid.in_python), None)
        return f"{alone.facts.label} is of Spark alone" if alone else ""

    def _plan(self, *, explained: bool = False, **how: Any) -> Plan[Scheme]:
        tasks = count_tasks(self._bound.df.sparkSession)
        asked = partial(self._plan_by(self._hints.strategy), keys=self._keys, tasks=tasks, **how)
        return asked(rows=self._rows_for(asked, explained=explained, divisible=True))

    def _plan_parts(self) -> Plan[Scheme]:
        """The plan of frames given in parts, which only a pass through Python can find."""
        if self._hints.strategy == NATIVE:
            raise refuse(
                "accumulate(…) with using('native')",
                "combines the rows up to each report time in Python workers",
                "use 'auto', or write split(…), whose parts have the aggregates of the whole frame",
            )
        return self._plan_by(ARROW)()

    def _choose_module(self, fields: Fields, *, of_rows: bool = False) -> ModuleType:
        """The module that finds the frames, or numbers rows."""
        undivided = self._why_undivided(fields, of_rows=of_rows)
        plan = partial(self._plan, undivided=undivided, of_rows=of_rows)
        chosen, by_spark = plan().chosen, plan(by_spark=True).chosen
        if by_spark.way is not chosen.way and not in_one_pass(self._bound, fields):
            chosen = by_spark
        return frames_module(chosen.way)

    def _finish_frames(self, fields: Fields) -> DataFrame:
        bound = self._bound
        columns = [("frame", "frame_id"), ("rows", "rows"), ("closed", "closed")]
        columns += [] if bound.early is None else [("final", FINAL)]
        columns += result.lower_outputs(fields, "start")
        times = result.window_times(bound, "start", "ending")
        return result.finish_result(bound, self._find_frames(fields), *times, columns)
