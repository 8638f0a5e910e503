"""The DataFrame with its time column, keys and tiebreaks: names looked up and checked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql.types import DataType, StructField

from fanlight.engine.algebra.aggregate import Call, contains_type
from fanlight.engine.algebra.sql_text import literal, quote
from fanlight.engine.arrow import is_of_spark
from fanlight.engine.spark import translation
from fanlight.engine.spark.binding.lag import Lag, has_two_watermarks, lag_of_time
from fanlight.engine.spark.equality import (
    INSTEAD,
    WHY_NOT,
    has_normal_form,
    normal_form,
)
from fanlight.engine.spark.quiet import quietly
from fanlight.engine.spark.sql import (
    TIME_WINDOW,
    WATERMARK,
    expr,
    is_connect,
    is_same_name,
    is_taken,
    quote_column,
    say_reason,
    type_text,
)
from fanlight.engine.spark.supported import check_session
from fanlight.engine.spec.arguments import check_text
from fanlight.engine.spec.errors import (
    FanlightError,
    advise_choice,
    is_column,
    list_some,
    refuse,
    show,
)
from fanlight.engine.spec.units import MICROSECONDS, Extent

Given = str | Column
# Spark Connect has only a TypeError for the Column of a classic session.
WRONG_COLUMN = (PySparkException, TypeError)
_ORDER = re.compile(r"Column<'((.*) (?:ASC|DESC) NULLS (?:FIRST|LAST))'>", re.DOTALL)
_OPERATOR = re.compile(r"[-+*/%()<>=|&]")  # what no plain name has, and most expressions have
UNGROUPED = ("map<", "variant")  # types that Spark has no equality for


@dataclass(frozen=True)
class Source:
    """A DataFrame with its time column, keys and tiebreaks, all checked."""

    df: DataFrame
    time: str
    time_sql: str
    time_type: str
    by: tuple[Given, ...]
    names: tuple[str, ...]  # output names of the keys
    tiebreak: tuple[Given, ...]
    delay: Any | None  # the watermark's delay, if the time column carries one
    # The type of the time column, where it is read as a timestamp, as Spark's window() reads it.
    read_from: str = ""
    uncounted: DataFrame | None = None  # a stream before its progress counts rejected rows
    # How many partitions of keys a stream has with state in Python; None: Spark's setting.
    partitions: int | None = None
    forget_after: Extent | None = None  # after a longer silence a key starts anew
    key_types: tuple[DataType, ...] = ()
    tie_types: tuple[DataType, ...] = ()
    # Makes the caller's kind of DataFrame of a result; None: it is Spark's.
    back: Callable[[DataFrame], Any] | None = None
    lag: Lag | None = None  # of the time of a stream, where that is of another result

    @property
    def keys(self) -> list[str]:
        """The internal names of the keys."""
        return [f"k{i}" for i in range(len(self.names))]

    @property
    def tie_keys(self) -> list[str]:
        """The internal names of the tiebreak columns."""
        return [f"b{i}" for i in range(len(self.tiebreak))]

    @property
    def normal_forms(self) -> dict[str, str]:
        """SQL: keys and tiebreaks in their normal form, by internal name, where that is another.

        In a stream keys are without collation: Spark's state store refuses keys that have one.
        """
        keys = [
            (key, normal_form(key, kind, bare=self.df.isStreaming))
            for key, kind in zip(self.keys, self.key_types, strict=False)
        ]
        ties = [
            (n, normal_form(n, kind)) for n, kind in zip(self.tie_keys, self.tie_types, strict=True)
        ]
        return {name: form for name, form in (*keys, *ties) if form != name}

    @property
    def incomparable(self) -> tuple[str, str]:
        """The first key without a normal form, and what it is; empty texts if all have one."""
        for name, kind in zip(self.names, self.key_types, strict=False):
            if not has_normal_form(kind):
                return f"by={name!r}", f"is of type {type_text(kind)}, {WHY_NOT}"
        return "", ""

    @property
    def why_not_in_python(self) -> str:
        """Explain why keys cannot be compared in Python. Empty if they can."""
        asked, why = self.incomparable
        return f"{asked} {why}, but it goes through Python: {INSTEAD}" if why else ""

    def check_comparable(self, since: str = "these windows go through Python") -> None:
        """Refuse keys that have no normal form; ``since`` says why they need one."""
        asked, why = self.incomparable
        if why:
            raise refuse(asked, f"{why}, but {since}", INSTEAD)


def refuse_rows(function: str, given: Any) -> FanlightError:
    """The error of a function that is given something else than a Spark DataFrame."""
    library = type(given).__module__.partition(".")[0]
    instead = "a pyspark.sql.DataFrame, or one of narwhals or ibis over PySpark"
    if isinstance(given, str):
        instead = f"spark.table({given!r}), or {instead}"
    if library in ("pandas", "polars"):
        instead = f"spark.createDataFrame(df{'.to_pandas()' * (library == 'polars')})"
    return refuse(
        f"{function}({type(given).__name__})", "is not a Spark DataFrame", f"pass {instead}"
    )


def name_other(said: str, name: str) -> str:
    """An error of ``over`` as one of another DataFrame, which an argument ``name`` is."""
    said = re.sub(r"^over\((\w+)\) is", rf"{name}, a \1, is", said)
    return said.replace("createDataFrame(df", f"createDataFrame({name}").replace(
        "df.with", f"{name}.with"
    )


def bind_source(
    df: Any, time: Any, by: Any, tiebreak: Any, own: Sequence[str] = ("window",)
) -> Source:
    """Check what ``over`` was given; errors name the argument.

    ``own`` are the output columns that describe a window; no key may have their names.
    """
    if not is_of_spark(df):
        raise refuse_rows("over", df)
    check_session(df.sparkSession)
    if not isinstance(time, str):
        named = re.fullmatch(r"Column<'(.*)'>", str(time)) if is_column(time) else None
        instead = f"write time={named[1] if named and named[1] in df.columns else 'ts'!r}"
        if is_column(time) and not (named and named[1] in df.columns):
            instead = "make it a column first: df.withColumn('time', …), and write time='time'"
        raise refuse(f"time={time!r}", "is not the name of a column", instead)
    (found,) = schema_of(df, [("time", time)], "time")
    if found.metadata.get(TIME_WINDOW):
        raise refuse(
            f"time={time!r}",
            "is a window, not a time",
            f"write {advise_window_time(time)} before fl.over",
        )
    keys, names, key_types = _read_keys(df, by, own)
    breaks = _as_list("tiebreak", tiebreak)
    ties = schema_of(df, [("tiebreak", column) for column in breaks], "tiebreak")
    tie_types = tuple(one.dataType for one in ties)
    kind, text = type_text(found.dataType), quote_column(df, time)
    lag = lag_of_time(found.metadata, df.schema.fields) if df.isStreaming else None
    delay = found.metadata.get(WATERMARK) if lag is None else lag.delay
    if df.isStreaming and has_two_watermarks(found.metadata, df.schema.fields):
        raise refuse(
            f"time={time!r}",
            "has a watermark of its own, but its rows come from windows of a stream that has one "
            "already: Spark waits for the earlier of the two, and no row would come",
            "leave the second withWatermark out: results carry the watermark on",
        )
    if not is_read_as_timestamp(kind):
        return Source(
            df, time, text, kind, keys, names, breaks, delay, key_types=key_types,
            tie_types=tie_types, lag=lag,
        )  # fmt: skip
    cast = f"cast({text} as timestamp)"
    return Source(
        df, time, cast, "timestamp", keys, names, breaks, delay, read_from=kind,
        key_types=key_types, tie_types=tie_types, lag=lag,
    )  # fmt: skip


def date_in(text: str, zone: str | None) -> str:
    """SQL: when a date begins by the clock of a zone; without a zone, its local midnight."""
    if zone is None:
        return f"cast({text} as timestamp_ntz)"
    midnight = f"timestamp_micros(cast(unix_date({text}) as bigint) * {MICROSECONDS['day']}L)"
    return f"to_utc_timestamp({midnight}, {literal(zone)})"


def with_dates_in(source: Source, zone: str | None) -> Source:
    """The source with a time that is a date read by the clock of a zone."""
    if source.read_from != "date":
        return source
    kind = "timestamp_ntz" if zone is None else "timestamp"
    text = date_in(quote_column(source.df, source.time), zone)
    return replace(source, time_sql=text, time_type=kind)


def is_read_as_timestamp(kind: str) -> bool:
    """Whether a time column of this type is cast to a timestamp: dates, and times as text."""
    return kind.split("(", 1)[0] in ("date", "string", "varchar", "char")


def _read_keys(
    df: DataFrame, by: Any, own: Sequence[str]
) -> tuple[tuple[Given, ...], tuple[str, ...], tuple[DataType, ...]]:
    """The keys as given, with their output names and types."""
    keys = _as_list("by", by)
    for given in keys:
        windows = None if isinstance(given, str) else translation.advise_windows(df, given)
        if windows is not None:
            raise refuse(f"by={given}", "is a window, not a key", f"write {windows}")
    columns = schema_of(df, [("by", key) for key in keys], "by")
    names = tuple(key.name for key in columns)
    for place, key in enumerate(columns):
        check_not_output(df, f"by={key.name!r}", key.name, own)
        if is_taken(df, key.name, names[:place]):
            raise refuse(f"by={list(names)}", f"names {key.name!r} twice", "name each key once")
        kind = type_text(key.dataType)
        if contains_type(kind, UNGROUPED):
            raise refuse(
                f"by={key.name!r}",
                f"is of type {kind}, which cannot be grouped",
                "use a field of it",
            )
    return keys, names, tuple(column.dataType for column in columns)


def check_not_output(df: DataFrame, asked: str, name: str, own: Sequence[str]) -> None:
    """Refuse a column with the name of an output column."""
    clash = next((other for other in own if is_same_name(df, name, other)), None)
    if clash is not None:
        raise refuse(
            asked,
            f"clashes with the output column {clash!r}",
            f"rename it first: df.withColumnRenamed({name!r}, …)",
        )


def check_stream(source: Source) -> None:
    """Refuse a stream whose time column is not a timestamp, or has no watermark."""
    time, kind = source.time, source.time_type
    check_stream_keys(source)
    if not source.df.isStreaming or source.delay is not None:
        return
    if source.read_from:
        raise refuse(
            f"time={time!r}",
            f"is of type {source.read_from}, on which Spark sets no watermark",
            f"make it a timestamp: df.withColumn({time!r}, F.to_timestamp({time!r}))"
            f".withWatermark({time!r}, '10 minutes')",
        )
    if kind == "timestamp_ntz":
        raise refuse(
            f"time={time!r}",
            "is a timestamp without time zone, on which Spark sets no watermark",
            f"cast it before withWatermark: convert_timezone or cast({time} as timestamp)",
        )
    if kind != "timestamp":
        raise refuse(
            f"time={time!r}",
            "is a number, and no watermark can be set on a number, so a stream could not tell when "
            "a window is complete",
            f"turn it into a timestamp (timestamp_seconds({time}), timestamp_micros({time})) and "
            "write range and slide as durations",
        )
    marked = [
        field.name for field in source.df.schema.fields
        if WATERMARK in (field.metadata or {}) and type_text(field.dataType) == "timestamp"
    ]  # fmt: skip
    if marked:
        raise refuse(
            f"time={time!r}",
            f"has no watermark: the stream's last withWatermark is on {marked[0]!r}, and replaces "
            "any before",
            f"write {advise_watermark(source.df, time)} in its place",
        )
    raise refuse(
        f"time={time!r}",
        "has no watermark, so a stream could not tell when a window is complete",
        f"write {advise_watermark(source.df, time)} before fl.over; in a result of other windows "
        "no row would come then: there keep the column window, or take window.end for the time",
    )


def check_stream_keys(source: Source) -> None:
    """Refuse a stream whose keys have no normal form, which its state would need."""
    if source.df.isStreaming:
        source.check_comparable("a stream keeps state by its keys")


def advise_watermark(df: DataFrame, time: str, delay: str = "10 minutes") -> str:
    """The code that gives a column a watermark; a field of a struct becomes a column first."""
    if time in df.columns or "." not in time:
        return f"df.withWatermark({time!r}, {delay!r})"
    whole = time.partition(".")[0]
    within = next((field for field in df.schema.fields if field.name == whole), None)
    if within is not None and (within.metadata or {}).get(TIME_WINDOW):
        return advise_window_time(within.name)
    name = time.rsplit(".", 1)[-1]
    first = f"df.withColumn({name!r}, F.col({time!r})).withWatermark({name!r}, {delay!r})"
    return f"{first}, and time={name!r},"


def advise_window_time(window: str) -> str:
    """The code that makes a window a time; its end alone would have no watermark."""
    return f"df.withColumn('time', F.window_time({window!r})), and time='time',"


def _as_list(argument: str, given: Any) -> tuple[Given, ...]:
    if isinstance(given, str) or is_column(given):
        return (given,)
    if given is None:
        return ()
    if not isinstance(given, (list, tuple)) or not all(
        isinstance(column, str) or is_column(column) for column in given
    ):
        raise refuse(
            f"{argument}={given!r}",
            "is neither a column nor a list of columns",
            f"write {argument}='key' or {argument}=['a', 'b']",
        )
    return tuple(given)


def column_of(df: DataFrame, column: Given) -> Given:
    """A column given by name as SQL text; a Column unchanged."""
    return quote_column(df, column) if isinstance(column, str) else column


def _column(df: DataFrame, column: Given) -> Column:
    """A column given by name or as a Column, as a Column."""
    return expr(df, quote_column(df, column)) if isinstance(column, str) else column


@dataclass(frozen=True)
class Found:
    """A column in the DataFrame's schema."""

    name: str
    dataType: DataType  # noqa: N815 - as in pyspark's StructField
    metadata: dict[str, Any]


