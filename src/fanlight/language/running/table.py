"""The table of a SELECT over windows: its rows, and how the text names its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from fanlight.engine.algebra.text import quote
from fanlight.engine.spark.quiet import quietly
from fanlight.engine.spark.sql import among, reason, sql
from fanlight.language.mistake import mistake
from fanlight.language.names import bare, given
from fanlight.language.query import Query, escaped
from fanlight.language.select import Select
from fanlight.language.tokens import Place, path


class Source(Protocol):
    """The text around a SELECT, which provides its table."""

    query: Query
    session: SparkSession

    def part(self, at: int, end: int, put: Mapping[int, tuple[int, str]] | None = None) -> str:
        """SQL of a range of tokens."""

    def named(self, select: Select) -> str:
        """SQL of the WITH that a SELECT sees."""

    def stand_in(self, df: DataFrame) -> str:
        """The placeholder of a DataFrame in SQL."""

    def table(self, name: Sequence[str], visible: Sequence[str]) -> DataFrame | None:
        """The DataFrame that the caller passed under a name."""

    def run(self, text: str, places: Sequence[Place]) -> DataFrame:
        """The DataFrame of SQL rendered from parts of the text."""


@dataclass(frozen=True)
class Table:
    """The rows, and the alias that may stand before the names of their columns."""

    df: DataFrame
    alias: str = ""

    def column(self, parts: Sequence[str]) -> str:
        """A column's name as the API takes it, without the table's alias."""
        qualified = len(parts) > 1 and parts[0].casefold() == self.alias.casefold()
        if qualified and not among(self.df, parts[0], self.df.columns):
            parts = parts[1:]
        return parts[0] if len(parts) == 1 and parts[0] in self.df.columns else given(tuple(parts))

    def argument(self, text: str, parts: tuple[str, ...]) -> Any:
        """An argument of an aggregate: a column's name, or a Column."""
        return self.column(parts) if parts else sql(self.df, text)


def table_of(source: Source, select: Select) -> Table:
    """The table of a SELECT: its rows and alias."""
    found, alias = source.query.found, bare(select.alias)
    df = _rows(source, select, alias.casefold())
    qualified = alias and any(
        one.named and one.plain == alias.casefold() and found[n + 1].is_mark(".")
        for n, one in enumerate(found[select.at : select.end], select.at)
    )
    return Table(df.alias(alias) if qualified else df, alias)


def _rows(source: Source, select: Select, alias: str) -> DataFrame:
    """The rows of the table or sub-query for which WHERE holds."""
    found = source.query.found
    first, last = select.relation
    name, after = path(found, first, last)
    df = None
    if name and after == last:
        df = named(source, select, name, (found[first].start, found[last - 1].end))
    if df is not None and select.where is None:
        return df
    text = f"SELECT * FROM {source.part(first, last) if df is None else source.stand_in(df)}"
    close = found[last - 1]  # perhaps of an alias with names of columns: AS t(a, b)
    if alias and not (close.text == ")" and found[close.partner - 1].plain == alias):
        text += f" AS {escaped(select.alias)}"
    places = [select.relation, *(place for _, place in select.visible)]
    if select.where is not None:
        text += f"\nWHERE {source.part(*select.where)}\n"
        places.append(select.where)
    return source.run(source.named(select) + text, places)


def named(
    source: Source, select: Select, name: Sequence[str], at: tuple[int, int]
) -> DataFrame | None:
    """The table that was passed under a name, or the session's; None for a query of WITH."""
    visible = [one for one, _ in select.visible]
    df = source.table(name, visible)
    if df is not None or (len(name) == 1 and name[0].casefold() in visible):
        return df
    try:
        with quietly():
            df = source.session.table(quote(*name))
            df.schema  # noqa: B018 - Connect looks only now
    except PySparkException as error:
        said = (
            f"{'.'.join(name)} is not a table of the Spark session ({reason(error)}); pass a "
            "DataFrame under that name: fl.sql(text, bids=df)"
        )
        raise mistake(source.query.text, *at, said) from error
    return df
