"""Columns of Spark's own aggregates and windows, as fanlight writes them: for error messages.

What a Column says of itself leaves out what matters: ``count_distinct`` calls itself ``count``. So
its text only suggests what it may be; Spark then says whether that means the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from fanlight.engine.algebra.registry import AGGREGATES
from fanlight.engine.algebra.sql_text import split_path
from fanlight.engine.algebra.suggestions import suggest_aggregate
from fanlight.engine.arrow import is_of_spark
from fanlight.engine.spark.quiet import quietly
from fanlight.engine.spark.sql import expr, quote_column

if TYPE_CHECKING:
    from pyspark.sql import Column

_CALL = re.compile(r"Column<'(\w+)\((.*?)\)(?: AS (.*))?'>", re.DOTALL)
_LENGTH = re.compile(r"'?(-?\d+ [a-z]+)'?")
_NUMBER = re.compile(r"\d*\.?\d+")


def translate_aggregate(df: DataFrame, column: Any) -> str | None:
    """An aggregate of Spark's, such as ``F.max("price")``; None if fanlight has no such.

    Also as ``GroupedData.agg`` takes them, ``{"price": "max"}``, and a name alone.
    """
    if isinstance(column, (str, Mapping)):
        return _translate_names(column)
    call = _CALL.fullmatch(str(column))
    if call is None:
        return None
    name, inner, label = call[1].casefold(), call[2], call[3]
    for text, ours in _propose(df, name, inner):
        if _has_same_plan(df, column, text):
            return ours + (f".alias({label!r})" if label else "")
    entry = AGGREGATES.get(name)
    if entry and entry.alike == "any" and _is_plain_call(df, column, name):
        return f"agg.{name}(…) of the same Column"
    return None


def _translate_names(given: str | Mapping[Any, Any]) -> str | None:
    """Aggregates that are named by texts, perhaps each with its column."""
    pairs = given.items() if isinstance(given, Mapping) else [("*", given)]
    ours = []
    for column, said in pairs:
        name = suggest_aggregate(str(said), [*AGGREGATES])
        if name is None:
            return None
        unsaid = "" if name == "count" else "…"
        ours.append(f"agg.{name}({unsaid if column == '*' else repr(column)})")
    return ", ".join(ours) or None


def translate_windows(df: DataFrame, column: Any) -> str | None:
    """``F.window(…)`` or ``F.session_window(…)``; None of any other Column."""
    call = _CALL.fullmatch(str(column))
    if call is None or call[1] not in ("window", "session_window"):
        return None
    if not is_of_spark(df):
        return "fl.over(df, …), with a DataFrame"
    time, *rest = call[2].split(", ")
    lengths = [match[1] for match in map(_LENGTH.fullmatch, rest) if match]
    if call[1] == "session_window":
        spec = f"fl.Session({lengths[0]!r})" if lengths else ""
    else:
        length, slide, start = [*lengths, *[""] * 3][:3]
        spec = repr(length)
        spec += f", {slide!r}" if slide not in ("", length) else ""
        spec += f", offset={start!r}" if start and not start.startswith("0 ") else ""
        spec = f"fl.Sliding({spec})" if length else ""
    given = ", ".join(map(repr, lengths))
    text = f"{call[1]}({quote_column(df, _column_name(df, time))}, {given})"
    if spec and len(lengths) == len(rest) and _has_same_plan(df, column, text):
        return f"fl.over(df, {spec}, time={_column_name(df, time)!r})"
    if call[1] == "session_window":
        return "fl.over(df, fl.Session(gap), time='ts'), where gap is a duration or SQL of one"
    return "fl.over(df, fl.Sliding('1 hour', '5 minutes'), time='ts') with your lengths"


def _propose(df: DataFrame, name: str, inner: str) -> Iterator[tuple[str, str]]:
    """What the text of a call may mean: as SQL, and as fanlight writes it."""
    ours = AGGREGATES.names.get(name, name)
    entry = AGGREGATES.get(ours)
    if name == "count":
        if inner in ("1", "*", "unresolvedstar()"):
            yield "count(1)", "agg.count()"
        shown = re.sub("^distinct ", "", inner, flags=re.IGNORECASE)
        for columns in _split_names(df, shown, shown.count(", ") + 1):
            yield (
                f"count(distinct {_quote_names(df, columns)})",
                f"agg.count_distinct({_list_names(columns)})",
            )
    plain = re.sub(", false$", "", inner, flags=re.IGNORECASE)  # an option that is not taken
    if entry and entry.alike:
        for columns in _split_names(df, plain, max(len(one.types) for one in entry.samples)):
            yield f"{name}({_quote_names(df, columns)})", f"agg.{ours}({_list_names(columns)})"
    if entry and entry.after_share:
        last = entry.after_share
        column, *given = inner.rsplit(", ", 2)
        if len(given) == 2 and _NUMBER.fullmatch(given[0]) and given[1] == last:
            one = [_column_name(df, column)]
            yield (
                f"{name}({_quote_names(df, one)}, {given[0]}D, {last})",
                f"agg.{ours}({_list_names(one)}, {given[0]})",
            )


def _split_names(df: DataFrame, inner: str, count: int) -> Iterator[list[str]]:
    """The text cut into so many names of columns, which may have commas in them."""
    words = inner.split(", ")
    for cuts in combinations(range(1, len(words)), count - 1):
        edges = [0, *cuts, len(words)]
        yield [_column_name(df, ", ".join(words[low:high])) for low, high in pairwise(edges)]


def _column_name(df: DataFrame, shown: str) -> str:
    """A column as a user names it, by what Spark shows of it."""
    names = split_path(shown)
    return names[0] if len(names) == 1 and names[0] in df.columns else shown


def _quote_names(df: DataFrame, columns: Sequence[str]) -> str:
    return ", ".join(quote_column(df, name) for name in columns)


def _list_names(columns: Sequence[str]) -> str:
    return ", ".join(map(repr, columns))


@quietly()
def _has_same_plan(df: DataFrame, column: Column, text: str) -> bool:
    """Whether Spark gives a Column and an SQL text the same plan."""
    try:
        one, other = (df.groupBy(by).count() if "window(" in text else df.select(by)
                      for by in (column, expr(df, text)))  # fmt: skip
        return bool(one.sameSemantics(other))
    except PySparkException:
        return False


@quietly()
def _is_plain_call(df: DataFrame, column: Column, name: str) -> bool:
    """Whether it is a call of this function and no more, by what Spark calls its result."""
    try:
        result = df.select(column).columns[0].casefold()
    except PySparkException:
        return False
    more = ("distinct", " filter (", " over (", " within group")
    return result.startswith(f"{name}(") and not any(word in result for word in more)