def schema_of(df: DataFrame, given: Sequence[tuple[str, Given]], argument: str) -> list[Found]:
    """The schema of some columns; an error names the one that does not exist."""
    columns = [column for _, column in given]
    for column in columns:
        if not is_column(column):
            check_text(argument, column, f"{argument}='price', or pass a Column")
        elif (order := _ORDER.fullmatch(str(column))) and order[1] not in df.columns:
            raise refuse(
                f"{argument}: {order[1]}",
                "is a sort order, not a column",
                f"pass the column alone, F.col({order[2]!r}); to sort numbers from the greatest, "
                f"pass -F.col({order[2]!r})",
            )
    plain = _columns_by_name(df) if columns else {}
    others = [column for column in columns if not (isinstance(column, str) and column in plain)]
    answers = iter(_resolve_columns(df, others, argument) if others else [])
    found = []
    for column in columns:
        field = (plain.get(column) if isinstance(column, str) else None) or next(answers)
        name = column if isinstance(column, str) and column in df.columns else field.name
        found.append(Found(name, field.dataType, field.metadata or {}))
    return found


def _columns_by_name(df: DataFrame) -> dict[str, StructField]:
    """The columns by name, those whose names differ by more than case.

    Their types are in the schema at hand; asking Spark takes the analysis of a plan.
    """
    fields = df.schema.fields
    spelled = Counter(field.name.casefold() for field in fields)
    return {field.name: field for field in fields if spelled[field.name.casefold()] == 1}


