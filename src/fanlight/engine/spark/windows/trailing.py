"""Trailing windows over a DataFrame: the checked request, planned and built."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from fanlight.engine.algebra.sql_text import find_places, quote
from fanlight.engine.kinds.options import AT
from fanlight.engine.operators.trailing import SINCE
from fanlight.engine.plan import ways
from fanlight.engine.plan.candidate import Plan, find_strategy
from fanlight.engine.plan.explain import explain_trailing
from fanlight.engine.plan.trailing import EVER, STRATEGIES, Horizon, plan_trailing
from fanlight.engine.plan.ways import Strategy
from fanlight.engine.spark import result
from fanlight.engine.spark.binding.trailing import TrailingBound, name_columns, read_at
from fanlight.engine.spark.fields import Fields, build_fields
from fanlight.engine.spark.fingerprint import count_tasks
from fanlight.engine.spark.foreign_frames import in_kind, open_frame, remember
from fanlight.engine.spark.options import check_options
from fanlight.engine.spark.ordered.trailing import (
    TrailingFields,
    only_latest,
    rank_where_possible,
    why_not_natively,
)
from fanlight.engine.spark.requested_aggregates import collect_calls, rename
from fanlight.engine.spark.sql import expr, expr_as, is_taken
from fanlight.engine.spark.way_runs import attach_function
from fanlight.engine.spark.windows.base import (
    Named,
    Several,
    Windowed,
    errors_of_call,
    name_call,
)
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.trailing import name_column
from fanlight.types import Aggregated, DataFrameLike, Keys

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from fanlight.engine.plan.explain import Explained


class TrailingWindows(Windowed):
    """A DataFrame whose rows look back; made by :func:`fanlight.over`, frozen."""

    __slots__ = ()
    _bound: TrailingBound

    @in_kind
    def attach(self, /, *aggregates: Aggregated, **named: Aggregated) -> DataFrame:
        """Return each row unchanged, with aggregates of the rows in its windows.

        Parameters
        ----------
        aggregates
            Aggregates of :mod:`fanlight.agg`, for example ``agg.sum("amount")``;
            ``.transform(function)`` of one is a function of its result.
        named
            The same under output names of their own: ``spend=agg.sum("amount")``.

        Returns
        -------
        DataFrame
            The columns of the DataFrame, then a column for each aggregate and window: ``spend_1h``
            for the label ``1h``, ``spend`` for a window without one. They are null in rows whose
            time is null. A stream emits each row once the watermark has passed it.

        Raises
        ------
        FanlightError
            If an aggregate is unknown, its column is missing or has the wrong type, or a name is
            taken.

        Examples
        --------
        >>> import fanlight as fl
        >>> from fanlight import agg
        >>> paid = spark.sql("SELECT timestamp_seconds(20 * id) AS ts, id AS amount FROM range(4)")
        >>> last = {"1m": fl.Trailing("1 minute"), "all": fl.Trailing(include_self=False)}
        >>> fl.over(paid, last, time="ts").attach(spend=agg.sum("amount")).orderBy("ts").select(
        ...     "amount", "spend_1m", "spend_all"
        ... ).collect()
        [Row(amount=0, spend_1m=0, spend_all=None), Row(amount=1, spend_1m=1, spend_all=0), \
Row(amount=2, spend_1m=3, spend_all=1), Row(amount=3, spend_1m=6, spend_all=3)]

        """
        bound = self._bound
        check_options(bound, "attach", named)
        asks = read_at(bound)
        given = bound.df if asks is None else asks.df
        with errors_of_call(name_call((*aggregates, *named.values()))):
            fields = self._build_fields(aggregates, named, given)
            arguments = list(fields.arguments.values())
            way = self._plan(fields, asking=asks is not None).chosen.way
            wanted = (
                TrailingFields(fields) if way is ways.FOLDED else rank_where_possible(bound, fields)
            )
            rows = attach_function(way)(bound, wanted, arguments, asks)
            if asks is None:
                names = [fields.arguments[name] for name in given.columns]
            else:  # the rows of another DataFrame, with aggregates of the windows before them
                names = name_columns(given)
            columns = list(zip(names, given.columns, strict=True))
            return self._complete(self._lower(rows, wanted, columns, asks or bound), given.columns)

    def at(self, spine: DataFrameLike, *, time: str, by: Keys = None) -> Self:
        """Look back from the rows of another DataFrame, each at its own time: an as-of join.

        Then :meth:`attach` returns these rows with aggregates of the windows. The windows of a row
        of ``spine`` never include anything later than the row. ``fl.Trailing()`` and ``agg.last``
        return the latest row before each.

        Parameters
        ----------
        spine
            The rows to look back from: labels, requests. If the windows are over a stream, a stream
            with a watermark.
        time, by
            The time of ``spine``, and its keys in the order of the windows' own; by default
            columns of the same names.

        Returns
        -------
        TrailingWindows
            The same windows at other rows. Their :meth:`attach` returns the columns of ``spine``,
            then a column for each aggregate and window. A row without any history has 0 for counts,
            and null for other aggregates; a row whose time is null has nulls. A stream emits each
            row once the watermark, by default that of the slower of the two streams, has passed it.

        Raises
        ------
        FanlightError
            If keys or times do not match, a stream is combined with a batch, or late rows are
            collected.

        Examples
        --------
        >>> import fanlight as fl
        >>> from fanlight import agg
        >>> paid = spark.sql("SELECT timestamp_seconds(20 * id) AS ts, id AS amount FROM range(4)")
        >>> asks = spark.sql("SELECT timestamp_seconds(50) AS at")
        >>> windows = fl.over(paid, fl.Trailing("1 minute"), time="ts").at(asks, time="at")
        >>> windows.attach(agg.count(), spend=agg.sum("amount")).select("count(1)", "spend").first()
        Row(count(1)=3, spend=3)

        """
        opened, back = open_frame(spine)
        asked = self._ask(AT, spine=opened, time=time, by=by)
        return remember(asked, self._bound.source.back or back)

    def _find_strategy(self, strategy: str) -> Strategy:
        return find_strategy(strategy, STRATEGIES, of=" of trailing windows")

    def _plan(
        self, fields: Fields, *, asking: bool, explained: bool = False
    ) -> Plan[tuple[Horizon, ...]]:
        bound = self._bound
        refused, undivided = why_not_natively(bound, fields), ""
        if bound.forget_after is not None:
            refused = refused or "Spark's windows do not end at a silence"
            undivided = "a key that is forgotten begins anew"
        incomparable = bound.source.why_not_in_python or fields.why_not_in_python
        asked = partial(
            plan_trailing, bound.horizons, len(fields.all), streaming=bound.df.isStreaming,
            refused=refused, incomparable=incomparable, undivided=undivided,
            strategy=self._hints.strategy, rate=self._rate_of_key, asking=asking,
            keys=self._keys, tasks=count_tasks(bound.df.sparkSession),
            latest=only_latest(fields),
        )  # fmt: skip
        return asked(rows=self._rows_for(asked, explained=explained, divisible=True))

    @property
    def _rate_of_key(self) -> float | None:
        """How many rows a key has in a unit of the coordinate, if that was told."""
        bound, hints = self._bound, self._hints
        keys = self._keys
        if hints.rate is None or keys is None:
            return None
        return hints.rate / keys / bound.coordinate.per_second

    def _build_fields(self, aggregates: Any, named: Any, rows: DataFrame) -> Fields:
        """The fields of the aggregates; names must be free among the columns of ``rows``."""
        bound = self._bound
        if not (aggregates or named):
            raise refuse(
                "attach()",
                "names no aggregate",
                "write an aggregate, for example attach(agg.count())",
            )
        fields = build_fields(bound, collect_calls(bound, aggregates, named, ()), exact=True)
        names = [name for output in fields.outputs for name in self._names(output.label)]
        for place, name in enumerate(names):
            if is_taken(rows, name, [*rows.columns, *names[:place]]):
                write = rename(*(own for own in named if name in self._names(own)))
                raise refuse(
                    f"the output name {name!r}",
                    "is also the name of a column, or of another aggregate",
                    f"{write}, or label the window otherwise" if any(bound.spec.labels) else write,
                )
        for output in fields.outputs:
            if "start" in find_places(output.lower) and any(
                horizon.first == EVER for horizon in bound.horizons
            ):
                raise refuse(
                    output.label,
                    "counts time from the beginning of a window, and one of these has none",
                    "give Trailing a range in time",
                )
        return fields

    def _names(self, label: str) -> list[str]:
        """The output columns of an aggregate, one for each window."""
        return [name_column(label, window) for window in self._bound.spec.labels]

    def _lower(
        self,
        rows: DataFrame,
        wanted: TrailingFields,
        columns: Sequence[tuple[str, str]],
        asks: TrailingBound,
    ) -> DataFrame:
        """The rows that ask under their own names, with partials lowered to aggregates."""
        bound, names, outputs = self._bound, wanted.names, wanted.fields.outputs
        for number, horizon in enumerate(bound.horizons):
            own = [f"{name}_{number} as {name}" for name in names]
            rows = rows.selectExpr("*", *own)
            by_calendar = horizon.calendar is not None
            start = f"{SINCE}_{number}" if by_calendar else f"(t - {horizon.back}L)"
            lowered = [
                f"if(t is null, null, {output.sql(start)}) as r{place}_{number}"
                for place, output in enumerate(outputs)
            ]
            spent = [*names, *(f"{name}_{number}" for name in names)]
            spent += [start] if by_calendar else []
            rows = rows.selectExpr("*", *lowered).drop(*spent)
        results = [
            expr_as(rows, f"r{place}_{number}", name)
            for place, output in enumerate(outputs)
            for number, name in enumerate(self._names(output.label))
        ]
        own_columns = [_column(asks, rows, inner, name) for inner, name in columns]
        found = rows.select(*own_columns, *results)
        return _with_untimed(asks, found) if asks.df.isStreaming else found

    def _explain(self, aggregates: Several, named: Named, *, verbose: bool) -> Explained:
        bound = self._bound
        asks = read_at(bound) or bound
        fields = self._build_fields(aggregates, named, asks.df) if aggregates or named else Fields()
        plan = self._plan(fields, asking=asks is not bound, explained=True)
        about = self._about(verbose=verbose)
        names = [name for output in fields.outputs for name in self._names(output.label)]
        return explain_trailing(bound.spec, plan, about, names)


def _column(asks: TrailingBound, rows: DataFrame, inner: str, name: str) -> Column:
    """A column under its name; in a stream, the time with its watermark."""
    if asks.df.isStreaming and name == asks.time:
        return result.time_column(asks, rows, inner, name, asks.postponement)
    return expr_as(rows, inner, name)


def _with_untimed(asks: TrailingBound, found: DataFrame) -> DataFrame:
    """The results of a stream, and its rows whose time is null or out of range."""
    bad = " or ".join(f"({test})" for test, _ in asks.rejections)
    lost = asks.df.filter(bad)
    kinds = {field.name: field.dataType for field in found.schema.fields}
    missing = [name for name in found.columns if name not in asks.df.columns]
    nulls = [expr(lost, "null").cast(kinds[name]).alias(name) for name in missing]
    return found.union(lost.select(*[expr(lost, quote(n)) for n in asks.df.columns], *nulls))
