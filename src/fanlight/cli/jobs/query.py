"""The query of a job, in SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import fanlight as fl
from fanlight.cli.jobs.document import Table
from fanlight.cli.sessions import explain_sql, list_windows, require_sql, run_sql, sql_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fanlight.language.columns import AskedWindows

_LENGTH, _PLAIN = re.compile(r"(\d+) (\w+)"), re.compile(r"\w+", re.ASCII)


@dataclass(frozen=True)
class Query:
    """A query as text for ``fl.sql``, with what can be told of it without Spark."""

    text: str
    columns: tuple[str, ...] | None
    windows: tuple[AskedWindows, ...]

    @property
    def is_early(self) -> bool:
        """Whether windows are given also while they are open."""
        return any(one.early for one in self.windows)

    @property
    def is_framed(self) -> bool:
        """Whether frames are given while they are open."""
        return any(one.early and one.are_frames for one in self.windows)

    def _text_for(self, tables: Mapping[str, DataFrame]) -> str:
        """The text; a batch, which has no open windows, is not asked for them."""
        text = self.text
        streaming = any(df.isStreaming for df in tables.values())
        for one in () if streaming else self.windows:
            if one.early:
                start, end = one.early
                text = text[:start] + " " * (end - start) + text[end:]
        return text

    def result(self, tables: Mapping[str, DataFrame]) -> DataFrame:
        """The result of the text over these tables."""
        return run_sql(self._text_for(tables), tables)

    def explain(self, tables: Mapping[str, DataFrame], *, verbose: bool) -> str:
        """How it will run, and why, as text; ``verbose`` adds every candidate."""
        return explain_sql(self._text_for(tables), tables, verbose=verbose)


def read_query(table: Table, sources: Sequence[str]) -> Query | None:
    """Read the query of a job; None if its SQL cannot be read. Problems are recorded.

    It is parsed here, so that its errors are reported with all others.
    """
    others = [name for name in table.values if name != "sql"]
    for name in others[:1]:
        example = f'write for example sql = "{_write_example(table.values, sources)}"'
        instead = "say it in the text of sql" if "sql" in table.values else example
        table.note_wrong(name, f"is not a key here: all that is asked is said in SQL; {instead}")
    if others and "sql" not in table.values:
        return None
    text = table.text("sql", '"SELECT …"', required=True)
    try:
        require_sql()
        return Query(text, sql_columns(text), list_windows(text)) if text else None
    except fl.FanlightError as error:
        table.note_wrong("sql", str(error))
        return None


def _write_example(given: Mapping[str, Any], sources: Sequence[str]) -> str:
    """A query of what keys said before queries were SQL, as far as that makes one."""
    source = str(given.get("source", next(iter(sources), "calls")))
    source = source if _PLAIN.fullmatch(source) else f"`{source}`"
    by, time = _list_names(given.get("by")), _list_names(given.get("time")) or ["ts"]
    clause = [f"{'SPAN' if len(time) > 1 else 'WATTR'} {', '.join(map(str, time))}"]
    clause += [f"PARTITION BY {', '.join(map(str, by))}"] if by else []
    for word, default in (("range", "1 hour"), ("slide", "1 minute")):
        length = _LENGTH.fullmatch(str(given.get(word, default))) or _LENGTH.fullmatch(default)
        clause += [f"{word} {length[0]}".upper()] if length else []
    named = given.get("aggregates")
    calls = dict(named) if isinstance(named, dict) and named else {"calls": "count()"}
    counted = [f"{str(call).replace('count()', 'count(*)')} AS {n}" for n, call in calls.items()]
    selected = ", ".join([*map(str, by), "window", *counted])
    text = f"SELECT {selected} FROM {source} [{' '.join(clause)}]"
    try:
        readable = '"' not in text and list_windows(text)
    except (fl.FanlightError, ModuleNotFoundError):
        readable = False
    return text if readable or not given else _write_example({}, sources)


def _list_names(given: Any) -> list[Any]:
    """Names of columns: one as a text, or several."""
    return [given] if isinstance(given, str) else given if isinstance(given, list) else []
