"""Spark's own aggregates and windows, given as Columns, as those of fanlight.

A Column shows itself as a text, from which the SQL is made that it may stand for. The text leaves
out what matters (``count_distinct`` shows itself as ``count``), so Spark is asked whether that SQL
has the plan of the Column. If so, the SQL is read; if not, the Column is left to Spark.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice, product
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.expression import Expression, SqlExpression
from fanlight.engine.algebra.registry import AGGREGATES
from fanlight.engine.algebra.sql_text import has_substitution, quote, split_path
from fanlight.engine.algebra.suggestions import advise_otherwise, suggest_aggregate
from fanlight.engine.arrow import is_of_spark
from fanlight.engine.spark.quiet import quietly
from fanlight.engine.spark.sql import expr, expr_as, quote_column, type_text, window_of_spark
from fanlight.engine.spec.errors import FanlightError, is_column
from fanlight.engine.spec.frames import Session
from fanlight.engine.spec.sliding import Sliding
from fanlight.engine.spec.units import write_duration

if TYPE_CHECKING:
    from pyspark.sql import Column

    Computed = Call | Expression | SqlExpression


_SHOWN = re.compile(r"Column<'(.*)'>", re.DOTALL)
# Spark 3.5 shows lengths in microseconds, and calls windows by the names of their expressions.
_WINDOW = re.compile(r"Column<'(window|session_?window)\((.*)\)(?: AS .*)?'>", re.DOTALL)
_LENGTH = re.compile(r"'?(-?\d+(?:(?: -?\d+)? [a-z]+)*)'?")
# Strings, of which raw ones have no escapes, names in backticks, and comments.
_QUOTED = re.compile(
    r"\b[rR](?:'[^']*'|\"[^\"]*\")|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|/\*.*?\*/",
    re.DOTALL,
)
_NUMBER = re.compile(r"(-?\d*\.?\d+(?:E-?\d+)?)D?")
_FRACTION = re.compile(r"(?<![\w.])\d+\.\d+(?:E-?\d+)?(?![\w.])")
_WORD = re.compile(r"[^\W\d]\w*")
_CALL = re.compile(r"(?<![\w.])(\w+)\(")
_FILTER = re.compile(r" FILTER (\()WHERE ", re.IGNORECASE)
_DISTINCT = re.compile("distinct ", re.IGNORECASE)
_MOST_READINGS = 256
_SUBQUERY = re.compile(r"\(\s*(?:select|with|from|table|values)\b", re.IGNORECASE)
# The names of Spark's aggregates that are ours, too.
_KNOWN = frozenset(
    name
    for name in (*AGGREGATES, *AGGREGATES.names)
    for entry in [AGGREGATES[AGGREGATES.names.get(name, name)]]
    if entry.alike or entry.after_share or name == "count"
)
_ONCE = "|".join(
    name
    for name in _KNOWN
    for entry in [AGGREGATES[AGGREGATES.names.get(name, name)]]
    if name == "count" or "distinct" in inspect.signature(entry.function).parameters
)
# The bracket of a call that may be of distinct values, without a word of it.
_MAY_BE_DISTINCT = re.compile(rf"(?<![\w.])(?:{_ONCE})\((?!\*|distinct )", re.IGNORECASE)


@quietly()
def read_aggregate(df: DataFrame, column: Any) -> Computed | None:
    """An aggregate of Spark's, such as ``F.max("price")``; None if fanlight has none like it.

    It keeps the name that Spark has for its result.
    """
    shown = _shown(column)
    if not any(found[1].casefold() in _KNOWN for found in _CALL.finditer(shown)):
        return None
    sql = _find_sql(df, column)
    own = None if sql is None else _read(df, sql)
    if own is None:
        return None
    name, kind = _result_of(df, column)
    if isinstance(own, SqlExpression) and kind:  # SQL gives the fields of a struct other names
        if has_substitution(kind):
            return None
        own = own.inside("cast(", f" as {kind})")
    return own.alias(name)


@quietly()
def read_function(df: DataFrame, column: Column) -> tuple[str, str, str] | None:
    """A Column over the columns of ``df`` as SQL, its name in Spark, and its type if it is struct.

    SQL gives the fields of a struct other names. None if the Column cannot be read.
    """
    sql = _find_sql(df, column)
    if sql is None:
        return None
    name, kind = _result_of(df, column)
    return sql, name, "" if has_substitution(kind) else kind


def advise_aggregate(column: Any, columns: Sequence[str] = ()) -> tuple[str, str]:
    """Why one of Spark's aggregates is not read, or an empty text, and what to write instead.

    ``columns``: those of the DataFrame, whose names Spark may take for a path into a struct.
    """
    names = translate_names(column)
    shown = _without_alias(_shown(column))
    call = None if names else _CALL.match(shown)
    if call is None:
        return "", names or ""
    inside, otherwise = _split_call(shown, call.end() - 1), advise_otherwise(call[1])
    if otherwise is not None or call[1] not in _KNOWN or not inside or inside[2] < len(shown):
        return otherwise or ("", "")
    given = f"({inside[0]!r})" if inside[0] in columns else "(…) of the same Columns"
    return "", f"agg.{AGGREGATES.names.get(call[1], call[1])}{given}"


def translate_names(given: Any) -> str | None:
    """Aggregates as others take them: ``{"price": "max"}``, ``("price", "max")`` or texts.

    >>> [translate_names(given) for given in ("count", "max(price)", ("price", "mean"))]
    ['agg.count()', "agg.max('price')", "agg.avg('price')"]
    """
    if inspect.isroutine(given):
        given = given.__name__
    if isinstance(given, tuple) and len(given) == 2:  # as pandas names them
        given = {given[0]: given[1]}
    if not isinstance(given, (str, Mapping)):
        return None
    called = re.fullmatch(r"(\w+)\((\w+|\*)\)", str(given))
    pairs = [(called[2], called[1])] if called else [("*", given)]
    pairs = [*given.items()] if isinstance(given, Mapping) else pairs
    ours = []
    for column, said in pairs:
        name = suggest_aggregate(str(said), [*AGGREGATES])
        if name is None:
            return None
        unsaid = "" if name == "count" else "…"
        ours.append(f"agg.{name}({unsaid if column == '*' else repr(column)})")
    return ", ".join(ours) or None


def read_windows(df: DataFrame, column: Any) -> tuple[Any, str] | None:
    """The windows of ``F.window(…)`` or ``F.session_window(…)``, and their time, if it is those."""
    shown = _WINDOW.fullmatch(str(column))
    if shown is None or not is_of_spark(df):
        return None
    kind = "window" if shown[1] == "window" else "session_window"
    words = shown[2].split(", ")  # which the name of the time may have, too
    for place in range(max(1, len(words) - 3), len(words)):
        lengths = [length for word in words[place:] if (length := _length(word))]
        name = _name(df, ", ".join(words[:place]))
        if place + len(lengths) == len(words) and _are_windows(df, column, kind, name, lengths):
            return _windows_of(kind, *lengths), name
    return None


def _windows_of(kind: str, length: str, slide: str = "", start: str = "") -> Session | Sliding:
    """Spark's windows as a spec."""
    if kind == "session_window":
        return Session(length)
    begins = 0 if not start or start.startswith("0 ") else start
    return Sliding(length, slide or length, offset=begins)