@quietly()
def _resolve_columns(df: DataFrame, columns: Sequence[Given], argument: str) -> list[StructField]:
    """The columns as Spark resolves them."""
    try:
        # Beside a column of a row Spark refuses an aggregate of all rows.
        plain = all(isinstance(column, str) for column in columns)
        # A generator makes several rows of one: Spark refuses it inside another expression.
        nested = [column.isNull() for column in columns if not isinstance(column, str)]
        rows = df.select(
            *([] if plain else ["*"]), *nested, *[_column(df, column) for column in columns]
        )
        return rows.schema.fields[-len(columns) :]
    except WRONG_COLUMN as error:
        for column in columns:
            _resolve_column(df, argument, column)
        raise FanlightError(f"{argument}: {error}") from error


def _resolve_column(df: DataFrame, argument: str, column: Given) -> None:
    try:
        nested = [] if isinstance(column, str) else [column.isNull()]
        df.select("*", _column(df, column), *nested).schema  # noqa: B018 - analysis alone
    except WRONG_COLUMN as error:
        alike = [
            n for n in df.columns if isinstance(column, str) and n.casefold() == column.casefold()
        ]
        if len(alike) > 1:
            raise refuse(
                f"{argument}={column!r}",
                f"is the name of {len(alike)} columns of the DataFrame",
                "rename all but one before, or drop them",
            ) from error
        if isinstance(column, str):
            raise refuse(
                f"{argument}={column!r}",
                "is not a column of the DataFrame",
                _advise_column(df, argument, column),
            ) from error
        said = say_reason(error)
        if said.startswith("[MISSING_GROUP_BY]"):
            raise refuse(
                f"{argument}={show(column)}",
                "is an aggregate of all rows, where each row has to have a value",
                "pass what it is of, or compute it before fl.over",
            ) from error
        if said.startswith("[UNSUPPORTED_GENERATOR"):
            raise refuse(
                f"{argument}={show(column)}",
                "makes several rows of one, where each row has to have a value",
                f"make the rows before fl.over: df.select('*', {show(column)}.alias('x'))",
            ) from error
        hint = "a Column built for the same kind of session" if is_connect(df) else "a valid Column"
        raise refuse(
            f"{argument}={column}", f"is not understood by Spark ({said})", f"pass {hint}"
        ) from error


