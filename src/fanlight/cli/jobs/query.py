"""What a job asks: windows, keys and aggregates as the API has them, or SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import fanlight as fl
from fanlight.cli.jobs.spec import arguments, spec, windows
from fanlight.cli.jobs.table import Table
from fanlight.cli.sql import available, columns, over_tables, why
from fanlight.engine.kinds import kind_of, outputs_of
from fanlight.engine.kinds.kind import FRAMED
from fanlight.language.written import aggregate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fanlight import Windowed

_HINTS = ("strategy", "rate", "groups", "partitions", "duration", "height")
_ASKED = {"window", "source", "time", "by", "tiebreak", "late", "using", "aggregates"}


def entries() -> set[str]:
    """What a query may say."""
    return {"sql", *_ASKED, *arguments()}


@dataclass(frozen=True)
class Fields:
    """A request of the API."""

    source: str
    spec: Any
    time: Any
    by: tuple[str, ...]
    tiebreak: tuple[str, ...]
    late: str
    using: Mapping[str, Any]
    aggregates: Mapping[str, Any]

    @property
    def frames(self) -> bool:
        """Whether the result is of frames, each of its own length."""
        kind = kind_of(self.spec)
        return kind is not None and kind.family is FRAMED

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The names of the result's columns; of a field of a struct both that it may have."""
        if self.spec is None:
            return None
        own = outputs_of(self.spec)
        fields = (name.rpartition(".")[2].strip("`") for name in self.by)
        return tuple(dict.fromkeys((*self.by, *fields, *own, *self.aggregates)))

    def windows(self, tables: Mapping[str, DataFrame]) -> Windowed:
        """The table seen through the windows."""
        given: dict[str, Any] = {"tiebreak": self.tiebreak, "late": self.late}
        windows = fl.over(tables[self.source], self.spec, time=self.time, by=self.by, **given)
        seen: Windowed = windows.using(**self.using) if self.using else windows
        return seen

    def result(self, tables: Mapping[str, DataFrame]) -> DataFrame:
        """The windows with their aggregates; without any, the frames themselves."""
        windows: Any = self.windows(tables)
        found: DataFrame
        found = windows.agg(**self.aggregates) if self.aggregates else windows.frames()
        return found

    def explain(self, tables: Mapping[str, DataFrame]) -> str:
        """How it will run, and why."""
        return self.windows(tables).explain(**self.aggregates)


@dataclass(frozen=True)
class Sql:
    """A request as SQL text, which ``fl.sql`` reads."""

    text: str
    columns: tuple[str, ...] | None = None
    frames: bool = False

    def result(self, tables: Mapping[str, DataFrame]) -> DataFrame:
        """What it says."""
        return over_tables(self.text, tables)

    def explain(self, tables: Mapping[str, DataFrame]) -> str:
        """How it will run, and why."""
        return why(self.text, tables)


def query(table: Table, sources: list[str]) -> Fields | Sql | None:
    """The query of a job; nothing where none is asked, or a text cannot be read."""
    if "sql" in table.values:
        return _sql(table)
    if "window" not in table.values:
        table.lacks('has neither sql nor window; write sql = "SELECT …" or window = "Sliding"')
    known = windows()
    name = table.one_of("window", known)
    if name is None:  # nobody knows which arguments it would have
        table.known |= arguments()
    made = Fields(
        _source(table, sources) or "",
        spec(table, name) if name else None,
        _time(table),
        table.texts("by", 'a list of columns, such as ["item"]'),
        table.texts("tiebreak", 'a list of columns, such as ["id"]'),
        table.one_of("late", ("drop", "open")) or "drop",
        _hints(table),
        _aggregates(table),
    )
    given = (
        made.aggregates
        or "aggregates" in table.values
        or (name is not None and known[name].family is FRAMED)
    )
    if "window" in table.values and not given:
        table.lacks('has no aggregates; write for example aggregates = { rows = "count()" }')
    table.known.add("sql")
    table.finish()
    return made


def _sql(table: Table) -> Sql | None:
    """A query as text, which is read here, so that what is wrong with it is told with all else."""
    text = table.text("sql", '"SELECT …"')
    for other in sorted(_ASKED & set(table.values)):
        table.wrong(other, "does not go with sql, which says it itself; leave one of them out")
    table.known |= _ASKED
    table.finish()
    try:
        available()
        return Sql(text, columns(text)) if text else None
    except fl.FanlightError as error:
        table.wrong("sql", str(error))
        return None


def _source(table: Table, sources: list[str]) -> str | None:
    """The table that is seen through windows: the only one, unless it is named."""
    if "source" not in table.values:
        table.known.add("source")
        if len(sources) > 1:
            table.lacks("does not say which source; write source = " + f'"{sources[0]}"')
        return sources[0] if sources else None
    return table.one_of("source", sources or [""])


def _time(table: Table) -> Any:
    """The column of times, or the pair of start and stop."""
    found = table.texts("time", 'a column, such as "ts", or a pair of them')
    if "time" not in table.values:
        table.lacks('has no time; write time = "ts", or time = ["start", "stop"]')
    elif isinstance(table.values["time"], list) and found and len(found) != 2:
        table.wrong("time", 'is a list, but no pair; write time = ["start", "stop"]')
    return found if isinstance(table.values.get("time"), list) else "".join(found)


def _hints(table: Table) -> dict[str, Any]:
    """What ``using`` is given."""
    inner = table.table("using", _HINTS)
    if inner is None:
        return {}
    found = {
        "strategy": inner.text("strategy", '"panes"'),
        **{hint: inner.take(hint, (int, float), "a number") for hint in ("rate", "groups")},
        **{hint: inner.take(hint, int, "a whole number") for hint in ("partitions", "height")},
        "duration": inner.take("duration", (str, int, float), 'a duration, such as "1 hour"'),
    }
    inner.finish()
    return {name: found[name] for name in _HINTS if found[name] is not None}


def _aggregates(table: Table) -> dict[str, Any]:
    """The aggregates by the names of their columns."""
    inner = table.table("aggregates")
    found = {}
    for name in inner.values if inner else ():
        text = inner.text(name, '"sum(price)"') if inner else None
        if inner and text is not None:
            try:
                found[name] = aggregate(text)
            except fl.FanlightError as error:
                inner.wrong(name, str(error))
    return found
