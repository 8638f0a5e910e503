"""The table of a SELECT over windows: its rows, and how the text names its columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from fanlight.engine.algebra.sql_text import quote
from fanlight.engine.spark.quiet import quietly
from fanlight.engine.spark.sql import expr, free_name, is_same_name, is_taken, say_reason
from fanlight.engine.spec.errors import FanlightError
from fanlight.language.calls import ParsedCall
from fanlight.language.query import Query, escape_braces
from fanlight.language.select import Select
from fanlight.language.tokens import Place, error_at, join_name, read_path, unquote


class OfTable(Protocol):
    """What is of a table: a SELECT over windows, or a ``MATCH_RECOGNIZE``."""

    @property
    def relation(self) -> Place:
        """Where the table stands."""

    @property
    def alias(self) -> str:
        """The table's alias as it is written, or an empty text."""

    @property
    def where(self) -> Place | None:
        """The condition on its rows."""

    @property
    def visible(self) -> Sequence[tuple[str, Place]]:
        """The queries of WITH that it may name."""


class TextSource(Protocol):
    """The text around a SELECT, which provides its table."""

    query: Query
    session: SparkSession

    def render(
        self, at: int, end: int, replacements: Mapping[int, tuple[int, str]] | None = None
    ) -> str:
        """SQL of a range of tokens."""

    def with_clause(self, select: OfTable) -> str:
        """SQL of the WITH that a SELECT sees."""

    def placeholder_of(self, df: DataFrame) -> str:
        """The placeholder of a DataFrame in SQL."""

    def given_table(self, name: Sequence[str], visible: Sequence[str]) -> DataFrame | None:
        """The DataFrame that the caller passed under a name."""

    def run_sql(self, text: str, places: Sequence[Place]) -> DataFrame:
        """The DataFrame of SQL rendered from parts of the text."""

    def spark_error_at(self, error: PySparkException, places: Sequence[Place]) -> FanlightError:
        """Spark's error about parts of the text, pointing at the name that it mentions."""


@dataclass(frozen=True)
class Table:
    """The rows, and the alias that may stand before the names of their columns."""

    df: DataFrame
    alias: str = ""

    def column(self, parts: Sequence[str]) -> str:
        """A column's name as the API takes it, without the table's alias."""
        qualified = len(parts) > 1 and parts[0].casefold() == self.alias.casefold()
        if qualified and not is_taken(self.df, parts[0], self.df.columns):
            parts = parts[1:]
        return (
            parts[0] if len(parts) == 1 and parts[0] in self.df.columns else join_name(tuple(parts))
        )

    def value(self, parts: tuple[str, ...]) -> Any:
        """A key or an argument: a column's name, or a Column.

        ``a.b`` is the field of a struct, as in all SQL, although a column may be called so.
        """
        name = self.column(parts)
        is_part = len(parts) > 1 and is_taken(self.df, parts[0], self.df.columns)
        return expr(self.df, quote(*parts)) if is_part and name in self.df.columns else name

    def argument(self, text: str, parts: tuple[str, ...]) -> Any:
        """An argument of an aggregate: a column's name, or a Column."""
        return self.value(parts) if parts else expr(self.df, text)


def table_of(source: TextSource, select: Select) -> Table:
    """The table of a SELECT: its rows and alias."""
    tokens, alias = source.query.tokens, unquote(select.alias)
    df = read_rows(source, select)
    qualified = alias and any(
        one.is_name and one.folded == alias.casefold() and tokens[n + 1].is_symbol(".")
        for n, one in enumerate(tokens[select.at : select.end], select.at)
    )
    return Table(df.alias(alias) if qualified else df, alias)


def read_rows(source: TextSource, select: OfTable) -> DataFrame:
    """The rows of the table or sub-query for which WHERE holds."""
    tokens, alias = source.query.tokens, unquote(select.alias).casefold()
    first, last = select.relation
    name, after = read_path(tokens, first, last)
    df = None
    if name and after == last:
        df = find_table(source, select, name, (tokens[first].start, tokens[last - 1].end))
    if df is not None and select.where is None:
        return df
    text = (
        f"SELECT * FROM {source.render(first, last) if df is None else source.placeholder_of(df)}"
    )
    close = tokens[last - 1]  # perhaps of an alias with names of columns: AS t(a, b)
    if alias and not (close.text == ")" and tokens[close.partner - 1].folded == alias):
        text += f" AS {escape_braces(select.alias)}"
    places = [select.relation, *(place for _, place in select.visible)]
    if select.where is not None:
        text += f"\nWHERE {source.render(*select.where)}\n"
        places.append(select.where)
    return source.run_sql(source.with_clause(select) + text, places)


def find_table(
    source: TextSource, select: OfTable, name: Sequence[str], at: tuple[int, int]
) -> DataFrame | None:
    """The table that was passed under a name, or the session's; None for a query of WITH."""
    visible = [one for one, _ in select.visible]
    df = source.given_table(name, visible)
    if df is not None or (len(name) == 1 and name[0].casefold() in visible):
        return df
    try:
        with quietly():
            df = source.session.table(quote(*name))
            df.schema  # noqa: B018 - Connect looks only now
    except PySparkException as error:
        given = name[-1] if name[-1].isidentifier() else "bids"
        write = "" if [given] == [*name] else f"FROM {given}, and "
        message = (
            f"{'.'.join(name)} is not a table of the Spark session ({say_reason(error)}); pass a "
            f"DataFrame under its name: {write}fl.sql(text, {given}=df)"
        )
        raise error_at(source.query.text, *at, message) from error
    return df


