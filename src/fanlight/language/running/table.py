"""The table of a SELECT over windows: its rows, and how the text names its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from fanlight.engine.algebra.sql_text import quote
from fanlight.engine.spark.quiet import quietly
from fanlight.engine.spark.sql import expr, is_taken, say_reason
from fanlight.language.errors import error_at
from fanlight.language.names import join_name, unquote
from fanlight.language.query import Query, escape_braces
from fanlight.language.select import Select
from fanlight.language.tokens import Place, read_path


class TextSource(Protocol):
    """The text around a SELECT, which provides its table."""

    query: Query
    session: SparkSession

    def render(
        self, at: int, end: int, replacements: Mapping[int, tuple[int, str]] | None = None
    ) -> str:
        """SQL of a range of tokens."""

    def with_clause(self, select: Select) -> str:
        """SQL of the WITH that a SELECT sees."""

    def placeholder_of(self, df: DataFrame) -> str:
        """The placeholder of a DataFrame in SQL."""

    def given_table(self, name: Sequence[str], visible: Sequence[str]) -> DataFrame | None:
        """The DataFrame that the caller passed under a name."""

    def run_sql(self, text: str, places: Sequence[Place]) -> DataFrame:
        """The DataFrame of SQL rendered from parts of the text."""


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

    def argument(self, text: str, parts: tuple[str, ...]) -> Any:
        """An argument of an aggregate: a column's name, or a Column."""
        return self.column(parts) if parts else expr(self.df, text)


def table_of(source: TextSource, select: Select) -> Table:
    """The table of a SELECT: its rows and alias."""
    tokens, alias = source.query.tokens, unquote(select.alias)
    df = _read_rows(source, select, alias.casefold())
    qualified = alias and any(
        one.is_name and one.folded == alias.casefold() and tokens[n + 1].is_symbol(".")
        for n, one in enumerate(tokens[select.at : select.end], select.at)
    )
    return Table(df.alias(alias) if qualified else df, alias)


def _read_rows(source: TextSource, select: Select, alias: str) -> DataFrame:
    """The rows of the table or sub-query for which WHERE holds."""
    tokens = source.query.tokens
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
    source: TextSource, select: Select, name: Sequence[str], at: tuple[int, int]
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