def _length(word: str) -> str | None:
    """A length of windows by what Spark shows of it: a duration, or a number of microseconds."""
    shown = _LENGTH.fullmatch(word)
    if shown is None:
        return None
    return write_duration(int(shown[1])) if shown[1].lstrip("-").isdigit() else shown[1]


def advise_windows(df: DataFrame, column: Any) -> str | None:
    """What to write instead of Spark's windows, where they cannot be had; None of other Columns."""
    shown = _WINDOW.fullmatch(str(column))
    if shown is None:
        return None
    if not is_of_spark(df):
        return "fl.over(df, …), with a DataFrame"
    read = read_windows(df, column)
    if read is not None:
        return f"fl.over(df, fl.{read[0]!r}, time={read[1]!r})"
    if shown[1] != "window":
        return "fl.over(df, fl.Session(gap), time='ts'), where gap is a duration or SQL of one"
    return "fl.over(df, fl.Sliding('1 hour', '5 minutes'), time='ts') with your lengths"


def _shown(column: Any) -> str:
    """The text that a Column prints as, or nothing for any other value."""
    shown = _SHOWN.fullmatch(str(column)) if is_column(column) else None
    return shown[1] if shown else ""


def _find_sql(df: DataFrame, column: Column) -> str | None:
    """The SQL of a Column, as Spark confirms: the first reading that has the same plan."""
    for text in islice(_spell(df, _shown(column)), _MOST_READINGS):
        with suppress(PySparkException):
            if df.select(column).sameSemantics(df.select(expr(df, text))):
                return text
    return None


