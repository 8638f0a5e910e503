"""Spark's own aggregates and windows, given as Columns, as those of fanlight.

What a Column says of itself leaves out what matters: ``count_distinct`` calls itself ``count``. So
its text only suggests what it may be; Spark then says whether that means the same.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, combinations, pairwise, product
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.arithmetic import Arithmetic
from fanlight.engine.algebra.expression import Expression, SqlExpression
from fanlight.engine.algebra.registry import AGGREGATES, Entry
from fanlight.engine.algebra.sql_text import has_substitution, quote, split_path
from fanlight.engine.algebra.suggestions import advise_otherwise, suggest_aggregate
from fanlight.engine.arrow import is_of_spark
from fanlight.engine.spark.quiet import quietly
from fanlight.engine.spark.sql import expr, quote_column, type_text, window_of_spark
from fanlight.engine.spec.errors import FanlightError, is_column
from fanlight.engine.spec.frames import Session
from fanlight.engine.spec.sliding import Sliding
from fanlight.engine.spec.units import write_duration

if TYPE_CHECKING:
    from pyspark.sql import Column

    Computed = Call | Expression | SqlExpression


_SHOWN = re.compile(r"Column<'(.*?)(?: AS ([^()]*))?'>", re.DOTALL)
_CALL = re.compile(r"(\w+)\((.*?)\)(?: FILTER \(WHERE (.*)\))?", re.DOTALL | re.IGNORECASE)
_DISTINCT = re.compile("^distinct ", re.IGNORECASE)
# Spark 3.5 shows lengths in microseconds, and calls windows by the names of their expressions.
_WINDOW = re.compile(r"Column<'(window|session_?window)\((.*)\)(?: AS .*)?'>", re.DOTALL)
_LENGTH = re.compile(r"'?(-?\d+(?:(?: -?\d+)? [a-z]+)*)'?")
_NUMBER = re.compile(r"-?\d*\.?\d+(?:E-?\d+)?")
_PATH = re.compile(r"\w+(?:\.\w+)+")
_SIGNS = ("/", "*", "+", "-")
_FRACTION = re.compile(r"(?<![\w.])\d+\.\d+(?:E-?\d+)?(?![\w.])")
_STANDS_FOR = re.compile(r"\bfanlight_column_\d+_\b")
_WORD = re.compile(r"[^\W\d]\w*")
_AGGREGATE = re.compile(r"(?<!\w)(\w+)\(")
_FILTER = re.compile(r" FILTER \((?=WHERE )", re.IGNORECASE)
_OVER = re.compile(r"\) OVER \(", re.IGNORECASE)
# The names of Spark's aggregates that are ours, too.
_KNOWN = frozenset(
    name
    for name in (*AGGREGATES, *AGGREGATES.names)
    for entry in [AGGREGATES[AGGREGATES.names.get(name, name)]]
    if entry.alike or entry.after_share or name == "count"
)


@dataclass(frozen=True)
class _Meant:
    """What a text may mean: as SQL, and as fanlight has it."""

    sql: str
    ours: Any


@dataclass(frozen=True)
class _Source:
    """A DataFrame, and how a text about it is read.

    ``names``: words that stand for names of columns that are no words. ``doubles``: whether its
    fractions are doubles, as Python's are, or decimals, as those in SQL are.
    """

    df: DataFrame
    names: Mapping[str, str]
    doubles: bool

    def restore(self, text: str) -> str:
        """A text as SQL: with the columns, quoted, that its words stand for."""
        text = _FRACTION.sub(r"\g<0>D", text) if self.doubles else text
        return _STANDS_FOR.sub(lambda found: quote(self.names[found[0]]), text)

    def column(self, shown: str) -> tuple[str, Any]:
        """SQL of a column by what Spark shows of it, and its name, or the Column if computed."""
        if shown in self.names:
            return quote(self.names[shown]), self.names[shown]
        name = _column_name(self.df, shown)
        if name in self.df.columns or _PATH.fullmatch(shown):
            return quote_column(self.df, name), name
        if len(split_outside(shown)) > 1:
            raise LookupError(shown)
        text = self.restore(shown)
        return text, expr(self.df, text)


def read_aggregate(df: DataFrame, column: Any) -> Computed | None:
    """An aggregate of Spark's, such as ``F.max("price")``; None if fanlight has none like it.

    It keeps the name that Spark has for its result.
    """
    shown = _SHOWN.fullmatch(str(column)) if is_column(column) else None
    if shown is None:
        return None
    for source, text in _spell(df, shown[1]):
        for meant in chain(_read(source, text), _read_inside(source, text)):
            own = meant.ours
            known = isinstance(own, (Call, Expression, SqlExpression))
            if known and _has_same_plan(df, column, meant.sql):
                return _as_spark_has_it(df, column, own)
    return None


def read_function(df: DataFrame, column: Column) -> tuple[str, str, str] | None:
    """A Column over the columns of ``df`` as SQL, its name in Spark, and its type if it is struct.

    SQL gives the fields of a struct other names. None if the Column cannot be read.
    """
    shown = _SHOWN.fullmatch(str(column))
    for source, text in _spell(df, shown[1]) if shown else ():
        written = source.restore(text)
        if _has_same_plan(df, column, written):
            result = df.select(column).schema[0]
            kind = type_text(result.dataType)
            named = "struct<" in kind and not has_substitution(kind)
            return written, result.name, kind if named else ""
    return None


def advise_aggregate(column: Any, columns: Sequence[str] = ()) -> tuple[str, str]:
    """Why one of Spark's aggregates is not read, or an empty text, and what to write instead.

    ``columns``: those of the DataFrame, whose names Spark may take for a path into a struct.
    """
    names = translate_names(column)
    call = None if names else _call_of(column)
    otherwise = advise_otherwise(call[1]) if call else None
    if otherwise is not None:
        return otherwise
    known = call is not None and call[1] in _KNOWN
    entry = AGGREGATES[AGGREGATES.names.get(call[1], call[1])] if call and known else None
    plain = call is not None and is_balanced(call[2])
    if entry and call is not None and call[2] in columns:
        return "", f"agg.{entry.name}({call[2]!r})"
    return "", names or (f"agg.{entry.name}(…) of the same Columns" if entry and plain else "")


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
        name = _column_name(df, ", ".join(words[:place]))
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


def _call_of(column: Any) -> re.Match[str] | None:
    """The one call that a Column shows itself as: its name, its inside and its FILTER."""
    shown = _SHOWN.fullmatch(str(column))
    return _CALL.fullmatch(shown[1]) if shown else None


def _spell(df: DataFrame, shown: str) -> Iterator[tuple[_Source, str]]:
    """What Spark shows of a Column as SQL: with words for names that are none, and as it is."""
    shown = split_outside(shown, " AS ")[0]  # an alias that has brackets
    odd = [name for name in df.columns if not _WORD.fullmatch(name)]
    words = {name: f"fanlight_column_{number}_" for number, name in enumerate(odd)}
    spelt: list[tuple[Mapping[str, str], str]] = [({}, infix(shown))]
    if odd:
        longest = "|".join(re.escape(name) for name in sorted(odd, key=len, reverse=True))
        spelling = re.compile(rf"(?<!\w)`?({longest})`?(?!\w)")
        text = spelling.sub(lambda found: words[found[1]], shown)
        spelt.insert(0, ({word: name for name, word in words.items()}, infix(text)))
    for names, text in spelt:
        for doubles in (True, False) if _FRACTION.search(text) else (False,):
            yield _Source(df, names, doubles), text


def _read_inside(source: _Source, text: str) -> Iterator[_Meant]:
    """What a text may mean in which aggregates are arguments of functions."""
    calls, at, texts = [], 0, []
    for found in _AGGREGATE.finditer(text):
        end = _end_of_call(text, found.end() - 1)
        if found.start() >= at and found[1].casefold() in _KNOWN and end is not None:
            texts.append(text[at : found.start()])
            calls.append(text[found.start() : end])
            at = end
    if not calls or _OVER.search(text):
        return
    texts = [source.restore(one) for one in [*texts, text[at:]]]
    for parts in product(*(list(_read(source, one)) for one in calls)):
        ours = SqlExpression(tuple(texts), tuple(one.ours for one in parts))
        yield _Meant(ours.write([one.sql for one in parts]), ours)


def _end_of_call(text: str, at: int) -> int | None:
    """Where a call ends, with its FILTER, whose bracket opens at a place."""
    close = closing(text, at)
    condition = None if close is None else _FILTER.match(text, close + 1)
    end = close if condition is None else closing(text, condition.end() - 1)
    return None if end is None else end + 1


def _read(source: _Source, text: str) -> Iterator[_Meant]:
    """What a text may mean: a number, an aggregate, or arithmetic of these."""
    if _NUMBER.fullmatch(text):
        yield _Meant(_literal_sql(text), _literal(text))
    call = _CALL.fullmatch(text)
    known = call is not None and call[1].casefold() in _KNOWN
    if call is not None and known and is_balanced(call[2]):
        name, test = call[1].casefold(), call[3] and source.restore(call[3])
        for one in _read_call(source, name, call[2]):
            after = f" filter (where {test})" if test else ""
            yield _Meant(f"{one.sql}{after}", one.ours.where(test) if test else one.ours)
    for sign in _SIGNS:
        for left, right in _split_at(text, f" {sign} "):
            for one, other in product(_read(source, left), _read(source, right)):
                if any(isinstance(side.ours, Arithmetic) for side in (one, other)):
                    ours = Expression(one.ours, sign, other.ours)
                    yield _Meant(f"({one.sql} {sign} {other.sql})", ours)


def _split_at(text: str, sign: str) -> Iterator[tuple[str, str]]:
    """The sides of a sign within brackets around all of a text, where it is in no others."""
    if text.startswith("(") and text.endswith(")"):
        parts = split_outside(text[1:-1], sign)
        for at in range(1, len(parts)):
            yield sign.join(parts[:at]), sign.join(parts[at:])


def _read_call(source: _Source, name: str, inner: str) -> Iterator[_Meant]:
    """What a call of one of Spark's functions may mean, without its FILTER."""
    entry = AGGREGATES[AGGREGATES.names.get(name, name)]
    plain = _DISTINCT.sub("", inner)
    if name == "count":
        if inner in ("1", "*", "unresolvedstar()"):
            yield _Meant("count(1)", entry.function())
        for columns in _candidates(source, plain, (1, 2, 3)):
            count_distinct = AGGREGATES["count_distinct"].function
            own = count_distinct(*(column for _, column in columns))
            yield _Meant(f"count(distinct {', '.join(sql for sql, _ in columns)})", own)
    once = "distinct" in inspect.signature(entry.function).parameters
    for texts, arguments, options in _arguments(source, entry, plain):
        with suppress(FanlightError):  # an option that is out of range here
            if plain == inner:
                yield _Meant(f"{name}({texts})", entry.function(*arguments, **options))
            if once:
                own = entry.function(*arguments, **options, distinct=True)
                yield _Meant(f"{name}(distinct {texts})", own)


