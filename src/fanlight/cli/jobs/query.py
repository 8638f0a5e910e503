"""What a job asks: windows, keys and aggregates as the API has them, or SQL."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import fanlight as fl
from fanlight.cli.jobs.notation import aggregate
from fanlight.cli.jobs.table import Table
from fanlight.cli.sql import available, over_tables, why

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fanlight import Windowed

WINDOWS = {
    kind.__name__: kind
    for kind in (fl.Sliding, fl.MultiGranular, fl.ThresholdFrame, fl.BoundaryFrame, fl.DeltaFrame,
                 fl.AggregateFrame, fl.PredicateFrame, fl.Session)
}  # fmt: skip
FRAMES = {name for name in WINDOWS if name.endswith("Frame") or name == "Session"}
_HINTS = ("strategy", "rate", "groups", "partitions", "duration", "height")
_ASKED = {"window", "source", "time", "by", "tiebreak", "late", "using", "aggregates"}


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
        return type(self.spec).__name__ in FRAMES

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
    frames: bool = False

    def result(self, tables: Mapping[str, DataFrame]) -> DataFrame:
        """What it says."""
        return over_tables(self.text, tables)

    def explain(self, tables: Mapping[str, DataFrame]) -> str:
        """How it will run, and why."""
        return why(self.text, tables)


def query(table: Table, sources: list[str]) -> Fields | Sql | None:
    """The query of a job, or nothing where it is wrong."""
    text = table.text("sql", '"SELECT …"')
    if "sql" in table.values:
        for other in sorted(_ASKED & set(table.values)):
            table.wrong(other, "does not go with sql, which says it itself; leave one of them out")
        table.known |= _ASKED
        table.finish()
        try:
            available()
        except fl.FanlightError as error:
            table.wrong("sql", str(error))
        return Sql(text) if text else None
    if "window" not in table.values:
        table.lacks('has neither sql nor window; write sql = "SELECT …" or window = "Sliding"')
        return None
    name = table.one_of("window", WINDOWS)
    if name is None:
        return None
    spec = _spec(table, name)
    made = Fields(
        _source(table, sources) or "",
        spec,
        _time(table),
        table.texts("by", 'a list of columns, such as ["item"]'),
        table.texts("tiebreak", 'a list of columns, such as ["id"]'),
        table.one_of("late", ("drop", "open")) or "drop",
        _hints(table),
        _aggregates(table),
    )
    if not made.aggregates and "aggregates" not in table.values and name not in FRAMES:
        table.lacks('has no aggregates; write for example aggregates = { rows = "count()" }')
    table.finish()
    return made


def _spec(table: Table, name: str) -> Any:
    """The window with its arguments, which are those of its class."""
    kind, given = WINDOWS[name], {}
    for argument, parameter in inspect.signature(kind).parameters.items():
        table.known.add(argument)
        if argument in table.values:
            try:
                given[argument] = _argument(argument, table.values[argument])
            except fl.FanlightError as error:
                table.wrong(argument, str(error))
                return None
        elif parameter.default is parameter.empty:
            table.lacks(f"has no {argument}, which window = {name!r} needs")
            return None
    try:
        return kind(**given)
    except fl.FanlightError as error:
        table.wrong("window", f"{name}: {error}")
        return None


def _argument(name: str, value: Any) -> Any:
    """A value of TOML as the API takes it: ``{ rows = 10 }`` are rows, an aggregate is a call."""
    if isinstance(value, dict) and set(value) == {"rows"} and name not in {"cells", "deltas"}:
        return fl.rows(value["rows"])
    if isinstance(value, list):
        return [_argument(name, one) for one in value]
    if name == "aggregate" and isinstance(value, str):
        return aggregate(value)
    return value


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
    inner = table.table("using")
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