BOUNDS = ("window_start", "window_end")
_GROUPING_SETS = re.compile(r"^(rollup|cube|grouping sets) \(| with (rollup|cube)$", re.IGNORECASE)


@dataclass(frozen=True)
class Key:
    """A key: what ``over`` is given as ``by``, and the words that stand for it in the text."""

    by: Any
    words: tuple[str, ...]


class Keys:
    """Resolves the keys of a SELECT; ``calls`` are its aggregate calls by position."""

    def __init__(
        self, query: Query, select: Select, table: Table, calls: Mapping[int, ParsedCall]
    ) -> None:
        self._query, self._select, self._table, self._calls = query, select, table, calls
        self._outputs = outputs_of(select)

    def resolve(self) -> list[Key]:
        """The keys, each once, without the columns of results such as ``window``."""
        select, table = self._select, self._table
        own = [Key(table.column(name), tuple(map(str.casefold, name))) for name in select.clause.by]
        if select.keys is None:
            return own
        keys: list[Key] = []
        bounds = set()
        for place in self._key_places(select.keys):
            parts, after = read_path(self._query.tokens, *place)
            parts = parts if after == place[1] else ()
            if parts and self._is_output(parts[0]):
                bounds.add(parts[0].casefold())
                continue
            self._query.select_reader.refuse_misspelt(*place)
            key = self._make_key(place, parts)
            if key.words not in [other.words for other in keys]:
                keys.append(key)
        whole = (select.keys[0][0], select.keys[-1][1])
        if select.clause.bounds and not bounds >= set(BOUNDS):
            raise self._query.select_reader.refusal(
                whole, "lacks window_start or window_end",
                "write GROUP BY window_start, window_end, and the keys",
            )  # fmt: skip
        if own and keys and {str(one.by) for one in own} != {str(one.by) for one in keys}:
            raise self._query.select_reader.refusal(
                whole, "names other keys than PARTITION BY", "name the keys in only one of the two"
            )
        return keys or own

    def _key_places(self, keys: Sequence[Place]) -> list[Place]:
        """The keys' expressions; of ``GROUP BY ALL`` the selected items without an aggregate."""
        tokens = self._query.tokens
        at, end = keys[0]
        if len(keys) == 1 and end == at + 1 and tokens[at].is_word("ALL"):
            return [one.place for one in self._select.items if not self._has_aggregate(one.place)]
        return [self._resolve_reference(*place) for place in keys]

    def _has_aggregate(self, place: Place) -> bool:
        return any(place[0] <= at < place[1] for at in self._calls)

    def _resolve_reference(self, at: int, end: int) -> Place:
        """The selected expression that a key names by number or alias; else the key itself."""
        one, items, df = self._query.tokens[at], self._select.items, self._table.df
        if end - at > 1:
            return at, end
        if one.kind == "number" and one.text.isdigit():
            if not 0 < int(one.text) <= len(items):
                raise self._query.select_reader.refusal(
                    (at, end), f"is not the number of one of the {len(items)} columns selected",
                    "write a column, or the number of one that is selected",
                )  # fmt: skip
            return items[int(one.text) - 1].place
        if one.is_name and not is_taken(df, one.name, (*df.columns, *self._outputs)):
            named = (item.place for item in items if is_same_name(df, item.name, one.name))
            return next(named, (at, end))
        return at, end

    def _is_output(self, name: str) -> bool:
        """Whether a name is a column of the results, such as ``window``, and not of the table."""
        df = self._table.df
        return is_taken(df, name, self._outputs) and not is_taken(df, name, df.columns)

    def _make_key(self, place: Place, parts: tuple[str, ...]) -> Key:
        query, df = self._query, self._table.df
        if _GROUPING_SETS.search(" ".join(one.text for one in query.tokens[slice(*place)])):
            raise query.select_reader.refusal(
                place, "groups by several sets of keys, and windows have one",
                "name the keys, and group the results: SELECT k, sum(n) FROM (SELECT k, count(*) "
                "AS n FROM … [WATTR …] GROUP BY k) GROUP BY ROLLUP(k)",
            )  # fmt: skip
        words = tuple(one.folded for one in query.tokens[place[0] : place[1]])
        if next(query.call_reader.find_calls(*place), None) is not None:
            raise query.select_reader.refusal(
                place, "is an aggregate, not a key", "name columns, or leave GROUP BY out"
            )
        if parts:
            given = self._table.value(parts)
            return Key(given if isinstance(given, str) else given.alias(parts[-1]), words)
        name = free_name(query.call_reader.one_line(*place), (*df.columns, *self._outputs))
        return Key(expr(df, query.call_reader.text_of(*place)).alias(name), words)


def outputs_of(select: Select) -> tuple[str, ...]:
    """The columns of the results besides keys and aggregates, Flink's bounds included."""
    return (*select.clause.outputs, *(BOUNDS if select.clause.bounds else ()))