# Arguments that take names alone, no Columns: a name, and how it is written there.
_NAMED = {
    "time": ("ts", "time='ts'"),
    "columns": ("computed", "columns=['computed']"),
    **{name: ("computed", f"{name}={{'computed': …}}") for name in ("cells", "deltas")},
}


def _advise_column(df: DataFrame, argument: str, text: str) -> str:
    """What to write instead of a text that names no column: it may be an expression."""
    if _OPERATOR.search(text):
        with suppress(*WRONG_COLUMN):
            df.select(expr(df, text)).schema  # noqa: B018 - analysis alone
            name, written = _NAMED.get(argument, ("", ""))
            if name:
                return f"make it one: df.withColumn({name!r}, F.expr({text!r})), and {written}"
            return f"write F.expr({text!r}) for what is computed"
    return advise_choice(text, dict.fromkeys(df.columns), "the DataFrame has no columns")


def predicate(df: DataFrame, given: Given) -> Column:
    """SQL text or a Column, as a Column; a column's name is quoted, so that it is that column."""
    if not isinstance(given, str):
        return given
    return expr(df, quote(given) if given in df.columns else given)


def condition(df: DataFrame, given: Sequence[Given]) -> Column:
    """Combine conditions into a Column that is true if all hold."""
    return reduce(and_, (predicate(df, one) for one in given))


