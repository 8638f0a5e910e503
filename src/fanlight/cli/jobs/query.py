"""The query of a job: windows, keys and aggregates as in the API, or SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import fanlight as fl
from fanlight.cli.jobs.spec import LABELS, argument_names, read_windows, window_kinds
from fanlight.cli.jobs.table import Table
from fanlight.cli.sql import early_words_of, explain_sql, require_sql, run_sql, sql_columns
from fanlight.engine.kinds import kind_of, output_columns
from fanlight.engine.kinds.kind import EMPTY, FRAMED, LEVELLED, PLACED, SIDES, TRAILED, Family
from fanlight.engine.kinds.options import EARLY, POSTPONE, RUNNING
from fanlight.language.aggregate_text import parse_aggregate
from fanlight.types import LateInSql

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fanlight import Windowed
    from fanlight.language.columns import EarlyWord

_HINTS = ("strategy", "rate", "groups", "partitions", "duration", "height")
_ASKED = {
    "window", LABELS, "source", "time", "by", "tiebreak", "late", "forget_after", "postpone",
    "early", "running", "with_empty", "complete_only", "using", "aggregates",
}  # fmt: skip


def query_keys(table: Any) -> set[str]:
    """The keys that a table [query] may have: of arguments those of its windows."""
    window = table.get("window") if isinstance(table, dict) else None
    return {"sql", *_ASKED, *argument_names(window)}


@dataclass(frozen=True)
class WindowQuery:
    """A query by the API's arguments: windows of one source, with aggregates."""

    source: str
    spec: Any
    time: Any
    by: tuple[str, ...]
    tiebreak: tuple[str, ...]
    late: str
    forget_after: Any
    options: Mapping[str, Mapping[str, Any]]  # of windows, by their verbs
    using: Mapping[str, Any]
    aggregates: Mapping[str, Any]

    @property
    def is_framed(self) -> bool:
        """Whether the windows are frames, cut by the data."""
        return self._is_of(FRAMED)

    @property
    def is_early(self) -> bool:
        """Whether windows are given also while they are open."""
        return EARLY in self.options

    @property
    def _is_trailing(self) -> bool:
        """Whether results are the rows themselves."""
        return self._is_of(TRAILED)

    def _is_of(self, family: Family) -> bool:
        kind = kind_of(self.spec)
        return kind is not None and kind.family is family

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The names of the result's columns; a field of a struct is listed by both its names."""
        if self.spec is None or self._is_trailing:
            return None
        own = output_columns(self.spec, early=self.is_early)
        fields = (name.rpartition(".")[2].strip("`") for name in self.by)
        return tuple(dict.fromkeys((*self.by, *fields, *own, *self.aggregates)))

    def bind_windows(self, tables: Mapping[str, DataFrame]) -> Windowed:
        """The windows over their source, as ``fl.over`` returns them."""
        options: dict[str, Any] = {
            "tiebreak": self.tiebreak, "late": self.late, "forget_after": self.forget_after
        }  # fmt: skip
        windows: Any = fl.over(
            tables[self.source], self.spec, time=self.time, by=self.by, **options
        )
        for option, given in self.options.items():
            if option != EARLY or tables[self.source].isStreaming:
                windows = getattr(windows, option)(**given)
        with_hints: Windowed = windows.using(**self.using) if self.using else windows
        return with_hints

    def result(self, tables: Mapping[str, DataFrame]) -> DataFrame:
        """The windows with their aggregates; without aggregates, the frames themselves."""
        windows: Any = self.bind_windows(tables)
        if not self.aggregates:
            frames: DataFrame = windows.frames()
            return frames
        method = windows.attach if self._is_trailing else windows.agg
        calls = [call.alias(name) for name, call in self.aggregates.items()]
        result: DataFrame = method(*calls)
        return result

    def explain(self, tables: Mapping[str, DataFrame], *, verbose: bool) -> str:
        """How it will run, and why, as text; ``verbose`` adds every candidate."""
        windows = self.bind_windows(tables)
        options: dict[str, Any] = {"verbose": verbose, **self.aggregates}  # one may have this name
        return windows.explain(**options)