def _spell(df: DataFrame, shown: str) -> Iterator[str]:
    """What Spark shows of a Column, as each SQL that it may stand for.

    Names that are no words are quoted, or all is left as it is; fractions are doubles, as Python's
    are, or decimals, as those of SQL are; values are taken each, or once.
    """
    texts = [shown]
    odd = sorted((n for n in df.columns if not _WORD.fullmatch(n)), key=len, reverse=True)
    if odd:
        spelling = re.compile(rf"(?<!\w)`?({'|'.join(map(re.escape, odd))})`?(?!\w)")
        texts.insert(0, spelling.sub(lambda found: quote(found[1]), shown))
    for text in dict.fromkeys(infix(_without_alias(text)) for text in texts):
        fractions = [found.end() for found in _FRACTION.finditer(mask(text))]
        for doubled in dict.fromkeys([_insert(text, fractions, ["D"] * len(fractions)), text]):
            places = [found.end() for found in _MAY_BE_DISTINCT.finditer(mask(doubled))]
            for words in product(("", "distinct "), repeat=len(places)):
                yield _insert(doubled, places, words)


def _without_alias(shown: str) -> str:
    return split_outside(shown, " AS ")[0].replace("unresolvedstar()", "*")


def _insert(text: str, places: Sequence[int], words: Sequence[str]) -> str:
    """A text with words at some places of it."""
    for place, word in sorted(zip(places, words, strict=True), reverse=True):
        text = text[:place] + word + text[place:]
    return text


def _read(df: DataFrame, sql: str) -> Call | SqlExpression | None:
    """SQL as one of our aggregates, or as SQL around some; None if that is not all it has."""
    calls, written, texts, at = list[Call](), list[str](), list[str](), 0
    for found in _CALL.finditer(_without_subqueries(mask(sql))):
        if found.start() < at or found[1].casefold() not in _KNOWN:
            continue
        inside = _split_call(sql, found.end() - 1)
        own = inside and _read_call(df, found[1].casefold(), *inside[:2])
        if not inside or not own:
            return None
        texts.append(sql[at : found.start()])
        at = inside[2]
        written.append(sql[found.start() : at])
        calls.append(own)
    around = SqlExpression((*texts, sql[at:]), tuple(calls))
    if not calls or not any(around.texts):
        return calls[0] if calls else None
    # Spark allows neither an aggregate in WHERE, nor, behind an alias, a column that is not there.
    names = [f"r{n}" for n in range(len(calls))]
    results = df.groupBy().agg(*map(partial(expr_as, df), written, names))
    try:
        results.alias("results").where(f"({around.write(names)}) is null").schema  # noqa: B018
    except PySparkException:
        return None
    return around


def _without_subqueries(text: str) -> str:
    """A text of the same length, without subqueries, whose aggregates are their own."""
    while found := _SUBQUERY.search(text):
        end = closing(text, found.start()) or len(text)
        text = text[: found.start()] + "_" * (end - found.start()) + text[end:]
    return text


def _split_call(text: str, at: int) -> tuple[str, str, int] | None:
    """What is in the bracket that opens at a place, the condition after it, and where all ends."""
    close = closing(text, at)
    if close is None:
        return None
    found = _FILTER.match(text, close + 1)
    end = closing(text, found.start(1)) if found else close
    condition = text[found.end() : end] if found else ""
    return None if end is None else (text[at + 1 : close], condition, end + 1)