def _arguments(
    source: _Source, entry: Entry, inner: str
) -> Iterator[tuple[str, list[Any], dict[str, Any]]]:
    """The SQL, the columns and the options as which the inside of a call may be read."""
    counts = sorted({len(one.types) for one in entry.samples if one.types}, reverse=True)
    words, names = split_outside(inner), [*inspect.signature(entry.function).parameters]
    for count, end in product(counts, range(1, len(words) + 1)):
        shown = words[end:]
        hidden = bool(entry.after_share) and shown[-1:] == [entry.after_share]
        for known in (shown[:-1], shown) if hidden else (shown,):
            values = [_literal(one) for one in known]
            while values[-1:] == [False]:  # an option that is not taken
                values.pop()
            if None in values or len(values) > len(names) - count:
                continue
            options = dict(zip(names[count:], values, strict=False))
            for columns in _candidates(source, ", ".join(words[:end]), (count,)):
                texts = [*(sql for sql, _ in columns), *map(_literal_sql, shown)]
                yield ", ".join(texts), [column for _, column in columns], options


def _literal(text: str) -> Any:
    """A number, a condition or an array of numbers; None of anything else."""
    if text.casefold() in ("true", "false"):
        return text.casefold() == "true"
    if text.startswith("array(") and text.endswith(")"):
        found = [_literal(one) for one in split_outside(text[6:-1])]
        return None if None in found else found
    if not _NUMBER.fullmatch(text):
        return None
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _literal_sql(text: str) -> str:
    """The SQL of what Spark shows of a literal: a fraction is a double."""
    if text.startswith("array("):
        return f"array({', '.join(map(_literal_sql, split_outside(text[6:-1])))})"
    return f"{text}D" if _NUMBER.fullmatch(text) and not text.lstrip("-").isdigit() else text