def are_same(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether conditions are the same texts, or the same Columns."""
    return len(one) == len(other) and all(
        a is b or (isinstance(a, str) and isinstance(b, str) and a == b)
        for a, b in zip(one, other, strict=True)
    )


@quietly()
def _name_condition(df: DataFrame, call: Call) -> str:
    """Check the conditions of an aggregate and return the name that Spark has for all of them."""
    names, nothing = [], df.sparkSession.range(0).drop("id")
    for one in call.conditions:
        try:
            # A filter takes only conditions; a join no aggregate, even over aggregated rows, and
            # only what is the same each time that it is evaluated.
            test = predicate(df, one)
            rows = df.filter(test).join(nothing, test, "left_semi").select(test)
            names += rows.schema.names
        except WRONG_COLUMN as error:
            said, asked = say_reason(error), f"{replace(call, conditions=()).label}: where({one!r})"
            if said.startswith("[INVALID_NON_DETERMINISTIC"):
                raise refuse(
                    asked,
                    "may be another each time that it is evaluated",
                    "make it a column before fl.over: df.withColumn('chosen', …)",
                ) from error
            raise refuse(
                asked,
                f"is not a condition on a row that Spark understands ({said})",
                f"write SQL that is true or false, over {list_some(df.columns)}",
            ) from error
    return reduce("({} AND {})".format, names)


def bind_calls(df: DataFrame, calls: Sequence[Call]) -> list[tuple[list[str], list[str]]]:
    """For each aggregate, the names and Spark types of its arguments, and its condition's name."""
    bound = []
    for call in calls:
        columns = schema_of(df, [(call.label, column) for column in call.columns], call.label)
        types = [type_text(column.dataType) for column in columns]
        names = [column.name for column in columns]
        call.check(tuple(types), names)
        bound.append(([*names, *([_name_condition(df, call)] if call.conditions else [])], types))
    return bound