def _read_call(df: DataFrame, name: str, inner: str, condition: str) -> Call | None:
    """One of our aggregates by the SQL of its arguments: columns, and then literals."""
    entry, options = AGGREGATES[AGGREGATES.names.get(name, name)], dict[str, Any]()
    names = [*inspect.signature(entry.function).parameters]
    plain = _DISTINCT.sub("", inner)
    arguments = [] if name == "count" and inner in ("*", "1") else split_outside(plain)
    count = min(len(arguments), max(len(one.types) for one in entry.samples))
    if name == "count" and plain != inner:
        entry, count = AGGREGATES["count_distinct"], len(arguments)
    elif plain != inner:
        options["distinct"] = True
    shown = arguments[count:]
    values = [_literal(one) for one in (shown[:-1] if shown[-1:] == [entry.after_share] else shown)]
    while values[-1:] == [False]:  # an option that is not taken
        values.pop()
    if None in values or len(values) > len(names[count:]) or not {*options} <= {*names}:
        return None
    options |= zip(names[count:], values, strict=False)
    try:
        own = entry.function(*(_column(df, one) for one in arguments[:count]), **options)
    except (FanlightError, PySparkException):  # an option out of range; no SQL of a column
        return None
    return own.where(condition) if condition else own


def _column(df: DataFrame, sql: str) -> Any:
    """A column by its SQL: its name, or a Column of what is computed."""
    names = split_path(sql)
    return names[0] if len(names) == 1 and names[0] in df.columns else expr(df, sql)


def _literal(text: str) -> Any:
    """A number, a condition or an array of numbers; None of anything else."""
    if text.casefold() in ("true", "false"):
        return text.casefold() == "true"
    if text.startswith("array(") and text.endswith(")"):
        found = [_literal(one) for one in split_outside(text[6:-1])]
        return None if None in found else found
    number = _NUMBER.fullmatch(text)
    if number is None:
        return None
    return int(text) if text.lstrip("-").isdigit() else float(number[1])


def _result_of(df: DataFrame, column: Column) -> tuple[str, str]:
    """The name that Spark has for a result, and its type if it is struct."""
    result = df.select(column).schema[0]
    kind = type_text(result.dataType)
    return result.name, kind if "struct<" in kind else ""


@quietly()
def _are_windows(
    df: DataFrame, column: Column, kind: str, time: str, lengths: Sequence[str]
) -> bool:
    """Whether Spark gives a Column the plan of such windows, whatever name the Column has."""
    sql = quote_column(df, time)
    text = f"{kind}({sql}, {', '.join(map(repr, lengths))})"
    with suppress(PySparkException):
        asked = df.groupBy(column).count()
        for same in (window_of_spark(df, kind, sql, lengths), expr(df, text)):
            for one in (same, same.alias(asked.columns[0])):
                if asked.sameSemantics(df.groupBy(one).count()):
                    return True
    return False


def _name(df: DataFrame, shown: str) -> str:
    """A column as a user names it, by what Spark shows of it."""
    names = split_path(shown)
    return names[0] if len(names) == 1 and names[0] in df.columns else shown


_PREFIX = re.compile(r"(?<![\w)\]])(<=>|<=|>=|!=|[-+*/%=<>!]|and|or|in)\(")


def infix(text: str) -> str:
    """SQL of what Spark 4 shows of an expression: ``*(a, 2)`` is ``(a * 2)``.

    >>> infix("sum(*(price, +(a, 1)))"), infix("count_if(and(>(a, 3), !(ok)))")
    ('sum((price * (a + 1)))', 'count_if(((a > 3) and (not ok)))')
    """
    found = _PREFIX.search(mask(text))
    while found:
        close = closing(text, found.end() - 1)
        if close is None:
            return text
        sign, inner = found[1], [infix(one) for one in split_outside(text[found.end() : close])]
        if sign == "!":
            written = f"(not {inner[0]})"
        elif sign == "in":
            written = f"({inner[0]} in ({', '.join(inner[1:])}))"
        else:
            written = f"({f' {sign} '.join(inner)})"
        before = text[: found.start()] + written
        text = before + text[close + 1 :]
        found = _PREFIX.search(mask(text), len(before))
    return text


def mask(text: str) -> str:
    """A text of the same length, without what is in quotes."""
    return _QUOTED.sub(lambda found: "_" * len(found[0]), text)


def closing(text: str, at: int) -> int | None:
    """Where the bracket that opens at a place closes."""
    depth, text = 0, mask(text)
    for place in range(at, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if depth == 0:
            return place
    return None


def split_outside(text: str, sign: str = ", ") -> list[str]:
    """A text cut at the commas, or at another sign, that are in no brackets and no quotes."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(masked := mask(text)):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and masked.startswith(sign, at):
            parts.append(text[begin:at])
            begin = at + len(sign)
    return [*parts, text[begin:]]