def _candidates(
    source: _Source, inner: str, counts: Sequence[int]
) -> Iterator[list[tuple[str, Any]]]:
    """Columns, of each its SQL and itself, that a text may list; in names there may be commas."""
    words = inner.split(", ")
    found = [split_outside(inner)] if len(split_outside(inner)) in counts else []
    for several in counts:
        for cuts in combinations(range(1, len(words)), several - 1):
            edges = [0, *cuts, len(words)]
            found.append([", ".join(words[low:high]) for low, high in pairwise(edges)])
    for names in dict.fromkeys(map(tuple, found)):
        with suppress(PySparkException, LookupError):  # a part of a name, or of an expression
            yield [source.column(one) for one in names]


def _column_name(df: DataFrame, shown: str) -> str:
    """A column as a user names it, by what Spark shows of it."""
    names = split_path(shown)
    return names[0] if len(names) == 1 and names[0] in df.columns else shown


@quietly()
def _as_spark_has_it(df: DataFrame, column: Column, own: Computed) -> Computed | None:
    """The same with the name that Spark has for the result, and the names of a struct's fields."""
    result = df.select(column).schema[0]
    kind = type_text(result.dataType)
    if isinstance(own, SqlExpression) and "struct<" in kind:
        if has_substitution(kind):
            return None
        own = own.inside("cast(", f" as {kind})")
    return own.alias(result.name)