@dataclass(frozen=True)
class SqlQuery:
    """A query as SQL text for ``fl.sql``."""

    text: str
    columns: tuple[str, ...] | None = None
    early: tuple[EarlyWord, ...] = ()  # where it asks for windows while they are open

    @property
    def is_early(self) -> bool:
        """Whether windows are given also while they are open."""
        return bool(self.early)

    @property
    def is_framed(self) -> bool:
        """Whether frames are given while they are open."""
        return any(one.of_frames for one in self.early)

    def _text_for(self, tables: Mapping[str, DataFrame]) -> str:
        """The text; a batch, which has no open windows, is not asked for them."""
        text = self.text
        streaming = any(df.isStreaming for df in tables.values())
        for one in () if streaming else self.early:
            text = text[: one.start] + " " * (one.end - one.start) + text[one.end :]
        return text

    def result(self, tables: Mapping[str, DataFrame]) -> DataFrame:
        """The result of the text over these tables."""
        return run_sql(self._text_for(tables), tables)

    def explain(self, tables: Mapping[str, DataFrame], *, verbose: bool) -> str:  # noqa: ARG002
        """Spark's plan of the query, as text."""
        return explain_sql(self._text_for(tables), tables)


def read_query(table: Table, sources: list[str]) -> WindowQuery | SqlQuery | None:
    """Read the query of a job; None if its SQL cannot be read. Problems are recorded."""
    if "sql" in table.values:
        return _read_sql(table)
    if "window" not in table.values:
        table.note_missing(
            'has neither sql nor window; write sql = "SELECT …" or window = "Sliding"'
        )
    known = window_kinds()
    name = table.one_of("window", known)
    if name is None:  # which arguments it would have is unknown, so all are accepted
        table.known |= argument_names()
    request = WindowQuery(
        _read_source_name(table, sources) or "",
        read_windows(table, name) if name else None,
        _read_time(table),
        table.texts("by", 'a list of columns, such as ["item"]'),
        table.texts("tiebreak", 'a list of columns, such as ["id"]'),
        table.one_of("late", get_args(LateInSql)) or "drop",
        _read_length(table, "forget_after", 'a duration, such as "30 days"'),
        {
            **_read_running(table),
            **_read_postpone(table),
            **_read_early(table, name),
            **_read_options(table, name),
        },
        _read_hints(table),
        _read_aggregates(table),
    )
    has_aggregates = (
        request.aggregates
        or "aggregates" in table.values
        or (name is not None and known[name].family is FRAMED)
    )
    if "window" in table.values and not has_aggregates:
        table.note_missing('has no aggregates; write for example aggregates = { rows = "count()" }')
    table.known.add("sql")
    table.note_unknown()
    return request


def _read_sql(table: Table) -> SqlQuery | None:
    """Read a query as SQL; it is parsed here, so that its errors are reported with all others."""
    text = table.text("sql", '"SELECT …"')
    for other in sorted(_ASKED & set(table.values)):
        table.note_wrong(
            other, "does not go with sql, which contains it already; leave one of them out"
        )
    table.known |= _ASKED
    table.note_unknown()
    try:
        require_sql()
        return SqlQuery(text, sql_columns(text), early_words_of(text)) if text else None
    except fl.FanlightError as error:
        table.note_wrong("sql", str(error))
        return None


def _read_source_name(table: Table, sources: list[str]) -> str | None:
    """The name of the source that the windows are over; it may be left out if there is only one."""
    if "source" not in table.values:
        table.known.add("source")
        if len(sources) > 1:
            table.note_missing("does not say which source; write source = " + f'"{sources[0]}"')
        return sources[0] if sources else None
    return table.one_of("source", sources or [""])


def _read_time(table: Table) -> Any:
    """The time column, or the pair of start and stop."""
    columns = table.texts("time", 'a column, such as "ts", or a pair of them')
    if "time" not in table.values:
        table.note_missing('has no time; write time = "ts", or time = ["start", "stop"]')
    elif isinstance(table.values["time"], list) and columns and len(columns) != 2:
        table.note_wrong("time", 'is a list, but not a pair; write time = ["start", "stop"]')
    return columns if isinstance(table.values.get("time"), list) else "".join(columns)


def _read_length(table: Table, name: str, expected: str) -> Any:
    """A length of time that ``fl.clause`` takes under this name."""
    given = table.take(name, (str, int, float), expected)
    try:
        fl.clause(fl.Session("1 day"), time="ts", **{name: given})  # it says what is wrong
    except fl.FanlightError as error:
        table.note_wrong(name, str(error))
        return None
    return given


def _check_option(table: Table, verb: str, given: Mapping[str, Any], time: Any = "ts") -> bool:
    """Whether an option's arguments are right; what is wrong is noted."""
    try:
        fl.clause(fl.Sliding("1 day"), time=time, options={verb: given})  # it says what is wrong
    except fl.FanlightError as error:
        table.note_wrong(verb, str(error))
        return False
    return True


