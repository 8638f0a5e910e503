"""Progressively widened windows over a DataFrame: the checked request, planned and built."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self, get_args

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql.types import DataType, LongType, StructField, StructType

from fanlight.engine.operators.episodes import SPAN, Matcher
from fanlight.engine.operators.search import FunctionSearch
from fanlight.engine.plan.candidate import Plan, find_strategy, plan_widening
from fanlight.engine.plan.explain import explain_widening
from fanlight.engine.plan.ways import Strategy
from fanlight.engine.plan.widening import Level, density_warning, levels_of
from fanlight.engine.spark.binding.source import schema_of
from fanlight.engine.spark.binding.widening import WideningBound, check_result
from fanlight.engine.spark.foreign_frames import in_kind
from fanlight.engine.spark.lives import divide_into_lives
from fanlight.engine.spark.ordered.encoding import arrow_type
from fanlight.engine.spark.ordered.widening import Search, page_format, select_rows
from fanlight.engine.spark.sql import say_reason, type_text
from fanlight.engine.spark.way_runs import search_function
from fanlight.engine.spark.windows.base import Named, Several, Windowed
from fanlight.engine.spec.arguments import check_choice, check_flag, check_text, read_names
from fanlight.engine.spec.episode import Episode
from fanlight.engine.spec.errors import FanlightError, advise_choice, refuse
from fanlight.types import OnError, RowsAs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fanlight.engine.plan.explain import Explained


class WideningWindows(Windowed):
    """A DataFrame seen through windows of growing durations; made by :func:`fanlight.over`."""

    __slots__ = ()
    _bound: WideningBound

    def _find_strategy(self, strategy: str) -> Strategy:
        return find_strategy(strategy, (), of=" of widening windows")

    def _with_hints(self, strategy: str | None, partitions: int | None, **hints: Any) -> Self:
        asked = super()._with_hints(strategy, partitions, **hints)
        given = asked._hints  # noqa: SLF001 - of this class
        warning = density_warning(self._bound.spec, given.rate, given.groups)
        if warning is not None:
            warnings.warn(warning, RuntimeWarning, stacklevel=2)
        return asked

    @in_kind
    def detect(
        self,
        function: Callable[..., Any] | Episode,
        schema: str | StructType | None = None,
        *,
        columns: Sequence[str] | None = None,
        rows_as: RowsAs = "arrow",
        span: tuple[str, str] | None = None,
        once: str | Sequence[str] = (),
        context: bool = False,
        across_cuts: bool = False,
        on_error: OnError = "fail",
    ) -> DataFrame:
        """Search every window, and report each match once.

        Every pattern of at most ``max_rows`` rows of a key, and of at most ``max_duration``, is in
        some window, and no row between its first and its last is dropped: it is in one run.

        Parameters
        ----------
        function
            Takes the rows of a window, ordered by time, as a ``pyarrow.Table``, and returns the
            matches among them: a list (or a generator) of dicts, an Arrow table, or a pandas
            DataFrame; ``[]`` for none. Times are in UTC. It is called for each run, that is, rows
            between which no row was dropped. Or an :class:`fanlight.Episode`.
        schema
            The fields of a match, as DDL (``"user string, tries int"``) or a ``StructType``. Not
            with an episode, which has its own: its variables, ``started``, ``ended``, ``rows``.
        columns
            The columns that the function receives; by default all. Fewer are faster.
        rows_as
            ``"arrow"``, ``"pandas"`` or ``"dicts"``: the form in which the function receives the
            rows.
        span
            Two columns of the schema, of the type of ``time``, that hold the times of a match's
            first and last row. A match is then identified by these times, and the function is
            called once for each run. Without it, matches are identified by their values, and the
            function is called again for the parts of a run in which it has found something.
        once
            Columns of the schema whose values identify a match, if not all of them.
        context
            Whether the function takes a second argument that describes its window: the ``key``,
            ``level``, ``start``, ``end``, and ``cuts`` (positions of the rows before which rows
            were dropped: none, unless ``across_cuts``).
        across_cuts
            Pass all rows of a window to the function at once. Rows between which others were
            dropped are then neighbours, and the function may find patterns that never happened,
            such as "a login and a logout with nothing between"; it sometimes finds matches of more
            than ``max_rows`` rows. By default it receives one run of rows after the other.
        on_error
            ``"fail"``: an exception in the function ends the query with an error that names the
            key, level and window. ``"record"``: the exception becomes an output row, with the
            message in a column ``error``.

        Returns
        -------
        DataFrame
            The ``by`` columns, ``window`` (struct of start and end), ``level``, ``found_at`` (the
            window's end: the event time at which the match was known), then the match.

        Raises
        ------
        FanlightError
            If the function cannot be called, or the schema, columns, span or episode do not match.

        Notes
        -----
        Cost: each row is sorted once and moved a few times; each level's window is searched
        once, in parallel. A window has at most 4·max_rows rows if batches double, and at most 2·(1
        + factor)·max_rows otherwise.

        See Also
        --------
        Tolpin, *Progressive Temporal Window Widening*, section 3.

        Examples
        --------
        >>> import fanlight as fl
        >>> events = spark.sql('''
        ...     SELECT timestamp_seconds(id * 60) AS ts, 'web' AS host,
        ...            element_at(array('login', 'read', 'read', 'logout'), int(id + 1)) AS what
        ...     FROM range(4)''')
        >>> windows = fl.over(
        ...     events, fl.ProgressiveWidening("1 minute", max_duration="1 hour", max_rows=50),
        ...     time="ts", by="host")
        >>> from typing import Any
        >>> def sessions(rows: Any) -> Any:
        ...     what = rows["what"].to_pylist()
        ...     if (what[0], what[-1]) == ("login", "logout"):
        ...         yield {"started": rows["ts"][0].as_py(), "ended": rows["ts"][-1].as_py()}
        >>> found = windows.detect(
        ...     sessions, "started timestamp, ended timestamp", span=("started", "ended"))
        >>> found.selectExpr("host", "level", "string(found_at)", "string(started)").collect()
        [Row(host='web', level=1, found_at='1970-01-01 00:04:00', started='1970-01-01 00:00:00')]

        """
        bound = self._bound
        check_choice("on_error", on_error, get_args(OnError), "known")
        check_choice("rows_as", rows_as, get_args(RowsAs), "known")
        check_flag("context", context)
        check_flag("across_cuts", across_cuts)
        known = read_names("once", once, "once=['user']")
        recorded = on_error == "record"
        search: Search
        if isinstance(function, Episode):
            given = (schema is not None, columns is not None, span is not None, bool(known))
            if any((*given, context, across_cuts, recorded)):
                raise refuse(
                    "detect(episode, …)",
                    "takes no other arguments: an episode defines its columns and output schema",
                    "write detect(episode)",
                )
            return self._search_episode(function)
        if not callable(function):
            raise refuse(
                f"detect({function!r})",
                "is not a function",
                "pass a function of a pyarrow.Table, or an fl.Episode",
            )
        result = self._read_schema(schema)
        check_result(bound, result, recorded=recorded)
        _check_span(span, result, bound)
        for name in known:
            if name not in result.names:
                raise refuse(
                    f"once={name!r}", "is not in the schema", advise_choice(name, result.names)
                )
        if known and span:
            raise refuse(
                f"once={once!r} with span={span!r}",
                "identifies matches in two ways: by their values, and by their times",
                "leave one of them out",
            )
        seen = (
            bound.df.columns
            if columns is None
            else read_names("columns", columns, "columns=['user']")
        )
        units = select_rows(divide_into_lives(bound), list(seen))
        chosen = self._plan.chosen
        pages = page_format(bound, chosen.pieces, units, result, recorded=recorded)
        pair = (span[0], span[1]) if span else None
        search = FunctionSearch(
            pages, function, rows_as, pair, known, context, across_cuts, on_error
        )
        run = search_function(chosen.way)
        found = run(bound, chosen.pieces, units, result, search, recorded=recorded)
        return self._complete(found)

    def _search_episode(self, episode: Episode) -> DataFrame:
        from fanlight.engine.operators.episodes import EpisodeSearch

        bound = self._bound
        present = [name for name in episode.columns if name in bound.df.columns]
        units = select_rows(divide_into_lives(bound), present)
        kinds = dict(zip(present, units.seen, strict=True))
        arrow = pa.schema([(name, arrow_type(kind)) for name, kind in kinds.items()])
        matcher = Matcher.compile(episode, arrow, bound.spec.max_rows, bound.df.columns)
        fields = [(name, kinds[column]) for name, column in matcher.variable_columns.items()]
        (when,) = schema_of(bound.df, [("time", bound.time)], "time")
        fields += [(SPAN[0], when.dataType), (SPAN[1], when.dataType), (SPAN[2], LongType())]
        result = StructType([StructField(name, kind) for name, kind in fields])
        check_result(bound, result, recorded=False)
        chosen = self._plan.chosen
        pages = page_format(bound, chosen.pieces, units, result, recorded=False)
        longest = int(bound.spec.max_duration.value)
        search, run = EpisodeSearch(pages, matcher, longest), search_function(chosen.way)
        found = run(bound, chosen.pieces, units, result, search, recorded=False)
        return self._complete(found)

    @property
    def _plan(self) -> Plan[tuple[Level, ...]]:
        """How windows are searched."""
        spec = self._bound.spec
        return plan_widening(levels_of(spec), spec.max_rows)

    def _read_schema(self, schema: Any) -> StructType:
        if isinstance(schema, StructType) and schema.fields:
            return schema
        if not isinstance(schema, (str, StructType)) or not schema:
            raise refuse(
                f"schema={schema!r}",
                "does not name the fields of a match",
                "write for example schema='user string, tries int'",
            )
        if isinstance(schema, str):
            check_text("schema", schema, "schema='user string, tries int'")
        try:
            made = self._bound.df.sparkSession.createDataFrame([], schema).schema
        except (PySparkException, ValueError, TypeError) as error:
            why = f"cannot be read ({say_reason(error)})"
            raise refuse(f"schema={schema!r}", why, "write 'user string, tries int'") from error
        if not made.fields:
            raise FanlightError("schema='' has no column; write for example 'user string'")
        return made

    def _explain(self, aggregates: Several, named: Named, *, verbose: bool) -> Explained:
        spec = self._bound.spec
        if aggregates or named:
            raise refuse(
                "explain(…) of aggregates",
                "cannot be: these windows are searched by detect(), which computes none",
                "leave them out, or explain windows that have agg()",
            )
        warning = density_warning(spec, self._hints.rate, self._hints.groups)
        return explain_widening(spec, self._plan, self._about(verbose=verbose), warning)


def _check_span(span: Any, result: StructType, bound: WideningBound) -> None:
    if span is None:
        return
    kinds: dict[str, DataType] = {field.name: field.dataType for field in result.fields}
    pair = isinstance(span, (tuple, list)) and len(span) == 2
    if not pair or not all(isinstance(name, str) for name in span):
        raise refuse(
            f"span={span!r}", "is not a pair of columns", "write span=('started', 'ended')"
        )
    for name in span:
        if name not in kinds:
            raise refuse(
                f"span={span!r}",
                f"names {name!r}, which is not in the schema",
                advise_choice(name, kinds),
            )
        if type_text(kinds[name]) != bound.time_type:
            raise refuse(
                f"span={span!r}",
                f"names {name!r}, which is of type {type_text(kinds[name])}",
                f"give it the type of {bound.time!r}, {bound.time_type}",
            )