@quietly()
def _has_same_plan(df: DataFrame, column: Column, text: str) -> bool:
    """Whether Spark gives a Column and an SQL text the same plan."""
    try:
        return bool(df.select(column).sameSemantics(df.select(expr(df, text))))
    except PySparkException:
        return False


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


_PREFIX = re.compile(r"(?<![\w)\]])(<=>|<=|>=|!=|[-+*/%=<>!]|and|or|in)\(")


def infix(text: str) -> str:
    """SQL of what Spark 4 shows of an expression: ``*(a, 2)`` is ``(a * 2)``.

    >>> infix("sum(*(price, +(a, 1)))"), infix("count_if(and(>(a, 3), !(ok)))")
    ('sum((price * (a + 1)))', 'count_if(((a > 3) and (not ok)))')
    """
    found = _PREFIX.search(text)
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
        found = _PREFIX.search(text, len(before))
    return text


def closing(text: str, at: int) -> int | None:
    """Where the bracket that opens at a place closes."""
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if depth == 0:
            return place
    return None


def is_balanced(text: str) -> bool:
    """Whether no bracket of a text closes one that is before it."""
    return closing(f"({text})", 0) == len(text) + 1


def split_outside(text: str, sign: str = ", ") -> list[str]:
    """A text cut at the commas, or at another sign, that are in no brackets."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and text.startswith(sign, at):
            parts.append(text[begin:at])
            begin = at + len(sign)
    return [*parts, text[begin:]]