def _read_postpone(table: Table) -> dict[str, dict[str, Any]]:
    """How much longer a stream waits for rows."""
    wait = table.take(POSTPONE, (str, int, float), 'a duration, such as "2 hours"')
    if wait is None or not _check_option(table, POSTPONE, {"wait": wait}):
        return {}
    return {POSTPONE: {"wait": wait}}


def _read_early(table: Table, name: str | None) -> dict[str, dict[str, Any]]:
    """How often windows are given while they are open, if they are."""
    expected = 'true, or a duration in which changes come at most once, such as "5 minutes"'
    given = table.take(EARLY, (bool, str, int, float), expected)
    if given is None or given is False:
        return {}
    asked = {} if given is True else {"every": given}
    if not _check_option(table, EARLY, asked):
        return {}
    known = window_kinds()
    if name is not None and not known[name].family.opened:
        others = ", ".join(one for one, kind in known.items() if kind.family.opened)
        why = f"does not apply to window = {name!r}"
        table.note_wrong(EARLY, f"{why}; leave it out, or write one of {others}")
    return {EARLY: asked}


def _read_running(table: Table) -> dict[str, dict[str, Any]]:
    """The arguments of ``running``, for events that last."""
    example = '{ id = "call_id", as_of = "2025-03-01T00:00:00Z" }'
    given = table.take(RUNNING, dict, f"a table such as {example}")
    if given and not isinstance(table.values.get("time"), list):
        table.note_wrong(RUNNING, 'is of events that last; write time = ["start", "stop"]')
    if not given or not _check_option(table, RUNNING, given, ("a", "b")):
        return {}
    return {RUNNING: given}


def _read_options(table: Table, name: str | None) -> dict[str, dict[str, Any]]:
    """Which windows are given: those without rows, too, and only complete ones."""
    found: dict[str, dict[str, Any]] = {}
    if "with_empty" in table.values:
        found["with_empty"] = _read_empty(table)
    expected = 'true, or a table such as { since = "2025-03-01T00:00:00Z" }'
    whole = table.take("complete_only", (bool, dict), expected)
    if whole is True:
        found["complete_only"] = {}
    elif whole and (inner := table.table("complete_only", ("since", "side"))) is not None:
        since = inner.take("since", (str, int, float), 'a time such as "2025-03-01T00:00:00Z"')
        side = inner.one_of("side", SIDES)
        found["complete_only"] = _without_none(since=since, side=side)
        inner.note_unknown()
    family = window_kinds()[name].family if name is not None else PLACED
    for argument in found:
        if family not in (PLACED, LEVELLED):
            why = f"is for windows that time places, not for window = {name!r}; leave it out"
            table.note_wrong(argument, why)
    return found


def _read_empty(table: Table) -> dict[str, Any]:
    """The arguments of ``with_empty``: a word, or a table with it."""
    if not isinstance(table.values["with_empty"], dict):
        return _without_none(values=table.one_of("with_empty", EMPTY))
    inner = table.table("with_empty", ("values", "most", "between"))
    if inner is None:
        return {}
    expected = 'a start and an end, such as ["2025-03-01T00:00:00Z", "2025-04-01T00:00:00Z"]'
    between = inner.take("between", list, expected)
    if between is not None and len(between) != 2:
        inner.note_wrong("between", f"{between!r} is not {expected}")
    if "values" not in inner.values:
        inner.note_missing(f'has no values; write values = "{EMPTY[1]}"')
    found = _without_none(
        values=inner.one_of("values", EMPTY),
        most=inner.take("most", int, "a number of windows"),
        between=None if between is None else tuple(between),
    )
    inner.note_unknown()
    return found


def _without_none(**given: Any) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


def _read_hints(table: Table) -> dict[str, Any]:
    """The arguments of ``using``: the strategy and its hints."""
    inner = table.table("using", _HINTS)
    if inner is None:
        return {}
    hints = {
        "strategy": inner.text("strategy", '"panes"'),
        **{hint: inner.take(hint, (int, float), "a number") for hint in ("rate", "groups")},
        **{hint: inner.take(hint, int, "a whole number") for hint in ("partitions", "height")},
        "duration": inner.take("duration", (str, int, float), 'a duration, such as "1 hour"'),
    }
    inner.note_unknown()
    return {name: hints[name] for name in _HINTS if hints[name] is not None}


def _read_aggregates(table: Table) -> dict[str, Any]:
    """The aggregates by the names of their result columns."""
    inner = table.table("aggregates")
    calls = {}
    for name in inner.values if inner else ():
        text = inner.text(name, '"sum(price)"') if inner else None
        if inner and text is not None:
            try:
                calls[name] = parse_aggregate(text)
            except fl.FanlightError as error:
                inner.note_wrong(name, str(error))
    return calls
